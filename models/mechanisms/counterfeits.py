"""Posterior of a release with counterfeits, whose values follow a law that is estimated from the release."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import UNCONVERGED, Posterior, Problem

ROUNDS = 200
"""Largest number of rounds of a law that is estimated together with the beliefs."""

SETTLED = 1e-3
"""Largest change of a probability between two rounds at which the estimation stops."""


def weigh_counterfeits(problem: Problem, people: int, weigh: Callable[[Problem], Posterior]) -> Posterior:
    """Posterior of people and counterfeits, where groups were formed by values and counterfeits stand for lacking ones.

    The publisher is assumed to place the records of one value at random in the groups that show it, and counterfeits in
    the places that are left. Let C be the number of counterfeits of value v in the groups of a signature (the set of shown
    values), n the number of true records of v there, and N that of v in all groups. Each of the C + n places of a signature
    and value is a counterfeit with an unknown probability, uniform between 0 and 1. Then::

        P(x | release) ~ product over people of P_i(x_i), over values of 1 / N!, over signatures and values of C! n! / (C + n + 1)!

    Given all other groups, a counterfeit of value v in a group weighs ``(N + 1) (C + 1) / (n + 1)``, with the counts of the
    other groups. These counts are unknown; their expectations under the present beliefs take their place (collapsed
    variational Bayes of order zero), and the beliefs are computed again until no counterfeit's probability changes by more
    than `SETTLED`.

    Parameters
    ----------
    problem : Problem
        With the counterfeits as the last respondents; their prior rows are not read.
    people : int
        Number of respondents who are people.
    weigh : function of a Problem to a Posterior
        The estimator. It is called once per round, on the groups that have counterfeits, and at the end on all.

    Returns
    -------
    Posterior
        Rows for people and counterfeits. ``UNCONVERGED`` is set in groups with counterfeits if they did not settle within
        `ROUNDS` rounds.

    Notes
    -----
    Exact where one group has counterfeits and shows each value once; otherwise approximate. The law relies on a prior that is right
    about how frequent each value is in this release, as N tells which values are lacking. Groups without counterfeits are
    weighed as without this law. Several counterfeits of one value in one group weigh as independent ones. Cost: that of
    the estimator and O(g m) per round.
    """
    group, counts = problem.group, problem.counts
    strangers = group[people:]
    invented = np.bincount(strangers, minlength=len(counts))
    some = invented > 0
    part = Problem(
        problem.prior,
        np.where(np.append(some, False)[group], group, -1),
        np.where(some[:, None], counts, 0),
        problem.evidence,
    )
    signature = signatures_of(counts)
    lacking = counts * (invented / np.maximum(counts.sum(axis=1), 1))[:, None]
    rows, change = problem.prior, np.inf
    for _ in range(ROUNDS):
        weights = lacking_weights(counts, lacking, signature) * dealt_weights(counts, lacking, signature)
        rows = np.vstack([problem.prior[:people], shares(weights)[strangers]])
        found = weigh(replace(part, prior=rows)).probabilities[people:]
        # An estimator that does not keep a group's counts, as Omega, may believe more counterfeits of a value than it shows.
        before, lacking = lacking, np.minimum(by_group(found, strangers, len(counts)), counts)
        change = float(np.abs(lacking - before).max())
        if change <= SETTLED:
            break
    answer = weigh(replace(problem, prior=rows))
    unsettled = some & (change > SETTLED)
    return replace(answer, status=np.where(unsettled, answer.status | UNCONVERGED, answer.status))


def signatures_of(counts: IntArray) -> IntArray:
    """Numbers of the sets of values that groups show: int array, shape ``(g,)``; equal for equal sets."""
    return np.unique(counts > 0, axis=0, return_inverse=True)[1].reshape(-1)


def by_group(rows: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Sums of rows of shape ``(n, m)`` over each group: float array, shape ``(g, m)``. Rows of group -1 are left out."""
    found = np.zeros((groups, rows.shape[1]))
    np.add.at(found, group[group >= 0], rows[group >= 0])
    return found


def elsewhere(expected: FloatArray, signature: IntArray) -> FloatArray:
    """Sums over the other groups of the same signature, of numbers of shape ``(g, m)`` by group."""
    return by_group(expected, signature, int(signature.max(initial=-1)) + 1)[signature] - expected


def lacking_weights(counts: IntArray, lacking: FloatArray, signature: IntArray) -> FloatArray:
    """Weight of a counterfeit of each value, shape ``(g, m)``: 1 and the expected ones in other groups of the signature.

    It is the predictive law of a Dirichlet distribution with parameters 1 over the values of the signature. By it alone, the
    signature of a group says nothing about its people: it is the law of counterfeits if their rows say so already.

    Parameters
    ----------
    counts : int array, shape (g, m)
    lacking : float array, shape (g, m)
        Expected number of counterfeits.
    signature : int array, shape (g,)
        As `signatures_of` gives it.
    """
    return np.where(counts > 0, elsewhere(lacking, signature) + 1, 0.0)


def dealt_weights(counts: IntArray, lacking: FloatArray, signature: IntArray) -> FloatArray:
    """Inverse of the share of a value's records that a signature received, shape ``(g, m)``, from the other groups.

    A group of people who were dealt into their signature by their values weighs the product of these shares over its true
    records, which is a constant over the product of its counterfeits' shares.
    """
    true = counts - lacking
    return (true.sum(axis=0) - true + 1) / (elsewhere(true, signature) + 1)


def shares(weights: FloatArray) -> FloatArray:
    """Rows divided by their sums; rows of zeros stay."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
