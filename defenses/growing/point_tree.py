"""A tree of points in the space of codes that finds the nearest one, and from which points are taken."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, attribute_distance, squared_distance

LEAF = 8
"""How many points a node may hold without being split."""

TIE = 1e-12
"""By how much, relatively, two squared distances may differ for the sake of rounding and be a tie."""


class PointTree(NamedTuple):
    """A k-d tree (Bentley, CACM 18, 1975) whose boxes shrink as points are taken.

    Attributes
    ----------
    codes : float array, shape (b, d)
        The points.
    points : int array, shape (b,)
        Their numbers, those of a node next to each other.
    starts, ends : int arrays, one per node
        Where a node's points stand in ``points``; of a leaf, only those that are left.
    child : int array
        The first of a node's two children, the second being the next; -1 for a leaf.
    parent : int array
        -1 for the root, which is node 0.
    leaf : int array, shape (b,)
        The leaf of each point.
    low, high : float arrays, shape (nodes, d)
        The box around the points left.
    lowest : int array
        The lowest number of the points left; b where none is.
    """

    codes: FloatArray
    points: IntArray
    starts: IntArray
    ends: IntArray
    child: IntArray
    parent: IntArray
    leaf: IntArray
    low: FloatArray
    high: FloatArray
    lowest: IntArray


@compiled
def plant(codes: FloatArray, scale: Scale) -> PointTree:
    """A tree of distinct points: each node is split across its widest attribute, near the middle. Cost: O(b log^2 b)."""
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
    nodes = 1
    for node in range(2 * b):  # `node = 0` would be a type of its own, and all that it is given to compiled twice
        if node == nodes:
            break
        start, end = tree.starts[node], tree.ends[node]
        _look(tree, node)
        if end - start <= LEAF:
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
def _split(tree: PointTree, scale: Scale, node: int) -> int:
    """Sort a node's points by its widest attribute; where it changes nearest to the middle."""
    widest, most = 0, -1.0
    for a in range(tree.codes.shape[1]):
        width = attribute_distance(scale, a, tree.low[node, a], tree.high[node, a])
        if width > most and tree.low[node, a] < tree.high[node, a]:
            widest, most = a, width
    start, end = int(tree.starts[node]), int(tree.ends[node])
    order = np.argsort(tree.codes[tree.points[start:end], widest], kind="mergesort")
    tree.points[start:end] = tree.points[start:end][order]
    middle, below = (start + end) // 2, (start + end) // 2 - 1
    above = middle
    while True:
        if below >= start and tree.codes[tree.points[below], widest] < tree.codes[tree.points[below + 1], widest]:
            return below + 1
        if above < end and tree.codes[tree.points[above - 1], widest] < tree.codes[tree.points[above], widest]:
            return above
        below, above = below - 1, above + 1


@compiled
def _look(tree: PointTree, node: int) -> None:
    """The box around the points of a node, and the lowest of them, from the points themselves."""
    tree.low[node], tree.high[node] = np.inf, -np.inf
    tree.lowest[node] = len(tree.points)
    for i in range(tree.starts[node], tree.ends[node]):
        point = tree.points[i]
        tree.lowest[node] = min(tree.lowest[node], point)
        for a in range(tree.codes.shape[1]):
            tree.low[node, a] = min(tree.low[node, a], tree.codes[point, a])
            tree.high[node, a] = max(tree.high[node, a], tree.codes[point, a])


@compiled
def remove(tree: PointTree, point: int) -> None:
    """Take a point out of the tree, in place. Cost: O(d log b)."""
    node = tree.leaf[point]
    last = tree.ends[node] - 1
    for i in range(tree.starts[node], last):
        if tree.points[i] == point:
            tree.points[i], tree.points[last] = tree.points[last], point
    tree.ends[node] = last
    _look(tree, node)
    node = tree.parent[node]
    while node >= 0:
        left = tree.child[node]
        tree.lowest[node] = min(tree.lowest[left], tree.lowest[left + 1])
        for a in range(tree.codes.shape[1]):
            tree.low[node, a] = min(tree.low[left, a], tree.low[left + 1, a])
            tree.high[node, a] = max(tree.high[left, a], tree.high[left + 1, a])
        node = tree.parent[node]


@compiled
def search(tree: PointTree, scale: Scale, at: FloatArray, waiting: IntArray, far: FloatArray) -> int:
    """The nearest point left, the lowest where several are equally near; -1 if none is left.

    Points are equally near if their squared distances differ by at most `TIE`, relatively: sums of the same terms in another
    order differ by rounding. ``waiting`` and ``far`` are room for the numbers and distances of all nodes.
    """
    nearest = _nearest(tree, scale, at, waiting, far)
    return _lowest(tree, scale, at, waiting, nearest * (1 + TIE)) if nearest < np.inf else -1


@compiled
def _nearest(tree: PointTree, scale: Scale, at: FloatArray, waiting: IntArray, far: FloatArray) -> float:
    """The squared distance of the nearest point left, infinite if none is left.

    No point of a box is nearer than the box, in floating point too, for the attributes' distances are rounded, squared and
    added alike.
    """
    nearest = np.inf
    waiting[0], far[0], size = 0, 0.0, 1
    while size > 0:
        size -= 1
        node = waiting[size]
        if far[size] >= nearest:
            continue
        if tree.child[node] < 0:
            for i in range(tree.starts[node], tree.ends[node]):
                nearest = min(nearest, squared_distance(scale, at, tree.codes[tree.points[i]]))
            continue
        left = tree.child[node]
        to_left, to_right = _to_box(tree, scale, at, left), _to_box(tree, scale, at, left + 1)
        closer = left if to_left <= to_right else left + 1
        for which, distance in ((2 * left + 1 - closer, max(to_left, to_right)), (closer, min(to_left, to_right))):
            if distance < nearest:
                waiting[size], far[size] = which, distance
                size += 1
    return nearest


@compiled
def _lowest(tree: PointTree, scale: Scale, at: FloatArray, waiting: IntArray, within: float) -> int:
    """The lowest point left whose squared distance is within a bound."""
    best = len(tree.points)
    waiting[0], size = 0, 1
    while size > 0:
        size -= 1
        node = waiting[size]
        if tree.lowest[node] >= best:
            continue
        if tree.child[node] < 0:
            for i in range(tree.starts[node], tree.ends[node]):
                point = tree.points[i]
                if point < best and squared_distance(scale, at, tree.codes[point]) <= within:
                    best = point
            continue
        for which in (tree.child[node], tree.child[node] + 1):
            if tree.lowest[which] < best and _to_box(tree, scale, at, which) <= within:
                waiting[size] = which
                size += 1
    return best


@compiled
def _to_box(tree: PointTree, scale: Scale, at: FloatArray, node: int) -> float:
    """The squared distance to the nearer end, in each attribute, of a node's box; infinite for one without points."""
    total = 0.0
    if tree.lowest[node] == len(tree.points):
        return np.inf
    for a in range(len(at)):
        total += attribute_distance(scale, a, at[a], min(max(at[a], tree.low[node, a]), tree.high[node, a])) ** 2
    return total
