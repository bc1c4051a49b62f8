"""Names and roles of the columns of a user's tables, and the schema that the tables imply."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.cli.files.column_checks import (
    check_encoding_used,
    check_numbers,
    check_roles,
    holds_whole_numbers,
)
from foreknow.app.cli.files.formulas import unquoted_formulas
from foreknow.app.cli.files.input_files import ONE_RELEASE, InputFiles
from foreknow.app.cli.printing.terminal import error_console, notice
from foreknow.models import Categorical, Cleaning, ColumnRoles, Hierarchy, Numeric, Schema
from foreknow.models.tables.cleaning.faults import Places
from foreknow.models.tables.cleaning.spellings import common_spelling, folded
from foreknow.models.tables.cleaning.times_of_cells import ordered_times
from foreknow.models.tables.files.table_files import read_table

RESERVED_COLUMNS = ("group", "published")
"""Columns that `foreknow publish` writes and `foreknow attack` reads."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns of the user's tables, and the notation of their files.

    Attributes
    ----------
    respondent, time, sensitive : str
    quasi_identifiers : tuple of str
    hierarchies : tuple of str
        Each ``column=file``.
    categorical : tuple of str
        Quasi-identifiers whose numbers are codes.
    encoding : str
        The encoding of the user's CSV and hierarchy files; files that foreknow wrote are UTF-8.
    missing : tuple of str
        Cells of the user's files that mean a missing value, besides the empty cell.
    separator : str or None
        The character between the cells of the user's CSV files; None: found from the first records of each.
    numbers : tuple of str
        Quasi-identifiers whose cells are numbers with a unit.
    cleaning : Cleaning
        Rules by which the user's tables are cleaned or refused.

    Raises
    ------
    ValueError
        If a column has a reserved name, or a categorical column is not a quasi-identifier.
    """

    respondent: str
    time: str
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    separator: str | None = None
    numbers: tuple[str, ...] = ()
    cleaning: Cleaning = field(default_factory=Cleaning)

    def __post_init__(self) -> None:
        for name in self.names:
            if name in RESERVED_COLUMNS:
                raise ValueError(f"the column name {name!r} is one that foreknow writes itself; rename the column.")
        for option, names in (("categorical", self.categorical), ("number", self.numbers)):
            for name in names:
                if name not in self.quasi_identifiers:
                    raise ValueError(
                        f"--{option} {name!r} is not a column named by --qi; add --qi {name}, or leave it out."
                    )
        for name in self.numbers:
            if name in self.categories:
                raise ValueError(f"--number {name} is also named by --categorical or --hierarchy; leave one out.")

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that have a role."""
        return (self.respondent, self.time, self.sensitive, *self.quasi_identifiers)

    @property
    def published(self) -> dict[str, Any]:
        """Roles of the columns of the published table."""
        return {"time": self.time, "sensitive": self.sensitive, "quasi_identifiers": list(self.quasi_identifiers)}

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns whose cells are names of categories, even if they are written as numbers."""
        named = [*self.categorical, *(text.partition("=")[0] for text in self.hierarchies)]
        return (self.sensitive, *(name for name in self.quasi_identifiers if name in named))

    @property
    def roles(self) -> ColumnRoles:
        """Roles of the columns, for cleaning."""
        return ColumnRoles(
            self.sensitive, self.quasi_identifiers, self.respondent, self.time, self.categories[1:], self.numbers
        )

    def read(self, *paths: Path) -> tuple[pd.DataFrame, ...]:
        """Read and clean tables of records: respondents as text, categories as they are written.

        Each change is printed as a notice. The categories of a column are whole numbers if all tables write them so; one cell
        ``042`` or ``250.10`` makes them text.

        Raises
        ------
        ValueError
            If a file cannot be read, a column is missing or has two roles, or an encoding is given and no file is text; or, as
            `InputFaults`, with all other faults of the tables.
        """
        if not self.hierarchies:
            check_encoding_used(self.encoding, paths)
        files = InputFiles(self.encoding, self.separator, self.missing)
        with error_console.status("reading and cleaning"):
            tables = files.read(paths, [self.respondent, self.time, *self.categories], self.names, self.time)
            return self.clean(tables, files.places(paths, tables))

    def clean(self, tables: tuple[pd.DataFrame, ...], places: Places) -> tuple[pd.DataFrame, ...]:
        """Clean tables that were read; as `read`."""
        for table in tables:
            check_roles(table, self.names)
        tables, changes = self.cleaning.together(tables, self.roles, places)
        for change in changes:
            notice(change.sentence)
        for name in self.categories:
            if all(holds_whole_numbers(table[name]) for table in tables):
                tables = tuple(table.assign(**{name: table[name].astype(np.int64)}) for table in tables)
        return tables

    def read_groups(self, path: Path, records: pd.DataFrame | None = None) -> pd.DataFrame:
        """Read the group of each record, as `foreknow publish` writes it, with times and respondents as in cleaned records."""
        key = read_table(path, [self.respondent, "published"])
        if self.time == ONE_RELEASE and self.time not in key.columns:
            key = key.assign(**{self.time: 1})
        if self.time in key.columns:
            times, faults, _ = ordered_times(key[self.time], self.cleaning.time_format)
            if not faults:
                key = key.assign(**{self.time: times})
        if records is not None:
            shared = [name for name in (self.respondent, self.time) if name in key.columns and name in records.columns]
            key = key.assign(**{name: unquoted_formulas(key[name], records[name]) for name in shared})
        if records is not None and self.respondent in key.columns and self.cleaning.equal_values != "keep":
            key = key.assign(**{self.respondent: common_spelling(key[self.respondent], records[self.respondent])})
        return key

    def schema(self, *tables: pd.DataFrame) -> Schema:
        """The schema whose domains are the union of the tables' values, with the hierarchies attached.

        Parameters
        ----------
        tables : DataFrame
            As `read` returns them.

        Raises
        ------
        ValueError
            If a cell is missing or infinite, numbers are mixed with words or too large, or a
            hierarchy is not written as ``column=file`` or names no quasi-identifier.
        """
        everything = pd.concat([table[[*self.names]] for table in tables], ignore_index=True)
        for name in self.quasi_identifiers:
            if name not in self.categorical:
                check_numbers(everything[name])
        schema = Schema.infer(everything, self.quasi_identifiers, self.sensitive, self.respondent)
        for table in tables:
            self._check_cells(table)
        kinds: dict[str, Numeric | Categorical] = dict(schema.quasi_identifiers)
        for name in self.categorical:
            kinds[name] = Categorical(_distinct(everything[name]))
        kinds |= self._hierarchies(everything)
        return Schema(kinds, schema.sensitive, schema.values, schema.respondent)

    def _hierarchies(self, everything: pd.DataFrame) -> dict[str, Numeric | Categorical]:
        """Quasi-identifiers with a hierarchy, read from its file."""
        kinds: dict[str, Numeric | Categorical] = {}
        for text in self.hierarchies:
            name, equals, path = text.partition("=")
            if not equals or name not in self.quasi_identifiers:
                raise ValueError(
                    f"--hierarchy {text!r} is not COLUMN=FILE with a column named by --qi; write age=age.csv."
                )
            if name in kinds:
                raise ValueError(f"--hierarchy names {name!r} twice; give it one file.")
            values = _distinct(everything[name])
            hierarchy = self._hierarchy(name, path, values)
            missing = sorted({str(value) for value in values} - set(hierarchy.leaves))
            if missing:
                more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
                raise ValueError(
                    f"--hierarchy {name}: {path} has no row for {', '.join(map(repr, missing[:5]))}{more}, which the column has; "
                    "add the rows, or correct the records."
                )
            kinds[name] = Categorical(values, hierarchy)
        return kinds

    def _hierarchy(self, name: str, path: str, values: tuple[Hashable, ...]) -> Hierarchy:
        """The hierarchy of a file; values that differ from the records in spaces and letter case are treated as the rule says."""
        read = Hierarchy.read(path, encoding=self.encoding)
        written = {folded(str(value)): str(value) for value in values}
        known = set(read.leaves)
        alike = {leaf: written.get(folded(leaf), leaf) for leaf in read.leaves}
        other = {leaf: cell for leaf, cell in alike.items() if cell not in known}
        if self.cleaning.equal_values == "keep" or not other:
            return read
        leaf, cell = next(iter(other.items()))
        said = f"--hierarchy {name}: {path} writes {leaf!r}, and the records {cell!r} ({len(other)} such values)"
        if self.cleaning.equal_values == "refuse":
            raise ValueError(f"{said}; write them in one way, or set --equal-values merge.")
        notice(f"{said}; they are read as the records write them.")
        return Hierarchy([(other.get(row[0], row[0]), *row[1:]) for row in read.rows])

    def _check_cells(self, table: pd.DataFrame) -> None:
        """Raise ValueError if a sensitive value or a quasi-identifier is missing or infinite."""
        for name in (self.sensitive, *self.quasi_identifiers):
            column = table[name]
            wrong = column.isna().to_numpy()
            if column.dtype == np.float64 and name not in self.categories:
                wrong = wrong | np.isinf(column.to_numpy())
            if wrong.any():
                row = int(wrong.argmax())
                respondent, time, cell = (table[role].tolist()[row] for role in (self.respondent, self.time, name))
                fault = "is missing" if pd.isna(cell) else f"is {cell}, and a quasi-identifier is a finite number"
                number = f" ({int(wrong.sum())} such cells)" if wrong.sum() > 1 else ""
                raise ValueError(
                    f"{name!r} of respondent {respondent!r} at {time!r} {fault}{number}; correct it, or drop the record."
                )


def _distinct(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    values = column.dropna().unique().tolist()
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
