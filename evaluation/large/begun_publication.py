"""Folder of a publication on disk: made, or taken over from an interrupted run of the same publication."""

import secrets
from pathlib import Path
from typing import Any

from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.large.parts import (
    forget_incomplete,
    has_files,
    make_private,
    read_json,
    remove_torn,
    write_json,
)
from foreknow.evaluation.large.setting_checksums import differing_settings, others_text

BEGUN = "begun.json"
"""File of the settings and the seed of a run, in ``private``, written first."""


class AlreadyPublished(ValueError):  # noqa: N818 - a state, as Infeasible is
    """A folder holds a complete publication with the same settings."""


def begin_publication(folder: Path, settings: dict[str, Any], seed: int | None) -> int:
    """Make the folder, or check that an interrupted run with these settings left it; return the seed.

    A block of that run of which a file is absent is forgotten, so that it is made again.
    """
    begun = folder / "private" / BEGUN
    if not has_files(folder):
        make_private("publish_large", folder / "private")
        (folder / "private" / "work").mkdir(exist_ok=True)
        seed = secrets.randbits(128) if seed is None else seed
        write_json(begun, {"settings": settings, "seed": str(seed)})
        return seed
    kept = _kept_settings(begun)
    given = settings if seed is None else settings | {"seed": str(seed)}
    if kept is None or (others := differing_settings(kept, given)):
        what = "" if kept is None else f": a publication with {others_text(others)}"
        raise ValueError(f"publish_large: {folder} holds something else{what}; name a folder that does not exist.")
    remove_torn(folder)
    if (folder / "private" / MANIFEST).exists():
        raise AlreadyPublished(f"publish_large: {folder} is already published; name a folder that does not exist.")
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


def sum_of_begun(folder: Path) -> dict[str, str]:
    """Checksum of the file that an interrupted run goes on from."""
    return {BEGUN: checksum(folder / "private" / BEGUN)}


def sums_of_done(private: Path) -> dict[str, str]:
    """Checksums of the records of the blocks."""
    return {path.relative_to(private).as_posix(): checksum(path) for path in sorted((private / "done").rglob("*.json"))}
