"""Parts: the files of one block of a release, each written whole or not at all, and the columns of their rows."""

import errno
import json
import os
import pickle
import platform
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import parquet_of, to_parquet
from foreknow.evaluation.checks.manifest import MANIFEST, checksum
from foreknow.models import People, Schema
from foreknow.models.arrays import FloatArray, IntArray

EARLIER = ".earlier"
"""Folder in which a run keeps the publication that it replaces."""

SCRATCH_FILE = re.compile(
    r"\.(part-[0-9]+\.(parquet|json)|begun\.json|manifest\.json|release\.json)\.[A-Za-z0-9.]*-[0-9]{1,7}-[0-9a-f]{16}"
)
"""Name of a file that is being written: the file, the machine and the process that write it, and random digits."""


def make_folder(owner: str, folder: Path, mode: int = 0o777) -> None:
    """Make a folder with those above it, if absent.

    Raises
    ------
    ValueError
        If it is or lies in a file or in a folder that cannot be written to. ``owner`` is named in the message.
    """
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"{owner}: {folder} is or lies in a file; name a folder that does not exist.") from None
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(
            f"{owner}: {folder} cannot be written to by this user; name another folder, or change the permissions of the one "
            "above."
        )


def make_private(owner: str, folder: Path) -> None:
    """Make a folder for its owner alone, or close one that exists, with those above it, if absent.

    Raises
    ------
    ValueError
        As `make_folder`, or if the folder is another user's.
    """
    make_folder(owner, folder, 0o700)
    try:
        folder.chmod(0o700)
    except PermissionError:
        raise ValueError(
            f"{owner}: {folder} belongs to another user, and what is written there is for its owner alone; name a folder that does "
            "not exist."
        ) from None


def part_path(folder: Path, release: int, block: int, suffix: str = "parquet") -> Path:
    """File of a block of a release. Its folder is made if absent."""
    path = folder / f"release-{release:04d}" / f"part-{block:05d}.{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def part_paths(folder: Path, release: int) -> list[Path]:
    """Parts of all blocks of a release, in order."""
    return sorted((folder / f"release-{release:04d}").glob("part-*.parquet"))


def part_ranges(folder: Path, release: int) -> list[tuple[int, int]]:
    """First row of each part of a release and of the next one, if the parts are read one after the other."""
    edges = np.cumsum([0, *(pq.read_metadata(part).num_rows for part in part_paths(folder, release))]).tolist()
    return list(pairwise(edges))


def part_checksums(folder: Path) -> dict[str, str]:
    """Checksums of all parts below a folder, by their names relative to it. Cost: one reading of them."""
    return {path.relative_to(folder).as_posix(): checksum(path) for path in sorted(folder.rglob("part-*.parquet"))}


def whole_blocks(folder: Path) -> int:
    """Number of whole blocks that an interrupted run left, by their records in ``done`` of a folder."""
    return sum(1 for _ in (folder / "done").rglob("part-*.json"))


def forget_incomplete(private: Path) -> None:
    """Remove the records of the blocks of which a file is absent, so that these blocks are made again. Cost: O(files)."""
    for done in (private / "done").rglob("part-*.json"):
        if not all((private / name).exists() for name in read_json(done)["sha256"]):
            done.unlink()


def check_listed_parts(owner: str, private: Path, *folders: str) -> None:
    """Raise ValueError unless folders of a publication hold the parts that its manifest lists, unchanged, and no other ones.

    Parameters
    ----------
    owner : str
        Function named in the message.
    private : Path
        Folder of the manifest.
    *folders : str
        Folders with parts, relative to it, as ``"records"``.

    Notes
    -----
    Cost: one reading of the parts for their checksums.
    """
    sums = read_json(private / MANIFEST)["sha256"]
    for folder in folders:
        listed = {name for name in sums if name.startswith(f"{folder}/") and name.endswith(".parquet")}
        found = {f"{folder}/{path.relative_to(private / folder).as_posix()}" for path in _parts_below(private / folder)}
        for name in sorted(listed | found):
            if name not in found:
                state = "is missing"
            elif name not in listed:
                state = "is not in its manifest"
            elif checksum(private / name) != sums[name]:
                state = "was changed"
            else:
                continue
            place = f"private/{name}".replace("private/../", "")
            raise ValueError(
                f"{owner}: {place} of {private.parent} {state}; restore it, or publish into another folder."
            )


