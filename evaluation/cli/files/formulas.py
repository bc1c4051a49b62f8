"""Detection and quoting of cells that a spreadsheet would run as formulas."""

from typing import Any

import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a formula in a spreadsheet (OWASP, *CSV Injection*)."""


def formula_cells(table: pd.DataFrame) -> int:
    """Number of cells and column names that begin like a formula and are not numbers."""
    return sum(int(_is_formula(table[name]).sum()) for name in table.columns) + sum(
        map(_begins_like_formula, table.columns)
    )


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each cell and column name that begins like a formula and is not a number.

    Spreadsheets show such a cell as text. Other programs show the apostrophe.

    >>> without_formulas(pd.DataFrame({"job": ["=1+1", "clerk", "-3"]}))["job"].tolist()
    ["'=1+1", 'clerk', '-3']
    """
    columns = {
        name: table[name].mask(mask, "'" + table[name].astype(str))
        for name in table.columns
        if (mask := _is_formula(table[name])).any()
    }
    return table.assign(**columns).rename(
        columns={name: f"'{name}" for name in table.columns if _begins_like_formula(name)}
    )


def _is_formula(column: "pd.Series[Any]") -> "pd.Series[bool]":
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return pd.Series(False, index=column.index)
    return column.map(_begins_like_formula).astype(bool)


def _begins_like_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return cell.startswith(("\t", "\r"))
