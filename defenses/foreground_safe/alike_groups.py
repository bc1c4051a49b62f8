"""Groups of a few sensitive records each and the free records most like them, grown until nobody stands out.

Records are points, and alike where these are near. A group that lacks records takes the nearest that are in no group; where
none is left it joins the nearest group.
"""

import numpy as np
from scipy.spatial import cKDTree

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

PACE = 8
"""A group that must grow takes in one record for so many that it has, at least, and at most as many as it has."""


def around_each(points: FloatArray, sensitive: BoolArray, others: int) -> IntArray:
    """Groups of one sensitive record and the free ones nearest to it; those whose company is near come first.

    Parameters
    ----------
    points : float array, shape (n, d)
    sensitive : bool array, shape (n,)
        The others are free, and are ``others`` times as many, at least.
    others : int
        How many free records each group takes in.

    Returns
    -------
    int array, shape (n,)
        Each record's group, from 0; -1 for free records that are in none.

    Notes
    -----
    Cost: a search of a k-d tree for each group, and O(n log n).
    """
    labels, seeds = np.full(len(points), -1, dtype=np.int64), np.flatnonzero(sensitive)
    if len(seeds) and others:
        company = FreeRecordIndex(points, ~sensitive)
        far = company.distances(points[seeds], others)
        seeds = seeds[np.argsort(far, kind="stable")]
        for group, seed in enumerate(seeds):
            labels[company.nearest(labels < 0, points[seed], others)] = group
    labels[seeds] = np.arange(len(seeds))
    return labels


def grown(
    labels: IntArray, lacking: IntArray, points: FloatArray, odds: FloatArray, sensitive: BoolArray, r: int
) -> IntArray:
    """The groups with more records in some of them, so that nobody's odds stand out: ``r c max w <= sum w`` in each.

    Of a group of whom c have a sensitive value, with odds w that each of them has one, nobody has it with more than
    ``c max w / sum w``; with ``c = 1`` that is the probability (foreground knowledge, Equation 3).

    Parameters
    ----------
    labels : int array, shape (n,)
        Each record's group, 0 to g - 1; -1 where it is free.
    lacking : int array
        The groups that must grow; the first are served first.
    points : float array, shape (n, d)
    odds : float array, shape (n, a)
        Everybody's odds under each of a distributions.
    sensitive : bool array, shape (n,)
    r : int

    Returns
    -------
    int array, shape (n,)
        Labels 0 and on. Every group that lacked records has more; whether they are enough must be asked again.

    Notes
    -----
    A group takes in the nearest free records until the bound holds, but no more than double: what it lacks is judged by a
    distribution that changes with the groups. If none is free, it joins the group of the nearest record; if there is no other
    group, it stays as it is. Cost: O(n a) per group.
    """
    labels = labels.copy()
    company = FreeRecordIndex(points, labels < 0)
    for group in lacking:
        inside = np.flatnonzero(labels == group)
        if not len(inside):
            continue
        near = company.nearest(labels < 0, points[inside].mean(axis=0), len(inside))
        if len(near):
            few = _enough(odds[inside], odds[near], int(sensitive[inside].sum()), r)
            labels[near[:few]] = group
        elif (labels != group).any():
            labels[inside] = labels[nearest_record(points, labels != group, points[inside].mean(axis=0))]
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return labels


def nearest_record(points: FloatArray, among: BoolArray, at: FloatArray) -> int:
    """The record nearest to a point, among some; the first of several as near. Cost: O(n d)."""
    rows = np.flatnonzero(among)
    return int(rows[((points[rows] - at) ** 2).sum(axis=1).argmin()])


def _enough(inside: FloatArray, near: FloatArray, c: int, r: int) -> int:
    """How many of some records, the first ones, a group needs for the bound; all of them if they are too few."""
    sums = inside.sum(axis=0) + np.cumsum(near, axis=0)
    most = np.maximum(inside.max(axis=0), np.maximum.accumulate(near, axis=0))
    least = -(-len(inside) // PACE)
    holds = (r * c * most <= sums).all(axis=1)[least - 1 :]
    return least + int(holds.argmax()) if holds.any() else len(near)


class FreeRecordIndex:
    """Where the free records are, searched by nearness."""

    def __init__(self, points: FloatArray, free: BoolArray) -> None:
        self._rows = np.flatnonzero(free)
        self._tree = cKDTree(points[self._rows])

    def distances(self, points: FloatArray, number: int) -> FloatArray:
        """How far from each of some points the last of so many records is."""
        return np.asarray(self._tree.query(points, [number])[0][:, 0])

    def nearest(self, free: BoolArray, at: FloatArray, number: int) -> IntArray:
        """The nearest records that are free still, nearest first, and no more than a number of them."""
        asked, there = 0, len(self._rows)
        rows = self._rows[:0]
        while len(rows) < number and asked < there:
            asked = min(max(2 * number, 4 * asked), there)
            found = np.atleast_1d(self._tree.query(at, asked)[1])
            rows = self._rows[found][free[self._rows[found]]]
        return rows[:number]
