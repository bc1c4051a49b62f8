"""Search for the nearest remaining point of a tree."""

import numpy as np

from foreknow.defenses.growing.point_tree import TIE_TOLERANCE, PointTree
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, attribute_distance, squared_distance


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
            best = _lowest_in_leaf(tree, scale, target, node, radius, best)
            continue
        for child in (tree.child[node], tree.child[node] + 1):
            if tree.lowest[child] < best and _distance_to_box(tree, scale, target, child) <= radius:
                stack[size] = child
                size += 1
    return best


@compiled
def _lowest_in_leaf(tree: PointTree, scale: Scale, target: FloatArray, leaf: int, radius: float, best: int) -> int:
    """Lowest number of a leaf's remaining points within the radius, if it is below ``best``; else ``best``."""
    for i in range(tree.starts[leaf], tree.ends[leaf]):
        point = int(tree.points[i])
        if point < best and squared_distance(scale, target, tree.codes[point]) <= radius:
            best = point
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
