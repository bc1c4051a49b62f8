"""Noisy counts as a defense: settings, cells of a series, post-processing, and what its adversary can believe."""

import itertools
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import history_of, mixed_tables

from foreknow.attacks import (
    DeFinettiAttack,
    JointAttack,
    OthersKnown,
    SequentialAttack,
    SnapshotAttack,
)
from foreknow.defenses import NoisyCounts, Promise, publish
from foreknow.defenses.noisy_counts import with_totals
from foreknow.models import (
    Adversary,
    Enumeration,
    GivenPrior,
    History,
    MarkovChain,
    Noise,
    NoisyRelease,
    Numeric,
    Release,
    Schema,
    UniformPrior,
    View,
)
from foreknow.models.tables.noisy_release import Cells

HISTORY = history_of(("ABCDEF", "abcabc"), ("ABCDEF", "bbcaac"), ("ABCDEF", "bacaab"))
ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.7 * np.eye(3) + 0.1))


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "scale", "law"),
        [
            ({"epsilon": 4.0}, 12.0, "laplace"),
            ({"epsilon": 4.0, "noise": "laplace"}, 12.0, "laplace"),
            ({"rho": 0.24}, 10.0, "gaussian"),
            ({"rho": 0.24, "noise": "laplace"}, 10.0, "laplace"),
            ({"gain": 0.1}, 10.4, "gaussian"),
        ],
    )
    def test_promise_is_kept(self, given, scale, law):
        """Closed forms: 2 T / b = epsilon, T / s^2 = rho; the scale of a gain is that of test_noise.py."""
        defense = NoisyCounts(16, 24, **given)
        assert (defense.law.law, round(defense.scale, 1)) == (law, scale)
        promise = defense.promise
        if "epsilon" in given:
            assert promise.epsilon == pytest.approx(4.0)
        if "rho" in given:
            assert promise.rho == pytest.approx(0.24)
        if "gain" in given:
            assert promise.gain == pytest.approx(0.1, abs=1e-5)
        assert promise.household(3) == (3 * promise.epsilon, 9 * promise.rho)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({}, "one of epsilon, rho and gain sets the noise, and none is given; give gain=0.1"),
            ({"epsilon": 1, "rho": 1}, "and epsilon and rho are given"),
            ({"epsilon": 1, "rho": 1, "gain": 0.1}, "epsilon and rho and gain are given"),
            ({"epsilon": 1, "noise": "gaussian"}, "a Gaussian law has no pure epsilon; give rho= or gain="),
            ({"gain": 1.0}, "NoisyCounts: gain is"),
            ({"gain": True}, "NoisyCounts: gain is"),
            ({"rho": -1}, "NoisyCounts: rho is"),
            ({"epsilon": 0}, "NoisyCounts: epsilon is"),
            ({"epsilon": 1e-9}, "scale"),
            ({"gain": 0.1, "noise": "cauchy"}, "NoisyCounts: noise is"),
            ({"gain": 0.1, "cells": 0}, "NoisyCounts: cells is"),
            ({"gain": 0.1, "releases": 0}, "NoisyCounts: releases is"),
            (
                {"gain": 0.1, "releases": None},
                "releases is None; it is a number of releases that the series has at most",
            ),
            ({"gain": 0.1, "processing": "round"}, "NoisyCounts: processing is"),
            ({"gain": 0.1, "clamped": 1}, "clamped is"),
            ({"gain": 0.1, "rng": "x"}, "NoisyCounts: rng is"),
        ],
    )
    def test_wrong_settings(self, change, message):
        with pytest.raises((TypeError, ValueError), match=message):
            NoisyCounts(**({"cells": 4, "releases": 3} | change))

    def test_table_of_a_promise(self):
        frame = Promise(Noise("laplace", 12.0), 24).frame(MarkovChain(1, np.eye(2))).set_index("promise")["value"]
        assert frame["epsilon of a whole path"] == 4.0
        assert frame["epsilon of one release alone"] == pytest.approx(4.0 / 24)
        assert frame["epsilon of one release given all"] == pytest.approx(4.0)
        assert len(frame) == 11
        promise = Promise(Noise("gaussian", 12.0), 24)
        rows = promise.frame(MarkovChain(1, np.eye(2))).set_index("promise")["value"]
        assert rows["epsilon of a whole path"] == np.inf
        one = rows["epsilon of one release alone at delta 1e-06"]
        assert one == pytest.approx(1 / 144 + 2 * np.sqrt(np.log(1e6) / 144))
        assert rows["epsilon of one release given all, if it were pure"] == pytest.approx(24 * one)


