"""Cells as times and as numbers: notations, conversion, and what is no time or number."""

import math
import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting, Wording
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import counted
from foreknow.models.tables.faults import (
    Change,
    CleanedColumn,
    DistinctCells,
    Fault,
    distinct_cells,
    first_rows,
    folded,
    shown,
    stripped,
)

type Dates = "pd.Series[pd.Timestamp]"

YEAR, MONTH, DAY, QUARTER, CLOCK = "%Y", "%Y-%m", "%Y-%m-%d", "%Y-Q%q", "ISO8601"

DATE_FORMATS = (
    *(DAY, "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y"),
    *(MONTH, "%Y/%m", "%Y.%m", "%m/%Y", "%m-%Y", "%m.%Y", "%b %Y", QUARTER, CLOCK),
)
"""Formats of dates that are recognized: of `strptime`, of quarters, and of dates with a time of day."""

CLOCK_CELL = r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:Z|[+-]\d{2}:?\d{2})?"

QUARTER_CELL = r"^(?:(\d{4})[- ]?[Qq]([1-4])|[Qq]([1-4])[-/ ]?(\d{4}))$"

MONTH_NAME = re.compile(r"(?i)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?")
"""The name of a month in English, in full or abbreviated."""

NUMBER = re.compile(r"[+-]?\d{1,4000}(\.\d+)?([eE][+-]?\d{1,3})?")

MONTH_WITH_A_POINT = re.compile(r"(0[1-9]|1[0-2])\.(19|20)\d\d|(19|20)\d\d\.(0[1-9]|1[0-2])")
"""A month that alone would be a fraction; a column of such cells holds months."""

SAMPLE = 100
"""Number of cells of which a format reads at least one if it is tried on all."""

SEVERAL = "has times in several notations"

NO_ORDER = "has times that are names, which have no order in time"
"""Problem of times such as ``baseline`` and ``follow-up``."""

TIME_FORMAT = Wording("time_format", "--time-format")

ROUND = Advice("round them in the file, or name a column of weeks, months or years, as ", Setting("time", "month"))


def ordered_times(column: "pd.Series[Any]", time_format: str | None = None) -> CleanedColumn:
    """Times whose order is that of time, and the faults or changes.

    Numbers stay numbers. Dates become ISO text of the same precision: ``2024-01``, ``2024-01-15``, ``2024-Q1``. Names stay if
    they are one word with a number, and their alphabetical order is that of the numbers. Missing cells stay missing.

    Parameters
    ----------
    column : Series
        Numbers, dates, timestamps or text.
    time_format : str, optional
        The format of `strptime` of all cells; by default the one of `DATE_FORMATS` that reads all of them.

    Notes
    -----
    Cost: O(n), and O(m) conversions of m distinct times.
    """
    if time_format is None and (times := _timestamps(column)) is not None:
        found = distinct_cells(times)
        return _as_dates(column, found, pd.Series(found.cells), "")
    if time_format is None and pd.api.types.is_numeric_dtype(column):
        return _whole(column), [], []
    found = distinct_cells(column)
    found = found._replace(cells=[stripped(str(cell)) for cell in found.cells])
    if time_format is not None:
        dates = dates_of(found.cells, time_format)
        if wrong := np.flatnonzero(dates.isna()).tolist():
            way_out = Advice("correct them, or set another ", TIME_FORMAT)
            return column, [found.fault(f"has times that are not of the form {time_format!r}", wrong, way_out)], []
        return _as_dates(column, found, dates, written_by(time_format))
    if all(map(NUMBER.fullmatch, found.cells)) and not all(map(MONTH_WITH_A_POINT.fullmatch, found.cells)):
        return found.replaced(column, list(map(_number, found.cells))).infer_objects(), [], []
    return _recognized(column, found)


