"""Imports point one way, and every example in a docstring runs."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_SEE = {
    "models": {"models"},
    "attacks": {"models", "attacks"},
    "defenses": {"models", "defenses"},
    "evaluation": {"models", "attacks", "defenses", "evaluation"},
}
FILES = sorted(path for folder in MAY_SEE for path in (ROOT / folder).rglob("*.py"))


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("foreknow", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = [name_of(path) for path in FILES]


def imported(path):
    """Every module a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module
            if node.module == "foreknow":
                yield from (f"foreknow.{alias.name}" for alias in node.names)


def test_the_tree_is_found():
    assert {"foreknow.models", "foreknow.models.estimators.exact", "foreknow.attacks.sequential"} < set(MODULES)


@pytest.mark.parametrize("path", FILES, ids=MODULES)
def test_imports_point_one_way(path):
    folder = path.relative_to(ROOT).parts[0]
    for module in imported(path):
        first, *rest = module.split(".")
        assert first not in MAY_SEE, f"{module} is foreknow.{module}"
        if first == "foreknow" and rest:
            assert rest[0] in MAY_SEE[folder], f"{folder} may not import {module}"


@pytest.mark.parametrize("module", MODULES)
def test_doctests(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_some_doctests_ran():
    assert sum(doctest.testmod(importlib.import_module(module)).attempted for module in MODULES) > 10
