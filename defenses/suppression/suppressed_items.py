"""Result of item suppression: the release, a report of each group, and the cost of removing items."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses.suppression.item_search import TimedSearch
from foreknow.defenses.suppression.label_workspace import GroupItems
from foreknow.models import ItemRelease, Items
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns.required_columns import check_columns

COLUMNS = (
    "group",
    "members",
    "items",
    "satisfied",
    "removed",
    "cost",
    "proven",
    "nodes",
    "seconds",
    "first_cost",
    "first_seconds",
)
"""Columns of `SuppressedItems.groups`."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SuppressedItems:
    """Result of `ItemSuppression`: a release to publish, and a report for the publisher alone.

    Attributes
    ----------
    release : ItemRelease
        The release to publish. Every group satisfies the requirement.
    groups : DataFrame
        For the publisher: one row per group, in the order of their numbers. Columns:

        - ``group``; ``members``, their number; ``items``, the number of items before; ``satisfied``, whether the group satisfied
          before;
        - ``removed``, the number of items removed; ``cost``, T of `removal_cost`, from 0 to 1;
        - ``proven``: whether no other choice of items costs less;
        - ``nodes``, the number of removals examined; ``seconds``, the time of the search;
        - ``first_cost`` and ``first_seconds``: T of the first solution, and the time after which it was found. NaN where no search
          was needed, or no solution was found in time and every item is removed.

    Raises
    ------
    TypeError
        If ``release`` is not an `ItemRelease`, or ``groups`` not a DataFrame.
    ValueError
        If a column is missing.
    """

    release: ItemRelease
    groups: pd.DataFrame

    def __post_init__(self) -> None:
        check_kind(
            "SuppressedItems",
            "release",
            self.release,
            ItemRelease,
            "is an ItemRelease, as ItemSuppression(...) makes it",
        )
        check_columns(self.groups, COLUMNS)

    def __repr__(self) -> str:
        failing = int((~self.groups["satisfied"]).sum())
        return (
            f"SuppressedItems({len(self.groups)} groups, {failing} changed, {int(self.groups['removed'].sum())} of "
            f"{int(self.groups['items'].sum())} items removed)"
        )


def group_report(group_items: GroupItems, published: Items, searches: Mapping[int, TimedSearch]) -> pd.DataFrame:
    """The table `SuppressedItems.groups`; ``searches`` are those of the groups that failed."""
    rows = []
    for group, members in enumerate(group_items.members):
        before, after, timed = group_items.items.sizes[members], published.sizes[members], searches.get(group)
        worth = harmonic_numbers(int(before.max(initial=0)))[before].sum()
        rows.append(
            {
                "group": group,
                "members": len(members),
                "items": int(before.sum()),
                "satisfied": timed is None,
                "removed": int((before - after).sum()),
                "cost": removal_cost(before, after),
                "proven": timed is None or timed.search.finished,
                "nodes": 0 if timed is None else timed.search.examined,
                "seconds": 0.0 if timed is None else timed.seconds,
                "first_cost": np.nan if timed is None else timed.first_cost / worth,
                "first_seconds": np.nan if timed is None else timed.first_seconds,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def removal_cost(before: ArrayLike, after: ArrayLike) -> float:
    """Cost T of removing items from k records, as a fraction of the cost of removing all of them.

    The removal of an item from a record with w items costs ``1 / w``. A record reduced from w to u items costs
    ``1 / w + ... + 1 / (u + 1)``, whichever items are removed. T is the sum over the records, divided by the same sum for u = 0;
    it is 0 where there is no item.

    Parameters
    ----------
    before, after : int array, shape (k,)
        Number of items of each record before and after. Not checked: ``after <= before``.

    Returns
    -------
    float
        From 0 to 1. Cost: O(k + w).

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, Equation 1.

    Examples
    --------
    >>> round(removal_cost([2, 3], [1, 3]), 4)  # 1/2 of 1/2 + 1 and 1/3 + 1/2 + 1
    0.15
    """
    first, left = np.asarray(before, dtype=np.int64), np.asarray(after, dtype=np.int64)
    worth = harmonic_numbers(int(first.max(initial=0)))
    total = worth[first].sum()
    return float((worth[first] - worth[left]).sum() / total) if total > 0 else 0.0


def harmonic_numbers(largest: int) -> FloatArray:
    """Harmonic numbers ``1 + 1/2 + ... + 1/w`` for w = 0 to ``largest``: float array, shape ``(largest + 1,)``."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, largest + 1))])
