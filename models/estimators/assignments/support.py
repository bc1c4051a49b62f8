"""Support of the assignments of one group: pairs of respondent and value that occur in a possible assignment.

SciPy's bipartite matching has no capacities and cannot be called from compiled kernels, so the matching is written here.
"""

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.group_beliefs import shown_priors
from foreknow.models.problem import DOUBT


@compiled
def possible_pairs(weights: FloatArray, capacity: IntArray) -> tuple[bool, BoolArray]:
    """True if an assignment of positive weight exists, and the pairs that occur in at least one of them.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Of k members and d values; 0 rules a pair out.
    capacity : int array, shape (d,)
        Count of each value, 1 or more; sums to k.

    Returns
    -------
    bool, and bool array of shape (k, d)
        Where no assignment exists, the array has the pairs of positive weight.

    Notes
    -----
    One assignment is found by augmenting paths. Consider the directed graph on values with an edge from a member's assigned
    value to each value allowed for the member. Another pair (i, s) is possible exactly if s and the value of i lie on a common
    cycle. Cost: O(k d) where nothing is ruled out, else O(k d^2 + d^3).
    """
    allowed = weights > 0.0
    if allowed.all():
        return True, allowed
    assigned, complete = _matching(allowed, capacity)
    if not complete:
        return False, allowed
    reachable = np.zeros((len(capacity), len(capacity)), dtype=np.bool_)
    for i in range(len(assigned)):
        reachable[assigned[i]] |= allowed[i]
    for middle in range(len(capacity)):
        for s in range(len(capacity)):
            if reachable[s, middle]:
                reachable[s] |= reachable[middle]
    for i in range(len(assigned)):
        for s in range(len(capacity)):
            allowed[i, s] = allowed[i, s] and (s == assigned[i] or reachable[s, assigned[i]])
    return True, allowed


@compiled
def weights_and_possible_pairs(
    prior: FloatArray, rows: IntArray, values: IntArray, capacity: IntArray
) -> tuple[bool, FloatArray, BoolArray]:
    """True if an assignment is possible, the group's weights, and its possible pairs.

    Where no assignment is possible, a doubt of `DOUBT` is mixed into the weights and all pairs are possible.
    """
    weights = shown_priors(prior, rows, values, 0.0)
    possible, pairs = possible_pairs(weights, capacity)
    if not possible:
        weights = shown_priors(prior, rows, values, DOUBT)
        pairs = weights > 0.0
    return possible, weights, pairs


@compiled
def _matching(allowed: BoolArray, capacity: IntArray) -> tuple[IntArray, bool]:
    """Allowed value of each member within the capacities, and True if every member got one; one augmenting path a member."""
    assigned = np.full(len(allowed), -1, dtype=np.int64)
    left = capacity.copy()
    for member in range(len(allowed)):
        end, reached_by = _free_value(allowed, assigned, left, member)
        if end < 0:
            return assigned, False
        left[end] -= 1
        # Along the path each member moves to the value that was reached by it, back to the new member.
        mover = -1
        while mover != member:
            mover = reached_by[end]
            end, assigned[mover] = assigned[mover], end
    return assigned, True


@compiled
def _free_value(allowed: BoolArray, assigned: IntArray, left: IntArray, member: int) -> tuple[int, IntArray]:
    """A value with capacity left that a path from the member reaches, or -1, and the member that reached each value.

    Breadth-first search over values. From a value the search goes on to the values allowed for its holders, who are among the
    members before this one.
    """
    d = len(left)
    reached_by = np.full(d, -1, dtype=np.int64)
    queue, queued = np.zeros(d, dtype=np.int64), 0
    for s in range(d):
        if allowed[member, s]:
            reached_by[s] = member
            queue[queued] = s
            queued += 1
    place = 0
    while place < queued:
        value = queue[place]
        place += 1
        if left[value] > 0:
            return value, reached_by
        for holder in range(member):
            if assigned[holder] != value:
                continue
            for s in range(d):
                if allowed[holder, s] and reached_by[s] < 0:
                    reached_by[s] = holder
                    queue[queued] = s
                    queued += 1
    return -1, reached_by
