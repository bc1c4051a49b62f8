"""Cleaning of tables on disk by the distinct cells of their columns, into Parquet files with clean cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, literal, parquet_of, quoted, write_rows
from foreknow.models import Cleaning, ColumnRoles
from foreknow.models.arrays import IntArray
from foreknow.models.settings import counted
from foreknow.models.tables.cell_types import holds_whole_numbers
from foreknow.models.tables.cleaning import Columns
from foreknow.models.tables.faults import RECORDS, Change, Fault, dropped_records, faults_in, records_of
from foreknow.models.tables.table_files import file_notation, text_blocks

READ, WRITTEN, COMPLETE = "read", "written", "complete"
"""Views: cells without texts of missing cells; the same with plain respondents; and the records without a missing cell."""

ROW = quoted("foreknow:row")
"""Column of the number of each record."""

FILE_BITS = 40
"""Number of bits of the number of a record within its file; above them is that of the file."""


class TextNotation(NamedTuple):
    """Notation of CSV files; the texts of missing cells are those of Parquet files, too."""

    encoding: str = "utf-8"
    separator: str | None = None  # None: found from the first records of each file
    missing: tuple[str, ...] = ()  # besides the empty one


class CellsRead(NamedTuple):
    """Distinct cells of a column in the order of first appearance: as they are written, with numbers of records, and first rows."""

    written: pa.Array
    column: "pd.Series[Any]"
    first: IntArray


class CompleteRecords(NamedTuple):
    """The table of the records that are kept, their distinct cells with numbers and times read, and the faults and changes."""

    table: str
    records: int
    cells: Mapping[str, CellsRead]
    read: Columns
    faults: list[Fault]
    changes: list[Change]


def clean_records(
    files: Sequence[Path], roles: ColumnRoles, cleaning: Cleaning, notation: TextNotation, engine: Engine, folder: Path
) -> tuple[list[Path], list[Change]]:
    """Write the records of each file after cleaning into a folder, as Parquet; return the paths and the changes.

    The rules are those of `Cleaning.together`: one spelling, one notation and one type in all files. Respondents lose spaces
    around them and are not cleaned otherwise. Records of one respondent and time are left to the publication, which refuses them,
    but for copies that the rule drops.

    Raises
    ------
    InputFaults
        With all faults of the cells.
    ValueError
        If a file cannot be read.

    Notes
    -----
    Memory: the distinct cells of each column but that of the respondents. Disk: the files twice. Cost: a reading of CSV files in
    one process, an aggregation and a join for each column, and a sort.
    """
    values = replace(roles, respondent=None)
    with engine.connection() as connection:
        _view_read(connection, files, roles, notation, folder)
        stripped = _view_written(connection, roles, cleaning.equal_values != "keep")
        kept = _complete_records(connection, roles, values, cleaning, any(map(_is_text, files)))
        misread = {fault.column for fault in kept.faults}
        clean, faults, changes = cleaning.values_written(kept.read, values, misread)
        if faults := [*kept.faults, *(_at_records(fault, kept.cells) for fault in faults)]:
            raise faults_in(faults, lambda rows: [_place(row, files) for row in rows])
        whole = {
            name: clean[name].astype(np.int64) for name in roles.names_of_values if holds_whole_numbers(clean[name])
        }
        query = _clean_query(connection, kept, {**clean, **whole}, roles, cleaning.duplicates == "drop")
        made = [
            write_rows(
                connection,
                f"{query} AND {ROW} >> {FILE_BITS} = {place} ORDER BY {ROW}",
                folder / f"{place}-{path.stem}.parquet",
            )
            for place, path in enumerate(files)
        ]
    copies = kept.records - sum(pq.read_metadata(path).num_rows for path in made)
    dropped = [Change("", copies, f"{counted(copies, 'copy')} of records dropped.")] if copies else []
    return made, [*stripped, *kept.changes, *changes, *dropped]


def _is_text(path: Path) -> bool:
    return file_notation(path, "utf-8", ",")[0] is not None


def _view_read(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    roles: ColumnRoles,
    notation: TextNotation,
    folder: Path,
) -> None:
    """Make the view `READ`. CSV files are written as Parquet files of text; a column with two types is text."""
    selects = []
    missing = ", ".join(map(literal, ("", *notation.missing)))
    for place, path in enumerate(files):
        source = _as_parquet(path, roles.names, notation, folder / f"text-{place}.parquet") if _is_text(path) else path
        texts = _texts(connection.sql(f"FROM {parquet_of(source)}"))
        columns = [
            f"CASE WHEN {cell} NOT IN ({missing}) THEN {cell} END AS {cell}" if name in texts else cell
            for name, cell in zip(roles.names, map(quoted, roles.names), strict=True)
        ]
        number = f"file_row_number + {place << FILE_BITS} AS {ROW}"
        selects.append(f"SELECT {number}, {', '.join(columns)} FROM {parquet_of(source)}")
    connection.execute(f"CREATE TEMP VIEW {READ} AS {' UNION ALL BY NAME '.join(selects)}")


def _texts(relation: duckdb.DuckDBPyRelation) -> set[str]:
    return {name for name, kind in zip(relation.columns, relation.types, strict=True) if kind.id == "varchar"}


def _view_written(connection: duckdb.DuckDBPyConnection, roles: ColumnRoles, strips: bool) -> list[Change]:
    """Make the view `WRITTEN`, in which respondents lose spaces around them if ``strips``; return the change."""
    name, changes = quoted(roles.respondent or ""), list[Change]()
    replaced = ""
    if roles.respondent in _texts(connection.table(READ)):
        plain = f"regexp_replace({name}, '^[\\s\\p{{Z}}]+|[\\s\\p{{Z}}]+$', '', 'g')"
        replaced = f" REPLACE (CASE WHEN {plain} <> '' THEN {plain if strips else name} END AS {name})"
        number = int(connection.sql(f"SELECT count(*) FROM {READ} WHERE {name} <> {plain}").fetchall()[0][0])
        if strips and number:
            sentence = f"{roles.respondent!r}: spaces around {counted(number, 'cell')} removed."
            changes = [Change(str(roles.respondent), number, sentence)]
    connection.execute(f"CREATE TEMP VIEW {WRITTEN} AS SELECT *{replaced} FROM {READ}")
    return changes


def _as_parquet(path: Path, names: Sequence[str], notation: TextNotation, copy: Path) -> Path:
    """Write the columns of a CSV file as text."""
    schema = pa.schema([(str(name), pa.string()) for name in names])
    with pq.ParquetWriter(copy, schema) as writer:
        for block in text_blocks(path, [*schema.names], notation.encoding, notation.separator):
            writer.write_table(pa.Table.from_pandas(block, schema, preserve_index=False))
    return copy


def _distinct(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> CellsRead:
    query = f"SELECT {quoted(name)}, count(*), min({ROW}) AS first FROM {table} GROUP BY {quoted(name)} ORDER BY first"
    written, records, first = (each.combine_chunks() for each in connection.sql(query).to_arrow_table().columns)
    column = written.to_pandas().set_axis(pd.Index(records.to_numpy(), name=RECORDS)).rename(name)
    return CellsRead(written, column, first.to_numpy())


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column of text as numbers if every cell is written as one."""
    try:
        return pd.to_numeric(column) if isinstance(column.dtype, pd.StringDtype) else column
    except ValueError:
        return column


