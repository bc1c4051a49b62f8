"""Groups of the k nearest records, changed until no value's share is too large: k-anonymity first, likeness second."""

import numpy as np

from foreknow.defenses.clusters.nearest_group import Groups, Limits, change, gather, join_all, squared
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, squared_distance

NO, ADD = -1, -2
"""What may be done with a record of a value, where it is not to replace one of another: nothing, or to be added."""


def primacy_groups(
    codes: FloatArray, scale: Scale, points: FloatArray, values: IntArray, order: IntArray, limits: Limits
) -> IntArray:
    """Group a cluster's records, k nearest ones at a time, so that each group keeps the limits.

    Parameters
    ----------
    codes : float array, shape (n, d)
        The quasi-identifiers.
    scale : Scale
        Their distances.
    points : float array, shape (n, D)
        Points as far apart as the records, for centroids.
    values : int array, shape (n,)
        The sensitive codes.
    order : int array, shape (n,)
        In which order records become seeds.
    limits : Limits
        The fewest records, k, and the largest shares.

    Returns
    -------
    int array, shape (n,)
        Each record's group, 0 to g - 1; -1 where no group may take it.

    Notes
    -----
    A reconstruction, see `KPrimacy`. Cost: O(n (n + u d) / k) for u distinct vectors of quasi-identifiers, and a pass over
    the records left for each change of a group.
    """
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    labels, failed = _seeded(distinct, which.reshape(-1), scale, values, order, limits)
    if not (labels >= 0).any():
        return labels
    groups = gather(points, values, labels, len(limits.share))
    for number in range(int(failed.max(initial=-1)) + 1):
        _merge(groups, points, values, labels, np.flatnonzero(failed == number), limits)
    join_all(groups, points, values, labels, order[labels[order] < 0], limits)
    return labels


@compiled
def _seeded(
    codes: FloatArray, which: IntArray, scale: Scale, values: IntArray, order: IntArray, limits: Limits
) -> tuple[IntArray, IntArray]:
    """Each record's group; and which of the groups that do not keep the limits it is in. Both -1 for none.

    ``codes`` are the distinct ones, and ``which`` each record's.
    """
    n, k = len(order), limits.smallest
    labels, failed = np.full(n, -1), np.full(n, -1)
    free, far, far_point = np.ones(n, dtype=np.bool_), np.empty(n), np.empty(len(codes))
    made = given_up = 0
    left = order.copy()
    left.sort()
    for seed in order:
        if not free[seed]:
            continue
        left = left[free[left]]
        if len(left) < k:
            break
        for point in range(len(codes)):
            far_point[point] = squared_distance(scale, codes[which[seed]], codes[point])
        for row in left:
            far[row] = far_point[which[row]]
        far[seed] = -1.0
        members = _nearest(left, far, k)
        free[members] = False
        members, good = _improve(members, left, far, free, values, limits)
        if good:
            labels[members] = made
            made += 1
        else:
            failed[members] = given_up
            given_up += 1
    return labels, failed


@compiled
def _nearest(left: IntArray, far: FloatArray, k: int) -> IntArray:
    """The k nearest records, nearest first; ties go to the lowest row, as ``left`` is sorted."""
    found = np.full(k, -1)
    count = 0
    for row in left:
        if count == k and far[row] >= far[found[k - 1]]:
            continue
        place = min(count, k - 1)
        while place > 0 and far[row] < far[found[place - 1]]:
            found[place] = found[place - 1]
            place -= 1
        found[place] = row
        count = min(count + 1, k)
    return found


@compiled
def _improve(
    members: IntArray, left: IntArray, far: FloatArray, free: BoolArray, values: IntArray, limits: Limits
) -> tuple[IntArray, bool]:
    """Swap and add the next nearest records while that lessens the largest excess, and whether none is left of it."""
    counts = np.zeros(len(limits.share), dtype=np.int64)
    for row in members:
        counts[values[row]] += 1
    at = members[-1]
    while excess(counts, len(members), limits.share) > 0.0:
        best = changes(counts, len(members), limits.share)
        at = _next(left, far, free, values, best, at)
        if at < 0:
            return members, False
        value = values[at]
        if best[value] == ADD:
            members = np.append(members, at)
        else:
            out = _farthest(members, far, values, best[value])
            free[members[out]] = True
            counts[best[value]] -= 1
            members[out] = at
        free[at] = False
        counts[value] += 1
    return members, True


@compiled
def excess(counts: IntArray, size: int, share: FloatArray) -> float:
    """By how much a value's share is over its limit, at most; 0 where none is."""
    most = 0.0
    for s in range(len(counts)):
        most = max(most, counts[s] / size - share[s])
    return most


@compiled
def changes(counts: IntArray, size: int, share: FloatArray) -> IntArray:
    """What to do with a record of each value: the value it should replace, `ADD` or `NO`.

    A swap is chosen that leaves the smallest excess, ties going to the lowest value; where none lessens it, the record is
    added if that does.
    """
    now = excess(counts, size, share)
    best = np.full(len(counts), NO)
    for s in range(len(counts)):
        counts[s] += 1
        least = now
        for other in range(len(counts)):
            if other != s and counts[other] > 0:
                counts[other] -= 1
                after = excess(counts, size, share)
                counts[other] += 1
                if after < least:
                    least, best[s] = after, other
        if best[s] == NO and excess(counts, size + 1, share) < now:
            best[s] = ADD
        counts[s] -= 1
    return best


@compiled
def _next(left: IntArray, far: FloatArray, free: BoolArray, values: IntArray, best: IntArray, at: int) -> int:
    """The nearest free record beyond another, by distance and then row, that something is to be done with; -1 if none."""
    found = -1
    for row in left:
        beyond = far[row] > far[at] or (far[row] == far[at] and row > at)
        if free[row] and beyond and best[values[row]] != NO and (found < 0 or far[row] < far[found]):
            found = row
    return found


@compiled
def _farthest(members: IntArray, far: FloatArray, values: IntArray, value: int) -> int:
    """Where the farthest member of a value stands; ties go to the highest row."""
    found = -1
    for i in range(len(members)):
        if values[members[i]] == value:
            further = found < 0 or far[members[i]] > far[members[found]]
            if further or (far[members[i]] == far[members[found]] and members[i] > members[found]):
                found = i
    return found


@compiled
def _merge(
    groups: Groups, points: FloatArray, values: IntArray, labels: IntArray, rows: IntArray, limits: Limits
) -> None:
    """Put records together into the group with the nearest centroid that keeps the limits with them, if there is one."""
    centroid = np.zeros(points.shape[1])
    for row in rows:
        centroid += points[row] / len(rows)
    best, found = np.inf, -1
    for group in range(len(groups.size)):
        far = squared(centroid, groups.centroids[group], best)
        if far < best:
            counts = groups.counts[group].copy()
            for row in rows:
                counts[values[row]] += 1
            if excess(counts, groups.size[group] + len(rows), limits.share) <= 0.0:
                best, found = far, group
    if found >= 0:
        for row in rows:
            change(groups, found, points[row], values[row], 1)
            labels[row] = found
