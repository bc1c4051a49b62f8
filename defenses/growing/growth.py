"""Growing groups along an order, record by record: the greedy rule of JS-reduce, Algorithm 4."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreknow.defenses.requirements.membership import GroupMembers, slices
from foreknow.defenses.requirements.requirement import GroupPredicate, check_predicate
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.models.arrays import FloatArray, IntArray, compiled

FIRST_LOOK = 8
"""How many lengths of a group are judged at once at first."""

MOST_ABREAST = 16
"""How many starts are judged at once after many have failed."""


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


def grow(records: Summary, order: IntArray, requirement: GroupPredicate, patience: int | None = None) -> Growth:
    """Take records in an order; close a group as soon as it satisfies the requirement, and start the next.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    order : int array
        The records to take, first to last.
    requirement : GroupPredicate
        What a group must satisfy.
    patience : int, optional
        The most records a group may reach unsatisfied; then its oldest record is set aside. None is the printed rule,
        by which a group that cannot be satisfied takes in all that remain, and none of them is published.

    Notes
    -----
    Growing by one record is adding its summary, so the summaries of all groups that start at a record are differences
    of running sums, and they are judged many at a time. Cost: O(n m) for groups of bounded size, O(n patience m) at most,
    and O(n m) more for the last, unsatisfied one where patience is None.
    """
    check_predicate("grow", requirement)
    sums = Running.along(records, order)
    n, smallest = len(order), requirement.smallest
    longest = n if patience is None else max(int(patience), smallest)
    groups: list[IntArray] = []
    aside: list[int] = []
    start, abreast = 0, 1
    while start + smallest <= n:
        first, end = _first_group(sums, requirement, start, min(start + abreast, n - smallest + 1), longest)
        if end > first:
            groups.append(order[first:end])
        elif patience is None:
            break
        aside += range(start, first)
        start, abreast = max(first, end), max(abreast // 2, 1) if end > first else min(2 * abreast, MOST_ABREAST)
    left = np.concatenate([np.array(aside, dtype=np.int64), np.arange(start, n)])
    return Growth(tuple(groups), order[left])


def _first_group(sums: "Running", requirement: GroupPredicate, start: int, stop: int, longest: int) -> tuple[int, int]:
    """The first of the starts from ``start`` up to ``stop`` at which some group satisfies, and where the shortest ends.

    Where none does, it is ``(stop, stop)``. One start is tried in growing runs of lengths, for most groups are short;
    several, which are tried after failures, with all lengths at once.
    """
    n = len(sums.fractions) - 1
    starts = np.arange(start, stop)
    begin, look = requirement.smallest, FIRST_LOOK if len(starts) == 1 else longest
    while begin <= longest and start + begin <= n:
        lengths = np.arange(begin, min(begin + look, longest + 1, n - start + 1))
        ends = starts[:, None] + lengths
        inside = (ends <= n).ravel()
        judged = np.zeros(ends.size, dtype=bool)
        judged[inside] = requirement(sums.between(np.repeat(starts, len(lengths))[inside], ends.ravel()[inside]))
        good = judged.reshape(ends.shape)
        found = good.any(axis=1)
        if found.any():
            which = int(found.argmax())
            return start + which, int(ends[which, good[which].argmax()])
        begin, look = begin + look, 2 * look
    return stop, stop


@dataclass(frozen=True, eq=False)
class Running:
    """Running sums of summaries along an order, with a zero in front.

    The last column of ``whole_numbers`` is the size, that of ``fractions`` the entropy.
    """

    whole_numbers: IntArray
    fractions: FloatArray
    whole: TableCounts
    members: GroupMembers | None

    @classmethod
    def along(cls, groups: Summary, order: IntArray) -> "Running":
        """The running sums of some groups, which may be single records."""
        chosen = groups[order]
        whole_numbers = np.column_stack([chosen.counts, chosen.size])
        fractions = np.column_stack([chosen.prior, chosen.entropy])
        front = np.zeros((1, whole_numbers.shape[1]), dtype=np.int64)
        return cls(
            np.concatenate([front, np.cumsum(whole_numbers, axis=0)]),
            np.concatenate([front.astype(np.float64), np.cumsum(fractions, axis=0)]),
            chosen.table,
            chosen.members,
        )

    def between(self, starts: IntArray, ends: IntArray) -> Summary:
        """The summaries of all from some places of the order up to, and without, some others, put together."""
        whole_numbers = _differences(self.whole_numbers, starts, ends)
        fractions, members = _differences(self.fractions, starts, ends), self.members
        return Summary(
            whole_numbers[:, -1],
            whole_numbers[:, :-1],
            fractions[:, :-1],
            fractions[:, -1],
            self.whole,
            None if members is None else slices(members.records, members.starts[starts], members.starts[ends]),
        )


@compiled
def _differences[T: np.generic](sums: NDArray[T], starts: IntArray, ends: IntArray) -> NDArray[T]:
    """Rows of running sums minus others."""
    found = np.empty((len(ends), sums.shape[1]), sums.dtype)
    for i in range(len(ends)):
        for s in range(sums.shape[1]):
            found[i, s] = sums[ends[i], s] - sums[starts[i], s]
    return found