class TestSeries:
    def test_releases_share_the_cells_of_the_first(self):
        releases = publish(HISTORY, NoisyCounts(3, 3, rho=1.0, rng=1))
        assert all(isinstance(release, NoisyRelease) for release in releases)
        assert {len(release.made.cells) for release in releases} == {3}
        assert all(release.made.cells == releases[0].made.cells for release in releases)
        given_cells = Cells.grid(HISTORY.schema, {"age": [22]})
        assert publish(HISTORY, NoisyCounts(given_cells, 3, rho=1.0, rng=1))[2].made.cells == given_cells

    def test_counts_are_the_true_ones_with_noise(self):
        releases = publish(HISTORY, NoisyCounts(2, 3, rho=3e4, rng=1))
        assert releases[0].group.tolist() == [0, 0, 0, 1, 1, 1]
        assert [release.counts.tolist() for release in releases] == [
            [[1, 1, 1], [1, 1, 1]],
            [[0, 2, 1], [2, 0, 1]],
            [[1, 1, 1], [2, 1, 0]],
        ]

    def test_noise_is_drawn_anew_for_each_count(self):
        drawn = np.array([release.counts for release in publish(HISTORY, NoisyCounts(6, 3, rho=1e-4, rng=1))])
        assert len(np.unique(drawn)) > 50

    def test_a_seed_repeats_the_noise_and_is_named(self):
        one, other = (publish(HISTORY, NoisyCounts(3, 3, gain=0.2, rng=7)) for _ in range(2))
        assert [a.made for a in one] == [b.made for b in other]
        assert publish(HISTORY, NoisyCounts(3, 3, gain=0.2, rng=8))[0].made != one[0].made
        assert not one[0].made.for_release
        assert "can be seeded: for experiments, not for release" in one[0].made.notes[0]

    def test_options_of_publish_that_it_cannot_follow(self):
        """A seed of the order of records would not repeat noise for release; beside the seed of an experiment it is taken."""
        pytest.importorskip("opendp", reason="OpenDP is not installed")
        with pytest.raises(ValueError, match="NoisyCounts draws noise for release, which no seed repeats"):
            publish(HISTORY, NoisyCounts(3, 3, gain=0.2), rng=1)
        seeded = NoisyCounts(3, 3, gain=0.2, rng=1)
        one, other = (publish(HISTORY, replace(seeded, rng=1), rng=seed, infeasible="suppress") for seed in (1, 2))
        assert [a.made for a in one] == [b.made for b in other]
        for bucketized in (True, False):
            with pytest.raises(
                ValueError, match="publish: bucketized is a setting of groups, and NoisyCounts publishes"
            ):
                publish(HISTORY, seeded, bucketized=bucketized)

    def test_more_views_than_promised_are_refused(self):
        with pytest.raises(
            ValueError, match=r"2 views are published, and the noise was set for 2; that at 3 would pass the"
        ):
            publish(HISTORY, NoisyCounts(3, 2, gain=0.2, rng=1))

    def test_releases_of_another_noise_are_refused(self):
        past = publish(HISTORY[:1], NoisyCounts(3, 3, gain=0.2, rng=1))
        groups = (Release(HISTORY[0], [0] * 6),)
        for before in (past, groups):
            with pytest.raises(ValueError, match="a release before 2 is of another defense or noise"):
                NoisyCounts(3, 3, gain=0.3, rng=1)(HISTORY[1], np.full((6, 3), 1 / 3), before)
        again = NoisyCounts(3, 3, gain=0.2, rng=1)(HISTORY[1], np.full((6, 3), 1 / 3), past)
        assert again.cells == past[0].made.cells

    @given(mixed_tables(), st.randoms())
    @settings(max_examples=30)
    def test_nothing_of_the_values_is_in_the_cells(self, drawn, random):
        """With values permuted among respondents the cells stay, and only counts that change move, by the same noise."""
        view, prior = drawn
        other = View.from_codes(view.people, np.array(random.sample(view.sensitive.tolist(), len(view))))
        one, two = (NoisyCounts(4, 1, rho=1.0, rng=3)(each, prior) for each in (view, other))
        assert one.cells == two.cells
        moved = one.counts.sum() - two.counts.sum()
        assert moved == 0
        assert (one.counts - two.counts).sum(axis=1).tolist() == [0] * len(one.cells)

    def test_noise_is_drawn_by_opendp_unless_for_an_experiment(self, monkeypatch):
        defense = NoisyCounts(3, 3, gain=0.2)
        monkeypatch.setitem(sys.modules, "opendp", None)
        monkeypatch.setitem(sys.modules, "opendp.prelude", None)
        with pytest.raises(ImportError, match=r"pip install 'foreknow\[dp\]'. For an experiment give rng="):
            publish(HISTORY, defense)

    def test_release_by_opendp(self):
        pytest.importorskip("opendp", reason="OpenDP is not installed")
        (release,) = publish(HISTORY[:1], NoisyCounts(3, 3, epsilon=1e4))
        assert release.made.for_release
        assert release.made.notes == ()
        assert release.counts.sum() == 6


