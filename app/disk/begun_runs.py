"""Folders of runs on disk: made, taken over from an interrupted run of the same settings, or set aside."""

import hashlib
import pickle
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreknow.app.atomic_output import check_output, write_json
from foreknow.app.publication import BEGUN, MANIFEST, PRIVATE, PUBLIC, check_no_extra_file, listing_of, read_json
from foreknow.evaluation.checks.program import versions
from foreknow.models.advice import Advice, Wording
from foreknow.models.tables.atomic_file import SCRATCH_FILES, locked, remove_torn

NEXT = ".next"
"""Folder of a publication that will replace the one around it."""

UNKNOWN = "not written"
"""Checksum of an object that cannot be pickled, as one with a lambda; it equals no other, not even itself."""

LABELS: dict[str, Any] = {
    "program": "version of foreknow",
    "files": "input",
    "cleaned": Wording("cleaning", "--missing, --encoding or another option of cleaning"),
    "schema": Wording("schema", "--qi, --sensitive or another option of the columns"),
    "time": Wording("time", "--time"),
    "defense": Wording("defense", "--defense, or another option of it"),
    "chain": Wording("chain of the ghosts", "--corpus, or another option of knowledge"),
    "adversary": Wording("adversary", "--corpus, or another option of knowledge"),
    "attack": Wording("attack", "--attack, --solver, --forward, or another option of knowledge"),
    "block": Wording("block", "--block"),
    "seed": Wording("seed", "--seed"),
}
"""Names of settings in messages, where they differ from those in the files."""

ELSEWHERE = Wording("name a folder that does not exist.", "name another folder, or replace it with --overwrite.")
"""Way out of a folder that is not empty."""


class AlreadyComplete(ValueError):  # noqa: N818 - a state, as Infeasible is
    """A folder holds the complete result of a run with the same settings."""


class OfAnotherRun(ValueError):  # noqa: N818 - a state, as Infeasible is
    """A folder holds something else than an interrupted run with the same settings and versions."""


def begin_run(
    owner: str, folder: Path, private: Path, settings: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings of a run into a folder that is new, or that an interrupted run with the same settings and versions left.

    They are kept in ``begun.json`` of ``private``, which is the folder or lies in it. ``drawn`` are settings that a new run draws
    unless they are given, as a seed. ``owner`` is named in messages.

    Raises
    ------
    ValueError
        If the folder cannot be written to.
    OfAnotherRun, AlreadyComplete
        If the folder holds something else or was begun with other versions, or the run is complete.
    """
    begun = private / BEGUN
    # A run that was killed at once left scratch files alone.
    if not any(path.is_file() and not path.match(SCRATCH_FILES) for path in folder.rglob("*")):
        remove_torn(folder)
        make_folder(owner, private, 0o700)
        private.chmod(0o700)
        started = {**drawn, **settings}
        about = {"settings": started, "drawn": sorted(drawn.keys() - settings.keys()), "versions": versions()}
        write_json(begun, about)
        return started
    kept = read_json(begun) if begun.is_file() else {}
    own: dict[str, Any] = kept.get("settings", {})
    others = [name for name, value in settings.items() if own.get(name, UNKNOWN) == UNKNOWN or own[name] != value]
    if others:
        parts = [part for name in others for part in (" and another ", LABELS.get(name, name))][1:]
        unknown = any(settings[name] == UNKNOWN for name in others)
        pickled = " (one that cannot be pickled equals no other)" if unknown else ""
        what = (": a run with another ", *parts, pickled) if own else ()
        raise OfAnotherRun(Advice(f"{owner}: {folder} holds something else", *what, "; ", ELSEWHERE))
    remove_torn(folder)
    if (private / MANIFEST).exists():
        raise AlreadyComplete(Advice(f"{owner}: {folder} holds the result of this run; ", ELSEWHERE))
    # Another version of a package may sort, draw or write otherwise, so that the parts of two versions do not fit together.
    for name, present in versions().items():
        if (before := kept["versions"].get(name)) != present:
            raise OfAnotherRun(
                f"{owner}: {folder} was begun with {name} {before}, and this is {name} {present}; an interrupted run goes on with "
                "the same versions. Install them, or name a folder that does not exist."
            )
    return own


def make_folder(owner: str, folder: Path, mode: int = 0o777) -> None:
    """Make a folder with those above it, if absent. ``owner`` is named in messages.

    Raises
    ------
    ValueError
        If it is or lies in a file or in a folder that cannot be written to.
    """
    try:
        check_output(folder, ())
    except ValueError as error:
        raise ValueError(f"{owner}: {error}") from None
    folder.mkdir(mode, parents=True, exist_ok=True)


def is_seeded(folder: Path) -> bool:
    """True unless the run that began a publication drew its seed."""
    return "seed" not in read_json(folder / PRIVATE / BEGUN)["drawn"]


def remove_publication(folder: Path) -> None:
    """Remove the parts and the private files of a publication from disk, complete or begun."""
    (folder / PRIVATE / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder / PUBLIC, ignore_errors=True)
    if (folder / PRIVATE).exists():
        remove_run(folder / PRIVATE)


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


@contextmanager
def replaced_publication(folder: Path) -> Iterator[Path]:
    """Context manager that yields the folder of a new publication, within that of an earlier one, which it then replaces.

    If the body raises an exception, the new one is removed; a run that is killed, or interrupted by the user, leaves it, and the
    next one goes on. Needs the disk of both publications.

    Raises
    ------
    ValueError
        If another run holds the lock of the folder, or the folder has a file that no run wrote.
    """
    new = folder / NEXT
    with locked(folder):
        if (new / PRIVATE / MANIFEST).exists() and not (new / PUBLIC).exists():  # A replacement was interrupted.
            (folder / PUBLIC).rename(new / PUBLIC)
        if (folder / PRIVATE / MANIFEST).exists():
            check_no_extra_file(folder, listing_of(folder))
        try:
            yield new
        except Exception:
            shutil.rmtree(new, ignore_errors=True)
            raise
        remove_publication(folder)
        for name in (PUBLIC, PRIVATE):
            (new / name).rename(folder / name)
        new.rmdir()
