"""Refinement of groups: each record moves to the nearest group that may take it, until none moves (UHRA, section 4.2)."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.clusters.accepting_group import (
    MemberLists,
    first_accepting_group,
    is_dispensable,
    members_by_group,
)
from foreknow.defenses.clusters.group_index import (
    GroupLimits,
    Partition,
    keeps_limits,
    move_record,
    partition_of,
    squared_distance_within,
)
from foreknow.defenses.clusters.nearest_group import join_nearest, nearer_groups, nearest_group
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray, IntArray, compiled

MIN_DECREASE = 1e-12
"""Least decrease of a record's squared distance to its centroid for which it moves; it exceeds rounding errors."""


class GroupRule(NamedTuple):
    """Conditions that every group keeps.

    Attributes
    ----------
    limits : GroupLimits
        The conditions that compiled kernels check.
    predicate : GroupPredicate, optional
        A requirement that is evaluated in addition, record by record, if the limits do not express everything.
    """

    limits: GroupLimits
    predicate: GroupPredicate | None = None


class Refined(NamedTuple):
    """Result of the refinement.

    Attributes
    ----------
    labels : int array, shape (n,)
        Group of each record.
    sweeps : int
        Number of sweeps over all records.
    converged : bool
        True if no record moved in the last sweep.
    """

    labels: IntArray
    sweeps: int
    converged: bool


class _Clock(NamedTuple):
    """Times of events, as numbers of moves; kept from sweep to sweep.

    A record that was refused by a group is not tried again before that group or its own has changed.

    Attributes
    ----------
    group_changed : int array, shape (g,)
        Time of the last change of each group.
    record_tried : int array, shape (n,)
        Time of the last search for each record; -1 before the first.
    """

    group_changed: IntArray
    record_tried: IntArray


def refine(records: Summary, points: FloatArray, labels: IntArray, rule: GroupRule, sweeps: int) -> Refined:
    """Move each record to the nearest group, if both groups keep the rule, in sweeps over all records.

    Parameters
    ----------
    records : Summary
        Each record as a group of its own.
    points : float array, shape (n, D)
        Coordinates of the records, by `foreknow.models.tables.distance.points`.
    labels : int array, shape (n,)
        Group of each record, 0 to g - 1; records with label -1 stay in none.
    rule : GroupRule
        Conditions on both groups after a move.
    sweeps : int
        Largest number of sweeps.

    Notes
    -----
    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 2, step 2, and equation 1: a group that a record would break is at infinite
    distance from it, and its own group is at distance 0 if it would break without it. The search for the nearest group is
    exact. The paper does not say when centroids are computed, and under its printed rule records may alternate for ever. Here
    centroids follow each move, and a record moves only if its squared distance to the centroid decreases by more than
    `MIN_DECREASE`.

    The sweeps end. Let c be the centroid of the own group A, of a records, and c' that of the other group B, of b records, both
    before the move of x. The sum of the squared distances of all records to their centroids falls by ``a / (a - 1) |x - c|^2`` as
    x leaves A, and rises by ``b / (b + 1) |x - c'|^2`` as it joins B. It falls by more than ``|x - c|^2 - |x - c'|^2``, which
    is more than the margin. The sum is never negative, so that the number of moves is finite.

    Cost of a sweep: O(n (sqrt(g) + m) D) where groups are apart, O(n g D) at most. A predicate is called for each record that has
    a nearer group, unless it was refused before and neither group has changed since.
    """
    labels = labels.copy()
    if not (labels >= 0).any():
        return Refined(labels, sweeps, True)
    values = records.counts.argmax(axis=1)
    clock = _Clock(np.zeros(int(labels.max()) + 1, dtype=np.int64), np.full(len(labels), -1))
    for sweep in range(1, sweeps + 1):
        # The index is made anew: its boxes only grow, and its sums collect rounding errors.
        partition = partition_of(points, values, labels, records.counts.shape[1])
        if rule.predicate is None:
            moved = _sweep(partition, rule.limits)
        else:
            moved = _sweep_with_predicate(records, partition, rule.limits, rule.predicate, clock)
        if not moved:
            return Refined(labels, sweep, True)
    return Refined(labels, sweeps, False)


