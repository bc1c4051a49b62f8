"""Facts about a run that certificates and settings record: versions, settings of a defense, checksums."""

import dataclasses
import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from foreknow.defenses import Defense, NoisyDefense

PACKAGES = ("foreknow", "numpy", "scipy", "pandas", "numba", "duckdb", "pyarrow")
"""Packages whose versions are recorded."""


def settings(defense: Defense | NoisyDefense) -> str:
    """A defense and its settings as text, without its random generator."""
    if not dataclasses.is_dataclass(defense):
        return repr(defense)
    fields = (field.name for field in dataclasses.fields(defense) if field.repr and field.name != "rng")
    given = {name: getattr(defense, name) for name in fields}
    texts = {name: value.__name__ if isinstance(value, type) else repr(value) for name, value in given.items()}
    return f"{type(defense).__name__}({', '.join(f'{name}={text}' for name, text in texts.items())})"


def defense_record(value: Any) -> Any:
    """A defense, or a setting of one, as JSON has it: the name of the class and the settings, without the random generator.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity
    >>> defense_record(KAnonymity(3))
    {'class': 'KAnonymity', 'k': 3}
    """
    if isinstance(value, type):
        return {"class": "type", "name": value.__name__}
    if dataclasses.is_dataclass(value):
        shown = [field.name for field in dataclasses.fields(value) if field.init and field.repr and field.name != "rng"]
        return {"class": type(value).__name__} | {name: defense_record(getattr(value, name)) for name in shown}
    if isinstance(value, Mapping):
        return {"class": "dict", "items": [[defense_record(key), defense_record(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list | set | frozenset):
        return [defense_record(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else {"class": repr(value)}


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits. Cost: one reading of the file, a bounded piece at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
