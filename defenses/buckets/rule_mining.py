"""Search for the most general conditions that deny a sensitive value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.buckets.rule_items import RuleItems
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Itemset = tuple[int, ...]
"""One item for each attribute; 0, the root, for an attribute without a condition."""


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """The u distinct records of a view, with their numbers.

    Attributes
    ----------
    items : tuple of RuleItems
        One for each attribute.
    row : int array, shape (n,)
        Distinct record of each record of the view.
    count : float array, shape (u,)
        Number of records that equal each distinct one.
    value : int array, shape (u,)
        Sensitive code.
    degree : tuple of float arrays, each of shape (v, u)
        For each attribute, degree of membership of each distinct record in each item.
    share : float array, shape (m,)
        Share of each sensitive value in the view.
    """

    items: tuple[RuleItems, ...]
    row: IntArray
    count: FloatArray
    value: IntArray
    degree: tuple[FloatArray, ...]
    share: FloatArray

    @classmethod
    def from_view(cls, view: View, items: tuple[RuleItems, ...]) -> "DistinctRecords":
        """Distinct records of a view, given the items of its attributes."""
        cells = np.column_stack([*(attribute.cell for attribute in items), view.sensitive])
        rows, row, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        degree = tuple(attribute.degree[:, rows[:, a]] for a, attribute in enumerate(items))
        share = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
        return cls(items, row.reshape(-1), count.astype(np.float64), rows[:, -1], degree, share)


class Denial(NamedTuple):
    """A condition that denies a value.

    Attributes
    ----------
    itemset : tuple of int
    value : int
    confidence, support : float
    rows : int array
        Distinct records that satisfy the condition to a positive degree.
    """

    itemset: Itemset
    value: int
    confidence: float
    support: float
    rows: IntArray


class _Candidate(NamedTuple):
    """An itemset with one item added, of ``attribute``; the rows and degrees are those of the itemset without it."""

    itemset: Itemset
    attribute: int
    rows: IntArray
    degree: FloatArray


def most_general_denials(table: DistinctRecords, min_confidence: float, least_support: FloatArray) -> list[Denial]:
    """The most general conditions that deny each value.

    Parameters
    ----------
    table : DistinctRecords
    min_confidence : float
    least_support : float array, shape (m,)
        Least support of a condition that denies each value; infinite for a value without records.

    Notes
    -----
    Itemsets are visited in lexicographic order. As an item comes after its parent, each itemset comes after all more general
    ones. The open values of an itemset are those for which it has the least support and which no more general itemset denies.
    An itemset is made narrower only while it has open values.
    """
    root: Itemset = (0,) * len(table.items)
    open_values = {root: np.isfinite(least_support)}
    denials: list[Denial] = []
    all_rows = np.arange(len(table.count))
    stack = list(_narrower(table, root, 0, all_rows, np.ones(len(all_rows))))
    while stack:
        candidate = stack.pop()
        values = _open_in_all_broader(table, open_values, candidate.itemset)
        if not values.any():
            continue
        rows, degree = _satisfying(table, candidate)
        weight = degree * table.count[rows]
        support = float(weight.sum()) / float(table.count.sum())
        values = values & (support >= least_support)
        if not values.any():
            continue
        denied, confidence = _denied(table, rows, weight, min_confidence)
        denied &= values
        denials += [
            Denial(candidate.itemset, int(v), float(confidence[v]), support, rows) for v in np.flatnonzero(denied)
        ]
        if (values & ~denied).any():
            open_values[candidate.itemset] = values & ~denied
            stack += _narrower(table, candidate.itemset, candidate.attribute + 1, rows, degree)
    return denials


def _satisfying(table: DistinctRecords, candidate: _Candidate) -> tuple[IntArray, FloatArray]:
    """Rows that satisfy a candidate to a positive degree, and these degrees: the least over the items."""
    added = table.degree[candidate.attribute][candidate.itemset[candidate.attribute], candidate.rows]
    degree = np.minimum(candidate.degree, added)
    return candidate.rows[degree > 0], degree[degree > 0]


def _denied(
    table: DistinctRecords, rows: IntArray, weight: FloatArray, min_confidence: float
) -> tuple[BoolArray, FloatArray]:
    """True for each value with confidence of at least ``min_confidence``, up to rounding; and the confidences."""
    total = float(weight.sum())
    with_value = np.bincount(table.value[rows], weight, len(table.share))
    return with_value <= (1 - min_confidence) * total * (1 + LEVEL_TOLERANCE), 1 - with_value / total


def _narrower(
    table: DistinctRecords, itemset: Itemset, first: int, rows: IntArray, degree: FloatArray
) -> Iterator[_Candidate]:
    """Itemsets with an item of one more attribute, from ``first`` on; the one to visit first comes last."""
    for a in range(first, len(itemset)):
        for item in reversed(range(1, len(table.items[a].labels))):
            yield _Candidate((*itemset[:a], item, *itemset[a + 1 :]), a, rows, degree)


def _open_in_all_broader(table: DistinctRecords, open_values: dict[Itemset, BoolArray], itemset: Itemset) -> BoolArray:
    """Values that are open in all itemsets that are one step more general."""
    values = table.share > 0
    for a, item in enumerate(itemset):
        if item:
            broader = (*itemset[:a], int(table.items[a].parents[item]), *itemset[a + 1 :])
            values = values & open_values.get(broader, False)
    return values
