"""Files that are written completely or not at all, scratch folders, and locks of folders."""

import os
import platform
import re
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from foreknow.models.advice import Advice, Setting
from foreknow.models.settings import check_flag, check_kind

try:
    import fcntl
except ImportError:  # Windows has no locks of folders.
    fcntl = None  # type: ignore[assignment]

SCRATCH_FILES = ".*.writing"
"""Pattern of the names of files that are being written."""


SCRATCH_FOLDER = re.compile(r"(\.?foreknow-)([A-Za-z0-9.]*)-([0-9]{1,7})(?:-([0-9]+))?-[a-z0-9_]{8}")
"""Name of a scratch folder: the machine, the process that writes in it, and the start of the process."""

ABANDONED_AFTER = 24 * 3600.0
"""Age in seconds after which a scratch folder is removed, even if a process has its number."""


@contextmanager
def scratch_folder(place: "Path | str | None" = None, prefix: str = "foreknow-") -> Iterator[Path]:
    """Context manager that yields a new folder within a place, by default that of temporary files, and removes it at the end.

    Those with this prefix that killed runs left there are removed before, with a warning that names them.
    """
    where = Path(gettempdir() if place is None else place)
    for path in where.iterdir():
        match = SCRATCH_FOLDER.fullmatch(path.name)
        if match and match[1] == prefix and path.is_dir() and not path.is_symlink() and _is_abandoned(path, match):
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():  # It may be that of another user.
                warnings.warn(f"{path}, which a run that was killed has left, is removed.", stacklevel=3)
    started = _start(os.getpid())
    with TemporaryDirectory(prefix=f"{prefix}{_machine()}-{os.getpid()}-{started}-", dir=where) as name:
        yield Path(name)


def _is_abandoned(path: Path, match: re.Match[str]) -> bool:
    with suppress(OSError):
        is_dead = match[2] == _machine() and not _is_running(int(match[3]), match[4])
        return is_dead or time.time() - path.stat().st_mtime > ABANDONED_AFTER
    return False  # Its run has removed it.


def _machine() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "", platform.node())


def _start(process: int) -> str:
    """Start of a process in ticks of the clock since that of the system; 0 where the system does not tell."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return "0"


def _is_running(process: int, started: str | None) -> bool:
    """Return whether a process of this machine runs; True on Windows, where signal 0 would end the process.

    One with another start has the number of an earlier process.
    """
    try:
        if os.name != "nt":
            os.kill(process, 0)
    except OSError as error:
        if isinstance(error, ProcessLookupError):
            return False
    return started in (None, "0", _start(process))


@contextmanager
def atomic_file(path: Path, private: bool = True) -> Iterator[Path]:
    """Context manager that yields a new file, which becomes ``path`` if the block ends without an error.

    Its name is that of no other file, so that two machines may write the same one. ``private``: only its owner can read it.
    """
    scratch = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.writing")
    try:
        scratch.touch(0o600 if private else 0o666)
        yield scratch
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def remove_torn(folder: Path, age: float = 0.0) -> None:
    """Remove the scratch files of at least an age in seconds, which killed runs left in a folder and below."""
    for path in folder.rglob(SCRATCH_FILES):
        with suppress(FileNotFoundError):  # Its run has renamed it.
            if time.time() - path.stat().st_mtime >= age:
                path.unlink()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Context manager that holds the lock of an existing folder; the system frees it when the process ends, however it does.

    Raises
    ------
    ValueError
        If another process holds it.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ValueError(
            f"{folder}: another run is writing into it; wait for its end, or name another folder."
        ) from None
    except OSError:
        pass  # A file system without locks, as some of networks.
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def saved_file(owner: str, path: "str | Path", suffix: str, overwrite: bool) -> Iterator[Path]:
    """Context manager as `atomic_file`, for a path of the user's; an earlier file is replaced only on request.

    Parameters
    ----------
    owner : str
        Name of the caller in messages.
    path : path
        Its folder must exist.
    suffix : str
        The ending that the name must have, as ".parquet".
    overwrite : bool
        True to replace an earlier file.

    Raises
    ------
    TypeError
        If the path is neither a text nor a path.
    ValueError
        If the name has another ending, the folder does not exist or cannot be written to, or, without ``overwrite``, the file
        exists.
    """
    check_kind(owner, "path", path, (str, PathLike), f"is the path of a {suffix} file")
    check_flag(owner, "overwrite", overwrite)
    target = Path(path)
    if target.suffix.lower() != suffix:
        raise ValueError(f"{owner}: path is {str(target)[:200]!r}; name a file that ends in {suffix}.")
    folder = target.parent
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        name = repr(str(folder)[:200])
        fault = f"{name} cannot be written to by this user" if folder.is_dir() else f"there is no folder {name}"
        raise ValueError(f"{owner}: {fault}; name a folder that can be written to.")
    _check_free(owner, target, overwrite)
    with atomic_file(target) as scratch:
        yield scratch
        _check_free(owner, target, overwrite)


def _check_free(owner: str, target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise ValueError(f"{owner}: {target} is a folder; name a file.")
    if os.path.lexists(target) and not overwrite:
        replaced = Setting("overwrite", True)
        there = f"{owner}: {target} is already there; name another file, or replace it with "
        raise ValueError(Advice(there, replaced, "."))
