"""Who is in each group of a batch, for requirements that ask more of a group than sums."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import BoolArray, IntArray, compiled


class Members(NamedTuple):
    """The records of each group of a batch of b.

    Attributes
    ----------
    records : int array
        The records' rows in the view, one group after the other.
    starts : int array, shape (b + 1,)
        Where each group's records start; the last is their number.
    """

    records: IntArray
    starts: IntArray

    def of(self, which: "IntArray | BoolArray | slice") -> "Members":
        """The members of some of the groups."""
        chosen = np.arange(len(self.starts) - 1)[which]
        return slices(self.records, self.starts[chosen], self.starts[chosen + 1])

    def joined(self, other: "Members") -> "Members":
        """The members of groups merged pair by pair; one of the batches may have length 1."""
        return Members(*_joined(self.records, self.starts, other.records, other.starts))

    def merged(self, firsts: IntArray) -> "Members":
        """The members of runs of groups; ``firsts`` are the groups at which the runs start, the first of them group 0."""
        return Members(self.records, np.append(self.starts[firsts], self.starts[-1]))

    @property
    def group(self) -> IntArray:
        """The group of each of ``records``: int array."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def slices(records: IntArray, starts: IntArray, ends: IntArray) -> Members:
    """Groups that are runs of one sequence of records, from some places up to, and without, some others."""
    sizes = ends - starts
    into = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Members(records[np.arange(into[-1]) + np.repeat(starts - into[:-1], sizes)], into)


@compiled
def _joined(
    left: IntArray, left_starts: IntArray, right: IntArray, right_starts: IntArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
