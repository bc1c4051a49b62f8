"""Conversion of columns of any pandas type to plain values, without rounding."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foreknow.models.tables.columns import describe_missing, plain_column, plain_value

LARGE = 2**53 + 1
"""An integer that float64 does not represent."""


def arrow(cells, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(cells, type=kind)])))


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pd.Series([LARGE, 2], dtype="Int64"), [LARGE, 2]),
        (pd.Series([LARGE, None], dtype="Int64"), [LARGE, pd.NA]),
        (pd.Series([True, False], dtype="boolean"), [True, False]),
        (pd.Series([0.1, 2.0], dtype="Float64"), [0.1, 2.0]),
        (pd.Series(["a", None], dtype="string"), ["a", pd.NA]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["b", "a", "b"]),
        (pd.Series([LARGE, 1], dtype="category"), [LARGE, 1]),
        (pd.Series([0, LARGE], dtype="Sparse[int64]"), [0, LARGE]),
        (arrow([LARGE, None], pa.int64()), [LARGE, pd.NA]),
        (arrow([LARGE, 1], pa.int64()), [LARGE, 1]),
        (arrow([Decimal("0.10")], pa.decimal128(5, 2)), [Decimal("0.10")]),
        (arrow(["a", "b"], pa.dictionary(pa.int8(), pa.string())), ["a", "b"]),
        (pd.Series([np.str_("a"), np.int64(2), np.float64(0.5)], dtype=object), ["a", 2, 0.5]),
        (pd.Series([1.0, 2, 0.5], dtype=object), [1, 2, 0.5]),
        (pd.Series([np.datetime64("2020-01-01"), None], dtype=object), [pd.Timestamp("2020-01-01"), None]),
    ],
)
def test_cells_and_their_types_are_kept(column, cells):
    column = column.rename("x").set_axis(range(5, 5 + len(column)), axis=0)
    found = plain_column(column, "the table")
    assert isinstance(found.dtype, np.dtype)
    assert found.name == "x"
    assert found.index.equals(column.index)
    for cell, expected in zip(found.tolist(), cells, strict=True):
        assert type(cell) is type(expected)
        assert cell is expected or cell == expected


@pytest.mark.parametrize("column", [pd.Series([1, 2]), pd.Series(["a"], dtype="str"), pd.Series(["a"], dtype=object)])
def test_plain_columns_are_not_copied(column):
    assert np.shares_memory(plain_column(column, "the table").to_numpy(), column.to_numpy()) or column.dtype == "str"


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (["a", [1]], r"the column 'x' of the table holds lists, as \[1\] in row 1; a cell is one value. Split"),
        ([("a", [1])], r"holds tuples, as \('a', \[1\]\) in row 0"),
        ([{"a": 1}], "holds dicts"),
        ([np.array([1])], "holds ndarrays"),
        ([0, None, True], "mixes truth values and numbers: True in row 2, 0 in row 0. True equals 1"),
        ([np.bool_(True), 1.0], "mixes truth values and numbers: True in row 0, 1.0 in row 1"),
        (["a", "\ud800"], "holds '.*ud800' in row 1, which is not Unicode text"),
    ],
)
def test_what_is_not_one_value_is_one_clear_error(cells, match):
    column = pd.Series([None] * len(cells), dtype=object, name="x")
    column[:] = cells
    with pytest.raises(ValueError, match=match):
        plain_column(column, "the table")


def test_truth_values_beside_missing_ones_are_fine():
    assert plain_column(pd.Series([True, None, np.nan], dtype=object), "the table").tolist()[0] is True


def test_numpy_scalars_become_python_values():
    assert [type(plain_value(value)) for value in np.array(["a", "b"])] == [str, str]
    assert type(plain_value(np.longdouble(0.5))) is float
    assert plain_value(np.timedelta64(1, "h")) == pd.Timedelta("1h")
    assert plain_value("a") == "a"


def test_rows_without_a_cell_are_listed():
    assert describe_missing(np.array([False, True]), "age") == "row 1 has no 'age'"
    assert (
        describe_missing(np.array([True, True]), "age", "the view at 2") == "rows 0, 1 of the view at 2 have no 'age'"
    )
    assert describe_missing(np.ones(8, dtype=bool), "age") == "rows 0, 1, 2, 3, 4 and 3 more have no 'age'"
