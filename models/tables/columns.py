"""Columns of a table: plain cells, columns that must be there, domains, times, and look-alikes in messages."""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.settings import shown

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
    rows, of = np.flatnonzero(missing), f" of {place}" if place else ""
    listed = ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
    return f"row {listed}{of} has no {name!r}" if len(rows) == 1 else f"rows {listed}{of} have no {name!r}"


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


def check_quasi_identifiers(owner: str, names: Iterable[Any], known: Iterable[str]) -> None:
    """Raise ValueError unless names are quasi-identifiers, each named once."""
    listed, among = list(names), list(known)
    for name in listed:
        if name not in among:
            near = f"there are {', '.join(among)}.{lookalike(name, among)}"
            raise ValueError(f"{owner}: {shown(name)} is no quasi-identifier; {near}")
        if listed.count(name) > 1:
            raise ValueError(f"{owner}: the quasi-identifier {name!r} stands twice; name it once.")


def check_value(owner: str, value: Any, domain: Sequence[Any]) -> None:
    """Raise ValueError unless a value is in the sensitive domain."""
    if value not in domain:
        listed = f"{', '.join(map(str, domain[:8]))}{', ...' if len(domain) > 8 else ''}"
        raise ValueError(f"{owner}: {value!r} is not in the sensitive domain, {listed}.{lookalike(value, domain)}")


def lookalike(value: Any, domain: Iterable[Any]) -> str:
    """Return a sentence that names the value of a domain with the text of a given value and another type.

    The sentence begins with a space. It is empty if there is no such value. Cost: O(m).

    Examples
    --------
    >>> lookalike("5", (1, 5))
    " The types differ: '5' is text, and 5 a number; convert one of them."
    >>> lookalike("x", (1, 5))
    ''
    """
    for other in domain:
        if type(other) is not type(value) and _text(other) == _text(value):
            return f" The types differ: {value!r} is {_kind(value)}, and {other!r} {_kind(other)}; convert one of them."
    return ""


def _text(value: Any) -> str:
    """The text of a value; a number and a text that reads as the same number have one."""
    try:
        return str(float(str(value)))
    except ValueError:
        return str(value).strip()


def _kind(value: Any) -> str:
    """The type of a value in words."""
    names = {str: "text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")


def check_columns(frame: pd.DataFrame, names: Iterable[Hashable], owner: str | None = None) -> None:
    """Raise an error unless the table has each column exactly once.

    The message names the column, and the columns that the table has. ``owner`` is what takes a table of these columns alone; by
    default a schema names them.

    Raises
    ------
    TypeError
        If the table is not a DataFrame.
    ValueError
        If a column is missing or duplicated.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"the table is a {type(frame).__name__}; it is a DataFrame with one row per record.")
    columns = list(frame.columns)
    twice = repeated(columns)
    for name in names:
        if not is_column_name(name) or name not in columns:
            way_out = "Rename the column" + (", or name another in the schema." if owner is None else ".")
            table = "the table" if owner is None else f"{owner}: the frame"
            raise ValueError(
                f"{table} has no column {name!r}; it has {', '.join(map(repr, columns))}.{lookalike(name, columns)} {way_out}"
            )
        if name in twice:
            raise ValueError(f"the column {name!r} appears twice in the table; rename or drop one.")


def is_column_name(name: Any) -> bool:
    """Return whether a value can name a column: it is hashable and no missing value."""
    return is_hashable(name) and not is_missing(name)


def checked_domain(values: Iterable[Any], owner: str) -> tuple[Hashable, ...]:
    """Return the values of a domain as Python values, in their order.

    Parameters
    ----------
    values : sequence
        At least one value. No two are equal or have the same text.
    owner : str
        The attribute, for messages.

    Raises
    ------
    TypeError
        If the values are one text, a set, a mapping or a DataFrame, or cannot be iterated.
    ValueError
        If there is no value, a value is missing or not hashable, or two values are equal or have the same text.
    """
    if isinstance(values, str | bytes | Set | Mapping | pd.DataFrame) or not np.iterable(values):
        raise TypeError(
            f"{owner} has its values given as a {type(values).__name__}; list the values of its domain in order, as ['a', 'b']."
        )
    listed = tuple(map(plain_value, values))
    if not listed:
        raise ValueError(f"{owner} has no value; its domain needs at least one. List it, or leave the column out.")
    equal: dict[Hashable, Any] = {}
    alike: dict[str, Any] = {}
    for value in listed:
        if not is_hashable(value) or is_missing(value):
            raise ValueError(
                f"{owner} lists {value!r}; a value is one text, number or date. Leave it out, or name it by a text."
            )
        if (other := equal.get(value, alike.get(str(value)))) is not None:
            raise ValueError(
                f"{owner} lists {other!r} and {value!r}, which are indistinguishable when published; rename one, or leave it out."
            )
        equal[value] = alike[str(value)] = value
    return listed


def inferred_domain(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    """Return the domain of a column: its sorted values, or the categories of an ordered Categorical in their order.

    Values that cannot be compared are sorted by their text.

    Raises
    ------
    ValueError
        As `checked_domain`.
    """
    categories = _ordered_categories(column)
    values = sorted_values(plain_column(column, "the table").dropna().unique()) if categories is None else categories
    return checked_domain(values, f"the column {column.name!r} of the table")


def is_numeric_column(column: "pd.Series[Any]") -> bool:
    """Return whether a column has a dtype of real numbers; a dtype of truth values is not one."""
    types = pd.api.types
    return (
        types.is_numeric_dtype(column) and not types.is_bool_dtype(column) and not types.is_complex_dtype(column.dtype)
    )


def _ordered_categories(column: "pd.Series[Any]") -> tuple[Hashable, ...] | None:
    """The categories of an ordered Categorical, or of an ordered dictionary of Arrow; None for another column."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) and getattr(dtype.pyarrow_dtype, "ordered", False):
        dtype = column.array.__arrow_array__().to_pandas().dtype
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        return tuple(dtype.categories.tolist())
    return None


