"""Published tables as files: one or several releases, with groups by a column or by equal quasi-identifiers."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.files.columns import DEFAULT_TIME, InputFiles, check_roles, column_varying_within_groups
from foreknow.app.cli.terminal import notice
from foreknow.app.publication import ONE_RELEASE
from foreknow.models import Cleaning, ColumnRoles
from foreknow.models.arrays import IntArray
from foreknow.models.tables.columns import repeated
from foreknow.models.tables.faults import stripped
from foreknow.models.tables.table_files import columns_of

GROUP = "group"
"""The column of the group if none is named."""


class Cells(NamedTuple):
    """Distinct rows of labels of the groups of one release: a generalized group is one cell, a bucketized one several.

    Attributes
    ----------
    labels : DataFrame
        One row per cell and one column per quasi-identifier, as text.
    group : int array, shape (c,)
    size : int array, shape (c,)
        Number of published records.
    """

    labels: pd.DataFrame
    group: IntArray
    size: IntArray


class PublishedRelease(NamedTuple):
    """One release of published tables.

    Attributes
    ----------
    time : object
    cells : Cells
    names : list
        The names of the groups, by number; for groups of equal quasi-identifiers, their labels.
    counts : int array, shape (g, m)
        Number of records of each sensitive value in each group.
    """

    time: Any
    cells: Cells
    names: list[Any]
    counts: IntArray


@dataclass(frozen=True)
class PublishedFiles:
    """Published tables, one file per release or several releases in one file, and the roles of their columns.

    Attributes
    ----------
    paths : tuple of Path
    sensitive : str
    quasi_identifiers : tuple of str
        Columns of labels; without any, the tables have a column of the group.
    group, time : str or None
        Column of the group: by default ``group`` if the tables have it, else records with equal labels are a group. Column of
        the release: by default ``week`` or ``release`` if the tables have it, else each file is one release.
    files : InputFiles
    cleaning : Cleaning
    """

    paths: tuple[Path, ...]
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    group: str | None
    time: str | None
    files: InputFiles
    cleaning: Cleaning

    def read(self) -> tuple[pd.DataFrame, str | None]:
        """The cleaned records of all releases, with the column `GROUP` of the name of the group, and the column of the release.

        The column of the release is None if there is one file without it.

        Raises
        ------
        ValueError
            If a column is missing or has two roles, two files have one release, or groups of one file are of several releases;
            or, as `InputFaults`, with all other faults of the tables.
        """
        encoding, separator = self.files.encoding, self.files.separator
        columns = [[stripped(name) for name in columns_of(path, encoding, separator)] for path in self.paths]
        time, group = self._time(columns), self._group(columns)
        named = [name for name in (time, group, self.sensitive, *self.quasi_identifiers) if name is not None]
        text = [name for name in (time, self.sensitive, *self.quasi_identifiers) if name is not None]
        tables = self.files.read(self.paths, text, named)
        for table in tables:
            check_roles(table, named)
        tables = self._cleaned(tables, time, group)
        if time is not None:
            _check_distinct_times(self.paths, tables, time)
        elif group is not None:
            for table in tables:
                others = table.drop(columns=list(self.quasi_identifiers))
                if varying := column_varying_within_groups(others, group, self.sensitive):
                    raise ValueError(
                        f"{varying!r} differs within groups, so the table holds several releases, or different groups with the "
                        f"same number; name the column of the release, as --time {quote(varying)}."
                    )
        if time is None and len(tables) > 1:
            time = ONE_RELEASE
            tables = tuple(table.assign(**{time: number}) for number, table in enumerate(tables, 1))
        records = pd.concat(tables, ignore_index=True)
        if group is None:
            records = records.assign(**{GROUP: records[list(self.quasi_identifiers)].agg(", ".join, axis=1)})
        elif group != GROUP:
            records = records.assign(**{GROUP: records[group]})
        return records, time

    def releases(self, records: pd.DataFrame, time: str | None, values: tuple[Any, ...]) -> list[PublishedRelease]:
        """The releases of records as `read` returned them, in the order of time, with values of one sensitive domain."""
        parts = [(1, records)] if time is None else list(records.groupby(time, sort=True))
        return [self._release(when, part, values) for when, part in parts]

    def _release(self, time: Any, records: pd.DataFrame, values: tuple[Any, ...]) -> PublishedRelease:
        group, names = pd.factorize(records[GROUP], sort=True)
        value = pd.Index(values).get_indexer(pd.Index(records[self.sensitive]))
        counts = np.zeros((len(names), len(values)), dtype=np.int64)
        np.add.at(counts, (group, value), 1)
        labels = records[list(self.quasi_identifiers)].assign(**{GROUP: group})
        sizes = labels.groupby([GROUP, *self.quasi_identifiers], sort=True).size().reset_index(name="records")
        cells = Cells(
            sizes[list(self.quasi_identifiers)],
            sizes[GROUP].to_numpy(dtype=np.int64),
            sizes["records"].to_numpy(dtype=np.int64),
        )
        return PublishedRelease(time, cells, names.tolist(), counts)

    def _time(self, columns: list[list[str]]) -> str | None:
        if self.time is not None:
            return self.time
        used = (self.group or GROUP, self.sensitive, *self.quasi_identifiers)
        names = [name for name in (DEFAULT_TIME, ONE_RELEASE) if name not in used]
        return next((name for name in names if all(name in each for each in columns)), None)

    def _group(self, columns: list[list[str]]) -> str | None:
        """The column of the group, or None if records with equal labels are a group."""
        if self.group is not None or not self.quasi_identifiers or all(GROUP in each for each in columns):
            return self.group or GROUP
        notice(f"No column {GROUP!r}: the records with equal {', '.join(self.quasi_identifiers)} are a group.")
        return None

    def _cleaned(
        self, tables: tuple[pd.DataFrame, ...], time: str | None, group: str | None
    ) -> tuple[pd.DataFrame, ...]:
        labels = (*(() if group is None else (group,)), *self.quasi_identifiers)
        roles = ColumnRoles(self.sensitive, labels, None, time, categorical=labels)
        cleaned, changes = self.cleaning.together(tables, roles, self.files.places(self.paths, tables))
        for change in changes:
            notice(change.sentence)
        return cleaned


def _check_distinct_times(paths: tuple[Path, ...], tables: tuple[pd.DataFrame, ...], time: str) -> None:
    """Raise ValueError if a release is in two files."""
    files = [(when, path) for path, table in zip(paths, tables, strict=True) for when in table[time].unique().tolist()]
    if twice := repeated(when for when, _ in files):
        first, second, *_ = (path.name for when, path in files if when == twice[0])
        raise ValueError(
            f"{first} and {second} both have records of the release {twice[0]!r}; join them into one file."
        )
