"""Tables on disk: their schema, their times, and what is wrong with them, by queries that need no table in memory."""

import datetime
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from foreknow.app.disk.engine import LEAST_MEMORY, Engine
from foreknow.app.disk.input_columns import NAMES, check_any_record, check_names, check_types, distinct_cells
from foreknow.app.disk.input_files import read_files
from foreknow.app.disk.sql_files import quoted
from foreknow.models import Categorical, Numeric, Schema
from foreknow.models.settings import check_kind, counted
from foreknow.models.tables.arguments import as_list

MOST_VALUES = 2**16
"""Largest number of sensitive values, whose codes are kept in 16 bits."""


@dataclass(frozen=True)
class LargeTable:
    """A table of records on disk: Parquet or CSV files, of one release each or with a column of times.

    Parameters
    ----------
    files : path or sequence of path
        Parquet files with the same columns, or CSV files, of which all have the same separator.
    schema : Schema
        Roles of the columns, and domains, with at most 65,536 sensitive values. `LargeTable.infer` reads them from the files.
    time : str, optional
        Column of the release; without it all records are one release.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    FileNotFoundError
        If there is no such file.
    ValueError
        If the sensitive domain has too many values, or a published column has the name of one that a release adds, as ``group``, in
        lower or upper case. Files are not read; `relation` does.
    """

    files: tuple[Path, ...]
    schema: Schema
    time: str | None = None

    def __init__(self, files: "Path | str | Sequence[Path | str]", schema: Schema, time: str | None = None) -> None:
        check_kind(
            "LargeTable", "schema", schema, Schema, "is a Schema, as Schema({'age': Numeric()}, 'result', (0, 1))"
        )
        if len(schema.values) > MOST_VALUES:
            raise ValueError(
                f"LargeTable: the sensitive column {schema.sensitive!r} has {len(schema.values):,} values; on disk it has at most "
                f"{MOST_VALUES:,}. Group rare values, or name another column."
            )
        check_names(schema)
        if time is not None:
            check_kind("LargeTable", "time", time, str, "is the name of a column, as 'week', or None")
        object.__setattr__(self, "files", _existing(files))
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "time", time)

    @classmethod
    def infer(
        cls,
        files: "Path | str | Sequence[Path | str]",
        quasi_identifiers: Sequence[str],
        sensitive: str = "result",
        respondent: str = "id",
        time: str | None = None,
        categorical: Sequence[str] = (),
    ) -> "LargeTable":
        """Table with a schema read from its files: numbers have the bounds of their column, other columns their values, sorted.

        Quasi-identifiers of ``categorical`` have their values too, even if they are numbers. DuckDB reads the files on one thread
        and with a memory limit of 256 MiB.

        Raises
        ------
        TypeError
            If the files are no path or list of paths, or a column is no text.
        FileNotFoundError, ValueError
            If there is no such file, it cannot be read, or it has no record. If a column is missing, without a value, or of a type
            that is neither a number, a text, a boolean, a date nor a time without zone; for the respondent, nor a UUID, a binary, a
            time of day or a time with zone. If a number is nan, infinite or beyond 2**53, or a date or time of another column
            than that of the times is not of the years 1 to 9999 or has a fraction of a microsecond.
        """
        owner, takes = "LargeTable.infer", "is a list of columns, as ['age']"
        quasi_identifiers = as_list(owner, "quasi_identifiers", quasi_identifiers, takes)
        categorical = as_list(owner, "categorical", categorical, takes)
        names = [*quasi_identifiers, sensitive, respondent, *([] if time is None else [time])]
        for name in [*names, *categorical]:
            check_kind(owner, "a column", name, str, "is named by a text, as 'age'")
        found = _existing(files)
        with Engine(LEAST_MEMORY).connection() as connection, _readable(found):
            relation = read_files(connection, found, names, [sensitive, *categorical], respondent)
            check_any_record(relation, found)
            kinds = dict(zip(relation.columns, relation.types, strict=True))
            check_types(kinds, [name for name in names if name != respondent], respondent)
            attributes = {
                name: Categorical(_distinct(relation, name))
                if name in categorical
                else _attribute(relation, name, kinds[name])
                for name in quasi_identifiers
            }
            values = _distinct(relation, sensitive)
        return cls(found, Schema(attributes, sensitive, values, respondent), time)

    def relation(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The records of all files, as a query that is not yet run.

        Raises
        ------
        TypeError
            If ``connection`` is no connection of DuckDB.
        ValueError
            If a file cannot be read, or a column is missing or of a type that `infer` refuses.
        """
        check_kind(
            "LargeTable", "connection", connection, duckdb.DuckDBPyConnection, "is one that Engine.connection makes"
        )
        schema = self.schema
        domains = {
            name: kind.values for name, kind in schema.quasi_identifiers.items() if isinstance(kind, Categorical)
        }
        domains |= {schema.sensitive: schema.values}
        names = [
            *schema.quasi_identifiers,
            schema.sensitive,
            schema.respondent,
            *([] if self.time is None else [self.time]),
        ]
        # The types of other cells of a CSV file, as booleans and dates, are found again, as `infer` found them.
        typed = [name for name, values in domains.items() if all(map(_is_typed, values))]
        whole = [
            name
            for name, values in domains.items()
            if name not in typed and all(isinstance(value, int) for value in values)
        ]
        as_text = [name for name in domains if name not in typed]
        with _readable(self.files):
            relation = read_files(connection, self.files, names, as_text, schema.respondent, whole)
        kinds = dict(zip(relation.columns, relation.types, strict=True))
        check_types(kinds, [name for name in names if name != schema.respondent], schema.respondent)
        return relation

    def times(self, connection: duckdb.DuckDBPyConnection) -> list[Any]:
        """Times of the releases, in order; ``[0]`` without a column of times.

        Raises
        ------
        TypeError, ValueError
            As `relation`; or if there is no record, a record has no time, or a time is outside the years 1 to
            9999 or has a fraction of a microsecond.
        """
        if self.time is None:
            return [0]
        relation = self.relation(connection)
        check_any_record(relation, self.files)
        rows = distinct_cells(relation, self.time)
        missing = sum(number for time, number in rows if _is_missing(time))
        if missing:
            verb = "has" if missing == 1 else "have"
            raise ValueError(
                f"LargeTable: {counted(missing, 'record')} {verb} no {self.time!r}; give a time or drop them, since a record "
                "belongs to one release."
            )
        return [time for time, _ in rows]


def coded_query(table: LargeTable, connection: duckdb.DuckDBPyConnection, time: Any) -> duckdb.DuckDBPyRelation:
    """Records of one release as numbers: ``respondent``, ``q0`` to ``qd``, ``value``; NULL for a cell outside its domain."""
    schema = table.schema
    columns, joins = [f"r.{quoted(schema.respondent)} AS respondent"], ""
    for a, (name, kind) in enumerate(schema.quasi_identifiers.items()):
        if isinstance(kind, Numeric):
            columns.append(f"TRY_CAST(r.{quoted(name)} AS DOUBLE) AS q{a}")
        else:
            connection.register(f"domain{a}", _domain(kind.values))
            joins += f" LEFT JOIN domain{a} ON r.{quoted(name)} = domain{a}.cell"
            columns.append(f"domain{a}.code::DOUBLE AS q{a}")
    connection.register("domain_of_values", _domain(schema.values))
    joins += f" LEFT JOIN domain_of_values ON r.{quoted(schema.sensitive)} = domain_of_values.cell"
    columns.append("domain_of_values.code AS value")
    where = "" if table.time is None else f" WHERE r.{quoted(table.time)} = $time"
    table.relation(connection).create_view("records", replace=True)
    query = f"SELECT {', '.join(columns)} FROM records r{joins}{where}"
    return connection.sql(query, params=None if table.time is None else {"time": time})


def _domain(values: Sequence[Hashable]) -> pa.Table:
    return pa.table({"cell": pa.array(list(values)), "code": pa.array(range(len(values)), pa.int32())})


def _attribute(relation: duckdb.DuckDBPyRelation, name: str, kind: Any) -> Numeric | Categorical:
    if kind.id in NAMES:
        return Categorical(_distinct(relation, name))
    column = quoted(name)
    low, high = relation.aggregate(f"min({column}), max({column})").fetchall()[0]
    if low is None:
        raise ValueError(f"LargeTable: the column {name!r} has no value; leave it out of the quasi-identifiers.")
    outside = [bound for bound in (low, high) if not abs(float(bound)) <= 2**53]
    if outside:
        raise ValueError(
            f"LargeTable: the column {name!r} holds {outside[0]}; a number is from -2**53 to 2**53. Correct it, or name the "
            "column in categorical=."
        )
    return Numeric(float(low) + 0.0, float(high) + 0.0)  # no -0.0


def _is_typed(value: object) -> bool:
    """True for a value that a CSV file holds neither as text nor as a whole number."""
    return isinstance(value, bool | datetime.date)


def _is_missing(time: object) -> bool:
    """True for a missing time, and for one that is not a number."""
    return time is None or (isinstance(time, float) and isnan(time))


def _distinct(relation: duckdb.DuckDBPyRelation, name: str) -> tuple[Any, ...]:
    return tuple(cell for cell, _ in distinct_cells(relation.filter(f"{quoted(name)} IS NOT NULL"), name))


@contextmanager
def _readable(files: Sequence[Path]) -> Iterator[None]:
    """Raise ValueError for errors of DuckDB, which reads damaged files and files of other formats.

    A name of a column that is no text is a RuntimeError or a UnicodeError of DuckDB.
    """
    try:
        yield
    except (duckdb.Error, RuntimeError, UnicodeError) as error:
        raise ValueError(
            f"LargeTable: {', '.join(map(str, files))} cannot be read: {str(error).splitlines()[0]}. Write the file "
            "again, as Parquet or CSV."
        ) from None


def _existing(files: "Path | str | Sequence[Path | str]") -> tuple[Path, ...]:
    takes = "is the path of a Parquet or CSV file, or a list of such paths"
    listed = [files] if isinstance(files, str | Path) else as_list("LargeTable", "files", files, takes)
    for path in listed:
        check_kind("LargeTable", "a path of files", path, (str, Path), "is the path of a Parquet or CSV file")
    paths = tuple(map(Path, listed))
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"LargeTable: there is no file {path}.")
    return paths
