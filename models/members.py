"""Who is in which group, laid out for kernels that walk group by group."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled


class Members(NamedTuple):
    """The rows of each group: group j's are ``order[starts[j]:starts[j + 1]]``."""

    order: IntArray
    starts: IntArray


def members(group: IntArray, groups: int) -> Members:
    """The rows of each group, in their own order; rows of group -1 are left out. Cost: O(n log n)."""
    order = np.argsort(group, kind="stable")
    return Members(order, np.searchsorted(group[order], np.arange(groups + 1)))


@compiled
def group_sums(rows: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """The sum of each group's rows: float array, shape ``(g, m)``. Cost: O(n m)."""
    sums = np.zeros((groups, rows.shape[1]))
    for i in range(len(rows)):
        if group[i] >= 0:
            for s in range(rows.shape[1]):
                sums[group[i], s] += rows[i, s]
    return sums
