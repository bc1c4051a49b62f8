"""JS-reduce against Algorithm 4 in plain Python, its treatment of leftovers, and its promises."""

import math
import re

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import (
    DistinctDiversity,
    EntropyDiversity,
    Infeasible,
    JSimilarity,
    JSReduce,
    KAnonymity,
    TCloseness,
    hilbert_order,
)
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Numeric, Release, Schema, View

settings_of = st.builds(
    dict,
    k=st.integers(1, 4),
    t=st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    j=st.sampled_from([0.05, 0.3, 0.6, 2.0]),
    patience=st.sampled_from([None, 4, 6]),
)


def algorithm_4(view, prior, k, t, j, patience):
    """Groups of Algorithm 4, and groups that satisfy in the published table."""
    results = view.frame["result"].tolist()

    def satisfies(group, published):
        return (
            len(group) >= k
            and oracle.close([results[i] for i in group], [results[i] for i in published], t)
            and oracle.divergence([prior[i] for i in group]) <= j + oracle.SLACK
        )

    order, everybody = hilbert_order(view.people).tolist(), range(len(view))
    grown, _ = oracle.grow(order, lambda group: satisfies(group, everybody), patience)
    enforced = oracle.enforce_on_published(grown, order, satisfies)
    return oracle.partition(grown), oracle.partition(enforced)


def said_to_be_suppressed(grouping):
    """Number of suppressed records that the notes report."""
    return sum(int(note.split()[0]) for note in grouping.notes if note.endswith("suppressed."))


class TestSuppress:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_equals_the_algorithm(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        grouping = JSReduce(**settings)(view, prior)
        _, enforced = algorithm_4(view, prior, **settings)
        assert oracle.groups_of(grouping.labels) == enforced
        assert said_to_be_suppressed(grouping) == (grouping.labels < 0).sum()

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("patience", [None, 15])
    def test_equals_the_algorithm_on_larger_tables(self, seed, patience):
        """Thresholds so strict that several groups fail after others are suppressed."""
        rng = np.random.default_rng(seed)
        n = 120
        view = view_of(
            [f"p{i}" for i in range(n)], rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), ages=rng.integers(0, 90, n)
        )
        prior = rng.dirichlet(np.full(3, 0.4), size=3)[rng.integers(0, 3, n)]
        grouping = JSReduce(4, 0.12, 0.5, patience=patience)(view, prior)
        _, enforced = algorithm_4(view, prior, 4, 0.12, 0.5, patience)
        assert oracle.groups_of(grouping.labels) == enforced
        assert said_to_be_suppressed(grouping) == (grouping.labels < 0).sum()

    def test_the_larger_tables_reach_what_they_are_for(self):
        """Over these draws some groups are merged, and some are suppressed."""
        merged = withdrawn = 0
        for seed in range(6):
            rng = np.random.default_rng(seed)
            n = 120
            view = view_of(
                [f"p{i}" for i in range(n)], rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), ages=rng.integers(0, 90, n)
            )
            prior = rng.dirichlet(np.full(3, 0.4), size=3)[rng.integers(0, 3, n)]
            grown, enforced = algorithm_4(view, prior, 4, 0.12, 0.5, 15)
            merged += len(enforced - grown)
            withdrawn += len(set().union(*grown) - set().union(*enforced))
        assert merged
        assert withdrawn

    @pytest.mark.parametrize("seed", range(8))
    def test_trailing_records_are_suppressed_as_printed(self, seed):
        """Tables on which no group fails in the published table: the result is that of Algorithm 4."""
        rng = np.random.default_rng(seed)
        n = 23
        view = view_of([f"p{i}" for i in range(n)], rng.permutation(list("abc" * 8)[:n]), ages=rng.permutation(90)[:n])
        prior = rng.dirichlet(np.ones(3), size=2)[rng.integers(0, 2, n)]
        grown, kept = algorithm_4(view, prior, 4, 0.6, 0.6, None)
        assert grown == kept
        assert sum(map(len, grown)) < n
        assert oracle.groups_of(JSReduce(4, 0.6, 0.6)(view, prior).labels) == grown

    @given(drawn=tables(most=20), settings=settings_of)
    def test_whatever_is_published_satisfies(self, drawn, settings):
        view, prior = drawn
        if settings["k"] <= len(view):
            defense = JSReduce(**settings)
            release = Release(view, defense(view, prior))
            assert verify(release, defense.requirement, prior=prior)["holds"].all()

    def test_patience_sets_the_misfit_aside(self):
        """Only the first record on the curve has a prior certain of c."""
        view = view_of("ABCDEFG", "abababc", ages=range(20, 27))
        prior = np.array([[0, 0, 1.0]] + [[0.5, 0.5, 0]] * 6)
        printed = JSReduce(2, 1.0, 0.1)(view, prior)
        assert (printed.labels == -1).all()
        assert printed.notes == ("7 records fit no group and are suppressed.",)
        patient = JSReduce(2, 1.0, 0.1, patience=4)(view, prior)
        assert oracle.groups_of(patient.labels) == {frozenset(pair) for pair in [(1, 2), (3, 4), (5, 6)]}
        assert patient.notes == ("1 record fits no group and is suppressed.",)


