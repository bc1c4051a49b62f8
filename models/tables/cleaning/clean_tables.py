"""Cleaning of tables with common columns: records, and a corpus with the same values."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.tables.cleaning.column_roles import ColumnRoles
from foreknow.models.tables.cleaning.faults import Change, Fault
from foreknow.models.tables.cleaning.missing_cells import (
    Missing,
    as_category,
    blank_as_missing,
    complete_rows,
    missing_faults,
)
from foreknow.models.tables.cleaning.numbers_of_cells import plain_numbers
from foreknow.models.tables.cleaning.repeated_records import Duplicates, without_copies
from foreknow.models.tables.cleaning.spellings import EqualValues, one_spelling
from foreknow.models.tables.cleaning.times_of_cells import ordered_times

PART = "part"
"""Name of the column that numbers the tables, in a table of all of them."""


class Rules(NamedTuple):
    """Rules of cleaning; see `Cleaning`."""

    equal_values: EqualValues
    missing: Missing
    duplicates: Duplicates
    missing_texts: tuple[str, ...]
    time_format: str | Sequence[str] | None
    decimal: str | None


class Cleaned(NamedTuple):
    """Columns of all tables together, the rows that are kept, and the faults and changes."""

    columns: dict[str, "pd.Series[Any]"]
    keep: BoolArray
    faults: list[Fault]
    changes: list[Change]


def clean_tables(tables: Sequence[pd.DataFrame], roles: ColumnRoles, rules: Rules) -> Cleaned:
    """Clean the columns of several tables together: one spelling, one notation, one type.

    Records are dropped, and repeated records looked for, in each table. Rows are numbered through all tables.
    Cost: O(n log n) for n records.
    """
    part = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    columns = {name: _stacked(tables, name) for name in roles.names}
    columns = {name: blank_as_missing(column, rules.missing_texts) for name, column in columns.items()}
    found = Cleaned(columns, np.ones(len(part), dtype=np.bool_), [], [])
    found = _with_numbers(found, roles, rules)
    found = _with_times(found, roles, rules)
    found = _without_missing(found, roles, rules)
    found = _with_one_spelling(found, roles, rules)
    return _without_copies(found, roles, rules, part)


def _stacked(tables: Sequence[pd.DataFrame], name: str) -> "pd.Series[Any]":
    """One column of all tables, numbered through; columns of different types as objects."""
    columns = [table[name] for table in tables]
    if len({str(column.dtype) for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
        return pd.concat(columns, ignore_index=True).infer_objects()
    return pd.concat(columns, ignore_index=True)


def _after(found: Cleaned, name: str, new: "pd.Series[Any]", faults: list[Fault], changes: list[Change]) -> Cleaned:
    """The result so far, with one column replaced and faults and changes added."""
    return found._replace(
        columns={**found.columns, name: new}, faults=[*found.faults, *faults], changes=[*found.changes, *changes]
    )


def _with_numbers(found: Cleaned, roles: ColumnRoles, rules: Rules) -> Cleaned:
    for name in roles.quasi_identifiers:
        if name not in roles.categorical:
            found = _after(found, name, *plain_numbers(found.columns[name], name in roles.numbers, rules.decimal))
    return found


def _with_times(found: Cleaned, roles: ColumnRoles, rules: Rules) -> Cleaned:
    if roles.time is None:
        return found
    return _after(found, roles.time, *ordered_times(found.columns[roles.time], rules.time_format))


def _without_missing(found: Cleaned, roles: ColumnRoles, rules: Rules) -> Cleaned:
    """Missing cells by the rule; the cells of dropped records are missing in text columns from here on."""
    columns = [found.columns[name] for name in roles.names]
    names = {
        name
        for name in (roles.sensitive, *roles.quasi_identifiers)
        if name in roles.names_of_values or not pd.api.types.is_numeric_dtype(found.columns[name])
    }
    faults = missing_faults(columns, rules.missing, names)
    if rules.missing == "drop":
        keep, changes = complete_rows(columns)
        if not keep.any():
            return found._replace(faults=[*found.faults, *missing_faults(columns, "refuse", set())])
        return found._replace(keep=keep, changes=[*found.changes, *changes])
    found = found._replace(faults=[*found.faults, *faults])
    for name in names if rules.missing == "category" else ():
        found = _after(found, name, *_filled(found.columns[name]))
    return found


def _filled(column: "pd.Series[Any]") -> tuple["pd.Series[Any]", list[Fault], list[Change]]:
    new, changes = as_category(column)
    return new, [], changes


def _with_one_spelling(found: Cleaned, roles: ColumnRoles, rules: Rules) -> Cleaned:
    for name in roles.names:
        column = found.columns[name]
        if name == roles.time or pd.api.types.is_numeric_dtype(column):
            continue
        kept = column if found.keep.all() else column.where(found.keep)
        found = _after(found, name, *one_spelling(kept, rules.equal_values))
    return found


def _without_copies(found: Cleaned, roles: ColumnRoles, rules: Rules, part: IntArray) -> Cleaned:
    """The rows without copies. Times at fault are compared as they are written."""
    if roles.respondent is None or roles.time is None:
        return found
    table = pd.DataFrame({PART: part, **{f"{name}": found.columns[name] for name in roles.names}})
    record = [roles.respondent, roles.time]
    known = found.keep & table[record].notna().all(axis=1).to_numpy()
    distinct, faults, changes = without_copies(table[known], record, rules.duplicates, by=PART)
    keep = found.keep.copy()
    keep[np.flatnonzero(known)[~distinct]] = False
    return found._replace(keep=keep, faults=[*found.faults, *faults], changes=[*found.changes, *changes])
