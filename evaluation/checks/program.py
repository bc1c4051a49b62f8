"""Facts about a run that certificates and settings record: versions, settings of a defense, checksums."""

import dataclasses
import hashlib
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

from foreknow.defenses import Defense

PACKAGES = ("foreknow", "numpy", "scipy", "pandas", "numba", "duckdb", "pyarrow")
"""Packages whose versions are recorded."""


def settings(defense: Defense) -> str:
    """A defense and its settings as text, without its random generator."""
    if not dataclasses.is_dataclass(defense):
        return repr(defense)
    shown = [field.name for field in dataclasses.fields(defense) if field.repr and field.name != "rng"]
    return f"{type(defense).__name__}({', '.join(f'{name}={_setting(getattr(defense, name))}' for name in shown)})"


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


def _setting(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else repr(value)
