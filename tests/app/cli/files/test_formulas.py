"""Cells that a spreadsheet would run as formulas."""

import pandas as pd
import pytest

from foreknow.app.cli.files.written_tables import formula_cells, without_formulas


@pytest.mark.parametrize("cell", ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "+", "-"])
def test_formulas_have_an_apostrophe(cell):
    table = pd.DataFrame({"job": [cell, "clerk", cell]})
    assert formula_cells(table) == 2
    assert without_formulas(table)["job"].tolist() == [f"'{cell}", "clerk", f"'{cell}"]


@pytest.mark.parametrize("cell", ["", "flu", "a=b", "[-3,-1]", "-3", "+4.5", "-1e3", "'=1", "*", None, -3, 2.5])
def test_text_and_numbers_stay(cell):
    table = pd.DataFrame({"job": pd.Series([cell, "clerk"], dtype=object), "n": [-1, -2]})
    assert formula_cells(table) == 0
    pd.testing.assert_frame_equal(without_formulas(table), table)


def test_names_of_columns_are_cells_too():
    table = pd.DataFrame({"=job": ["clerk"], "n": [1]})
    assert formula_cells(table) == 1
    assert list(without_formulas(table).columns) == ["'=job", "n"]


def test_nothing_is_left_to_quote():
    table = pd.DataFrame({"a": ["=1", "x"], "@b": ["+", "-2"]})
    assert formula_cells(without_formulas(table)) == 0
    assert table["a"].tolist() == ["=1", "x"]
