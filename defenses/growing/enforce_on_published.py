"""Enforcement of a requirement on the published table, by merging or suppressing groups."""

import numpy as np

from foreknow.defenses.growing.leftovers import with_group_replaced
from foreknow.defenses.growing.running_sums import RunningSums
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, TableCounts, summarize_groups
from foreknow.models.arrays import BoolArray, IntArray, compiled
from foreknow.models.notes import Note

MAX_PARTNERS = 32
"""Largest number of nearest groups that are tried as partners of a failing group."""

MERGED = (
    "{groups:,} {groups:group was|groups were} merged with a neighbour, so that {groups:it satisfies|they satisfy} the "
    "requirement against the distribution of the published table."
)
NOT_SAVED = "{records:,} {records:record|records} of groups that no merging saves {records:is|are} suppressed."


def enforce_on_published(
    records: Summary, labels: IntArray, rank: IntArray, requirement: GroupPredicate, several: bool = False
) -> tuple[IntArray, list[Note]]:
    """Merge or suppress groups until all satisfy the requirement against the table that is published.

    Groups are grown until they satisfy against the distribution of the view, with little to spare. Leaving out a few records
    changes that distribution, and many groups then fail. A failing group is merged with the nearest of `MAX_PARTNERS` groups
    with which it satisfies. A group without such a partner is suppressed. All groups are then evaluated again, because the
    published table has changed. Requirements that protect rare values fail again as long as a record with one of these values
    is published; for such requirements, merging with several groups is better.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Group of each record; -1 for suppressed records.
    rank : int array, shape (n,)
        Position of each record in the order along which groups were grown. The position of a group is that of its first
        member.
    requirement : GroupPredicate
        The requirement of every published group.
    several : bool
        If True, a failing group without a single partner is merged with the smallest number of nearest groups that together
        satisfy.

    Returns
    -------
    labels : int array, shape (n,)
    notes : list of Note

    Notes
    -----
    Cost: O(n m) per round, and O(m) for each failing group and each partner that is tried.
    """
    merged = suppressed = 0
    labels = _renumbered(labels)
    while (labels >= 0).any():
        suppressed_counts = records.counts[labels < 0].sum(axis=0)
        published = TableCounts(records.table.values, records.table.counts - suppressed_counts)
        groups = summarize_groups(records, labels, published)
        if requirement(groups).all():
            break
        target, failing = _merge_targets(groups, _first_rank(labels, rank), requirement, several)
        merged += int((target != np.arange(len(groups))).sum())
        suppressed += int(groups.size[failing].sum())
        target[failing] = -1
        labels = _renumbered(np.where(labels >= 0, target[labels], -1))
    notes = [Note(MERGED, groups=merged)] if merged else []
    return labels, notes + ([Note(NOT_SAVED, records=suppressed)] if suppressed else [])


def _merge_targets(
    groups: Summary, position: IntArray, requirement: GroupPredicate, several: bool
) -> tuple[IntArray, IntArray]:
    """Group into which each group is merged, itself where it stays, and the failing groups without a partner."""
    target, failing = np.arange(len(groups)), np.flatnonzero(~requirement(groups))
    order = np.argsort(position, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    merged, enlarged = np.zeros(len(groups), dtype=bool), np.zeros(len(groups), dtype=bool)
    for group in failing.tolist():
        if merged[group] or enlarged[group]:  # A group that others have joined satisfies by now.
            continue
        near = _nearest_groups(order, position, merged, place[group], MAX_PARTNERS)
        partner, *others = _partners(groups, group, near, requirement, several) or [group]
        for other in (group, *others) if partner != group else ():
            groups = with_group_replaced(groups, partner, groups[partner] + groups[other])
            target[other], merged[other], enlarged[partner] = partner, True, True
    while (target != target[target]).any():
        target = target[target]
    return target, failing[~merged[failing] & ~enlarged[failing]]


def _partners(groups: Summary, group: int, near: IntArray, requirement: GroupPredicate, several: bool) -> list[int]:
    """Nearest groups with which a failing one satisfies: one, else the first few if ``several``, else none."""
    if not len(near):
        return []
    satisfied = requirement(groups[near] + groups[group])
    if satisfied.any() or not several:
        return [int(near[satisfied.argmax()])] if satisfied.any() else []
    unions = RunningSums.along(groups, near).between(np.zeros_like(near), np.arange(len(near)) + 1)
    satisfied = requirement(unions + groups[group])
    return [int(other) for other in near[: satisfied.argmax() + 1]] if satisfied.any() else []


@compiled
def _nearest_groups(order: IntArray, position: IntArray, merged: BoolArray, place: int, most: int) -> IntArray:
    """At most ``most`` groups nearest to the one at a place of the order; merged ones are skipped, ties go to the lower.

    Two pointers move away from the place, below and above; the nearer of their groups is taken next.
    """
    nearest, size, here = np.empty(most, dtype=np.int64), 0, position[order[place]]
    below, above = place - 1, place + 1
    while size < most:
        while below >= 0 and merged[order[below]]:
            below -= 1
        while above < len(order) and merged[order[above]]:
            above += 1
        if below < 0 and above == len(order):
            break
        to_below = here - position[order[below]] if below >= 0 else np.inf
        to_above = position[order[above]] - here if above < len(order) else np.inf
        if to_below < to_above or (to_below == to_above and order[below] < order[above]):
            nearest[size] = order[below]
            below -= 1
        else:
            nearest[size] = order[above]
            above += 1
        size += 1
    return nearest[:size]


def _first_rank(labels: IntArray, rank: IntArray) -> IntArray:
    """Smallest rank of the members of each group."""
    position = np.full(int(labels.max(initial=-1)) + 1, len(rank), dtype=np.int64)
    np.minimum.at(position, labels[labels >= 0], rank[labels >= 0])
    return position


def _renumbered(labels: IntArray) -> IntArray:
    """Labels with the groups numbered from 0 without gaps."""
    kept = labels >= 0
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbers
