"""Wrong arguments: every public constructor and function of the tables ends in one TypeError or ValueError of this package."""

import datetime
import traceback
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_errors import is_own
from strategies import frame_of, history_of

from foreknow.models import (
    Categorical,
    Grouping,
    Hierarchy,
    History,
    Numeric,
    PublishedTable,
    Release,
    Schema,
    View,
)
from foreknow.models.tables.table_files import read_table

pytestmark = pytest.mark.slow

ROWS = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]
TREE = Hierarchy(ROWS)
HISTORY = history_of(("AB", "ab"), ("BC", "bc"))
VIEW, SCHEMA = HISTORY[0], HISTORY.schema
FRAME = frame_of("AB", "ab").assign(week=[1, 2])
GROUPING = Grouping(np.array([0, 0]))
RELEASE = Release(VIEW, GROUPING)
PRINTED = pd.DataFrame({"group": [1, 1], "age": [3, 4], "result": ["a", "b"]})
IDENTIFIERS, VALUES = RELEASE.tables

CALLS = {
    "Numeric": (Numeric, {"low": 0, "high": 9}),
    "Categorical": (Categorical, {"values": ("a", "b"), "hierarchy": TREE}),
    "Schema": (
        Schema,
        {"quasi_identifiers": {"age": Numeric()}, "sensitive": "result", "values": ("a", "b"), "respondent": "id"},
    ),
    "Schema.infer": (
        Schema.infer,
        {"frame": FRAME, "quasi_identifiers": ["age"], "sensitive": "result", "respondent": "id"},
    ),
    "View": (View, {"frame": FRAME, "schema": SCHEMA, "time": 1}),
    "History": (History, {"views": [VIEW]}),
    "History.read": (History.read, {"source": FRAME, "schema": SCHEMA, "time": "week", "encoding": "utf-8"}),
    "History.until": (HISTORY.until, {"time": 2}),
    "History.of": (HISTORY.of, {"respondents": ["A"]}),
    "Grouping": (
        Grouping,
        {
            "labels": np.array([0, 0]),
            "values": np.array([0, 1]),
            "counterfeits": np.array([[0, 1]]),
            "notes": ("a",),
            "bucketized": True,
        },
    ),
    "Grouping.renumbered": (GROUPING.renumbered, {"rng": 1}),
    "Release": (Release, {"view": VIEW, "grouping": GROUPING}),
    "Hierarchy": (Hierarchy, {"rows": ROWS}),
    "Hierarchy.from_graph": (Hierarchy.from_graph, {"graph": nx.DiGraph([("*", "a")])}),
    "Hierarchy.flat": (Hierarchy.flat, {"values": ["a"]}),
    "Hierarchy.generalize": (TREE.generalize, {"values": ["a", "b"]}),
    "Hierarchy.read": (Hierarchy.read, {"path": __file__, "separator": ";", "encoding": "utf-8"}),
    "PublishedTable": (
        PublishedTable,
        {
            "frame": PRINTED,
            "sensitive": "result",
            "group": "group",
            "quasi_identifiers": ["age"],
            "time": 1,
            "counterfeits": False,
        },
    ),
    "PublishedTable, two tables": (
        PublishedTable,
        {"frame": IDENTIFIERS, "sensitive": "result", "group": "group", "values": VALUES, "counterfeits": True},
    ),
    "read_table": (read_table, {"path": "no.csv", "text": ["id"], "encoding": "utf-8", "missing": [""]}),
}
"""Each constructor and function, with valid arguments."""

WRONG = (
    *(None, pd.NA, pd.NaT, np.nan, np.inf, True, False, 0, 1, -1, 1.5, 2**53 + 1, 2**63, 10**400, 1j),
    *("", "a", "age", "group", "no.csv", "\x00.csv", "x" * 5000 + ".csv", b"a", Path("no.parquet"), datetime.date(2020, 1, 1)),
    *([], [0], [0, 0], [0.5, 1], [[0, 1]], [[0], [1, 2]], ["a", "b"], ["age"], [None], [[]], [()], [["a"]], [10**400, 1]),
    *((), ("a", 1), {}, {"age": 1}, {"age": Numeric()}, {"age": Numeric(), None: Numeric()}, {1}, frozenset({"a"})),
    *(object, object(), len, iter("ab"), range(2), slice(0, 1), np.float64(1), np.bool_(True), np.random.default_rng(1)),
    *(np.array(1), np.array([0, 0]), np.array([0, np.nan]), np.array(["a", "b"]), np.array([None, 1]), np.zeros((2, 2))),
    *(np.zeros((2, 1, 1)), np.array([True, False]), np.array([2**63], dtype=np.uint64), np.array([1 + 1j, 0])),
    *(FRAME, FRAME.iloc[:0], FRAME.set_axis([0, 1, 2, 3], axis=1), pd.DataFrame(), pd.Series(["a", "b"]), FRAME["age"]),
    *(PRINTED, VALUES, FRAME.assign(result=[[1], [2]])),
    *(Numeric(), Categorical(("a", "b")), TREE, SCHEMA, VIEW, HISTORY, GROUPING, RELEASE, RELEASE.observation, VIEW.people),
    *(Schema({"age": Categorical((30, 40))}, "result", ("a",)), Schema({"id": Numeric()}, "age", (1, 2), "result")),
    *(nx.DiGraph(), nx.DiGraph([("a", "b"), ("b", "a")]), nx.Graph([("a", "b")]), nx.MultiDiGraph([("*", "a"), ("*", "a")])),
)  # fmt: skip


