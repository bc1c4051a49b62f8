"""Credibility after a merge against enumeration of all worlds."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.attacks.minimality import merge_credibility


def by_worlds(first, second, sensitive, l):  # noqa: E741
    """Worlds are choices of the sensitive records of both classes by which one class violates; all are equally likely."""
    worlds = [
        set(world)
        for world in itertools.combinations(range(first + second), sensitive)
        if sum(r < first for r in world) * l > first or sum(r >= first for r in world) * l > second
    ]
    return worlds and tuple(Fraction(sum(member in world for world in worlds), len(worlds)) for member in (0, first))


@given(first=st.integers(1, 6), second=st.integers(1, 6), l=st.integers(1, 4), share=st.floats(0, 1))
def test_equals_the_count_over_all_worlds(first, second, l, share):  # noqa: E741
    sensitive = round(share * (first + second))
    expected = by_worlds(first, second, sensitive, l)
    if expected:
        assert merge_credibility(first, second, sensitive, l) == pytest.approx(tuple(map(float, expected)))
    else:
        with pytest.raises(ValueError, match="never violate one in"):
            merge_credibility(first, second, sensitive, l)


def test_the_worked_example():
    """Worked by hand: a = 2, b = 4, two sensitive records and l = 2; all members of one class are sensitive for certain."""
    assert merge_credibility(2, 4, 2, 2) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 2, 1, 2), "1 of 0 and 2 records are sensitive"),
        ((2, 2, 5, 2), "5 of 2 and 2 records are sensitive"),
        ((2, 4, 1, 2), "with 1 sensitive records, classes of 2 and 4 never violate one in 2"),
    ],
)
def test_bad_input(arguments, match):
    with pytest.raises(ValueError, match=match):
        merge_credibility(*arguments)
