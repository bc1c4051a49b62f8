"""Worlds of one group by which a publisher had to keep it together: enumeration of contingency tables."""

import math
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

EXCESS = 1e-9
"""Rounding error of a share that counts as none."""


class MergeWorlds(NamedTuple):
    """Result of `merge_worlds`.

    Attributes
    ----------
    beliefs : float array, shape (q, m)
        Belief about the members of each cell over the kept worlds; zeros if there is none.
    kept : float
        Share of the worlds that are kept; NaN if there are more tables than the limit.
    """

    beliefs: FloatArray
    kept: float


@compiled
def merge_worlds(
    sizes: IntArray,
    counts: IntArray,
    parts: IntArray,
    l: float,  # noqa: E741
    bounded: int,
    distinct: bool,
    limit: int,
) -> MergeWorlds:
    """Beliefs over the assignments of a group's values in which every partition has a violating part.

    A world gives x[q, s] values s to the members of cell q; its weight is the number of its assignments, ``Π_q a_q! / Π x!``.

    Parameters
    ----------
    sizes : int array, shape (q,)
        Number of members of each cell, whose members are in the same parts.
    counts : int array, shape (m,)
        Values of the group; they sum to the number of members.
    parts : int array, shape (p, q)
        Part of each cell in each partition, numbered from 0.
    l : float
    bounded : int
        The first ``bounded`` values are bounded, each by a share of 1/l in a part.
    distinct : bool
        True if a part violates by having fewer than l distinct values instead.
    limit : int
        Largest number of tables that are enumerated.

    Notes
    -----
    Exact. Cost: O(p q m) for each table.
    """
    q, m = len(sizes), len(counts)
    table, left, beliefs = np.full(q * m, -1), counts.copy(), np.zeros((q, m))
    low, high = np.zeros(q * m, dtype=np.int64), np.zeros(q * m, dtype=np.int64)
    row_left = sizes.copy()
    scale = -math.lgamma(sizes.sum() + 1.0)
    for size in sizes:
        scale += math.lgamma(size + 1.0)
    for count in counts:
        scale += math.lgamma(count + 1.0)
    kept, tables, at = 0.0, 0, 0
    low[0], high[0] = max(0, row_left[0] - left[1:].sum()), min(row_left[0], left[0])
    while at >= 0:
        cell, value = at // m, at % m
        if table[at] >= 0:
            row_left[cell] += table[at]
            left[value] += table[at]
        table[at] = low[at] if table[at] < 0 else table[at] + 1
        if table[at] > high[at]:
            table[at] = -1
            at -= 1
            continue
        row_left[cell] -= table[at]
        left[value] -= table[at]
        if at < q * m - 1:
            at += 1
            cell, value = at // m, at % m
            low[at] = max(0, row_left[cell] - left[value + 1 :].sum())
            high[at] = min(row_left[cell], left[value])
            continue
        tables += 1
        if tables > limit:
            return MergeWorlds(np.zeros((q, m)), np.nan)
        world = table.reshape(q, m)
        if _is_kept(world, parts, l, bounded, distinct):
            weight = scale
            for number in table:
                weight -= math.lgamma(number + 1.0)
            weight = math.exp(weight)
            kept += weight
            for c in range(q):
                for s in range(m):
                    beliefs[c, s] += weight * world[c, s] / sizes[c]
    return MergeWorlds(beliefs / kept if kept > 0 else beliefs, kept)


@compiled
def _is_kept(world: IntArray, parts: IntArray, l: float, bounded: int, distinct: bool) -> bool:  # noqa: E741
    """Return whether every partition has a violating part."""
    m = world.shape[1]
    for partition in parts:
        has_violation = False
        for part in range(partition.max() + 1):
            counts = np.zeros(m, dtype=np.int64)
            for cell in range(len(partition)):
                if partition[cell] == part:
                    counts += world[cell]
            few = (counts > 0).sum() < l - EXCESS
            frequent = counts[:bounded].max() * l > counts.sum() * (1 + EXCESS)
            if (distinct and few) or (not distinct and frequent):
                has_violation = True
        if not has_violation:
            return False
    return True
