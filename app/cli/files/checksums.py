"""Checksums that identify the files of one publication.

``release.json``, beside the published table, describes how the table was made. It holds nothing private: no seed, and no checksum
of the records or of the key, which would confirm a guess. ``manifest.json``, beside the key, holds the checksums of all files.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foreknow.defenses import Defense
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.checks.program import checksum, defense_record, settings
from foreknow.evaluation.program_version import program_version
from foreknow.models import Release

RELEASE = "release.json"


def write_release(
    published: Path, releases: Iterable[Release], defense: Defense, columns: Mapping[str, Any] | None = None
) -> None:
    """Write ``release.json`` beside a published table: program, defense, times, the roles of its columns and its checksum."""
    times = [str(release.time) for release in releases]
    content = {
        "program": program_version(),
        "defense": settings(defense),
        "settings": defense_record(defense),
        "times": times,
        "columns": columns or {},
        "sha256": {published.name: checksum(published)},
    }
    _write(published.parent / RELEASE, content)


def write_key(key: Path, published: Path, records: Path) -> None:
    """Write ``manifest.json`` beside the key: the checksums of all files beside both, and of the records."""
    target = key.parent / MANIFEST
    written = [
        path for folder in (key.parent, published.parent) for path in sorted(folder.rglob("*")) if path.is_file()
    ]
    sums = {path.relative_to(key.parent, walk_up=True).as_posix(): checksum(path) for path in written if path != target}
    target.touch(mode=0o600)
    _write(target, {"program": program_version(), "sha256": sums, "records": checksum(records)})


def check_key(key: Path, records: Path) -> bool:
    """Return whether ``manifest.json`` lists a key; if it does, compare the checksums of the files of its run and of the records.

    A file that is not there is not compared.

    Raises
    ------
    ValueError
        If a checksum differs, or ``manifest.json`` cannot be read.
    """
    listing = key.parent / MANIFEST
    if not listing.exists():
        return False
    try:
        content = json.loads(listing.read_text(encoding="utf-8"))
        sums: Mapping[str, str] = content["sha256"]
        expected_records = content["records"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{listing} is not a file that foreknow wrote; publish again, or move it away to continue without the check."
        ) from None
    if key.name not in sums:
        return False
    for name, expected in sums.items():
        path = key.parent / name
        if path.exists() and checksum(path) != expected:
            raise ValueError(
                f"{path} is not the file that was written with {listing}; they are of different runs, or one was changed. "
                "Publish again."
            )
    if checksum(records) != expected_records:
        raise ValueError(
            f"{records} is not the file that {key} was made from: its checksum is not the one in {listing}. Give that "
            "file, or publish again."
        )
    return True


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")
