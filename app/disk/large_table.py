"""Tables on disk: their schema, times and columns, read by queries that need no table in memory."""

import datetime
import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from foreknow.app.disk.engine import LEAST_MEMORY, Engine, exact_pattern, quoted
from foreknow.app.publication import ONE_RELEASE
from foreknow.models import Categorical, Numeric, Schema
from foreknow.models.advice import Advice
from foreknow.models.equality import set_fields
from foreknow.models.settings import as_list, check_kind, counted
from foreknow.models.tables.table_files import existing_file, undecodable
from foreknow.models.tables.view import added_column

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
    source : path or sequence of path
        Files that ``files`` were made from, as by cleaning: a publication names them as its input, with their checksums.

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
    source: tuple[Path, ...] = ()

    def __init__(
        self,
        files: "Path | str | Sequence[Path | str]",
        schema: Schema,
        time: str | None = None,
        source: "Path | str | Sequence[Path | str]" = (),
    ) -> None:
        check_kind(
            "LargeTable", "schema", schema, Schema, "is a Schema, as Schema({'age': Numeric()}, 'result', (0, 1))"
        )
        if len(schema.values) > MOST_VALUES:
            raise ValueError(
                f"LargeTable: the sensitive column {schema.sensitive!r} has {len(schema.values):,} values; on disk it has at most "
                f"{MOST_VALUES:,}. Group rare values, or name another column."
            )
        if time is not None:
            check_kind("LargeTable", "time", time, str, "is the name of a column, as 'week', or None")
        # Names that a release or its key adds, in lower or upper case.
        added = added_column(schema, case_matters=False)
        published = {name.lower() for name in map(str, (*schema.quasi_identifiers, schema.sensitive))}
        if time is None and ONE_RELEASE in published | {str(schema.respondent).lower()}:
            added = ONE_RELEASE
        for name in (schema.respondent, time):
            if re.fullmatch(r"group|_rank|_value|_q[0-9]+", str(name).lower()) or (
                name == time and str(name).lower() in published
            ):
                added = name
        if added is not None:
            raise ValueError(
                f"LargeTable: the column {added!r} has the name of a column that a release adds; rename yours."
            )
        set_fields(self, files=_existing(files), schema=schema, time=time, source=_existing(source))

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
        names = [*quasi_identifiers, sensitive, *([] if time is None else [time])]
        for name in [*names, respondent, *categorical]:
            check_kind(owner, "a column", name, str, "is named by a text, as 'age'")
        found = _existing(files)
        with Engine(LEAST_MEMORY).connection() as connection, _readable(found):
            relation = read_files(connection, found, names, [sensitive, *categorical], respondent)
            check_any_record(relation, found)
            kinds = dict(zip(relation.columns, relation.types, strict=True))
            attributes = {
                name: Categorical(_distinct(relation, name))
                if name in categorical or kinds[name].id in NAMES
                else _bounded(relation, name)
                for name in quasi_identifiers
            }
            values = _distinct(relation, sensitive)
        return cls(found, Schema(attributes, sensitive, values, respondent), time)

    def relation(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The records of all files, as a query that is not yet run.

        Raises
        ------
        ValueError
            If a file cannot be read, or a column is missing or of a type that `infer` refuses.
        """
        schema = self.schema
        domains = {
            name: kind.values for name, kind in schema.quasi_identifiers.items() if isinstance(kind, Categorical)
        }
        domains |= {schema.sensitive: schema.values}
        # A CSV file holds booleans and dates neither as text nor as whole numbers: their types are found again, as by `infer`.
        typed = (bool, datetime.date)
        as_text = [name for name, values in domains.items() if not all(isinstance(value, typed) for value in values)]
        whole = [name for name in as_text if all(isinstance(value, int) for value in domains[name])]
        names = [*schema.quasi_identifiers, schema.sensitive, *([] if self.time is None else [self.time])]
        with _readable(self.files):
            return read_files(connection, self.files, names, as_text, schema.respondent, whole)

    def times(self, connection: duckdb.DuckDBPyConnection) -> list[Any]:
        """Times of the releases, in order; ``[1]`` without a column of times.

        Raises
        ------
        TypeError, ValueError
            As `relation`; or if there is no record, a record has no time, or a time is outside the years 1 to
            9999 or has a fraction of a microsecond.
        """
        if self.time is None:
            return [1]
        relation = self.relation(connection)
        check_any_record(relation, self.files)
        rows = distinct_cells(relation, self.time)
        missing = sum(number for time, number in rows if time is None or time != time)  # None or NaN
        if missing:
            verb = "has" if missing == 1 else "have"
            raise ValueError(
                f"LargeTable: {counted(missing, 'record')} {verb} no {self.time!r}; give a time or drop them, since a record "
                "belongs to one release."
            )
        return [time for time, _ in rows]


ROW = "foreknow:row"
"""Column of the numbers of the records of a release, within a query."""


def coded_query(
    table: LargeTable, connection: duckdb.DuckDBPyConnection, time: Any, numbered: bool = False
) -> duckdb.DuckDBPyRelation:
    """Records of one release as numbers: ``respondent``, ``q0`` to ``qd``, ``value``; NULL for a cell outside its domain.

    If ``numbered``, also ``row``, the place among the records of the release in the order of the files. The connection then
    preserves the order of insertion.
    """
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
    where = "" if table.time is None else f" WHERE {quoted(table.time)} = $time"
    table.relation(connection).create_view("records", replace=True)
    rows = f"SELECT *{', row_number() OVER () AS ' + quoted(ROW) if numbered else ''} FROM records{where}"
    columns += [f"r.{quoted(ROW)} AS row"] if numbered else []
    query = f"SELECT {', '.join(columns)} FROM ({rows}) r{joins}"
    return connection.sql(query, params=None if table.time is None else {"time": time})


def _domain(values: Sequence[Hashable]) -> pa.Table:
    return pa.table({"cell": pa.array(list(values)), "code": pa.array(range(len(values)), pa.int32())})


def _bounded(relation: duckdb.DuckDBPyRelation, name: str) -> Numeric:
    """Attribute with the bounds of a column of numbers."""
    column = quoted(name)
    low, high = relation.aggregate(f"min({column}), max({column})").fetchall()[0]
    if low is None or not -(2**53) <= float(low) <= float(high) <= 2**53:
        raise ValueError(
            f"LargeTable: the column {name!r} holds numbers from {low} to {high}; they are from -2**53 to 2**53, at least one. "
            "Correct them, name the column in categorical=, or leave it out."
        )
    return Numeric(float(low) + 0.0, float(high) + 0.0)  # no -0.0


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
        text = [path for path in files if not _is_parquet(path)]
        if text and "unicode" in str(error).lower():
            path = next((path for path in text if f"file = {path}" in str(error)), text[0])
            raise ValueError(Advice(f"LargeTable: {path} cannot be read: ", undecodable(path, "utf-8"))) from None
        raise ValueError(
            f"LargeTable: {', '.join(map(str, files))} cannot be read: {str(error).splitlines()[0]}. Write the file "
            "again, as Parquet or CSV."
        ) from None


def _existing(files: "Path | str | Sequence[Path | str]") -> tuple[Path, ...]:
    takes = "is the path of a Parquet or CSV file, or a list of such paths"
    listed = [files] if isinstance(files, str | Path) else as_list("LargeTable", "files", files, takes)
    for path in listed:
        check_kind("LargeTable", "a path of files", path, (str, Path), "is the path of a Parquet or CSV file")
    return tuple(existing_file(path, "name a Parquet or CSV file") for path in listed)


WHOLE = {
    "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint", "uhugeint",
}  # fmt: skip
"""Types of DuckDB whose cells are whole numbers."""

NUMBERS = WHOLE | {"float", "double", "decimal"}
"""Types of DuckDB whose cells are numbers."""

DAYS = {"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}
"""Types of DuckDB whose cells are dates and times without zone."""

NAMES = DAYS | {"varchar", "enum", "boolean"}
"""Types of DuckDB whose cells are values of a domain."""

IDENTIFIERS = NUMBERS | NAMES | {"uuid", "blob", "time", "timestamp with time zone"}
"""Types of DuckDB whose cells name a respondent."""


def check_types(kinds: dict[str, Any], names: Sequence[str], respondent: str) -> None:
    """Raise ValueError unless some columns hold numbers or values of a domain, and respondents are single cells."""
    for name in (*names, respondent):
        if kinds[name].id not in (IDENTIFIERS if name == respondent else NUMBERS | NAMES):
            raise ValueError(
                f"LargeTable: the column {name!r} is of type {kinds[name]}; it holds numbers, texts, booleans, dates or times "
                "without zone, or that of the respondents UUIDs or binary cells. Write it as text or as a number."
            )


def distinct_cells(relation: duckdb.DuckDBPyRelation, name: str) -> list[tuple[Any, int]]:
    """Distinct cells of a column in their order, each with its number of records, by one reading of the column.

    Raises
    ------
    ValueError
        For a date or time that Python has no exact value for: an infinite one, one outside the years 1 to 9999, or one with a
        fraction of a microsecond.
    """
    column, kind = quoted(name), dict(zip(relation.columns, relation.types, strict=True))[name].id
    columns = f"{column}, count(*), bool_or({_inexact(kind, column)}), any_value({column}::VARCHAR)"
    rows = relation.aggregate(columns).order(column).fetchall()
    is_large = [isinstance(cell, int) and not -(2**63) <= cell < 2**63 for cell, *_ in rows]
    told = [told for (_, _, inexact, told), large in zip(rows, is_large, strict=True) if inexact or large]
    if told:
        raise ValueError(
            f"LargeTable: the column {name!r} holds {told[0]}; dates and times are of the years 1 to 9999, in whole "
            "microseconds, and whole numbers from -2**63 to 2**63 - 1. Round or correct it, or write the column as text."
        )
    return [
        (0.0 if isinstance(cell, float) and cell == 0 else cell, records) for cell, records, _, _ in rows
    ]  # no -0.0


def _inexact(kind: str, column: str) -> str:
    """Condition of the cells of a column that Python has no exact value for."""
    if kind not in DAYS:
        return "false"
    inside = f"{column}::TIMESTAMP BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
    return f"NOT {inside}" + (f" OR epoch_ns({column}) % 1000 <> 0" if kind == "timestamp_ns" else "")


def check_any_record(relation: duckdb.DuckDBPyRelation, files: Sequence[Path]) -> None:
    """Raise ValueError if the files have no record."""
    if not relation.project("1").limit(1).fetchall():
        raise ValueError(
            f"LargeTable: {', '.join(map(str, files))} has no record; a table has one at least. Name a file with records."
        )


PARQUET = (".parquet", ".pq")
"""Endings of Parquet files; all others are text."""


def read_files(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    names: Sequence[Hashable],
    categories: Sequence[Hashable],
    respondent: Hashable,
    whole: Sequence[Hashable] | None = None,
) -> duckdb.DuckDBPyRelation:
    """The records of some files, as a query that is not yet run.

    Parameters
    ----------
    connection : DuckDBPyConnection
    files : sequence of Path
    names : sequence of str
        Columns that the files must have besides that of the respondent: numbers, or values of a domain.
    categories : sequence of str
        Columns whose cells are names: of a CSV file, they are text as it is written, as 042, or whole numbers. The types of
        other columns are found by DuckDB, in each file.
    respondent : str
        Column of the respondent, text in a CSV file.
    whole : sequence of str, optional
        Categories that are whole numbers; by default those of which all cells are, without leading zeros.

    Raises
    ------
    ValueError
        If a column is missing in a file, has another type than in the first one, or one that `check_types` refuses.
    """
    for path in files:
        columns = _read(connection, path, None).columns
        if missing := [str(name) for name in (*names, respondent) if name not in columns]:
            raise ValueError(
                f"LargeTable: {path} has no column {missing[0]!r}; it has {', '.join(map(repr, columns))}."
            )
    types = dict.fromkeys([str(respondent), *map(str, categories)], "VARCHAR")
    as_text = [(path, _read(connection, path, types)) for path in files]
    if whole is None:
        whole = [name for name in map(str, categories) if all(_is_whole(*each, name) for each in as_text)]
    types |= dict.fromkeys(map(str, whole), "BIGINT")
    relations = [(path, _read(connection, path, types)) for path in files]
    relation = relations[0][1] if len(files) == 1 else _united(relations, [*map(str, names), str(respondent)], types)
    check_types(dict(zip(relation.columns, relation.types, strict=True)), list(map(str, names)), str(respondent))
    return relation


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET


def _read(connection: duckdb.DuckDBPyConnection, path: Path, types: dict[str, str] | None) -> duckdb.DuckDBPyRelation:
    """Records of one file; a CSV file with the given types of columns, or all text. A folder named as ``age=30`` is no column."""
    name = exact_pattern(path)
    if _is_parquet(path):
        return connection.read_parquet(name, hive_partitioning=False)
    if types is None:
        return connection.read_csv(name, header=True, all_varchar=True, hive_partitioning=False)
    return connection.read_csv(name, header=True, dtype=types, hive_partitioning=False)


def _united(
    relations: Sequence[tuple[Path, duckdb.DuckDBPyRelation]], names: Sequence[str], exact: Collection[str]
) -> duckdb.DuckDBPyRelation:
    """Records of several files, by the names of their columns. Files without a record are left out, unless all are.

    Raises
    ------
    ValueError
        If a column has another type than in the first file; two types of whole numbers are alike, and two types of numbers in a
        column that is not of ``exact``.
    """
    columns = ", ".join(map(quoted, dict.fromkeys(names)))
    filled = [one for one in relations if one[1].project("1").limit(1).fetchall()] or relations
    (first, united), *others = [(path, relation.project(columns)) for path, relation in filled]
    kinds = list(zip(united.columns, united.types, strict=True))
    for path, relation in others:
        for (name, kind), other in zip(kinds, relation.types, strict=True):
            both = {kind.id, other.id}
            if not (kind == other or both <= WHOLE or (both <= NUMBERS and name not in exact)):
                raise ValueError(
                    f"LargeTable: the column {name!r} is of type {kind} in {first}, and of type {other} in {path}; write it in one "
                    "type in all files."
                )
        united = united.union(relation)
    return united


def _is_whole(path: Path, relation: duckdb.DuckDBPyRelation, name: str) -> bool:
    """True if all cells of a column are whole numbers: of a CSV file, in which it is text, without leading zeros."""
    if _is_parquet(path):
        return dict(zip(relation.columns, relation.types, strict=True))[name].id in WHOLE
    cell = quoted(name)
    other = relation.filter(f"{cell} IS NOT NULL AND NOT regexp_full_match({cell}, '0|-?[1-9][0-9]{{0,17}}')")
    return not other.limit(1).fetchall()


def columns_of_file(path: Path) -> list[str]:
    """Names of the columns of a file.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it cannot be read.
    """
    with Engine(LEAST_MEMORY).connection() as connection, _readable([path]):
        return list(_read(connection, existing_file(path, "name a Parquet or CSV file"), None).columns)
