"""Expected numbers in a group: against all assignments, exact fractions, and laws for large groups."""

import math
import time
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from foreknow.models.foreground.expectation import (
    MIN_SADDLEPOINT_VARIANCE,
    cell_expectations,
    group_expectations,
)

CHANCES = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.1, 1e-3, 1e-9, 1 - 1e-3]), st.floats(0.01, 0.99))


@st.composite
def cells(draw, most=4, largest=3):
    """Cells of a group, and the number of its records with x."""
    size = np.array(draw(st.lists(st.integers(1, largest), min_size=1, max_size=most)))
    probability = np.array([draw(CHANCES) for _ in size])
    return probability, size, draw(st.integers(0, int(size.sum())))


def expectations(probability, size, c):
    expected = np.zeros(len(size))
    weight = cell_expectations(np.asarray(probability, dtype=float), np.asarray(size), c, expected)
    return weight, expected


def in_cells(rows, size):
    return np.add.reduceat(np.asarray(rows, dtype=float), np.concatenate([[0], np.cumsum(size)[:-1]]), axis=-1)


def chance(probability, size, c):
    expected = expectations(probability, size, c)[1]
    return expected / np.asarray(size)


class TestEnumeration:
    """Equations 2 and 3 over all assignments."""

    @given(cells())
    def test_expectations_and_weight(self, group):
        probability, size, c = group
        has, weights = oracle.worlds(np.repeat(probability, size), c)
        weight, expected = expectations(probability, size, c)
        if weights.sum() == 0:
            assert weight == -np.inf
            assert np.allclose(expected, size * c / size.sum(), rtol=1e-15)
        else:
            assert weight == pytest.approx(math.log(weights.sum()), rel=1e-12, abs=1e-12)
            assert np.allclose(expected, in_cells(weights @ has / weights.sum(), size), rtol=0, atol=1e-12)

    def test_490314_worlds(self):
        """MASK with l = 2 (section 3): 8 of 23 records have x."""
        f = np.linspace(0.02, 0.9, 23)
        has, weights = oracle.worlds(f, 8)
        assert len(weights) == 490_314
        weight, expected = expectations(f, np.ones(23, dtype=int), 8)
        assert np.allclose(expected, weights @ has / weights.sum(), rtol=0, atol=1e-12)
        assert weight == pytest.approx(math.log(weights.sum()), rel=1e-12)


class TestFractions:
    """The polynomial ``prod (1 - f + f z)`` in exact fractions."""

    def test_140364532_worlds(self):
        """MASK with l = 10 (section 3): 5 of 113 records have x."""
        assert math.comb(113, 5) == 140_364_532
        f = [Fraction(1 + 7 * (i % 8), 64) for i in range(113)]
        exact = oracle.exact_posterior([(p, 1 - p) for p in f], (5, 108))[:, 0]
        probability, size = np.array(f[:8], dtype=float), np.bincount(np.arange(113) % 8)
        expectations(probability, size, 5)
        started = time.perf_counter()
        for _ in range(100):
            _, expected = expectations(probability, size, 5)
        assert (time.perf_counter() - started) / 100 < 1e-3
        assert np.allclose((expected / size)[np.arange(113) % 8], exact, rtol=1e-12, atol=0)
        alone = expectations(f, np.ones(113, dtype=int), 5)[1]
        assert np.allclose(alone, exact, rtol=1e-12, atol=0)

    @given(st.lists(st.integers(1, 999), min_size=2, max_size=12), st.data())
    def test_rare_and_common_holders_together(self, thousandths, data):
        """Relative errors are small, of having x or, if more than half have it, of lacking it: all terms are positive."""
        f = [Fraction(p, 10 ** data.draw(st.sampled_from([3, 6, 12]))) for p in thousandths]
        c = data.draw(st.integers(1, len(f) - 1))
        exact = oracle.exact_posterior([(p, 1 - p) for p in f], (c, len(f) - c))[:, 0]
        found = expectations([float(p) for p in f], [1] * len(f), c)[1]
        assert np.allclose(found, exact, rtol=1e-9, atol=1e-15 if 2 * c > len(f) else 0)

    def test_subnormal_probabilities(self):
        """Two records of probability 1e-310 share one x equally; among certain records the least certain is the exception."""
        assert np.allclose(chance([1e-310, 1e-310], [1, 1], 1), 0.5)
        assert np.allclose(chance([5e-324, 0.5, 0.5], [1, 1, 1], 2), [0, 1, 1])
        assert np.allclose(chance([1 - 1e-16, 1 - 1e-16, 1e-320], [1, 1, 1], 1), [0.5, 0.5, 0])


