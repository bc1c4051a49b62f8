"""Members of each group of a batch, for requirements that sums do not decide."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import BoolArray, IntArray, compiled


class GroupMembers(NamedTuple):
    """Records of each group of a batch of b groups.

    Attributes
    ----------
    records : int array
        Rows of the view, group by group.
    starts : int array, shape (b + 1,)
        Position in ``records`` of each group's first record, and last the number of records.
    """

    records: IntArray
    starts: IntArray

    def select(self, which: "IntArray | BoolArray | slice") -> "GroupMembers":
        """Members of the selected groups."""
        chosen = np.arange(len(self.starts) - 1)[which]
        return slices(self.records, self.starts[chosen], self.starts[chosen + 1])

    def joined(self, other: "GroupMembers") -> "GroupMembers":
        """Members of the unions of two batches, pair by pair; one batch may have length 1."""
        return GroupMembers(*_joined(self.records, self.starts, other.records, other.starts))

    def merged(self, firsts: IntArray) -> "GroupMembers":
        """Members of the unions of runs of groups; ``firsts`` are the first groups of the runs, in order, from group 0."""
        return GroupMembers(self.records, np.append(self.starts[firsts], self.starts[-1]))

    @property
    def group(self) -> IntArray:
        """Group of each of ``records``: int array."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def slices(records: IntArray, starts: IntArray, ends: IntArray) -> GroupMembers:
    """Groups that are slices of one sequence of records, each from its start to its end, excluded."""
    sizes = ends - starts
    into = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return GroupMembers(records[np.arange(into[-1]) + np.repeat(starts - into[:-1], sizes)], into)


@compiled
def _joined(
    left: IntArray, left_starts: IntArray, right: IntArray, right_starts: IntArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compiled, since defenses merge one group with each of many inside their loops; NumPy has no ragged concatenation."""
    a, b = len(left_starts) - 1, len(right_starts) - 1
    groups = max(a, b) if min(a, b) > 0 else 0
    starts = np.zeros(groups + 1, dtype=np.int64)
    for g in range(groups):
        i, j = g if a > 1 else 0, g if b > 1 else 0
        starts[g + 1] = starts[g] + left_starts[i + 1] - left_starts[i] + right_starts[j + 1] - right_starts[j]
    records = np.empty(starts[groups], dtype=np.int64)
    for g in range(groups):
        i, j = g if a > 1 else 0, g if b > 1 else 0
        middle = starts[g] + left_starts[i + 1] - left_starts[i]
        records[starts[g] : middle] = left[left_starts[i] : left_starts[i + 1]]
        records[middle : starts[g + 1]] = right[right_starts[j] : right_starts[j + 1]]
    return records, starts
