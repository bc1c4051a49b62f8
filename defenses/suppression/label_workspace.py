"""Items of a release by group, beliefs in labels, and the shortfall of a group from requirements on labels."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.quasi_sensitive import (
    NEGLIGIBLE_BELIEF,
    QSCloseness,
    QSDiversity,
    label_distance,
    largest_l,
)
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models import Items, Linking, Release
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.problem import group_rows
from foreknow.models.quasi_sensitive.links import Links, Words, add_record, links, total_prevalence


class LabelWorkspace(NamedTuple):
    """Mutable work arrays of a group of k records with s cells over e labels in w words.

    The first six arrays are read only, and may be shared by groups. `set_cell` writes the last five in place; each workspace
    owns them. It is a NamedTuple because compiled code takes no dataclass.
    """

    item_labels: Words  # (u, w): labels of each item of the vocabulary, as a bit set
    item: IntArray  # (s,): position in the vocabulary of each cell's item
    owner: IntArray  # (s,): record of each cell
    starts: IntArray  # (k + 1,): first cell of each record
    all_labels: Words  # (w,): set of all labels
    prevalence: FloatArray  # (e,)
    removed: BoolArray  # (s,): removed cells
    left: IntArray  # (k,): number of items that each record has left
    bits: Words  # (k, w): labels that each record links to, by the items left
    weight: FloatArray  # (k,): total prevalence of these labels
    belief: FloatArray  # (e + 1,): mean of the records' probabilities; the last entry is for no label


def label_workspace(
    item_labels: Words, item: IntArray, sizes: IntArray, all_labels: Words, prevalence: FloatArray
) -> LabelWorkspace:
    """Workspace of a group with nothing removed.

    ``item``, shape ``(s,)``, lists the items of one record after the other; ``sizes``, shape ``(k,)``, is the number of items
    of each record.
    """
    k = len(sizes)
    work = LabelWorkspace(
        item_labels,
        item,
        np.repeat(np.arange(k), sizes),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        all_labels,
        prevalence,
        np.zeros(len(item), dtype=np.bool_),
        sizes.astype(np.int64),
        np.empty((k, len(all_labels)), dtype=np.uint64),
        np.zeros(k),
        np.zeros(len(prevalence) + 1),
    )
    _link_group(work)
    return work


def fresh_workspace(work: LabelWorkspace) -> LabelWorkspace:
    """Separate workspace of the same group, with nothing removed."""
    return label_workspace(work.item_labels, work.item, np.diff(work.starts), work.all_labels, work.prevalence)


@dataclass(frozen=True, eq=False)
class GroupItems:
    """Items of a release, and the records of each group."""

    items: Items  # items of all n records of the view
    links: Links  # labels that these records link to
    item_labels: Words  # (u, w): labels of each item of the vocabulary, as a bit set
    members: tuple[IntArray, ...]  # records of each group

    @classmethod
    def from_release(cls, release: Release, linking: Linking) -> "GroupItems":
        """Items of a release. Cost: O(i e / 64) for i items and e labels."""
        items = linking.items_of(release.view)
        order, starts = group_rows(release.group, release.groups)
        own = tuple(np.split(order, starts)[1:-1])
        return cls(items, links(items, linking.knowledge), linking.knowledge.bits(items.vocabulary), own)

    def cells(self, group: int) -> IntArray:
        """Positions in ``items.codes`` of the items of a group, one record after the other: shape ``(s,)``."""
        sizes = self.items.sizes[self.members[group]]
        places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.items.starts[self.members[group]], sizes) + places

    def workspace(self, group: int) -> LabelWorkspace:
        """Workspace of a group with nothing removed."""
        item, sizes = self.items.codes[self.cells(group)], self.items.sizes[self.members[group]]
        knowledge = self.links.knowledge
        return label_workspace(self.item_labels, item, sizes, knowledge.all_labels, knowledge.weights)


@compiled
def _link_group(work: LabelWorkspace) -> None:
    """Link all records, and add their probabilities to the beliefs."""
    k = len(work.left)
    for i in range(k):
        _link_record(work, i)
        add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def _link_record(work: LabelWorkspace, i: int) -> None:
    """Write the labels of record i, by the items it has left, and their total prevalence."""
    bits = work.bits[i]
    bits[:] = work.all_labels
    for cell in range(work.starts[i], work.starts[i + 1]):
        if not work.removed[cell]:
            bits &= work.item_labels[work.item[cell]]
    work.weight[i] = total_prevalence(bits, work.prevalence)


@compiled
def set_cell(work: LabelWorkspace, cell: int, removed: bool) -> None:
    """Remove a cell or restore it, in place. Cost: O(w) for each item of the record, O(1) for each label it links to."""
    i, k = work.owner[cell], len(work.left)
    add_record(work.bits[i], work.weight[i], work.prevalence, -1.0 / k, work.belief)
    work.removed[cell] = removed
    work.left[i] += -1 if removed else 1
    _link_record(work, i)
    add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def set_removed(work: LabelWorkspace, removed: BoolArray) -> None:
    """Remove and restore cells, in place, until the removed cells are those of ``removed``, shape ``(s,)``."""
    for cell in np.flatnonzero(work.removed != removed):
        set_cell(work, int(cell), removed[cell])


type LabelRequirement = QSDiversity | QSCloseness  # a requirement that the search for items to remove can enforce

# Squared distance below which a distance is recomputed from all beliefs: rounding of a small square shows in its root
MIN_UPDATED_SQUARE = 1e-8


class LabelBounds(NamedTuple):
    """Settings of a conjunction of a QS (c, l)-diversities and b QS t-closenesses, as arrays for compiled code."""

    c: FloatArray  # (a,)
    l: IntArray  # noqa: E741 - (a,)
    as_printed: BoolArray  # (a,)
    t: FloatArray  # (b,)
    prior: FloatArray  # (b, e + 1): prior belief in each label and, last, in none


def label_bounds(parts: tuple[LabelRequirement, ...], links: Links) -> LabelBounds:
    """Bounds of several requirements.

    ``links`` covers all records of the view with all their items; the priors are computed from it.
    """
    diversities = [part for part in parts if isinstance(part, QSDiversity)]
    closenesses = [part for part in parts if isinstance(part, QSCloseness)]
    priors = [links.prior(part.prior) for part in closenesses]
    return LabelBounds(
        np.array([part.c for part in diversities], dtype=np.float64),
        np.array([part.l for part in diversities], dtype=np.int64),
        np.array([part.as_printed for part in diversities], dtype=np.bool_),
        np.array([part.t for part in closenesses], dtype=np.float64),
        np.array(priors, dtype=np.float64).reshape(len(closenesses), len(links.knowledge) + 1),
    )


@compiled
def shortfall(work: LabelWorkspace, bounds: LabelBounds) -> float:
    """Shortfall of a group: the sum of ``1 - l' / l`` and of ``d - t`` over the requirements it fails; 0 only if it satisfies all.

    ``l'`` is the largest l for which the group is (c, l)-diverse, and ``d`` the distance of its beliefs from the prior.
    Cost: O(e log e).
    """
    total = 0.0
    for a in range(len(bounds.c)):
        total += _diversity_shortfall(largest_l(work.belief, bounds.c[a], bounds.as_printed[a]), bounds.l[a])
    for b in range(len(bounds.t)):
        total += _closeness_shortfall(label_distance(work.belief, bounds.prior[b]), bounds.t[b])
    return total


@compiled
def shortfalls_after_removal(work: LabelWorkspace, bounds: LabelBounds, cells: IntArray, now: float) -> FloatArray:
    """`shortfall` of the group after the removal of each one of q cells: float array, shape ``(q,)``.

    The workspace does not change.

    ``now`` is the present shortfall. Cost: O(e), and for each cell O(w) for each item of its record and O(1) for each label
    with a belief above 0.
    """
    result = np.empty(len(cells))
    # Labels with a belief above 0, and for each label its position among them, or -1.
    believed, place = np.flatnonzero(work.belief > NEGLIGIBLE_BELIEF), np.full(len(work.belief), -1)
    place[believed] = np.arange(len(believed))
    # d^2 of the present beliefs, for each closeness.
    squares = np.zeros(len(bounds.t))
    for b in range(len(squares)):
        squares[b] = label_distance(work.belief, bounds.prior[b]) ** 2
    beliefs, labels = np.empty(len(work.belief)), np.empty(len(work.belief), dtype=np.int64)
    for q in range(len(cells)):
        number = _labels_without(work, cells[q], labels)
        if number == 0:
            # The record still links to no label: no belief changes.
            result[q] = now
            continue
        changes = _belief_changes(work, cells[q], labels[:number])
        if work.weight[work.owner[cells[q]]] <= 0.0:
            # The record linked to no label and now links to some: the belief in none falls too.
            labels[number] = len(work.prevalence)
            number += 1
        total = 0.0
        if len(bounds.c):
            size = _changed_beliefs(work.belief, believed, place, labels[:number], changes, beliefs)
            for a in range(len(bounds.c)):
                total += _diversity_shortfall(largest_l(beliefs[:size], bounds.c[a], bounds.as_printed[a]), bounds.l[a])
        for b in range(len(bounds.t)):
            distance = _changed_distance(squares[b], work.belief, bounds.prior[b], labels[:number], changes)
            total += _closeness_shortfall(distance, bounds.t[b])
        result[q] = total
    return result


@compiled
def _labels_without(work: LabelWorkspace, cell: int, labels: IntArray) -> int:
    """Write the labels that the cell's record links to without the cell; return their number."""
    i, number = work.owner[cell], 0
    remaining = work.all_labels.copy()
    for other in range(work.starts[i], work.starts[i + 1]):
        if other != cell and not work.removed[other]:
            remaining &= work.item_labels[work.item[other]]
    for word in range(len(remaining)):
        left = remaining[word]
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            labels[number] = 64 * word + int(np.log2(float(lowest)))  # exact: a power of 2
            number += 1
            left ^= lowest
    return number


