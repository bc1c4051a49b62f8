"""Checksums that tell which files belong to one publication.

The public table has ``release.json`` beside it, which says how it was made and tells nothing private: not the seed, nothing of the
records or of the groups, whose checksums would confirm a guess. The key has ``key.json`` beside it, with the checksums of all.
"""

import dataclasses
import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foreknow.defenses import Defense
from foreknow.models import Release

RELEASE, KEY = "release.json", "key.json"


def settings(defense: Defense) -> str:
    """A defense with its settings, without the generator it draws from."""
    if not dataclasses.is_dataclass(defense):
        return repr(defense)
    shown = [field.name for field in dataclasses.fields(defense) if field.repr and field.name != "rng"]
    return f"{type(defense).__name__}({', '.join(f'{name}={_named(getattr(defense, name))}' for name in shown)})"


def write_release(published: Path, releases: Iterable[Release], defense: Defense) -> None:
    """Write ``release.json`` beside a published table: program, defense, times and the table's checksum."""
    times = [str(release.time) for release in releases]
    made = {
        "program": _program(),
        "defense": settings(defense),
        "times": times,
        "sha256": {published.name: checksum(published)},
    }
    _write(published.parent / RELEASE, made)


def write_key(key: Path, published: Path, records: Path) -> None:
    """Write ``key.json`` beside the key: the checksums of the key, of the public files and of the records."""
    public = [published, published.parent / RELEASE]
    sums = {key.name: checksum(key)} | {
        path.relative_to(key.parent, walk_up=True).as_posix(): checksum(path) for path in public
    }
    target = key.parent / KEY
    target.touch(mode=0o600)
    _write(target, {"program": _program(), "sha256": sums, "records": checksum(records)})


def check_key(key: Path, records: Path) -> bool:
    """Whether ``key.json`` lists a key; if so, the key, the public files where they still are, and the records must be those.

    Raises
    ------
    ValueError
        If a checksum differs, or ``key.json`` cannot be read.
    """
    told = key.parent / KEY
    if not told.exists():
        return False
    try:
        found = json.loads(told.read_text(encoding="utf-8"))
        sums: Mapping[str, str] = found["sha256"]
        made_from = found["records"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{told} is not what foreknow writes; publish again, or move it away to go on unchecked."
        ) from None
    if key.name not in sums:
        return False
    for name, expected in sums.items():
        path = key.parent / name
        if path.exists() and checksum(path) != expected:
            raise ValueError(
                f"{path} is not the file that was written with {told}; they are of different runs, or one was changed. "
                "Publish again."
            )
    if checksum(records) != made_from:
        raise ValueError(
            f"{records} is not the file that {key} was made from: its checksum is not the one in {told}. Give that "
            "file, or publish again."
        )
    return True


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _program() -> str:
    try:
        return f"foreknow {importlib.metadata.version('foreknow')}"
    except importlib.metadata.PackageNotFoundError:
        return "foreknow"


def _named(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else repr(value)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")
