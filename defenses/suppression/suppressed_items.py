"""A release after items were left out of it, and how that went in each group."""

from dataclasses import dataclass

import pandas as pd

from foreknow.models import ItemRelease

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