class TestRelax:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_all_records_are_published_and_failures_are_noted(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        defense = JSReduce(**settings, leftovers="relax")
        grouping = defense(view, prior)
        release = Release(view, grouping)
        assert (grouping.labels >= 0).all()
        assert np.bincount(release.group).min() >= settings["k"]
        verdict = verify(release, defense.requirement, prior=prior).groupby("group")["holds"].all()
        said = [re.match(r"(\d+) of (\d+) groups do not satisfy", note) for note in grouping.notes]
        said = [(int(m[1]), int(m[2])) for m in said if m]
        assert said == ([(int((~verdict).sum()), len(verdict))] if (~verdict).any() else [])

    @given(drawn=tables(most=20), settings=settings_of)
    def test_groups_that_satisfied_are_kept_but_for_who_joins_them(self, drawn, settings):
        view, prior = drawn
        if settings["k"] <= len(view):
            grown, _ = algorithm_4(view, prior, **settings)
            found = oracle.groups_of(JSReduce(**settings, leftovers="relax")(view, prior).labels)
            assert all(any(group <= other for other in found) for group in grown)

    def test_what_was_loosened_is_noted(self):
        view = view_of("ABCDEFG", "abababc", ages=range(20, 27))
        prior = np.array([[0, 0, 1.0]] + [[0.5, 0.5, 0]] * 6)
        notes = JSReduce(2, 1.0, 0.1, leftovers="relax")(view, prior).notes
        assert any(
            re.search(
                r"leftover records?, in \d+ groups? .* KAnonymity\(k=2\) & .*JSimilarity\(j=0\.\d+",
                n,
            )
            for n in notes
        )

    def test_the_last_few_join_the_nearest_group(self):
        """Five records in groups of two: the fifth on the line joins the pair next to it."""
        view = view_of("ABCDE", "aaaaa", ages=[20, 21, 50, 51, 53], domain="ab")
        grouping = JSReduce(2, 1.0, 1.0, leftovers="relax")(view, np.full((5, 2), 0.5))
        assert oracle.groups_of(grouping.labels) == {frozenset({0, 1}), frozenset({2, 3, 4})}
        assert grouping.notes == ("the last 1 leftover record joined the nearest group, whatever its t and j.",)

    def test_what_no_loosening_helps_is_infeasible(self):
        view = view_of("ABCD", "aaaa")
        with pytest.raises(
            Infeasible, match=r"4 records fit no group of 2 or more.*leave out DistinctDiversity\(l=2\)"
        ):
            JSReduce(2, 0.5, 0.5, also=DistinctDiversity(2), leftovers="relax")(view, np.full((4, 3), 1 / 3))

    @pytest.mark.parametrize(
        ("defense", "domain"),
        [(JSReduce(2, 0.5, 0.5, leftovers="relax"), "a"), (JSReduce(2, 0.5, math.inf, leftovers="relax"), "ab")],
        ids=["a domain of one value", "no bound on the divergence"],
    )
    def test_bounds_that_cannot_be_loosened(self, defense, domain):
        view = view_of("ABCD", "aaaa", domain=domain)
        grouping = defense(view, np.full((4, len(domain)), 1 / len(domain)))
        assert oracle.groups_of(grouping.labels) == {frozenset({0, 1}), frozenset({2, 3})}


class TestCounterfeit:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_all_records_are_published_or_noted_and_the_table_satisfies(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        defense = JSReduce(**settings, leftovers="counterfeit")
        grouping = defense(view, prior)
        release = Release(view, grouping)
        assert verify(release, defense.requirement, prior=prior)["holds"].all()
        assert said_to_be_suppressed(grouping) == (grouping.labels < 0).sum()

    @given(drawn=tables(most=20), settings=settings_of)
    def test_only_leftovers_are_distorted_and_that_is_noted(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        grouping = JSReduce(**settings, leftovers="counterfeit")(view, prior)
        grown, _ = algorithm_4(view, prior, **settings)
        distorted = np.flatnonzero(grouping.values != view.sensitive)
        assert not set(distorted.tolist()) & set().union(*grown)
        said = [
            int(m[1])
            for note in grouping.notes
            if (m := re.search(r"joined a group, (\d+) of them with a counterfeit", note))
        ]
        assert said == [len(distorted)] or not len(distorted)

    def test_a_value_that_would_break_the_group_is_counterfeited(self):
        """Six records of a in pairs, and a seventh of c: any c violates closeness to a table of a, so that it shows a."""
        view = view_of("ABCDEFG", "aaaaaac", ages=range(20, 27))
        prior = np.full((7, 3), 1 / 3)
        grouping = JSReduce(2, 0.15, 1.0, leftovers="counterfeit")(view, prior)
        assert (grouping.labels >= 0).all()
        assert grouping.values.tolist() == [0] * 7
        assert grouping.notes == ("1 leftover record joined a group, 1 of them with a counterfeit sensitive value.",)

    def test_a_value_that_fits_is_kept(self):
        """The fifth has b; the group it joins shows a twice, but b is close enough."""
        view = view_of("ABCDE", "aaaab", domain="ab")
        grouping = JSReduce(2, 1.0, 1.0, leftovers="counterfeit")(view, np.full((5, 2), 0.5))
        assert grouping.values.tolist() == [0, 0, 0, 0, 1]
        assert oracle.groups_of(grouping.labels) == {frozenset({0, 1}), frozenset({2, 3, 4})}
        assert grouping.notes == ("1 leftover record joined a group, 0 of them with a counterfeit sensitive value.",)

    def test_without_any_group_there_is_nothing_to_join(self):
        view = view_of("ABCD", "aabb")
        grouping = JSReduce(2, 1.0, 0.0, leftovers="counterfeit")(view, np.eye(3)[[0, 1, 0, 1]])
        assert (grouping.labels == -1).all()
        assert grouping.notes == ("4 records fit no group with any value and are suppressed.",)


class TestSettings:
    def test_the_requirement_is_what_is_enforced(self):
        defense = JSReduce(3, 0.5, 0.6, base=math.e, distance="ordered", also=EntropyDiversity(2))
        assert defense.requirement == KAnonymity(3) & TCloseness(0.5, "ordered") & JSimilarity(
            0.6, math.e
        ) & EntropyDiversity(2)

    @given(drawn=tables(most=20), leftovers=st.sampled_from(["suppress", "counterfeit"]))
    def test_what_else_is_asked_is_kept(self, drawn, leftovers):
        view, prior = drawn
        if len(view) >= 2:
            defense = JSReduce(
                2, 0.4, 0.6, distance="ordered", also=DistinctDiversity(2), leftovers=leftovers, patience=5
            )
            release = Release(view, defense(view, prior))
            assert verify(release, defense.requirement, prior=prior)["holds"].all()

    def test_the_base_of_the_logarithm_decides(self):
        """BayFrame's group 3: .7911 bits are .5483 nats, so j = .6 accepts it in nats only (worked by hand)."""
        rows = np.array([[0.74293, 0.00738, 0.24969], [0.00371, 0.95916, 0.03713], [0.00371, 0.95916, 0.03713]])
        prior = rows / rows.sum(axis=1, keepdims=True)
        assert oracle.divergence(prior) == pytest.approx(0.7911, abs=1e-4)
        assert oracle.divergence(prior, math.e) == pytest.approx(0.5483, abs=1e-4)
        view = view_of("CDE", "abc")
        assert (JSReduce(3, 1.0, 0.6)(view, prior).labels == -1).all()
        assert (JSReduce(3, 1.0, 0.6, base=math.e)(view, prior).labels == 0).all()

    def test_age_and_weight_are_both_seen(self):
        """Four corners of a square with two records each: the two of a corner are consecutive on the curve."""
        corners = [(0, 0), (0, 9), (9, 9), (9, 0)]
        frame = pd.DataFrame(corners * 2, columns=["age", "weight"]).assign(id=range(8), result="a")
        view = View(frame, Schema({"age": Numeric(0, 9), "weight": Numeric(0, 9)}, "result", ("a", "b")))
        labels = JSReduce(2, 1.0, 1.0)(view, np.full((8, 2), 0.5)).labels
        assert oracle.groups_of(labels) == {frozenset({i, i + 4}) for i in range(4)}

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"k": 0}, "k is 0; it is a number of records, 1 or more"),
            ({"k": 2.5}, r"k is 2\.5"),
            ({"t": -1}, "t is -1; it is a number of at least 0, a distance"),
            ({"j": -1}, "j is -1; it is a number of at least 0, a divergence"),
            ({"j": math.nan}, "j is nan"),
            ({"base": 1}, "base is 1; it is a number above 1"),
            ({"distance": "far"}, "distance is 'far'"),
            ({"leftovers": "drop"}, "leftovers is 'drop'; it is one of 'suppress', 'relax', 'counterfeit'"),
            ({"patience": 3.5}, r"patience is 3\.5; it is a number of records"),
            ({"patience": 2}, "patience is 2; it is a number of records, as no group has fewer than k, 3 or more"),
        ],
    )
    def test_bad_settings_are_one_clear_error(self, settings, match):
        with pytest.raises(ValueError, match=match):
            JSReduce(**{"k": 3, "t": 0.5, "j": 0.6} | settings)

    def test_k_larger_than_the_view(self):
        with pytest.raises(
            ValueError, match="k is 5 and the view at 1 has 4 records; lower k, or publish more at once"
        ):
            JSReduce(5, 0.5, 0.6)(view_of("ABCD", "aaab"), np.full((4, 3), 1 / 3))

    @pytest.mark.parametrize("shape", [(3, 3), (5, 3), (4, 2)])
    def test_a_prior_of_another_shape_is_one_clear_error(self, shape):
        with pytest.raises(ValueError, match=r"prior.*shape"):
            JSReduce(2, 0.5, 0.6)(view_of("ABCD", "aaab"), np.full(shape, 1 / shape[1]))


class TestJudged:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_against_the_view_it_is_algorithm_4_to_the_letter(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        grown, _ = algorithm_4(view, prior, **settings)
        assert oracle.groups_of(JSReduce(**settings, judged="view")(view, prior).labels) == grown

    def test_it_is_one_of_two(self):
        with pytest.raises(ValueError, match="judged is 'table'; it is one of 'published', 'view'"):
            JSReduce(3, 0.5, 0.6, judged="table")
