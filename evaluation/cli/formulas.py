"""Cells that a spreadsheet would run as formulas."""

from typing import Any

import pandas as pd

STARTS = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of a formula in a spreadsheet (OWASP, *CSV Injection*)."""


def formula_cells(table: pd.DataFrame) -> int:
    """The number of cells, column names included, that begin like a formula and are no number."""
    return sum(int(_formulas(table[name]).sum()) for name in table.columns) + sum(map(_begins, table.columns))


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before every cell and column name that begins like a formula and is no number.

    Spreadsheets show such a cell as text. Other programs show the apostrophe.

    >>> without_formulas(pd.DataFrame({"job": ["=1+1", "clerk", "-3"]}))["job"].tolist()
    ["'=1+1", 'clerk', '-3']
    """
    columns = {
        name: table[name].mask(found, "'" + table[name].astype(str))
        for name in table.columns
        if (found := _formulas(table[name])).any()
    }
    return table.assign(**columns).rename(columns={name: f"'{name}" for name in table.columns if _begins(name)})


def _formulas(column: "pd.Series[Any]") -> "pd.Series[bool]":
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return pd.Series(False, index=column.index)
    return column.map(_begins).astype(bool)


def _begins(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.startswith(STARTS):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return cell.startswith(("\t", "\r"))
