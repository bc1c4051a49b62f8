"""Recognition of a published table: generalized cells or a column of the group, and no respondent."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from foreknow.app.cli.description.column_facts import DATES, ColumnFacts
from foreknow.app.cli.description.proposed_roles import words_of
from foreknow.app.cli.published.labels import is_generalized

GROUP_WORDS, GROUP_ADDITIONS = ("group", "bucket", "cluster"), ("id", "number", "no", "nr", "label", "qi")
"""Words of the name of a column of the group, of which one is needed, and words beside them."""

MIN_GENERALIZED = 0.5
"""Share of generalized cells in some column from which a table without a column of the group looks published."""


class PublishedShape(NamedTuple):
    """Signs of a published table.

    Attributes
    ----------
    group : str or None
        Column of the group.
    generalized : dict
        Columns with generalized cells, each with such a cell.
    """

    group: str | None
    generalized: dict[str, str]

    @property
    def signs(self) -> str:
        """The signs in words."""
        group = [] if self.group is None else [f"{self.group!r} is a column of the group"]
        return ", ".join([*group, *(f"{name!r} has cells as {cell!r}" for name, cell in self.generalized.items())])


def group_column(facts: Sequence[ColumnFacts]) -> str | None:
    """The column of the group, by its name and its repeated cells; None without one."""
    return next((fact.name for fact in facts if _names_a_group(fact.name) and fact.distinct < fact.records), None)


def published_shape(table: pd.DataFrame, facts: Sequence[ColumnFacts], group: str | None) -> PublishedShape | None:
    """The signs of a published table in a table without a respondent; None if there are too few. Cost: O(n)."""
    columns = [fact.name for fact in facts if fact.name != group and fact.kind != DATES]
    cells = {name: _generalized_cells(table[name]) for name in columns}
    generalized = {name: str(found.iloc[0]) for name, found in cells.items() if len(found)}
    most = max((len(found) for found in cells.values()), default=0)
    if group is None and most < MIN_GENERALIZED * len(table):
        return None
    return PublishedShape(group, generalized)


def _names_a_group(name: str) -> bool:
    words = set(words_of(name))
    return not words.isdisjoint(GROUP_WORDS) and words <= {*GROUP_WORDS, *GROUP_ADDITIONS}


def _generalized_cells(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The generalized cells of a column; each distinct cell is read once."""
    found = [cell for cell in column.dropna().unique() if isinstance(cell, str) and is_generalized(cell.strip())]
    return column[column.isin(found)]
