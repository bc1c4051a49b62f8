"""Possible pairs, against enumeration of all assignments."""

import numpy as np
import oracle
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models.estimators.assignments import possible_pairs


@st.composite
def tables(draw):
    """Tables of up to six members, with more than half zeros; an assignment may be impossible."""
    k = draw(st.integers(1, 6))
    published = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    _, counts = np.unique(published, return_counts=True)
    cell = st.sampled_from([0.0, 0.0, 0.0, 1e-300, 0.5])
    row = st.lists(cell, min_size=len(counts), max_size=len(counts))
    return np.array(draw(st.lists(row, min_size=k, max_size=k))), counts.astype(np.int64)


@st.composite
def possible_tables(draw):
    """The same tables with one possible assignment added."""
    weights, counts = draw(tables())
    truth = np.repeat(np.arange(len(counts)), counts)
    weights[draw(st.permutations(range(len(weights)))), truth] = 1.0
    return weights, counts


@given(table=st.one_of(tables(), possible_tables()))
def test_equals_looking_at_all_assignments(table):
    weights, counts = table
    found, pairs = possible_pairs(weights, counts)
    expected = oracle.possible(weights, counts)
    assert found == expected.any()
    if found:
        assert np.array_equal(pairs, expected)


@given(table=possible_tables())
def test_nothing_is_changed_and_doing_it_again_finds_no_more(table):
    weights, counts = table
    before = (weights.copy(), counts.copy())
    _, pairs = possible_pairs(weights, counts)
    assert np.array_equal(weights, before[0])
    assert np.array_equal(counts, before[1])
    assert np.array_equal(possible_pairs(pairs.astype(float), counts)[1], pairs)


def test_a_chain_of_a_hundred_members_has_one_assignment():
    """Member i may have value i or i + 1, and the last member only the last value: member i has value i."""
    k = 100
    weights = np.eye(k) + np.eye(k, k=1)
    found, pairs = possible_pairs(weights, np.ones(k, dtype=np.int64))
    assert found
    assert np.array_equal(pairs, np.eye(k, dtype=bool))


def test_the_same_chain_closed_to_a_ring_leaves_everything_possible():
    k = 100
    weights = np.eye(k) + np.roll(np.eye(k), 1, axis=1)
    found, pairs = possible_pairs(weights, np.ones(k, dtype=np.int64))
    assert found
    assert np.array_equal(pairs, weights > 0)
