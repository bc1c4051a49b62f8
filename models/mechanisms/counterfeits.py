"""Posterior of a release with counterfeits, whose distribution of values is estimated from the release."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_sums
from foreknow.models.problem import UNCONVERGED, Posterior, Problem

MAX_ROUNDS = 200
"""Largest number of rounds of a distribution that is estimated together with the beliefs."""

ROUND_TOLERANCE = 1e-3
"""Largest change of a probability between two rounds at which the estimation stops."""


def counterfeit_posterior(problem: Problem, people: int, estimate: Callable[[Problem], Posterior]) -> Posterior:
    """Posterior of respondents and counterfeits, where groups were formed by values and counterfeits replace missing records.

    The publisher is assumed to assign the records of one value at random to the groups that show it, and counterfeits to the
    places that remain. Let C be the number of counterfeits of value v in the groups of a signature (the set of shown values),
    n the number of true records of v there, and N the number of true records of v in all groups. Each of the C + n places of
    a signature and value is a counterfeit with an unknown probability, uniform between 0 and 1. Then::

        P(x | release) ~ product over people of P_i(x_i), over values of 1 / N!, over signatures and values of C! n! / (C + n + 1)!

    Given all other groups, a counterfeit of value v in a group has the weight ``(N + 1) (C + 1) / (n + 1)``, with the counts of
    the other groups. These counts are unknown. Their expectations under the present beliefs replace them (collapsed
    variational Bayes of order zero), and the beliefs are computed again until no probability of a counterfeit changes by more
    than `ROUND_TOLERANCE`.

    Parameters
    ----------
    problem : Problem
        Problem with the counterfeits as the last respondents; their prior rows are not read.
    people : int
        Number of respondents before the counterfeits.
    estimate : function of a Problem to a Posterior
        The estimator. It is called once per round on the groups that have counterfeits, and at the end on all groups.

    Returns
    -------
    Posterior
        Rows for respondents and counterfeits. ``UNCONVERGED`` is set in groups with counterfeits if the estimation did not
        converge within `MAX_ROUNDS` rounds.

    Notes
    -----
    Exact where one group has counterfeits and shows each value once; otherwise approximate. The result relies on a prior with
    correct frequencies of the values in this release, as N determines which values are missing. Groups without counterfeits
    have the posterior of the estimator. Several counterfeits of one value in one group are treated as independent. Cost: that
    of the estimator and O(g m) per round.
    """
    counts, invented_group = problem.counts, problem.group[people:]
    invented = np.bincount(invented_group, minlength=len(counts))
    with_counterfeits = invented > 0
    part = _selected_groups(problem, with_counterfeits)
    signature = signature_numbers(counts)
    expected = counts * (invented / np.maximum(counts.sum(axis=1), 1))[:, None]
    prior, change = problem.prior, np.inf
    for _ in range(MAX_ROUNDS):
        weights = counterfeit_weights(counts, expected, signature) * assignment_weights(counts, expected, signature)
        prior = np.vstack([problem.prior[:people], normalized_rows(weights)[invented_group]])
        belief = estimate(replace(part, prior=prior)).probabilities[people:]
        # An estimator that does not keep the counts of a group, as Omega, may expect more counterfeits of a value than it shows.
        previous, expected = expected, np.minimum(group_sums(belief, invented_group, len(counts)), counts)
        change = float(np.abs(expected - previous).max())
        if change <= ROUND_TOLERANCE:
            break
    answer = estimate(replace(problem, prior=prior))
    unconverged = with_counterfeits & (change > ROUND_TOLERANCE)
    return replace(answer, status=np.where(unconverged, answer.status | UNCONVERGED, answer.status))


def _selected_groups(problem: Problem, kept: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Problem:
    """Problem in which all but some groups are empty."""
    group = np.where(np.append(kept, False)[problem.group], problem.group, -1)
    return Problem(problem.prior, group, np.where(kept[:, None], problem.counts, 0), problem.evidence)


def signature_numbers(counts: IntArray) -> IntArray:
    """Number of the signature (set of shown values) of each group: int array, shape ``(g,)``; equal for equal sets."""
    return np.unique(counts > 0, axis=0, return_inverse=True)[1].reshape(-1)


def sums_of_other_groups(expected: FloatArray, signature: IntArray) -> FloatArray:
    """Sums over the other groups of the same signature, of numbers of shape ``(g, m)`` by group: same shape."""
    return group_sums(expected, signature, int(signature.max(initial=-1)) + 1)[signature] - expected


def counterfeit_weights(counts: IntArray, expected: FloatArray, signature: IntArray) -> FloatArray:
    """Weight of a counterfeit of each value, shape ``(g, m)``: 1 plus the number expected in other groups of the signature.

    This is the predictive distribution of a Dirichlet distribution with parameters 1 over the values of the signature. It
    suffices where the rows of the respondents already contain the information of the signature.

    Parameters
    ----------
    counts : int array, shape (g, m)
    expected : float array, shape (g, m)
        Expected number of counterfeits.
    signature : int array, shape (g,)
        Result of `signature_numbers`.
    """
    return np.where(counts > 0, sums_of_other_groups(expected, signature) + 1, 0.0)


def assignment_weights(counts: IntArray, expected: FloatArray, signature: IntArray) -> FloatArray:
    """Inverse of the share of the records of a value that a signature received, shape ``(g, m)``, from the other groups.

    A group whose members were assigned to its signature by their values has as its weight the product of these shares over its
    true records. This product is a constant divided by the product over its counterfeits. Parameters are those of
    `counterfeit_weights`.
    """
    true = counts - expected
    return (true.sum(axis=0) - true + 1) / (sums_of_other_groups(true, signature) + 1)


def normalized_rows(weights: FloatArray) -> FloatArray:
    """Rows divided by their sums; rows of zeros stay."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
