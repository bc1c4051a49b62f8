"""Nearest-point order: each record is followed by the nearest remaining one, found in a k-d tree."""

from typing import NamedTuple

import numpy as np

from foreknow.models import People
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, attribute_distance, points, scale, squared_distance


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

    Notes
    -----
    BayFrame, section 5.2, steps 1 to 3. Exact: every step takes a nearest respondent of all that remain. Respondents with equal
    quasi-identifiers follow one another, so that the search is over distinct points, in a tree from which points are removed
    (`foreknow.defenses.algorithms.nearest_point`). Cost: O(n (D + log n)) for preparation, with D columns of `points`, and one tree
    search for each distinct point: O(d log n) where few points are as near as the nearest, O(n d) at worst.

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


class PointTree(NamedTuple):
    """A k-d tree (Bentley, CACM 18, 1975) whose bounding boxes shrink as points are removed."""

    codes: FloatArray  # (b, d): the points
    points: IntArray  # (b,): numbers of the points; those of a node are contiguous
    # starts, ends: one entry per node: range of `points` of a node; for a leaf, of its remaining points only
    starts: IntArray
    ends: IntArray
    child: IntArray  # first child of a node, which the second child follows; -1 for a leaf
    parent: IntArray  # parent of a node; -1 for the root, node 0
    leaf: IntArray  # (b,): leaf of each point
    # low, high (nodes, d): bounding box of a node's remaining points
    low: FloatArray
    high: FloatArray
    lowest: IntArray  # lowest number of a node's remaining points; b if there is none


@compiled
def nearest_point(tree: PointTree, scale: Scale, target: FloatArray, stack: IntArray, distances: FloatArray) -> int:
    """Nearest remaining point, the lowest number among ties; -1 if no point remains.

    Points are tied if their squared distances have a relative difference of at most `TIE_TOLERANCE`. The first search finds
    the smallest distance, the second one the lowest number within the tolerance.

    Parameters
    ----------
    tree : PointTree
    scale : Scale
    target : float array, shape (d,)
        The point whose neighbour is searched.
    stack, distances : int and float arrays, one entry per node
        Workspace: nodes to visit, and the squared distances of their boxes.
    """
    nearest = _nearest_distance(tree, scale, target, stack, distances)
    return _lowest_within(tree, scale, target, stack, nearest * (1 + TIE_TOLERANCE)) if nearest < np.inf else -1


@compiled
def _nearest_distance(
    tree: PointTree, scale: Scale, target: FloatArray, stack: IntArray, distances: FloatArray
) -> float:
    """Squared distance of the nearest remaining point; infinite if no point remains.

    No point of a box is nearer than the box, in floating point too: the attributes' distances are rounded, squared and added in
    the same way for both.
    """
    nearest = np.inf
    stack[0], distances[0], size = 0, 0.0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        if distances[size] >= nearest:
            continue
        if tree.child[node] < 0:
            for i in range(tree.starts[node], tree.ends[node]):
                nearest = min(nearest, squared_distance(scale, target, tree.codes[tree.points[i]]))
            continue
        left = tree.child[node]
        to_left, to_right = _distance_to_box(tree, scale, target, left), _distance_to_box(tree, scale, target, left + 1)
        closer = left if to_left <= to_right else left + 1
        # The closer child is pushed last, so that it is visited first and its points exclude more of the other one.
        for child, distance in ((2 * left + 1 - closer, max(to_left, to_right)), (closer, min(to_left, to_right))):
            if distance < nearest:
                stack[size], distances[size] = child, distance
                size += 1
    return nearest


@compiled
def _lowest_within(tree: PointTree, scale: Scale, target: FloatArray, stack: IntArray, radius: float) -> int:
    """Lowest number of the remaining points whose squared distance is at most ``radius``."""
    best = len(tree.points)
    stack[0], size = 0, 1
    while size > 0:
        size -= 1
        node = stack[size]
        if tree.lowest[node] >= best:
            continue
        if tree.child[node] < 0:
            for i in range(tree.starts[node], tree.ends[node]):
                point = int(tree.points[i])
                if point < best and squared_distance(scale, target, tree.codes[point]) <= radius:
                    best = point
            continue
        for child in (tree.child[node], tree.child[node] + 1):
            if tree.lowest[child] < best and _distance_to_box(tree, scale, target, child) <= radius:
                stack[size] = child
                size += 1
    return best


@compiled
def _distance_to_box(tree: PointTree, scale: Scale, target: FloatArray, node: int) -> float:
    """Squared distance of a node's box: in each attribute, to its nearer end; infinite for a node without points."""
    total = 0.0
    if tree.lowest[node] == len(tree.points):
        return np.inf
    for a in range(len(target)):
        nearest = min(max(target[a], tree.low[node, a]), tree.high[node, a])
        total += attribute_distance(scale, a, target[a], nearest) ** 2
    return total


