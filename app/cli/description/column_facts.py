"""Facts about each column of a file: its type, the number of distinct and of missing cells, likely marks of missing ones."""

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.tables.cleaning.date_notations import NAME, NUMBER, notation_of
from foreknow.models.tables.cleaning.distinct_cells import DistinctCells, distinct_cells
from foreknow.models.tables.cleaning.missing_cells import blank_as_missing
from foreknow.models.tables.cleaning.number_cells import number_cell
from foreknow.models.tables.cleaning.spellings import folded

# fmt: off
MISSING_MARKS = frozenset((
    "na", "n/a", "#n/a", "nan", "null", "none", "nil", "unknown", "missing", "not known", "?", "-", "--", ".",
    "unbekannt", "keine angabe", "k.a.", "inconnu", "desconocido", "sconosciuto",
))
# fmt: on
"""Texts that often mean a missing cell."""

NUMBERS, UNITS, CODES, DATES, NAMES, TEXT = "number", "number with unit", "code", "date", "name", "text"
"""Types of columns; a code has digits only, and begins with a zero in some cell."""

CODE = re.compile(r"0\d+")
"""A cell of digits that is not written as a number is."""

MIN_TEXT_LENGTH = 40
"""Mean number of characters of the distinct cells of a column of text."""


class ColumnFacts(NamedTuple):
    """Facts about a column.

    Attributes
    ----------
    name, kind : str
    records, distinct, missing : int
        Number of records, of distinct cells without the likely marks of missing ones, and of missing cells.
    marks : tuple of str
        Cells that probably mean a missing value.
    example : str
        The first cell; in a column of numbers with a unit, the first that has one.
    whole : bool
        True if every cell is a whole number.
    """

    name: str
    kind: str
    records: int
    distinct: int
    missing: int
    marks: tuple[str, ...]
    example: str
    whole: bool

    @property
    def share_distinct(self) -> float:
        """Number of distinct cells for each cell that is not missing."""
        return self.distinct / max(self.records - self.missing, 1)


def column_facts(column: "pd.Series[Any]") -> ColumnFacts:
    """Facts about one column. Cost: O(n)."""
    column = blank_as_missing(column, ())
    found = distinct_cells(column)
    marks = [code for code, cell in enumerate(found.cells) if isinstance(cell, str) and folded(cell) in MISSING_MARKS]
    known = [code for code in range(len(found.cells)) if code not in set(marks)]
    missing = int(column.isna().sum()) + found.records(marks)
    kind = _kind(column, found, known)
    shown = [code for code in known if _has_unit(found.cells[code])] if kind == UNITS else known
    return ColumnFacts(
        found.name,
        kind,
        len(column),
        len(known),
        missing,
        tuple(found.cells[code] for code in marks),
        str(found.cells[shown[0]]) if shown else "",
        all(str(found.cells[code]).lstrip("+-").isdigit() for code in known),
    )


def _has_unit(cell: object) -> bool:
    number = number_cell(str(cell).strip())
    return number is not None and bool(number.unit)


def _kind(column: "pd.Series[Any]", found: DistinctCells, known: list[int]) -> str:
    """The type of most cells."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return DATES
    if pd.api.types.is_numeric_dtype(column):
        return NUMBERS
    texts = {code: str(found.cells[code]).strip() for code in known}
    half = found.records(known) / 2
    notations = {code: notation_of(text) for code, text in texts.items()}
    if found.records([code for code, name in notations.items() if name not in (NAME, NUMBER)]) > half:
        return DATES
    numbers = {code: number for code, text in texts.items() if (number := number_cell(text)) is not None}
    if found.records([*numbers]) > half:
        if any(number.unit for number in numbers.values()):
            return UNITS
        return CODES if any(CODE.fullmatch(text) for text in texts.values()) else NUMBERS
    lengths = [len(text) for text in texts.values()]
    return TEXT if lengths and float(np.mean(lengths)) > MIN_TEXT_LENGTH else NAMES
