"""Parts: the files of one block of a release, each written whole or not at all, and the columns of their rows."""

import pickle
import stat
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import parquet_of, quoted, write_rows
from foreknow.app.publication import KEY, MANIFEST, PARTS, PRIVATE, PUBLIC, TABLE, Listing, differences, read_json
from foreknow.models import People, Schema
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.atomic_file import atomic_file


def part_path(folder: Path, release: int, block: int, suffix: str = "parquet") -> Path:
    """File of a block of a release. Its folder is made if absent, with the permissions of the one above it."""
    path = folder / f"release-{release:04d}" / f"part-{block:05d}.{suffix}"
    make_within(path.parent)
    return path


def make_within(folder: Path) -> None:
    """Make a folder if absent, and those above it, each with the permissions of the one above it."""
    if not folder.exists():
        make_within(folder.parent)
        folder.mkdir(stat.S_IMODE(folder.parent.stat().st_mode), exist_ok=True)


def part_paths(folder: Path, release: int) -> list[Path]:
    """Parts of all blocks of a release, in order."""
    return sorted((folder / f"release-{release:04d}").glob("part-*.parquet"))


def table_folder(folder: Path) -> Path:
    """Folder of the parts of the published table, in the folder of a publication."""
    return folder / PUBLIC / f"{TABLE}{PARTS}"


def key_folder(folder: Path) -> Path:
    """Folder of the parts of the key, in the folder of a publication."""
    return folder / PRIVATE / f"{KEY}{PARTS}"


def whole_blocks(folder: Path) -> int:
    """Number of whole blocks that an interrupted run left, by their records in ``done`` of a folder."""
    return sum(1 for _ in (folder / "done").rglob("part-*.json"))


def forget_incomplete(private: Path) -> None:
    """Remove the records of the blocks of which a file is absent, so that these blocks are made again. Cost: O(files)."""
    for done in (private / "done").rglob("part-*.json"):
        if not all((private / name).exists() for name in read_json(done)["sha256"]):
            done.unlink()


def write_part(path: Path, table: pa.Table, private: bool = True) -> None:
    """Write a part whole or not at all, as one row group. Its metadata are the names and types of its columns."""
    with atomic_file(path, private) as scratch:
        pq.write_table(table.replace_schema_metadata(None), scratch, compression="zstd", row_group_size=len(table) or 1)


def write_pickle(path: Path, content: object) -> None:
    """Write an object of this program whole or not at all. The file is for the folder of work alone."""
    with atomic_file(path) as scratch, scratch.open("wb") as file:
        pickle.dump(content, file, protocol=5)


def read_pickle(path: Path) -> Any:
    """Object that `write_pickle` wrote."""
    with path.open("rb") as file:
        return pickle.load(file)


BLOCK_RECORDS = 2**17
"""Default number of records of a block."""

MOST_BLOCKS = 100_000
"""Largest number of blocks of a release, whose parts have numbers of five digits."""

GROUPS_OF_A_BLOCK = 2**32
"""Upper limit of the number of groups of a block: the label of a group is block times limit plus its number in the block."""


