"""Logarithm of the probability of a release's published multisets under the prior of its respondents."""

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.group_beliefs import log_weight_and_beliefs, proportional_rows, shown_priors
from foreknow.models.estimators.exact import state_counts
from foreknow.models.estimators.sinkhorn import Sinkhorn
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import DOUBT, Problem
from foreknow.models.settings import check_kind, check_whole


def log_evidence(problem: Problem, limit: int = 2**16) -> FloatArray:
    """Log-probability of the multiset of each group, if each member's value is drawn from the member's prior.

    Parameters
    ----------
    problem : Problem
        Its evidence (pseudo-counts) is not read.
    limit : int
        Largest number of states of a group for the exact sum.

    Returns
    -------
    float array, shape (g,)
        0 for an empty group.

    Raises
    ------
    TypeError
        If ``problem`` is no `Problem`.
    ValueError
        If the limit is not a whole number of at least 1.

    Notes
    -----
    Exact for groups with at most ``limit`` states, as `Exact`. For other groups, the saddle-point approximation: the law of
    `Sinkhorn` has the published counts as expectation, and the local limit theorem gives their probability under it,
    ``-KL(Sinkhorn || prior) - log det(2 pi covariance of the counts) / 2``. Its relative error falls as 1 / k in a group of k
    members. A doubt of `DOUBT` is mixed into the prior, so that the result is finite. Cost: that of `Auto`.

    Examples
    --------
    Two members, both values shown once, ``.9 * .6 + .1 * .4``:

    >>> problem = Problem(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> np.exp(log_evidence(problem)).round(6)
    array([0.58])
    """
    check_kind("log_evidence", "problem", problem, Problem, "is a Problem, as observation.problem(prior)")
    check_whole("log_evidence", "limit", limit, "states")
    order, starts = group_rows(problem.group, len(problem.counts))
    large = state_counts(problem, int(limit)) > limit
    found = _exact(problem.prior, problem.counts, order, starts, large)
    if large.any():
        belief = Sinkhorn()(problem).probabilities
        for j in np.flatnonzero(large):
            rows, shown = order[starts[j] : starts[j + 1]], np.flatnonzero(problem.counts[j])
            found[j] = saddle_point(shown_priors(problem.prior, rows, shown, DOUBT), belief[rows][:, shown])
    return found


def saddle_point(prior: FloatArray, belief: FloatArray) -> float:
    """Saddle-point approximation of the log-probability of the counts ``belief.sum(axis=0)``: float arrays, shape ``(k, d)``.

    The probability of the counts under the beliefs is at most 1, which bounds its approximation where beliefs are almost certain.
    """
    weighed = belief > 0
    divergence = float(np.sum(belief[weighed] * np.log(belief[weighed] / prior[weighed])))
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    # The counts sum to k; all but the last determine them.
    sign, log_det = np.linalg.slogdet(2 * np.pi * covariance[:-1, :-1])
    return -divergence - (max(log_det / 2, 0.0) if sign > 0 else 0.0)


@compiled
def _exact(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, large: BoolArray) -> FloatArray:
    """Log-probability of each group that is not large; 0 for the others."""
    found = np.zeros(len(counts))
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(rows) > 0 and not large[j]:
            weights = shown_priors(prior, rows, values, DOUBT)
            if len(values) == 1:
                found[j] = np.log(weights[:, 0]).sum()
            else:
                found[j] = log_weight_and_beliefs(np.log(weights), counts[j][values], proportional_rows(weights))[0]
    return found
