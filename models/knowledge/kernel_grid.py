"""Kernel-weighted sums over a grid: a kernel that is a product over attributes is applied to one attribute at a time."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.attributes import Categorical, Numeric
from foreknow.models.tables.distance import distances
from foreknow.models.tables.schema import Schema

LARGEST = 2**24
"""How many numbers a grid may hold, 8 bytes each; two grids are held at once."""


class Axis(NamedTuple):
    """One attribute of a grid: the distinct codes of some rows, and which of them each row has."""

    codes: FloatArray
    place: IntArray


def kernel(kind: Numeric | Categorical, reach: float, some: FloatArray, others: FloatArray) -> FloatArray:
    """The Epanechnikov kernel between codes of an attribute, ``1 - (distance / reach)^2`` or 0: shape ``(b, c)``."""
    return np.asarray(1 - (np.minimum(distances(kind, some, others), reach) / reach) ** 2)


def axes(codes: FloatArray) -> tuple[Axis, ...]:
    """The axes of rows of codes, shape ``(c, d)``. Cost: O(c d log c)."""
    return tuple(Axis(*np.unique(column, return_inverse=True)) for column in codes.T)


def is_cheaper(asked: tuple[Axis, ...], known: tuple[Axis, ...], values: int) -> bool:
    """Whether a grid fits, and takes less work than a kernel weight for each of the pairs of rows.

    Along the way from the known to the asked, the grid is as long in each attribute as there are codes of the one or of
    the other; the work of a step is the grid times the codes that the step leads to.
    """
    before, after = [len(axis.codes) for axis in known], [len(axis.codes) for axis in asked]
    sizes = [values * math.prod(after[:a]) * math.prod(before[a:]) for a in range(len(before) + 1)]
    work = sum(size * codes for size, codes in zip(sizes, after, strict=False))
    return max(sizes) <= LARGEST and work <= len(asked[0].place) * len(known[0].place) * (len(before) + values)


def grid_sums(
    schema: Schema,
    bandwidth: Mapping[str, float],
    asked: tuple[Axis, ...],
    known: tuple[Axis, ...],
    counts: FloatArray,
) -> FloatArray:
    """The sum of what lies at the known rows, each weighted by its kernel with the asked row: shape ``(b, m)``.

    ``counts``, shape ``(c, m)``, is what lies at each of the known rows, which are distinct. Terms are never negative, so
    that a sum without any weight is exactly 0. Cost: see `is_cheaper`.
    """
    grid = np.zeros((*(len(axis.codes) for axis in known), counts.shape[1]))
    grid[tuple(axis.place for axis in known)] = counts
    for (name, kind), there, here in zip(schema.quasi_identifiers.items(), asked, known, strict=True):
        # The attribute in front is summed over and comes back as the last, so that in the end the values stand in front.
        weights = kernel(kind, bandwidth[name], there.codes, here.codes)
        grid = (weights @ grid.reshape(len(here.codes), -1)).T
    cells = grid.reshape(counts.shape[1], *(len(axis.codes) for axis in asked))
    return np.moveaxis(cells, 0, -1)[tuple(axis.place for axis in asked)]
