"""Settings and versions on which a result on disk depends: their checksums, and the names of those that differ."""

import hashlib
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foreknow.evaluation.checks.program import versions

UNKNOWN = "not written"
"""Checksum of an object that cannot be pickled, as one with a lambda; it equals no other, not even itself."""

LABELS = {
    "program": "version of foreknow",
    "files": "input",
    "adversary": "adversary (or one that cannot be pickled)",
    "attack": "attack (or one that cannot be pickled)",
}
"""Names of settings in messages, where they differ from those in the files."""


def object_checksum(content: object) -> str:
    """SHA-256 of the pickled bytes of an object, or `UNKNOWN`."""
    try:
        return hashlib.sha256(pickle.dumps(content)).hexdigest()
    except (pickle.PicklingError, AttributeError, TypeError):
        return UNKNOWN


def differing_settings(kept: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Names of the settings in which those of an interrupted run differ from the given ones."""
    return [name for name, value in given.items() if name not in kept or kept[name] == UNKNOWN or kept[name] != value]


def others_text(names: list[str]) -> str:
    """The names of settings that differ, in words."""
    return " and ".join(f"another {LABELS.get(name, name)}" for name in names)


def check_versions(owner: str, folder: Path, kept: object) -> None:
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
