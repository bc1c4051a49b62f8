"""Damped message passing of `message_passing` without logarithms, for weights of a moderate range.

Sums of positive numbers lose no precision without logarithms, and cost a sixth of those of `numpy.logaddexp`.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

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
