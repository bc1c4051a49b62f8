"""Published tables from any source: group column, quasi-identifiers and sensitive values, read as an observation."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import as_list, check_flag
from foreknow.models.tables.columns import (
    check_columns,
    check_time,
    checked_domain,
    describe_missing,
    plain_column,
    plain_columns,
    repeated,
    sorted_values,
)
from foreknow.models.tables.people import Observation, People
from foreknow.models.tables.schema import Categorical, Numeric, Schema, positions_in

MAX_RESPONDENTS = 2**31
"""Largest number of respondents of a table: each has a row of an array."""

FRAME, VALUES = "the published table", "the table of values"
"""The two tables, in messages."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One or two published tables that name groups and hide the link between respondents and sensitive values.

    The sensitive value in a respondent's row carries no information. Of a group, only its members and the multiset of its
    values are read. Respondents are known by the quasi-identifiers as printed: exactly in a bucketized table; in a generalized
    table, respondents with one label cannot be distinguished. An adversary who knows more should attack the `Release`.

    Parameters
    ----------
    frame : DataFrame
        One row per respondent, with the group, the quasi-identifiers and, unless ``values`` is given, the sensitive attribute.
    sensitive : str
        The column of the sensitive attribute.
    group : str
        The column that names the group, here and in ``values``. A group has one name: 1 and "1" are refused.
    quasi_identifiers : sequence of str, optional
        By default every other column of ``frame``. Name them if it has more: the number of a row or of a release would be
        treated as a quasi-identifier.
    values : DataFrame, optional
        The second table of Anatomy: ``group``, the sensitive attribute and, optionally, ``count``. If every group then has one
        row of ``frame``, as in a generalized `Release.tables`, that row stands for as many respondents as the group has
        values, unless there are counterfeits.
    time : optional
        The time of publication.
    counterfeits : bool
        True if groups may show more values than they have respondents, as some defenses publish. A row of ``frame`` without
        any quasi-identifier is then a counterfeit. If False, both are errors. Counterfeits in a generalized table cannot be
        distinguished from respondents, and count as respondents.

    Attributes
    ----------
    observation : Observation
        The members and the values of each group. A respondent is the number of a row of ``frame``, from 0; respondents who
        share a row are numbered on their own. Groups are sorted by name. The sensitive domain is the values shown, sorted.

    Raises
    ------
    TypeError
        If a table is not a DataFrame, or another argument is of the wrong type.
    ValueError
        If a column or cell is missing, a column has two roles, the numbers of values and of respondents of a group differ, or
        there are more than `MAX_RESPONDENTS` respondents.

    Notes
    -----
    Respondents of two tables have only their numbers in common: attack each table on its own. Cost: O(n log n).

    Examples
    --------
    >>> rows = pd.DataFrame({"nation": ["American", "Japanese"], "group": ["L1", "L1"], "disease": ["heart", "flu"]})
    >>> table = PublishedTable(rows, sensitive="disease")
    >>> table
    PublishedTable(time=0, people=2, groups=1)
    >>> table.observation.people, table.observation.counts
    (People(2, known by nation), array([[1, 1]]))
    """

    frame: pd.DataFrame
    sensitive: str
    group: str = "group"
    quasi_identifiers: Sequence[str] | None = None
    values: pd.DataFrame | None = None
    time: Any = 0
    counterfeits: bool = False
    observation: Observation = field(init=False)

    def __post_init__(self) -> None:
        check_flag("PublishedTable", "counterfeits", self.counterfeits)
        identifying = self._identifying()
        rows, shown = self._rows(identifying), self._shown()
        groups, (of_row, of_value) = _numbered(rows[self.group], shown[self.group])
        if alike := repeated(map(str, groups)):
            named = " and ".join(repr(group) for group in groups if str(group) == alike[0])
            raise ValueError(f"two groups read {alike[0]!r}: {named}; write a group's name in one way.")
        domain, (value,) = _numbered(shown[self.sensitive])
        counts = np.zeros((len(groups), len(domain)), dtype=np.int64)
        np.add.at(counts, (of_value, value), self._multiplicity(shown))
        row = self._row_of_respondent(of_row, counts)
        members, values = np.bincount(of_row[row], minlength=len(groups)), counts.sum(axis=1)
        wrong = (members == 0) | (members > values) | ((members < values) & (not self.counterfeits))
        if wrong.any():
            worst = int(wrong.argmax())
            raise ValueError(
                f"the group {groups[worst]!r} has {members[worst]} respondents and {values[worst]} values; a group shows one value "
                "per respondent. Give both tables of one release, or, if there are counterfeits, counterfeits=True."
            )
        people = _people(rows[list(identifying)], row, self.sensitive, domain)
        time = check_time("PublishedTable", self.time)
        set_fields(self, time=time, observation=Observation(people, of_row[row], counts, time))

    def __repr__(self) -> str:
        seen = self.observation
        return f"PublishedTable(time={self.time!r}, people={len(seen.people)}, groups={len(seen.counts)})"

    def _identifying(self) -> tuple[Hashable, ...]:
        """The columns of quasi-identifiers; raises unless every column exists and has one role."""
        check_columns(self.frame, [self.group, *([self.sensitive] if self.values is None else [])])
        if self.values is not None:
            check_columns(self.values, [self.group, self.sensitive])
        others: list[Hashable] = [name for name in self.frame.columns if name not in (self.group, self.sensitive)]
        if self.quasi_identifiers is not None:
            takes = "is a list of columns, as ['age']"
            others = as_list("PublishedTable", "quasi_identifiers", self.quasi_identifiers, takes)
        check_columns(self.frame, others)
        if twice := repeated([self.group, self.sensitive, *others]):
            raise ValueError(f"the column {twice[0]!r} has two roles; give each role a column of its own.")
        if not others:
            raise ValueError(
                f"the published table has no column besides {self.group!r} and {self.sensitive!r}; add the columns by which its "
                "respondents are known, their quasi-identifiers."
            )
        return tuple(others)

    def _rows(self, identifying: tuple[Hashable, ...]) -> pd.DataFrame:
        """The rows of respondents with their group and quasi-identifiers, indexed by row number."""
        names = (self.group, *identifying)
        rows = plain_columns(self.frame.reset_index(drop=True), names, FRAME)
        if self.counterfeits:
            rows = rows[rows[list(identifying)].notna().any(axis=1)]
        if rows.empty:
            raise ValueError("the published table has no row of a respondent; it has one per respondent.")
        for name in names:
            _check_cells(rows, name, FRAME)
        return rows

    def _shown(self) -> pd.DataFrame:
        """The rows that show values, with their group and sensitive value."""
        table, place = (self.frame, FRAME) if self.values is None else (self.values, VALUES)
        shown = plain_columns(table.reset_index(drop=True), (self.group, self.sensitive), place)
        for name in (self.group, self.sensitive):
            _check_cells(shown, name, place)
        return shown

    def _multiplicity(self, shown: pd.DataFrame) -> IntArray:
        """The number of times that each row's value is shown: its ``count``, or 1."""
        if self.values is None or "count" not in shown.columns or "count" in (self.group, self.sensitive):
            return np.ones(len(shown), dtype=np.int64)
        check_columns(shown, ["count"])
        cells = shown["count"].tolist()
        number = Numeric().codes(plain_column(shown["count"], VALUES))
        wrong = np.isnan(number) | (number < 0) | (np.floor(number) != number)
        if wrong.any() or number.sum() > MAX_RESPONDENTS:
            row = int((wrong if wrong.any() else number).argmax())
            raise ValueError(
                f"row {row} of the table of values has the count {cells[row]!r}; a count is an integer of at least 0, and the sum "
                f"at most {MAX_RESPONDENTS:,}. Correct the counts, or read fewer groups."
            )
        return number.astype(np.int64)

    def _row_of_respondent(self, of_row: IntArray, counts: IntArray) -> IntArray:
        """The row of each respondent; the only row of a group stands for as many as the group has values."""
        rows = np.arange(len(of_row))
        if self.values is not None and not self.counterfeits and len(np.unique(of_row)) == len(of_row):
            return rows.repeat(counts.sum(axis=1)[of_row])
        return rows


