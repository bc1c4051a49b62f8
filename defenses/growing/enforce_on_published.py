"""Making the groups satisfy a requirement against the table that is published."""

import numpy as np

from foreknow.defenses.growing.growth import Running
from foreknow.defenses.growing.leftovers import overwritten
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, TableCounts, summarize_groups
from foreknow.models.arrays import BoolArray, IntArray, compiled

NEAREST = 32
"""How many of the nearest groups are asked whether a failing one may join them."""


def enforce_on_published(
    records: Summary, labels: IntArray, rank: IntArray, requirement: GroupPredicate, several: bool = False
) -> tuple[IntArray, list[str]]:
    """Make the groups satisfy the requirement against the table that is published, not against the view.

    Groups are grown until they are just close enough to the view's distribution, so that leaving out a few records makes
    many of them fail by a hair. A failing group is merged with the nearest one, of the `NEAREST`, with which it satisfies;
    one that finds none is suppressed, and all are judged again, for the table is then another. Requirements that guard
    rare values fail then again, as long as any of these is left; under them a group is better merged with several.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Each record's group, -1 for those left out.
    rank : int array, shape (n,)
        Each record's place in the order along which groups were grown; a group stands where its first member does.
    requirement : GroupPredicate
        What every published group satisfies.
    several : bool
        Whether a group that no single one saves is merged with the fewest nearest ones that do together.

    Returns
    -------
    labels : int array, shape (n,)
    notes : list of str

    Notes
    -----
    Cost: O(n m) per round, and O(m) for each failing group and each one it asks.
    """
    merged = withdrawn = 0
    labels = _renumbered(labels)
    while (labels >= 0).any():
        published = TableCounts(records.table.values, records.counts[labels >= 0].sum(axis=0))
        groups = summarize_groups(records, labels, published)
        if requirement(groups).all():
            break
        into, stuck = _partners(groups, _first_rank(labels, rank), requirement, several)
        merged += int((into != np.arange(len(groups))).sum())
        withdrawn += int(groups.size[stuck].sum())
        into[stuck] = -1
        labels = _renumbered(np.where(labels >= 0, into[labels], -1))
    notes = [f"{merged} groups were merged with a neighbour to satisfy against the published table."] if merged else []
    if withdrawn:
        notes.append(f"{withdrawn} records of groups that no merging saves are suppressed.")
    return labels, notes


def _partners(
    groups: Summary, position: IntArray, requirement: GroupPredicate, several: bool
) -> tuple[IntArray, IntArray]:
    """The group that each group goes into, itself where it stays, and the groups that fail and find no partner."""
    into, failing = np.arange(len(groups)), np.flatnonzero(~requirement(groups))
    order = np.argsort(position, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    gone, grown = np.zeros(len(groups), dtype=bool), np.zeros(len(groups), dtype=bool)
    for group in failing.tolist():
        if gone[group] or grown[group]:  # a group that others joined satisfies by now
            continue
        near = _nearest(order, position, gone, place[group], NEAREST)
        partner, *others = _saving(groups, group, near, requirement, several) or [group]
        for other in (group, *others) if partner != group else ():
            groups = overwritten(groups, partner, groups[partner] + groups[other])
            into[other], gone[other], grown[partner] = partner, True, True
    while (into != into[into]).any():
        into = into[into]
    return into, failing[~gone[failing] & ~grown[failing]]


def _saving(groups: Summary, group: int, near: IntArray, requirement: GroupPredicate, several: bool) -> list[int]:
    """Those of the nearest groups that a failing one is merged with: one, or if need be the first few; none if that fails."""
    if not len(near):
        return []
    saved = requirement(groups[near] + groups[group])
    if saved.any() or not several:
        return [int(near[saved.argmax()])] if saved.any() else []
    firsts = Running.along(groups, near).between(np.zeros_like(near), np.arange(len(near)) + 1)
    saved = requirement(firsts + groups[group])
    return [int(other) for other in near[: saved.argmax() + 1]] if saved.any() else []


@compiled
def _nearest(order: IntArray, position: IntArray, gone: BoolArray, at: int, most: int) -> IntArray:
    """The groups nearest to one of an order, without those that are gone; of two as near, the lower first."""
    found, size, here = np.empty(most, dtype=np.int64), 0, position[order[at]]
    below, above = at - 1, at + 1
    while size < most:
        while below >= 0 and gone[order[below]]:
            below -= 1
        while above < len(order) and gone[order[above]]:
            above += 1
        if below < 0 and above == len(order):
            break
        to_below = here - position[order[below]] if below >= 0 else np.inf
        to_above = position[order[above]] - here if above < len(order) else np.inf
        if to_below < to_above or (to_below == to_above and order[below] < order[above]):
            found[size] = order[below]
            below -= 1
        else:
            found[size] = order[above]
            above += 1
        size += 1
    return found[:size]


def _first_rank(labels: IntArray, rank: IntArray) -> IntArray:
    """Where each group starts along the order."""
    position = np.full(int(labels.max(initial=-1)) + 1, len(rank), dtype=np.int64)
    np.minimum.at(position, labels[labels >= 0], rank[labels >= 0])
    return position


def _renumbered(labels: IntArray) -> IntArray:
    kept = labels >= 0
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbers
