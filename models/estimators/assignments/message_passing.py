"""Damped message passing between members and published values, in logarithms where that is needed.

Messages and beliefs are those of `BeliefPropagation`. Arrays have shape ``(k, d)`` for k members and d distinct values; the
messages of equal published values are equal and stored once.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.plain_messages import plain_messages

MIN_LOG_ODDS = -700.0
"""Log-odds below which a probability is 0; exp(710) overflows."""


@compiled
def pass_messages(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """True if the largest change of a belief fell to the tolerance, and the beliefs, with rows scaled to 1.

    Messages are kept as logarithms where plain floats would overflow or vanish (`plain_messages`).

    Parameters
    ----------
    weights : float array, shape (k, d)
        Logarithms of priors; -inf for pairs that are ruled out.
    capacity : int array, shape (d,)
        Count of each value.
    tolerance : float
    iterations : int
    damping : float
    """
    in_range, converged, plain = plain_messages(weights, capacity, tolerance, iterations, damping)
    if in_range:
        return converged, _rows_to_one(plain)
    k, d = weights.shape
    from_members, from_values, belief = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for _ in range(iterations):
        update_members(weights, from_values, capacity, from_members)
        update_values(from_members, damping, from_values)
        change = 0.0
        for i in range(k):
            for s in range(d):
                updated = logistic(from_members[i, s] + from_values[i, s]) * capacity[s]
                change = max(change, abs(updated - belief[i, s]))
                belief[i, s] = updated
        if change <= tolerance:
            return True, _rows_to_one(belief)
    return False, _rows_to_one(belief)


@compiled
def update_members(weights: FloatArray, from_values: FloatArray, capacity: IntArray, from_members: FloatArray) -> None:
    """Write the messages of members: the weight of a value over the sum for all other published values.

    The sum includes the other published values equal to this one. Sums over the values before and after each value leave it
    out without a subtraction, in O(k d).
    """
    k, d = weights.shape
    times, equal = np.zeros(d), np.zeros(d)
    for s in range(d):
        times[s] = np.log(capacity[s])
        equal[s] = np.log(capacity[s] - 1.0) if capacity[s] > 1 else -np.inf
    before, after = np.full(d + 1, -np.inf), np.full(d + 1, -np.inf)
    for i in range(k):
        for s in range(d):
            before[s + 1] = np.logaddexp(before[s], weights[i, s] + from_values[i, s] + times[s])
        for s in range(d - 1, -1, -1):
            after[s] = np.logaddexp(after[s + 1], weights[i, s] + from_values[i, s] + times[s])
        for s in range(d):
            others = np.logaddexp(before[s], after[s + 1])
            from_members[i, s] = weights[i, s] - np.logaddexp(others, weights[i, s] + from_values[i, s] + equal[s])


@compiled
def update_values(from_members: FloatArray, damping: float, from_values: FloatArray) -> None:
    """Write the messages of values: one over the sum of the messages of all other members, damped."""
    k, d = from_members.shape
    before, after = np.zeros(k + 1), np.zeros(k + 1)
    for s in range(d):
        before[0], after[k] = -np.inf, -np.inf
        for i in range(k):
            before[i + 1] = np.logaddexp(before[i], from_members[i, s])
        for i in range(k - 1, -1, -1):
            after[i] = np.logaddexp(after[i + 1], from_members[i, s])
        for i in range(k):
            undamped = -np.logaddexp(before[i], after[i + 1])
            from_values[i, s] = damping * from_values[i, s] + (1.0 - damping) * undamped


@compiled
def logistic(log_odds: float) -> float:
    """Probability of some log-odds; 0 below `MIN_LOG_ODDS`.

    SciPy's ``expit`` cannot be called from compiled kernels.
    """
    return 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > MIN_LOG_ODDS else 0.0


@compiled
def _rows_to_one(belief: FloatArray) -> FloatArray:
    for i in range(len(belief)):
        belief[i] /= belief[i].sum()
    return belief