def _people(rows: pd.DataFrame, row: IntArray, sensitive: str, domain: tuple[Hashable, ...]) -> People:
    """The respondents of some rows of quasi-identifiers."""
    kinds, codes = {}, []
    for name in rows.columns:
        values, (code,) = _numbered(rows[name])
        kinds[name] = Categorical(checked_domain(values, f"the column {name!r} of the published table"))
        codes.append(code[row].astype(np.float64))
    schema = Schema(kinds, sensitive, domain, _unused_name("row", (*rows.columns, sensitive)))
    identifiers = rows.index.to_numpy() if len(row) == len(rows) else np.arange(len(row))
    return People(identifiers.astype(object), np.column_stack(codes), schema)


def _numbered(*columns: "pd.Series[Any]") -> tuple[tuple[Hashable, ...], list[IntArray]]:
    """The distinct cells of some columns, sorted, and each column's cells as positions among them."""
    cells = pd.concat([column.astype(object) for column in columns], ignore_index=True)
    values = sorted_values(pd.unique(cells))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return values, np.split(positions_in(values, cells).astype(np.int64), ends)


def _unused_name(name: str, names: tuple[Hashable, ...]) -> str:
    """The name, followed by underscores until it is none of some others."""
    return _unused_name(f"{name}_", names) if name in names else name


def _check_cells(frame: pd.DataFrame, name: Hashable, place: str) -> None:
    """Raise ValueError, naming the rows, if a cell is missing."""
    missing = frame[name].isna().to_numpy()
    if missing.any():
        rows = np.zeros(int(frame.index.max()) + 1, dtype=np.bool_)
        rows[frame.index[missing]] = True
        raise ValueError(f"{describe_missing(rows, name, place)}; leave the row out, or fill the cell in.")