def block_ranges(records: int, block: int) -> list[tuple[int, int]]:
    """First rank of each block and of the next one: blocks of at least ``block`` records and less than twice as many.

    The numbers of records of two blocks differ by at most one. A table of fewer records is one block.
    """
    number = max(1, records // block)
    edges = [place * records // number for place in range(number + 1)]
    return list(pairwise(edges))


class Block(NamedTuple):
    """Block of a release: rows ``start`` to ``stop`` of a file of its records."""

    records: Path
    start: int
    stop: int
    # number, release: numbers of the block and of the release, from 0
    number: int
    release: int
    time: Any  # time of the release
    schema: Schema

    def read(self) -> pa.Table:
        """Rows of the block."""
        return read_block(self.records, self.start, self.stop)

    def people(self, rows: pa.Table) -> People:
        """Respondents of rows of the block, as `people_of`."""
        return people_of(rows, self.schema, self.time)

    def groups(self, rows: pa.Table) -> tuple[IntArray, IntArray]:
        """Groups and counts of rows of the block, as `groups_of`."""
        return groups_of(rows["group"].to_numpy(), rows["value"].to_numpy(), len(self.schema.values))


def read_block(path: Path, start: int, stop: int) -> pa.Table:
    """Rows ``start`` to ``stop`` of a Parquet file; only the row groups that hold them are read."""
    with pq.ParquetFile(path) as file:
        edges = np.cumsum([0, *(file.metadata.row_group(number).num_rows for number in range(file.num_row_groups))])
        chosen = np.flatnonzero((edges[:-1] < stop) & (edges[1:] > start))
        rows = file.read_row_groups(chosen.tolist(), use_threads=False)
        return rows.slice(start - int(edges[chosen[0]]), stop - start)


def people_of(block: "pa.Table | pa.RecordBatch", schema: Schema, time: Any) -> People:
    """Respondents of a block, with their numbers in the block as identifiers: no Python object is made for each."""
    codes = np.column_stack([block[f"q{a}"].to_numpy() for a in range(len(schema.quasi_identifiers))])
    numbers: Any = np.arange(len(block))
    return People(numbers, codes, schema, time)


def groups_of(label: IntArray, value: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """Groups numbered from 0, -1 for suppressed records, and the number of records of each value in each."""
    shown = label >= 0
    names, number = np.unique(label[shown], return_inverse=True)
    group = np.full(len(label), -1, dtype=np.int64)
    group[shown] = number
    counts = np.bincount(number * m + value[shown].astype(np.int64), minlength=len(names) * m)
    return group, counts.reshape(len(names), m).astype(np.int64)


def belief_part(respondent: pa.ChunkedArray, group: IntArray | None, beliefs: FloatArray, release: int) -> pa.Table:
    """Beliefs about the published respondents of a block: ``respondent``, ``step``, ``values``, ``probabilities``.

    Without groups all respondents are published. Values of probability 0 are left out. ``step`` is the number of the release.
    `LargeTable` limits m to 2^16. Cost: O(n m).
    """
    shown = np.arange(len(respondent)) if group is None else np.flatnonzero(group >= 0)
    row, value = np.nonzero(beliefs[shown] > 0.0)
    starts = np.searchsorted(row, np.arange(len(shown) + 1)).astype(np.int32)
    return pa.table(
        {
            "respondent": respondent.take(pa.array(shown)),
            "step": pa.array(np.full(len(shown), release, dtype=np.int32)),
            "values": pa.ListArray.from_arrays(starts, pa.array(value.astype(np.uint16))),
            "probabilities": pa.ListArray.from_arrays(starts, pa.array(beliefs[shown[row], value])),
        }
    )


def dense_beliefs(block: pa.Table, m: int) -> tuple[FloatArray, IntArray]:
    """Beliefs of the rows that have some, shape ``(k, m)``, and the numbers of these rows, shape ``(k,)``. Cost: O(n + k m)."""
    if "values" not in block.column_names:
        return np.zeros((0, m)), np.zeros(0, dtype=np.int64)
    values, probabilities = block["values"].combine_chunks(), block["probabilities"].combine_chunks()
    sizes = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    seen = np.flatnonzero(sizes > 0)
    beliefs = np.zeros((len(seen), m))
    beliefs[np.repeat(np.arange(len(seen)), sizes[seen]), values.flatten().to_numpy()] = (
        probabilities.flatten().to_numpy()
    )
    return beliefs, seen


def check_listed_parts(owner: str, private: Path, *folders: str) -> None:
    """Raise ValueError unless folders of a publication hold the files that its manifest lists, unchanged, and no other ones.

    The manifest is in ``private``; folders are named from the publication, as ``"public/published.parquet"``. Cost: one reading of
    the parts for their checksums.
    """
    listing = Listing(private / MANIFEST, read_json(private / MANIFEST)["sha256"])
    for one in differences(private.parent, listing, [f"{folder}/" for folder in folders]):
        raise ValueError(
            f"{owner}: {one.file} of {private.parent} is {one.state}; restore it, or publish into another folder."
        )


def key_columns(schema: Schema) -> dict[str, str]:
    """Columns of the key by their names in queries, without that of the times; those of codes begin with an underscore."""
    codes = ["rank", *(f"q{a}" for a in range(len(schema.quasi_identifiers))), "value"]
    return {"respondent": str(schema.respondent), "group": "group"} | {name: f"_{name}" for name in codes}


def key_rows(parts: Sequence[Path], schema: Schema) -> str:
    """Records of parts of the key, as a table of a query: ``respondent``, ``group``, ``rank``, ``q0`` to ``qd`` and ``value``.

    And ``ghost``: True for a record that carries on the place of the respondent.
    """
    columns = ", ".join(f"{quoted(own)} AS {quoted(name)}" for name, own in key_columns(schema).items())
    ghost = "ghost IS NOT NULL" if "ghost" in pq.read_schema(parts[0]).names else "false"
    return f"(SELECT {columns}, {ghost} AS ghost FROM {parquet_of(*parts)})"


def write_joined(
    connection: duckdb.DuckDBPyConnection, rows: str, beliefs: Sequence[Path], path: Path, ghosts: Sequence[Path] = ()
) -> Path:
    """Write records in the order of their ranks, with the beliefs about their respondents, if there are some.

    Records of ghosts have the beliefs of ``ghosts`` about them, if there are some, in place of those about their respondents.
    """
    columns, joined, names = "r.*", "", ("step", "values", "probabilities")
    if beliefs:
        columns += "".join(f", b.{name}" for name in names)
        joined = f" LEFT JOIN {parquet_of(*beliefs)} b USING (respondent)"
    if ghosts:
        columns = "r.*" + "".join(f", coalesce(g.{name}, b.{name}) AS {name}" for name in names)
        joined += f" LEFT JOIN {parquet_of(*ghosts)} g ON r.ghost AND g.respondent = r.respondent"
    write_rows(connection, f"SELECT {columns} FROM {rows} r{joined} ORDER BY r.rank", path)
    return path


def write_last(connection: duckdb.DuckDBPyConnection, rows: str, earlier: Path | None, path: Path) -> Path:
    """Write the last row of each respondent: of the latest rows, or else of the earlier file, which is removed.

    ``rows`` are the latest ones, as a table of a query, at most one for each respondent.
    """
    query = f"SELECT * FROM {rows}"
    if earlier is not None:
        query += f" UNION ALL SELECT * FROM {parquet_of(earlier)} e ANTI JOIN {rows} n USING (respondent)"
    write_rows(connection, query, path)
    if earlier is not None:
        earlier.unlink()
    return path
