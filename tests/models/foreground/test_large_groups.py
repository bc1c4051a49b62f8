"""The saddlepoint against the exact polynomials, and what is exact beside it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models.foreground.elementary import cell_expectations
from foreknow.models.foreground.large_groups import SPREAD, group_expectations


def both(probability, size, c, most=0.0):
    """Shares and log-weight, exactly and by the law of large numbers, and its error."""
    exact, near = np.zeros(len(size)), np.zeros(len(size))
    weight = cell_expectations(probability, size, c, exact)
    near_weight, error = group_expectations(probability, size, c, most, near)
    return exact / size, weight, near / size, near_weight, error


def cells(people, low=0.01, high=0.6, k=20):
    rng = np.random.default_rng(6)
    return rng.uniform(low, high, k), rng.multinomial(people, np.full(k, 1 / k))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_its_errors_are_of_second_order(share):
    """The largest variance is a quarter of the people: V over 1 / (8 V) for the log-weight, and 1 / V^2 for a probability."""
    for people in (1_000, 4_000):
        probability, size = cells(people)
        exact, weight, near, near_weight, error = both(probability, size, int(share * people))
        assert 1e-6 < error < 1e-3
        assert np.abs(near - exact).max() < 50 * error**2
        assert near_weight == pytest.approx(weight, abs=0.25 / (share * (1 - share) * people))


def test_expectations_are_the_slopes_of_the_log_weight():
    """Of the approximate log-weight, by differences of the log-odds: a fit that climbs the one solves the other."""
    probability, size = cells(2_000)
    _, _, near, _, _ = both(probability, size, 500)
    step = 1e-4
    for i in (0, 7):
        moved = []
        for sign in (1, -1):
            odds = np.log(probability / (1 - probability)) + sign * step * (np.arange(len(size)) == i)
            moved.append(group_expectations(1 / (1 + np.exp(-odds)), size, 500, 0.0, np.zeros(len(size)))[0])
        # The worlds' weight has the factor 1 - f for everybody of the cell, whose slope is -f.
        slope = (moved[0] - moved[1]) / (2 * step) / size[i] + probability[i]
        assert slope == pytest.approx(near[i], abs=1e-5)


@given(st.integers(300, 3_000), st.integers(1, 99))
def test_expectations_sum_to_what_is_shown(people, percent):
    probability, size = cells(people)
    c = max(people * percent // 100, 1)
    expected = np.zeros(len(size))
    group_expectations(probability, size, c, 0.0, expected)
    assert expected.sum() == pytest.approx(c, rel=1e-9)


def test_people_who_are_decided_are_set_aside():
    probability, size = cells(1_000)
    probability[:2] = 0.0, 1.0
    exact, weight, near, near_weight, error = both(probability, size, 400)
    assert near[:2].tolist() == [0, 1]
    assert np.allclose(near, exact, rtol=0, atol=1e-5)
    assert error > 0
    assert near_weight == pytest.approx(weight, abs=0.002)


@pytest.mark.parametrize(
    ("people", "c", "most"),
    [(1_000, 300, 300_000.0), (1_000, int(SPREAD) // 2, 0.0), (1_000, 0, 0.0), (1_000, 1_001, 0.0)],
)
def test_it_is_exact_within_the_operations_and_where_little_varies(people, c, most):
    exact, weight, near, near_weight, error = both(*cells(people), c, most)
    assert np.array_equal(near, exact)
    assert near_weight == weight
    assert error == 0
