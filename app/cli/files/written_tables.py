"""Tables of the command line that are written, and cells that a spreadsheet would run as formulas."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of a formula in a spreadsheet (OWASP, *CSV Injection*); the last four are the full-width = + - @."""


def output_suffix(path: Path) -> str:
    """The suffix of output files for an input file: that of Parquet, or that of CSV for every kind of text."""
    return ".parquet" if path.suffix.lower() == ".parquet" else ".csv"


def write_table(table: pd.DataFrame, path: Path, private: bool = False, formulas: bool | None = None) -> None:
    """Write a CSV or Parquet file, by the ending of its name.

    Parameters
    ----------
    table : DataFrame
        Its cells are written as plain values, without the index, unused categories and other metadata of pandas.
    path : path
    private : bool
        Create the file with mode 0600, so that only its owner can read it.
    formulas : bool, optional
        Whether cells that a spreadsheet would run are written unchanged; otherwise with an apostrophe before them. By default in
        Parquet files alone, which spreadsheets do not open.

    Raises
    ------
    ValueError
        If a column of a Parquet file holds values of several types.
    """
    if private:
        path.touch(mode=0o600)
    is_parquet = path.suffix.lower() == ".parquet"
    if not (is_parquet if formulas is None else formulas):
        table = without_formulas(table)
    if is_parquet:
        names = [str(name) for name in table.columns]
        pq.write_table(pa.table([_plain(table[name]) for name in table.columns], names=names), path)
    else:
        table.to_csv(path, index=False)


def _plain(column: "pd.Series[Any]") -> "pa.Array | pa.ChunkedArray":
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    try:
        return pa.array(column, from_pandas=True)
    except pa.ArrowException as error:
        raise ValueError(f"the column {column.name!r} cannot be written as parquet: {error}") from None


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
    return table.assign(**columns).rename(columns={name: quoted_formula(name) for name in table.columns})


def quoted_formula(cell: Any) -> Any:
    """A cell with an apostrophe before it, if it begins like a formula.

    >>> quoted_formula("=1+1"), quoted_formula("clerk")
    ("'=1+1", 'clerk')
    """
    return f"'{cell}" if _begins_like_formula(cell) else cell


def unquoted_formulas(column: "pd.Series[Any]", known: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column of a file that `without_formulas` wrote, with the cells of another column as they are there."""
    written = {quoted_formula(cell): cell for cell in known if _begins_like_formula(cell)}
    return column.map(lambda cell: written.get(cell, cell)) if written else column


def as_written(column: "pd.Series[Any]", written: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column with those cells quoted that a file, of which ``written`` is a column, has with an apostrophe alone."""
    there = set(written)
    return column.map(lambda cell: quoted if (quoted := quoted_formula(cell)) in there and cell not in there else cell)


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
    return cell.startswith(("\t", "\r", "\n"))
