"""Tables of the user: files, names and roles of their columns, and the schema that they imply."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.cli.files.written_tables import unquoted_formulas
from foreknow.app.cli.terminal import error_console, notice
from foreknow.app.publication import ONE_RELEASE
from foreknow.models import Categorical, Cleaning, ColumnRoles, Hierarchy, Numeric, Schema
from foreknow.models.tables.cell_types import holds_whole_numbers, ordered_times
from foreknow.models.tables.columns import check_columns, is_hashable, sorted_values
from foreknow.models.tables.faults import Places, common_spelling, folded, stripped
from foreknow.models.tables.table_files import SEPARATORS, columns_of, file_notation, places_in, read_table

RESERVED_COLUMNS = ("group", "published", "ghost", "ghosts")
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

    def read(self, *paths: Path, tell: Callable[[str], None] = notice) -> tuple[pd.DataFrame, ...]:
        """Read and clean tables of records: respondents as text, categories as they are written.

        ``tell`` takes the sentence of each change; by default it is printed as a notice. The categories of a column are whole
        numbers if all tables write them so; one cell ``042`` or ``250.10`` makes them text.

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
            return self.clean(tables, files.places(paths, tables), tell)

    def clean(
        self, tables: tuple[pd.DataFrame, ...], places: Places, tell: Callable[[str], None] = notice
    ) -> tuple[pd.DataFrame, ...]:
        """Clean tables that were read; as `read`."""
        for table in tables:
            check_roles(table, self.names)
        tables, changes = self.cleaning.together(tables, self.roles, places)
        for change in changes:
            tell(change.sentence)
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
            key = key if faults else key.assign(**{self.time: times})
        if records is None:
            return key
        shared = [name for name in (self.respondent, self.time) if name in key.columns and name in records.columns]
        key = key.assign(**{name: unquoted_formulas(key[name], records[name]) for name in shared})
        if self.respondent in key.columns and self.cleaning.equal_values != "keep":
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
            If a hierarchy is not written as ``column=file``, names no quasi-identifier, or lacks a value.
        """
        everything = pd.concat([table[[*self.names]] for table in tables], ignore_index=True)
        schema = Schema.infer(everything, self.quasi_identifiers, self.sensitive, self.respondent)
        kinds: dict[str, Numeric | Categorical] = dict(schema.quasi_identifiers)
        for name in self.categorical:
            kinds[name] = Categorical(sorted_values(everything[name].dropna().unique()))
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
            values = sorted_values(everything[name].dropna().unique())
            hierarchy = self._as_in_records(name, path, Hierarchy.read(path, encoding=self.encoding), values)
            missing = sorted({str(value) for value in values} - set(hierarchy.leaves))
            if missing:
                more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
                raise ValueError(
                    f"--hierarchy {name}: {path} has no row for {', '.join(map(repr, missing[:5]))}{more}, which the column has; "
                    "add the rows, or correct the records."
                )
            kinds[name] = Categorical(values, hierarchy)
        return kinds

    def _as_in_records(self, name: str, path: str, read: Hierarchy, values: tuple[Hashable, ...]) -> Hierarchy:
        """A hierarchy whose values that differ from the records in spaces and letter case are treated as the rule says."""
        written = {folded(str(value)): str(value) for value in values}
        alike = {leaf: written.get(folded(leaf), leaf) for leaf in read.leaves}
        other = {leaf: cell for leaf, cell in alike.items() if cell not in alike}
        if self.cleaning.equal_values == "keep" or not other:
            return read
        leaf, cell = next(iter(other.items()))
        said = f"--hierarchy {name}: {path} writes {leaf!r}, and the records {cell!r} ({len(other)} such values)"
        if self.cleaning.equal_values == "refuse":
            raise ValueError(f"{said}; write them in one way, or set --equal-values merge.")
        notice(f"{said}; they are read as the records write them.")
        return Hierarchy([(other.get(row[0], row[0]), *row[1:]) for row in read.rows])


DEFAULT_TIME = "week"
"""The column of the time if none is named."""


@dataclass(frozen=True)
class InputFiles:
    """Notation of the user's files."""

    encoding: str = "utf-8"
    separator: str | None = None  # None: found from the first records of each file
    missing: tuple[str, ...] = ()  # cells that mean a missing value, besides the empty one

    def read(
        self, paths: Sequence[Path], text: Sequence[str], names: Sequence[str], time: str | None = None
    ) -> tuple[pd.DataFrame, ...]:
        """Read tables; column names lose the spaces around them, and a table without the time `ONE_RELEASE` gets it.

        ``text`` are columns that are read as text, and ``names`` those that the tables must have.

        Raises
        ------
        ValueError
            If a file cannot be read, or has not all columns.
        """
        return tuple(self._read(path, text, names, time) for path in paths)

    def places(self, paths: Sequence[Path], tables: Sequence[pd.DataFrame]) -> Places:
        """The places of the records of tables, as `read` returned them."""
        files = [(path, len(table)) for path, table in zip(paths, tables, strict=True)]
        return lambda rows: places_in(files, self.encoding, self.separator, rows)

    def _read(self, path: Path, text: Sequence[str], names: Sequence[str], time: str | None) -> pd.DataFrame:
        written = columns_of(path, self.encoding, self.separator)
        spaced = {name: stripped(name) for name in written if name != stripped(name)}
        as_written = {plain: name for name, plain in spaced.items()}
        columns = [as_written.get(name, name) for name in text]
        table = read_table(path, columns, self.encoding, ("", *self.missing), self.separator).rename(columns=spaced)
        _, separator = file_notation(path, self.encoding, self.separator)
        if self.separator is None and separator not in (None, ","):
            notice(f"{path.name} is read with {SEPARATORS[str(separator)]} between its cells.")
        if spaced:
            notice(f"{path.name}: spaces around the column names {', '.join(map(repr, spaced.values()))} removed.")
        if time == ONE_RELEASE and time not in table.columns:
            table = table.assign(**{time: 1})
        check_named(path, table, names)
        return table


