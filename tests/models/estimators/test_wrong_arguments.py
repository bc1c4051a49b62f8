"""Wrong arguments to estimators: one TypeError or ValueError, when the object is made or called."""

import re

import numpy as np
import pytest

from foreknow.models import (
    ESTIMATORS,
    Auto,
    BeliefPropagation,
    DirichletMultinomial,
    Exact,
    Mixed,
    Omega,
    PerGroup,
    Posterior,
    Problem,
    Sinkhorn,
    SwapChain,
    TooLarge,
)

pytestmark = pytest.mark.slow

PROBLEM = Problem(np.full((6, 2), 0.5), np.array([0, 0, 1, 1, 1, 1]), np.array([[1, 1], [2, 2]]))


def unchanged(prior, counts):
    return prior if counts.sum() else None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Exact(0), ValueError, "Exact: limit is 0; it is a number of states of 32 bytes, from 1 to"),
        (lambda: Exact(2.5), ValueError, "Exact: limit is 2.5; it is a number of states"),
        (lambda: Auto(pairs=None), ValueError, "Auto: pairs is None; it is a number of pairs of member and value"),
        (lambda: Auto(beyond=Exact), TypeError, "Auto: beyond is the class Exact"),
        (lambda: Auto(beyond="exact"), TypeError, "Auto: beyond is 'exact'; it is an estimator object, as Exact()"),
        (lambda: Mixed(small=unchanged), TypeError, "Make one of a function of the prior (k, m) and the counts"),
        (lambda: Sinkhorn("x"), ValueError, "Sinkhorn: tolerance is 'x'; it is a positive finite number"),
        (
            lambda: Sinkhorn(iterations=2**63),
            ValueError,
            "it is a number of iterations, from 1 to 9,223,372,036,854,775,807",
        ),
        (lambda: BeliefPropagation(damping=None), ValueError, "BeliefPropagation: damping is None"),
        (lambda: DirichletMultinomial("1"), ValueError, "DirichletMultinomial: concentration is '1'"),
        (lambda: PerGroup(3), TypeError, "PerGroup: function is 3; it is a function that takes the prior (k, m)"),
        (lambda: PerGroup(Omega), TypeError, "PerGroup: function is the class Omega"),
        (lambda: SwapChain(rng=-1), ValueError, "SwapChain: rng is -1; a seed is an integer of at least 0"),
        (lambda: SwapChain(rng="1"), TypeError, "SwapChain: rng is '1'; it is a generator"),
        (
            lambda: SwapChain(draws=2**40, rng=1),
            ValueError,
            "SwapChain: draws is 1099511627776; it is a number of draws, from 8",
        ),
    ],
)
def test_the_message_says_what_the_setting_takes(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_an_integer_seeds_the_chain():
    seeded, generated = SwapChain(rng=7), SwapChain(rng=np.random.default_rng(7))
    first, second = seeded(PROBLEM), seeded(PROBLEM)
    assert np.array_equal(first.probabilities, generated(PROBLEM).probabilities)
    assert np.array_equal(second.probabilities, generated(PROBLEM).probabilities)
    assert not np.array_equal(first.probabilities, second.probabilities)


def test_too_many_stored_probabilities_are_refused_before_any_draw():
    with pytest.raises(TooLarge, match=r"group 1 has 8 pairs .* 2e\+09|group 1 has 8 pairs .*more than 2147483648"):
        SwapChain(draws=10**9, chains=2, warmup=0, rng=1)(PROBLEM)


@pytest.mark.parametrize("whole", [8.0, np.float64(8), np.int16(8), np.uint8(8)])
def test_whole_numbers_of_any_type_are_taken(whole):
    assert isinstance(SwapChain(draws=whole, chains=whole, warmup=whole, rng=1)(PROBLEM), Posterior)
    for estimator in (Exact(whole), Auto(whole, pairs=whole), Mixed(size=whole), Sinkhorn(iterations=whole)):
        assert isinstance(estimator(PROBLEM), Posterior)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_problems_without_rows_or_values_are_answered(name):
    none = Problem(np.zeros((0, 2)), np.zeros(0, int), np.zeros((0, 2), int))
    assert ESTIMATORS[name]()(none).probabilities.shape == (0, 2)
    empty = Problem(np.zeros((0, 2)), np.zeros(0, int), np.zeros((3, 2), int))
    assert ESTIMATORS[name]()(empty).status.tolist() == [0, 0, 0]
