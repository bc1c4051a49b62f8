"""Settings on which a result on disk depends: their checksums, and the names of those that differ."""

import hashlib
import pickle
from collections.abc import Mapping
from typing import Any

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
