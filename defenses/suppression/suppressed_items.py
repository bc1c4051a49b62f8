"""Result of item suppression: the release, and a report of each group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.defenses.suppression.group_items import GroupItems, harmonic_numbers, removal_cost
from foreknow.defenses.suppression.item_search import TimedSearch
from foreknow.models import ItemRelease, Items
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns.required_columns import check_columns

COLUMNS = (
    "group",
    "records",
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


@dataclass(frozen=True, eq=False)
class SuppressedItems:
    """Result of `ItemSuppression`: a release to publish, and a report for the publisher alone.

    Attributes
    ----------
    release : ItemRelease
        The release to publish. Every group satisfies the requirement.
    groups : DataFrame
        For the publisher: one row per group, in the order of their numbers. Columns:

        - ``group``; ``records``; ``items``, the number of items before; ``satisfied``, whether the group satisfied before;
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
                "records": len(members),
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
