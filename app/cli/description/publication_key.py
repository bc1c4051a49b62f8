"""Recognition of the key of a publication: a file that the manifest of its private folder lists."""

from pathlib import Path

from foreknow.evaluation.checks.manifest import MANIFEST, read_json

MAX_DEPTH = 3
"""Number of folders above a file in which a manifest is sought: a key in parts is in ``private/records/release-0000``."""

TABLES = (".csv", ".parquet")
"""Endings of the names of tables."""


def publication_key(path: Path) -> Path | None:
    """The key to which a file belongs, as ``--groups`` names it: the file, or the folder of a publication from disk.

    None if no manifest above the file lists it, or it is not in the private folder.
    """
    if path.suffix.lower() not in TABLES:
        return None
    for folder in list(path.parents)[:MAX_DEPTH]:
        if (folder / MANIFEST).is_file():
            return (path if path.parent == folder else folder.parent) if _lists(folder, path) else None
    return None


def _lists(folder: Path, path: Path) -> bool:
    """Return whether the manifest in a folder lists a file within the folder."""
    try:
        return path.relative_to(folder).as_posix() in read_json(folder / MANIFEST)["sha256"]
    except (ValueError, KeyError, TypeError):
        return False
