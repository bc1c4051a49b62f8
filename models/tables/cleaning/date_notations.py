"""Notations of dates, and their conversion to ISO text, which sorts in the order of time."""

import re
from typing import NamedTuple

import pandas as pd

NUMBER = "a number"
"""Notation of whole and fractional numbers."""

NAME = "a name"
"""Notation of every other text."""


class DateNotation(NamedTuple):
    """A notation of dates.

    Attributes
    ----------
    pattern : str
        Regular expression of the whole cell.
    formats : tuple of str
        Formats of `strptime`, of which one reads the cells; two where day and month may be exchanged.
    written : str
        The format of the ISO text that is written.
    """

    pattern: str
    formats: tuple[str, ...]
    written: str


DAY, MONTH, QUARTER = "%Y-%m-%d", "%Y-%m", "%Y-Q%q"

CLOCK = r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?"
"""Pattern of a time of day."""

MONTH_NAME = r"(?i:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
"""Pattern of the name of a month in English, in full or abbreviated."""

DATE_NOTATIONS: dict[str, DateNotation] = {
    "2024-01": DateNotation(r"\d{4}-\d{1,2}", ("%Y-%m",), MONTH),
    "2024/01": DateNotation(r"\d{4}/\d{1,2}", ("%Y/%m",), MONTH),
    "01/2024": DateNotation(r"\d{1,2}/\d{4}", ("%m/%Y",), MONTH),
    "01-2024": DateNotation(r"\d{1,2}-\d{4}", ("%m-%Y",), MONTH),
    "01.2024": DateNotation(r"(0[1-9]|1[0-2])\.\d{4}", ("%m.%Y",), MONTH),
    "2024.01": DateNotation(r"\d{4}\.(0[1-9]|1[0-2])", ("%Y.%m",), MONTH),
    "2024-01-15": DateNotation(r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",), DAY),
    "2024/01/15": DateNotation(r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",), DAY),
    "2024.01.15": DateNotation(r"\d{4}\.\d{1,2}\.\d{1,2}", ("%Y.%m.%d",), DAY),
    "15.01.2024": DateNotation(r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",), DAY),
    "15/01/2024": DateNotation(r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y"), DAY),
    "15-01-2024": DateNotation(r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y"), DAY),
    "Jan 2024": DateNotation(rf"{MONTH_NAME} \d{{4}}", ("%b %Y",), MONTH),
    "15 Jan 2024": DateNotation(rf"\d{{1,2}} {MONTH_NAME} \d{{4}}", ("%d %b %Y",), DAY),
    "15-Jan-2024": DateNotation(rf"\d{{1,2}}-{MONTH_NAME}-\d{{4}}", ("%d-%b-%Y",), DAY),
    "2024-Q1": DateNotation(r"\d{4}[- ]?[Qq][1-4]", (r"(?P<year>\d{4})[- ]?[Qq](?P<quarter>\d)",), QUARTER),
    "Q1 2024": DateNotation(r"[Qq][1-4][-/ ]?\d{4}", (r"[Qq](?P<quarter>\d)[-/ ]?(?P<year>\d{4})",), QUARTER),
    "2024-01-15 10:30": DateNotation(rf"\d{{4}}-\d{{2}}-\d{{2}}{CLOCK}", ("ISO8601",), ""),
}
"""Notations that are recognized, by an example of each."""


def notation_of(text: str) -> str:
    """The key of the notation of a text in `DATE_NOTATIONS`, or `NUMBER` or `NAME`.

    >>> notation_of("1/2024"), notation_of("2024-01-15T10:00Z"), notation_of("7"), notation_of("wave 7")
    ('01/2024', '2024-01-15 10:30', 'a number', 'a name')
    """
    if re.fullmatch(r"[+-]?\d{1,4000}(\.\d+)?([eE][+-]?\d{1,3})?", text):
        return NUMBER
    return next((name for name, one in DATE_NOTATIONS.items() if re.fullmatch(one.pattern, text)), NAME)


def iso_texts(texts: list[str], read: str, written: str) -> list[str | None]:
    """Dates as ISO text; None where there is no such date.

    Parameters
    ----------
    texts : list of str
    read : str
        Format of `strptime`, ``ISO8601``, or a regular expression with the groups ``year`` and ``quarter``.
    written : str
        Format of the result; empty for the day, or for date and time of day if one is not midnight.
    """
    if written == QUARTER:
        return [f"{part['year']}-Q{part['quarter']}" if (part := re.fullmatch(read, text)) else None for text in texts]
    return iso_of_timestamps(timestamps_of(texts, read), written)


def timestamps_of(texts: list[str], read: str) -> "pd.Series[pd.Timestamp]":
    """Dates of a format of `strptime`, or ``ISO8601``; in UTC if they have a zone, and missing where there is no such date."""
    if "%b" in read and "%B" not in read:
        texts = [re.sub(MONTH_NAME, lambda name: name[1].capitalize(), text) for text in texts]
    with_zone = read == "ISO8601" or "%z" in read
    return _in_utc(pd.to_datetime(pd.Series(texts, dtype=object), format=read, errors="coerce", utc=with_zone))


def _in_utc(times: "pd.Series[pd.Timestamp]") -> "pd.Series[pd.Timestamp]":
    """Timestamps without a zone, in UTC if they have one."""
    return times if getattr(times.dtype, "tz", None) is None else times.dt.tz_convert("UTC").dt.tz_localize(None)


def iso_of_timestamps(times: "pd.Series[pd.Timestamp]", written: str = "") -> list[str | None]:
    """Timestamps as ISO text, in UTC if they have a time zone; None where one is missing."""
    times = _in_utc(times)
    if not written:
        known = times.dropna()
        written = DAY if bool((known == known.dt.normalize()).all()) else "isoformat"
    if written == "isoformat":
        whole = bool((times.dropna().dt.microsecond == 0).all())
        form = "%Y-%m-%dT%H:%M:%S" if whole else "%Y-%m-%dT%H:%M:%S.%f"
        return [None if pd.isna(time) else time.strftime(form) for time in times]
    return [None if pd.isna(time) else time.strftime(written) for time in times]


def written_by(read: str) -> str:
    """The format of the ISO text for a given format of `strptime`: as fine as what it reads."""
    if re.search(r"%[HIMSfpcXsT]", read):
        return ""
    if re.search(r"%[djDxuwaA]", read):
        return DAY
    return MONTH if re.search(r"%[mbB]", read) else "%Y"
