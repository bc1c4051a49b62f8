"""Cells that begin with a number: the number, and its unit."""

import math
import re
from typing import NamedTuple

from foreknow.models.tables.cleaning.spellings import folded

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
