"""Columns of tables on disk: checks of their names and types, and their distinct cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from foreknow.app.disk.sql_files import quoted
from foreknow.models import Schema
from foreknow.models.tables.view import added_column

WHOLE = {
    "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint", "uhugeint",
}  # fmt: skip
"""Types of DuckDB whose cells are whole numbers."""

NUMBERS = WHOLE | {"float", "double", "decimal"}
"""Types of DuckDB whose cells are numbers."""

DAYS = {"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}
"""Types of DuckDB whose cells are dates and times without zone."""

NAMES = DAYS | {"varchar", "enum", "boolean"}
"""Types of DuckDB whose cells are values of a domain."""

IDENTIFIERS = NUMBERS | NAMES | {"uuid", "blob", "time", "timestamp with time zone"}
"""Types of DuckDB whose cells name a respondent."""


def check_names(schema: Schema) -> None:
    """Raise ValueError if a published column has the name of one that a release adds, in lower or upper case."""
    added = added_column(schema, case_matters=False)
    if added is not None:
        raise ValueError(
            f"LargeTable: the column {added!r} has the name of a column that a release adds; rename yours."
        )


def check_types(kinds: dict[str, Any], names: Sequence[str], respondent: str) -> None:
    """Raise ValueError unless some columns hold numbers or values of a domain, and respondents are single cells."""
    for name in names:
        if kinds[name].id not in NUMBERS | NAMES:
            raise ValueError(
                f"LargeTable: the column {name!r} is of type {kinds[name]}; it holds numbers, texts, booleans, dates or times "
                "without zone. Write it as text or as a number, or leave it out."
            )
    if kinds[respondent].id not in IDENTIFIERS:
        raise ValueError(
            f"LargeTable: the column {respondent!r} of the respondents is of type {kinds[respondent]}; a respondent is one text, "
            "number, date, time, UUID or binary cell. Write it as text or as a number."
        )


def distinct_cells(relation: duckdb.DuckDBPyRelation, name: str) -> list[tuple[Any, int]]:
    """Distinct cells of a column in their order, each with its number of records, by one reading of the column.

    Raises
    ------
    ValueError
        For a date or time that Python has no exact value for: an infinite one, one outside the years 1 to 9999, or one with a
        fraction of a microsecond.
    """
    column, kind = quoted(name), dict(zip(relation.columns, relation.types, strict=True))[name].id
    columns = f"{column}, count(*), bool_or({_inexact(kind, column)}), any_value({column}::VARCHAR)"
    rows = relation.aggregate(columns).order(column).fetchall()
    told = [told for _, _, inexact, told in rows if inexact]
    if told:
        raise ValueError(
            f"LargeTable: the column {name!r} holds {told[0]}; dates and times are of the years 1 to 9999, in whole "
            "microseconds. Round or correct it, or write the column as text or as a number."
        )
    large = [cell for cell, *_ in rows if isinstance(cell, int) and not -(2**63) <= cell < 2**63]
    if large:
        raise ValueError(
            f"LargeTable: the column {name!r} holds {large[0]}; a whole number is from -2**63 to 2**63 - 1. Write the column as "
            "text."
        )
    return [
        (0.0 if isinstance(cell, float) and cell == 0 else cell, records) for cell, records, _, _ in rows
    ]  # no -0.0


def _inexact(kind: str, column: str) -> str:
    """Condition of the cells of a column that Python has no exact value for."""
    if kind not in DAYS:
        return "false"
    inside = f"{column}::TIMESTAMP BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
    return f"NOT {inside}" + (f" OR epoch_ns({column}) % 1000 <> 0" if kind == "timestamp_ns" else "")


def check_any_record(relation: duckdb.DuckDBPyRelation, files: Sequence[Path]) -> None:
    """Raise ValueError if the files have no record."""
    if not relation.project("1").limit(1).fetchall():
        raise ValueError(
            f"LargeTable: {', '.join(map(str, files))} has no record; a table has one at least. Name a file with records."
        )
