"""The order of nearest point next: each record is followed by the nearest one that is left."""

import numpy as np

from foreknow.defenses.growing.point_tree import plant, remove, search
from foreknow.models import People
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, points, scale

ROUNDING = 1e-12
"""By how much, relatively, two distances from the centroid may differ for the sake of rounding and be a tie."""


def nearest_point_order(people: People) -> IntArray:
    """People in the order of nearest point next: the one farthest from the centroid, then always the nearest that is left.

    Centroids and distances are those of `foreknow.models.tables.distance`, which know of hierarchies.

    Parameters
    ----------
    people : People
        Those of a view, or some of them, as ``people[rows]``.

    Returns
    -------
    int array, shape (n,)
        Their rows, in that order. Ties go to the lowest row, exactly: squared distances that differ by a relative 1e-12 or less
        are a tie (`TIE`), as the same terms may be rounded differently in another order.

    Notes
    -----
    BayFrame, section 5.2, steps 1 to 3; exact: the order is that of looking at everybody left at every step. People with
    equal quasi-identifiers follow each other, so that points are searched, not people, in a tree from which they are taken
    (`foreknow.defenses.growing.point_tree`). Cost: O(n (D + log n)) to prepare, with D the columns of `points`, and a search of
    the tree for each distinct point: O(d log n) where few points lie as near as the nearest, O(n d) at worst.

    Examples
    --------
    >>> from foreknow.models import Numeric, Schema
    >>> ages = np.array([[30.0], [34], [70], [31], [34]])
    >>> nearest_point_order(People(np.arange(5), ages, Schema({"age": Numeric(0, 99)}, "result", ("a",)))).tolist()
    [2, 1, 4, 3, 0]
    """
    codes = people.quasi_identifiers
    if not len(codes):
        return np.zeros(0, dtype=np.int64)
    place = points(people)
    far = ((place - place.mean(axis=0)) ** 2).sum(axis=1)
    first = int(np.argmax(far >= far.max() * (1 - ROUNDING)))
    rows, starts = _alike(codes)
    start = int(np.searchsorted(rows[starts], first))
    order = _walk(np.ascontiguousarray(codes[rows[starts]]), scale(people.schema), start)
    sizes = np.diff(np.append(starts, len(rows)))[order]
    ends = np.cumsum(sizes)
    found: IntArray = rows[np.arange(len(rows)) + np.repeat(starts[order] - (ends - sizes), sizes)]
    return found


def _alike(codes: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows, one set of equal ones after the other by their lowest row, and where each set starts."""
    by_code = np.lexsort(codes.T)
    new = np.append(True, (np.diff(codes[by_code], axis=0) != 0).any(axis=1))
    lowest = np.empty(len(codes), dtype=np.int64)
    lowest[by_code] = by_code[np.flatnonzero(new)][np.cumsum(new) - 1]
    rows = np.argsort(lowest, kind="stable")
    return rows, np.flatnonzero(np.append(True, np.diff(lowest[rows]) != 0))


@compiled
def _walk(codes: FloatArray, scale: Scale, first: int) -> IntArray:
    """The order of nearest point next of distinct points, from one of them on; ties go to the lowest."""
    tree = plant(codes, scale)
    waiting, far = np.empty(len(tree.child), dtype=np.int64), np.empty(len(tree.child))
    order = np.empty(len(codes), dtype=np.int64)
    at = first
    for step in range(len(codes)):
        order[step] = at
        remove(tree, at)
        at = search(tree, scale, codes[at], waiting, far)
    return order
