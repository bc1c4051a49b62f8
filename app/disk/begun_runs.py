"""Folders of runs on disk: made, taken over from an interrupted run of the same settings, or set aside."""

import hashlib
import pickle
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from foreknow.app.disk.parts import (
    EARLIER,
    has_files,
    make_private,
    read_json,
    remove_torn,
    write_json,
)
from foreknow.evaluation.checks.manifest import BEGUN, CERTIFICATE, MANIFEST, PRIVATE, extra_files, listing_of, versions
from foreknow.evaluation.file_lock import locked

PARTS = "release"

UNKNOWN = "not written"
"""Checksum of an object that cannot be pickled, as one with a lambda; it equals no other, not even itself."""

LABELS = {
    "program": "version of foreknow",
    "files": "input",
    "adversary": "adversary (or one that cannot be pickled)",
    "attack": "attack (or one that cannot be pickled)",
}
"""Names of settings in messages, where they differ from those in the files."""


class AlreadyPublished(ValueError):  # noqa: N818 - a state, as Infeasible is
    """A folder holds a complete publication with the same settings."""


class AlreadyAttacked(ValueError):  # noqa: N818 - a state, as AlreadyPublished is
    """A folder holds the complete beliefs of the same attack."""


def begin_run(
    owner: str, folder: Path, private: Path, settings: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings of a run into a folder that is new, or that an interrupted run with the same settings and versions left.

    They are kept in ``begun.json`` of ``private``, which is the folder or lies in it.

    Parameters
    ----------
    owner : str
        Function named in messages.
    folder, private : Path
    settings : mapping
        Settings on which the result depends.
    drawn : mapping
        Settings that a new run draws unless they are given, as a seed.

    Raises
    ------
    ValueError
        If the folder holds something else or cannot be written to, or was begun with other versions.
    AlreadyPublished, AlreadyAttacked
        If the run is complete.
    """
    begun = private / BEGUN
    if not has_files(folder):
        remove_torn(folder)
        make_private(owner, private)
        started = {**drawn, **settings}
        about = {"settings": started, "drawn": sorted(drawn.keys() - settings.keys()), "versions": versions()}
        write_json(begun, about)
        return started
    kept = read_json(begun) if begun.is_file() else {}
    own = kept.get("settings") if isinstance(kept, dict) else None
    others = differing_settings(own, settings) if isinstance(own, dict) else []
    if others or not isinstance(own, dict):
        what = f": a run with {' and '.join(f'another {LABELS.get(name, name)}' for name in others)}" if others else ""
        raise ValueError(f"{owner}: {folder} holds something else{what}; name a folder that does not exist.")
    remove_torn(folder)
    if (private / MANIFEST).exists():
        if owner == "attack_large":
            raise AlreadyAttacked(
                f"{owner}: {folder} holds the beliefs of this attack; name a folder that does not exist."
            )
        raise AlreadyPublished(f"{owner}: {folder} is already published; name a folder that does not exist.")
    _check_versions(owner, folder, kept.get("versions"))
    return own


def is_seeded(folder: Path) -> bool:
    """True unless the run that began a publication drew its seed."""
    return "seed" not in read_json(folder / PRIVATE / BEGUN)["drawn"]


def remove_publication(folder: Path) -> None:
    """Remove the parts and the private files of a publication from disk, complete or begun."""
    (folder / "private" / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder / "release", ignore_errors=True)
    remove_run(folder / "private")


def remove_run(folder: Path) -> None:
    """Remove a folder with ``begun.json``: its manifest first and that file last, so that a killed removal can be repeated."""
    (folder / MANIFEST).unlink(missing_ok=True)
    for path in list(folder.iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != BEGUN:
            path.unlink()
    shutil.rmtree(folder)


def object_checksum(content: object) -> str:
    """SHA-256 of the pickled bytes of an object, or `UNKNOWN`."""
    try:
        return hashlib.sha256(pickle.dumps(content)).hexdigest()
    except (pickle.PicklingError, AttributeError, TypeError):
        return UNKNOWN


def differing_settings(kept: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Names of the settings in which those of an interrupted run differ from the given ones."""
    return [name for name, value in given.items() if name not in kept or kept[name] == UNKNOWN or kept[name] != value]


def _check_versions(owner: str, folder: Path, kept: object) -> None:
    """Raise ValueError unless an interrupted run that left a folder had the present versions of Python and the packages.

    Another version of a package may sort, draw or write otherwise, so that the parts of two versions do not fit together.
    """
    begun = kept if isinstance(kept, Mapping) else {}
    for name, present in versions().items():
        if begun.get(name) != present:
            raise ValueError(
                f"{owner}: {folder} was begun with {name} {begun.get(name, 'of a version that it does not state')}, and this is "
                f"{name} {present}; an interrupted run goes on with the same versions. Install them, or name a folder that does "
                "not exist."
            )


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