def place_leftovers(
    records: Summary, points: FloatArray, labels: IntArray, rows: IntArray, rule: GroupRule
) -> IntArray:
    """Labels after some records, one by one, have joined the nearest group that keeps the rule with them, if there is one."""
    labels = labels.copy()
    if not (labels >= 0).any() or not len(rows):
        return labels
    partition = partition_of(points, records.counts.argmax(axis=1), labels, records.counts.shape[1])
    if rule.predicate is None:
        join_nearest(partition, rows, rule.limits)
        return labels
    members = members_by_group(labels)
    for row in rows:
        candidates = nearer_groups(partition.groups, points[row], partition.values[row], rule.limits)
        group = first_accepting_group(records, members, int(row), candidates, rule.predicate)
        if group >= 0:
            members[group].append(int(row))
            move_record(partition, row, group)
    return labels


@compiled
def _sweep(partition: Partition, limits: GroupLimits) -> int:
    """Number of records that moved in one sweep; the partition is changed in place."""
    moved = 0
    for row in range(len(partition.labels)):
        group = _nearer_group(partition, row, limits)
        if group >= 0:
            move_record(partition, row, group)
            moved += 1
    return moved


@compiled
def _nearer_group(partition: Partition, row: int, limits: GroupLimits) -> int:
    """The nearest group to which the limits allow a record to move, or -1."""
    own, point, value = partition.labels[row], partition.points[row], partition.values[row]
    if own < 0 or not keeps_limits(partition.groups, own, value, -1, limits):
        return -1
    return int(nearest_group(partition.groups, point, value, limits, own, _search_limit(partition, row)))


@compiled
def _search_limit(partition: Partition, row: int) -> float:
    """Squared distance to its own centroid, less the margin, below which a group is nearer to a record than its own."""
    own = partition.labels[row]
    return squared_distance_within(partition.points[row], partition.groups.centroids[own], np.inf) - MIN_DECREASE


@compiled
def _first_movable(partition: Partition, limits: GroupLimits, start: int) -> int:
    """The first record, from one on, that the limits allow to move; n if there is none."""
    for row in range(start, len(partition.labels)):
        if _nearer_group(partition, row, limits) >= 0:
            return row
    return len(partition.labels)


def _sweep_with_predicate(
    records: Summary, partition: Partition, limits: GroupLimits, predicate: GroupPredicate, clock: _Clock
) -> int:
    """Number of records that moved in one sweep, where both groups also satisfy a predicate."""
    members, moved, row = members_by_group(partition.labels), 0, _first_movable(partition, limits, 0)
    while row < len(partition.labels):
        own = int(partition.labels[row])
        group = _accepting_group(records, partition, limits, predicate, clock, members, row)
        clock.record_tried[row] = clock.group_changed.max()
        if group >= 0:
            move_record(partition, row, group)
            members[own].remove(row)
            members[group].append(row)
            clock.group_changed[[own, group]] = clock.group_changed.max() + 1
            moved += 1
        row = _first_movable(partition, limits, row + 1)
    return moved


def _accepting_group(
    records: Summary,
    partition: Partition,
    limits: GroupLimits,
    predicate: GroupPredicate,
    clock: _Clock,
    members: MemberLists,
    row: int,
) -> int:
    """The nearest group that may take a record from its own, or -1."""
    own, point, value = int(partition.labels[row]), partition.points[row], partition.values[row]
    candidates = nearer_groups(partition.groups, point, value, limits, own, _search_limit(partition, row))
    changed = np.maximum(clock.group_changed[candidates], clock.group_changed[own])
    candidates = candidates[changed > clock.record_tried[row]]
    if not len(candidates) or not is_dispensable(records, members[own], row, predicate):
        return -1
    return first_accepting_group(records, members, row, candidates, predicate)
