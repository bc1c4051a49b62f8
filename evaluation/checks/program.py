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
from foreknow.models import MarkovChain

PACKAGES = ("foreknow", "numpy", "scipy", "pandas", "numba", "duckdb", "pyarrow")
"""Packages whose versions are recorded."""


def settings(defense: Defense | NoisyDefense, public: bool = False) -> str:
    """A defense and its settings as text, without its random generator; for the ``public`` without its chain.

    A chain may be counted from the records, and its digits tell each count.
    """
    if not dataclasses.is_dataclass(defense):
        return repr(defense)
    fields = (field.name for field in dataclasses.fields(defense) if field.repr and field.name != "rng")
    given = {name: getattr(defense, name) for name in fields}
    texts = {name: value.__name__ if isinstance(value, type) else repr(value) for name, value in given.items()}
    texts |= {name: "not published" for name, value in given.items() if public and isinstance(value, MarkovChain)}
    return f"{type(defense).__name__}({', '.join(f'{name}={text}' for name, text in texts.items())})"


def defense_record(value: Any, public: bool = False) -> Any:
    """A defense, or a setting of one, as JSON has it: the name of the class and the settings, as in `settings`.

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
        own = {name: getattr(value, name) for name in shown}
        told = {name: each for name, each in own.items() if not (public and isinstance(each, MarkovChain))}
        return {"class": type(value).__name__} | {name: defense_record(each, public) for name, each in told.items()}
    if isinstance(value, Mapping):
        pairs = [[defense_record(part, public) for part in item] for item in value.items()]
        return {"class": "dict", "items": pairs}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list | set | frozenset):
        return [defense_record(each, public) for each in value]
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
