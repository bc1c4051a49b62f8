"""Vulnerability and leakage, against enumerated channels."""

import itertools
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from given_beliefs import given_beliefs
from strategies import view_of

from foreknow.attacks import SnapshotAttack
from foreknow.evaluation import information_flow, success_rate
from foreknow.models import Adversary, Exact, GivenPrior, History, Release

PRIOR = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
GAINS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.1, 3.0], [0.4, 0.4, 0.4]])
"""Four guesses of three values: the last is a safe one."""


def channels(prior):
    """Channel of each member: probability of each published multiset given the member's value, by enumeration of all values."""
    k, m = prior.shape
    joint = defaultdict(lambda: np.zeros((k, m)))
    for values in itertools.product(range(m), repeat=k):
        weight = np.prod([prior[i, v] for i, v in enumerate(values)])
        for i, v in enumerate(values):
            joint[tuple(sorted(values))][i, v] += weight
    return joint


def published(values, gains=None):
    """Flow of the release of one group with these true values, under the Bayesian posterior."""
    view = view_of("ABC", ["abc"[v] for v in values])
    rows = pd.DataFrame(PRIOR, index=list("ABC"), columns=list("abc"))
    beliefs = SnapshotAttack(Adversary(GivenPrior(rows), estimator=Exact()))([Release(view, [0, 0, 0])])
    return information_flow(beliefs, History([view]), gains=gains).iloc[0]


@pytest.mark.parametrize("gains", [None, GAINS])
def test_expected_over_releases_it_is_the_vulnerability_of_the_channel(gains):
    """Sum over outputs y of the largest over guesses of sum over x of g(w, x) p(x) C(x, y), the mean of the members."""
    matrix = np.eye(3) if gains is None else gains
    joint = channels(PRIOR)
    expected = np.mean([sum((matrix @ rows[i]).max() for rows in joint.values()) for i in range(3)])
    found = sum(rows[0].sum() * published(y, gains)["posterior_vulnerability"] for y, rows in joint.items())
    assert found == pytest.approx(expected)
    assert published((0, 1, 2), gains)["prior_vulnerability"] == pytest.approx((matrix @ PRIOR.T).max(axis=0).mean())


@pytest.mark.parametrize("gains", [None, GAINS])
def test_realized_is_expected_over_the_adversary_s_own_law(gains):
    totals = np.zeros(4)
    names = ["realized_posterior", "posterior_vulnerability", "realized_prior", "prior_vulnerability"]
    for values in itertools.product(range(3), repeat=3):
        weight = np.prod([PRIOR[i, v] for i, v in enumerate(values)])
        totals += weight * published(values, gains)[names].to_numpy(float)
    assert totals[0] == pytest.approx(totals[1])
    assert totals[2] == pytest.approx(totals[3])


def test_a_channel_by_hand():
    """Prior (1/4, 1/2, 1/4); channel rows (1, 0, 0), (0, 3/4, 1/4), (1/2, 1/2, 0).

    Outputs have the probabilities 3/8, 1/2, 1/8 and the posteriors (2/3, 0, 1/3), (0, 3/4, 1/4), (0, 1, 0): the posterior
    vulnerability is 3/8 2/3 + 1/2 3/4 + 1/8 = 3/4, and the min-entropy leakage log2(3/2).
    """
    posterior = np.array([[2 / 3, 0, 1 / 3]] * 3 + [[0, 3 / 4, 1 / 4]] * 4 + [[0, 1, 0]])
    prior = np.tile([1 / 4, 1 / 2, 1 / 4], (8, 1))
    row = information_flow(*given_beliefs([[0] * 8], [posterior], [prior])).iloc[0]
    assert row["prior_vulnerability"] == pytest.approx(1 / 2)
    assert row["posterior_vulnerability"] == pytest.approx(3 / 4)
    assert row["leakage"] == pytest.approx(np.log2(3 / 2))


def test_with_the_identity_realized_is_the_success_rate():
    rng = np.random.default_rng(3)
    posterior = np.vstack([rng.dirichlet([1, 1, 1], 6), [[0.4, 0.4, 0.2]]])
    beliefs, history = given_beliefs([[0, 1, 2, 0, 1, 2, 0]], [posterior], labels=[[0, 0, 0, 1, 1, 1, 1]])
    assert information_flow(beliefs, history)["realized_posterior"][0] == success_rate(beliefs, history)["success"][0]


def test_a_tied_guess_is_averaged():
    beliefs, history = given_beliefs([[0, 0]], [[[0.5, 0.5], [0.5, 0.5]]])
    row = information_flow(beliefs, history, gains=[[2, 0], [0, 2]]).iloc[0]
    assert (row["realized_posterior"], row["posterior_vulnerability"]) == (1, 1)
    assert row["leakage"] == row["realized_leakage"] == 0


def test_leakage_without_a_positive_vulnerability_is_missing():
    beliefs, history = given_beliefs([[0, 1]], [np.eye(2)])
    row = information_flow(beliefs, history, gains=[[-1.0, -1.0]]).iloc[0]
    assert np.isnan(row["leakage"])
    assert row["posterior_vulnerability"] == -1


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([1, 0], "shape"),
        (np.zeros((0, 2)), "shape"),
        ([[np.inf, 1]], "finite"),
        ([[1, 0, 0]], "3 columns, and the sens"),
    ],
)
def test_wrong_gains(gains, words):
    with pytest.raises(ValueError, match=f"information_flow: gains .*{words}"):
        information_flow(*given_beliefs([[0, 1]], [np.eye(2)]), gains=gains)
