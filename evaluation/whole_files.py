"""Output that is written whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd


@contextmanager
def whole_files(folder: "str | Path", keep: Iterable[Path] = ()) -> Iterator[Path]:
    """Give a scratch folder; what was written there is moved into ``folder`` when the block ends, if no error ended it.

    The scratch folder lies within ``folder``, so that moving a file is one step of the file system; files of the same
    names are replaced. Nothing of it stays behind.

    Parameters
    ----------
    folder : path
        Where the files go; it is made if it is not there.
    keep : iterable of path
        Files that may not be replaced: what the output was made from.

    Raises
    ------
    ValueError
        If ``folder`` is a file; when the block ends, if a file would replace a folder or one of ``keep``.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, and the output is several; name a folder.")
    made = [parent for parent in [folder, *folder.parents] if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(dir=folder, prefix=".writing-") as scratch:
            yield Path(scratch)
            files = sorted(Path(scratch).iterdir())
            for file in files:
                _check_replaceable(folder / file.name, keep)
            for file in files:
                os.replace(file, folder / file.name)
    except BaseException:
        for parent in made:
            if not any(parent.iterdir()):
                parent.rmdir()
        raise


def _check_replaceable(target: Path, keep: Iterable[Path]) -> None:
    if target.is_dir():
        raise ValueError(f"{target} is a folder, and a file of that name is to be written; name another folder.")
    if target.exists() and any(target.samefile(path) for path in keep):
        raise ValueError(f"{target} is read, and would be written over; name another folder.")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, chosen by its ending."""
    if path.suffix.lower() == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)
