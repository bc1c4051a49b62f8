"""Cost of removed items: Equation 1, by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import FIGURE_1D, LINKING, patients, view_of_items

from foreknow.evaluation import items_lost
from foreknow.models import ExternalKnowledge, ItemRelease, Linking, Release

LINK_ITEMS = Linking(ExternalKnowledge({"x": "a"}), "items")


def item_release(view, groups, linking, removed):
    items = linking.items_of(view)
    return ItemRelease(Release(view, groups), linking, items.without(np.array(removed, dtype=bool)))


def equation_1(sizes):
    """T, from pairs of w, the items of a record, and v, those removed."""
    cost = sum(Fraction(1, j) for w, v in sizes for j in range(w - v + 1, w + 1))
    bound = sum(Fraction(1, j) for w, _ in sizes for j in range(1, w + 1))
    return cost / bound if bound else Fraction(0)


def test_by_hand():
    """Ann loses 2 of 3 items: 1/3 + 1/2. All her items cost 11/6, those of each other record 3/2."""
    removed = [True, True, False] + [False] * 6
    row = items_lost([item_release(patients(), FIGURE_1D, LINKING, removed)]).iloc[0]
    assert (row["time"], row["items"], row["removed"], row["measured"], row["suppressed"]) == (1, 9, 2, 4, 0)
    assert row["removed_share"] == pytest.approx(2 / 9)
    assert row["cost"] == pytest.approx((5 / 6) / (11 / 6 + 3 * 3 / 2))
    assert row["cost_per_group"] == pytest.approx((5 / 6) / (11 / 6 + 3 / 2) / 2)


def test_the_last_item_costs_most():
    """The first of three items costs 1/3, the last 1, over 1 + 1/2 + 1/3."""
    costs = [
        items_lost([item_release(view_of_items([list("abc")]), [0], LINK_ITEMS, [True] * lost + [False] * (3 - lost))])[
            "cost"
        ][0]
        for lost in range(4)
    ]
    assert np.diff(costs) == pytest.approx(np.array([1 / 3, 1 / 2, 1]) / (11 / 6))
    assert costs[-1] == pytest.approx(1)


def test_records_that_are_suppressed_are_left_out():
    row = items_lost([item_release(patients(), [0, 0, -1, -1], LINKING, [False] * 5 + [True] * 4)]).iloc[0]
    assert row[["items", "removed", "removed_share", "cost", "cost_per_group", "measured", "suppressed"]].tolist() == [
        5,
        0,
        0,
        0,
        0,
        2,
        2,
    ]


def test_without_items_the_loss_is_0():
    row = items_lost([item_release(view_of_items(["", "a"]), [0, 1], LINK_ITEMS, [True])]).iloc[0]
    assert (row["removed_share"], row["cost"], row["cost_per_group"]) == (1, 1, 0.5)
    row = items_lost([item_release(view_of_items([""]), [0], LINK_ITEMS, [])]).iloc[0]
    assert (row["removed_share"], row["cost"], row["cost_per_group"]) == (0, 0, 0)


def test_without_published_records():
    row = items_lost([item_release(view_of_items(["a"]), [-1], LINK_ITEMS, [False])]).iloc[0]
    assert (row["items"], row["cost"], row["measured"], row["suppressed"]) == (0, 0, 0, 1)
    assert np.isnan(row["cost_per_group"])


def test_one_release_is_no_list():
    with pytest.raises(TypeError, match="put a single one into a list"):
        items_lost(item_release(patients(), FIGURE_1D, LINKING, [False] * 9))


@given(st.data())
def test_equation_1(data):
    sizes = data.draw(st.lists(st.integers(0, 8), min_size=1, max_size=6))
    lost = [data.draw(st.integers(0, w)) for w in sizes]
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    view = view_of_items([list("abcdefgh"[:w]) for w in sizes])
    removed = [place < v for w, v in zip(sizes, lost, strict=True) for place in range(w)]
    row = items_lost([item_release(view, groups, LINK_ITEMS, removed)]).iloc[0]
    pairs = list(zip(sizes, lost, strict=True))
    of = [[pair for pair, place in zip(pairs, groups, strict=True) if place == g] for g in set(groups)]
    assert row["cost"] == pytest.approx(float(equation_1(pairs)))
    assert row["cost_per_group"] == pytest.approx(float(sum(map(equation_1, of)) / len(of)))
    assert (row["items"], row["removed"]) == (sum(sizes), sum(lost))
