"""Checks of settings."""

import re
from collections.abc import Hashable

import numpy as np
import pytest

from foreknow.models.settings import (
    as_generator,
    check_array_size,
    check_choice,
    check_flag,
    check_kind,
    check_range,
    check_shape,
    check_whole,
    is_number,
    is_whole,
)


@pytest.mark.parametrize("value", [1, 2.0, np.int64(3), np.float32(4)])
def test_whole_numbers(value):
    assert is_whole(value)
    check_whole("X", "k", value, "records")


@pytest.mark.parametrize("value", [0, 1.5, True, np.True_, "2", None, np.inf, np.nan, [1], 1j])
def test_no_whole_numbers(value):
    assert not is_whole(value)
    with pytest.raises(ValueError, match=r"X: k is .*; it is a number of records, 1 or more\."):
        check_whole("X", "k", value, "records")


def test_ranges_include_their_ends():
    assert is_number(0, 0, 1)
    assert is_number(1, 0, 1)
    assert not is_number(np.nan, 0)
    with pytest.raises(ValueError, match=re.escape("X: t is 2; it is a number from 0 to 1, a distance.")):
        check_range("X", "t", 2, 0, 1, "a distance")


def test_choices_flags_and_kinds():
    check_choice("X", "gaps", "power", ("ignore", "power"))
    with pytest.raises(ValueError, match=re.escape("X: gaps is 1; it is one of 'ignore', 'power'.")):
        check_choice("X", "gaps", 1, ("ignore", "power"))
    with pytest.raises(ValueError, match="gaps is an array"):
        check_choice("X", "gaps", np.zeros(2), ("ignore", "power"))
    check_flag("X", "strict", np.True_)
    with pytest.raises(TypeError, match="strict is 1; it is True or False"):
        check_flag("X", "strict", 1)
    with pytest.raises(TypeError, match=re.escape("X: view is a list; it is a View.")):
        check_kind("X", "view", list(range(100)), int, "is a View")


def test_generators_and_seeds():
    rng = np.random.default_rng(1)
    assert as_generator("X", rng) is rng
    assert as_generator("X", 1).random() == np.random.default_rng(1).random()
    assert as_generator("X", np.int64(1)).random() == np.random.default_rng(1).random()
    assert as_generator("X", None, optional=True).random() != as_generator("X", None, optional=True).random()


@pytest.mark.parametrize("rng", [None, True, 1.5, "1", np.random.RandomState(1)])
def test_no_generators(rng):
    with pytest.raises(TypeError, match=r"X: rng is .*integer seed"):
        as_generator("X", rng)


def test_a_negative_seed():
    with pytest.raises(ValueError, match="rng is -1; a seed is an integer of at least 0"):
        as_generator("X", -1)


def test_sizes_of_arrays():
    check_array_size("X", views=24, records=5_000)
    check_array_size("X", draws=2**31)
    message = (
        "X: 2 views x 1073741825 items of the vocabulary are more than 2^31 numbers (16 GiB), the limit of one array"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        check_array_size("X", views=2, items_of_the_vocabulary=2**30 + 1)


def test_a_class_instead_of_an_object():
    with pytest.raises(TypeError, match=re.escape("X: size is the class int; it is hashable, as 3.")):
        check_kind("X", "size", int, Hashable, "is hashable, as 3")


def test_excluded_ends():
    check_range("X", "t", 0.5, 0, 1, excluded=(0, 1))
    for end in (0, 1):
        with pytest.raises(ValueError, match=f"X: t is {end}; it is a number from 0 to 1, but not 0 or 1, a share"):
            check_range("X", "t", end, 0, 1, "a share", excluded=(0, 1))


def test_shapes():
    check_shape("X: rows", [[1, 2]], (1, 2), "one row per group")
    with pytest.raises(ValueError, match=re.escape("X: rows has shape (2,); it needs (1, 2), one row per group.")):
        check_shape("X: rows", [1, 2], (1, 2), "one row per group")