def check_named(path: Path, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError, naming all of them, if columns are missing."""
    missing = [name for name in dict.fromkeys(names) if name not in table.columns]
    if not missing:
        return
    columns = [str(name) for name in table.columns]
    alike = {name: next((other for other in columns if folded(other) == folded(name)), None) for name in missing}
    hints = "".join(f" For {name!r}, write {other!r}." for name, other in alike.items() if other)
    plural = "column" if len(missing) == 1 else "columns"
    listed = ", ".join(map(repr, columns[:20])) + (", ..." if len(columns) > 20 else "")
    raise ValueError(
        f"{path.name} has no {plural} {', '.join(map(repr, missing))}; it has {listed}.{hints} Name the columns by --id, --time, "
        f"--qi and --sensitive; foreknow describe {path} proposes them."
    )


def time_column(named: str | None, path: Path, encoding: str, separator: str | None) -> str:
    """The column of the time: the one named, else ``week`` if the file has it, else `ONE_RELEASE`, with a notice.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if named is not None:
        return named
    names = [stripped(name) for name in columns_of(path, encoding, separator)]
    if DEFAULT_TIME in names:
        return DEFAULT_TIME
    if ONE_RELEASE not in names:
        notice(f"No --time, and no column {DEFAULT_TIME!r}: {path.name} is read as one release.")
    return ONE_RELEASE


MAX_CODES = 10
"""A numeric quasi-identifier with at most this number of distinct values may hold codes."""


def check_encoding_used(encoding: str, paths: Sequence[Path]) -> None:
    """Raise ValueError if an encoding other than UTF-8 is given and no file is a CSV."""
    if encoding != "utf-8" and not any(path.suffix.lower() == ".csv" for path in paths):
        raise ValueError(
            f"--encoding {encoding} is not read: {', '.join(map(str, paths))} {'is' if len(paths) == 1 else 'are'} not CSV; "
            "leave the option out."
        )


def check_roles(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError unless the table holds records, and each name is one column of single values."""
    check_columns(table, names)
    for name in names:
        if table[name].dtype == object and not table[name].map(is_hashable).all():
            raise ValueError(
                f"the column {name!r} holds lists; a cell is one value. Split the column, or join each list."
            )
    if table.empty:
        raise ValueError("the table has no record.")


def notice_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that may be codes: whole numbers, at most `MAX_CODES` different ones."""
    numeric = [name for name, kind in schema.quasi_identifiers.items() if isinstance(kind, Numeric)]
    distinct = {name: table[name].dropna().unique() for name in numeric}
    names = [name for name, values in distinct.items() if len(values) <= MAX_CODES and (values % 1 == 0).all()]
    if names:
        options = " ".join(f"--categorical {name}" for name in names)
        notice(f"Read as numbers, with few distinct values: {', '.join(names)}. If they are codes, add {options}.")


def column_varying_within_groups(published: pd.DataFrame, group: str, sensitive: str) -> str | None:
    """A column with several values in one group, or None: a published quasi-identifier has one value in each group."""
    for name in published.columns.drop([group, sensitive]):
        if published[[group, name]].astype(str).drop_duplicates()[group].duplicated().any():
            return str(name)
    return None
