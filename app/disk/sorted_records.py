"""Records of a release as codes, in the order of a unique key: Hilbert index, secret hash of the respondent, respondent."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import parquet_of, write_rows
from foreknow.app.disk.large_table import LargeTable, coded_query
from foreknow.defenses import FullDomain, Infeasible
from foreknow.defenses.algorithms.hilbert import hilbert_words
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.models import People, Schema, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import FloatArray, IntArray

BATCH = 2**18
"""Number of records that are coded at once."""

MAX_BITS = 16
"""Largest number of bits of a coordinate of the Hilbert curve."""


class SortedRecords(NamedTuple):
    """Records of a release on disk."""

    # Parquet file with ``respondent``, ``q0`` to ``qd``, ``value``; where there are earlier beliefs, ``step``, ``values`` and
    # ``probabilities``; and where the groups of the whole release are known before its blocks, ``label``
    path: Path
    counts: IntArray  # (m,): number of records of each sensitive value
    notes: tuple[str, ...] = ()  # notes on the groups of the whole release


class RecordOrder(NamedTuple):
    """Order of records: by the groups of ``levels``, or along the Hilbert curve if ``along_curve``; then by a hash.

    The hash is that of the ``secret`` and the respondent.
    """

    secret: str
    along_curve: bool
    levels: FullDomain | None = None


def sort_records(
    table: LargeTable,
    connection: duckdb.DuckDBPyConnection,
    time: Any,
    order: RecordOrder,
    beliefs: Path | None,
    folder: Path,
) -> SortedRecords:
    """Code the records of one release and sort them, with the earlier beliefs about their respondents.

    Raises
    ------
    ValueError
        If a cell is missing or outside its domain, or a respondent has two records.

    Notes
    -----
    The order depends on the records and the secret alone. Records with equal quasi-identifiers are in an order that only the
    secret tells. Cost: O(n d) and an external sort.
    """
    coded, path = folder / "coded.parquet", folder / "sorted.parquet"
    counts = write_coded(table, connection, time, coded, order.along_curve)
    found = connection.sql(
        f"SELECT respondent FROM {parquet_of(coded)} GROUP BY respondent HAVING count(*) > 1 LIMIT 1"
    )
    twice = found.to_arrow_table()["respondent"].to_pylist()  # DuckDB itself needs pytz for a time with zone
    _check_once(twice, time)
    columns, joins, key = "c.* EXCLUDE (key)", "", "key"
    notes: tuple[str, ...] = ()
    if order.levels is not None:
        labels = folder / "labels.parquet"
        notes = write_level_groups(connection, coded, table.schema, time, counts, order.levels, labels)
        codes = ", ".join(f"q{a}" for a in range(len(table.schema.quasi_identifiers)))
        columns, joins, key = f"{columns}, l.label", f" JOIN {parquet_of(labels)} l USING ({codes})", "label"
    if beliefs is not None:
        columns += ", b.step, b.values, b.probabilities"
        joins += f" LEFT JOIN {parquet_of(beliefs)} b USING (respondent)"
    write_rows(
        connection,
        f"SELECT {columns} FROM {parquet_of(coded)} c{joins} "
        f"ORDER BY {key}, md5_number_lower('{order.secret}' || respondent::VARCHAR), respondent",
        path,
    )
    coded.unlink()
    return SortedRecords(path, counts, notes)


def _check_once(twice: Sequence[Any], time: Any) -> None:
    """Raise ValueError if there are respondents with two records in a release."""
    if len(twice):
        raise ValueError(
            f"respondent {twice[0]!r} appears twice in the release at {time!r}; a release holds one record per respondent. Drop "
            "duplicates, or name the column of times."
        )


def read_release(table: LargeTable, connection: duckdb.DuckDBPyConnection, time: Any) -> pa.Table:
    """Codes of all records of a release in memory, in the order of the files: ``respondent``, ``q0`` to ``qd`` and ``value``.

    The connection preserves the order of insertion.

    Raises
    ------
    ValueError
        As `sort_records`.
    """
    rows = coded_query(table, connection, time, numbered=True).to_arrow_table().sort_by("row").drop_columns("row")
    check_cells({name: rows[name].combine_chunks() for name in rows.column_names}, table, time)
    respondents = pd.Index(rows["respondent"].to_pylist(), dtype=object, tupleize_cols=False)
    _check_once(respondents[respondents.duplicated()].tolist(), time)
    return rows.combine_chunks()


def write_coded(
    table: LargeTable, connection: duckdb.DuckDBPyConnection, time: Any, path: Path, along_curve: bool
) -> IntArray:
    """Write the codes of all records with their Hilbert index, 0 unless ``along_curve``; return the counts of the values."""
    schema = table.schema
    d, bounds = len(schema.quasi_identifiers), schema.bounds
    counts = np.zeros(len(schema.values), dtype=np.int64)
    reader = coded_query(table, connection, time).to_arrow_reader(BATCH)
    with pq.ParquetWriter(path, reader.schema.append(pa.field("key", pa.uint64()))) as writer:
        for batch in reader:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            check_cells(columns, table, time)
            codes = np.column_stack([columns[f"q{a}"].to_numpy() for a in range(d)])
            counts += np.bincount(columns["value"].to_numpy(), minlength=len(counts))
            key = curve_index(codes, bounds) if along_curve else np.zeros(len(codes), dtype=np.uint64)
            writer.write_table(pa.table(columns | {"key": pa.array(key)}))
    if not counts.any():
        raise ValueError(f"the release at {time!r} has no record.")
    return counts


def curve_index(codes: FloatArray, bounds: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Position of each record on a Hilbert curve whose index fits in 64 bits, over the first 64 quasi-identifiers at most."""
    codes, bounds = codes[:, :64], bounds[:64]
    bits = min(MAX_BITS, 64 // codes.shape[1])
    width = bounds[:, 1] - bounds[:, 0]
    scaled = (codes - bounds[:, 0]) / np.where(width > 0, width, 1.0) * (2**bits - 1)
    points = np.clip(np.round(scaled), 0, 2**bits - 1).astype(np.uint64)
    return np.asarray(hilbert_words(points, bits)[:, 0])


def check_cells(columns: dict[str, pa.Array], table: LargeTable, time: Any) -> None:
    """Raise ValueError unless each record has a respondent and each other cell is in its domain."""
    schema = table.schema
    if columns["respondent"].is_null(nan_is_null=True).true_count:
        raise ValueError(
            f"a record of the release at {time!r} has no {schema.respondent!r}; every record needs a respondent. Drop the record, "
            "or fill it in."
        )
    names = (*schema.quasi_identifiers, schema.sensitive)
    for name, column in zip(names, list(columns.values())[1:], strict=True):
        wrong = column.is_null().to_numpy(zero_copy_only=False)
        kind = schema.quasi_identifiers.get(name)
        if kind is not None:
            wrong = wrong | ~kind.contains(column.to_numpy(zero_copy_only=False))
        if wrong.any():
            row = int(wrong.argmax())
            who, cell = columns["respondent"][row].as_py(), column[row].as_py()
            outside = "missing or outside its domain"
            found = outside if cell is None or kind is None else f"{cell!r}; it must be {kind.domain}"
            raise ValueError(
                f"{name!r} of respondent {who!r} in the release at {time!r} is {found}. Correct or drop the record, or widen "
                "the schema."
            )


def write_level_groups(
    connection: duckdb.DuckDBPyConnection,
    coded: Path,
    schema: Schema,
    time: Any,
    counts: IntArray,
    defense: FullDomain,
    path: Path,
) -> tuple[str, ...]:
    """Write the group of each combination of quasi-identifiers, as ``q0`` to ``qd`` and ``label``; return the notes.

    Raises
    ------
    Infeasible
        If no level vector satisfies.

    Notes
    -----
    The groups are those of `FullDomain` on the records. Cost: an aggregation on disk, and that of `FullDomain` on the distinct
    combinations, which are in memory with m counts each.
    """
    if defense.requirement.smallest > counts.sum():
        raise Infeasible(
            Advice(
                f"{defense.requirement!r} needs groups of {defense.requirement.smallest} records, and the ",
                VIEW,
                f" at {time!r} has {counts.sum()}; lower the requirement, or publish more at once.",
            )
        )
    codes, number = _combinations(connection, coded, schema)
    rows: Any = np.arange(len(codes))
    people = People(rows, codes, schema, time)
    nothing = np.zeros(len(codes))
    table = TableCounts(schema.values, counts)
    records = Summary(number.sum(axis=1), number, np.zeros(number.shape), nothing, table)
    view = View.from_codes(people, np.zeros(len(codes), dtype=np.int64), counts)
    requirement = defense.requirement.bind(view, np.broadcast_to(1.0 / len(counts), number.shape))
    grouping = defense.group_rows(people, records, requirement)
    columns = {f"q{a}": column for a, column in enumerate(codes.T)} | {"label": grouping.labels}
    pq.write_table(pa.table(columns), path)
    return grouping.notes


def whole_groups(
    connection: duckdb.DuckDBPyConnection, path: Path, ranges: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Ranges of ranks with each end moved to the end of its group; those that become empty are left out."""
    sizes = connection.execute(f"SELECT count(*) AS size FROM {parquet_of(path)} GROUP BY label ORDER BY label")
    ends = np.cumsum(sizes.fetchnumpy()["size"])
    moved = ends[np.searchsorted(ends, [stop for _, stop in ranges])]
    return list(pairwise([0, *np.unique(moved).tolist()]))


def _combinations(connection: duckdb.DuckDBPyConnection, coded: Path, schema: Schema) -> tuple[FloatArray, IntArray]:
    """Distinct quasi-identifiers, shape ``(u, d)``, in lexicographic order, and their counts of each value, shape ``(u, m)``."""
    names = [f"q{a}" for a in range(len(schema.quasi_identifiers))]
    listed = ", ".join(names)
    found = connection.execute(
        f"SELECT {listed}, value, count(*) AS number FROM {parquet_of(coded)} GROUP BY {listed}, value ORDER BY {listed}"
    ).fetchnumpy()
    codes = np.column_stack([found[name] for name in names])
    begins = np.concatenate([[True], (codes[1:] != codes[:-1]).any(axis=1)])
    number = np.zeros((int(begins.sum()), len(schema.values)), dtype=np.int64)
    number[np.cumsum(begins) - 1, found["value"]] = found["number"]
    return codes[begins], number
