"""Partitions of the respondents of all releases, with all records of a respondent in one of them, by joins and sorts on disk."""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from foreknow.app.disk.parts import part_paths, part_ranges
from foreknow.app.disk.sql_files import parquet_of, to_parquet
from foreknow.models.arrays import FloatArray, IntArray

GROUPS_OF_A_RELEASE = 2**49
"""Upper limit of the labels of a release, at least `MOST_BLOCKS` times `GROUPS_OF_A_BLOCK`: the key of a group is release times
limit plus label."""

PUBLISHED = 'WHERE "group" >= 0'
"""Condition of the records that are not suppressed."""


def release_of(keys: IntArray) -> IntArray:
    """Release of each group, by its key."""
    return np.asarray(keys // GROUPS_OF_A_RELEASE, dtype=np.int64)


class PeoplePartitions(NamedTuple):
    """Published records of all releases by partition of the respondents, and the groups with members in several partitions.

    Attributes
    ----------
    path : Path
        Parquet file with ``part``, ``release``, ``key`` of the group, ``respondent``, ``value`` and ``q0`` to ``qd``, sorted by the
        first four.
    ranges : list of tuple of int
        First row of each partition and of the next one.
    shared : Path
        File of the keys of the shared groups, increasing: int array, shape ``(h,)``.
    counts : float array, shape (h, m)
        Published number of records of each value in the shared groups.
    """

    path: Path
    ranges: list[tuple[int, int]]
    shared: Path
    counts: FloatArray


def partition_people(
    connection: duckdb.DuckDBPyConnection, records: Path, releases: int, m: int, work: Path
) -> PeoplePartitions:
    """Partition the respondents by the rank of their first published record.

    There are as many partitions as blocks of the largest release, and each holds as many ranks of a release as the others. The
    groups of a defense are of near ranks, so that most groups lie in one partition. Cost: two joins and a sort on disk.
    """
    path, shared = work / "partitions.parquet", work / "shared.npy"
    connection.execute(f"CREATE OR REPLACE VIEW published AS {_all_records(records, releases)}")
    people = work / "people.parquet"
    connection.execute(
        "COPY (SELECT respondent, arg_min(part, release) AS part FROM published GROUP BY respondent) "
        f"{to_parquet(people)}"
    )
    connection.execute(
        f"COPY (SELECT p.part, r.* EXCLUDE (part) FROM published r JOIN {parquet_of(people)} p USING (respondent) "
        f"ORDER BY p.part, r.key, r.respondent) {to_parquet(path)}"
    )
    people.unlink()
    keys, counts = _shared_groups(connection, path, m)
    np.save(shared, keys)
    return PeoplePartitions(path, _ranges(connection, path), shared, counts)


def _all_records(records: Path, releases: int) -> str:
    """Query of the published records of all releases, each with the partition to which its rank leads."""
    ends = [part_ranges(records, release) for release in range(releases)]
    parts, queries = max(map(len, ends)), []
    for release, ranges in enumerate(ends):
        number, files = ranges[-1][1], parquet_of(*part_paths(records, release))
        queries.append(
            f'SELECT * EXCLUDE (rank, "group"), {release} AS release, rank * {parts} // {number} AS part, '
            f"{_key(release)} FROM {files} {PUBLISHED}"
        )
    return " UNION ALL ".join(queries)


def published_records(records: Path, releases: int) -> str:
    """Query of the respondent and the key of the group of each published record of all releases."""
    return " UNION ALL ".join(
        f"SELECT respondent, {_key(release)} FROM {parquet_of(*part_paths(records, release))} {PUBLISHED}"
        for release in range(releases)
    )


def _key(release: int) -> str:
    """Key of the group of a record, as a column of a query."""
    return f'{release} * {GROUPS_OF_A_RELEASE} + "group" AS key'


def _shared_groups(connection: duckdb.DuckDBPyConnection, path: Path, m: int) -> tuple[IntArray, FloatArray]:
    """Keys and counts of the groups with members in several partitions."""
    rows = connection.execute(
        f"SELECT key, value, count(*) AS number FROM {parquet_of(path)} SEMI JOIN (SELECT key FROM {parquet_of(path)} "
        "GROUP BY key HAVING min(part) < max(part)) USING (key) GROUP BY key, value"
    ).fetchnumpy()
    keys, group = np.unique(rows["key"], return_inverse=True)
    counts = np.zeros((len(keys), m))
    counts[group, rows["value"]] = rows["number"]
    return keys, counts


def _ranges(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[int, int]]:
    sizes = connection.execute(f"SELECT count(*) FROM {parquet_of(path)} GROUP BY part ORDER BY part").fetchall()
    edges = np.cumsum([0, *(size for (size,) in sizes)]).tolist()
    return list(pairwise(edges))
