"""A k-d tree of points in the space of codes, from which points are removed.

SciPy's k-d trees do not serve here: they cannot remove points, and they do not have the distances of hierarchies.
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, attribute_distance

LEAF_SIZE = 8
"""Largest number of points of a leaf."""

TIE_TOLERANCE = 1e-12
"""Largest relative difference of two squared distances that are tied; rounding errors are smaller."""


class PointTree(NamedTuple):
    """A k-d tree (Bentley, CACM 18, 1975) whose bounding boxes shrink as points are removed.

    Attributes
    ----------
    codes : float array, shape (b, d)
        The points.
    points : int array, shape (b,)
        Numbers of the points; those of a node are contiguous.
    starts, ends : int arrays, one entry per node
        Range of ``points`` of a node; for a leaf, of its remaining points only.
    child : int array
        First child of a node, which the second child follows; -1 for a leaf.
    parent : int array
        Parent of a node; -1 for the root, node 0.
    leaf : int array, shape (b,)
        Leaf of each point.
    low, high : float arrays, shape (nodes, d)
        Bounding box of a node's remaining points.
    lowest : int array
        Lowest number of a node's remaining points; b if there is none.
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
    a = _widest_attribute(tree, scale, node)
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
def _widest_attribute(tree: PointTree, scale: Scale, node: int) -> int:
    """Attribute in which a node's box is widest, among those in which its points differ."""
    widest, most = 0, -1.0
    for a in range(tree.codes.shape[1]):
        width = attribute_distance(scale, a, tree.low[node, a], tree.high[node, a])
        if width > most and tree.low[node, a] < tree.high[node, a]:
            widest, most = a, width
    return widest


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
