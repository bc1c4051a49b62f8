"""Risk of each respondent and its group members, against plain loops and enumeration."""

import numpy as np
import oracle
import pandas as pd
import pytest
from given_beliefs import given_beliefs
from strategies import history_of

from foreknow.attacks import SequentialAttack
from foreknow.evaluation import exposing_members, respondent_risk
from foreknow.evaluation.risk import respondent_risk as risk_file
from foreknow.evaluation.risk.respondent_risk import member_contributions
from foreknow.models import Adversary, Exact, GivenPrior, Grouping, MarkovChain, Release

HISTORY = history_of(("ABCDEF", "abbcca"), ("ABCD", "bbac"), ("ABCDE", "cabbc"))
GROUPS = (Grouping([0, 0, 0, 1, 1, -1]), Grouping([0, 1, 0, 1]), Grouping([0, 0, 1, 1, 0]))
PRIOR = pd.DataFrame(np.random.default_rng(6).dirichlet([1, 1, 1], 6), index=list("ABCDEF"), columns=list("abc"))
CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
RELEASES = [Release(view, grouping) for view, grouping in zip(HISTORY, GROUPS, strict=True)]
BELIEFS = SequentialAttack(Adversary(GivenPrior(PRIOR), CHAIN, estimator=Exact()))(RELEASES)


def risks():
    """Rows of a plain loop over frames, in the order of the respondents."""
    rows = {}
    for view, release, grouping in zip(HISTORY, RELEASES, GROUPS, strict=True):
        posterior, revised = BELIEFS.posterior(view.time), BELIEFS.revised(view.time)
        for i, (who, truth) in enumerate(zip(view.frame["id"], view.frame["result"], strict=True)):
            if grouping.labels[i] < 0:
                continue
            together = [j for j in range(len(view)) if grouping.labels[j] == grouping.labels[i]]
            share = np.mean([view.frame["result"][j] == truth for j in together])
            belief = posterior.loc[who, truth]
            number = rows.get(who, {"releases": 0})["releases"] + 1
            if who not in rows or belief > rows[who]["belief"]:
                rows[who] = {
                    "respondent": who, "belief": belief, "time": view.time, "value": truth, "before": revised.loc[who, truth],
                    "prior": PRIOR.loc[who, truth], "share": share, "members": len(together),
                }  # fmt: skip
            rows[who]["releases"] = number
        assert release.time == view.time
    return sorted(rows.values(), key=lambda row: -row["belief"])


def test_against_a_plain_loop():
    table = respondent_risk(BELIEFS, HISTORY)
    expected = pd.DataFrame(risks())
    pd.testing.assert_frame_equal(table[expected.columns], expected, check_dtype=False)
    np.testing.assert_allclose(table["rise"], table["belief"] - table["before"])
    assert table[["low", "high"]].isna().all(axis=None)  # an exact estimator has no Monte Carlo error


def test_the_first_rows_and_values_left_out():
    table = respondent_risk(BELIEFS, HISTORY)
    pd.testing.assert_frame_equal(respondent_risk(BELIEFS, HISTORY, most=2), table.head(2))
    pd.testing.assert_frame_equal(respondent_risk(BELIEFS, HISTORY, show_values=False), table.drop(columns="value"))
    gone = table["respondent"][0]
    rest = respondent_risk(BELIEFS, HISTORY, leaving_out={gone})
    assert rest["respondent"].tolist() == table["respondent"][1:].tolist()


def test_intervals_of_an_estimator_that_samples():
    """A belief of .5 with the standard error .1 has the 90 % interval .5 +- .1645; one of .99 ends at 1."""
    posterior, error = [[0.5, 0.5], [0.01, 0.99]], [[0.1, 0.1], [0.1, 0.1]]
    table = respondent_risk(*given_beliefs([[0, 1]], [posterior], errors=[error])).sort_values("belief")
    np.testing.assert_allclose(table["low"], [0.33551, 0.82551], atol=1e-5)
    np.testing.assert_allclose(table["high"], [0.66449, 1], atol=1e-5)


