"""Tables of unusual types, cells, indices and column names are either processed or refused by one error of this package."""

import datetime as dt
import traceback
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from own_errors import is_own

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import Infeasible, KAnonymity, Mondrian, publish
from foreknow.models import Adversary, History, PublishedTable, RandomWorlds, Schema, UniformPrior

MISSING = (None, np.nan, pd.NA, pd.NaT)
CELLS = (
    *(0, 1, 2, -3, 2**53, 2**53 + 1, -(2**63), 2**63, 2**70, 10**400, 0.5, 1.0, -0.0, 1e308, -1e308, 5e-324),
    *(
        np.inf,
        -np.inf,
        True,
        False,
        "a",
        "b",
        "1",
        "1.0",
        "",
        " ",
        "nan",
        "inf",
        "9007199254740993",
        "\x00",
        "é",
        "\ud800",
    ),
    *(
        b"a",
        1j,
        Decimal("0.1"),
        Decimal("1e400"),
        Decimal("NaN"),
        dt.date(2020, 1, 1),
        dt.datetime(2020, 1, 1, 3),
        dt.time(3),
    ),
    *(pd.Timestamp("2020"), pd.Timestamp("2020", tz="UTC"), pd.Timedelta("1h"), pd.Period("2020"), pd.Interval(0, 1)),
    *(
        np.str_("a"),
        np.int64(1),
        np.float64(1),
        np.float32(0.1),
        np.bool_(True),
        np.datetime64("2020-01-01"),
        np.longdouble(1),
    ),
    *((1, 2), ("a",), (), [1], {"a": 1}, {1}, np.array([1, 2]), ([1],), frozenset({1}), slice(1), object, *MISSING),
)
SIMPLE = {
    "ints": st.integers(0, 3), "large": st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 5]),
    "floats": st.sampled_from([0.5, 1.0, 2.0, np.inf]),
    "texts": st.sampled_from(["a", "b", "c"]), "digits": st.sampled_from(["1", "2", "10"]), "truths": st.booleans(),
    "dates": st.sampled_from([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02 03:04")]),
    "mixed": st.sampled_from(CELLS),
}  # fmt: skip
TYPES = {
    "ints": ["int8", "int64", "uint64", "float32", "float64", "Int64", "UInt8", "Float64", "int64[pyarrow]", "double[pyarrow]",
             "category", "Sparse[int64]", "object", "complex128", "timedelta64[ns]", "m8[s]", "string", "decimal"],
    "large": ["int64", "Int64", "int64[pyarrow]", "object", "category", "str", "uint64[pyarrow]"],
    "floats": ["float64", "Float64", "double[pyarrow]", "object", "category", "Sparse[float64]", "longdouble"],
    "texts": ["str", "object", "string", "string[pyarrow]", "category", "ordered", "dictionary",
              "large_string[pyarrow]", "arrow_string"],
    "digits": ["str", "object", "string[pyarrow]", "category", "ordered", "dictionary"],
    "truths": ["bool", "boolean", "bool[pyarrow]", "object", "category"],
    "dates": ["datetime64[ns]", "datetime64[s]", "object", "timestamp[us][pyarrow]", "category", "date32[pyarrow]", "UTC",
              "period[D]"],
    "mixed": ["object"],
}  # fmt: skip


def cast(cells, dtype):
    """A column of a dtype given by name; an object column if the dtype cannot hold the cells."""
    column = pd.Series(cells, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if dtype == "ordered":
                return column.astype(pd.CategoricalDtype(["c", "b", "a", "10", "2", "1"], ordered=True))
            if dtype == "dictionary":
                return pd.Series(
                    pd.arrays.ArrowExtensionArray(
                        pa.chunked_array([pa.array(cells, from_pandas=True).dictionary_encode()])
                    )
                )
            if dtype == "decimal":
                return column.astype(pd.ArrowDtype(pa.decimal128(8, 2)))
            if dtype == "arrow_string":
                return column.astype(pd.ArrowDtype(pa.string()))
            if dtype == "UTC":
                return pd.to_datetime(column).dt.tz_localize("UTC")
            if dtype == "date32[pyarrow]":
                return pd.to_datetime(column).dt.date.astype(pd.ArrowDtype(pa.date32()))
            return column.astype(np.longdouble if dtype == "longdouble" else dtype)
        except (TypeError, ValueError, pa.ArrowException, OverflowError, AttributeError):
            return column


@st.composite
def columns(draw, n, gaps=True):
    kind = draw(st.sampled_from(sorted(SIMPLE)))
    cells = [draw(SIMPLE[kind]) for _ in range(n)]
    if gaps and draw(st.integers(0, 5)) == 0:
        cells[draw(st.integers(0, n - 1))] = draw(st.sampled_from(MISSING))
    return cast(cells, draw(st.sampled_from(TYPES[kind])))


@st.composite
def hostile_tables(draw):
    """A table with the columns id, week, age, town and result, each of any type; ids and weeks are often valid."""
    n = draw(st.integers(1, 7))
    parts = {name: draw(columns(n)) for name in ("age", "town", "result")}
    parts["id"] = draw(columns(n)) if draw(st.booleans()) else pd.Series(range(n))
    parts["week"] = draw(columns(n)) if draw(st.booleans()) else pd.Series([row % 2 for row in range(n)])
    frame = pd.concat([parts[name].rename(name) for name in draw(st.permutations(sorted(parts)))], axis=1)
    change = draw(
        st.sampled_from(["", "", "", "twice", "levels", "index", "repeated index", "other twice", "names", "attrs"])
    )
    if change == "twice":
        return pd.concat([frame, frame[[draw(st.sampled_from(sorted(parts)))]]], axis=1)
    if change == "levels":
        return frame.set_axis(pd.MultiIndex.from_product([["x"], frame.columns]), axis=1)
    if change == "index":
        return frame.set_axis(pd.Index(range(n), name=draw(st.sampled_from(sorted(parts)))), axis=0)
    if change == "repeated index":
        return frame.set_axis(pd.Index([0] * n), axis=0)
    if change == "other twice":
        return pd.concat(
            [frame, frame[["age"]].set_axis(["x"], axis=1), frame[["age"]].set_axis(["x"], axis=1)], axis=1
        )
    return frame.rename_axis(columns="week") if change == "names" else frame


def check(error, frame):
    """Assert that the error is from this package and names a column or a respondent's cell."""
    assert is_own(error), "".join(traceback.format_exception(error))
    names = [repr(name) for name in frame.columns]
    words = ("respondent", "column", "time", "record", "quasi_identifiers", "levels", "row")
    assert any(word in str(error) for word in (*names, *words)), str(error)


@settings(max_examples=200)
@given(hostile_tables())
def test_a_history_is_published_and_attacked_or_refused_clearly(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            schema = Schema.infer(frame, ["age", "town"])
            history = History.read(frame, schema)
            releases = publish(history, Mondrian(KAnonymity(1)))
        except Infeasible:
            return
        except Exception as error:
            check(error, frame)
            return
        beliefs = SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds()))(releases)
        try:
            tree = beliefs.to_datatree()
        except ValueError as error:
            if "cannot be saved" not in str(error):
                raise
            return
    assert sum(len(release.table) for release in releases) == len(frame)
    assert len(tree["posterior"]["release"]) == len(history)
    assert not any(isinstance(value, np.generic) for value in (*history.schema.values, *history.times))
    for release in releases:
        for name in ("age", "town", "result"):
            assert not any(isinstance(cell, np.generic) for cell in release.table[name].tolist())


@settings(max_examples=150)
@given(hostile_tables(), st.booleans())
def test_a_published_table_is_read_or_refused_clearly(frame, invented):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            table = PublishedTable(
                frame, sensitive="result", group="week", quasi_identifiers=["age", "town"], counterfeits=invented
            )
        except Exception as error:
            check(error, frame)
            return
    assert table.observation.counts.sum() == len(frame)
