"""Parts: the files of one block of a release, each whole or absent, and the record that a block is complete."""

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

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.checks.program import checksum

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