class TestProcessing:
    @given(st.lists(st.integers(-6, 9), min_size=1, max_size=4), st.integers(0, 7))
    def test_totals_are_the_nearest_whole_numbers(self, noisy, total):
        found = with_totals(np.array([noisy]), np.array([total]))[0]
        assert found.sum() == total
        assert (found >= 0).all()
        assert (found == found.round()).all()
        every = np.array(list(itertools.product(range(total + 1), repeat=len(noisy))))
        every = every[every.sum(axis=1) == total]
        nearest = ((every - noisy) ** 2).sum(axis=1).min()
        assert ((found - noisy) ** 2).sum() == nearest

    def test_what_is_published_beside_the_counts(self):
        made = {
            processing: publish(HISTORY[:1], NoisyCounts(3, 3, rho=0.1, processing=processing, rng=2))[0].made
            for processing in ("none", "nonnegative", "totals")
        }
        counts = made["none"].counts
        assert all((each.counts == counts).all() for each in made.values())
        assert made["none"].processed is None
        assert (counts < 0).any()
        np.testing.assert_array_equal(made["nonnegative"].processed, np.maximum(counts, 0))
        np.testing.assert_array_equal(made["totals"].processed, with_totals(counts, np.array([2, 2, 2])))
        clamped = publish(HISTORY[:1], NoisyCounts(3, 3, rho=0.1, clamped=True, rng=2))[0]
        np.testing.assert_array_equal(clamped.counts, np.maximum(counts, 0))
        assert clamped.observation.noise.clamped


