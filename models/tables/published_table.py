"""Published tables from any source, with a column that names the group, and their observations."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.tables.people import People
from foreknow.models.tables.plain_columns import plain_column, plain_columns, plain_value, without
from foreknow.models.tables.release import Observation
from foreknow.models.tables.schema import Categorical, Numeric, Schema, check_columns, listed_values

MOST_PEOPLE = 2**31
"""The largest number of people in a table: each has a row."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table, or two, in which groups are named and the link between people and sensitive values is hidden.

    That a sensitive value stands in somebody's row means nothing: of a group only who is in it, and the multiset of its
    values, is read. Everybody is known by the quasi-identifiers as they are printed: exactly in a bucketized table; in
    a generalized one people who share a label cannot be told apart, so that whoever knows them better should attack the
    `Release` instead.

    Parameters
    ----------
    frame : DataFrame
        One row per person, with the group, the quasi-identifiers and, unless ``values`` is given, the sensitive attribute.
    sensitive : str
        The sensitive attribute's column.
    group : str
        The column that names the group, here and in ``values``. One group has one name: 1 and "1" are refused.
    quasi_identifiers : sequence of str, optional
        By default every other column of ``frame``. Name them where it has more: a row's or a release's number would be taken
        for something that people are known by.
    values : DataFrame, optional
        The second table of Anatomy: ``group``, the sensitive attribute and, if it is there, ``count``. Where every group
        then has one row of ``frame``, as in a generalized `Release.tables`, that row is of as many people as the group has
        values, unless there are counterfeits.
    time : optional
        When it was published.
    counterfeits : bool
        Whether groups may show more values than they have people, as some defenses publish: then a row of ``frame`` without
        any quasi-identifier is nobody's. Without it, both are errors. In a generalized table counterfeits look like people,
        and are taken for them.

    Attributes
    ----------
    observation : Observation
        Who is in each group, and each group's values. A respondent is the number of a row of ``frame``, from 0; people who
        share a row are numbered on their own. Groups are sorted by name, and so is the sensitive domain: the values shown.

    Raises
    ------
    ValueError, TypeError
        If a column or cell is missing, a column has two roles, a group has not as many values as people, or there are more than
        `MOST_PEOPLE`.

    Notes
    -----
    Respondents of two tables have nothing in common but their numbers: attack each table on its own. Cost: O(n log n).

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
        identifying = self._identifying()
        place = "the published table"
        known = plain_columns(self.frame.reset_index(drop=True), (self.group, *identifying), place)
        rows = self._rows(known, identifying)
        other, of = (self.frame, place) if self.values is None else (self.values, "the table of values")
        shown = plain_columns(other.reset_index(drop=True), (self.group, self.sensitive), of)
        for name in (self.group, *identifying):
            _check_cells(rows, name, place)
        for name in (self.group, self.sensitive):
            _check_cells(shown, name, of)
        groups, (of_row, of_value) = _numbered(rows[self.group], shown[self.group])
        _check_names(groups)
        domain, (value,) = _numbered(shown[self.sensitive])
        counts = np.zeros((len(groups), len(domain)), dtype=np.int64)
        np.add.at(counts, (of_value, value), self._times(shown))
        who = self._who(of_row, counts)
        self._check_sizes(groups, np.bincount(of_row[who], minlength=len(groups)), counts.sum(axis=1))
        people = _people(rows[list(identifying)], who, self.sensitive, domain)
        object.__setattr__(self, "time", plain_value(self.time))
        object.__setattr__(self, "observation", Observation(people, of_row[who], counts, self.time))

    def __repr__(self) -> str:
        seen = self.observation
        return f"PublishedTable(time={self.time!r}, people={len(seen.people)}, groups={len(seen.counts)})"

    def _identifying(self) -> tuple[str, ...]:
        """The quasi-identifiers; raises unless every column is there and has one role."""
        for name, table in (("frame", self.frame), ("values", self.values)):
            if not isinstance(table, pd.DataFrame) and not (name == "values" and table is None):
                raise TypeError(f"PublishedTable: {name} is {type(table).__name__}; it is a DataFrame.")
        if isinstance(self.quasi_identifiers, str):
            raise TypeError(
                f"PublishedTable: quasi_identifiers is {self.quasi_identifiers!r}; it is a list of columns, as "
                f"[{self.quasi_identifiers!r}]."
            )
        others = [name for name in self.frame.columns if name not in (self.group, self.sensitive)]
        identifying = tuple(others if self.quasi_identifiers is None else self.quasi_identifiers)
        alone = self.values is None
        check_columns(self.frame, [self.group, *([self.sensitive] if alone else []), *identifying])
        if self.values is not None:
            check_columns(self.values, [self.group, self.sensitive])
        names = [self.group, self.sensitive, *identifying]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        if not identifying:
            raise ValueError(
                f"the published table has no column beside {self.group!r} and {self.sensitive!r}; by what its people are known, "
                "their quasi-identifiers, must be there."
            )
        return identifying

    def _rows(self, rows: pd.DataFrame, identifying: tuple[str, ...]) -> pd.DataFrame:
        """The rows of people, by their number."""
        if self.counterfeits:
            rows = rows[rows[list(identifying)].notna().any(axis=1)]
        if rows.empty:
            raise ValueError("the published table has no row of a person; it has one per person.")
        return rows

    def _times(self, shown: pd.DataFrame) -> IntArray:
        """Number of times that each row's value is shown."""
        if self.values is None or "count" not in shown.columns or "count" in (self.group, self.sensitive):
            return np.ones(len(shown), dtype=np.int64)
        times = Numeric().codes(plain_column(shown["count"], "the table of values"))
        wrong = np.isnan(times) | (times < 0) | (np.floor(times) != times)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"row {row} of the table of values has the count {shown['count'].tolist()[row]!r}; a count is a whole number, 0 or "
                "more."
            )
        if times.sum() > MOST_PEOPLE:
            row = int(times.argmax())
            raise ValueError(
                f"the table of values counts too many people, most, {shown['count'].tolist()[row]!r}, in row {row}; a table is of "
                f"{MOST_PEOPLE:,} people at most. Correct the counts, or read some of the groups."
            )
        return times.astype(np.int64)

    def _who(self, of_row: IntArray, counts: IntArray) -> IntArray:
        """The row of each person; rows of whole groups stand for as many people as the group has values."""
        rows = np.arange(len(of_row))
        if self.values is not None and not self.counterfeits and len(np.unique(of_row)) == len(of_row):
            return rows.repeat(counts.sum(axis=1)[of_row])
        return rows

    def _check_sizes(self, groups: tuple[Hashable, ...], people: IntArray, values: IntArray) -> None:
        wrong = (people == 0) | (people > values) | ((people < values) & (not self.counterfeits))
        if wrong.any():
            worst = int(wrong.argmax())
            raise ValueError(
                f"the group {groups[worst]!r} has {people[worst]} people and {values[worst]} values; a group shows one value per "
                "person. Give both tables of one release, or, where values are invented, counterfeits=True."
            )


