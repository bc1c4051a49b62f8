"""Refinement: each record moves to the nearest group that may take it, until none moves (UHRA, section 4.2)."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.clusters.nearest_group import (
    Groups,
    Limits,
    change,
    fits,
    gather,
    join_all,
    nearer_groups,
    nearest_group,
    squared,
)
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import FloatArray, IntArray, compiled

MARGIN = 1e-12
"""By how much, squared, a group must be nearer than a record's own: more than rounding can make of no difference."""

SOME = 8
"""How many groups are asked at first whether they may take a record, then twice as many, and so on."""


class Rule(NamedTuple):
    """What every group must keep.

    Attributes
    ----------
    limits : Limits
        As much of it as compiled code checks.
    rest : GroupPredicate, optional
        What all groups are asked besides, record by record, where limits do not say everything.
    """

    limits: Limits
    rest: GroupPredicate | None = None


class Refined(NamedTuple):
    """Groups in which no record wants to move, or at which the sweeps stopped.

    Attributes
    ----------
    labels : int array, shape (n,)
        Each record's group.
    sweeps : int
        How many times all records were visited.
    settled : bool
        Whether nobody moved in the last of them.
    """

    labels: IntArray
    sweeps: int
    settled: bool


def refine(records: Summary, points: FloatArray, labels: IntArray, rule: Rule, sweeps: int) -> Refined:
    """Visit the records in turn; each moves to the nearest group that may take it, if its own may do without it.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    points : float array, shape (n, D)
        Where records lie, by `foreknow.models.tables.distance.points`.
    labels : int array, shape (n,)
        Each record's group, 0 to g - 1, -1 for those in none, who stay there.
    rule : Rule
        What both groups must keep after a move.
    sweeps : int
        The most times that all records are visited.

    Notes
    -----
    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 2, step 2, and equation 1: a group that a record would break lies
    infinitely far from it, and its own lies at 0 if it would break without it. The nearest group is the exact one. The
    paper does not say when centroids are computed; by its printed rule records may go back and forth for ever. Here
    centroids follow each move, and a record only moves to a group nearer than its own by `MARGIN`, squared.

    That ends. Let c be the centroid of the own group A of a records, c' that of the other group B of b, both before the
    move of x. The sum of the squared distances of all records to their centroids falls by ``a / (a - 1) |x - c|^2`` as
    x leaves A and rises by ``b / (b + 1) |x - c'|^2`` as it joins B, so that it falls by more than ``|x - c|^2 - |x -
    c'|^2``, which is more than the margin. It is never below 0, so there are finitely many moves.

    Cost of a sweep: O(n (sqrt(g) + m) D) where groups lie apart, O(n g D) at most; with a ``rest``, a call of it for each
    record that has a nearer group, unless it was refused before and nothing has changed since.
    """
    labels = labels.copy()
    values = records.counts.argmax(axis=1)
    changed, asked = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64), np.full(len(labels), -1)
    for sweep in range(1, sweeps + 1 if len(changed) else 1):
        groups = gather(points, values, labels, records.counts.shape[1])
        if rule.rest is None:
            moved = _sweep(groups, points, values, labels, rule.limits)
        else:
            moved = _sweep_asking(records, groups, points, values, labels, rule.limits, rule.rest, changed, asked)
        if not moved:
            return Refined(labels, sweep, True)
    return Refined(labels, sweeps, not len(changed))


def place(records: Summary, points: FloatArray, labels: IntArray, rows: IntArray, rule: Rule) -> IntArray:
    """The labels once some records, one by one, have joined the nearest group that may take them, if there is one."""
    labels = labels.copy()
    if not (labels >= 0).any() or not len(rows):
        return labels
    values = records.counts.argmax(axis=1)
    groups = gather(points, values, labels, records.counts.shape[1])
    if rule.rest is None:
        join_all(groups, points, values, labels, rows, rule.limits)
        return labels
    members = _members(labels)
    for row in rows:
        candidates = nearer_groups(groups, points[row], values[row], rule.limits)
        for some in _some_at_a_time(candidates):
            good = rule.rest(_with(records, members, int(row), some))
            if good.any():
                labels[row] = some[good.argmax()]
                members[labels[row]].append(int(row))
                change(groups, labels[row], points[row], values[row], 1)
                break
    return labels


