"""Finding a place for records that fit no group: among existing groups, or in groups of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from foreknow.defenses.growing.growth import grow
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import BoolArray, IntArray, compiled

FEW = 8
"""How many of the nearest groups are asked at first whether they can take in a record."""


def join_nearest(
    records: Summary, labels: IntArray, rank: IntArray, requirement: GroupPredicate, distort: bool
) -> tuple[IntArray, IntArray, list[str]]:
    """Put leftovers, one by one, into the nearest group along an order in which the requirement then still holds.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Each record's group, -1 for the leftovers.
    rank : int array, shape (n,)
        Each record's place in the order; a group stands where its nearest member does.
    requirement : GroupPredicate
        What the group must satisfy with the newcomer.
    distort : bool
        Whether the newcomer may be published with another value than its own: one that the group shows most, among
        those with which the requirement holds. Its own is taken where it holds.

    Returns
    -------
    labels, values : int arrays, shape (n,)
        The labels with those who found a place, and the published sensitive codes.
    notes : list of str
    """
    labels, values = labels.copy(), records.counts.argmax(axis=1)
    if not (labels >= 0).any():
        return labels, values, []
    groups = summarize_groups(records, labels)
    line = _in_order(labels >= 0, rank)
    places, group_at = rank[line], labels[line]
    joined = distorted = 0
    for row in _in_order(labels < 0, rank).tolist():
        newcomer, own = records[row], values[row]
        nearest = _by_distance(places, group_at, int(rank[row]), len(groups))
        group, value = _place(newcomer, groups, nearest, requirement, distort)
        if group < 0:
            continue
        labels[row], values[row] = group, value
        shown = newcomer if value == own else _valued(newcomer, np.array([value]))
        groups = overwritten(groups, group, groups[group] + shown)
        joined, distorted = joined + 1, distorted + int(value != own)
    said = f", {distorted} of them with a counterfeit sensitive value" if distort else ""
    return labels, values, [f"{joined} leftover records joined a group{said}."] if joined else []


def relax(
    records: Summary, labels: IntArray, rank: IntArray, loosened: Sequence[GroupPredicate], patience: int | None
) -> tuple[IntArray, list[str]]:
    """Group the leftovers among themselves under requirements that are looser from round to round.

    Records that even the last leaves over stay leftovers. Each round that makes groups makes one note.
    """
    labels, notes = labels.copy(), []
    for requirement in loosened:
        left = _in_order(labels < 0, rank)
        if len(left) < requirement.smallest:
            break
        groups = grow(records, left, requirement, patience).groups
        for number, members in enumerate(groups, start=int(labels.max(initial=-1)) + 1):
            labels[members] = number
        if groups:
            notes.append(
                f"{sum(map(len, groups))} leftover records, in {len(groups)} groups of their own, only satisfy {requirement!r}."
            )
    return labels, notes


def overwritten(groups: Summary, which: int, by: Summary) -> Summary:
    """A batch that nobody else holds with one of its groups replaced: in place, but where it says who is in each."""
    if groups.members is not None:
        return groups.replaced(which, by)
    groups.size[which], groups.counts[which] = by.size[0], by.counts[0]
    groups.prior[which], groups.entropy[which] = by.prior[0], by.entropy[0]
    return groups


def _place(
    newcomer: Summary, groups: Summary, nearest: Iterator[IntArray], requirement: GroupPredicate, distort: bool
) -> tuple[int, int]:
    """The nearest group that may take a record, and with which value; (-1, -1) if none may."""
    own, m = int(newcomer.counts.argmax()), groups.counts.shape[1]
    values = np.arange(m) if distort else np.array([own])
    as_each = _valued(newcomer, values) if distort else newcomer
    for some in nearest:
        pairs = groups[np.repeat(some, m)] + as_each[np.tile(values, len(some))] if distort else groups[some] + newcomer
        holds = requirement(pairs).reshape(len(some), len(values))
        if holds.any():
            which = int(holds.any(axis=1).argmax())
            possible = values[holds[which]]
            value = own if own in possible else int(possible[groups.counts[some[which], possible].argmax()])
            return int(some[which]), value
    return -1, -1


def _valued(newcomer: Summary, values: IntArray) -> Summary:
    """One record as it would be with each of some values: a batch."""
    as_often = newcomer[np.zeros(len(values), dtype=np.int64)]
    return replace(as_often, counts=np.eye(newcomer.counts.shape[1], dtype=np.int64)[values])


def _by_distance(places: IntArray, group_at: IntArray, place: int, groups: int) -> Iterator[IntArray]:
    """The groups, nearest first by their nearest member, some at a time, given the places of all members in order."""
    asked, most = 0, FEW
    while asked < groups:
        yield _nearest_groups(places, group_at, place, min(most, groups), groups)[asked:]
        asked, most = most, 8 * most


@compiled
def _nearest_groups(places: IntArray, group_at: IntArray, place: int, most: int, groups: int) -> IntArray:
    """Some groups nearest to a place, by their nearest member; of two as near, the one before it first."""
    above = np.searchsorted(places, place)
    below = above - 1
    found, size, seen = np.empty(most, dtype=np.int64), 0, np.zeros(groups, dtype=np.bool_)
    while size < most:
        down = below >= 0 and (above == len(places) or place - places[below] <= places[above] - place)
        group = group_at[below] if down else group_at[above]
        if down:
            below -= 1
        else:
            above += 1
        if not seen[group]:
            seen[group] = True
            found[size] = group
            size += 1
    return found


def _in_order(chosen: BoolArray, rank: IntArray) -> IntArray:
    """The chosen records, first to last along the order."""
    rows = np.flatnonzero(chosen)
    return rows[np.argsort(rank[rows], kind="stable")]
