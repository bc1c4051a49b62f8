"""A walk over the conditions of rules, from the general to the narrow, and the sensitive values each of them denies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.buckets.rule_items import Items
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Itemset = tuple[int, ...]
"""An item of each attribute; 0, the root, where any value will do."""


@dataclass(frozen=True, eq=False)
class Table:
    """A view with equal records counted together, u of them distinct.

    Attributes
    ----------
    items : tuple of Items
        One per attribute.
    row : int array, shape (n,)
        Which distinct row each record is.
    count : float array, shape (u,)
        How many records each row stands for.
    value : int array, shape (u,)
        Its sensitive code.
    degree : tuple of float arrays, each of shape (v, u)
        For each attribute, how far each row is a member of each item.
    share : float array, shape (m,)
        How much of the view has each sensitive value.
    """

    items: tuple[Items, ...]
    row: IntArray
    count: FloatArray
    value: IntArray
    degree: tuple[FloatArray, ...]
    share: FloatArray

    @classmethod
    def of(cls, view: View, items: tuple[Items, ...]) -> "Table":
        """The table of a view and the items of its attributes."""
        cells = np.column_stack([*(of.cell for of in items), view.sensitive])
        rows, row, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        degree = tuple(of.degree[:, rows[:, a]] for a, of in enumerate(items))
        share = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
        return cls(items, row.reshape(-1), count.astype(np.float64), rows[:, -1], degree, share)


class Denial(NamedTuple):
    """A condition that denies a value: its measures, and the table's rows that are members of it to any degree."""

    itemset: Itemset
    value: int
    confidence: float
    support: float
    rows: IntArray


class _Narrowing(NamedTuple):
    """An itemset that asks for an item of attribute a too, and who is a member of it without that."""

    itemset: Itemset
    a: int
    rows: IntArray
    degree: FloatArray


def mine(table: Table, min_confidence: float, least: FloatArray) -> list[Denial]:
    """The most general conditions that deny a value, given the least support of a condition for each value.

    Itemsets are visited in lexicographic order, in which each comes after all that are more general, since an item stands
    after its parent. Each has the values that are still sought in it: those for which it is frequent enough, and which
    nothing more general denies. One without any is not made narrower.
    """
    root: Itemset = (0,) * len(table.items)
    sought = {root: np.isfinite(least)}
    found: list[Denial] = []
    everybody = np.arange(len(table.count))
    stack = list(_narrower(table, root, 0, everybody, np.ones(len(everybody))))
    while stack:
        itemset, a, rows, degree = stack.pop()
        values = _sought(table, sought, itemset)
        if not values.any():
            continue
        degree = np.minimum(degree, table.degree[a][itemset[a], rows])
        rows, degree = rows[degree > 0], degree[degree > 0]
        weight = degree * table.count[rows]
        total = float(weight.sum())
        support = total / float(table.count.sum())
        values = values & (support >= least)
        shown = np.bincount(table.value[rows], weight, len(least))
        denied = values & (shown <= (1 - min_confidence) * total * (1 + LEVEL_TOLERANCE))
        found += [Denial(itemset, int(v), 1 - float(shown[v]) / total, support, rows) for v in np.flatnonzero(denied)]
        if (values & ~denied).any():
            sought[itemset] = values & ~denied
            stack += _narrower(table, itemset, a + 1, rows, degree)
    return found


def _narrower(table: Table, itemset: Itemset, first: int, rows: IntArray, degree: FloatArray) -> Iterator[_Narrowing]:
    """The itemsets that ask for one attribute more, from ``first`` on; the one to be visited first is the last."""
    for a in range(first, len(itemset)):
        for item in reversed(range(1, len(table.items[a].labels))):
            yield _Narrowing((*itemset[:a], item, *itemset[a + 1 :]), a, rows, degree)


def _sought(table: Table, sought: dict[Itemset, BoolArray], itemset: Itemset) -> BoolArray:
    """The values that are still sought in all itemsets one step more general."""
    values = table.share > 0
    for a, item in enumerate(itemset):
        if item:
            broader = (*itemset[:a], int(table.items[a].parents[item]), *itemset[a + 1 :])
            values = values & sought.get(broader, False)
    return values
