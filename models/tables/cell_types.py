"""Cells as times and as numbers: notations, conversion, and what is no time or number."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting, Wording
from foreknow.models.settings import counted
from foreknow.models.tables.faults import (
    Change,
    DistinctCells,
    Fault,
    distinct_cells,
    first_rows,
    folded,
    shown,
    stripped,
)

type CleanedColumn = tuple["pd.Series[Any]", list[Fault], list[Change]]

NO_ORDER = "has times that are names, which have no order in time"
"""Problem of times such as ``baseline`` and ``follow-up``."""

IN_A_SPREADSHEET = " (in a spreadsheet, the date format YYYY-MM-DD)"

ROUND = Advice("round them in the file, or name a column of weeks, months or years, as ", Setting("time", "month"))


def ordered_times(column: "pd.Series[Any]", time_format: str | Sequence[str] | None = None) -> CleanedColumn:
    """Times whose order is that of time, and the faults or changes.

    Numbers stay numbers. Dates become ISO text of the same precision: ``2024-01``, ``2024-01-15``, ``2024-Q1``. Names stay if
    they are one word with a number, and their alphabetical order is that of the numbers. Missing cells stay missing.

    Parameters
    ----------
    column : Series
        Numbers, dates, timestamps or text.
    time_format : str or sequence of str, optional
        The formats of `strptime` of the cells, one for each notation; by default one notation is recognized.

    Notes
    -----
    Cost: O(n), and O(m) conversions of m distinct times.
    """
    times = _timestamps(column) if time_format is None else None
    if times is not None:
        found = distinct_cells(times)
        return _refused_if_fine(column, found, iso_of_timestamps(pd.Series(found.cells)), [])
    if pd.api.types.is_numeric_dtype(column) and time_format is None:
        return _whole(column), [], []
    found = distinct_cells(column)
    found = found._replace(cells=[stripped(str(cell)) for cell in found.cells])
    if time_format is None:
        return _recognized(column, found)
    return _with_formats(column, found, [time_format] if isinstance(time_format, str) else time_format)


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


def _with_formats(column: "pd.Series[Any]", found: DistinctCells, formats: Sequence[str]) -> CleanedColumn:
    """Times of given formats, each of which reads the cells of one notation."""
    readings = pd.concat([timestamps_of(found.cells, one) for one in formats], axis=1)
    listed = " or ".join(map(repr, formats))
    wrong = np.flatnonzero(readings.isna().all(axis=1)).tolist()
    if wrong:
        way_out = Advice("correct them, or set another ", Wording("time_format", "--time-format"))
        return column, [found.fault(f"has times that are not of the form {listed}", wrong, way_out)], []
    if twice := np.flatnonzero(readings.min(axis=1) != readings.max(axis=1)).tolist():
        one, other = dict.fromkeys(iso_of_timestamps(readings.iloc[twice[0]].dropna()))
        problem = f"has times that two of the forms {listed} read as different dates ({one} or {other})"
        return column, [found.fault(problem, twice, f"write the one that is meant, as {one}")], []
    written = written_by(formats[0])
    new = iso_of_timestamps(readings.bfill(axis=1)[0], written)
    if written == "%Y":
        return found.replaced(column, [int(text or 0) for text in new]), [], []
    changes = _change(found, new) if len(formats) == 1 else [_notations_read(found, readings, formats, new)]
    return _refused_if_fine(column, found, new, changes)


def _notations_read(found: DistinctCells, readings: pd.DataFrame, formats: Sequence[str], new: list[Any]) -> Change:
    """The change of times of several formats: the number of cells of each, with the first of them."""
    of = readings.notna().to_numpy().argmax(axis=1)
    parts = []
    for place, one in enumerate(formats):
        codes = np.flatnonzero(of == place).tolist()
        other = [code for code in codes if new[code] != found.cells[code]]
        example = f" ({shown(found.cells[other[0]])} is {new[other[0]]})" if other else ""
        parts.append(f"{counted(found.records(codes), 'cell')} of the form {one!r}{example}")
    cells = sum(found.records([code]) for code, text in enumerate(new) if text != found.cells[code])
    return Change(found.name, cells, f"{found.name!r}: dates in {len(formats)} notations are read: {'; '.join(parts)}.")


def _recognized(column: "pd.Series[Any]", found: DistinctCells) -> CleanedColumn:
    """Times of a notation that is recognized."""
    of: dict[str, list[int]] = defaultdict(list)
    for code, text in enumerate(found.cells):
        of[notation_of(text)].append(code)
    if not of:
        return column, [], []
    if len(of) > 1:
        return column, [_mixed(found, of)], []
    (name,) = of
    if name == NUMBER:
        name = _months_with_a_point(found.cells) or NUMBER
    if name == NUMBER:
        return found.replaced(column, [_number(text) for text in found.cells]).infer_objects(), [], []
    if name == NAME:
        return found.replaced(column, found.cells), _faults_of_names(found), []
    return _dates(column, found, name)


def _mixed(found: DistinctCells, of: dict[str, list[int]]) -> Fault:
    """The fault of times in several notations, with the first cell of each; dates of one precision have a format for each."""
    dates = [name for name in of if name in DATE_NOTATIONS]
    finest = max(dates, key=lambda name: len(DATE_NOTATIONS[name].written or DAY), default="2024-01")
    ways: list[Any] = [f"write all times in one notation, as {_example(found, finest, of.get(finest, []))}"]
    ways.append(_english(found.cells[code] for code in of.get(NAME, [])))
    if formats := _formats_of_each(found, of):
        ways += [", or set ", _formats_in_words(formats)]
    elif DATE_NOTATIONS[finest].written in ("", DAY):
        ways.append(IN_A_SPREADSHEET)
    if NAME in of:
        ways += [", or name the text of a missing time, as ", Setting("missing_texts", ["unknown"])]
    problem, records = f"has times in {len(of)} notations", found.records(*of.values())
    return Fault(found.name, problem, found.first_of_each(of.values()), records, Advice(*ways), True)


def _example(found: DistinctCells, name: str, codes: list[int]) -> str:
    """The first date of a notation in ISO notation, to the day if it has a time of day."""
    notation = DATE_NOTATIONS[name]
    texts = [found.cells[code] for code in sorted(codes, key=lambda code: found.first[code])]
    read = [text for form in notation.formats for text in iso_texts(texts, form, notation.written or DAY) if text]
    return read[0] if read else "2024-01"


def _formats_of_each(found: DistinctCells, of: dict[str, list[int]]) -> list[list[str]]:
    """The formats that read all cells of each notation; none unless all are dates of one precision."""
    notations = [DATE_NOTATIONS.get(name) for name in of]
    if {one.written if one else "" for one in notations} not in ({DAY}, {MONTH}):
        return []
    texts = [[found.cells[code] for code in codes] for codes in of.values()]
    pairs = zip((one for one in notations if one), texts, strict=True)
    formats = [
        [read for read in one.formats if None not in iso_texts(cells, read, one.written)] for one, cells in pairs
    ]
    return formats if all(formats) else []


def _formats_in_words(formats: list[list[str]]) -> Advice:
    """The setting with one format for each notation, and the other format where day and month cannot be told apart."""
    others = [f" ({two[1]!r} for {two[0]!r} if the month is first)" for two in formats if len(two) > 1]
    return Advice(Setting("time_format", [one[0] for one in formats], settles=not others), *others)


def _dates(column: "pd.Series[Any]", found: DistinctCells, name: str) -> CleanedColumn:
    """Dates of one notation as ISO text."""
    notation = DATE_NOTATIONS[name]
    readings = [iso_texts(found.cells, one, notation.written) for one in notation.formats]
    possible = [place for place, new in enumerate(readings) if None not in new]
    if not possible:
        return column, [_impossible(found, readings)], []
    if len(possible) > 1 and readings[0] != readings[1]:
        code = next(code for code, pair in enumerate(zip(*readings, strict=True)) if pair[0] != pair[1])
        problem = f"has dates whose day and month cannot be told apart ({readings[0][code]} or {readings[1][code]})"
        way_out = _either(*notation.formats)
        records = found.records([*range(len(found.cells))])
        return column, [Fault(found.name, problem, (found.example(code),), records, way_out)], []
    new = readings[possible[0]]
    return _refused_if_fine(column, found, new, _change(found, new))


def _impossible(found: DistinctCells, readings: list[list[str | None]]) -> Fault:
    """The fault of dates that no reading of day and month makes all possible."""
    wrong = [code for code in range(len(found.cells)) if all(new[code] is None for new in readings)]
    if wrong:
        return found.fault("has dates that do not exist", wrong, "correct them")
    day_first, month_first = ([code for code, text in enumerate(new) if text is None] for new in readings[::-1])
    both = found.first_of_each([day_first, month_first])
    problem = "has dates with the day first and dates with the month first"
    return Fault(
        found.name,
        problem,
        both,
        found.records(day_first, month_first),
        f"write them as 2024-01-15{IN_A_SPREADSHEET}",
        True,
    )


def _refused_if_fine(
    column: "pd.Series[Any]", found: DistinctCells, new: list[Any], changes: list[Change]
) -> CleanedColumn:
    """ISO times; those of which most have a time of day and one record are a fault."""
    single = int((found.number == 1).sum())
    if len(new) > 1 and 2 * single > len(new) and any("T" in text for text in new):
        problem = f"has times of day, which make {len(new):,} releases, {single:,} of them of one record"
        return column, [found.fault(problem, [*range(len(new))], ROUND)], []
    return found.replaced(column, new), [], changes


def _change(found: DistinctCells, new: list[str | None]) -> list[Change]:
    """The change of dates that were not written in ISO notation."""
    other = [code for code, text in enumerate(new) if text != found.cells[code]]
    if not other:
        return []
    code = min(other, key=lambda code: found.first[code])
    records = found.records(other)
    sentence = f"{found.name!r}: dates such as {shown(found.cells[code])} are read as {new[code]} ({records:,} cells)."
    return [Change(found.name, records, sentence)]


def _months_with_a_point(texts: list[str]) -> str | None:
    """The notation of texts that are all months written with a point, which alone would be fractions."""
    for name, pattern in (("01.2024", r"(0[1-9]|1[0-2])\.(19|20)\d\d"), ("2024.01", r"(19|20)\d\d\.(0[1-9]|1[0-2])")):
        if all(re.fullmatch(pattern, text) for text in texts):
            return name
    return None


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _faults_of_names(found: DistinctCells) -> list[Fault]:
    """Faults of times that are neither numbers nor dates."""
    everything = [*range(len(found.cells))]
    if len(found.cells) < 2:
        return []
    months = [code for code in everything if re.fullmatch(r"\d{1,2}([/.-])\d{1,2}\1\d{2}", found.cells[code])]
    if months:
        return [found.fault("has dates with a year of two digits", months, _either("%d/%m/%y", "%m/%d/%y"))]
    if all(re.fullmatch(MONTH_NAME, text) for text in found.cells):
        return [found.fault("has months without a year", everything, "write year and month, as 2024-01")]
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
        return column, _infinite(column), []
    found = distinct_cells(column)
    if not any(isinstance(cell, str) for cell in found.cells):
        return column, [], []
    parsed = {code: number_cell(stripped(str(cell))) for code, cell in enumerate(found.cells)}
    numbers = {code: cell for code, cell in parsed.items() if cell is not None}
    if not asked and not _holds_numbers(found, numbers):
        return column, [], []
    faults = [
        *_words(found, [code for code in parsed if code not in numbers]),
        *_units(found, numbers, asked),
        *_commas(found, numbers, decimal),
    ]
    if faults:
        return column, faults, []
    new = found.replaced(column, [cell.value for cell in numbers.values()])
    return pd.to_numeric(new), [], _changes(found, numbers)


def _infinite(column: "pd.Series[Any]") -> list[Fault]:
    """The fault of infinite numbers."""
    infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if not infinite.any():
        return []
    number = int(infinite.sum())
    problem = f"has {counted(number, 'infinite number')}, and a quasi-identifier is a finite number"
    return [Fault(str(column.name), problem, first_rows(infinite), number, "correct them, or leave them empty")]


class NumberCell(NamedTuple):
    """A number as it is written, and its unit; an empty unit if there is none."""

    number: str
    unit: str

    @property
    def value(self) -> int | float:
        """The number, with a comma as the decimal sign."""
        text = self.number.replace(",", ".")
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)

    @property
    def may_be_thousands(self) -> bool:
        """True if the comma may separate thousands."""
        return THOUSANDS.fullmatch(self.number) is not None


def _holds_numbers(found: DistinctCells, numbers: dict[int, NumberCell]) -> bool:
    """Return whether most cells begin with a number, and not all are plain numbers, kept as text on purpose."""
    most = 2 * found.records([*numbers]) > found.records([*range(len(found.cells))])
    plain = all(cell.unit == "" and "," not in cell.number for cell in numbers.values())
    return most and not (plain and len(numbers) == len(found.cells))


def _words(found: DistinctCells, words: list[int]) -> list[Fault]:
    if not words:
        return []
    cells = found.records([*range(len(found.cells))])
    problem = f"holds numbers, and other text in {found.records(words):,} of {cells:,} cells"
    missing, codes = Setting("missing_texts", ["NA"]), Setting("categorical", [found.name])
    mean = "correct them, name those that mean a missing value, as "
    way_out = Advice(mean, missing, ", or set ", codes, " if its numbers are codes")
    return [found.fault(problem, words, way_out)]


def _units(found: DistinctCells, numbers: dict[int, NumberCell], asked: bool) -> list[Fault]:
    """The fault of numbers in several units, or in one unit that was not declared."""
    names = Setting("categorical", [found.name])
    units = dict.fromkeys(cell.unit for cell in numbers.values() if cell.unit)
    by_unit = {unit: [code for code, cell in numbers.items() if cell.unit == unit] for unit in units}
    if len(units) > 1:
        way_out = Advice("write all numbers in one unit, or set ", names, " if they are names")
        problem, listed = f"has numbers in {len(units)} units", found.first_of_each(by_unit.values())
        return [Fault(found.name, problem, listed, found.records(*by_unit.values()), way_out, True)]
    if not units or asked:
        return []
    ((unit, codes),) = by_unit.items()
    numeric = Setting("numbers", [found.name], settles=True)
    way_out = Advice("set ", numeric, " to read the numbers without the unit, or ", names, " if they are names")
    return [
        found.fault(
            f"has numbers with the unit {shown(unit)} in {counted(found.records(codes), 'cell')}", codes, way_out
        )
    ]


def _commas(found: DistinctCells, numbers: dict[int, NumberCell], decimal: str | None) -> list[Fault]:
    """The fault of commas that may separate thousands, or stand beside decimal points."""
    commas = [code for code, cell in numbers.items() if "," in cell.number]
    if not commas or decimal == ",":
        return []
    if decimal is None and not all(numbers[code].may_be_thousands for code in commas):
        points = [code for code, cell in numbers.items() if "." in cell.number]
        if not points:
            return []
        both, records = found.first_of_each([commas, points]), found.records(commas, points)
        return [
            Fault(
                found.name,
                "has decimal commas and decimal points",
                both,
                records,
                "write all numbers with points",
                True,
            )
        ]
    comma = Setting("decimal", ",")
    way_out = Advice("write the numbers without commas, or set ", comma, " if the comma is the decimal sign")
    return [found.fault("has numbers with commas, which may separate thousands", commas, way_out)]


def _changes(found: DistinctCells, numbers: dict[int, NumberCell]) -> list[Change]:
    """The changes of units that were removed and of commas that were read as decimal signs."""
    units = [code for code, cell in numbers.items() if cell.unit]
    commas = [code for code, cell in numbers.items() if "," in cell.number]
    changes = []
    if units:
        cells, without = found.records(units), found.records([*numbers]) - found.records(units)
        beside = f"; {counted(without, 'cell')} without a unit read as the same" if without else ""
        removed = (
            f"{found.name!r}: the unit {shown(numbers[units[0]].unit)} removed from {counted(cells, 'cell')}{beside}."
        )
        changes.append(Change(found.name, cells, removed))
    if commas:
        cells = found.records(commas)
        read = f"{found.name!r}: the comma of {counted(cells, 'cell')} read as the decimal sign."
        changes.append(Change(found.name, cells, read))
    return changes


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
