"""Total weight of the assignments of one group, and beliefs, against sums over all assignments."""

import itertools
import math

import numpy as np
import pytest

from foreknow.models.estimators.assignments import log_weight_and_beliefs, proportional_rows


def enumerated(weights, capacity):
    """Sum of the products of weights over all distinct assignments of values to members, and the belief in each pair."""
    published = np.repeat(np.arange(len(capacity)), capacity).tolist()
    total, belief = 0.0, np.zeros(weights.shape)
    for values in set(itertools.permutations(published)):
        weight = math.prod(weights[i, s] for i, s in enumerate(values))
        total += weight
        belief[range(len(values)), values] += weight
    return math.log(total), belief / total


@pytest.mark.parametrize("factors", [(1, 1, 1, 1, 1), (1, 3, 0.5, 1e-3, 7)])
@pytest.mark.parametrize("kinds", [(0, 0, 0, 0, 0), (0, 1, 1, 0, 1), (0, 0, 1, 1, 2), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("capacity", [(1, 1, 1, 1, 1), (2, 2, 1), (5,), (4, 1)])
def test_members_of_a_kind_have_multiples_of_one_row(capacity, kinds, factors):
    rows = np.random.default_rng(3).dirichlet(np.ones(len(capacity)), 5)
    weights = np.array([factor * rows[kind] for kind, factor in zip(kinds, factors, strict=True)])
    log_weight, belief = enumerated(weights, capacity)
    found = log_weight_and_beliefs(np.log(weights), np.array(capacity), np.array(kinds))
    assert found[0] == pytest.approx(log_weight)
    assert found[1] == pytest.approx(belief)


def test_kinds_of_rows():
    rows = np.array([[1, 2], [2, 1], [3, 6], [0, 0], [0.5, 0.25], [0, 0]], dtype=float)
    assert proportional_rows(rows).tolist() == [0, 1, 0, 2, 1, 2]


def test_weights_near_the_smallest_numbers():
    """One of four members has the first value: products of the others' three weights, a_i 1e-107, have few digits left."""
    factors = np.array([1.0, 2.0, 3.0, 4.0])
    weights = np.column_stack([np.zeros(4), np.log(factors) - 107 * math.log(10)])
    log_weight, belief = log_weight_and_beliefs(weights, np.array([1, 3]), np.arange(4))
    assert belief[:, 0] == pytest.approx(np.array([12, 6, 4, 3]) / 25)
    assert log_weight == pytest.approx(math.log(24 * (25 / 12)) - 321 * math.log(10))
