"""Assignments of one group with the largest sum of priors, and the belief in each pair averaged over them."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.forward_backward import state_count
from foreknow.models.estimators.assignments.group_beliefs import group_beliefs, proportional_rows

SUM_TOLERANCE = 1e-12
"""Largest difference, for each of k members, between sums of k priors that count as equal."""


@compiled
def average_of_best(prior: FloatArray, counts: IntArray, best: IntArray, limit: int) -> tuple[float, FloatArray]:
    """Number of states of the best assignments, and the fraction of them in which each member has each value.

    Any assignment within the pairs of `_tied_pairs` is a best one, so the fractions are exact beliefs for equal priors of these
    pairs.

    Parameters
    ----------
    prior : float array, shape (k, m)
    counts : int array, shape (m,)
    best : int array, shape (k,)
        Value of each member in one best assignment.
    limit : int
        Largest number of states that is computed; above it the fractions are 0.

    Returns
    -------
    float, and float array of shape (k, m)
    """
    values = np.flatnonzero(counts)
    own = np.searchsorted(values, best)
    tied = _tied_pairs(prior[:, values], own)
    average, states = np.zeros(prior.shape), 1.0
    if tied.sum() > len(prior):
        states = min(state_count(counts[values]), state_count(np.bincount(proportional_rows(tied))))
        if states > limit:
            return states, average
        tied = group_beliefs(tied, counts[values])[1]
    for i in range(len(prior)):
        for s in range(len(values)):
            average[i, values[s]] = tied[i, s]
    return states, average


@compiled
def _tied_pairs(prior: FloatArray, own: IntArray) -> FloatArray:
    """1 for each pair that occurs in a best assignment, 0 for the others: float array, shape ``(k, d)``.

    Let member i take value s instead of its own. Then members move on from s, each to the value of the next, until the value of
    i is filled again. The pair occurs in a best assignment exactly if the least loss of such a cycle is 0: the loss of the first
    step plus the length of the shortest path between the two values.
    """
    k, d = prior.shape
    loss = np.full((d, d), np.inf)
    for i in range(k):
        for s in range(d):
            loss[own[i], s] = min(loss[own[i], s], prior[i, own[i]] - prior[i, s])
    for middle in range(d):
        for s in range(d):
            for t in range(d):
                loss[s, t] = min(loss[s, t], loss[s, middle] + loss[middle, t])
    tied = np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            if s == own[i] or prior[i, own[i]] - prior[i, s] + loss[s, own[i]] <= SUM_TOLERANCE * k:
                tied[i, s] = 1.0
    return tied
