"""Kernel-weighted sums over a grid, by applying a product kernel to one attribute at a time."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.attributes import Categorical, Numeric
from foreknow.models.tables.distance import distances
from foreknow.models.tables.schema import Schema

MAX_GRID_CELLS = 2**24
"""Largest number of cells of a grid, 8 bytes each; two grids are held at once."""


class Axis(NamedTuple):
    """One attribute of a grid.

    Attributes
    ----------
    codes : float array, shape (v,)
        Distinct codes of some rows.
    place : int array
        Position in ``codes`` of the code of each row.
    """

    codes: FloatArray
    place: IntArray


def kernel(kind: Numeric | Categorical, bandwidth: float, some: FloatArray, others: FloatArray) -> FloatArray:
    """Epanechnikov kernel between codes of an attribute, ``max(1 - (distance / bandwidth)^2, 0)``: shape ``(b, c)``."""
    return np.asarray(1 - (np.minimum(distances(kind, some, others), bandwidth) / bandwidth) ** 2)


def axes(codes: FloatArray) -> tuple[Axis, ...]:
    """Axes of a grid that holds rows of codes of shape ``(c, d)``. Cost: O(c d log c)."""
    return tuple(Axis(*np.unique(column, return_inverse=True)) for column in codes.T)


def grid_is_cheaper(queries: tuple[Axis, ...], known: tuple[Axis, ...], values: int) -> bool:
    """Return whether a grid fits into memory, and needs less work than one kernel weight for each pair of rows.

    Step a replaces the codes of attribute a of the known rows by those of the queries. The work of a step is the size of the
    grid before it times the number of codes after it.
    """
    before, after = [len(axis.codes) for axis in known], [len(axis.codes) for axis in queries]
    sizes = [values * math.prod(after[:a]) * math.prod(before[a:]) for a in range(len(before) + 1)]
    work = sum(size * codes for size, codes in zip(sizes, after, strict=False))
    return max(sizes) <= MAX_GRID_CELLS and work <= len(queries[0].place) * len(known[0].place) * (len(before) + values)


def grid_sums(
    schema: Schema,
    bandwidth: Mapping[str, float],
    queries: tuple[Axis, ...],
    known: tuple[Axis, ...],
    counts: FloatArray,
) -> FloatArray:
    """Sum of the counts at the known rows, weighted by their kernel with each query row: float array, shape ``(b, m)``.

    ``counts``, shape ``(c, m)``, holds the counts at the c known rows, which are distinct. Terms are never negative, so a sum
    without weight is exactly 0. Cost: see `grid_is_cheaper`.
    """
    grid = np.zeros((*(len(axis.codes) for axis in known), counts.shape[1]))
    grid[tuple(axis.place for axis in known)] = counts
    for (name, kind), there, here in zip(schema.quasi_identifiers.items(), queries, known, strict=True):
        # The first axis is summed over and becomes the last one, so after all attributes the values are the first axis.
        weights = kernel(kind, bandwidth[name], there.codes, here.codes)
        grid = (weights @ grid.reshape(len(here.codes), -1)).T
    cells = grid.reshape(counts.shape[1], *(len(axis.codes) for axis in queries))
    return np.moveaxis(cells, 0, -1)[tuple(axis.place for axis in queries)]
