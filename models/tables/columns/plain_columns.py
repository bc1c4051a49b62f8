"""Conversion of columns of any pandas type to plain Python and NumPy values, without rounding."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray

MAX_EXACT_INTEGER = 2**53
"""Upper end of the range in which float64 represents every integer."""

PLAIN_TYPES = frozenset({str, int, float, bool, bytes, type(None), type(pd.NA), type(pd.NaT), pd.Timestamp})
"""Types of cells that need neither a conversion nor a test of hashability."""


def plain_value(value: Any) -> Any:
    """Return the Python value that equals a NumPy scalar; any other value unchanged."""
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    if isinstance(value, np.longdouble):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def plain_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as Python values."""
    return tuple(map(plain_value, values))


def plain_columns(frame: pd.DataFrame, names: Iterable[Any], place: str) -> pd.DataFrame:
    """Return a copy of a table with some columns converted by `plain_column` and the others unchanged."""
    frame = frame.copy(deep=False)
    for name in names:
        frame[name] = plain_column(frame[name], place)
    return frame


def plain_column(column: "pd.Series[Any]", place: str) -> "pd.Series[Any]":
    """Return a column without extension types: numbers in a NumPy dtype, other cells as Python values.

    Dictionary-encoded, nullable, sparse and pyarrow-backed columns are converted without rounding; only a long double is
    rounded to float64. Dates with a time zone and pandas' own text dtype are kept. A missing cell stays missing.

    Parameters
    ----------
    column : Series
        Messages use its name.
    place : str
        The table's name in messages, as ``"the view at 3"``.

    Raises
    ------
    ValueError
        If a cell is not hashable, as a list; if truth values and numbers are mixed, because True equals 1; or if a text is not
        valid Unicode, as a lone surrogate.

    Notes
    -----
    In an object column of both integers and floats, 1.0 becomes 1, so that equal values have one text.
    Cost: O(n).
    """
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return column.astype(np.float64) if dtype.char == "g" else column
    if isinstance(dtype, pd.DatetimeTZDtype) or (isinstance(dtype, pd.StringDtype) and dtype.na_value is np.nan):
        return column
    if _holds_numbers(dtype) and not column.isna().any():
        numbers = column.to_numpy(dtype=getattr(dtype, "numpy_dtype", None))
        return pd.Series(numbers, index=column.index, name=column.name)
    objects = column.astype(object)
    cells = objects.tolist()
    plain = _plain_cells(cells, column.name, place)
    return objects if plain is cells else pd.Series(plain, index=column.index, name=column.name, dtype=object)


def describe_missing(missing: BoolArray, name: Any, place: str = "") -> str:
    """Return a clause that lists the rows in which a column is missing: "row 3 of the view at 2 has no 'age'"."""
    rows, of = _listed(missing), f" of {place}" if place else ""
    return f"row {rows}{of} has no {name!r}" if missing.sum() == 1 else f"rows {rows}{of} have no {name!r}"


def _listed(chosen: BoolArray) -> str:
    """The positions of the chosen rows, at most five of them."""
    rows = np.flatnonzero(chosen)
    return ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")


def _holds_numbers(dtype: Any) -> bool:
    """Return whether a dtype without missing cells has an equal NumPy dtype of numbers."""
    if isinstance(dtype, pd.SparseDtype):
        return dtype.subtype.kind in "iufb"
    return not isinstance(dtype, pd.CategoricalDtype) and getattr(dtype, "numpy_dtype", np.dtype("O")).kind in "iufb"


def _plain_cells(cells: list[Any], name: Any, place: str) -> Sequence[Any]:
    """The cells as Python values; the same list if all of them are."""
    types = set(map(type, cells))
    if not types <= PLAIN_TYPES:
        _check_hashable(cells, name, place)
        cells = [plain_value(cell) for cell in cells]
        types = set(map(type, cells))
    if bool in types:
        _check_unmixed(cells, name, place)
    if str in types:
        _check_unicode(cells, name, place)
    if {int, float} <= types:
        return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
    return cells


def _check_hashable(cells: list[Any], name: Any, place: str) -> None:
    """Raise ValueError if a cell is not one value."""
    for row, cell in enumerate(cells):
        if type(cell) not in PLAIN_TYPES and not is_hashable(cell):
            raise ValueError(
                f"the column {name!r} of {place} holds {type(cell).__name__}s, as {cell!r} in row {row}; a cell is one value. "
                "Split the column, or join each cell to a text."
            )


def is_hashable(cell: Any) -> bool:
    """Return whether a cell can be one value of a domain; a list, or a tuple that holds one, cannot."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def is_missing(cell: Any) -> bool:
    """Return whether a cell is a missing value: None, NaN, NaT or NA."""
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def _check_unmixed(cells: list[Any], name: Any, place: str) -> None:
    """Raise ValueError if cells are truth values and numbers."""
    truth = next(row for row, cell in enumerate(cells) if isinstance(cell, bool))
    for row, cell in enumerate(cells):
        if isinstance(cell, int | float) and not isinstance(cell, bool) and cell == cell:
            raise ValueError(
                f"the column {name!r} of {place} mixes truth values and numbers: {cells[truth]!r} in row {truth}, {cell!r} in row "
                f"{row}. True equals 1 and False equals 0, so that they are indistinguishable. Write all cells one way."
            )


def _check_unicode(cells: list[Any], name: Any, place: str) -> None:
    """Raise ValueError if a text cannot be encoded."""
    texts = [cell if isinstance(cell, str) else "" for cell in cells]
    if not _is_unicode("".join(texts)):
        row = next(row for row, text in enumerate(texts) if not _is_unicode(text))
        raise ValueError(
            f"the column {name!r} of {place} holds {texts[row]!r} in row {row}, which is not Unicode text and could not be "
            "written to a file. Read the table in its own encoding, or correct the cell."
        )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
