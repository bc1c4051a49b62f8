"""Packages whose names are imported at their first use."""

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """Package that imports the module of a public name when the name is first read."""

    def __getattr__(self, name: str) -> Any:
        place = self.__dict__["PLACES"].get(name)
        if place is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}.")
        self.__dict__[name] = getattr(import_module(place), name)
        return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        # A submodule that is imported does not hide the function of its name.
        if not (isinstance(value, ModuleType) and name in self.__dict__["PLACES"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["PLACES"]})


def import_lazily(package: str, places: Mapping[str, str]) -> None:
    """Make a package lazy, whose ``__init__`` calls this with the module of each name.

    The ``__init__`` imports the same names under ``if TYPE_CHECKING:``, as type checkers read them; a test compares both.
    """
    module = sys.modules[package]
    module.__dict__["PLACES"] = places
    module.__class__ = LazyPackage
