"""What becomes of records that fit no group: JS-reduce, section 6.3, names three answers."""

from typing import Any

import numpy as np

from foreknow.defenses.growth import grow
from foreknow.defenses.requirement import Requirement
from foreknow.defenses.summary import Summary, Whole, summarize_groups
from foreknow.models import Grouping
from foreknow.models.arrays import IntArray


def suppress(records: Summary, labels: IntArray, requirement: Requirement) -> Grouping:
    """Leave the leftovers out (the paper's first answer, which its experiments use).

    Without them the published table is another than the view, so groups that no longer satisfy the requirement against
    it are left out too, until all that is published does.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    labels : int array, shape (n,)
        Each record's group, -1 for the leftovers.
    requirement : Requirement
        What every published group satisfies.
    """
    leftovers = int((labels < 0).sum())
    labels, withdrawn = withdraw_failing(records, labels, requirement)
    notes = [f"{leftovers} records fit no group and are suppressed."] if leftovers else []
    if withdrawn:
        notes.append(f"{withdrawn} records are suppressed with groups that fail against the table without the others.")
    return Grouping(labels, notes=tuple(notes))


def withdraw_failing(records: Summary, labels: IntArray, requirement: Requirement) -> tuple[IntArray, int]:
    """Labels without the groups that fail against the published table, and how many records went with them."""
    before = int((labels >= 0).sum())
    while (labels >= 0).any():
        labels = _renumbered(labels)
        published = Whole(records.whole.values, records.counts[labels >= 0].sum(axis=0))
        failing = ~requirement(summarize_groups(records, labels, published))
        if not failing.any():
            break
        labels = np.where((labels >= 0) & failing[labels], -1, labels)
    return labels, before - int((labels >= 0).sum())


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
    joined = distorted = 0
    for row in np.flatnonzero(labels < 0)[np.argsort(rank[labels < 0], kind="stable")]:
        own = int(values[row])
        group, value = _place(
            records[int(row)], groups, _by_distance(labels, rank, int(row)), requirement, own, distort
        )
        if group < 0:
            continue
        labels[row], values[row] = group, value
        groups = _with_record(groups, group, records[int(row)], value)
        joined, distorted = joined + 1, distorted + int(value != own)
    if joined:
        notes.append(
            f"{joined} leftover records joined a group, {distorted} of them with a counterfeit sensitive value."
        )
    return labels, values, notes


def relax(records: Summary, labels: IntArray, rank: IntArray, loosened: Any, rounds: int) -> tuple[IntArray, list[str]]:
    """Group the leftovers among themselves under requirements that are looser from round to round.

    ``loosened(i)`` is the requirement of round i, from 1 on. Records that even the last leaves over stay leftovers.
    """
    labels, notes = labels.copy(), []
    for i in range(1, rounds + 1):
        left = np.flatnonzero(labels < 0)
        if len(left) < loosened(i).smallest:
            break
        for members in grow(records, left[np.argsort(rank[left], kind="stable")], loosened(i)).groups:
            labels[members] = labels.max(initial=-1) + 1
            notes.append(
                f"group {labels[members[0]]}, of {len(members)} leftover records, only satisfies {loosened(i)!r}."
            )
    return labels, notes


def _place(
    newcomer: Summary, groups: Summary, nearest: IntArray, requirement: Requirement, own: int, distort: bool
) -> tuple[int, int]:
    """The nearest group that may take a record, and with which value; (-1, -1) if none may."""
    m = groups.counts.shape[1]
    candidates = np.arange(m) if distort else np.array([own])
    for some in np.array_split(nearest, max(1, len(nearest) // 32)):
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
    return Summary(
        newcomer.size[repeat], np.eye(m, dtype=np.int64)[values], newcomer.prior[repeat], newcomer.entropy[repeat],
        newcomer.whole,
    )  # fmt: skip


def _with_record(groups: Summary, group: int, newcomer: Summary, value: int) -> Summary:
    m = groups.counts.shape[1]
    merged = groups[group] + _valued(newcomer, np.array([value]), m)
    size, counts, prior, entropy = groups.size.copy(), groups.counts.copy(), groups.prior.copy(), groups.entropy.copy()
    size[group], counts[group] = merged.size[0], merged.counts[0]
    prior[group], entropy[group] = merged.prior[0], merged.entropy[0]
    return Summary(size, counts, prior, entropy, groups.whole)


def _by_distance(labels: IntArray, rank: IntArray, row: int) -> IntArray:
    """The groups, nearest first by their nearest member's place in the order."""
    inside = np.flatnonzero(labels >= 0)
    nearness = np.argsort(np.abs(rank[inside] - rank[row]), kind="stable")
    _, first = np.unique(labels[inside][nearness], return_index=True)
    return np.asarray(labels[inside][nearness][np.sort(first)])


def _renumbered(labels: IntArray) -> IntArray:
    kept = labels >= 0
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbers
