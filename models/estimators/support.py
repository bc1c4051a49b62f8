"""Which pairs of person and value knowledge leaves possible, once all of a group's values must be given away."""

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import shown
from foreknow.models.problem import DOUBT


@compiled
def possible_pairs(weights: FloatArray, capacity: IntArray) -> tuple[bool, BoolArray]:
    """The pairs that stand in at least one assignment of positive weight, and whether there is such an assignment.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Of k people and d values; 0 rules a pair out.
    capacity : int array, shape (d,)
        How often each value is given away, 1 or more; sums to k.

    Notes
    -----
    One assignment is found by augmenting paths. Another pair (i, s) is possible exactly if people can move on from s,
    one to the next one's value, until i's own value is filled again: if both values lie on a cycle of such moves. Cost:
    O(k d) where nothing is ruled out, else O(k d^2 + d^3).
    """
    allowed = weights > 0.0
    if allowed.all():
        return True, allowed
    given, found = _assignment(allowed, capacity)
    if not found:
        return False, allowed
    onward = np.zeros((len(capacity), len(capacity)), dtype=np.bool_)
    for i in range(len(given)):
        onward[given[i]] |= allowed[i]
    for middle in range(len(capacity)):
        for s in range(len(capacity)):
            if onward[s, middle]:
                onward[s] |= onward[middle]
    for i in range(len(given)):
        for s in range(len(capacity)):
            allowed[i, s] = allowed[i, s] and (s == given[i] or onward[s, given[i]])
    return True, allowed


@compiled
def shown_and_possible(
    prior: FloatArray, rows: IntArray, values: IntArray, capacity: IntArray
) -> tuple[bool, FloatArray, BoolArray]:
    """A group's weights and its possible pairs; with a doubt of `DOUBT` mixed in, and all pairs, if none is possible."""
    weights = shown(prior, rows, values, 0.0)
    found, pairs = possible_pairs(weights, capacity)
    if not found:
        weights = shown(prior, rows, values, DOUBT)
        pairs = weights > 0.0
    return found, weights, pairs


@compiled
def _assignment(allowed: BoolArray, capacity: IntArray) -> tuple[IntArray, bool]:
    """A value for each person within what is allowed, and whether everybody got one."""
    given = np.full(len(allowed), -1, dtype=np.int64)
    left = capacity.copy()
    for person in range(len(allowed)):
        reached_by = np.full(len(capacity), -1, dtype=np.int64)
        queue = np.zeros(len(capacity), dtype=np.int64)
        first, last, end = 0, 0, -1
        for s in range(len(capacity)):
            if allowed[person, s]:
                reached_by[s] = person
                queue[last] = s
                last += 1
        while first < last and end < 0:
            value = queue[first]
            first += 1
            if left[value] > 0:
                end = value
                break
            for holder in range(person):
                if given[holder] == value:
                    for s in range(len(capacity)):
                        if allowed[holder, s] and reached_by[s] < 0:
                            reached_by[s] = holder
                            queue[last] = s
                            last += 1
        if end < 0:
            return given, False
        left[end] -= 1
        while True:
            mover = reached_by[end]
            before = given[mover]
            given[mover] = end
            if mover == person:
                break
            end = before
    return given, True