@compiled
def _sweep(groups: Groups, points: FloatArray, values: IntArray, labels: IntArray, limits: Limits) -> int:
    """How many records moved; groups and labels are changed in place."""
    moved = 0
    for row in range(len(labels)):
        own, point, value = labels[row], points[row], values[row]
        if own < 0 or not fits(groups, own, value, -1, limits):
            continue
        within = squared(point, groups.centroids[own], np.inf) - MARGIN
        group = nearest_group(groups, point, value, limits, own, within)
        if group >= 0:
            change(groups, own, point, value, -1)
            change(groups, group, point, value, 1)
            labels[row] = group
            moved += 1
    return moved


def _sweep_asking(
    records: Summary,
    groups: Groups,
    points: FloatArray,
    values: IntArray,
    labels: IntArray,
    limits: Limits,
    rest: GroupPredicate,
    changed: IntArray,
    asked: IntArray,
) -> int:
    """The same where groups keep more than limits.

    ``changed`` and ``asked`` count moves: when a group last changed, and up to when a record was last refused; both are
    kept from sweep to sweep.
    """
    members, moved, row = _members(labels), 0, _next(groups, points, values, labels, limits, 0)
    while row < len(labels):
        own = int(labels[row])
        within = squared(points[row], groups.centroids[own], np.inf) - MARGIN
        candidates = nearer_groups(groups, points[row], values[row], limits, own, within)
        candidates = candidates[np.maximum(changed[candidates], changed[own]) > asked[row]]
        group = _first_to_take(records, members, own, row, candidates, rest)
        asked[row] = changed.max()
        if group >= 0:
            change(groups, own, points[row], values[row], -1)
            change(groups, group, points[row], values[row], 1)
            members[own].remove(row)
            members[group].append(row)
            labels[row] = group
            changed[[own, group]] = changed.max() + 1
            moved += 1
        row = _next(groups, points, values, labels, limits, row + 1)
    return moved


@compiled
def _next(groups: Groups, points: FloatArray, values: IntArray, labels: IntArray, limits: Limits, start: int) -> int:
    """The first record, from one on, that limits allow to move, n if there is none."""
    for row in range(start, len(labels)):
        own, point, value = labels[row], points[row], values[row]
        if own >= 0 and fits(groups, own, value, -1, limits):
            within = squared(point, groups.centroids[own], np.inf) - MARGIN
            if nearest_group(groups, point, value, limits, own, within) >= 0:
                return row
    return len(labels)


def _first_to_take(
    records: Summary, members: list[list[int]], own: int, row: int, candidates: IntArray, rest: GroupPredicate
) -> int:
    """The first of some groups that may take a record from its own; -1 if none may, or its own needs it."""
    if not len(candidates):
        return -1
    others = [other for other in members[own] if other != row]
    if not rest(summarize_groups(records[np.array(others)], np.zeros(len(others), dtype=np.int64)))[0]:
        return -1
    for some in _some_at_a_time(candidates):
        good = rest(_with(records, members, row, some))
        if good.any():
            return int(some[good.argmax()])
    return -1


def _some_at_a_time(candidates: IntArray) -> list[IntArray]:
    ends = SOME * (2 ** np.arange(1, 40) - 1)
    return np.split(candidates, ends[ends < len(candidates)]) if len(candidates) else []


def _members(labels: IntArray) -> list[list[int]]:
    """The records of each group."""
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]


def _with(records: Summary, members: list[list[int]], row: int, candidates: IntArray) -> Summary:
    """Some groups as they are with a record more."""
    rows = [[*members[group], row] for group in candidates]
    labels = np.repeat(np.arange(len(rows)), [len(group) for group in rows])
    return summarize_groups(records[np.concatenate(rows)], labels)