def test_names_that_are_tuples():
    names = np.empty(2, dtype=object)
    names[:] = [("A", 1), ("B", 2)]
    table = respondent_risk(*given_beliefs([[0, 1]], [[[0.7, 0.3], [0.8, 0.2]]], ids=[names]))
    assert table["respondent"].tolist() == [("A", 1), ("B", 2)]
    assert table["belief"].tolist() == [0.7, 0.2]


def test_nobody_published():
    table = respondent_risk(*given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]]))
    assert len(table) == 0
    assert list(table.columns) == list(respondent_risk(BELIEFS, HISTORY).columns)


class TestExposingMembers:
    @pytest.mark.parametrize("without", ["prior", "uniform"])
    def test_against_enumeration(self, without):
        """Week 3: A, B and E share {c, a, c}; each other row is replaced in turn."""
        release, value = BELIEFS.at(3), 2
        rows = [0, 1, 4]
        counts = release.observation.counts[release.observation.group[0]]
        revised = release.revised[rows]
        full = oracle.product_posterior(revised, counts)[0, value]
        table = exposing_members(BELIEFS, "A", 3, value="c", estimator=Exact(), without=without).set_index("respondent")
        assert set(table.index) == {"B", "E"}
        for place, member in ((1, "B"), (2, "E")):
            changed = revised.copy()
            changed[place] = release.prior[rows[place]] if without == "prior" else 1 / 3
            less = oracle.product_posterior(changed, counts)[0, value]
            assert table.loc[member, "belief"] == pytest.approx(full)
            assert table.loc[member, "belief_without"] == pytest.approx(less)
            assert table.loc[member, "contribution"] == pytest.approx(full - less)
            assert table.loc[member, "certainty"] == revised[place].max()
        assert np.abs(table["contribution"]).is_monotonic_decreasing
        assert full == pytest.approx(BELIEFS.posterior(3).loc["A", "c"])

    def test_a_first_release_has_no_earlier_one(self):
        assert (exposing_members(BELIEFS, "A", 1)["contribution"] == 0).all()

    def test_the_default_value_and_the_number_of_rows(self):
        row = BELIEFS.posterior(3).loc["B"]
        table = exposing_members(BELIEFS, "B", 3, most=1)
        assert len(table) == 1
        assert table["belief"][0] == pytest.approx(row.max())

    def test_nobody_else(self):
        assert len(exposing_members(BELIEFS, "F", 1)) == 0  # suppressed
        alone, _ = given_beliefs([[0, 1]], [np.eye(2)], labels=[[0, 1]])
        assert len(exposing_members(alone, 0, 1)) == 0

    def test_wrong_names(self):
        with pytest.raises(ValueError, match="respondent 'Z' is not in the release at 1; name one of its 6"):
            exposing_members(BELIEFS, "Z", 1)
        with pytest.raises(ValueError, match="value is 'z'; it is one of 'a', 'b', 'c'"):
            exposing_members(BELIEFS, "A", 1, value="z")
        with pytest.raises(ValueError, match="no release at 9"):
            exposing_members(BELIEFS, "A", 9)


@pytest.mark.parametrize("stacked", [2**18, 1])
def test_contributions_of_all_at_once_are_those_one_by_one(monkeypatch, stacked):
    monkeypatch.setattr(risk_file, "MAX_STACKED", stacked)
    for release, beliefs in zip(RELEASES, BELIEFS, strict=True):
        rows, names = range(len(release.view)), release.view.people.respondents
        codes = beliefs.posterior.probabilities.argmax(axis=1).tolist()
        for row, found in zip(rows, member_contributions(beliefs, rows, codes, Exact()), strict=True):
            alone = exposing_members(BELIEFS, names[row], release.time, estimator=Exact(), most=9)
            assert names[found.members].tolist() == alone["respondent"].tolist()
            np.testing.assert_allclose(found.contribution, alone["contribution"].astype(float), atol=1e-14)
