"""Cleaning of a table before it is published: roles of columns, repeated records, and all faults at once."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.settings import as_list, check_choice, check_kind, counted, shown
from foreknow.models.tables.cell_types import PERIODS, Period, in_periods, ordered_times, plain_numbers
from foreknow.models.tables.columns import MAX_EXACT_INTEGER, check_columns, repeated
from foreknow.models.tables.faults import (
    MAX_EXAMPLES,
    Change,
    CleanedColumn,
    EqualValues,
    Example,
    Fault,
    Identifiers,
    Missing,
    Places,
    as_category,
    blank_as_missing,
    complete_rows,
    distinct_cells,
    faults_in,
    merged,
    missing_faults,
    one_number,
    one_spelling,
    rows_in_words,
)

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
        If a list is one text.
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
            columns = as_list("ColumnRoles", name, getattr(self, name), "is a list of columns, as ['age']")
            object.__setattr__(self, name, tuple(columns))
        for name in self.names:
            check_kind("ColumnRoles", "a column", name, Hashable, "is its name")
        if twice := repeated(self.names):
            raise ValueError(f"the column {twice[0]!r} has two roles; give each role a column of its own.")
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

type Repeated = Literal["refuse", "first", "last", "worst"]

CHOICES = {
    "equal_values": ("refuse", "merge", "keep"),
    "missing": ("refuse", "drop", "category"),
    "duplicates": ("refuse", "drop"),
    "decimal": (".", ",", None),
    "repeated": ("refuse", "first", "last", "worst"),
    "period": (*PERIODS, None),
    "ids": ("refuse", "text", "number"),
}
"""Values of settings of `Cleaning`."""


type Columns = Mapping[str, "pd.Series[Any]"]
"""Columns of all tables together, numbered through."""

type Cleaners = dict[str, Callable[["pd.Series[Any]"], CleanedColumn]]
"""Functions that clean columns, by their names."""

type CleanedColumns = tuple[Columns, list[Fault], list[Change]]
"""Cleaned columns, and the faults and changes."""

type Kept = tuple[BoolArray, list[Fault], list[Change]]
"""The rows that are kept, and the faults and changes."""


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
    time_format : str, optional
        The format of ``strptime`` of all times, as ``%d/%m/%Y``. By default one of several notations is recognized. Times in
        more than one notation are refused.
    decimal : {".", ","}, optional
        The decimal sign of numbers in text. By default a point, and a comma where it cannot separate thousands.
    repeated : {"refuse", "first", "last", "worst"}
        Different records of a respondent at one time: refuse the table; or keep the first or the last of the table, or the one
        whose sensitive value is first in ``worst``.
    worst : sequence
        All sensitive values, the worst first.
    period : {"week", "month", "quarter", "year"}, optional
        Period of one release: times are replaced by their periods.
    ids : {"refuse", "text", "number"}
        Respondents that are equal as numbers, as 000013 and 13: refuse the table; different respondents; one respondent.
    merge : mapping of str to mapping of str to str
        For each of some columns, texts that are written as others: ``{"sex": {"F": "Female"}}``.

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
    time_format: str | None = None
    decimal: str | None = None
    repeated: Repeated = "refuse"
    worst: tuple[Hashable, ...] = ()
    period: Period | None = None
    ids: Identifiers = "refuse"
    merge: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice("Cleaning", name, getattr(self, name), choices)
        check_kind("Cleaning", "merge", self.merge, Mapping, "is a mapping, as {'sex': {'F': 'Female'}}")
        for pairs in self.merge.values():
            check_kind(
                "Cleaning", "the texts of one column of merge", pairs, Mapping, "are a mapping, as {'F': 'Female'}"
            )
        object.__setattr__(self, "worst", tuple(as_list("Cleaning", "worst", self.worst, "is a list of values")))
        if bool(self.worst) != (self.repeated == "worst"):
            rule, order = Setting("repeated", "worst"), Setting("worst", ["HIV", "flu"])
            raise ValueError(
                Advice(
                    rule, " and an order of all values, the worst first, as ", order, ", belong together; give both."
                )
            )
        texts = as_list("Cleaning", "missing_texts", self.missing_texts, "is a list of texts, as ['NA']")
        for text in texts:
            check_kind("Cleaning", "one of missing_texts", text, str, "is a text")
        object.__setattr__(self, "missing_texts", tuple(texts))
        if self.time_format is not None:
            takes = "is a format of strptime, as '%d/%m/%Y'"
            check_kind("Cleaning", "time_format", self.time_format, str, takes)
            if "%Y" not in self.time_format and "%y" not in self.time_format:
                raise ValueError(f"Cleaning: time_format is {self.time_format!r}, which has no year; it {takes}.")

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

        One spelling, one notation and one type hold for all tables. Records are dropped, and repeated records looked for, in each.

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
        for table in tables:
            check_columns(table, roles.names)
        columns, misread, converted = self.notations_read({name: _stacked(tables, name) for name in roles.names}, roles)
        keep, missing, dropped = self._complete(columns, roles)
        columns, others, changes = self.values_written(columns, roles, {fault.column for fault in misread}, keep)
        part = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        keep, repeated, copies = self._distinct(columns, roles, keep, part)
        if faults := [*misread, *missing, *others, *repeated]:
            raise faults_in(faults, places)
        return _parts(tables, columns, keep), (*converted, *dropped, *changes, *copies)

    def notations_read(self, columns: Columns, roles: ColumnRoles) -> CleanedColumns:
        """Columns with numbers and times read, and the faults and changes; the first step.

        A column may have one row for each of its distinct cells, with `RECORDS` as the name of its index.
        """
        read = {name: blank_as_missing(column, self.missing_texts) for name, column in columns.items()}
        return _each(read, self._notations(roles))

    def values_written(
        self, columns: Columns, roles: ColumnRoles, misread: Collection[str] = (), keep: BoolArray | None = None
    ) -> CleanedColumns:
        """Columns with one spelling of each value, and the faults and changes; the second step, on columns of the first.

        ``misread`` are columns with faults, and ``keep`` the records that are not dropped, by default all.
        """
        named = _may_be_category(columns, roles) if self.missing == "category" else ()
        columns, _, filled = _each(columns, dict.fromkeys(named, as_category))
        columns, misspelled, respelled = _each(columns, self._spellings(columns, roles, keep))
        columns, others, merged = _each(columns, self._last(roles, misread))
        return columns, [*misspelled, *others], [*filled, *respelled, *merged]

    def _notations(self, roles: ColumnRoles) -> Cleaners:
        """Cleaners of numbers and times."""
        numeric = [name for name in roles.quasi_identifiers if name not in roles.categorical]
        numbers: Cleaners = {
            name: partial(plain_numbers, asked=name in roles.numbers, decimal=self.decimal) for name in numeric
        }
        return numbers | (
            {} if roles.time is None else {roles.time: partial(ordered_times, time_format=self.time_format)}
        )

    def missing_found(self, columns: Columns, roles: ColumnRoles) -> list[Fault]:
        """Faults of missing cells of columns of the first step; by ``drop``, those of a table without a complete record."""
        cells = [columns[name] for name in roles.names]
        if self.missing == "drop":
            return missing_faults(cells, "refuse", set())
        return missing_faults(cells, self.missing, _may_be_category(columns, roles))

    def _complete(self, columns: Columns, roles: ColumnRoles) -> Kept:
        """The rows that are kept by the rule on missing cells."""
        keep, changes = complete_rows([columns[name] for name in roles.names])
        if self.missing == "drop" and keep.any():
            return keep, [], changes
        return np.ones(len(keep), dtype=np.bool_), self.missing_found(columns, roles), []

    def _spellings(self, columns: Columns, roles: ColumnRoles, keep: BoolArray | None) -> Cleaners:
        """Cleaners that write one spelling of each value; cells of dropped records are not read."""
        texts = [name for name in roles.names if name != roles.time and not is_numeric_dtype(columns[name])]
        return dict.fromkeys(
            texts, lambda column: one_spelling(column if keep is None else column.where(keep), self.equal_values)
        )

    def _last(self, roles: ColumnRoles, misread: Collection[str]) -> Cleaners:
        """Cleaners of texts that are merged, of respondents that are numbers, and of times by period."""
        cleaners: Cleaners = {}
        for name, pairs in self.merge.items():
            if name not in roles.names:
                raise ValueError(
                    f"Cleaning: merge names {name!r}, which is none of {', '.join(map(repr, roles.names))}."
                )
            cleaners[name] = partial(merged, pairs=pairs)
        if roles.respondent is not None:
            cleaners[roles.respondent] = lambda column: one_number(column, self.ids)
        if roles.time is not None and self.period is not None and roles.time not in misread:
            period = self.period
            cleaners[roles.time] = lambda column: in_periods(column, period)
        return cleaners

    def _distinct(self, columns: Columns, roles: ColumnRoles, keep: BoolArray, part: IntArray) -> Kept:
        """The rows without copies. Times at fault are compared as they are written."""
        if roles.respondent is None or roles.time is None:
            return keep, [], []
        record = [roles.respondent, roles.time]
        table = pd.DataFrame({PART: part, **columns})[keep].dropna(subset=record)
        if self.repeated == "refuse":
            distinct, faults, changes = without_copies(table, record, self.duplicates, self.period)
        else:
            distinct, faults, changes = self._one_of_each(table, record, roles.sensitive)
        keep = keep.copy()
        keep[table.index[~distinct]] = False
        return keep, faults, changes

    def _one_of_each(self, table: pd.DataFrame, record: list[str], sensitive: str) -> Kept:
        """The rows of which each is the only one of its respondent and time, by the rule on repeated records."""
        own = [PART, *record]
        rank = pd.Series(0, index=table.index)
        if self.repeated == "worst":
            order = {str(value): place for place, value in enumerate(self.worst)}
            ranks = table[sensitive].map(lambda value: order.get(str(value)))
            if (unknown := ranks.isna()).any():
                found = distinct_cells(table[sensitive].where(unknown))
                way_out = Advice("name each value, the worst first, by ", Setting("worst", [found.cells[0]]))
                lacks = f"has {counted(len(found.cells), 'value')} that the order of the worst lacks"
                fault = found.fault(lacks, [*range(len(found.cells))], way_out)
                rows = table.index.tolist()
                fault = fault._replace(examples=tuple(one._replace(row=rows[one.row]) for one in fault.examples))
                return np.ones(len(table), dtype=np.bool_), [fault], []
            rank = ranks.astype(np.int64)
        ordered = table.assign(**{RANK: rank}).sort_values(RANK, kind="stable")
        twice = ordered.duplicated(own, keep="last" if self.repeated == "last" else "first")
        chosen = ~twice.reindex(table.index).to_numpy()
        if chosen.all():
            return chosen, [], []
        kept = table[chosen].set_index(own)[sensitive]
        gone = table[~chosen].set_index(own)[sensitive]
        other = int((gone.to_numpy() != kept.loc[gone.index].to_numpy()).sum())
        people = counted(len(gone.index.unique()), "respondent and time", "respondents and times")
        lost = f"{counted(len(gone), 'record')} left out, {other:,} of them with another value of {sensitive!r}"
        sentence = f"{people} with several records: the {self.repeated} is kept, {lost}."
        return chosen, [], [Change("", len(gone), sentence)]


def _each(columns: Columns, cleaners: Cleaners) -> CleanedColumns:
    """Columns of which some are cleaned, and the faults and changes of these."""
    cleaned = {name: clean(columns[name]) for name, clean in cleaners.items()}
    faults = [fault for _, faults, _ in cleaned.values() for fault in faults]
    changes = [change for _, _, changes in cleaned.values() for change in changes]
    return {**columns, **{name: column for name, (column, _, _) in cleaned.items()}}, faults, changes


def _may_be_category(columns: Columns, roles: ColumnRoles) -> list[str]:
    """Columns of which a missing cell may be a value: names."""
    names = dict.fromkeys((roles.sensitive, *roles.quasi_identifiers))
    return [name for name in names if name in roles.names_of_values or not is_numeric_dtype(columns[name])]


def _stacked(tables: Sequence[pd.DataFrame], name: str) -> "pd.Series[Any]":
    """One column of all tables, numbered through; columns of different types as objects."""
    columns = [table[name] for table in tables]
    if len({str(column.dtype) for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
        return pd.concat(columns, ignore_index=True).infer_objects()
    return pd.concat(columns, ignore_index=True)


def _parts(tables: Sequence[pd.DataFrame], columns: Columns, keep: BoolArray) -> tuple[pd.DataFrame, ...]:
    """Each table with its part of the cleaned columns, without the dropped rows."""
    cleaned, start = [], 0
    for table in tables:
        rows = slice(start, start + len(table))
        start += len(table)
        new = {name: column.iloc[rows].set_axis(table.index) for name, column in columns.items()}
        part = table.assign(**new)[keep[rows]].reset_index(drop=True)
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


RANK = "foreknow:rank"
"""Name of the column of the order of records."""

PART = "foreknow:part"
"""Name of the column that numbers the tables, in a table of all of them: a respondent may be in two."""


def without_copies(table: pd.DataFrame, record: list[str], rule: Duplicates, period: Period | None = None) -> Kept:
    """The rows that are no copy of an earlier row, and the faults or changes.

    Parameters
    ----------
    table : DataFrame
        The columns that are read; its index holds the positions of the rows.
    record : list of str
        The columns of the respondent and the time.
    rule : {"refuse", "drop"}
        Copies in all columns are a fault, or dropped. Different records of one respondent at one time are always a fault.
    period : {"week", "month", "quarter", "year"}, optional
        That of the times of the table; without one the fault proposes one.
    """
    twice = table.duplicated([PART, *record], keep=False).to_numpy()
    copies = np.zeros(len(table), dtype=np.bool_)
    copies[twice] = table[twice].duplicated().to_numpy()
    others, number = table[~copies], int(copies.sum())
    differing = others[others.duplicated([PART, *record], keep=False)]
    if len(differing) and len(table[record[-1]].drop_duplicates()) == 1:
        return ~copies, [_one_time(differing, record)], []
    faults = [_different(differing, record, period is None)] if len(differing) else []
    if number and rule == "refuse":
        faults.append(_copied(table[copies], record, number))
    changes = [Change("", number, f"{counted(number, 'copy')} of records dropped.")] if number else []
    return ~copies, faults, changes


def _one_time(differing: pd.DataFrame, record: list[str]) -> Fault:
    """The fault of a table that has probably a column of the time, which is not named."""
    problem = f"{_respondents(differing, record)} several records, and all records have one time"
    examples = _examples(_first_two(differing, record), record[:1])
    time = Setting("time", "month")
    way_out = Advice("name the column of the time, as ", time, ", or keep one record of each respondent")
    return Fault("", problem, examples, len(differing), way_out)


def _different(differing: pd.DataFrame, record: list[str], proposes_period: bool) -> Fault:
    """The fault of respondents with several records at one time, with both rows of the first."""
    pair = _first_two(differing, record)
    unequal = [name for name in differing.columns.drop([PART, *record]) if len(pair[name].drop_duplicates()) > 1]
    listed = ", ".join(map(repr, unequal))
    problem = f"{_respondents(differing, record)} several records at one time, which differ in {listed}"
    first, month = Setting("repeated", "first"), Setting("period", "month")
    by_period = (", or if times are days, choose a period, as ", month) if proposes_period else ()
    way_out = Advice("keep one record of each respondent and time, as by ", first, *by_period)
    return Fault("", problem, _examples(pair, record), len(differing), way_out)


def _copied(copies: pd.DataFrame, record: list[str], number: int) -> Fault:
    problem = f"{counted(number, 'record')} {'is a copy of another' if number == 1 else 'are copies of others'}"
    way_out = Advice("set ", Setting("duplicates", "drop", settles=True), " to drop them")
    return Fault("", problem, _examples(copies.head(MAX_EXAMPLES), record), number, way_out)


def _respondents(differing: pd.DataFrame, record: list[str]) -> str:
    number = len(differing.drop_duplicates([PART, *record]))
    return f"{counted(number, 'respondent')} {'has' if number == 1 else 'have'}"


def _first_two(differing: pd.DataFrame, record: list[str]) -> pd.DataFrame:
    """The two first records of the first respondent with several."""
    return differing.sort_values([PART, *record], kind="stable", key=lambda cells: cells.map(str)).head(2)


def _examples(rows: pd.DataFrame, names: list[str]) -> tuple[Example, ...]:
    """Rows as examples, by the positions in their index: the respondent, and the time if it is named."""
    texts = [" at ".join([shown(row[0]), *map(str, row[1:])]) for row in rows[names].itertuples(index=False)]
    return tuple(map(Example, rows.index.tolist(), texts))
