"""Running sums of group summaries along an order, whose differences are the summaries of runs of groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreknow.defenses.requirements.membership import GroupMembers, slices
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.models.arrays import FloatArray, IntArray, compiled


@dataclass(frozen=True, eq=False)
class RunningSums:
    """Running sums of summaries along an order of n groups, from 0.

    Attributes
    ----------
    counts : int array, shape (n + 1, m + 1)
        Running sums of the counts; those of the sizes are in the last column.
    sums : float array, shape (n + 1, m + 1)
        Running sums of the priors; those of the entropies are in the last column.
    table : TableCounts
        The table that the groups are part of.
    members : GroupMembers, optional
        Records of each group, in the order.
    """

    counts: IntArray
    sums: FloatArray
    table: TableCounts
    members: GroupMembers | None

    @classmethod
    def along(cls, groups: Summary, order: IntArray) -> "RunningSums":
        """Running sums of some groups, or single records, along an order."""
        chosen = groups[order]
        counts = np.column_stack([chosen.counts, chosen.size])
        sums = np.column_stack([chosen.prior, chosen.entropy])
        zeros = np.zeros((1, counts.shape[1]), dtype=np.int64)
        return cls(
            np.concatenate([zeros, np.cumsum(counts, axis=0)]),
            np.concatenate([zeros.astype(np.float64), np.cumsum(sums, axis=0)]),
            chosen.table,
            chosen.members,
        )

    def between(self, starts: IntArray, ends: IntArray) -> Summary:
        """Summary of the union of each run of groups, from its start to its end, excluded: a batch of ``len(starts)``."""
        counts, sums = _row_differences(self.counts, starts, ends), _row_differences(self.sums, starts, ends)
        members = self.members
        if members is not None:
            members = slices(members.records, members.starts[starts], members.starts[ends])
        return Summary(counts[:, -1], counts[:, :-1], sums[:, :-1], sums[:, -1], self.table, members)


@compiled
def _row_differences[T: np.generic](sums: NDArray[T], starts: IntArray, ends: IntArray) -> NDArray[T]:
    """Rows ``ends`` of running sums minus rows ``starts``; compiled, because NumPy would copy both sets of rows first."""
    differences = np.empty((len(ends), sums.shape[1]), sums.dtype)
    for i in range(len(ends)):
        for s in range(sums.shape[1]):
            differences[i, s] = sums[ends[i], s] - sums[starts[i], s]
    return differences
