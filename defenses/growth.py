"""Growing groups along an order, record by record: the greedy rule of JS-reduce, Algorithm 4."""

from dataclasses import dataclass

import numpy as np

from foreknow.defenses.requirement import Requirement
from foreknow.defenses.summary import Summary
from foreknow.models.arrays import FloatArray, IntArray

FIRST_LOOK = 8


@dataclass(frozen=True, eq=False)
class Growth:
    """Groups grown along an order.

    Attributes
    ----------
    groups : tuple of int array
        The records of each, in the order.
    left : int array
        The records in no group, in the order.
    """

    groups: tuple[IntArray, ...]
    left: IntArray


def grow(records: Summary, order: IntArray, requirement: Requirement, patience: int | None = None) -> Growth:
    """Take records in an order; close a group as soon as it satisfies the requirement, and start the next.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    order : int array
        The records to take, first to last.
    requirement : Requirement
        What a group must satisfy.
    patience : int, optional
        The most records a group may reach unsatisfied; then its oldest record is set aside. None is the printed rule,
        by which a group that cannot be satisfied takes in all that remain, and none of them is published.

    Notes
    -----
    Growing by one record is adding its summary, so the summaries of all groups that start at a record are differences
    of running sums, and they are judged a run at a time: 8 at first, then twice as many. Cost: O(n m) for groups of
    bounded size, O(n patience m) at most, and O(n m) more for the last, unsatisfied one where patience is None.
    """
    sums = _Running.along(records, order)
    n, smallest = len(order), requirement.smallest
    groups, aside, start = [], [], 0
    while start + smallest <= n:
        end = _first_end(sums, requirement, start, n if patience is None else min(n, start + max(patience, smallest)))
        if end is not None:
            groups.append(order[start:end])
            start = end
        elif patience is None:
            break
        else:
            aside.append(start)
            start += 1
    left = np.concatenate([np.array(aside, dtype=np.int64), np.arange(start, n)])
    return Growth(tuple(groups), order[left])


def _first_end(sums: "_Running", requirement: Requirement, start: int, last: int) -> int | None:
    """Where the first satisfying group from ``start`` on ends, if it ends by ``last``."""
    begin, look = start + requirement.smallest, FIRST_LOOK
    while begin <= last:
        ends = np.arange(begin, min(begin + look, last + 1))
        good = requirement(sums.between(start, ends))
        if good.any():
            return int(ends[good.argmax()])
        begin, look = begin + look, 2 * look
    return None


@dataclass(frozen=True, eq=False)
class _Running:
    """Running sums of summaries along an order, with a zero in front."""

    size: IntArray
    counts: IntArray
    prior: FloatArray
    entropy: FloatArray
    records: Summary

    @classmethod
    def along(cls, records: Summary, order: IntArray) -> "_Running":
        chosen = records[order]
        front = np.zeros((1, chosen.counts.shape[1]))
        return cls(
            np.concatenate([[0], np.cumsum(chosen.size)]),
            np.concatenate([front.astype(np.int64), np.cumsum(chosen.counts, axis=0)]),
            np.concatenate([front, np.cumsum(chosen.prior, axis=0)]),
            np.concatenate([[0.0], np.cumsum(chosen.entropy)]),
            records,
        )

    def between(self, start: int, ends: IntArray) -> Summary:
        """The summaries of the groups from one record up to, and without, each of some others."""
        return Summary(
            self.size[ends] - self.size[start],
            self.counts[ends] - self.counts[start],
            np.maximum(self.prior[ends] - self.prior[start], 0.0),
            self.entropy[ends] - self.entropy[start],
            self.records.whole,
        )