def _complete_records(
    connection: duckdb.DuckDBPyConnection, roles: ColumnRoles, values: ColumnRoles, cleaning: Cleaning, is_text: bool
) -> CompleteRecords:
    """The records that the rule on missing cells keeps."""
    cells = {name: _distinct(connection, WRITTEN, name) for name in values.names}
    numeric = {*roles.quasi_identifiers} - {*roles.categorical} if is_text else set()
    columns = {name: _numbers(of.column) if name in numeric else of.column for name, of in cells.items()}
    read, faults, changes = cleaning.notations_read(columns, values)
    faults = [_at_records(fault, cells) for fault in faults]
    respondents = _respondents(connection, roles)
    of_all = {**read, str(roles.respondent): respondents.column}
    records = int(records_of(respondents.column).sum())
    if cleaning.missing == "drop":
        _view_complete(connection, cells, read, roles)
        kept = int(connection.sql(f"SELECT count(*) FROM {COMPLETE}").fetchall()[0][0])
        if kept:
            lacking = {str(name): int(records_of(of)[of.isna()].sum()) for name, of in of_all.items()}
            changes = [*changes, *dropped_records(records - kept, records, lacking)]
            left = {name: _distinct(connection, COMPLETE, name) for name in cells}
            among = {name: pd.Index(of.column).get_indexer(pd.Index(left[name].column)) for name, of in cells.items()}
            read = {name: of.iloc[among[name]].set_axis(left[name].column.index) for name, of in read.items()}
            return CompleteRecords(COMPLETE, kept, left, read, faults, changes)
    found = cleaning.missing_found(of_all, roles)
    faults += [_at_records(fault, {**cells, str(roles.respondent): respondents}) for fault in found]
    return CompleteRecords(WRITTEN, records, cells, read, faults, changes)