class TestLargeGroups:
    """Ten thousand records, too many for enumeration or fractions."""

    SIZE = np.array([4000, 3000, 2000, 900, 99, 1])
    FEW = np.array([0.001, 0.02, 0.3, 0.9, 0.5, 0.25])

    @pytest.mark.parametrize("c", [1, 30, 2500, 9999])
    def test_laws(self, c):
        n = int(self.SIZE.sum())
        weight, expected = expectations(self.FEW, self.SIZE, c)
        assert n == 10_000
        assert expected.sum() == pytest.approx(c, rel=1e-11)
        turned_weight, turned = expectations(1 - self.FEW, self.SIZE, n - c)
        assert weight == pytest.approx(turned_weight, rel=1e-10)
        assert np.allclose(expected + turned, self.SIZE, rtol=1e-10)
        odds = self.FEW / (1 - self.FEW)
        _, tilted = expectations(0.01 * odds / (1 + 0.01 * odds), self.SIZE, c)
        assert np.allclose(tilted, expected, rtol=1e-9)

    @pytest.mark.parametrize("c", [1, 3, 700, 5000, 9990])
    def test_two_cells_are_fishers_noncentral_hypergeometric(self, c):
        f, size = np.array([0.02, 0.3]), np.array([9000, 1000])
        law = stats.nchypergeom_fisher(10_000, 9000, c, (0.02 / 0.98) / (0.3 / 0.7))
        weight, expected = expectations(f, size, c)
        assert expected[0] == pytest.approx(law.mean(), rel=1e-6)
        first = np.arange(max(0, c - 1000), min(c, 9000) + 1)
        logs = stats.binom.logpmf(first, 9000, 0.02) + stats.binom.logpmf(c - first, 1000, 0.3)
        assert weight == pytest.approx(np.logaddexp.reduce(logs), rel=1e-9)

    def test_equal_probabilities_give_the_share(self):
        assert np.allclose(chance([0.3, 0.3, 0.3], [5000, 4999, 1], 1234), 0.1234, rtol=1e-11)

    def test_certain_records_change_only_the_count(self):
        sure = chance([1.0, 0.02, 0.0, 0.3], [40, 8000, 60, 1000], 340)
        rest = chance([0.02, 0.3], [8000, 1000], 300)
        assert sure[0] == 1
        assert sure[2] == 0
        assert np.allclose(sure[[1, 3]], rest, rtol=1e-11)


class TestPrinted:
    """Numbers of the paper; others are worked by hand."""

    def test_example_1(self):
        """Printed .72, from .48 + .12 + .12, each rounded."""
        assert np.allclose(chance([0.5, 0.2], [2, 2], 2), [8 / 11, 3 / 11], rtol=1e-14)

    def test_alex(self):
        assert chance([0.1, 0.003], [1, 1], 1)[0] == pytest.approx(0.0997 / (0.0997 + 0.0027))
        assert round(chance([0.1, 0.003], [1, 1], 1)[0], 4) == 0.9736

    def test_case_study(self):
        """Craft .04 beside clerical .02; with Adult's own .01 the belief is .805."""
        assert round(chance([0.04, 0.02], [1, 1], 1)[0], 4) == 0.6712
        assert round(chance([0.04, 0.01], [1, 1], 1)[0], 3) == 0.805


def exact_and_approximate(probability, size, c, most=0.0):
    """Shares and log-weight, exact and by the saddlepoint approximation, and its error."""
    exact, near = np.zeros(len(size)), np.zeros(len(size))
    weight = cell_expectations(probability, size, c, exact)
    near_weight, error = group_expectations(probability, size, c, most, near)
    return exact / size, weight, near / size, near_weight, error


def large_cells(people, low=0.01, high=0.6, k=20):
    rng = np.random.default_rng(6)
    return rng.uniform(low, high, k), rng.multinomial(people, np.full(k, 1 / k))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_saddlepoint_errors_are_of_second_order(share):
    """Of order 1 / V for the log-weight and 1 / V^2 for a probability; V is at most a quarter of the records."""
    for people in (1_000, 4_000):
        probability, size = large_cells(people)
        exact, weight, near, near_weight, error = exact_and_approximate(probability, size, int(share * people))
        assert 1e-6 < error < 1e-3
        assert np.abs(near - exact).max() < 50 * error**2
        assert near_weight == pytest.approx(weight, abs=0.25 / (share * (1 - share) * people))


def test_expectations_are_the_slopes_of_the_log_weight():
    """Derivatives of the approximate log-weight by the log-odds, by finite differences."""
    probability, size = large_cells(2_000)
    _, _, near, _, _ = exact_and_approximate(probability, size, 500)
    step = 1e-4
    for i in (0, 7):
        moved = []
        for sign in (1, -1):
            odds = np.log(probability / (1 - probability)) + sign * step * (np.arange(len(size)) == i)
            moved.append(group_expectations(1 / (1 + np.exp(-odds)), size, 500, 0.0, np.zeros(len(size)))[0])
        # The weight of the assignments has the factor 1 - f for each record of the cell, whose slope is -f.
        slope = (moved[0] - moved[1]) / (2 * step) / size[i] + probability[i]
        assert slope == pytest.approx(near[i], abs=1e-5)


@given(st.integers(300, 3_000), st.integers(1, 99))
def test_expectations_sum_to_what_is_shown(people, percent):
    probability, size = large_cells(people)
    c = max(people * percent // 100, 1)
    expected = np.zeros(len(size))
    group_expectations(probability, size, c, 0.0, expected)
    assert expected.sum() == pytest.approx(c, rel=1e-9)


def test_decided_records_keep_their_values():
    probability, size = large_cells(1_000)
    probability[:2] = 0.0, 1.0
    exact, weight, near, near_weight, error = exact_and_approximate(probability, size, 400)
    assert near[:2].tolist() == [0, 1]
    assert np.allclose(near, exact, rtol=0, atol=1e-5)
    assert error > 0
    assert near_weight == pytest.approx(weight, abs=0.002)


@pytest.mark.parametrize(
    ("people", "c", "most"),
    [(1_000, 300, 300_000.0), (1_000, int(MIN_SADDLEPOINT_VARIANCE) // 2, 0.0), (1_000, 0, 0.0), (1_000, 1_001, 0.0)],
)
def test_exact_within_the_operations_and_at_small_variance(people, c, most):
    exact, weight, near, near_weight, error = exact_and_approximate(*large_cells(people), c, most)
    assert np.array_equal(near, exact)
    assert near_weight == weight
    assert error == 0
