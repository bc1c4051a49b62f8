"""Retroactive leak: two beliefs about one release, by hand and by the other measures."""

import numpy as np
import pandas as pd
import pytest
from given_beliefs import given_beliefs
from strategies import history_of

from foreknow.attacks import JointAttack
from foreknow.evaluation import disclosures, log_score, retroactive_leak
from foreknow.models import Adversary, Enumeration, GivenPrior, MarkovChain, Release

TRUTHS = [[0, 1, 0, 1]]
FORWARD = [[[0.5, 0.5], [0.5, 0.5], [0.95, 0.05], [0.5, 0.5]]]
HINDSIGHT = [[[1.0, 0.0], [0.5, 0.5], [0.95, 0.05], [0.92, 0.08]]]


def test_by_hand():
    """One belief of 1/2 becomes 1 and right, one .08 and wrong; the other two stay."""
    (forward, history), (hindsight, _) = given_beliefs(TRUTHS, FORWARD), given_beliefs(TRUTHS, HINDSIGHT)
    row = retroactive_leak(forward, hindsight, history).iloc[0]
    assert row["leak"] == pytest.approx((np.log2(1 / 0.5) + np.log2(0.08 / 0.5)) / 4)
    assert row["leak"] == pytest.approx(row["log_score_hindsight"] - row["log_score_forward"])
    assert (row["sure_forward"], row["sure_hindsight"]) == (1 / 4, 3 / 4)
    assert (row["newly_sure"], row["newly_right"]) == (2 / 4, 1 / 4)
    assert row["total_variation"] == pytest.approx((0.5 + 0.42) / 4)


def test_of_two_attacks_it_is_the_difference_of_their_measures():
    history = history_of(("ABCD", "abab"), ("ABCD", "abbb"), ("ABCD", "aabb"))
    releases = [
        Release(view, labels) for view, labels in zip(history, ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]), strict=True)
    ]
    prior = pd.DataFrame(
        [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.1, 0.8, 0.1]], list("ABCD"), list("abc")
    )
    adversary = Adversary(
        GivenPrior(prior), MarkovChain(1, np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]))
    )
    forward, hindsight = (JointAttack(adversary, Enumeration(), hindsight)(releases) for hindsight in (False, True))
    table = retroactive_leak(forward, hindsight, history, sure=0.7, leaving_out={"A"})
    scores = [log_score(beliefs, history, leaving_out={"A"})["log_score"] for beliefs in (forward, hindsight)]
    np.testing.assert_allclose(table["leak"], scores[1] - scores[0])
    sure = [disclosures(beliefs, history, sure=0.7, leaving_out={"A"})["sure"] / 3 for beliefs in (forward, hindsight)]
    np.testing.assert_allclose(table["sure_forward"], sure[0])
    np.testing.assert_allclose(table["sure_hindsight"], sure[1])
    assert table["leak"].iloc[-1] == pytest.approx(0)
    assert table["total_variation"].iloc[0] > 0
    assert table["compromised"].tolist() == [1, 1, 1]


def test_beliefs_alike_leak_nothing():
    beliefs, history = given_beliefs(TRUTHS, FORWARD)
    row = retroactive_leak(beliefs, beliefs, history).iloc[0]
    assert row[["leak", "newly_sure", "newly_right", "total_variation"]].tolist() == [0, 0, 0, 0]


def test_other_releases_are_refused():
    forward, history = given_beliefs(TRUTHS, FORWARD)
    longer, _ = given_beliefs(TRUTHS * 2, FORWARD * 2)
    with pytest.raises(
        ValueError, match="forward and hindsight are about different releases; attack the same ones twice"
    ):
        retroactive_leak(forward, longer, history)
    regrouped, _ = given_beliefs(TRUTHS, FORWARD, labels=[[0, 0, 1, 1]])
    with pytest.raises(ValueError, match="about different releases"):
        retroactive_leak(forward, regrouped, history)
    with pytest.raises(ValueError, match="least is 0"):
        retroactive_leak(forward, forward, history, least=0)


def test_nothing_published():
    beliefs, history = given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]])
    table = retroactive_leak(beliefs, beliefs, history)
    assert table.drop(columns=["time", "measured", "suppressed"]).isna().all(axis=None)
