"""Columns of numbers that are written with units or decimal commas: read as numbers, or refused."""

from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.distinct_cells import DistinctCells, distinct_cells
from foreknow.models.tables.cleaning.faults import Change, Fault, first_rows, shown
from foreknow.models.tables.cleaning.number_cells import NumberCell, number_cell
from foreknow.models.tables.cleaning.spellings import stripped
from foreknow.models.tables.cleaning.times_of_cells import CleanedColumn


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
