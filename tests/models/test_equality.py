"""Equality by fields: what counts as a difference, and hashes."""

import dataclasses
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from foreknow.models import Beliefs, GivenPrior, Grouping, Problem, SwapChain
from foreknow.models.equality import same

EQUAL = [
    (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
    (np.array(["a", None], dtype=object), np.array(["a", None], dtype=object)),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})),
    (pd.DataFrame({"a": [{1}, {2}]}), pd.DataFrame({"a": [{1}, {2}]})),
    (pd.Series([1.0, np.nan]), pd.Series([1.0, np.nan])),
    ({"a": np.arange(2)}, {"a": np.arange(2)}),
    ([np.arange(2)], [np.arange(2)]),
    (np.random.default_rng(1), np.random.default_rng(1)),
    (nx.path_graph(3), nx.path_graph(3)),
    (partial(max, np.arange(2)), partial(max, np.arange(2))),
    (float("nan"), float("nan")),
    (xarray.DataTree(xarray.Dataset({"a": ("x", [1, 2])})), xarray.DataTree(xarray.Dataset({"a": ("x", [1, 2])}))),
]
DIFFERENT = [
    (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    (np.array([1.0]), np.array([[1.0]])),
    (np.array(["a", None], dtype=object), np.array(["a", "b"], dtype=object)),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]}, index=[1, 2])),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1.0, 2.0]})),
    (pd.DataFrame({"a": [{1}, {2}]}), pd.DataFrame({"a": [{1}, {3}]})),
    ({"a": np.arange(2)}, {"b": np.arange(2)}),
    ([1, 2], (1, 2)),
    ([1], [1, 2]),
    (True, 1),
    (np.random.default_rng(1), np.random.default_rng(2)),
    (nx.path_graph(3), nx.path_graph(4)),
    (partial(max, np.arange(2)), partial(min, np.arange(2))),
    (float("nan"), 1.0),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_content(one, other):
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_content(one, other):
    assert not same(one, other)


def test_settings_are_equal_as_long_as_their_generators_draw_the_same_numbers():
    one, other = SwapChain(rng=1), SwapChain(rng=1)
    assert one == other
    one.rng.random()
    assert one != other
    other.rng.random()
    assert one == other


def test_objects_of_two_classes_differ():
    assert Grouping([0]) != GivenPrior(pd.DataFrame([[1.0]], ["A"], ["a"]))
    assert Beliefs(()) != ()


@given(problems(), st.data())
def test_a_problem_is_equal_until_one_number_changes(problem, data):
    copy = Problem(problem.prior.copy(), problem.group.copy(), problem.counts.copy())
    assert copy == problem
    assert hash(copy) == hash(problem)
    row = data.draw(st.integers(0, len(problem.prior) - 1))
    changed = np.zeros(problem.prior.shape)
    changed[row, 0] = 1.0
    assert dataclasses.replace(problem, evidence=changed) != problem
