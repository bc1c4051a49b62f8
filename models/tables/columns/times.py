"""Times of records: their order, the division of a table into views, and the refusal of continuous times."""

import itertools
import math
from collections.abc import Sequence
from datetime import date, datetime, time
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import IntArray
from foreknow.models.tables.columns.plain_columns import describe_missing, plain_column, plain_value

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
    TypeError
        If the time cannot be hashed or compared, as a list or None.
    ValueError
        If the time is not at most itself, as NaN.
    """
    time = plain_value(time)
    try:
        hash(time)
        is_ordered = bool(time <= time)
    except TypeError:
        raise TypeError(
            f"{owner}: time is {time!r}; it is a value that can be ordered, as a number, a date or a text."
        ) from None
    if not is_ordered:
        raise ValueError(f"{owner}: time is {time!r}, which has no place in an order; give a number, a date or a text.")
    return time


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


def times_of_records(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the time of each record, from the column that names it.

    Raises
    ------
    ValueError
        If a time is missing, or the column is an ordered Categorical whose order is not that of its values.
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
    return times


def rows_by_time(times: "pd.Series[Any]") -> list[tuple[Any, IntArray]]:
    """Return each distinct time, in increasing order, with the rows of its records.

    Raises
    ------
    ValueError
        If two times cannot be compared.
    """
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
    infinite = [time for time, _ in views if isinstance(time, Real) and not _is_finite(time)]
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


def _is_finite(time: Any) -> bool:
    """Return whether a number is finite; it is compared and not converted, since a whole number may be beyond every float."""
    return bool(-math.inf < time < math.inf)


def _is_fractional(time: Any) -> bool:
    """Return whether a time is a fractional number or has a time of day."""
    if isinstance(time, datetime):
        return time.time() != MIDNIGHT or getattr(time, "nanosecond", 0) > 0
    return isinstance(time, float) and not time.is_integer()
