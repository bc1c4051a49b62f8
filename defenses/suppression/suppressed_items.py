"""A release after items were left out of it, and how that went in each group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.defenses.suppression.group_items import GroupItems
from foreknow.defenses.suppression.item_cost import harmonic, removal_cost
from foreknow.defenses.suppression.time_sharing import Attempt
from foreknow.models import ItemRelease, Items

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
"""What is reported of each group."""


@dataclass(frozen=True, eq=False)
class SuppressedItems:
    """What `ItemSuppression` publishes, and what of it is for the publisher alone.

    Attributes
    ----------
    release : ItemRelease
        What is published. Every group satisfies.
    groups : DataFrame
        For the publisher: one row per group, in the order of their numbers. Columns:

        - ``group``; ``records``; ``items``, how many these have; ``satisfied``, before any was left out;
        - ``removed``, how many are left out; ``cost``, T of `removal_cost`, from 0 to 1;
        - ``proven``: whether no other choice of items costs less;
        - ``nodes``, of how many choices it was examined whether they satisfy; ``seconds``, how long that took;
        - ``first_cost`` and ``first_seconds``, T of the first choice that satisfied, and after how long it was found. NaN where
          none was looked for, as none was needed; or where none was found in the time, and every item is left out.
    """

    release: ItemRelease
    groups: pd.DataFrame

    def __repr__(self) -> str:
        failing = int((~self.groups["satisfied"]).sum())
        return (
            f"SuppressedItems({len(self.groups)} groups, {failing} changed, {int(self.groups['removed'].sum())} of "
            f"{int(self.groups['items'].sum())} items left out)"
        )


def reported(found: GroupItems, published: Items, attempts: Mapping[int, Attempt]) -> pd.DataFrame:
    """The table `SuppressedItems.groups`; ``attempts`` are those at the groups that failed."""
    rows = []
    for group, members in enumerate(found.members):
        before, after, attempt = found.items.sizes[members], published.sizes[members], attempts.get(group)
        worth = harmonic(int(before.max(initial=0)))[before].sum()
        rows.append(
            {
                "group": group,
                "records": len(members),
                "items": int(before.sum()),
                "satisfied": attempt is None,
                "removed": int((before - after).sum()),
                "cost": removal_cost(before, after),
                "proven": attempt is None or attempt.search.finished,
                "nodes": 0 if attempt is None else attempt.search.examined,
                "seconds": 0.0 if attempt is None else attempt.seconds,
                "first_cost": np.nan if attempt is None else attempt.first_cost / worth,
                "first_seconds": np.nan if attempt is None else attempt.first_seconds,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
