"""How far a group is from what is asked of its labels, as it is and with one more item left out."""

import math

import numpy as np

from foreknow.defenses.requirements.label_levels import NEGLIGIBLE, label_distance, largest_l
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_state import LabelState
from foreknow.models.arrays import FloatArray, IntArray, compiled

SMALL = 1e-8
"""A square of a distance so small that its rounding would show in the distance."""


@compiled
def shortfall(state: LabelState, claims: Claims) -> float:
    """How far a group is from what is asked of it, 0 only where it satisfies: of each claim it fails, ``1 - l' / l`` or ``d - t``.

    Here l' is the largest l of which it is (c, l)-diverse, and d the distance of the beliefs from the prior. Cost: O(e log e).
    """
    missing = 0.0
    for a in range(len(claims.c)):
        missing += _too_narrow(largest_l(state.belief, claims.c[a], claims.as_printed[a]), claims.l[a])
    for b in range(len(claims.t)):
        missing += _too_far(label_distance(state.belief, claims.prior[b]), claims.t[b])
    return missing


@compiled
def shortfalls(state: LabelState, claims: Claims, cells: IntArray, now: float) -> FloatArray:
    """What `shortfall` would be, were one more cell removed: for each of some cells, shape ``(q,)``; the state stays as it is.

    ``now`` is its shortfall. Cost: O(e), and for each cell O(w) for each item of its record and O(1) for each label that is
    believed in.
    """
    found = np.empty(len(cells))
    believed, place = _believed_labels(state.belief)
    squares = np.zeros(len(claims.t))
    for b in range(len(squares)):
        squares[b] = label_distance(state.belief, claims.prior[b]) ** 2
    row, labels = np.empty(len(state.belief)), np.empty(len(state.belief), dtype=np.int64)
    for q in range(len(cells)):
        known = _labels_without(state, cells[q], labels)
        if known == 0:
            found[q] = now
            continue
        moved = _moves(state, cells[q], labels[:known])
        if state.weight[state.owner[cells[q]]] <= 0.0:
            labels[known] = len(state.prevalence)
            known += 1
        missing = 0.0
        if len(claims.c):
            ranked = _moved_row(state.belief, believed, place, labels[:known], moved, row)
            for a in range(len(claims.c)):
                missing += _too_narrow(largest_l(row[:ranked], claims.c[a], claims.as_printed[a]), claims.l[a])
        for b in range(len(claims.t)):
            distance = _moved_distance(squares[b], state.belief, claims.prior[b], labels[:known], moved)
            missing += _too_far(distance, claims.t[b])
        found[q] = missing
    return found


@compiled
def _believed_labels(belief: FloatArray) -> tuple[IntArray, IntArray]:
    """The labels that are believed in, and for each label which of these it is, or -1."""
    place = np.full(len(belief), -1)
    for label in range(len(belief)):
        if belief[label] > NEGLIGIBLE:
            place[label] = 0
    believed = np.flatnonzero(place == 0)
    for which in range(len(believed)):
        place[believed[which]] = which
    return believed, place


@compiled
def _labels_without(state: LabelState, cell: int, labels: IntArray) -> int:
    """Write which labels the cell's record would link to without it; returns how many."""
    i, known = state.owner[cell], 0
    others = state.every.copy()
    for other in range(state.starts[i], state.starts[i + 1]):
        if other != cell and not state.removed[other]:
            others &= state.goes[state.item[other]]
    for word in range(len(others)):
        left = others[word]
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            labels[known] = 64 * word + int(np.log2(float(lowest)))  # exact: a power of 2
            known += 1
            left ^= lowest
    return known


@compiled
def _moves(state: LabelState, cell: int, labels: IntArray) -> FloatArray:
    """By how much the belief in each of these labels, and in none, changes if the record links to them instead."""
    i, k = state.owner[cell], len(state.left)
    before, after = state.weight[i], state.prevalence[labels].sum()
    moved = np.empty(len(labels) + 1)
    for which in range(len(labels)):
        label = labels[which]
        had = state.bits[i, label // 64] >> np.uint64(label % 64) & np.uint64(1)
        share = 1.0 / after - (1.0 / before if had else 0.0)
        moved[which] = state.prevalence[label] * share / k
    moved[-1] = -1.0 / k
    return moved


@compiled
def _moved_row(
    belief: FloatArray, believed: IntArray, place: IntArray, labels: IntArray, moved: FloatArray, row: FloatArray
) -> int:
    """Write the beliefs over 0 once some have moved, in no order; returns how many."""
    ranked = len(believed)
    row[:ranked] = belief[believed]
    for which in range(len(labels)):
        label = labels[which]
        if place[label] >= 0:
            row[place[label]] += moved[which]
        else:
            row[ranked] = moved[which]
            ranked += 1
    return ranked


@compiled
def _moved_distance(square: float, belief: FloatArray, prior: FloatArray, labels: IntArray, moved: FloatArray) -> float:
    """The distance once some beliefs have moved, given its square before."""
    for which in range(len(labels)):
        apart = belief[labels[which]] - prior[labels[which]]
        square += moved[which] * (2.0 * apart + moved[which])
    if square > SMALL:
        return math.sqrt(square)
    row = belief.copy()
    for which in range(len(labels)):
        row[labels[which]] += moved[which]
    return label_distance(row, prior)


@compiled
def _too_narrow(reached: int, wanted: int) -> float:
    return 0.0 if reached >= wanted else 1.0 - reached / wanted


@compiled
def _too_far(distance: float, most: float) -> float:
    return 0.0 if distance <= most + LEVEL_TOLERANCE else distance - most
