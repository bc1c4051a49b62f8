"""Cleaning of a table before it is published: roles of columns, repeated records, and all faults at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.settings import as_list, check_choice, check_kind, counted, shown
from foreknow.models.tables.cell_types import ordered_times, plain_numbers, written_by
from foreknow.models.tables.columns import MAX_EXACT_INTEGER, check_columns, is_column_name
from foreknow.models.tables.faults import (
    EQUAL_VALUES,
    MAX_EXAMPLES,
    MISSING,
    Change,
    EqualValues,
    Example,
    Fault,
    Missing,
    Places,
    as_category,
    blank_as_missing,
    complete_rows,
    faults_in,
    missing_faults,
    one_spelling,
    rows_in_words,
)

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
class ColumnRoles:
    """Roles of the columns of a table: the columns that are read, and how.

    Parameters
    ----------
    sensitive : str
    quasi_identifiers : sequence of str
    respondent, time : str or None
        None if the table has none: repeated records are not looked for, and times not read.
    categorical : sequence of str
        Columns whose cells are names, even if they are written as numbers.
    numbers : sequence of str
        Quasi-identifiers whose cells are numbers with a unit, which is removed.

    Raises
    ------
    TypeError
        If a name cannot be that of a column, or a list is one text.
    ValueError
        If a column has two roles, or one of ``numbers`` is no quasi-identifier or is categorical.
    """

    sensitive: str = "result"
    quasi_identifiers: tuple[str, ...] = ()
    respondent: str | None = "id"
    time: str | None = "week"
    categorical: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("quasi_identifiers", "categorical", "numbers"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        for name in self.names:
            if not is_column_name(name):
                raise TypeError(f"ColumnRoles: a column is named by {name!r}; a column's name is one text, as 'age'.")
        for name in self.names:
            if self.names.count(name) > 1:
                raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        for name in self.numbers:
            if name not in self.quasi_identifiers:
                raise ValueError(
                    f"numbers names {name!r}, which is no quasi-identifier; name it in quasi_identifiers too."
                )
            if name in self.categorical:
                raise ValueError(f"{name!r} is named in numbers and in categorical; leave one out.")

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that have a role."""
        first = [name for name in (self.respondent, self.time) if name is not None]
        return (*first, self.sensitive, *self.quasi_identifiers)

    @property
    def names_of_values(self) -> tuple[str, ...]:
        """Columns whose cells are names: the sensitive column and the categorical ones."""
        return (self.sensitive, *(name for name in self.quasi_identifiers if name in self.categorical))


type Duplicates = Literal["refuse", "drop"]


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


class Cleaned(NamedTuple):
    """Columns of all tables together, the rows that are kept, and the faults and changes."""

    columns: dict[str, "pd.Series[Any]"]
    keep: BoolArray
    faults: list[Fault]
    changes: list[Change]


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


def _names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(as_list("ColumnRoles", name, names, "is a list of columns, as ['age']"))


DUPLICATES = ("refuse", "drop")


def without_copies(
    table: pd.DataFrame, record: list[str], rule: Duplicates, by: str
) -> tuple[BoolArray, list[Fault], list[Change]]:
    """The rows that are no copy of an earlier row, and the faults or changes.

    Parameters
    ----------
    table : DataFrame
        The columns that are read; its index holds the positions of the rows.
    record : list of str
        The columns of the respondent and the time.
    rule : {"refuse", "drop"}
        Copies in all columns are a fault, or dropped. Different records of one respondent at one time are always a fault.
    by : str
        The column of the number of the table: a respondent may be in two.
    """
    twice = table.duplicated([by, *record], keep=False).to_numpy()
    if not twice.any():
        return np.ones(len(table), dtype=np.bool_), [], []
    copies = np.zeros(len(table), dtype=np.bool_)
    copies[twice] = table[twice].duplicated().to_numpy()
    others = table[~copies]
    differing = others[others.duplicated([by, *record], keep=False)]
    if len(differing) and len(table[record[-1]].drop_duplicates()) == 1:
        return ~copies, [_one_time(differing, record)], []
    faults = [_different(differing, [by, *record])] if len(differing) else []
    number = int(copies.sum())
    if number and rule == "refuse":
        faults.append(_copied(table[copies], record, number))
    changes = [Change("", number, f"{counted(number, 'copy')} of records dropped.")] if number else []
    return ~copies, faults, changes


def _examples(rows: pd.DataFrame, text: Callable[["pd.Series[Any]"], str]) -> tuple[Example, ...]:
    """Rows as examples, by the positions in their index."""
    return tuple(Example(place, text(rows.loc[place])) for place in rows.index.tolist())


def _named(row: "pd.Series[Any]", record: list[str]) -> str:
    respondent, time = row[record[-2]], row[record[-1]]
    return f"{shown(respondent)} at {time}"


def _one_time(repeated: pd.DataFrame, record: list[str]) -> Fault:
    """The fault of a table that has probably a column of the time, which is not named."""
    respondents = int(repeated[record[0]].drop_duplicates().size)
    verb = "has" if respondents == 1 else "have"
    problem = f"{counted(respondents, 'respondent')} {verb} several records, and all records have one time"
    pair = repeated.sort_values(record[0], kind="stable", key=lambda cells: cells.map(str)).head(2)
    examples = _examples(pair, lambda row: shown(row[record[0]]))
    time = Setting("time", "month")
    way_out = Advice("name the column of the time, as ", time, ", or keep one record of each respondent")
    return Fault("", problem, examples, len(repeated), way_out)


def _copied(copies: pd.DataFrame, record: list[str], number: int) -> Fault:
    problem = "is a copy of another" if number == 1 else "are copies of others"
    examples = _examples(copies.head(MAX_EXAMPLES), lambda row: _named(row, record))
    way_out = Advice("set ", Setting("duplicates", "drop", settles=True), " to drop them")
    return Fault("", f"{counted(number, 'record')} {problem}", examples, number, way_out)


def _different(differing: pd.DataFrame, record: list[str]) -> Fault:
    """The fault of respondents with several records at one time, with both rows of the first."""
    pairs = differing.sort_values(record, kind="stable", key=lambda cells: cells.map(str)).head(2)
    columns = [name for name in differing.columns if name not in record]
    unequal = [name for name in columns if len(pairs[name].drop_duplicates()) > 1]
    respondents = len(differing.drop_duplicates(record))
    problem = (
        f"{counted(respondents, 'respondent')} {'has' if respondents == 1 else 'have'} several records at one time, which "
        f"differ in {', '.join(map(repr, unequal))}"
    )
    examples = _examples(pairs, lambda row: _named(row, record))
    return Fault("", problem, examples, len(differing), "keep one record of each respondent and time")
