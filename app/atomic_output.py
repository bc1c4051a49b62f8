"""Files and folders that are written completely or not at all, one run at a time."""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreknow.models.tables.atomic_file import atomic_file, locked, scratch_folder

LAST = "manifest.json"
"""Name of the files that are moved last into a folder."""


def write_json(path: Path, content: Mapping[str, Any], private: bool = True) -> None:
    """Write a JSON file whole or not at all."""
    with atomic_file(path, private) as scratch:
        scratch.write_text(json.dumps(content, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")


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
        with scratch_folder(place, ".foreknow-") as outer:
            scratch = outer / "files"
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
    if not (above := _nearest_existing(folder)).is_dir():
        raise ValueError(f"{above} is a file, and the output is a folder of files; name another folder.")
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


def _move(scratch: Path, folder: Path, keep: Iterable[Path], overwrite: bool) -> None:
    names = [path.relative_to(scratch) for path in sorted(scratch.rglob("*")) if path.is_file()]
    with locked(folder):
        check_output(folder, names, keep, overwrite)
        for name in sorted(names, key=lambda name: (name.name == LAST, name)):
            for parent in reversed(name.parents[:-1]):
                (folder / parent).mkdir(mode=stat.S_IMODE((scratch / parent).stat().st_mode), exist_ok=True)
            os.replace(scratch / name, folder / name)
