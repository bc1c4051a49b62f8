"""Missing cells: refused, dropped with their records, or made a category of their own."""

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.distinct_cells import distinct_cells
from foreknow.models.tables.cleaning.faults import Change, Fault, first_rows
from foreknow.models.tables.cleaning.spellings import folded, stripped

type Missing = Literal["refuse", "drop", "category"]

MISSING = ("refuse", "drop", "category")

DROP = Setting("missing", "drop", settles=True)

CATEGORY = "missing"
"""The category of missing cells."""


def blank_as_missing(column: "pd.Series[Any]", texts: Collection[str]) -> "pd.Series[Any]":
    """A column in which cells of spaces alone, and cells with one of some texts, are missing. Cost: O(n)."""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    found = distinct_cells(column)
    absent = [isinstance(cell, str) and (not stripped(cell) or stripped(cell) in texts) for cell in found.cells]
    return column.mask(np.array([*absent, False], dtype=np.bool_)[found.codes]) if any(absent) else column


def missing_faults(columns: Sequence["pd.Series[Any]"], rule: Missing, may_be_category: Collection[str]) -> list[Fault]:
    """The faults of missing cells under the rule ``refuse``, and of those that cannot be a category under ``category``."""
    faults = []
    for column in columns:
        name, missing = str(column.name), column.isna().to_numpy()
        number = int(missing.sum())
        if not number or rule == "drop" or (rule == "category" and name in may_be_category):
            continue
        problem = f"has {counted(number, 'missing cell')} in {len(column):,} records"
        faults.append(Fault(name, problem, first_rows(missing), number, _way_out(name, rule, may_be_category)))
    return faults


def _way_out(name: str, rule: Missing, may_be_category: Collection[str]) -> Advice:
    if rule == "category":
        reason = "it cannot be a category, being the respondent, the time or a number; fill the cells in, or set "
        return Advice(reason, DROP, " to leave out the records")
    category = Advice(", or ", Setting("missing", "category"), " for a category of their own")
    return Advice(
        "fill them in, or set ", DROP, " to leave out the records", category if name in may_be_category else ""
    )


def complete_rows(columns: Sequence["pd.Series[Any]"]) -> tuple[BoolArray, list[Change]]:
    """The rows without a missing cell, and the change of dropping the others."""
    missing = {str(column.name): column.isna().to_numpy() for column in columns}
    keep = ~np.any(list(missing.values()), axis=0)
    if keep.all():
        return keep, []
    dropped = int((~keep).sum())
    counts = ", ".join(f"{name!r} in {int(cells.sum()):,}" for name, cells in missing.items() if cells.any())
    sentence = f"{counted(dropped, 'record')} of {len(keep):,} dropped for missing cells: {counts}."
    return keep, [Change("", dropped, sentence)]


def as_category(column: "pd.Series[Any]") -> tuple["pd.Series[Any]", list[Change]]:
    """A column whose missing cells are the category ``missing``, or a cell that differs from it in spaces and case only."""
    missing = column.isna()
    if not missing.any():
        return column, []
    known = column[~missing]
    name = next(
        (cell for cell in known.unique().tolist() if isinstance(cell, str) and folded(cell) == CATEGORY), CATEGORY
    )
    text = known.map(str) if not isinstance(column.dtype, pd.StringDtype) else known
    filled = text.astype(object).reindex(column.index, fill_value=name)
    number = int(missing.sum())
    sentence = f"{str(column.name)!r}: {counted(number, 'missing cell')} made the category {name!r}."
    return filled, [Change(str(column.name), number, sentence)]
