"""Beliefs, labelled by respondent and value."""

import dataclasses

import arviz as az
import arviz_base
import numpy as np
import pandas as pd
import pytest
from strategies import history_of, view_of

from foreknow.attacks import SequentialAttack
from foreknow.models import Adversary, Beliefs, MarkovChain, Release, UniformPrior

HISTORY = history_of(("AB", "ab"), ("BCD", "bca"), ("AD", "cc"))
LABELS = [[0, 0], [0, 0, -1], [0, 0]]
RELEASES = [Release(view, labels) for view, labels in zip(HISTORY, LABELS, strict=True)]
MOVES = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]])
BELIEFS = SequentialAttack(Adversary(UniformPrior(), MarkovChain(1, MOVES)))(RELEASES)

THIRD = [1 / 3] * 3
B_REVISED = [0.5, 0.35, 0.15]
"""Half of the row of a and half of the row of b."""
B_POSTERIOR = [0, 0.35 / 0.50, 0.15 / 0.50]
"""Group {B, C} shows b, c: B's .35 against .15, C's are equal."""


def test_tables_are_respondents_by_values():
    posterior = BELIEFS.posterior(2)
    assert posterior.index.tolist() == ["B", "C", "D"]
    assert posterior.index.name == "id"
    assert posterior.columns.tolist() == ["a", "b", "c"]
    assert posterior.columns.name == "result"
    assert np.allclose(posterior.loc["B"], B_POSTERIOR)
    assert np.allclose(BELIEFS.revised(2).loc["B"], B_REVISED)
    assert np.allclose(BELIEFS.prior(2), 1 / 3)
    assert np.allclose(BELIEFS.revised(1), 1 / 3)


def test_a_suppressed_respondent_keeps_the_revised_prior():
    assert np.allclose(BELIEFS.posterior(2).loc["D"], THIRD)


def test_releases_in_the_order_of_time():
    assert BELIEFS.times == (1, 2, 3)
    assert len(BELIEFS) == 3
    assert [release.observation.time for release in BELIEFS] == [1, 2, 3]
    with pytest.raises(ValueError, match="there is no release at 4; there are 1, 2, 3"):
        BELIEFS.posterior(4)


class TestPositions:
    """Beliefs are indexed as the releases are, by position; a time has a method of its own."""

    def test_they_are_those_of_a_sequence(self):
        assert [BELIEFS[number] for number in range(len(BELIEFS))] == list(BELIEFS) == list(BELIEFS.releases)
        assert BELIEFS[-1] is BELIEFS.at(3)
        assert BELIEFS[np.int64(1)] is BELIEFS.at(2)
        assert BELIEFS[1:] == BELIEFS.releases[1:]
        assert list(reversed(BELIEFS)) == [BELIEFS.at(time) for time in (3, 2, 1)]
        assert BELIEFS[0] in BELIEFS

    def test_a_time_is_none(self):
        with pytest.raises(TypeError, match=r"'2026-01' is no position.*use \.at\(time\), as beliefs\.at\('2026-01'\)"):
            BELIEFS["2026-01"]
        for wrong in (1.0, None, (0, 1)):
            with pytest.raises(TypeError, match=r"is no position.*\.at\(time\)"):
                BELIEFS[wrong]
        with pytest.raises(
            IndexError, match=r"there are 3 releases, and none at position 3; \.at\(time\) takes a time"
        ):
            BELIEFS[3]


def test_one_person_s_evolution():
    evolution = BELIEFS.of("B")
    stages = ["prior", "revised", "posterior"]
    expected = pd.DataFrame(
        [THIRD, THIRD, [0.5, 0.5, 0], THIRD, B_REVISED, B_POSTERIOR],
        index=pd.MultiIndex.from_product([[1, 2], stages], names=["time", "stage"]),
        columns=pd.Index(["a", "b", "c"], name="result", dtype=object),
    )
    pd.testing.assert_frame_equal(evolution, expected)
    with pytest.raises(ValueError, match="respondent 'Z' is in no release; the times of the releases are 1, "):
        BELIEFS.of("Z")


