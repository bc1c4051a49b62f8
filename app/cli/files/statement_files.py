"""Files of statements P(value | quasi-identifiers) for the maximum-entropy attack."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from foreknow.attacks import ConditionalProbability
from foreknow.models import Categorical, Schema
from foreknow.models.settings import is_number
from foreknow.models.tables.files.table_files import read_table


def read_statements(path: Path, schema: Schema, encoding: str = "utf-8") -> list[ConditionalProbability]:
    """Read statements, one per row: columns ``value``, ``low``, ``high`` (optional), and quasi-identifiers.

    An empty cell of a quasi-identifier is no condition. A numeric attribute has a number or a range, as ``20..29``. An empty
    ``high``, or none, states the probability ``low``.

    Raises
    ------
    ValueError
        If a column is missing or unknown, or a cell does not fit the schema.
    """
    names = list(schema.quasi_identifiers)
    table = read_table(path, (*names, "value", "low", "high"), encoding).fillna("").astype(str)
    missing = [name for name in ("value", "low") if name not in table.columns]
    unknown = [name for name in table.columns if name not in (*names, "value", "low", "high")]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; statements have value, low, high and quasi-identifiers."
        )
    if unknown:
        raise ValueError(
            f"{path} has the column {unknown[0]!r}, which is no quasi-identifier; there are {', '.join(names)}."
        )
    return [_statement(path, number, cells, schema) for number, cells in enumerate(table.to_dict("records"), 2)]


def _statement(path: Path, line: int, cells: dict[Hashable, Any], schema: Schema) -> ConditionalProbability:
    place = f"{path}, row {line}"
    values = {str(value): value for value in schema.values}
    given = {
        name: _condition(place, name, kind, cells[name])
        for name, kind in schema.quasi_identifiers.items()
        if cells.get(name)
    }
    high = cells.get("high")
    return ConditionalProbability(
        values.get(cells["value"], cells["value"]),
        given,
        _number(place, "low", cells["low"]),
        _number(place, "high", high) if high else None,
    )


def _condition(place: str, name: str, kind: Any, cell: str) -> Any:
    if isinstance(kind, Categorical):
        return {str(value): value for value in kind.values}.get(cell, cell)
    low, dots, high = cell.partition("..")
    return (_number(place, name, low), _number(place, name, high)) if dots else _number(place, name, cell)


def _number(place: str, name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = float("nan")
    if not is_number(number, -float("inf")):
        raise ValueError(f"{place}: {name} is {cell!r}; it is a number, or for a quasi-identifier a range as 20..29.")
    return number
