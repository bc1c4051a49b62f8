"""Nearest-point order: each record is followed by the nearest remaining one."""

import numpy as np

from foreknow.defenses.growing.point_search import nearest_point
from foreknow.defenses.growing.point_tree import TIE_TOLERANCE, build_tree, remove
from foreknow.models import People
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.settings import check_kind
from foreknow.models.tables.distance import Scale, points, scale


def nearest_point_order(people: People) -> IntArray:
    """Order of respondents that starts farthest from the centroid and continues with the nearest remaining respondent.

    Centroids and distances are those of `foreknow.models.tables.distance`, which include hierarchies.

    Parameters
    ----------
    people : People
        Respondents of a view, or some of them, as ``people[rows]``.

    Returns
    -------
    int array, shape (n,)
        Row of each respondent, in order. Ties go to the lowest row. Squared distances with a relative difference of at most
        1e-12 (`TIE_TOLERANCE`) are ties, because sums of the same terms in another order differ by rounding.

    Raises
    ------
    TypeError
        If ``people`` is not a `People`.

    Notes
    -----
    BayFrame, section 5.2, steps 1 to 3. Exact: every step takes a nearest respondent of all that remain. Respondents with equal
    quasi-identifiers follow one another, so that the search is over distinct points, in a tree from which points are removed
    (`foreknow.defenses.growing.point_tree`). Cost: O(n (D + log n)) for preparation, with D columns of `points`, and one tree
    search for each distinct point: O(d log n) where few points are as near as the nearest, O(n d) at worst.

    Examples
    --------
    >>> from foreknow.models import Numeric, Schema
    >>> ages = np.array([[30.0], [34], [70], [31], [34]])
    >>> nearest_point_order(People(np.arange(5), ages, Schema({"age": Numeric(0, 99)}, "result", ("a",)))).tolist()
    [2, 1, 4, 3, 0]
    """
    check_kind("nearest_point_order", "people", people, People, "is a People, as view.people")
    codes = people.quasi_identifiers
    if not len(codes):
        return np.zeros(0, dtype=np.int64)
    coordinates = points(people)
    distance = ((coordinates - coordinates.mean(axis=0)) ** 2).sum(axis=1)
    first = int(np.argmax(distance >= distance.max() * (1 - TIE_TOLERANCE)))
    rows, starts = _equal_rows(codes)
    start = int(np.searchsorted(rows[starts], first))
    order = _order_of_points(np.ascontiguousarray(codes[rows[starts]]), scale(people.schema), start)
    sizes = np.diff(np.append(starts, len(rows)))[order]
    ends = np.cumsum(sizes)
    ordered: IntArray = rows[np.arange(len(rows)) + np.repeat(starts[order] - (ends - sizes), sizes)]
    return ordered


def _equal_rows(codes: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows, with sets of equal rows in the order of their lowest rows, and the start of each set."""
    by_code = np.lexsort(codes.T)
    new = np.append(True, (np.diff(codes[by_code], axis=0) != 0).any(axis=1))
    lowest = np.empty(len(codes), dtype=np.int64)
    lowest[by_code] = by_code[np.flatnonzero(new)][np.cumsum(new) - 1]
    rows = np.argsort(lowest, kind="stable")
    return rows, np.flatnonzero(np.append(True, np.diff(lowest[rows]) != 0))


@compiled
def _order_of_points(codes: FloatArray, scale: Scale, first: int) -> IntArray:
    """Nearest-point order of distinct points, from the first one; ties go to the lowest number."""
    tree = build_tree(codes, scale)
    stack, distances = np.empty(len(tree.child), dtype=np.int64), np.empty(len(tree.child))
    order = np.empty(len(codes), dtype=np.int64)
    point = first
    for step in range(len(codes)):
        order[step] = point
        remove(tree, point)
        point = nearest_point(tree, scale, codes[point], stack, distances)
    return order
