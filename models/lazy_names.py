"""Packages whose names are imported at their first use."""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """Package that imports the module of a public name when the name is first read.

    Its ``__init__`` imports the names under ``if TYPE_CHECKING:`` alone, as type checkers read them, and calls `import_lazily`.
    """

    def __getattr__(self, name: str) -> Any:
        place = self.__dict__["_places"].get(name)
        if place is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}.")
        self.__dict__[name] = getattr(import_module(place), name)
        return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        # A submodule that is imported does not hide the function of its name.
        if not (isinstance(value, ModuleType) and name in self.__dict__["_places"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_places"]})


def import_lazily(package: str) -> None:
    """Make a package lazy, whose ``__init__`` calls this.

    Parameters
    ----------
    package : str
        Its ``__name__``. The module of each name is read from the statements under ``if TYPE_CHECKING:`` in its source.
    """
    module = sys.modules[package]
    source = module.__loader__.get_source(package)  # type: ignore[union-attr]
    module.__dict__["_places"] = dict(_typed_imports(source))
    module.__class__ = LazyPackage


def _typed_imports(source: str) -> Iterator[tuple[str, str]]:
    """Each name that is imported under ``if TYPE_CHECKING:``, and its module."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.If):
            for each in statement.body:
                if isinstance(each, ast.ImportFrom):
                    yield from ((alias.name, str(each.module)) for alias in each.names)
