"""Each change of a public name, a parameter, a default or an option is seen in tests/public_api.txt."""

import difflib
import inspect
import re
from importlib import import_module

import pytest
from places import ROOT
from public_api import FILE, PACKAGES, Default, name_lines, parameters, public_api

from foreknow.models import Adversary, Exact


def test_the_public_names_are_those_of_the_file():
    changes = [*difflib.unified_diff(FILE.read_text(encoding="utf-8").splitlines(), public_api().splitlines(), n=0)]
    assert not changes, "run `python tests/public_api.py`, and review the diff: " + "; ".join(changes[3:23])


def test_stable_names_are_public_and_each_package_is_on_the_page():
    page = (ROOT / "docs" / "reference" / "stable-names.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)`[^|]*\| (`.*`) \|$", page, re.MULTILINE)
    stay = [(package, name) for package, names in rows for name in re.findall(r"`(\w+)`", names)]
    assert {package for package, _ in stay} == {*PACKAGES} - {"foreknow", "foreknow.app", "foreknow.app.disk"}
    assert len(set(stay)) == len(stay)
    assert [name for package, name in stay if name not in import_module(package).__all__] == []
    assert {"foreknow.app", "foreknow.app.disk"} <= set(re.findall(r"`(foreknow[\w.]*)`", page))


def renamed(prior, count=3):
    """A function whose parameters the next test changes."""


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda given: given, "renamed(prior, count=3)"),
        (lambda given: [given[0].replace(name="priors"), given[1]], "renamed(priors, count=3)"),
        (lambda given: [given[0], given[1].replace(default=4)], "renamed(prior, count=4)"),
        (lambda given: [given[0], given[1].replace(kind=inspect.Parameter.KEYWORD_ONLY)], "renamed(prior, *, count=3)"),
    ],
)
def test_names_kinds_and_defaults_of_parameters_are_written(change, line, monkeypatch):
    signature = inspect.Signature(change([*inspect.signature(renamed).parameters.values()]))
    monkeypatch.setattr(renamed, "__signature__", signature, raising=False)
    assert [*name_lines("renamed", renamed)] == [line]


def test_defaults_that_a_factory_makes_are_written():
    assert "estimator=Auto(limit=" in parameters(Adversary)
    assert next(name_lines("Exact", Exact)) == "class Exact(limit=4194304)"
    assert repr(Default(Exact)) == "Exact"
