"""How far apart values of a quasi-identifier lie, and points in space that lie as far apart as people do.

One distance serves everywhere: in orders of records, in clusters, in kernels, in linkage. Of two numbers it is their
difference over the width of the domain, 0 where that has no width; of two categorical values the height of their lowest
common ancestor over the height of the hierarchy, so that without a hierarchy it is 0 if they are equal, else 1.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical, Numeric, Schema


class Scale(NamedTuple):
    """The distances of all quasi-identifiers, as compiled code reads them.

    Attributes
    ----------
    width : float array, shape (d,)
        The width of a numeric domain.
    values : int array, shape (d,)
        How many values a categorical attribute has; 0 for a number.
    starts : int array, shape (d,)
        Where an attribute's distances stand in the table.
    table : float array
        The distances between all pairs of values of each categorical attribute, one square after the other.
    """

    width: FloatArray
    values: IntArray
    starts: IntArray
    table: FloatArray


def scale(schema: Schema) -> Scale:
    """The scale of a schema whose numeric domains have both ends. Cost: O(sum of squared numbers of values)."""
    kinds = schema.quasi_identifiers.values()
    squares = [tree_distances(kind).ravel() if isinstance(kind, Categorical) else np.zeros(0) for kind in kinds]
    values = [len(kind.values) if isinstance(kind, Categorical) else 0 for kind in kinds]
    starts = np.cumsum([0, *(len(square) for square in squares)])[:-1]
    bounds = schema.bounds
    return Scale(bounds[:, 1] - bounds[:, 0], np.array(values), starts.astype(np.int64), np.concatenate(squares))


@compiled
def apart(scale: Scale, a: int, x: float, y: float) -> float:
    """Distance of two codes of attribute a, from 0 to 1.

    Codes of a categorical attribute stand in the order of its tree's traversal, so that ``apart(x, y)`` never decreases as
    y moves away from x: nothing between two codes is farther from one of them than they are from each other.
    """
    if scale.values[a] > 0:
        return float(scale.table[scale.starts[a] + int(x) * scale.values[a] + int(y)])
    return abs(x - y) / scale.width[a] if scale.width[a] > 0.0 else 0.0


@compiled
def squared_distance(scale: Scale, x: FloatArray, y: FloatArray) -> float:
    """The squared Euclidean distance of two vectors of codes: the sum of the attributes' squared distances."""
    total = 0.0
    for a in range(len(x)):
        total += apart(scale, a, x[a], y[a]) ** 2
    return total


def distances(kind: Numeric | Categorical, some: FloatArray, others: FloatArray) -> FloatArray:
    """Distances of codes of an attribute from others: float array, shape ``(b, c)``."""
    if isinstance(kind, Categorical):
        return np.asarray(tree_distances(kind)[np.ix_(some.astype(np.int64), others.astype(np.int64))])
    low, high = kind.bounds
    if low == high:
        return np.zeros((len(some), len(others)))
    return np.asarray(np.abs(np.subtract.outer(some, others)) / (high - low))


def tree_distances(kind: Categorical) -> FloatArray:
    """The height of the lowest common ancestor of every two values, over the tree's: float array, shape ``(v, v)``."""
    levels = kind.tree.levels()
    return np.asarray((levels[:, :, None] != levels[:, None, :]).sum(axis=0) / (len(levels) - 1))


def points(people: People) -> FloatArray:
    """Points in Euclidean space that lie as far apart as people do: float array, shape ``(n, D)``.

    A number is one axis. A categorical attribute of a tree of height H has an axis for each node below the root; a value
    stands at ``sqrt((2 h + 1) / 2) / H`` on those of its own ancestors at the heights h, and at 0 on the others. Two values
    that meet at height h then lie ``sqrt(sum_{i<h} (2 i + 1)) / H = h / H`` apart, which is their distance: an ultrametric
    always fits into Euclidean space. Means of points are centroids that know of every attribute.

    Cost: O(n D), with D the number of numbers and of nodes.
    """
    columns: list[FloatArray] = []
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        codes = people.quasi_identifiers[:, a]
        if isinstance(kind, Categorical):
            for nodes, number, coordinate in node_axes(kind, codes):
                columns.append(np.eye(number)[nodes] * coordinate)
        else:
            low, high = kind.bounds
            columns.append((codes[:, None] - low) / (high - low) if high > low else np.zeros((len(codes), 1)))
    return np.hstack(columns)


def node_axes(kind: Categorical, codes: FloatArray) -> Iterator[tuple[IntArray, int, float]]:
    """The axes of `points` of a categorical attribute, one level below the root at a time.

    Yields
    ------
    nodes : int array, shape (n,)
        The node of each code, the only axis of the level on which it is not at 0.
    number : int
        The number of nodes, and so of axes.
    coordinate : float
        The place of each code on its axis.
    """
    levels = kind.tree.levels()
    height = len(levels) - 1
    for h, labels in enumerate(levels[:-1]):
        yield labels[codes.astype(np.int64)], int(labels.max()) + 1, float(np.sqrt((2 * h + 1) / 2) / height)
