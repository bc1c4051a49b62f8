"""Output files that are written completely or not at all, and that replace earlier files only on request."""

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

from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.file_lock import locked

SCRATCH_FOLDER = re.compile(r"\.foreknow-([A-Za-z0-9.]*)-([0-9]{1,7})-[a-z0-9_]{8}")
"""Name of a scratch folder: the machine and the process that write in it."""

ABANDONED_AFTER = 24 * 3600.0
"""Age in seconds after which a scratch folder is removed, even if a process has its number."""


def output_suffix(path: Path) -> str:
    """The suffix of output files for an input file: that of Parquet, or that of CSV for every kind of text."""
    return ".parquet" if path.suffix.lower() == ".parquet" else ".csv"


@contextmanager
def atomic_output(folder: "str | Path", keep: Iterable[Path] = (), overwrite: bool = False) -> Iterator[Path]:
    """Context manager that yields a scratch folder, and moves its files into ``folder`` if the block ends without an error.

    A folder that does not exist is made in one step, with all its files. Otherwise each file is moved in one step, under a lock of
    the folder, and files named ``manifest.json`` last. The scratch folder is in the same file system: within ``folder``, or beside
    it. Files in subfolders are moved into subfolders with the same names and permissions. Scratch folders of killed runs are
    removed.

    Parameters
    ----------
    folder : path
        Destination of the files. It is created if necessary.
    keep : iterable of path
        Input files, which may not be replaced.
    overwrite : bool
        Replace files with the same names.

    Raises
    ------
    ValueError
        As `check_output`, when the block ends; or if another run writes into the folder.
    """
    folder = Path(folder)
    check_output(folder, (), keep, overwrite)
    is_new = not folder.exists()
    place = folder.parent if is_new else folder
    created = [parent for parent in [place, *place.parents] if not parent.exists()]
    place.mkdir(parents=True, exist_ok=True)
    try:
        _remove_abandoned(place)
        with TemporaryDirectory(dir=place, prefix=f".foreknow-{_machine()}-{os.getpid()}-") as outer:
            scratch = Path(outer, "files")
            scratch.mkdir()
            yield scratch
            if not (is_new and _moved_whole(scratch, folder)):
                _move(scratch, folder, keep, overwrite)
    except BaseException:
        for parent in created:
            if not any(parent.iterdir()):
                parent.rmdir()
        raise


def _moved_whole(scratch: Path, folder: Path) -> bool:
    """Rename the scratch folder; False if the destination was made meanwhile."""
    try:
        os.rename(scratch, folder)
    except OSError:
        if not folder.exists():
            raise
        return False
    return True


def check_output(
    folder: "str | Path", names: Iterable["str | Path"], keep: Iterable[Path] = (), overwrite: bool = False
) -> None:
    """Raise ValueError unless files with these names may be written into a folder.

    Raises
    ------
    ValueError
        If ``folder`` is or lies in a file or in a folder that cannot be written, a file would replace a folder or one of
        ``keep``, or, without ``overwrite``, any file.
    """
    folder, names = Path(folder), list(names)
    if os.path.exists(folder) and not folder.is_dir():
        raise ValueError(f"{folder} is a file, and the output is several files; name a folder.")
    if (above := _nearest_existing(folder)).is_file():
        raise ValueError(f"{folder} would lie in {above}, which is a file; name another folder.")
    for place in {_nearest_existing((folder / name).parent): None for name in (*names, "file")}:
        if not os.access(place, os.W_OK | os.X_OK):
            raise ValueError(
                f"{place} cannot be written to by this user, and the output would be in it; name another folder, or change "
                "the permissions of this one."
            )
    for target in (folder / name for name in names):
        if target.is_dir():
            raise ValueError(f"{target} is a folder, and the output has a file with this name; name another folder.")
        if target.exists() and any(path.exists() and target.samefile(path) for path in keep):
            raise ValueError(f"{target} is an input file, and would be written over; name another folder.")
        if os.path.lexists(target) and not overwrite:
            raise ValueError(f"{target} is already there; name another folder, or replace it with --overwrite.")


