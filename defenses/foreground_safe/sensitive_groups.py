"""Groups of sensitive records and the free records nearest to them, which are enlarged until they satisfy a bound.

A free record has no value of the sensitive set and is in no group. Records are points, and similar records are near. A group
that must grow takes the nearest free records; where none is left it joins the nearest group.
"""

import numpy as np
import scipy

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

MEMBERS_PER_ADDED_RECORD = 8
"""A group that must grow takes at least one record for each 8 members, and at most one for each member."""


def group_around_sensitive(points: FloatArray, in_set: BoolArray, others: int) -> IntArray:
    """Groups of one sensitive record and its nearest free records; records whose free neighbours are near come first.

    Parameters
    ----------
    points : float array, shape (n, d)
    in_set : bool array, shape (n,)
        True for sensitive records. There are at least ``others`` times as many free records.
    others : int
        Number of free records of a group.

    Returns
    -------
    int array, shape (n,)
        Group of each record, from 0; -1 for the remaining free records.

    Notes
    -----
    Cost: one search of a k-d tree for each group, and O(n log n).
    """
    labels, centers = np.full(len(points), -1, dtype=np.int64), np.flatnonzero(in_set)
    if len(centers) and others:
        free = FreeRecordIndex(points, ~in_set)
        centers = centers[np.argsort(free.distances(points[centers], others), kind="stable")]
        for group, center in enumerate(centers):
            labels[free.nearest(labels < 0, points[center], others)] = group
    labels[centers] = np.arange(len(centers))
    return labels


def enlarge_groups(
    labels: IntArray, failing: IntArray, points: FloatArray, odds: FloatArray, in_set: BoolArray, r: int
) -> IntArray:
    """Add records to some groups towards the bound ``r c max w <= sum w``, by which no posterior exceeds 1/r.

    In a group with c values of the sensitive set, let w be each member's odds of having one. The posterior of a member is at most
    ``c max w / sum w``; with ``c = 1`` this is the largest posterior (foreground knowledge, Equation 3).

    Parameters
    ----------
    labels : int array, shape (n,)
        Group of each record, 0 to g - 1; -1 for free records.
    failing : int array
        Groups that must grow, in the order in which they choose free records.
    points : float array, shape (n, d)
    odds : float array, shape (n, a)
        Odds of each record under each of a global distributions.
    in_set : bool array, shape (n,)
    r : int

    Returns
    -------
    int array, shape (n,)
        Labels from 0 without gaps. Every failing group has more records; that they suffice is not checked.

    Notes
    -----
    A group takes the nearest free records until the bound holds, but at most doubles, because the global distributions change with
    the groups. Without a free record it joins the group of the nearest record; without another group it stays as it is.
    Cost: O(n a) per group.
    """
    labels = labels.copy()
    index = FreeRecordIndex(points, labels < 0)
    for group in failing:
        members = np.flatnonzero(labels == group)
        if not len(members):
            continue
        center = points[members].mean(axis=0)
        near = index.nearest(labels < 0, center, len(members))
        if len(near):
            number = _number_needed(odds[members], odds[near], int(in_set[members].sum()), r)
            labels[near[:number]] = group
        elif (labels != group).any():
            labels[members] = labels[nearest_record(points, labels != group, center)]
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return labels


def nearest_record(points: FloatArray, among: BoolArray, target: FloatArray) -> int:
    """Record nearest to a point among the marked ones; ties go to the lowest row. Cost: O(n d)."""
    rows = np.flatnonzero(among)
    return int(rows[((points[rows] - target) ** 2).sum(axis=1).argmin()])


def _number_needed(members: FloatArray, near: FloatArray, c: int, r: int) -> int:
    """Number of near records, the first ones, with which the bound holds; all of them if they do not suffice."""
    sums = members.sum(axis=0) + np.cumsum(near, axis=0)
    largest = np.maximum(members.max(axis=0), np.maximum.accumulate(near, axis=0))
    least = -(-len(members) // MEMBERS_PER_ADDED_RECORD)
    holds = (r * c * largest <= sums).all(axis=1)[least - 1 :]
    return least + int(holds.argmax()) if holds.any() else len(near)


class FreeRecordIndex:
    """Nearest-neighbour index of the records that are free at first."""

    def __init__(self, points: FloatArray, free: BoolArray) -> None:
        self._rows = np.flatnonzero(free)
        self._tree = scipy.spatial.cKDTree(points[self._rows])

    def distances(self, points: FloatArray, number: int) -> FloatArray:
        """Distance of each point to its ``number``-th nearest record."""
        return np.asarray(self._tree.query(points, [number])[0][:, 0])

    def nearest(self, free: BoolArray, target: FloatArray, number: int) -> IntArray:
        """At most ``number`` nearest records that are still free, nearest first.

        The tree keeps the records that are no longer free, so that the query is repeated with more neighbours until enough of
        them are free.
        """
        queried, size = 0, len(self._rows)
        rows = self._rows[:0]
        while len(rows) < number and queried < size:
            queried = min(max(2 * number, 4 * queried), size)
            neighbours = np.atleast_1d(self._tree.query(target, queried)[1])
            rows = self._rows[neighbours][free[self._rows[neighbours]]]
        return rows[:number]