def sorted_values(values: Any) -> tuple[Hashable, ...]:
    """Return the cells of an array in their order; those that cannot be compared are sorted by their text."""
    cells = values.tolist()
    try:
        return tuple(sorted(cells))
    except TypeError:
        return tuple(sorted(cells, key=str))


def repeated(values: Iterable[Hashable]) -> list[Any]:
    """Return the values that appear more than once, each once, in the order of their first appearance."""
    return [value for value, number in Counter(values).items() if number > 1]


MIDNIGHT = time()


def check_time(owner: str, time: Any) -> Any:
    """Return a time as a plain Python value; raise unless it can be ordered.

    Parameters
    ----------
    owner : str
        The class or function, for messages.
    time : object
        A number, a date, a text or another hashable value that can be compared with ``<=``.

    Raises
    ------
    ValueError
        If the time cannot be hashed or compared, as a list or None, or is not at most itself, as NaN.
    """
    time = plain_value(time)
    with suppress(TypeError):
        hash(time)
        if time <= time:
            return time
    raise ValueError(f"{owner}: time is {time!r}; it is a value that can be ordered, as a number, a date or a text.")


def check_order(before: Any, after: Any) -> None:
    """Raise ValueError unless one time precedes the other."""
    if not precedes(before, after):
        raise ValueError(
            f"time {after!r} comes after time {before!r}; times must increase, one view or release each. Sort them, or read "
            "the records with History.read."
        )


def precedes(before: Any, after: Any) -> bool:
    """Return whether one time is less than another; times that cannot be compared are not."""
    try:
        return bool(before < after)
    except TypeError:
        return False


def rows_by_time(column: "pd.Series[Any]") -> list[tuple[Any, IntArray]]:
    """Return each distinct time of a column, in increasing order, with the rows of its records.

    Raises
    ------
    ValueError
        If a time is missing, the column is an ordered Categorical whose order is not that of its values, or two times cannot be
        compared.
    """
    times = plain_column(column, "the table")
    missing = times.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{describe_missing(missing, column.name)}; every record needs its time. Drop the record, or fill it in."
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        present = set(times)
        scale = [time for time in column.dtype.categories.tolist() if time in present]
        for before, after in itertools.pairwise(scale):
            if not precedes(before, after):
                raise ValueError(
                    f"the times of {column.name!r} are ordered categories, in which {before!r} comes before {after!r}; as values "
                    "they sort otherwise. Write times as numbers or dates, as the category codes: frame[time].cat.codes."
                )
    codes, distinct = pd.factorize(times)
    values = [plain_value(time) for time in distinct.tolist()]
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        examples = list({type(time): time for time in values}.values())[:2]
        raise ValueError(
            f"the times of {times.name!r} cannot be ordered, as {' and '.join(map(repr, examples))}; write all times as "
            "numbers, dates or texts."
        ) from None
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return [(values[code], rows[code]) for code in order]


def check_not_continuous(column: str, views: Sequence[tuple[Any, int]]) -> None:
    """Refuse times by which most views would hold a single record.

    Parameters
    ----------
    column : str
        The column of times, for messages.
    views : sequence of pairs
        Time and number of records of each view.

    Raises
    ------
    ValueError
        If a time is infinite; or if a time is a fractional number or has a time of day, and more than half of several views
        hold one record.
    """
    infinite = [time for time, _ in views if isinstance(time, float) and not math.isfinite(time)]
    if infinite:
        raise ValueError(
            f"a time of {column!r} is {infinite[0]!r}; a time is a finite number, a date or a text. Correct it."
        )
    fractional = [time for time, _ in views if _is_fractional(time)]
    single = sum(records == 1 for _, records in views)
    if fractional and len(views) > 1 and 2 * single > len(views):
        rounded = "frame[column].dt.floor('D')" if isinstance(fractional[0], date) else "frame[column].round()"
        raise ValueError(
            Advice(
                f"the times of {column!r} are continuous, as {fractional[0]!r}, and make {len(views):,} views, {single:,} of them "
                "of one record; a view holds the records of one time, as a week or a year. ",
                Wording(
                    f"Round them, as {rounded}, or pass the views yourself: "
                    "History(View(rows, schema, time) for time, rows in frame.groupby(column)).",
                    "Round them in the file, or name a column of weeks, months or years, as --time month.",
                ),
            )
        )


def _is_fractional(time: Any) -> bool:
    """Return whether a time is a fractional number or has a time of day."""
    if isinstance(time, datetime):
        return time.time() != MIDNIGHT or getattr(time, "nanosecond", 0) > 0
    return isinstance(time, float) and not time.is_integer()


def coordinate(label: Hashable) -> Hashable:
    """Label of a coordinate of xarray: numbers and dates as they are, anything else as text."""
    return label if isinstance(label, int | float | date) else str(label)


def coordinates(labels: Sequence[Hashable]) -> "list[Hashable] | pd.Index[Any]":
    """Labels of a dimension of xarray: numbers and dates as they are if all of them are, otherwise texts."""
    if all(isinstance(label, date) for label in labels) and len(labels):
        try:
            return pd.DatetimeIndex(list(labels)).tz_localize(None)
        except (ValueError, TypeError):  # Dates before 1677, or some with a time zone and some without.
            return list(map(str, labels))
    if all(isinstance(label, int | float) for label in labels):
        return list(labels)
    return list(map(str, labels))