def _people(rows: pd.DataFrame, who: IntArray, sensitive: str, domain: tuple[Hashable, ...]) -> People:
    """The people who stand in some rows of quasi-identifiers."""
    kinds, codes = {}, []
    for name in rows.columns:
        values, (code,) = _numbered(rows[name])
        kinds[name] = Categorical(listed_values(values, f"the column {name!r} of the published table"))
        codes.append(code[who].astype(np.float64))
    schema = Schema(kinds, sensitive, domain, _unlike("row", (*rows.columns, sensitive)))
    names = rows.index.to_numpy() if len(who) == len(rows) else np.arange(len(who))
    return People(names.astype(object), np.column_stack(codes), schema)


def _numbered(*columns: "pd.Series[Any]") -> tuple[tuple[Hashable, ...], list[IntArray]]:
    """The different cells of some columns, sorted, and each column's cells as positions among them."""
    cells = pd.concat([column.astype(object) for column in columns], ignore_index=True)
    codes, found = pd.factorize(cells)
    listed = found.tolist()
    try:
        order = sorted(range(len(listed)), key=lambda code: listed[code])
    except TypeError:
        order = sorted(range(len(listed)), key=lambda code: str(listed[code]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return tuple(listed[code] for code in order), np.split(place[codes], ends)


def _unlike(name: str, names: tuple[str, ...]) -> str:
    """The name, or with a line behind it, so that it is none of some others."""
    return _unlike(f"{name}_", names) if name in names else name


def _check_cells(frame: pd.DataFrame, name: str, what: str) -> None:
    """Raise ValueError, naming the rows, if a cell is missing."""
    missing = frame[name].isna().to_numpy()
    if missing.any():
        gone = np.zeros(int(frame.index.max()) + 1, dtype=np.bool_)
        gone[frame.index[missing]] = True
        raise ValueError(f"{without(gone, name, what)}; leave the row out, or write what is meant.")


def _check_names(groups: tuple[Hashable, ...]) -> None:
    """Raise ValueError if two groups read alike."""
    named: dict[str, Hashable] = {}
    for group in groups:
        if (other := named.setdefault(str(group), group)) is not group:
            raise ValueError(
                f"two groups read {str(group)!r}: {other!r} and {group!r}; write a group's name in one way."
            )
