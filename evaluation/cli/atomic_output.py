"""Output that is written whole or not at all, and never over what is there unless asked."""

import os
import platform
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SCRATCH = re.compile(r"\.foreknow-([A-Za-z0-9.]*)-([0-9]{1,7})-[a-z0-9_]{8}")
"""The name of a scratch folder: the machine and the process that write in it."""

ABANDONED = 24 * 3600.0
"""After this many seconds a scratch folder belongs to nobody, whatever process has its number."""


@contextmanager
def atomic_output(folder: "str | Path", keep: Iterable[Path] = (), overwrite: bool = False) -> Iterator[Path]:
    """Give a scratch folder; what was written there is moved into ``folder`` when the block ends, if no error ended it.

    The scratch folder lies within ``folder``, so that moving a file is one step of the file system. Files in folders of the
    scratch folder are moved into folders of the same names and permissions. Scratch folders that killed runs left behind in
    ``folder`` are removed.

    Parameters
    ----------
    folder : path
        Where the files go; it is made if it is not there.
    keep : iterable of path
        Files that may not be replaced: what the output was made from.
    overwrite : bool
        Whether files of the same names are replaced.

    Raises
    ------
    ValueError
        As `check_output`, when the block ends.
    """
    folder = Path(folder)
    check_output(folder, (), keep, overwrite)
    made = [parent for parent in [folder, *folder.parents] if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _remove_abandoned(folder)
        with TemporaryDirectory(dir=folder, prefix=f".foreknow-{_machine()}-{os.getpid()}-") as scratch:
            yield Path(scratch)
            _move(Path(scratch), folder, keep, overwrite)
    except BaseException:
        for parent in made:
            if not any(parent.iterdir()):
                parent.rmdir()
        raise


def check_output(
    folder: "str | Path", names: Iterable["str | Path"], keep: Iterable[Path] = (), overwrite: bool = False
) -> None:
    """Raise ValueError unless files of these names may be written into a folder.

    Raises
    ------
    ValueError
        If ``folder`` is a file, a file would replace a folder or one of ``keep``, or, without ``overwrite``, any file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, and the output is several; name a folder.")
    for target in (folder / name for name in names):
        if target.is_dir():
            raise ValueError(f"{target} is a folder, and a file of that name is to be written; name another folder.")
        if target.exists() and any(path.exists() and target.samefile(path) for path in keep):
            raise ValueError(f"{target} is read, and would be written over; name another folder.")
        if os.path.lexists(target) and not overwrite:
            raise ValueError(
                f"{target} is already there; name another folder, or replace what is there with --overwrite."
            )


def write_table(table: pd.DataFrame, path: Path, private: bool = False) -> None:
    """Write a CSV or Parquet file, chosen by its ending.

    Parameters
    ----------
    table : DataFrame
        Its columns are written as plain values: no index, no categories that do not occur, nothing that pandas carries beside
        the cells.
    path : path
        The file.
    private : bool
        Whether only its owner may read it, from its creation on (mode 0600).

    Raises
    ------
    ValueError
        If a column of a Parquet file holds values of several types.
    """
    if private:
        path.touch(mode=0o600)
    if path.suffix.lower() == ".parquet":
        names = [str(name) for name in table.columns]
        pq.write_table(pa.table([_plain(table[name]) for name in table.columns], names=names), path)
    else:
        table.to_csv(path, index=False)


def _plain(column: "pd.Series[Any]") -> "pa.Array | pa.ChunkedArray":
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    try:
        return pa.array(column, from_pandas=True)
    except pa.ArrowException as error:
        raise ValueError(f"the column {column.name!r} cannot be written as parquet: {error}") from None


def _move(scratch: Path, folder: Path, keep: Iterable[Path], overwrite: bool) -> None:
    names = [path.relative_to(scratch) for path in sorted(scratch.rglob("*")) if path.is_file()]
    check_output(folder, names, keep, overwrite)
    for name in names:
        for parent in reversed(name.parents[:-1]):
            (folder / parent).mkdir(mode=stat.S_IMODE((scratch / parent).stat().st_mode), exist_ok=True)
        os.replace(scratch / name, folder / name)


def _remove_abandoned(folder: Path) -> None:
    for path in folder.iterdir():
        if (found := SCRATCH.fullmatch(path.name)) and path.is_dir() and not path.is_symlink():
            dead = found[1] == _machine() and not _runs(int(found[2]))
            if dead or time.time() - path.stat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "", platform.node())


def _runs(process: int) -> bool:
    """Whether a process of this machine runs, or cannot be asked: on Windows the question would end it."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