def _timestamps(column: "pd.Series[Any]") -> "pd.Series[Any] | None":
    """The column as timestamps if it holds dates or timestamps."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    cells = column.dropna().unique().tolist() if column.dtype == object else []
    if not cells or not all(isinstance(cell, date) for cell in cells):
        return None
    has_zone = any(isinstance(cell, datetime) and cell.tzinfo is not None for cell in cells)
    return pd.to_datetime(column, utc=has_zone)


def _whole(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Floats as integers if all of them are whole: a missing cell makes pandas read integers as floats."""
    known = column.dropna()
    is_float = isinstance(column.dtype, np.dtype) and column.dtype.kind == "f"
    if is_float and column.isna().any() and np.isfinite(known).all() and (known % 1 == 0).all():
        return column.astype("Int64")
    return column


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _recognized(column: "pd.Series[Any]", found: DistinctCells) -> CleanedColumn:
    """Texts as dates of the one format that reads all of them; as names if no format reads any."""
    readings = date_readings(found.cells)
    if not readings:
        return found.replaced(column, found.cells), _faults_of_names(found), []
    complete = {form: dates for form, dates in readings.items() if dates.notna().all()}
    if not complete:
        return column, [_mixed(found, readings)], []
    (form, dates), *others = complete.items()
    for other, otherwise in others:
        if (code := int((dates != otherwise).to_numpy().argmax())) or dates[0] != otherwise[0]:
            one, two = (iso_of(each[[code]], DAY)[0] for each in (dates, otherwise))
            problem = f"has dates whose day and month cannot be told apart ({one} or {two})"
            records = found.records([*range(len(found.cells))])
            return column, [Fault(found.name, problem, (found.example(code),), records, _either(form, other))], []
    return _as_dates(column, found, dates, written_by(form))


def text_out_of_order(texts: list[str]) -> str | None:
    """The first text whose order need not be that of time; None for dates with the year first, as 2024-01."""
    times, faults, _ = ordered_times(pd.Series(texts, name="time", dtype=object))
    if faults:
        return texts[0]
    return next((text for text, time in zip(texts, times.tolist(), strict=True) if text != time), None)


def date_readings(texts: list[str]) -> dict[str, Dates]:
    """The dates of texts by each format that reads some of them."""
    if not any(re.search(r"\d{4}", text) for text in texts):
        return {}
    formats = [form for form in DATE_FORMATS if dates_of(texts[:SAMPLE], form).notna().any()]
    return {form: dates_of(texts, form) for form in formats}