def error_of(name, arguments):
    """The error of a call, or None. A file that does not exist is no wrong argument."""
    call, _ = CALLS[name]
    try:
        call(**arguments)
    except FileNotFoundError:
        return None
    except Exception as error:
        return error
    return None


def check(name, arguments):
    """Assert that a call returns, or raises an error that this package words."""
    error = error_of(name, arguments)
    shown = {key: type(value).__name__ for key, value in arguments.items()}
    assert error is None or is_own(error), f"{name}({shown})\n{''.join(traceback.format_exception(error))}"
    assert error is None or len(str(error)) > 20, str(error)


@pytest.mark.parametrize("name", CALLS)
def test_the_valid_arguments_are_accepted(name):
    call, arguments = CALLS[name]
    if name == "read_table":
        pytest.skip("the file does not exist")
    if name == "Hierarchy.read":
        with pytest.raises(ValueError, match="test_wrong_arguments"):
            call(**arguments)
        return
    call(**arguments)


@pytest.mark.parametrize("name", CALLS)
def test_one_wrong_argument(name):
    _, valid = CALLS[name]
    for key in valid:
        for wrong in WRONG:
            check(name, valid | {key: wrong})


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_several_wrong_arguments(data):
    name = data.draw(st.sampled_from(sorted(CALLS)))
    _, valid = CALLS[name]
    wrong = data.draw(st.dictionaries(st.sampled_from(sorted(valid)), st.sampled_from(range(len(WRONG))), min_size=1))
    check(name, valid | {key: WRONG[number] for key, number in wrong.items()})


MESSAGES = {
    "Numeric": (
        {"low": "3"}, ValueError, "Numeric: low is '3'; a bound of the domain is a number from -2**53 to 2**53, or left out.",
    ),
    "Categorical": (
        {"values": {"a", "b"}},
        TypeError,
        "a Categorical quasi-identifier has its values given as a set; list the values of its domain in order, as ['a', 'b'].",
    ),
    "Schema": ({"sensitive": None}, TypeError, "Schema: sensitive is None; it is the name of a column, as 'result'."),
    "View": (
        {"time": None}, ValueError, "View: time is None; it is a value that can be ordered, as a number, a date or a text.",
    ),
    "History": (
        {"views": FRAME},
        TypeError,
        "History: one of the views is 'id'; it is a View, as View(frame, schema, time); read one table of all records with "
        "History.read.",
    ),
    "History.read": (
        {"source": None}, TypeError, "History.read: source is None; it is a DataFrame, or the path of a .csv or .parquet file.",
    ),
    "History.of": (
        {"respondents": "A"},
        TypeError,
        "History.of: respondents is 'A'; it is a list of respondents, as some of history.respondents.",
    ),
    "History.until": (
        {"time": "2"}, ValueError, "History.until: no view is of '2' or before; the first is of 1.",
    ),
    "Grouping": (
        {"labels": [[0], [0, 1]]},
        TypeError,
        "the labels of a grouping must be an array of integers, one label per record, from -1 (suppressed) on; got [[0], [0, 1]].",
    ),
    "Grouping.renumbered": (
        {"rng": -1}, ValueError, "Grouping.renumbered: rng is -1; a seed is an integer of at least 0.",
    ),
    "Release": (
        {"view": 3}, TypeError, "Release: view is 3; it is a View, as View(frame, schema, time) or history[0].",
    ),
    "Hierarchy": (
        {"rows": ["ax*"]},
        TypeError,
        "a row of a hierarchy is 'ax*'; give one sequence of labels per value, from the value to the root, as [('flu', "
        "'airways', '*')].",
    ),
    "PublishedTable": (
        {"group": None},
        ValueError,
        "the table has no column None; it has 'group', 'age', 'result'. Rename the column, or name another in the schema.",
    ),
}  # fmt: skip
"""One exact message of each: wrong argument, kind of error, text."""


@pytest.mark.parametrize("name", MESSAGES)
def test_the_message_says_rule_value_place_and_way_out(name):
    wrong, kind, text = MESSAGES[name]
    _, valid = CALLS[name]
    error = error_of(name, valid | wrong)
    assert type(error) is kind
    assert str(error) == text


@pytest.mark.parametrize("time", [np.nan, pd.NaT, float("nan")])
def test_a_missing_time_has_no_place_in_an_order(time):
    with pytest.raises(ValueError, match=r"View: time is .*; it is a value that can be ordered"):
        View(FRAME, SCHEMA, time)


def test_a_history_reads_a_csv_in_its_encoding(tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes("id,week,age,result\nZoé,1,30,a\n".encode("latin-1"))
    assert History.read(path, SCHEMA, encoding="latin-1").respondents == ("Zoé",)
    with pytest.raises(ValueError, match=r"is not utf-8; with encoding='cp1252', .* reads 'Zoé'"):
        History.read(path, SCHEMA)


def test_a_generator_and_its_seed_renumber_alike():
    grouping = Grouping(np.arange(20))
    seeded, drawn = grouping.renumbered(3), grouping.renumbered(np.random.default_rng(3))
    assert np.array_equal(seeded.labels, drawn.labels)