def _respondents(connection: duckdb.DuckDBPyConnection, roles: ColumnRoles) -> CellsRead:
    """The column of the respondents with two rows: those without a cell, and all others."""
    name = quoted(roles.respondent or "")
    query = f"SELECT count(*) - count({name}), count({name}), coalesce(min({ROW}) FILTER ({name} IS NULL), 0) FROM {WRITTEN}"
    without, others, first = connection.sql(query).fetchall()[0]
    index = pd.Index([without, others], name=RECORDS)
    column = pd.Series([None, "known"], index=index, name=roles.respondent, dtype=object)
    return CellsRead(pa.nulls(2), column, np.array([first, 0]))


def _view_complete(
    connection: duckdb.DuckDBPyConnection, cells: Mapping[str, CellsRead], read: Columns, roles: ColumnRoles
) -> None:
    """Make the view `COMPLETE` of the records without a missing cell."""
    conditions = [f"{quoted(roles.respondent or '')} IS NOT NULL"]
    for a, (name, of) in enumerate(cells.items()):
        absent = of.written.filter(pa.array(read[name].isna().to_numpy())).drop_null()
        connection.register(f"absent{a}", pa.table({"cell": absent}))
        conditions.append(f"{quoted(name)} IS NOT NULL AND {quoted(name)} NOT IN (SELECT cell FROM absent{a})")
    connection.execute(f"CREATE TEMP VIEW {COMPLETE} AS SELECT * FROM {WRITTEN} WHERE {' AND '.join(conditions)}")


def _clean_query(
    connection: duckdb.DuckDBPyConnection, kept: CompleteRecords, clean: Columns, roles: ColumnRoles, distinct: bool
) -> str:
    """Query of the clean records with their numbers, which ends in a condition."""
    joins, columns = "", [f"r.{quoted(roles.respondent or '')}"]
    for a, (name, of) in enumerate(kept.cells.items()):
        connection.register(f"clean{a}", pa.table({"cell": of.written, "clean": pa.Array.from_pandas(clean[name])}))
        joins += f" JOIN clean{a} ON r.{quoted(name)} IS NOT DISTINCT FROM clean{a}.cell"
        columns.append(f"clean{a}.clean AS {quoted(name)}")
    rows = f"SELECT r.{ROW}, {', '.join(columns)} FROM {kept.table} r{joins}"
    names = ", ".join(map(quoted, roles.names))
    if distinct:
        same = f"PARTITION BY {ROW} >> {FILE_BITS}, {names} ORDER BY {ROW}"
        rows = f"SELECT * FROM ({rows}) QUALIFY row_number() OVER ({same}) = 1"
    return f"SELECT {names} FROM ({rows}) WHERE true"


def _at_records(fault: Fault, cells: Mapping[str, CellsRead]) -> Fault:
    """A fault whose examples have the numbers of records in place of positions among distinct cells."""
    first = {str(name): of.first for name, of in cells.items()}[fault.column]
    return fault._replace(examples=tuple(one._replace(row=int(first[one.row])) for one in fault.examples))


def _place(row: int, files: Sequence[Path]) -> str:
    place, number = row >> FILE_BITS, (row & (1 << FILE_BITS) - 1) + 1
    return f"record {number:,} of {files[place].name}" if place else f"record {number:,}"
