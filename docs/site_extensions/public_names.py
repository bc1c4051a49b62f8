"""Public names of foreknow, and the rows about them in the tables of docs/reference."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import foreknow

DOCS = Path(__file__).resolve().parents[1]

PACKAGES = (
    "foreknow.models",
    "foreknow.attacks",
    "foreknow.defenses",
    "foreknow.evaluation",
    "foreknow.app",
    "foreknow.app.disk",
    "foreknow.testing",
)

EXTERNAL = (
    "arviz",
    "arviz_plots",
    "matplotlib",
    "networkx",
    "nutpie",
    "numpy",
    "pandas",
    "pymc",
    "pytensor",
    "scipy",
    "xarray",
)
"""Packages whose names are not links: the build has no network."""


@cache
def public_names() -> dict[str, str]:
    """Full name of each public name: ``{"Exact": "foreknow.models.Exact"}``."""
    return {name: f"{package}.{name}" for package in PACKAGES for name in import_module(package).__all__}


def page_name(full_name: str) -> str:
    """Name of the page: unlike that of the class `Links`, the page of the function `links`, where file systems ignore case."""
    twins = [other for other in public_names().values() if other.lower() == full_name.lower()]
    return full_name if full_name == min(twins) else f"{full_name}-function"


def public_object(full_name: str) -> Any:
    """Object of a full name of `public_names`."""
    package, _, name = full_name.rpartition(".")
    return getattr(import_module(package), name)


@cache
def names_of_modules() -> frozenset[str]:
    """Names that the modules of foreknow define, public or not."""
    modules = [module.name for module in walk_packages(foreknow.__path__, "foreknow.")]
    return frozenset(name for module in modules for name in vars(import_module(module)))


def is_importable(dotted: str) -> bool:
    """True if a dotted name is a module, or an attribute of one or of a class."""
    parts = dotted.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:depth]))
        except ImportError:
            continue
        return _has_attributes(found, parts[depth:])
    return False


def _has_attributes(found: ModuleType | Any, names: list[str]) -> bool:
    for name in names:
        if name in getattr(found, "__dataclass_fields__", {}) or name in getattr(found, "__annotations__", {}):
            return True
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def choices() -> dict[str, tuple[Path, dict[str, str]]]:
    """Page and row of each name in a table of choices of docs/reference: the cells by the heads of their columns."""
    found: dict[str, tuple[Path, dict[str, str]]] = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        heads: list[str] = []
        for line in page.read_text(encoding="utf-8").splitlines():
            if not line.startswith("|"):
                heads = []
                continue
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not heads:
                heads = cells
            elif "use it when" in heads and (name := re.match(r"`(\w+)", cells[0])):
                found[name[1]] = (page, dict(zip(heads[1:], cells[1:], strict=True)))
    return found
