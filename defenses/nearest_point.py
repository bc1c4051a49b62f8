"""The order in which one meets records who always goes on to the nearest one not yet visited."""

import numpy as np

from foreknow.models import People
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.distance import Scale, points, scale, squared_distance


def nearest_point_order(people: People) -> IntArray:
    """People in the order of nearest point next: the one farthest from the centroid, then always the nearest that is left.

    Returns
    -------
    int array, shape (n,)
        The rows, in that order. Ties go to the lowest row.
    """
    place = points(people)
    first = int(np.argmax(((place - place.mean(axis=0)) ** 2).sum(axis=1)))
    return _order(people.quasi_identifiers, scale(people.schema), first)


@compiled
def _order(codes: FloatArray, scale: Scale, first: int) -> IntArray:
    n = len(codes)
    order = np.empty(n, dtype=np.int64)
    left = np.arange(n)
    at = first
    for step in range(n):
        order[step] = at
        left = left[left != at]
        nearest, best = np.inf, -1
        for row in left:
            far = squared_distance(scale, codes[at], codes[row])
            if far < nearest:
                nearest, best = far, row
        at = best
    return order