def _nearest_existing(folder: Path) -> Path:
    """The folder, or the first above it that exists; one in a folder that cannot be searched counts as absent."""
    return next(each for each in (folder, *folder.absolute().parents) if os.path.exists(each))


def write_table(table: pd.DataFrame, path: Path, private: bool = False, formulas: bool | None = None) -> None:
    """Write a CSV or Parquet file, by the ending of its name.

    Parameters
    ----------
    table : DataFrame
        Its cells are written as plain values, without the index, unused categories and other metadata of pandas.
    path : path
    private : bool
        Create the file with mode 0600, so that only its owner can read it.
    formulas : bool, optional
        Whether cells that a spreadsheet would run are written unchanged; otherwise with an apostrophe before them. By default in
        Parquet files alone, which spreadsheets do not open.

    Raises
    ------
    ValueError
        If a column of a Parquet file holds values of several types.
    """
    if private:
        path.touch(mode=0o600)
    is_parquet = path.suffix.lower() == ".parquet"
    if not (is_parquet if formulas is None else formulas):
        table = without_formulas(table)
    if is_parquet:
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
    with locked(folder):
        check_output(folder, names, keep, overwrite)
        for name in sorted(names, key=lambda name: (name.name == MANIFEST, name)):
            for parent in reversed(name.parents[:-1]):
                (folder / parent).mkdir(mode=stat.S_IMODE((scratch / parent).stat().st_mode), exist_ok=True)
            os.replace(scratch / name, folder / name)


def _remove_abandoned(folder: Path) -> None:
    for path in folder.iterdir():
        if (match := SCRATCH_FOLDER.fullmatch(path.name)) and path.is_dir() and not path.is_symlink():
            is_dead = match[1] == _machine() and not _is_running(int(match[2]))
            if is_dead or time.time() - path.stat().st_mtime > ABANDONED_AFTER:
                shutil.rmtree(path, ignore_errors=True)


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "", platform.node())


def _is_running(process: int) -> bool:
    """Return whether a process of this machine runs; True on Windows, where signal 0 would end the process."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of a formula in a spreadsheet (OWASP, *CSV Injection*); the last four are the full-width = + - @."""


def formula_cells(table: pd.DataFrame) -> int:
    """Number of cells and column names that begin like a formula and are not numbers."""
    return sum(int(_is_formula(table[name]).sum()) for name in table.columns) + sum(
        map(_begins_like_formula, table.columns)
    )


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each cell and column name that begins like a formula and is not a number.

    Spreadsheets show such a cell as text. Other programs show the apostrophe.

    >>> without_formulas(pd.DataFrame({"job": ["=1+1", "clerk", "-3"]}))["job"].tolist()
    ["'=1+1", 'clerk', '-3']
    """
    columns = {
        name: table[name].mask(mask, "'" + table[name].astype(str))
        for name in table.columns
        if (mask := _is_formula(table[name])).any()
    }
    return table.assign(**columns).rename(columns={name: quoted_formula(name) for name in table.columns})


def quoted_formula(cell: Any) -> Any:
    """A cell with an apostrophe before it, if it begins like a formula.

    >>> quoted_formula("=1+1"), quoted_formula("clerk")
    ("'=1+1", 'clerk')
    """
    return f"'{cell}" if _begins_like_formula(cell) else cell


def unquoted_formulas(column: "pd.Series[Any]", known: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column of a file that `without_formulas` wrote, with the cells of another column as they are there."""
    written = {quoted_formula(cell): cell for cell in known if _begins_like_formula(cell)}
    return column.map(lambda cell: written.get(cell, cell)) if written else column


def as_written(column: "pd.Series[Any]", written: "pd.Series[Any]") -> "pd.Series[Any]":
    """A column with those cells quoted that a file, of which ``written`` is a column, has with an apostrophe alone."""
    there = set(written)
    return column.map(lambda cell: quoted if (quoted := quoted_formula(cell)) in there and cell not in there else cell)


def _is_formula(column: "pd.Series[Any]") -> "pd.Series[bool]":
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return pd.Series(False, index=column.index)
    return column.map(_begins_like_formula).astype(bool)


def _begins_like_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return cell.startswith(("\t", "\r", "\n"))
