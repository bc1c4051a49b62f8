"""Groups of full-domain generalization, from the number of records of each combination of quasi-identifiers."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.sql_files import parquet_of
from foreknow.defenses import FullDomain, GroupPredicate, Infeasible
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.models import People, Schema, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import FloatArray, IntArray


def check_level_requirement(defense: FullDomain) -> None:
    """Raise ValueError unless the requirement of a defense reads nothing but the counts of a group.

    Raises
    ------
    ValueError
        If it reads beliefs or the members of a group.
    """
    requirement = defense.requirement
    members = isinstance(requirement, GroupPredicate) and requirement.reads_members
    if requirement.weighs_beliefs or members:
        raise ValueError(
            f"publish_large: {defense!r} reads beliefs or single members, and groups from disk are chosen by their counts; use "
            "publish, in memory."
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
