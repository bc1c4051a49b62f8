"""Most probable assignment of the values of each group to its members."""

import numpy as np
import scipy

from foreknow.models import Observation
from foreknow.models.arrays import FloatArray, IntArray


def best_assignment(observation: Observation, prior: FloatArray) -> FloatArray:
    """Assignment of each group with the largest product of priors: 1 for each assigned pair, shape ``(n, m)``.

    Parameters
    ----------
    observation : Observation
    prior : float array, shape (n, m)
        Positive.

    Notes
    -----
    A maximum matching of each group on the logarithms, by SciPy. Where a group shows more values than it has members, the
    values that fit best are assigned. Among equal assignments the order of the members by quasi-identifiers, then names, decides,
    not that of the rows. Rows outside all groups are zeros. Cost: O(k^3) for each group of k members.
    """
    order = _canonical_order(observation)
    starts = np.searchsorted(observation.group[order], np.arange(len(observation.counts) + 1))
    cost, chosen = -np.log(prior), np.zeros(prior.shape)
    for j, counts in enumerate(observation.counts):
        rows = order[starts[j] : starts[j + 1]]
        values = np.repeat(np.arange(len(counts)), counts)
        members, places = scipy.optimize.linear_sum_assignment(cost[np.ix_(rows, values)])
        chosen[rows[members], values[places]] = 1.0
    return chosen


def _canonical_order(observation: Observation) -> IntArray:
    """Rows sorted by group, quasi-identifiers and names, whatever the order of the records."""
    people = observation.people
    names = np.array([str(name) for name in people.respondents], dtype=np.str_)
    return np.asarray(np.lexsort((names, *people.quasi_identifiers.T[::-1], observation.group)), dtype=np.int64)