def test_a_time_or_respondent_of_another_type_is_named():
    with pytest.raises(ValueError, match="The types differ: '2' is text, and 2 a number"):
        BELIEFS.posterior("2")


@pytest.mark.parametrize(
    "times", [((2020, 1), (2020, 2)), (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-02-01")), ("a", "b")]
)
def test_any_time_opens_in_arviz(times):
    views = [view_of("AB", "ab", time=time) for time in times]
    beliefs = SequentialAttack(Adversary(UniformPrior()))([Release(view, [0, 0]) for view in views])
    found = beliefs.to_datatree()["posterior"]["belief"]["release"].values.tolist()
    assert len(found) == 2
    if isinstance(times[0], tuple):
        assert found == ["(2020, 1)", "(2020, 2)"]
    assert beliefs.posterior(times[1]).loc["A", "a"] == 0.5


class TestDataTree:
    TREE = BELIEFS.to_datatree()

    def test_groups_dimensions_and_coordinates(self):
        assert set(self.TREE.children) == {"prior", "revised", "posterior", "foreknow"}
        belief = self.TREE["posterior"]["belief"]
        assert belief.dims == ("chain", "draw", "release", "respondent", "value")
        assert belief.shape == (1, 1, 3, 4, 3)
        assert belief["release"].values.tolist() == [1, 2, 3]
        assert belief["respondent"].values.tolist() == ["A", "B", "C", "D"]
        assert belief["value"].values.tolist() == ["a", "b", "c"]

    @pytest.mark.parametrize("stage", ["prior", "revised", "posterior"])
    def test_it_says_what_the_tables_say_and_nothing_else(self, stage):
        belief = self.TREE[stage]["belief"].isel(chain=0, draw=0)
        for time in BELIEFS.times:
            table = getattr(BELIEFS, stage)(time)
            here = belief.sel(release=time)
            for respondent in "ABCD":
                row = here.sel(respondent=respondent).values
                if respondent in table.index:
                    assert np.array_equal(row, table.loc[respondent])
                else:
                    assert np.isnan(row).all()

    def test_arviz_extracts_and_summarises_it(self):
        extracted = arviz_base.extract(self.TREE)
        assert {"release", "respondent", "value"} < set(extracted.dims)
        summary = az.summary(self.TREE, kind="stats")
        assert len(summary) == 3 * 4 * 3
        assert float(summary.loc["belief[2, B, b]", "mean"]) == pytest.approx(0.7)

    def test_divergent_draws_of_the_group_of_each_respondent(self):
        """At time 2 B and C are in one group, and D in none."""
        first, second, third = BELIEFS.releases
        posterior = dataclasses.replace(second.posterior, divergences=np.array([7]))
        tree = Beliefs((first, dataclasses.replace(second, posterior=posterior), third)).to_datatree()
        found = tree["diagnostics"]["divergences"]
        assert found.dims == ("release", "respondent")
        assert np.array_equal(found.sel(release=2), [np.nan, 7, 7, 0], equal_nan=True)
        assert np.isnan(found.sel(release=[1, 3])).all(), "these releases have no diagnostics"


class TestUnusual:
    @pytest.mark.parametrize("ask", [lambda beliefs: beliefs.of(("clinic", 1)), lambda beliefs: beliefs.to_datatree()])
    def test_respondents_may_be_any_hashable(self, ask):
        view = view_of([("clinic", 1), ("clinic", 2)], "ab")
        beliefs = SequentialAttack(Adversary(UniformPrior()))([Release(view, [0, 0])])
        assert len(beliefs.posterior(1)) == 2
        ask(beliefs)

    def test_no_release_has_no_respondent(self):
        with pytest.raises(ValueError, match="respondent 'A' is in no release"):
            Beliefs(()).of("A")

    def test_no_release_makes_an_empty_tree(self):
        assert set(Beliefs(()).to_datatree().children) == {"foreknow"}
