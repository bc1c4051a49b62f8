"""Refusal of continuous times, by which a table would fall into views of one record each."""

from collections.abc import Sequence
from datetime import date, datetime, time
from numbers import Real
from typing import Any

import numpy as np

MIDNIGHT = time()


def check_not_continuous(column: str, views: Sequence[tuple[Any, int]]) -> None:
    """Refuse times by which most views would hold a single record.

    Parameters
    ----------
    column : str
        The column of times, for messages.
    views : sequence of pairs
        Each view's time and its number of records.

    Raises
    ------
    ValueError
        If a time is infinite; or if some time is a fractional number or has a time of day, and more than half of several views
        hold one record.
    """
    infinite = [when for when, _ in views if isinstance(when, Real) and not np.isfinite(float(when))]
    if infinite:
        raise ValueError(
            f"a time of {column!r} is {infinite[0]!r}; a time is a finite number, a date or a text. Correct it."
        )
    fine = [when for when, _ in views if _is_fine(when)]
    single = sum(records == 1 for _, records in views)
    if fine and len(views) > 1 and 2 * single > len(views):
        rounded = "frame[column].dt.floor('D')" if isinstance(fine[0], date) else "frame[column].round()"
        raise ValueError(
            f"the times of {column!r} are continuous, as {fine[0]!r}, and make {len(views):,} views, {single:,} of them of one "
            f"record; a view holds the records of one time, as a week or a year. Round them, as {rounded}, or pass the "
            "views yourself: History(View(rows, schema, time) for time, rows in frame.groupby(column))."
        )


def _is_fine(when: Any) -> bool:
    """Whether a time is a fractional number or has a time of day."""
    if isinstance(when, datetime):
        return when.time() != MIDNIGHT or getattr(when, "nanosecond", 0) > 0
    return isinstance(when, float) and not when.is_integer()
