"""Possible values of the records of a bucket, against enumeration of all assignments."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import matching_diversity

from foreknow.models.estimators.assignments import possible_pairs


@st.composite
def buckets(draw, most=5, values=4):
    """Forbidden values of each record of a bucket, and the values it shows, often some of them twice."""
    k = draw(st.integers(1, most))
    cells = draw(st.lists(st.sampled_from((False, False, True)), min_size=k * values, max_size=k * values))
    return np.array(cells).reshape(k, values), np.array(
        draw(st.lists(st.integers(0, values - 1), min_size=k, max_size=k))
    )


def assignments(forbidden, values):
    """Every assignment of the bucket's copies to its records without a forbidden value."""
    records = range(len(values))
    for copies in itertools.permutations(records):
        if not any(forbidden[record, values[copy]] for record, copy in zip(records, copies, strict=True)):
            yield copies


def in_matchings(allowed):
    """Possible pairs of records and copies of values, each copy with capacity 1; none if there is no assignment."""
    exists, pairs = possible_pairs(allowed.astype(float), np.ones(len(allowed), dtype=np.int64))
    return pairs if exists else np.zeros_like(allowed)


@given(bucket=buckets())
def test_both_agree_with_all_permutations(bucket):
    forbidden, values = bucket
    possible = np.zeros((len(values), len(values)), dtype=bool)
    for copies in assignments(forbidden, values):
        possible[np.arange(len(values)), copies] = True
    distinct = [len(set(values[row].tolist())) for row in possible]
    assert matching_diversity(forbidden, values).tolist() == distinct
    assert np.array_equal(in_matchings(~forbidden[:, values]), possible)


def test_six_records_in_a_ring_may_each_have_two():
    """Record i may have value i or i + 1: all have the first, or all have the second."""
    allowed = np.eye(6, dtype=bool) | np.roll(np.eye(6, dtype=bool), 1, axis=1)
    assert matching_diversity(~allowed, np.arange(6)).tolist() == [2] * 6
    assert np.array_equal(in_matchings(allowed), allowed)
    assert len(list(assignments(~allowed, np.arange(6)))) == 2


def test_a_ring_that_is_cut_leaves_one():
    allowed = np.eye(6, dtype=bool) | np.roll(np.eye(6, dtype=bool), 1, axis=1)
    allowed[3, 4] = False
    assert matching_diversity(~allowed, np.arange(6)).tolist() == [1] * 6
    assert np.array_equal(in_matchings(allowed), np.eye(6, dtype=bool))


def test_of_equal_values_one_is_counted():
    assert matching_diversity(np.zeros((4, 3), dtype=bool), [2, 2, 0, 2]).tolist() == [2] * 4


def test_nothing_is_possible_where_no_record_may_have_a_value():
    forbidden = np.array([[False, True], [False, True]])
    assert matching_diversity(forbidden, [0, 1]).tolist() == [0, 0]
    assert matching_diversity(np.zeros((0, 2), dtype=bool), []).tolist() == []
