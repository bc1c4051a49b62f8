"""Damped message passing between members and published values, with and without logarithms."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

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


MIN_PLAIN_MESSAGE, MAX_PLAIN_MESSAGE = 1e-140, 1e140
"""Range of weights and messages that are kept without logarithms: a product of two is a normal float."""


@compiled
def plain_messages(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, bool, FloatArray]:
    """True if all messages are in range, true if they converged, and the beliefs, whose columns sum to the capacities.

    The parameters are those of `message_passing.pass_messages`. Cost: O(k d) for each iteration.
    """
    k, d = weights.shape
    scaled, from_members, from_values, belief = np.zeros((k, d)), np.zeros((k, d)), np.ones((k, d)), np.zeros((k, d))
    if k == 1 or d == 1:
        return False, False, belief
    for i in range(k):
        largest = weights[i].max()
        for s in range(d):
            scaled[i, s] = np.exp(weights[i, s] - largest)
            if not scaled[i, s] >= MIN_PLAIN_MESSAGE:
                return False, False, belief
    before, after = np.zeros(d + 1), np.zeros(d + 1)
    above, below = np.zeros(k + 1), np.zeros(k + 1)
    for _ in range(iterations):
        _update_members(scaled, from_values, capacity, from_members, before, after)
        if not _update_values(from_members, damping, from_values, above, below):
            return False, False, belief
        change = 0.0
        for i in range(k):
            for s in range(d):
                odds = from_members[i, s] * from_values[i, s]
                updated = odds / (1.0 + odds) * capacity[s]
                change = max(change, abs(updated - belief[i, s]))
                belief[i, s] = updated
        if change <= tolerance:
            return True, True, belief
    return True, False, belief


@compiled
def _update_members(
    weights: FloatArray,
    from_values: FloatArray,
    capacity: IntArray,
    from_members: FloatArray,
    before: FloatArray,
    after: FloatArray,
) -> None:
    """Write the messages of members: the weight of a value over the sum for all other published values."""
    k, d = weights.shape
    for i in range(k):
        for s in range(d):
            before[s + 1] = before[s] + weights[i, s] * from_values[i, s] * capacity[s]
        for s in range(d - 1, -1, -1):
            after[s] = after[s + 1] + weights[i, s] * from_values[i, s] * capacity[s]
        for s in range(d):
            equal = weights[i, s] * from_values[i, s] * (capacity[s] - 1.0)
            from_members[i, s] = weights[i, s] / (before[s] + after[s + 1] + equal)


@compiled
def _update_values(
    from_members: FloatArray, damping: float, from_values: FloatArray, above: FloatArray, below: FloatArray
) -> bool:
    """Write the messages of values, damped in logarithms; true if all messages are in range."""
    k, d = from_members.shape
    least, largest = MAX_PLAIN_MESSAGE, MIN_PLAIN_MESSAGE
    for s in range(d):
        for i in range(k):
            above[i + 1] = above[i] + from_members[i, s]
        for i in range(k - 1, -1, -1):
            below[i] = below[i + 1] + from_members[i, s]
        for i in range(k):
            undamped = 1.0 / (above[i] + below[i + 1])
            from_values[i, s] = undamped * (from_values[i, s] / undamped) ** damping
            least = min(least, from_members[i, s], from_values[i, s])
            largest = max(largest, from_members[i, s], from_values[i, s])
    return least >= MIN_PLAIN_MESSAGE and largest <= MAX_PLAIN_MESSAGE