def are_dates(texts: list[str]) -> BoolArray:
    """Mask of the texts that are dates and not numbers. Cost: O(m) for m texts."""
    numbers = np.array([NUMBER.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    read = [dates.notna().to_numpy() for dates in date_readings(texts).values()]
    return np.any([np.zeros(len(texts), dtype=np.bool_), *read], axis=0) & ~numbers


def dates_of(texts: list[str], form: str) -> Dates:
    """Dates of one format; in UTC if they have a time zone, and missing where there is no such date."""
    cells: pd.Series[Any] = pd.Series(texts, dtype=object)
    if form == QUARTER:
        first = cells.str.extract(QUARTER_CELL)
        quarters = first[0].fillna(first[3]) + "Q" + first[1].fillna(first[2])
        return pd.Series(pd.PeriodIndex(quarters, freq="Q").to_timestamp())
    if form == CLOCK:
        cells = cells.where(cells.str.fullmatch(CLOCK_CELL))
    elif "%b" in form:
        cells = cells.str.replace(MONTH_NAME, r"\1", regex=True)
    has_zone = form == CLOCK or "%z" in form
    return _in_utc(pd.to_datetime(cells, format=form, errors="coerce", utc=has_zone))


def _in_utc(times: Dates) -> Dates:
    """Timestamps without a zone, in UTC if they have one."""
    return times if getattr(times.dtype, "tz", None) is None else times.dt.tz_convert("UTC").dt.tz_localize(None)


def written_by(form: str) -> str:
    """The format of the ISO text for a format that is read, of the same precision; empty for a time of day."""
    if form == QUARTER:
        return QUARTER
    if form == CLOCK or re.search(r"%[HIMSfpcXsT]", form):
        return ""
    if re.search(r"%[djDxuwaA]", form):
        return DAY
    return MONTH if re.search(r"%[mbB]", form) else YEAR


def iso_of(times: Dates, written: str) -> list[str]:
    """Timestamps as ISO text; of days if ``written`` is empty and all are midnights."""
    times = _in_utc(times)
    if not written:
        whole = (times.dt.microsecond == 0).all()
        written = "%Y-%m-%dT%H:%M:%S" if whole else "%Y-%m-%dT%H:%M:%S.%f"
        written = DAY if (times == times.dt.normalize()).all() else written
    if written == QUARTER:
        return times.dt.to_period("Q").dt.strftime(QUARTER).tolist()
    return [time.strftime(written) for time in times]


def _as_dates(column: "pd.Series[Any]", found: DistinctCells, dates: Dates, written: str) -> CleanedColumn:
    """Dates as ISO text, and years as numbers; times of day that make most releases of one record are a fault."""
    new = iso_of(dates, written)
    if written == YEAR:
        return found.replaced(column, list(map(int, new))), [], []
    single = int((found.number == 1).sum())
    if len(new) > 1 and 2 * single > len(new) and any("T" in text for text in new):
        problem = f"has times of day, which make {len(new):,} releases, {single:,} of them of one record"
        return column, [found.fault(problem, [*range(len(new))], ROUND)], []
    pairs = zip(found.cells, new, strict=True)
    other = [code for code, (cell, text) in enumerate(pairs) if isinstance(cell, str) and text != cell]
    if not other:
        return found.replaced(column, new), [], []
    code, records = other[0], found.records(other)
    sentence = f"{found.name!r}: dates such as {shown(found.cells[code])} are read as {new[code]} ({records:,} cells)."
    return found.replaced(column, new), [], [Change(found.name, records, sentence)]


def _mixed(found: DistinctCells, readings: dict[str, Dates]) -> Fault:
    """The fault of cells of which no format reads all, with the first of each notation, the most frequent format first."""
    known = {form: dates.notna().to_numpy() for form, dates in readings.items()}
    formats = sorted(known, key=lambda form: -int(found.number[known[form]].sum()))
    of = np.column_stack([*(known[form] for form in formats), np.ones(len(found.cells), dtype=np.bool_)]).argmax(axis=1)
    kinds = [np.flatnonzero(of == kind).tolist() for kind in np.unique(of)]
    written = written_by(formats[0]) or DAY
    example = iso_of(readings[formats[0]].dropna().head(1), written)[0]
    ways: list[Any] = ["correct them, or write all times in one notation, as ", example]
    if written == DAY:
        ways.append(" (in a spreadsheet, the date format YYYY-MM-DD)")
    ways += [", or in one that is named by ", TIME_FORMAT]
    if is_unread := bool(of.max() == len(formats)):
        ways.append(_english(found.cells[code] for code in kinds[-1]))
        ways += [", or name the text of a missing time, as ", Setting("missing_texts", ["unknown"])]
    problem = SEVERAL + (", or dates that do not exist" if is_unread else "")
    return Fault(found.name, problem, found.first_of_each(kinds), found.records(*kinds), Advice(*ways), True)


def _faults_of_names(found: DistinctCells) -> list[Fault]:
    """Faults of times that are neither numbers nor dates."""
    everything = [*range(len(found.cells))]
    if len(found.cells) < 2:
        return []
    short = [code for code in everything if re.fullmatch(r"\d{1,2}([/.-])\d{1,2}\1\d{2}", found.cells[code])]
    if short:
        return [found.fault("has dates with a year of two digits", short, _either("%d/%m/%y", "%m/%d/%y"))]
    if all(map(MONTH_NAME.fullmatch, found.cells)):
        return [found.fault("has months without a year", everything, "write year and month, as 2024-01")]
    numbers = [code for code in everything if NUMBER.fullmatch(found.cells[code])]
    if numbers:
        listed = found.first_of_each([numbers, [code for code in everything if code not in set(numbers)]])
        way_out = "write all times in one notation, as numbers or as 2024-01"
        return [Fault(found.name, SEVERAL, listed, found.records(everything), way_out, True)]
    shapes = {re.sub(r"[0-9]+", "0", text) for text in found.cells}
    way_out = "write them as numbers, or as dates with the year first: 2024-01" + _english(found.cells)
    if len(shapes) > 1 or not any("0" in shape for shape in shapes):
        return [found.fault(NO_ORDER, everything, way_out)]
    for one, other in zip(sorted(found.cells), sorted(found.cells, key=_with_numbers), strict=True):
        if one != other:
            problem = f"has times that are text, and as text {shown(one)} comes before {shown(other)}"
            return [Fault(found.name, problem, (), found.records(everything), way_out)]
    return []


def _either(one: str, other: str) -> Advice:
    """Advice where times have two readings, and the user knows which is meant."""
    return Advice("set ", Setting("time_format", one), " or ", Setting("time_format", other))


def _english(texts: Iterable[str]) -> str:
    """The rule for names of months, if a text that is not understood may hold one: a word beside a year."""
    is_month = any(re.search(r"[^\W\d_]{3,}", text) and re.search(r"(19|20)\d\d", text) for text in texts)
    return " (names of months are read in English alone)" if is_month else ""


def _with_numbers(text: str) -> list[object]:
    """Sort key that compares numbers within a text as numbers, of any length."""
    parts = re.split(r"([0-9]+)", text)
    return [(len(part.lstrip("0")), part.lstrip("0")) if place % 2 else part for place, part in enumerate(parts)]


type Period = Literal["week", "month", "quarter", "year"]

PERIODS: dict[Period, tuple[str, int]] = {
    "week": ("%G-W%V", 10),
    "month": (MONTH, 7),
    "quarter": (QUARTER, 7),
    "year": (YEAR, 4),
}
"""Formats of periods, and the least number of characters of an ISO text that tells them."""


def in_periods(column: "pd.Series[Any]", period: Period) -> CleanedColumn:
    """A column of cleaned times, each replaced by its period, as 2024-W05, 2024-02, 2024-Q1 or 2024; and the faults or changes."""
    found, (written, least) = distinct_cells(column), PERIODS[period]
    texts = [str(cell) for cell in found.cells]
    dates = pd.to_datetime(pd.Series(texts, dtype=object), format="ISO8601", errors="coerce")
    unread = [code for code, text in enumerate(texts) if pd.isna(dates[code]) or len(text) < least]
    if unread:
        way_out = Advice("write dates, or leave out ", Setting("period", period))
        return column, [found.fault(f"has times that tell no {period}", unread, way_out)], []
    new = iso_of(dates, written)
    number, sentence = len(set(new)), f"{found.name!r}: {counted(len(texts), 'time')} read as "
    change = Change(found.name, len(column), f"{sentence}{counted(number, period)}, one release each.")
    return found.replaced(column, [*map(int, new)] if written == YEAR else new), [], [change]


def plain_numbers(column: "pd.Series[Any]", asked: bool, decimal: str | None) -> CleanedColumn:
    """A column of numbers as numbers, and the faults or changes; a column of names is returned unchanged.

    Parameters
    ----------
    column : Series
        A quasi-identifier that is not declared categorical.
    asked : bool
        The column was declared to hold numbers: units are removed.
    decimal : {".", ","} or None
        The decimal sign. None: a point, and a comma where it cannot separate thousands.

    Notes
    -----
    A text column holds numbers if more than half of its cells begin with one. Cost: O(n).
    """
    if pd.api.types.is_numeric_dtype(column):
        infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
        problem = f"has {counted(infinite.sum(), 'infinite number')}, and a quasi-identifier is a finite number"
        way_out = "correct them, or leave them empty"
        fault = Fault(str(column.name), problem, first_rows(infinite), int(infinite.sum()), way_out)
        return column, [fault] if infinite.any() else [], []
    found = distinct_cells(column)
    parsed = {code: number_cell(stripped(str(cell))) for code, cell in enumerate(found.cells)}
    numbers = {code: cell for code, cell in parsed.items() if cell is not None}
    is_text = any(isinstance(cell, str) for cell in found.cells)
    if not is_text or not (asked or _holds_numbers(found, numbers)):
        return column, [], []
    words = [code for code in parsed if code not in numbers]
    units = [code for code, cell in numbers.items() if cell.unit]
    commas = [code for code, cell in numbers.items() if "," in cell.number]
    faults = []
    if words:
        problem = f"holds numbers, and other text in {found.records(words):,} of {found.records([*parsed]):,} cells"
        mean, missing = "correct them, name those that mean a missing value, as ", Setting("missing_texts", ["NA"])
        codes = Setting("categorical", [found.name])
        way_out = Advice(mean, missing, ", or set ", codes, " if its numbers are codes")
        faults.append(found.fault(problem, words, way_out))
    if units and not (asked and len({numbers[code].unit for code in units}) == 1):
        faults.append(_units(found, numbers, units))
    # A comma is the decimal sign where one cannot separate thousands, and no number has a point.
    separates = all(THOUSANDS.fullmatch(numbers[code].number) for code in commas)
    is_decimal = not separates and not any("." in cell.number for cell in numbers.values())
    if commas and decimal != "," and (decimal == "." or not is_decimal):
        comma = Setting("decimal", ",")
        way_out = Advice("write the numbers without commas, or set ", comma, " if the comma is the decimal sign")
        faults.append(found.fault("has numbers with commas, which may separate thousands", commas, way_out))
    if faults:
        return column, faults, []
    changes = []
    if units:
        cells, without = found.records(units), found.records([*numbers]) - found.records(units)
        beside = f"; {counted(without, 'cell')} without a unit read as the same" if without else ""
        unit = shown(numbers[units[0]].unit)
        removed = f"{found.name!r}: the unit {unit} removed from {counted(cells, 'cell')}{beside}."
        changes.append(Change(found.name, cells, removed))
    if commas:
        cells = found.records(commas)
        read = f"{found.name!r}: the comma of {counted(cells, 'cell')} read as the decimal sign."
        changes.append(Change(found.name, cells, read))
    return pd.to_numeric(found.replaced(column, [cell.value for cell in numbers.values()])), [], changes


def holds_whole_numbers(column: "pd.Series[Any]") -> bool:
    """Return whether every cell is a whole number of 64 bits, or the text that such a number is written as."""
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all())
    return isinstance(column.dtype, np.dtype) and column.dtype.kind == "i"


class NumberCell(NamedTuple):
    """A number as it is written, and its unit; an empty unit if there is none."""

    number: str
    unit: str

    @property
    def value(self) -> int | float:
        """The number, with a comma as the decimal sign."""
        return _number(self.number.replace(",", "."))


CELL = re.compile(
    r"(?P<number>[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,3})?)\s*(?P<unit>[^\W\d_][^\d,;]*|[%°$€£][^\d]*)?"
)
"""A number, with a unit or without."""

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""A number whose comma may separate thousands."""

YEARS = ("y", "yr", "yrs", "year", "years", "yo", "y/o", "y.o.", "years old", "j", "jahre", "ans", "anni", "años")
"""Units that mean years."""

MAX_NUMBER_LENGTH = 100
"""Characters of the longest cell that is read as a number."""


def number_cell(text: str) -> NumberCell | None:
    """Split a cell into number and unit; None for another text.

    >>> number_cell("43 Y"), number_cell("1,5"), number_cell("40-49"), number_cell("forty")
    (NumberCell(number='43', unit='years'), NumberCell(number='1,5', unit=''), None, None)
    """
    match = CELL.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if match is None or not math.isfinite(float(match["number"].replace(",", "."))):
        return None
    unit = folded(match["unit"] or "")
    return NumberCell(match["number"], "years" if unit.rstrip(".") in YEARS else unit)


def _holds_numbers(found: DistinctCells, numbers: dict[int, NumberCell]) -> bool:
    """Return whether most cells begin with a number, and not all are plain numbers, kept as text on purpose."""
    most = 2 * found.records([*numbers]) > found.records([*range(len(found.cells))])
    plain = all(cell.unit == "" and "," not in cell.number for cell in numbers.values())
    return most and not (plain and len(numbers) == len(found.cells))


def _units(found: DistinctCells, numbers: dict[int, NumberCell], codes: list[int]) -> Fault:
    """The fault of numbers in several units, or in one unit that was not declared."""
    names = Setting("categorical", [found.name])
    units = dict.fromkeys(numbers[code].unit for code in codes)
    if len(units) > 1:
        way_out = Advice("write all numbers in one unit, or set ", names, " if they are names")
        listed = found.first_of_each([code for code in codes if numbers[code].unit == unit] for unit in units)
        problem = f"has numbers in {len(units)} units"
        return Fault(found.name, problem, listed, found.records(codes), way_out, True)
    numeric = Setting("numbers", [found.name], settles=True)
    way_out = Advice("set ", numeric, " to read the numbers without the unit, or ", names, " if they are names")
    cells = counted(found.records(codes), "cell")
    return found.fault(f"has numbers with the unit {shown(next(iter(units)))} in {cells}", codes, way_out)