def _parts_below(folder: Path) -> Iterator[Path]:
    return folder.glob("release-*/part-*.parquet")


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Context manager that yields a scratch file, which becomes ``path`` if the block ends without an error.

    Its name is that of no other file, so that two machines may write the same part.
    """
    machine = re.sub(r"[^A-Za-z0-9.]", "", platform.node())
    scratch = path.with_name(f".{path.name}.{machine}-{os.getpid()}-{secrets.token_hex(8)}")
    try:
        yield scratch
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def write_part(path: Path, table: pa.Table) -> None:
    """Write a part whole or not at all, as one row group. Its metadata are the names and types of its columns."""
    with atomic_file(path) as scratch:
        pq.write_table(table.replace_schema_metadata(None), scratch, compression="zstd", row_group_size=len(table) or 1)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    with atomic_file(path) as scratch:
        scratch.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def write_pickle(path: Path, content: object) -> None:
    """Write an object of this program whole or not at all. The file is for the folder of work alone."""
    with atomic_file(path) as scratch, scratch.open("wb") as file:
        pickle.dump(content, file, protocol=5)


def read_pickle(path: Path) -> Any:
    """Object that `write_pickle` wrote."""
    with path.open("rb") as file:
        return pickle.load(file)


def read_json(path: Path) -> Any:
    """Content of a JSON file.

    Raises
    ------
    ValueError
        If there is none, or it holds something else.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ValueError(f"{path} is absent or not JSON; name a folder that publish_large completed.") from None


def remove_torn(folder: Path) -> None:
    """Remove the scratch files that a killed run left in a folder and below."""
    for path in folder.rglob(".*"):
        if SCRATCH_FILE.fullmatch(path.name):
            path.unlink(missing_ok=True)


def has_files(folder: Path) -> bool:
    """True if a folder holds a file other than those set aside, and those that a run which was killed at once left."""
    own = (path for path in folder.rglob("*") if path.relative_to(folder).parts[0] != EARLIER)
    return any(path.is_file() and not SCRATCH_FILE.fullmatch(path.name) for path in own)


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


def read_block(path: Path, start: int, stop: int) -> pa.Table:
    """Rows ``start`` to ``stop`` of a Parquet file; only the row groups that hold them are read."""
    with pq.ParquetFile(path) as file:
        chosen: list[int] = []
        first = before = 0
        for number in range(file.num_row_groups):
            rows = file.metadata.row_group(number).num_rows
            if before < stop and before + rows > start:
                first = first if chosen else before
                chosen.append(number)
            before += rows
        return file.read_row_groups(chosen, use_threads=False).slice(start - first, stop - start)


def people_of(block: pa.Table, schema: Schema, time: Any) -> People:
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


def belief_part(respondent: pa.ChunkedArray, group: IntArray, beliefs: FloatArray, release: int) -> pa.Table:
    """Beliefs about the published respondents of a block: ``respondent``, ``step``, ``values``, ``probabilities``.

    Values of probability 0 are left out. ``step`` is the number of the release. `LargeTable` limits m to 2^16. Cost: O(n m).
    """
    shown = np.flatnonzero(group >= 0)
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
    values, probabilities = block["values"].combine_chunks(), block["probabilities"].combine_chunks()
    sizes = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    seen = np.flatnonzero(sizes > 0)
    beliefs = np.zeros((len(seen), m))
    beliefs[np.repeat(np.arange(len(seen)), sizes[seen]), values.flatten().to_numpy()] = (
        probabilities.flatten().to_numpy()
    )
    return beliefs, seen


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
