"""Rows of each group, in a layout for kernels that iterate over groups, and sums of rows by group."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled


class GroupRows(NamedTuple):
    """Row numbers sorted by group: the rows of group j are ``order[starts[j]:starts[j + 1]]``.

    Attributes
    ----------
    order : int array, shape (n,)
    starts : int array, shape (g + 1,)
    """

    order: IntArray
    starts: IntArray


def group_rows(group: IntArray, groups: int) -> GroupRows:
    """Rows of each of ``groups`` groups, in their original order; rows of group -1 are left out. Cost: O(n log n)."""
    order = np.argsort(group, kind="stable")
    return GroupRows(order, np.searchsorted(group[order], np.arange(groups + 1)))


@compiled
def group_sums(rows: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Sum of the rows of each group: float array, shape ``(g, m)``. Rows of group -1 are left out. Cost: O(n m)."""
    sums = np.zeros((groups, rows.shape[1]))
    for i in range(len(rows)):
        if group[i] >= 0:
            for s in range(rows.shape[1]):
                sums[group[i], s] += rows[i, s]
    return sums