class TestOthersKnown:
    """The adversary of the definition: a check of the noise, of its accounting, and of the solver at once."""

    def beliefs(self, defense, n, releases, table, prior, seed):
        """Beliefs, law before any release, true values and cells at each release, of respondents who follow a chain."""
        rng, domain = np.random.default_rng(seed), list("abc"[: len(prior)])
        schema, value, views = (
            Schema({"age": Numeric(0, n)}, "result", tuple(domain)),
            rng.choice(len(prior), n, p=prior),
            [],
        )
        for t in range(releases):
            value = value if t == 0 else (rng.random(n)[:, None] > np.cumsum(table[value], axis=1)).sum(axis=1)
            frame = pd.DataFrame({"id": np.arange(n), "age": np.arange(n), "result": np.array(domain)[value]})
            views.append(View(frame, schema, t))
        adversary = Adversary(GivenPrior(pd.DataFrame(np.tile(prior, (n, 1)), columns=domain)), MarkovChain(1, table))
        published = publish(views, defense)
        found = OthersKnown(JointAttack(adversary, Enumeration()), History(views))(published)
        laws = [prior @ np.linalg.matrix_power(table, t) for t in range(releases)]
        return [
            (one.posterior.probabilities, law, view.sensitive, release.group)
            for one, law, view, release in zip(found, laws, views, published, strict=True)
        ]

    def gains(self, belief, true, cell):
        """Mean gain in each cell over priors of one half; members share its noise, and cells are independent."""
        return pd.Series(2 * belief[np.arange(len(true)), true] - 1).groupby(cell).mean().to_numpy()

    @pytest.mark.parametrize("epsilon", [0.5, 3.0])
    def test_no_odds_pass_the_promise(self, epsilon):
        """10^4 beliefs about three values that change: odds of each set of values, over those of the law."""
        table, prior = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]]), np.array([0.6, 0.3, 0.1])
        defense = NoisyCounts(20, 4, epsilon=epsilon, noise="laplace", rng=5)
        reached = 0.0
        for belief, law, _, _ in self.beliefs(defense, 2_500, 4, table, prior, 6):
            for some in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
                inside, before = belief[:, some].sum(axis=1), law[some].sum()
                shift = np.log(inside / (1 - inside)) - np.log(before / (1 - before))
                reached = max(reached, np.abs(shift).max())
                assert np.abs(shift).max() <= epsilon + 1e-9
        assert reached > epsilon / 2

    @pytest.mark.parametrize("setting", [{"epsilon": 2.0}, {"gain": 0.3}, {"rho": 0.5, "noise": "laplace"}])
    def test_mean_gain_is_that_of_the_law(self, setting):
        """Two values at one half that stay: 10^4 respondents in 2,000 cells, in four standard errors."""
        defense = NoisyCounts(2_000, 2, rng=8, **setting)
        belief, _, true, cell = self.beliefs(defense, 10_000, 2, np.eye(2), np.full(2, 0.5), 7)[-1]
        gains = self.gains(belief, true, cell)
        assert len(gains) == 2_000
        assert gains.mean() == pytest.approx(defense.promise.gain, abs=4 * gains.std() / np.sqrt(len(gains)))

    def test_by_opendp(self):
        pytest.importorskip("opendp", reason="OpenDP is not installed")
        defense = NoisyCounts(100, 3, epsilon=2.0)
        found = self.beliefs(defense, 500, 3, np.eye(2), np.full(2, 0.5), 9)
        for belief, *_ in found:
            assert np.abs(np.log(belief[:, 0] / belief[:, 1])).max() <= 2.0 + 1e-9
        belief, _, true, cell = found[-1]
        gains = self.gains(belief, true, cell)
        assert gains.mean() == pytest.approx(defense.promise.gain, abs=6 * gains.std() / np.sqrt(100))

    def test_clamped_counts_are_refused(self):
        releases = publish(HISTORY, NoisyCounts(3, 3, gain=0.2, clamped=True, rng=1))
        with pytest.raises(ValueError, match="OthersKnown: negative noisy counts at 1 are published as 0"):
            OthersKnown(JointAttack(ADVERSARY), HISTORY)(releases)

    def test_another_history_is_refused(self):
        releases = publish(HISTORY, NoisyCounts(3, 3, gain=0.2, rng=1))
        with pytest.raises(ValueError, match="does not have the records that were published at 1"):
            OthersKnown(JointAttack(ADVERSARY), history_of(("ABCDEG", "abcabc")))(releases)


@pytest.mark.parametrize(
    "attack",
    [
        SnapshotAttack(ADVERSARY),
        SequentialAttack(ADVERSARY),
        DeFinettiAttack(),
    ],
    ids=lambda attack: type(attack).__name__,
)
def test_other_attacks_refuse_noisy_counts(attack):
    releases = publish(HISTORY, NoisyCounts(3, 3, gain=0.2, rng=1))
    with pytest.raises(
        ValueError, match=f"{type(attack).__name__} does not read noisy counts, as those at 1; JointAttack does"
    ):
        attack(releases)
