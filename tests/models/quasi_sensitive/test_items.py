"""Items read from the cells of a column."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models import Items
from foreknow.models.quasi_sensitive.items import item_set

SETS = st.lists(st.frozensets(st.integers(0, 9)), max_size=6)


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("cough, dry mouth ,cough,,", ("cough", "dry mouth")),
        (["cough ", "fever", "cough"], ("cough", "fever")),
        (("fever", 3), ("fever", 3)),
        ({"fever", "cough"}, ("cough", "fever")),
        (np.array(["fever", "cough"]), ("fever", "cough")),
        (pd.Series(["fever", "cough"]), ("fever", "cough")),
        (["", None, float("nan"), "cough", pd.NA, pd.NaT, np.float32("nan")], ("cough",)),
        ("", ()),
        (" , ", ()),
        (None, ()),
        (float("nan"), ()),
        (pd.NA, ()),
        ([], ()),
    ],
)
def test_a_cell(cell, items):
    assert item_set(cell) == items
    assert list(Items.from_cells([cell])) == [items]


def test_another_separator():
    assert item_set("dry, hot; cough", ";") == ("dry, hot", "cough")


@pytest.mark.parametrize("cell", [3, 2.5, True, b"cough", pd.Timestamp("2020-01-01")])
def test_a_cell_that_is_no_collection_is_refused(cell):
    with pytest.raises(TypeError, match=r"row 1 has the items .*\['cough', 'fever'\]"):
        Items.from_cells(["cough", cell])


def test_an_item_that_is_a_list_is_refused():
    with pytest.raises(TypeError, match=r"row 0 has the item \['fever'\], a list"):
        Items.from_cells([["cough", ["fever"]]])


def test_an_empty_separator_is_refused():
    with pytest.raises(ValueError, match="separator of items is ''"):
        Items.from_cells(["cough"], "")


@given(SETS)
def test_each_record_has_its_items(sets):
    items = Items.from_cells(sets)
    assert [set(items[record]) for record in range(len(items))] == [set(own) for own in sets]
    assert items.sizes.tolist() == [len(own) for own in sets]
    assert sorted(items.vocabulary) == sorted(set().union(*sets))
    assert all((np.diff(items.codes[start:end]) > 0).all() for start, end in pairwise(items.starts))


@given(SETS, st.data())
def test_without_some(sets, data):
    items = Items.from_cells(sets)
    removed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(items.codes), max_size=len(items.codes))), dtype=bool
    )
    record = np.repeat(np.arange(len(sets)), items.sizes)
    cells = zip(record.tolist(), items.codes.tolist(), removed.tolist(), strict=True)
    left = [(row, items.vocabulary[code]) for row, code, gone in cells if not gone]
    found = items.without(removed)
    assert [(row, item) for row, own in enumerate(found) for item in own] == left
    assert found.vocabulary == items.vocabulary
    assert len(found) == len(items)


def test_records_are_found_from_both_ends():
    items = Items.from_cells(["cough", "fever"])
    assert items[-1] == ("fever",)
    with pytest.raises(IndexError):
        items[2]


@given(st.frozensets(st.text("abc", min_size=1)))
def test_sets_are_read_in_an_order_that_does_not_change_from_run_to_run(texts):
    """Python's own order of a set of texts changes with the seed of their hashes."""
    assert item_set(texts) == tuple(sorted(texts))


def test_numpy_items_are_python_values_and_loose_ones_are_named():
    assert list(map(type, item_set(np.array(["cough", "fever"])))) == [str, str]
    assert list(map(type, item_set(np.array([1, 2])))) == [int, int]
    with pytest.raises(TypeError, match=r"row 3 has the item \('a', \[1\]\), a tuple; an item is"):
        item_set([("a", [1])], whose="row 3")
