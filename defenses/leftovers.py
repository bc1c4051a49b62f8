"""What becomes of records that fit no group: JS-reduce, section 6.3, names three answers."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from foreknow.defenses.growth import grow
from foreknow.defenses.requirement import Requirement
from foreknow.defenses.summary import Summary, Whole, summarize_groups
from foreknow.models import Grouping
from foreknow.models.arrays import IntArray

NEAREST = 32
"""How many of the nearest groups are asked whether they can take in another."""


def suppress(
    records: Summary, labels: IntArray, rank: IntArray, requirement: Requirement, settled: bool = True
) -> Grouping:
    """Leave the leftovers out (the paper's first answer, which its experiments use).

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Each record's group, -1 for the leftovers.
    rank : int array, shape (n,)
        Each record's place in the order along which groups were grown.
    requirement : Requirement
        What every published group satisfies.
    settled : bool
        Whether the groups are made to satisfy it against the published table as well, by `settle`.
    """
    leftovers = int((labels < 0).sum())
    notes: list[str] = []
    if settled:
        labels, notes = settle(records, labels, rank, requirement)
    return Grouping(
        labels, notes=(*([f"{leftovers} records fit no group and are suppressed."] if leftovers else []), *notes)
    )


def settle(records: Summary, labels: IntArray, rank: IntArray, requirement: Requirement) -> tuple[IntArray, list[str]]:
    """Make the groups satisfy the requirement against the table that is published, not against the view.

    Groups are grown until they are just close enough to the view's distribution, so that leaving out a few records makes
    many of them fail by a hair. A failing group is merged with the nearest one, of the `NEAREST`, with which it satisfies;
    one that finds none is suppressed, and all are judged again, for the table is then another.

    Returns
    -------
    labels : int array, shape (n,)
    notes : list of str
    """
    merged = withdrawn = 0
    labels = _renumbered(labels)
    while (labels >= 0).any():
        published = Whole(records.whole.values, records.counts[labels >= 0].sum(axis=0))
        groups = summarize_groups(records, labels, published)
        if requirement(groups).all():
            break
        into, stuck = _partners(groups, _first_rank(labels, rank), requirement)
        merged += int((into != np.arange(len(groups))).sum())
        withdrawn += int(groups.size[stuck].sum())
        into[stuck] = -1
        labels = _renumbered(np.where(labels >= 0, into[labels], -1))
    notes = [f"{merged} groups were merged with a neighbour to satisfy against the published table."] if merged else []
    if withdrawn:
        notes.append(f"{withdrawn} records of groups that no merging saves are suppressed.")
    return labels, notes


def _partners(groups: Summary, position: IntArray, requirement: Requirement) -> tuple[IntArray, IntArray]:
    """The group that each group goes into, itself where it stays, and the groups that fail and find no partner."""
    into, stuck = np.arange(len(groups)), []
    for group in np.flatnonzero(~requirement(groups)):
        if into[group] != group or requirement(groups[int(group)])[0]:
            continue
        others = np.flatnonzero((into == np.arange(len(groups))) & (np.arange(len(groups)) != group))
        near = others[np.argsort(np.abs(position[others] - position[group]), kind="stable")[:NEAREST]]
        saved = requirement(groups[near] + groups[int(group)]) if len(near) else np.zeros(0, dtype=bool)
        if not saved.any():
            stuck.append(group)
            continue
        partner = int(near[saved.argmax()])
        groups = groups.replaced(partner, groups[partner] + groups[int(group)])
        into[into == group] = partner
    stuck = [group for group in stuck if into[group] == group and not requirement(groups[int(group)])[0]]
    return into, np.array(stuck, dtype=np.int64)


def _first_rank(labels: IntArray, rank: IntArray) -> IntArray:
    """Where each group starts along the order."""
    position = np.full(int(labels.max(initial=-1)) + 1, len(rank), dtype=np.int64)
    np.minimum.at(position, labels[labels >= 0], rank[labels >= 0])
    return position


def join_nearest(
    records: Summary, labels: IntArray, rank: IntArray, requirement: Requirement, distort: bool
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
    requirement : Requirement
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
    notes: list[str] = []
    if not (labels >= 0).any():
        return labels, values, notes
    groups = summarize_groups(records, labels)
    members = np.flatnonzero(labels >= 0)[np.argsort(rank[labels >= 0], kind="stable")]
    joined = distorted = 0
    for row in np.flatnonzero(labels < 0)[np.argsort(rank[labels < 0], kind="stable")]:
        own = int(values[row])
        nearest = _by_distance(labels, rank, members, int(row))
        group, value = _place(records[int(row)], groups, nearest, requirement, own, distort)
        if group < 0:
            continue
        labels[row], values[row] = group, value
        newcomer = _valued(records[int(row)], np.array([value]), groups.counts.shape[1])
        groups = groups.replaced(group, groups[group] + newcomer)
        joined, distorted = joined + 1, distorted + int(value != own)
    if joined:
        notes.append(
            f"{joined} leftover records joined a group, {distorted} of them with a counterfeit sensitive value."
        )
    return labels, values, notes


def relax(
    records: Summary,
    labels: IntArray,
    rank: IntArray,
    loosened: Callable[[int], Requirement],
    rounds: int,
    patience: int | None,
) -> tuple[IntArray, list[str]]:
    """Group the leftovers among themselves under requirements that are looser from round to round.

    ``loosened(i)`` is the requirement of round i, from 1 on. Records that even the last leaves over stay leftovers. Each
    round that makes groups makes one note.
    """
    labels, notes = labels.copy(), []
    for i in range(1, rounds + 1):
        left = np.flatnonzero(labels < 0)
        if len(left) < loosened(i).smallest:
            break
        groups = grow(records, left[np.argsort(rank[left], kind="stable")], loosened(i), patience).groups
        for members in groups:
            labels[members] = labels.max(initial=-1) + 1
        if groups:
            notes.append(
                f"{sum(map(len, groups))} leftover records, in {len(groups)} groups of their own, only satisfy {loosened(i)!r}."
            )
    return labels, notes


def _place(
    newcomer: Summary, groups: Summary, nearest: Iterator[IntArray], requirement: Requirement, own: int, distort: bool
) -> tuple[int, int]:
    """The nearest group that may take a record, and with which value; (-1, -1) if none may."""
    m = groups.counts.shape[1]
    candidates = np.arange(m) if distort else np.array([own])
    for some in nearest:
        if not len(some):
            continue
        pairs = np.repeat(some, len(candidates))
        merged = groups[pairs] + _valued(newcomer, np.tile(candidates, len(some)), m)
        holds = requirement(merged).reshape(len(some), len(candidates))
        if holds.any():
            which = int(holds.any(axis=1).argmax())
            possible = candidates[holds[which]]
            value = own if own in possible else int(possible[groups.counts[some[which], possible].argmax()])
            return int(some[which]), value
    return -1, -1


def _valued(newcomer: Summary, values: IntArray, m: int) -> Summary:
    """One record as it would be with each of some values: a batch."""
    repeat = np.zeros(len(values), dtype=np.int64)
    return replace(newcomer[repeat], counts=np.eye(m, dtype=np.int64)[values])


def _by_distance(labels: IntArray, rank: IntArray, members: IntArray, row: int) -> Iterator[IntArray]:
    """The groups, nearest first by their nearest member's place in the order, some at a time.

    ``members`` are the grouped records in that order.
    """
    place = int(np.searchsorted(rank[members], rank[row]))
    seen = np.zeros(0, dtype=np.int64)
    reach = 4 * NEAREST
    while True:
        window = members[max(place - reach, 0) : place + reach]
        nearness = np.argsort(np.abs(rank[window] - rank[row]), kind="stable")
        _, first = np.unique(labels[window][nearness], return_index=True)
        near = labels[window][nearness][np.sort(first)]
        yield near[~np.isin(near, seen)]
        if len(window) == len(members):
            return
        seen, reach = near, 8 * reach


def _renumbered(labels: IntArray) -> IntArray:
    kept = labels >= 0
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbers
