"""Wrong arguments to estimators: one TypeError or ValueError, when the object is made or called."""

import dataclasses
import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from failing_cases import failing

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
    ProgramEstimator,
    Sinkhorn,
    SwapChain,
    TooLarge,
)

pytestmark = pytest.mark.slow

PROBLEM = Problem(np.full((6, 2), 0.5), np.array([0, 0, 1, 1, 1, 1]), np.array([[1, 1], [2, 2]]))

WRONG = [
    None,
    True,
    0,
    -1,
    1.5,
    np.nan,
    np.inf,
    10**400,
    1j,
    "exact",
    b"exact",
    [],
    {},
    {1, 2},
    (1, 2),
    np.zeros(3),
    np.array(["a"]),
    np.zeros((2, 2, 2)),
    pd.DataFrame({"a": [1]}),
    pd.NaT,
    object(),
    Exact,
    len,
]
"""Values of many kinds; some are valid for some settings."""

SETTINGS = [
    (estimator, field.name)
    for estimator in (*ESTIMATORS.values(), SwapChain, PerGroup, ProgramEstimator)
    for field in dataclasses.fields(estimator)
    if field.init
]


class Unflagged:
    """An object that can be called as an estimator, without the flag `exact`."""

    def __call__(self, problem):
        return problem


def unchanged(prior, counts):
    return prior if counts.sum() else None


def constant(problem):
    """A program without unknown quantities."""
    with pm.Model() as model:
        pm.Deterministic("belief", pm.Data("prior", problem.prior))
    return model


REQUIRED = {
    SwapChain: {"rng": 1, "draws": 8, "chains": 2},
    PerGroup: {"function": unchanged},
    ProgramEstimator: {"build": constant, "rng": 1},
}


@pytest.mark.parametrize(("estimator", "name"), SETTINGS, ids=[f"{e.__name__}-{name}" for e, name in SETTINGS])
def test_a_setting_is_refused_or_the_estimator_answers(estimator, name):
    def check(value):
        settings = REQUIRED.get(estimator, {}) | {name: value}
        if estimator in (Sinkhorn, BeliefPropagation) and name == "iterations":
            settings["tolerance"] = 1e-6
        with suppress(TypeError, ValueError):
            assert isinstance(estimator(**settings)(PROBLEM), Posterior)

    assert not failing(check, WRONG)


@pytest.mark.parametrize("name", [*ESTIMATORS, "swap-chain", "per-group", "program"])
def test_only_a_problem_is_answered(name):
    extra = {
        "swap-chain": SwapChain(rng=1),
        "per-group": PerGroup(unchanged),
        "program": ProgramEstimator(constant, rng=1),
    }
    estimator = extra.get(name) or ESTIMATORS[name]()
    message = f"{type(estimator).__name__}: problem is .*; it is a Problem; make one by release.observation.problem"
    for value in WRONG:
        with pytest.raises(TypeError, match=message):
            estimator(value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Exact(0), ValueError, "Exact: limit is 0; it is a number of states, from 1 to 2^40"),
        (lambda: Exact(2.5), ValueError, "Exact: limit is 2.5; it is a number of states"),
        (lambda: Exact(10**400), ValueError, "it is a number of states, from 1 to 2^40"),
        (lambda: Exact("100"), ValueError, "Exact: limit is '100'"),
        (lambda: Auto(pairs=None), ValueError, "Auto: pairs is None; it is a number of pairs of member and value"),
        (lambda: Auto(beyond=Exact), TypeError, "Auto: beyond is the class Exact; write beyond=Exact(...)"),
        (lambda: Auto(beyond=Unflagged()), TypeError, "it is an estimator object, as Exact()"),
        (lambda: Auto(beyond="exact"), TypeError, "Auto: beyond is 'exact'; it is an estimator object, as Exact()"),
        (
            lambda: Mixed(small=len),
            TypeError,
            "Mixed: small is a plain function; an estimator is an object. Write small=PerGroup",
        ),
        (
            lambda: Mixed(large=np.zeros(2)),
            TypeError,
            "Mixed: large is an array of shape (2,); it is an estimator object",
        ),
        (lambda: Sinkhorn("x"), ValueError, "Sinkhorn: tolerance is 'x'; it is a positive finite number"),
        (lambda: Sinkhorn(iterations=2**63), ValueError, "it is a number of iterations, from 1 to 2^63 - 1"),
        (lambda: BeliefPropagation(damping=None), ValueError, "BeliefPropagation: damping is None"),
        (lambda: DirichletMultinomial("1"), ValueError, "DirichletMultinomial: concentration is '1'"),
        (lambda: PerGroup(3), TypeError, "PerGroup: function is 3; it is a function that takes the prior (k, m)"),
        (lambda: PerGroup(Omega), TypeError, "PerGroup: function is <class"),
        (lambda: SwapChain(rng=-1), ValueError, "SwapChain: rng is -1; a seed is an integer of at least 0"),
        (lambda: SwapChain(rng="1"), TypeError, "SwapChain: rng is '1'; it is a generator"),
        (
            lambda: SwapChain(draws=2**40, rng=1),
            ValueError,
            "SwapChain: draws is 1099511627776; it is a number of sweeps, from 8",
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
