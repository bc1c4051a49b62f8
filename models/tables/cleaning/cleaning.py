"""Settings by which a table is cleaned or refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.settings import check_choice, check_kind, shown
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.cleaning.clean_tables import Cleaned, Rules, clean_tables
from foreknow.models.tables.cleaning.column_roles import ColumnRoles
from foreknow.models.tables.cleaning.date_notations import written_by
from foreknow.models.tables.cleaning.faults import Change, Places, faults_in, rows_in_words
from foreknow.models.tables.cleaning.missing_cells import MISSING, Missing
from foreknow.models.tables.cleaning.repeated_records import DUPLICATES, Duplicates
from foreknow.models.tables.cleaning.spellings import EQUAL_VALUES, EqualValues
from foreknow.models.tables.columns.plain_columns import MAX_EXACT_INTEGER
from foreknow.models.tables.columns.required_columns import check_columns

TAKES_FORMATS = "is a format of strptime, as '%d/%m/%Y', or a list of them"

TAKES_ROLES = "is the roles of the columns, as ColumnRoles('diagnosis', ['age'])"


class CleanedTable(NamedTuple):
    """A cleaned table, and the changes that were made; no change is made without an entry.

    Attributes
    ----------
    table : DataFrame
        The records, with one spelling, notation and type of each value.
    changes : tuple of Change
        Each column that was changed, with the number of records.
    """

    table: pd.DataFrame
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Cleaning:
    """Clean a table, or refuse it with all its faults.

    Numbers, dates and names are read as people write them: ``43 y``, ``01/2024``, ``" Flu"``. What has two readings is refused.

    Parameters
    ----------
    equal_values : {"refuse", "merge", "keep"}
        Values that differ in spaces and letter case only: refuse the table; write each in its most frequent spelling; keep them
        as different values.
    missing : {"refuse", "drop", "category"}
        Missing cells: refuse the table; drop their records; make ``missing`` a value of names (a respondent, a time or a number
        cannot be missing).
    duplicates : {"refuse", "drop"}
        Exact copies of records: refuse the table, or drop all but the first.
    missing_texts : sequence of str
        Texts that mean a missing cell, besides the empty one: ``NA``.
    time_format : str or sequence of str, optional
        The format of ``strptime`` of all times, as ``%d/%m/%Y``, or one for each notation, of one precision; a time that two of
        them read as different dates is refused. By default one of several notations is recognized.
    decimal : {".", ","}, optional
        The decimal sign of numbers in text. By default a point, and a comma where it cannot separate thousands.

    Raises
    ------
    ValueError
        If a setting is none of these.

    Notes
    -----
    Cost: O(n log n) for n records. Cleaning a cleaned table changes nothing.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "week": ["02/2024", "01/2025", "02/2024"], "age": ["31 y", "45 y", "40 y"],
    ...                       "disease": ["flu", " flu", "Flu"]})
    >>> roles = ColumnRoles("disease", ["age"], numbers=["age"])
    >>> cleaned = Cleaning(equal_values="merge")(frame, roles)
    >>> cleaned.table.to_dict("list")
    {'id': [1, 2, 3], 'week': ['2024-02', '2025-01', '2024-02'], 'age': [31, 45, 40], 'disease': ['flu', 'flu', 'flu']}
    >>> for change in cleaned.changes:
    ...     print(change.sentence)
    'age': the unit 'years' removed from 3 cells.
    'week': dates such as '02/2024' are read as 2024-02 (3 cells).
    'disease': 1 value in several spellings merged, 2 cells changed: 'flu' for ' flu' (1), 'flu' for 'Flu' (1).
    """

    equal_values: EqualValues = "refuse"
    missing: Missing = "refuse"
    duplicates: Duplicates = "refuse"
    missing_texts: tuple[str, ...] = ()
    time_format: str | Sequence[str] | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        check_choice("Cleaning", "equal_values", self.equal_values, EQUAL_VALUES)
        check_choice("Cleaning", "missing", self.missing, MISSING)
        check_choice("Cleaning", "duplicates", self.duplicates, DUPLICATES)
        check_choice("Cleaning", "decimal", self.decimal, (".", ",", None))
        texts = as_list("Cleaning", "missing_texts", self.missing_texts, "is a list of texts, as ['NA']")
        for text in texts:
            check_kind("Cleaning", "one of missing_texts", text, str, "is a text")
        object.__setattr__(self, "missing_texts", tuple(texts))
        object.__setattr__(self, "time_format", _checked_time_format(self.time_format))

    def __call__(self, table: pd.DataFrame, roles: ColumnRoles) -> CleanedTable:
        """Clean a table of records.

        Parameters
        ----------
        table : DataFrame
        roles : ColumnRoles

        Returns
        -------
        CleanedTable
            The table with rows numbered from 0; columns without a role are unchanged. The changes, each with a sentence.

        Raises
        ------
        TypeError
            If an argument is of another type.
        ValueError
            If a column is missing; or, as `InputFaults`, with all faults of the table.
        """
        check_kind("Cleaning", "roles", roles, ColumnRoles, TAKES_ROLES)
        (cleaned,), changes = self.together([table], roles, rows_in_words)
        return CleanedTable(cleaned, changes)

    def together(
        self, tables: Sequence[pd.DataFrame], roles: ColumnRoles, places: Places
    ) -> tuple[tuple[pd.DataFrame, ...], tuple[Change, ...]]:
        """Clean several tables with the same columns and values, as records and a corpus.

        Parameters
        ----------
        tables : sequence of DataFrame
        roles : ColumnRoles
        places : callable
            From positions of rows, numbered through all tables, to their places in words.

        Raises
        ------
        InputFaults
            With all faults of the tables.
        """
        check_kind("Cleaning.together", "roles", roles, ColumnRoles, TAKES_ROLES)
        tables = as_list("Cleaning.together", "tables", tables, "is a list of DataFrames")
        if not callable(places):
            raise TypeError(
                f"Cleaning.together: places is {shown(places)}; it is a function from row numbers to their places in words."
            )
        for table in tables:
            check_columns(table, roles.names)
        rules = Rules(
            self.equal_values, self.missing, self.duplicates, self.missing_texts, self.time_format, self.decimal
        )
        found = clean_tables(tables, roles, rules)
        if found.faults:
            raise faults_in(found.faults, places)
        return _parts(tables, found), tuple(found.changes)


def _parts(tables: Sequence[pd.DataFrame], found: Cleaned) -> tuple[pd.DataFrame, ...]:
    """Each table with its part of the cleaned columns, without the dropped rows."""
    cleaned, start = [], 0
    for table in tables:
        rows = slice(start, start + len(table))
        start += len(table)
        new = {name: column.iloc[rows].set_axis(table.index) for name, column in found.columns.items()}
        part = table.assign(**new)[found.keep[rows]].reset_index(drop=True)
        cleaned.append(part.assign(**{name: _plain(part[name], table[name]) for name in new}))
    return tuple(cleaned)


def _plain(column: "pd.Series[Any]", read: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column of integers as such if cells were missing as it was read, and none is any more."""
    column = column.infer_objects()
    is_number = pd.api.types.is_float_dtype(column) or isinstance(column.dtype, pd.Int64Dtype)
    if not is_number or not read.isna().any():
        return column
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    exact = np.isfinite(numbers) & (np.abs(numbers) < MAX_EXACT_INTEGER) & (numbers % 1 == 0)
    return column.astype(np.int64) if exact.all() and len(column) else column


def _checked_time_format(time_format: str | Iterable[str] | None) -> str | tuple[str, ...] | None:
    """The format, or the formats as a tuple, of which each has a year, and all have one precision."""
    if time_format is None or isinstance(time_format, str):
        formats = [] if time_format is None else [time_format]
    else:
        formats = as_list("Cleaning", "time_format", time_format, TAKES_FORMATS)
        if not formats:
            raise ValueError("time_format is empty; write a format of strptime, as '%d/%m/%Y', or leave it out.")
    for one in formats:
        check_kind("Cleaning", "time_format", one, str, TAKES_FORMATS)
        if "%Y" not in one and "%y" not in one:
            raise ValueError(
                f"time_format is {one!r}, which has no year; write a format of strptime with one, as '%d/%m/%Y'."
            )
    if len({written_by(one) for one in formats}) > 1:
        listed = " and ".join(map(repr, formats))
        raise ValueError(
            f"time_format is {listed}, of different precision; write all times to the month, or all to the day."
        )
    return time_format if time_format is None or isinstance(time_format, str) else tuple(formats)