LEAF_SIZE = 8  # largest number of points of a leaf

TIE_TOLERANCE = 1e-12  # largest relative difference of two squared distances that are tied; rounding errors are smaller


@compiled
def build_tree(codes: FloatArray, scale: Scale) -> PointTree:
    """Build a tree of distinct points; each node is split on its widest attribute, near the median. Cost: O(b log^2 b)."""
    tree = _root_alone(codes)
    nodes = 1
    for node in range(len(tree.child)):  # A while loop over `node = 0` has another Numba type, and compiles all twice.
        if node == nodes:
            break
        start, end = tree.starts[node], tree.ends[node]
        _bound(tree, node)
        if end - start <= LEAF_SIZE:
            tree.leaf[tree.points[start:end]] = node
        else:
            tree.child[node] = nodes
            tree.parent[nodes : nodes + 2] = node
            middle = _split(tree, scale, node)
            tree.starts[nodes], tree.ends[nodes] = start, middle
            tree.starts[nodes + 1], tree.ends[nodes + 1] = middle, end
            nodes += 2
    return tree


@compiled
def _root_alone(codes: FloatArray) -> PointTree:
    """A tree whose root holds all points, with room for all nodes: at most 2 b, since no leaf is empty."""
    b, d = codes.shape
    tree = PointTree(
        codes,
        np.arange(b),
        np.zeros(2 * b, dtype=np.int64),
        np.zeros(2 * b, dtype=np.int64),
        np.full(2 * b, -1),
        np.full(2 * b, -1),
        np.zeros(b, dtype=np.int64),
        np.empty((2 * b, d)),
        np.empty((2 * b, d)),
        np.full(2 * b, b),
    )
    tree.ends[0] = b
    return tree


@compiled
def _split(tree: PointTree, scale: Scale, node: int) -> int:
    """Sort a node's points by its widest attribute, and return the position nearest to the middle at which the code changes."""
    # The widest attribute of the node's box, among those in which its points differ.
    a, most = 0, -1.0
    for attribute in range(tree.codes.shape[1]):
        low, high = tree.low[node, attribute], tree.high[node, attribute]
        width = attribute_distance(scale, attribute, low, high)
        if width > most and low < high:
            a, most = attribute, width
    start, end = int(tree.starts[node]), int(tree.ends[node])
    order = np.argsort(tree.codes[tree.points[start:end], a], kind="mergesort")
    tree.points[start:end] = tree.points[start:end][order]
    middle, below = (start + end) // 2, (start + end) // 2 - 1
    above = middle
    while True:
        if below >= start and tree.codes[tree.points[below], a] < tree.codes[tree.points[below + 1], a]:
            return below + 1
        if above < end and tree.codes[tree.points[above - 1], a] < tree.codes[tree.points[above], a]:
            return above
        below, above = below - 1, above + 1


@compiled
def _bound(tree: PointTree, node: int) -> None:
    """Compute a node's box and lowest number from its points."""
    tree.low[node], tree.high[node] = np.inf, -np.inf
    tree.lowest[node] = len(tree.points)
    for i in range(tree.starts[node], tree.ends[node]):
        point = tree.points[i]
        tree.lowest[node] = min(tree.lowest[node], point)
        for a in range(tree.codes.shape[1]):
            tree.low[node, a] = min(tree.low[node, a], tree.codes[point, a])
            tree.high[node, a] = max(tree.high[node, a], tree.codes[point, a])


@compiled
def _bound_by_children(tree: PointTree, node: int) -> None:
    """Compute an inner node's box and lowest number from those of its children."""
    left = tree.child[node]
    tree.lowest[node] = min(tree.lowest[left], tree.lowest[left + 1])
    for a in range(tree.codes.shape[1]):
        tree.low[node, a] = min(tree.low[left, a], tree.low[left + 1, a])
        tree.high[node, a] = max(tree.high[left, a], tree.high[left + 1, a])


@compiled
def remove(tree: PointTree, point: int) -> None:
    """Remove a point from the tree, in place. Cost: O(d log b)."""
    node = tree.leaf[point]
    last = tree.ends[node] - 1
    for i in range(tree.starts[node], last):
        if tree.points[i] == point:
            tree.points[i], tree.points[last] = tree.points[last], point
    tree.ends[node] = last
    _bound(tree, node)
    node = tree.parent[node]
    while node >= 0:
        _bound_by_children(tree, node)
        node = tree.parent[node]
