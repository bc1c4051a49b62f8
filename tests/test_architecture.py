"""Imports point one way, files are deep and few, and every example in a docstring runs."""

import ast
import doctest
import importlib
from collections import Counter, defaultdict
from functools import cache

import pytest
from failing_cases import failing
from places import ROOT

MAY_SEE = {
    "package": {"models", "attacks", "defenses", "evaluation", "app", "testing"},
    "models": {"models"},
    "attacks": {"models", "attacks"},
    "defenses": {"models", "defenses"},
    "evaluation": {"models", "attacks", "defenses", "evaluation"},
    "app": {"models", "attacks", "defenses", "evaluation", "app"},
}
READS_TEXT = {
    "foreknow.app.publication": "names of files",
    "foreknow.evaluation.cells": "sources of Python, for fingerprints of code",
    "foreknow.app.disk.large_table": "names of columns that DuckDB changed",
    "foreknow.app.disk.engine": "paths for DuckDB",
    "foreknow.app.cli.commands.describe_command": "cells, and words in names of columns",
    "foreknow.models.tables.atomic_file": "names of files",
    "foreknow.app.cli.files.register": "labels of published cells",
    "foreknow.models.tables.cell_types": "cells",
    "foreknow.models.tables.table_files": "errors of pandas, bytes of a file",
}
"""Modules that may use regular expressions or parse Python, and what they read: nothing that this package wrote as a sentence."""

MOST_FILES = 20
"""Largest number of files of a folder."""

MOST_LINES, MOST_STATEMENTS, MOST_MODULES = 81_500, 46_000, 280
"""Largest size of the package; its statements are counted together with those of the benchmarks and experiments."""

TAKE_AWAY = "take as much away elsewhere, or raise the limit and say in the commit what the lines are for."

MOST_NAMES = 253
"""Largest number of public names."""

ALONE = {
    "foreknow.evaluation.papers.claims": "a form of its own: claims.toml and the verdicts, which experiments read too",
    "foreknow.app.disk.partition": "an algorithm of its own: the joint law of one partition, by tasks of workers",
    "foreknow.models.joint.noisy_paths": "an algorithm of its own: redraws of whole paths given noisy counts",
    "foreknow.models.joint.graph_parts": "an algorithm of its own: construction of the graph of groups",
}
"""Modules with one importer, in their own folder, and the reason why they are not a part of it."""

FILES = sorted(path for folder in MAY_SEE for path in (ROOT / folder).rglob("*.py"))


def name_of(path):
    """The module of a file; the folder ``package`` is ``foreknow`` itself."""
    first, *rest = path.relative_to(ROOT).with_suffix("").parts
    parts = ("foreknow", *(() if first == "package" else (first,)), *rest)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = [name_of(path) for path in FILES]


@cache
def nodes(path):
    """Every node of a file, which several tests read."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path):
    """Every module a file imports, wherever in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module
            if node.module == "foreknow":
                yield from (f"foreknow.{alias.name}" for alias in node.names)


def test_the_tree_is_found():
    assert {"foreknow.models", "foreknow.models.estimators.exact", "foreknow.attacks.sequential"} < set(MODULES)


def test_imports_point_one_way():
    def check(path):
        folder = path.relative_to(ROOT).parts[0]
        for module in imported(path):
            first, *rest = module.split(".")
            assert first not in MAY_SEE, f"{module} is foreknow.{module}"
            if first == "foreknow" and rest:
                assert rest[0] in MAY_SEE[folder], f"{folder} may not import {module}"

    assert not failing(check, FILES)


def test_no_code_reads_sentences_of_other_code():
    reading = {name for path, name in zip(FILES, MODULES, strict=True) if {"re", "ast"} & set(imported(path))}
    assert reading == set(READS_TEXT)


def test_folders_have_few_files():
    folders = Counter(path.parent for path in FILES)
    assert {path.relative_to(ROOT).as_posix(): number for path, number in folders.items() if number > MOST_FILES} == {}


def test_a_module_has_several_importers_or_public_names():
    """A module that only one other of its folder imports is a part of it, unless it is an algorithm of its own."""
    importers = defaultdict(set)
    for path, name in zip(FILES, MODULES, strict=True):
        for module in imported(path):
            importers[module].add(name)
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    importers[f"{node.module}.{alias.name}"].add(name)
    packages = {name for path, name in zip(FILES, MODULES, strict=True) if path.name == "__init__.py"}
    alone = set()
    for name in set(MODULES) - packages:
        users = importers[name]
        if len(users) == 1 and users.isdisjoint(packages):
            (user,) = users
            if user.rpartition(".")[0] == name.rpartition(".")[0]:
                alone.add(name)
    assert alone == set(ALONE)


def test_the_package_does_not_grow():
    """Lines, files and statements are at most these; a change that needs more takes as much away."""
    benchmarks = sorted(path for folder in ("benchmarks", "experiments") for path in (ROOT / folder).rglob("*.py"))
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in FILES)
    statements = sum(isinstance(node, ast.stmt) for path in [*FILES, *benchmarks] for node in nodes(path))
    for number, most, what in (
        (lines, MOST_LINES, "lines"),
        (statements, MOST_STATEMENTS, "statements"),
        (len(FILES), MOST_MODULES, "files"),
    ):
        assert number <= most, f"the package has {number:,} {what} of at most {most:,}; {TAKE_AWAY}"
    public = ("models", "attacks", "defenses", "evaluation", "app", "app.disk", "testing")
    assert sum(len(importlib.import_module(f"foreknow.{each}").__all__) for each in public) <= MOST_NAMES


def test_doctests():
    def check(module):
        assert doctest.testmod(importlib.import_module(module)).failed == 0

    assert not failing(check, MODULES)


def test_there_are_doctests():
    finder = doctest.DocTestFinder()
    assert sum(len(found.examples) for module in MODULES for found in finder.find(importlib.import_module(module))) > 10


@pytest.mark.parametrize("package", ["models", "evaluation", "app"])
def test_lazy_names_are_those_that_type_checkers_read(package):
    """The ``__init__`` imports a name under ``if TYPE_CHECKING:`` from the module of which ``PLACES`` has it."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If)).body
    places = {alias.asname: node.module for node in typed for alias in node.names}
    assert places == importlib.import_module(f"foreknow.{package}").PLACES
