"""Groups grown along an order of the records, and placement of leftover records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foreknow.defenses.requirements.requirement import GroupPredicate, check_predicate
from foreknow.defenses.requirements.summary import GroupMembers, Summary, TableCounts, slices, summarize_groups
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.notes import Note
from foreknow.models.settings import check_whole

FIRST_LENGTHS = 8  # number of lengths of a group that are evaluated together first

MAX_STARTS = 16  # largest number of first records that are evaluated together, after repeated failures


@dataclass(frozen=True, eq=False)
class Growth:
    """Groups grown along an order."""

    groups: tuple[IntArray, ...]  # rows of each group, in the order
    left: IntArray  # rows in no group, in the order


def grow(records: Summary, order: IntArray, requirement: GroupPredicate, patience: int | None = None) -> Growth:
    """Grow groups along an order of records; a group is closed as soon as it satisfies the requirement.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    order : int array
        Distinct rows of ``records``, first to last; all of them or some.
    requirement : GroupPredicate
        The requirement of every group, bound to the view.
    patience : int, optional
        Largest number of records of an unsatisfying group. Where a group reaches it, its first record is set aside. None is the
        printed rule: a group that never satisfies takes all remaining records, and none of them is published.

    Returns
    -------
    Growth
        The groups and the records in none.

    Notes
    -----
    JS-reduce, Algorithm 4. Adding a record adds its summary. The summaries of all groups that start at a record are therefore
    differences of running sums, and many are evaluated together. Cost: O(n m) for groups of bounded size and
    O(n patience m) at most; without patience, O(n m) more for the last, unsatisfying group.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.defenses import KAnonymity, summarize_records
    >>> from foreknow.models import Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": range(5), "age": [20, 30, 40, 50, 60], "result": list("aabab")})
    >>> view = View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b")))
    >>> growth = grow(summarize_records(view, np.full((5, 2), 0.5)), np.arange(5), KAnonymity(2))
    >>> [group.tolist() for group in growth.groups], growth.left.tolist()
    ([[0, 1], [2, 3]], [4])
    """
    check_predicate("grow", requirement)
    if len(np.unique(order)) < len(order) or not ((order >= 0) & (order < len(records))).all():
        raise ValueError(
            f"grow: order has other than distinct rows from 0 to {len(records) - 1}; give each at most once."
        )
    if patience is not None:
        check_whole("grow", "patience", patience, "records")
    sums = RunningSums.along(records, order)
    n, smallest = len(order), requirement.smallest
    longest = n if patience is None else max(int(patience), smallest)
    groups: list[IntArray] = []
    aside: list[IntArray] = []
    start, starts = 0, 1
    while start + smallest <= n:
        first, end = _first_group(sums, requirement, start, min(start + starts, n - smallest + 1), smallest, longest)
        if end > first:
            groups.append(order[first:end])
        elif patience is None:
            break
        aside.append(np.arange(start, first))
        start, starts = max(first, end), max(starts // 2, 1) if end > first else min(2 * starts, MAX_STARTS)
    left = np.concatenate([*aside, np.arange(start, n)])
    return Growth(tuple(groups), order[left])


@dataclass(frozen=True, eq=False)
class RunningSums:
    """Running sums of summaries along an order of n groups, from 0."""

    counts: IntArray  # (n + 1, m + 1): running sums of the counts; those of the sizes are in the last column
    sums: FloatArray  # (n + 1, m + 1): running sums of the priors; those of the entropies are in the last column
    table: TableCounts  # the table that the groups are part of
    members: GroupMembers | None  # records of each group, in the order

    @classmethod
    def along(cls, groups: Summary, order: IntArray) -> "RunningSums":
        """Running sums of some groups, or single records, along an order."""
        n, m = len(order), groups.counts.shape[1]
        counts, sums = np.zeros((n + 1, m + 1), dtype=np.int64), np.zeros((n + 1, m + 1))
        np.cumsum(groups.counts[order], axis=0, out=counts[1:, :-1])
        np.cumsum(groups.size[order], out=counts[1:, -1])
        np.cumsum(groups.prior[order], axis=0, out=sums[1:, :-1])
        np.cumsum(groups.entropy[order], out=sums[1:, -1])
        return cls(counts, sums, groups.table, None if groups.members is None else groups.members.select(order))

    def between(self, starts: IntArray, ends: IntArray) -> Summary:
        """Summary of the union of each run of groups, from its start to its end, excluded: a batch of ``len(starts)``."""
        counts, sums = _row_differences(self.counts, starts, ends), _row_differences(self.sums, starts, ends)
        members = self.members
        if members is not None:
            members = slices(members.records, members.starts[starts], members.starts[ends])
        return Summary(counts[:, -1], counts[:, :-1], sums[:, :-1], sums[:, -1], self.table, members)


def _first_group(
    sums: RunningSums, requirement: GroupPredicate, start: int, stop: int, smallest: int, longest: int
) -> tuple[int, int]:
    """First start from ``start`` to ``stop``, excluded, at which a group satisfies, and the end of its shortest group.

    The result is ``(stop, stop)`` if there is none. A single start is evaluated on lengths in batches of growing size, because
    most groups are short. Several starts, which follow failures, are evaluated on all lengths at once.
    """
    n = len(sums.sums) - 1
    starts = np.arange(start, stop)
    begin, batch = smallest, FIRST_LENGTHS if len(starts) == 1 else longest
    while begin <= longest and start + begin <= n:
        lengths = np.arange(begin, min(begin + batch, longest + 1, n - start + 1))
        first, ends = np.repeat(starts, len(lengths)), np.add.outer(starts, lengths).ravel()
        if stop - start > 1:
            inside = ends <= n
            first, ends = first[inside], ends[inside]
        satisfies = requirement(sums.between(first, ends))
        which = satisfies.argmax()
        if satisfies[which]:
            return int(first[which]), int(ends[which])
        begin, batch = begin + batch, 2 * batch
    return stop, stop


# Number of nearest groups that are evaluated first for a leftover record; each further batch ends 8 times as far
FIRST_CANDIDATES = 8

LOOSENED = (
    "{records:,} leftover {records:record|records}, in {groups:,} {groups:group|groups} of their own, only satisfy "
    "{requirement}."
)


def join_nearest(
    records: Summary,  # every record as a group of its own
    labels: IntArray,  # (n,): group of each record; -1 for leftovers
    # (n,): position of each record in the order. The distance of a group is that of its nearest member.
    rank: IntArray,
    requirement: GroupPredicate,  # the requirement of the group with the added record
    # If True, the record may be published with another value: among those with which the group satisfies, its own, else
    # the most frequent one of the group
    distort: bool,
) -> tuple[IntArray, IntArray, list[Note]]:
    """Put leftovers, one by one, into the nearest group along an order that then still satisfies the requirement.

    Returns
    -------
    labels, values : int arrays, shape (n,)
        Labels with the placed leftovers, and the published sensitive codes.
    notes : list of Note
    """
    labels, values = labels.copy(), records.counts.argmax(axis=1)
    if not (labels >= 0).any():
        return labels, values, []
    groups = summarize_groups(records, labels)
    members = _in_order(labels >= 0, rank)
    places, group_at = rank[members], labels[members]
    joined = distorted = 0
    for row in _in_order(labels < 0, rank).tolist():
        record, own = records[row], values[row]
        nearest = _by_distance(places, group_at, int(rank[row]), len(groups))
        group, value = _place(record, groups, nearest, requirement, distort)
        if group < 0:
            continue
        labels[row], values[row] = group, value
        published = record if value == own else _with_values(record, np.array([value]))
        groups = with_group_replaced(groups, group, groups[group] + published)
        joined, distorted = joined + 1, distorted + int(value != own)
    counterfeit = ", {distorted} of them with a counterfeit sensitive value" if distort else ""
    kind = "{joined:,} leftover {joined:record|records} joined a group" + counterfeit + "."
    return labels, values, [Note(kind, joined=joined, distorted=distorted)] if joined else []


def relax(
    records: Summary, labels: IntArray, rank: IntArray, loosened: Sequence[GroupPredicate], patience: int | None
) -> tuple[IntArray, list[Note]]:
    """Group the leftovers among themselves, in rounds under looser and looser requirements.

    Records that fit no group in the last round stay leftovers. Each round that makes groups adds a note.
    """
    labels, notes = labels.copy(), list[Note]()
    for requirement in loosened:
        left = _in_order(labels < 0, rank)
        if len(left) < requirement.smallest:
            break
        groups = grow(records, left, requirement, patience).groups
        for number, members in enumerate(groups, start=int(labels.max(initial=-1)) + 1):
            labels[members] = number
        if groups:
            counts = {"records": sum(map(len, groups)), "groups": len(groups)}
            notes.append(Note(LOOSENED, **counts, requirement=repr(requirement)))
    return labels, notes


def with_group_replaced(groups: Summary, which: int, by: Summary) -> Summary:
    """Batch with one group replaced by another, a batch of length 1.

    The arrays of ``groups`` are overwritten unless it holds members, so that the caller must be their only owner.
    """
    if groups.members is not None:
        return groups.replaced(which, by)
    groups.size[which], groups.counts[which] = by.size[0], by.counts[0]
    groups.prior[which], groups.entropy[which] = by.prior[0], by.entropy[0]
    return groups


def _place(
    record: Summary, groups: Summary, nearest: Iterator[IntArray], requirement: GroupPredicate, distort: bool
) -> tuple[int, int]:
    """Nearest group that satisfies with a record, and the value with which it does; (-1, -1) if there is none."""
    own, m = int(record.counts.argmax()), groups.counts.shape[1]
    values = np.arange(m) if distort else np.array([own])
    versions = _with_values(record, values) if distort else record
    for batch in nearest:
        each, pairs = batch, versions
        if distort:
            each, pairs = np.repeat(batch, m), versions[np.tile(values, len(batch))]
        satisfies = requirement(groups[each] + pairs).reshape(len(batch), len(values))
        if satisfies.any():
            which = int(satisfies.any(axis=1).argmax())
            possible = values[satisfies[which]]
            value = own if own in possible else int(possible[groups.counts[batch[which], possible].argmax()])
            return int(batch[which]), value
    return -1, -1


def _with_values(record: Summary, values: IntArray) -> Summary:
    """Batch of one record with each of the values in place of its own."""
    copies = record[np.zeros(len(values), dtype=np.int64)]
    return replace(copies, counts=np.eye(record.counts.shape[1], dtype=np.int64)[values])


def _by_distance(places: IntArray, group_at: IntArray, place: int, groups: int) -> Iterator[IntArray]:
    """Groups in batches, in order of the distance of their nearest member from a place.

    ``places`` are the positions of all group members in ascending order, and ``group_at`` their groups. Batches grow by a
    factor of 8, because most leftovers find a group among the nearest.
    """
    done, most = 0, FIRST_CANDIDATES
    while done < groups:
        yield _nearest_groups(places, group_at, place, min(most, groups), groups)[done:]
        done, most = most, 8 * most


@compiled
def _nearest_groups(places: IntArray, group_at: IntArray, place: int, most: int, groups: int) -> IntArray:
    """The ``most`` groups nearest to a place, by their nearest member; ties go to the group before it."""
    above = np.searchsorted(places, place)
    below = above - 1
    nearest, size, seen = np.empty(most, dtype=np.int64), 0, np.zeros(groups, dtype=np.bool_)
    while size < most:
        down = below >= 0 and (above == len(places) or place - places[below] <= places[above] - place)
        group = group_at[below] if down else group_at[above]
        if down:
            below -= 1
        else:
            above += 1
        if not seen[group]:
            seen[group] = True
            nearest[size] = group
            size += 1
    return nearest


def _in_order(chosen: BoolArray, rank: IntArray) -> IntArray:
    """Rows of the chosen records, sorted by rank."""
    rows = np.flatnonzero(chosen)
    return rows[np.argsort(rank[rows], kind="stable")]


@compiled
def _row_differences[T: np.generic](sums: NDArray[T], starts: IntArray, ends: IntArray) -> NDArray[T]:
    """Rows ``ends`` of running sums minus rows ``starts``; compiled, because NumPy would copy both sets of rows first."""
    differences = np.empty((len(ends), sums.shape[1]), sums.dtype)
    for i in range(len(ends)):
        for s in range(sums.shape[1]):
            differences[i, s] = sums[ends[i], s] - sums[starts[i], s]
    return differences
