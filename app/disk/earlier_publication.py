"""Earlier publication of a folder that is published into anew: set aside, and put back if the run fails."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from foreknow.app.disk.begun_publication import remove_publication
from foreknow.app.disk.parts import EARLIER
from foreknow.evaluation.checks.certificate import CERTIFICATE
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST, PRIVATE, extra_files, listing_of
from foreknow.evaluation.file_lock import locked

PARTS = "release"


@contextmanager
def earlier_set_aside(folder: Path) -> Iterator[None]:
    """Context manager that moves a publication within its folder: put back if the body raises an exception, else removed.

    A run that is killed, or interrupted by the user, leaves it aside: the next one begins anew and keeps it until it ends. Needs
    the disk of both publications.

    Raises
    ------
    ValueError
        If another run holds the lock of the folder, or a complete publication has a file that no run wrote.
    """
    with locked(folder):
        _check_no_extra(folder)
        _set_aside(folder)
    try:
        yield
    except Exception:
        with locked(folder):
            _put_back(folder)
        raise
    forget_earlier(folder)


def forget_earlier(folder: Path) -> None:
    """Remove the publication that a run set aside, and nothing else that is beside it."""
    aside = folder / EARLIER
    if (aside / PRIVATE / BEGUN).exists():
        remove_publication(aside)
    _remove_empty(aside)


def _check_no_extra(folder: Path) -> None:
    """Raise ValueError if a complete publication has a file that it does not list, which would be removed with it."""
    if not (folder / PRIVATE / MANIFEST).exists():
        return
    if extra := [name for name in extra_files(folder, listing_of(folder)) if not name.startswith(f"{EARLIER}/")]:
        more = f" and {len(extra) - 1} more" if len(extra) > 1 else ""
        raise ValueError(
            f"{folder / extra[0]}{more} is not of the publication that would be replaced; move it, or name another folder."
        )


def _set_aside(folder: Path) -> None:
    """Move ``private`` and then ``release``; without ``private`` in the folder, all of it is of the earlier publication."""
    aside = folder / EARLIER
    if (folder / PRIVATE).exists() and (folder / PARTS / CERTIFICATE).exists():
        forget_earlier(folder)  # The run that set it aside is complete.
    aside.mkdir(exist_ok=True)
    if not (aside / PRIVATE).exists():
        (folder / PRIVATE).rename(aside / PRIVATE)
    elif (folder / PRIVATE).exists():  # Of a run that was killed.
        remove_publication(folder)
    if (folder / PARTS).exists() and not (aside / PARTS).exists():
        (folder / PARTS).rename(aside / PARTS)


def _put_back(folder: Path) -> None:
    """Move ``release`` and then ``private`` back in the place of what the run wrote."""
    aside = folder / EARLIER
    if (folder / PRIVATE).exists():
        remove_publication(folder)
    for name in (PARTS, PRIVATE):
        if (aside / name).exists():
            (aside / name).rename(folder / name)
    _remove_empty(aside)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # It holds something else, or is not there.
        folder.rmdir()
