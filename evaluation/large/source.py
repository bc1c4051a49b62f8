"""Tables on disk: their schema, their times, and what is wrong with them, by queries that need no table in memory."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from foreknow.models import Categorical, Numeric, Schema
from foreknow.models.settings import check_kind


@dataclass(frozen=True)
class LargeTable:
    """A table of records on disk: Parquet files, of one release each or with a column of times.

    Parameters
    ----------
    files : path or sequence of path
        Parquet files with the same columns.
    schema : Schema
        Roles of the columns, and domains. `LargeTable.infer` reads them from the files.
    time : str, optional
        Column of the release; without it all records are one release.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file is not Parquet, or a column is missing.
    """

    files: tuple[Path, ...]
    schema: Schema
    time: str | None = None

    def __init__(self, files: "Path | str | Sequence[Path | str]", schema: Schema, time: str | None = None) -> None:
        check_kind(
            "LargeTable", "schema", schema, Schema, "is a Schema, as Schema({'age': Numeric()}, 'result', (0, 1))"
        )
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
    ) -> "LargeTable":
        """Table with a schema read from its files: numbers have the bounds of their column, other columns their values, sorted."""
        found = _existing(files)
        with _readable(found), duckdb.connect(":memory:") as connection:
            relation = connection.read_parquet([str(path) for path in found])
            _check_columns(relation, [*quasi_identifiers, sensitive, respondent, *([] if time is None else [time])])
            kinds = dict(zip(relation.columns, relation.types, strict=True))
            attributes = {name: _attribute(relation, name, kinds[name]) for name in quasi_identifiers}
            values = _distinct(relation, sensitive)
        return cls(found, Schema(attributes, sensitive, values, respondent), time)

    def relation(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The records of all files, as a query that is not yet run."""
        with _readable(self.files):
            relation = connection.read_parquet([str(path) for path in self.files])
        names = [*self.schema.quasi_identifiers, self.schema.sensitive, self.schema.respondent]
        _check_columns(relation, [*names, *([] if self.time is None else [self.time])])
        return relation

    def times(self, connection: duckdb.DuckDBPyConnection) -> list[Any]:
        """Times of the releases, in order; ``[0]`` without a column of times."""
        return [0] if self.time is None else list(_distinct(self.relation(connection), self.time))


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


def quoted(name: Hashable) -> str:
    """Name of a column in SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def _check_columns(relation: duckdb.DuckDBPyRelation, names: Sequence[Hashable]) -> None:
    missing = [name for name in names if name not in relation.columns]
    if missing:
        raise ValueError(
            f"LargeTable: the files have no column {missing[0]!r}; they have {', '.join(map(repr, relation.columns))}."
        )


def _domain(values: Sequence[Hashable]) -> pa.Table:
    return pa.table({"cell": pa.array(list(values)), "code": pa.array(range(len(values)), pa.int32())})


def _attribute(relation: duckdb.DuckDBPyRelation, name: str, kind: Any) -> Numeric | Categorical:
    if kind.id in ("varchar", "boolean", "enum", "date", "timestamp"):
        return Categorical(_distinct(relation, name))
    column = quoted(name)
    low, high = relation.aggregate(f"min({column}), max({column})").fetchall()[0]
    if low is None:
        raise ValueError(f"LargeTable: the column {name!r} has no value; leave it out of the quasi-identifiers.")
    return Numeric(float(low), float(high))


def _distinct(relation: duckdb.DuckDBPyRelation, name: str) -> tuple[Any, ...]:
    rows = relation.filter(f"{quoted(name)} IS NOT NULL").aggregate(quoted(name)).order(quoted(name)).fetchall()
    return tuple(cell for (cell,) in rows)


@contextmanager
def _readable(files: Sequence[Path]) -> Iterator[None]:
    """Raise ValueError for errors of DuckDB, which reads damaged files and files of other formats."""
    try:
        yield
    except duckdb.Error as error:
        raise ValueError(
            f"LargeTable: {', '.join(map(str, files))} cannot be read as Parquet: {str(error).splitlines()[0]}. Write the file "
            "again, by pandas or DuckDB."
        ) from None


def _existing(files: "Path | str | Sequence[Path | str]") -> tuple[Path, ...]:
    paths = tuple(Path(path) for path in ([files] if isinstance(files, str | Path) else files))
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"LargeTable: there is no file {path}.")
    return paths
