"""Distances between quasi-identifiers, and a Euclidean embedding of respondents that preserves them.

The distance of two numbers is their absolute difference over the width of the domain, and 0 if the width is 0. The distance of
two categorical values is the height of their lowest common ancestor over the height of the hierarchy: without a hierarchy, 0 if
they are equal and 1 otherwise. Orders of records, clusters, kernels and record linkage all use this distance.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical, Numeric, Schema


class Scale(NamedTuple):
    """The distances of all quasi-identifiers, in the form that compiled kernels read.

    Attributes
    ----------
    width : float array, shape (d,)
        The width of a numeric domain.
    values : int array, shape (d,)
        The number of values of a categorical attribute; 0 for a numeric one.
    starts : int array, shape (d,)
        The position in ``table`` at which an attribute's distances start.
    table : float array
        The distances between all pairs of values of each categorical attribute, one flattened square matrix after another.
    """

    width: FloatArray
    values: IntArray
    starts: IntArray
    table: FloatArray


def scale(schema: Schema) -> Scale:
    """Return the distances of a schema whose numeric domains have both bounds.

    Cost: O(sum over categorical attributes of the squared number of values).
    """
    kinds = schema.quasi_identifiers.values()
    squares = [tree_distances(kind).ravel() if isinstance(kind, Categorical) else np.zeros(0) for kind in kinds]
    values = [len(kind.values) if isinstance(kind, Categorical) else 0 for kind in kinds]
    starts = np.cumsum([0, *(len(square) for square in squares)])[:-1]
    bounds = schema.bounds
    return Scale(bounds[:, 1] - bounds[:, 0], np.array(values), starts.astype(np.int64), np.concatenate(squares))


@compiled
def attribute_distance(scale: Scale, a: int, x: float, y: float) -> float:
    """Return the distance of two codes of attribute a, from 0 to 1.

    Codes of a categorical attribute are in the order of its tree's traversal. The distance therefore never decreases as y
    moves away from x: a code between x and y is at most as far from either as they are from each other.
    """
    if scale.values[a] > 0:
        return float(scale.table[scale.starts[a] + int(x) * scale.values[a] + int(y)])
    return abs(x - y) / scale.width[a] if scale.width[a] > 0.0 else 0.0


@compiled
def squared_distance(scale: Scale, x: FloatArray, y: FloatArray) -> float:
    """Return the sum of the squared attribute distances of two vectors of codes, shape ``(d,)``."""
    total = 0.0
    for a in range(len(x)):
        total += attribute_distance(scale, a, x[a], y[a]) ** 2
    return total


def distances(kind: Numeric | Categorical, some: FloatArray, others: FloatArray) -> FloatArray:
    """Return the distances of b codes of an attribute from c codes: float array, shape ``(b, c)``."""
    if isinstance(kind, Categorical):
        return np.asarray(tree_distances(kind)[np.ix_(some.astype(np.int64), others.astype(np.int64))])
    low, high = kind.bounds
    if low == high:
        return np.zeros((len(some), len(others)))
    return np.asarray(np.abs(np.subtract.outer(some, others)) / (high - low))


def tree_distances(kind: Categorical) -> FloatArray:
    """Return the distances between all values of an attribute: float array, shape ``(v, v)``.

    The height of the lowest common ancestor of two values, over the height of the tree.
    """
    levels = kind.tree.levels()
    return np.asarray((levels[:, :, None] != levels[:, None, :]).sum(axis=0) / (len(levels) - 1))


def points(people: People) -> FloatArray:
    """Return a Euclidean embedding of respondents that preserves their distances: float array, shape ``(n, D)``.

    A numeric attribute is one axis. A categorical attribute with a tree of height H has one axis per node below the root. A
    value has the coordinate ``sqrt((2 h + 1) / 2) / H`` on the axis of its own ancestor at each height h, and 0 on the other
    axes. Two values with a lowest common ancestor at height h then have the Euclidean distance
    ``sqrt(sum_{i<h} (2 i + 1)) / H = h / H``, which is their distance: an ultrametric always embeds in Euclidean space. Means
    of points are centroids over all attributes.

    Cost: O(n D), with D the number of numeric attributes and nodes.
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
    """Yield the axes of `points` for a categorical attribute, one generalization level at a time.

    Yields
    ------
    nodes : int array, shape (n,)
        The node of each code: the axis of this level on which its coordinate is not 0.
    number : int
        The number of nodes, which is the number of axes.
    coordinate : float
        The coordinate of each code on that axis.
    """
    levels = kind.tree.levels()
    height = len(levels) - 1
    for h, labels in enumerate(levels[:-1]):
        yield labels[codes.astype(np.int64)], int(labels.max()) + 1, float(np.sqrt((2 * h + 1) / 2) / height)
