"""Equation 1 in fractions, item by item."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses.suppression.item_suppression import removal_cost

SIZES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


def taken_one_by_one(pairs):
    """Sum of 1/w for each item removed from a record with w items, over the sum for all items."""
    added = sum(Fraction(1, w) for before, after in pairs for w in range(before, after, -1))
    most = sum(Fraction(1, w) for before, _ in pairs for w in range(before, 0, -1))
    return added / most if most else Fraction(0)


@given(SIZES)
def test_it_is_equation_1(sizes):
    pairs = [(max(pair), min(pair)) for pair in sizes]
    before, after = zip(*pairs, strict=True)
    assert removal_cost(before, after) == pytest.approx(float(taken_one_by_one(pairs)), abs=1e-14)


def test_the_last_item_costs_more_than_the_first():
    costs = [removal_cost([3, 3], [left, 3]) for left in (3, 2, 1, 0)]
    steps = [later - earlier for earlier, later in itertools.pairwise(costs)]
    assert steps == sorted(steps)
    assert costs[-1] == pytest.approx(1 / 2)


def test_everything_costs_1_and_nothing_0():
    assert removal_cost([2, 0, 5], [0, 0, 0]) == 1
    assert removal_cost([2, 0, 5], [2, 0, 5]) == 0
    assert removal_cost([0, 0], [0, 0]) == 0
    assert removal_cost([], []) == 0
