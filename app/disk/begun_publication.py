"""Folder of a publication on disk: made, or taken over from an interrupted run of the same publication."""

import secrets
import shutil
from pathlib import Path
from typing import Any

from foreknow.app.disk.parts import (
    forget_incomplete,
    has_files,
    make_private,
    read_json,
    remove_torn,
    write_json,
)
from foreknow.app.disk.setting_checksums import check_versions, differing_settings, others_text
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST
from foreknow.evaluation.checks.program import checksum, versions


class AlreadyPublished(ValueError):  # noqa: N818 - a state, as Infeasible is
    """A folder holds a complete publication with the same settings."""


def begin_publication(folder: Path, settings: dict[str, Any], seed: int | None) -> int:
    """Make the folder, or check that an interrupted run with these settings and versions left it; return the seed.

    A block of that run of which a file is absent is forgotten, so that it is made again.
    """
    begun = folder / "private" / BEGUN
    if not has_files(folder):
        remove_torn(folder)
        make_private("publish_large", folder / "private")
        (folder / "private" / "work").mkdir(exist_ok=True)
        used = secrets.randbits(128) if seed is None else seed
        write_json(begun, {"settings": settings, "seed": str(used), "seeded": seed is not None, "versions": versions()})
        return used
    kept = _kept_settings(begun)
    given = settings if seed is None else settings | {"seed": str(seed)}
    if kept is None or (others := differing_settings(kept, given)):
        what = "" if kept is None else f": a publication with {others_text(others)}"
        raise ValueError(f"publish_large: {folder} holds something else{what}; name a folder that does not exist.")
    remove_torn(folder)
    if (folder / "private" / MANIFEST).exists():
        raise AlreadyPublished(f"publish_large: {folder} is already published; name a folder that does not exist.")
    check_versions("publish_large", folder, read_json(begun).get("versions"))
    forget_incomplete(folder / "private")
    (folder / "private" / "work").mkdir(exist_ok=True)
    return int(kept["seed"])


def _kept_settings(begun: Path) -> dict[str, Any] | None:
    """Settings and seed of an interrupted run; None if there is none."""
    content = read_json(begun) if begun.exists() else None
    if not isinstance(content, dict) or not isinstance(content.get("settings"), dict):
        return None
    settings: dict[str, Any] = content["settings"]
    return settings | {"seed": content.get("seed")}


def is_seeded(folder: Path) -> bool:
    """True unless the run that began a publication drew its seed."""
    return read_json(folder / "private" / BEGUN).get("seeded") is not False


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


def sum_of_begun(folder: Path) -> dict[str, str]:
    """Checksum of the file that an interrupted run goes on from."""
    return {BEGUN: checksum(folder / "private" / BEGUN)}


def sums_of_done(private: Path) -> dict[str, str]:
    """Checksums of the records of the blocks."""
    return {path.relative_to(private).as_posix(): checksum(path) for path in sorted((private / "done").rglob("*.json"))}