@compiled
def _belief_changes(work: LabelWorkspace, cell: int, labels: IntArray) -> FloatArray:
    """Change of the belief in each of q labels, and last in none, if the record links to exactly these: shape ``(q + 1,)``."""
    i, k = work.owner[cell], len(work.left)
    before, after = work.weight[i], work.prevalence[labels].sum()
    changes = np.empty(len(labels) + 1)
    for which in range(len(labels)):
        label = labels[which]
        had = work.bits[i, label // 64] >> np.uint64(label % 64) & np.uint64(1)
        difference = 1.0 / after - (1.0 / before if had else 0.0)
        changes[which] = work.prevalence[label] * difference / k
    changes[-1] = -1.0 / k
    return changes


@compiled
def _changed_beliefs(
    belief: FloatArray, believed: IntArray, place: IntArray, labels: IntArray, changes: FloatArray, result: FloatArray
) -> int:
    """Write the beliefs above 0 after the changes, in no order, into ``result``; return their number."""
    size = len(believed)
    result[:size] = belief[believed]
    for which in range(len(labels)):
        label = labels[which]
        if place[label] >= 0:
            result[place[label]] += changes[which]
        else:
            result[size] = changes[which]
            size += 1
    return size


@compiled
def _changed_distance(
    square: float, belief: FloatArray, prior: FloatArray, labels: IntArray, changes: FloatArray
) -> float:
    """Distance from the prior after the changes, from its square before them. Cost: O(q), or O(e) where it is small."""
    for which in range(len(labels)):
        difference = belief[labels[which]] - prior[labels[which]]
        square += changes[which] * (2.0 * difference + changes[which])
    if square > MIN_UPDATED_SQUARE:
        return math.sqrt(square)
    row = belief.copy()
    for which in range(len(labels)):
        row[labels[which]] += changes[which]
    return label_distance(row, prior)


@compiled
def _diversity_shortfall(reached: int, wanted: int) -> float:
    """``1 - l' / l``, or 0 if l is reached."""
    return 0.0 if reached >= wanted else 1.0 - reached / wanted


@compiled
def _closeness_shortfall(distance: float, t: float) -> float:
    """``d - t``, or 0 if the distance is at most t."""
    return 0.0 if distance <= t + LEVEL_TOLERANCE else distance - t
