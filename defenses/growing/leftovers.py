"""Placement of leftover records: in existing groups, or in groups of their own under loosened requirements."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from foreknow.defenses.growing.growth import grow
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import BoolArray, IntArray, compiled
from foreknow.models.notes import Note

FIRST_CANDIDATES = 8
"""Number of nearest groups that are evaluated first for a leftover record; each further batch ends 8 times as far."""

LOOSENED = (
    "{records:,} leftover {records:record|records}, in {groups:,} {groups:group|groups} of their own, only satisfy "
    "{requirement}."
)


def join_nearest(
    records: Summary, labels: IntArray, rank: IntArray, requirement: GroupPredicate, distort: bool
) -> tuple[IntArray, IntArray, list[Note]]:
    """Put leftovers, one by one, into the nearest group along an order that then still satisfies the requirement.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Group of each record; -1 for leftovers.
    rank : int array, shape (n,)
        Position of each record in the order. The distance of a group is that of its nearest member.
    requirement : GroupPredicate
        The requirement of the group with the added record.
    distort : bool
        If True, the record may be published with another value: among those with which the group satisfies, its own, else the
        most frequent one of the group.

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
    versions = _with_values(record, values)
    for batch in nearest:
        pairs = versions[np.tile(values, len(batch))] if distort else record
        satisfies = requirement(groups[np.repeat(batch, len(values))] + pairs).reshape(len(batch), len(values))
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
