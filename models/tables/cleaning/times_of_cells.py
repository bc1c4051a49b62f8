"""Times of records as numbers or ISO text, whose order is that of time; other notations are refused."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting, Wording
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.date_notations import (
    DATE_NOTATIONS,
    DAY,
    MONTH,
    MONTH_NAME,
    NAME,
    NUMBER,
    iso_of_timestamps,
    iso_texts,
    notation_of,
    timestamps_of,
    written_by,
)
from foreknow.models.tables.cleaning.distinct_cells import DistinctCells, distinct_cells
from foreknow.models.tables.cleaning.faults import Change, Fault, shown
from foreknow.models.tables.cleaning.spellings import stripped

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
