"""Records of each release beside the earlier beliefs about their respondents, by joins on disk."""

from collections.abc import Iterator
from pathlib import Path

import duckdb

from foreknow.app.disk.parts import part_paths
from foreknow.app.disk.sql_files import parquet_of, to_parquet


def joined_releases(
    connection: duckdb.DuckDBPyConnection, records: Path, beliefs: Path, releases: int, work: Path
) -> Iterator[Path]:
    """For each release, a file of its records in the order of their ranks, with the last beliefs about their respondents.

    Parameters
    ----------
    connection : DuckDBPyConnection
    records : Path
        Folder of the parts of the records.
    beliefs : Path
        Folder of the parts of the beliefs. Those of a release are read after its file was yielded.
    releases : int
    work : Path
        Folder of the files, which are replaced from release to release.
    """
    last, joined = None, work / "joined.parquet"
    for release in range(releases):
        parts = part_paths(records, release)
        columns, earlier = "p.*", ""
        if last is not None:
            columns += ", b.step, b.values, b.probabilities"
            earlier = f" LEFT JOIN {parquet_of(last)} b USING (respondent)"
        query = f"SELECT {columns} FROM {parquet_of(*parts)} p{earlier} ORDER BY p.rank"
        connection.execute(f"COPY ({query}) {to_parquet(joined)}")
        yield joined
        if release + 1 < releases:
            last = merge_beliefs(
                connection, part_paths(beliefs, release), last, work / f"beliefs-{release:04d}.parquet"
            )


def merge_beliefs(connection: duckdb.DuckDBPyConnection, latest: list[Path], earlier: Path | None, path: Path) -> Path:
    """Write the last belief about each respondent seen, of the latest parts or else of the earlier file, which is removed."""
    new = f"{parquet_of(*latest)}"
    query = f"SELECT * FROM {new}"
    if earlier is not None:
        query += f" UNION ALL SELECT * FROM {parquet_of(earlier)} e ANTI JOIN {new} n USING (respondent)"
    connection.execute(f"COPY ({query}) {to_parquet(path)}")
    if earlier is not None:
        earlier.unlink()
    return path
