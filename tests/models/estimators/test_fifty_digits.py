"""Closed forms and exact estimators agree with 50-digit arithmetic to 1e-9 of each belief, on hard priors."""

import numpy as np
import pytest
from fifty_digits import (
    confidence_sum,
    dirichlet,
    doubtful,
    exact,
    exact_digits,
    hard_problems,
    of_release,
    omega,
    random_worlds,
    release,
    sinkhorn,
    two_kinds,
    worst_error,
)

from foreknow.models import (
    BeliefPropagation,
    ConfidenceSum,
    DirichletMultinomial,
    Exact,
    Omega,
    RandomWorlds,
    Sinkhorn,
    Status,
)

RELATIVE = 1e-9
PROBLEMS = hard_problems()
TWO_KINDS = {"ten thousand members of two kinds"}
LARGE = {*TWO_KINDS, "ten thousand members"}
TINY = [[1, 1e-300, 0.5], [1e-300, 1, 1e-8], [1e-150, 1e-300, 1], [1e-300, 1e-300, 1]]
IN_PAIRS = {
    "priors of 1e-300": release(TINY, [1, 1, 0], [0, 1, 1]),
    "zeros and ones": release([[1, 0], [0.5, 0.5], [1, 0], [0, 1], [0, 1.0], [0, 1]], [1, 1], [1, 1], [1, 1]),
    "nearly equal": release([[0.5, 0.5], [0.5 + 1e-15, 0.5 - 1e-15], [0.1, 0.9]], [1, 1], [0, 1]),
    "wild": release(10.0 ** np.random.default_rng(3).uniform(-150, 0, (8, 3)), [1, 1, 0], [0, 1, 1], [2, 0, 0], [1, 0, 1]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("estimator", "reference", "left_out"),
    [
        (RandomWorlds(), random_worlds, LARGE),
        (ConfidenceSum(), confidence_sum, TWO_KINDS),
        (Omega(), omega, TWO_KINDS),
        (DirichletMultinomial(), dirichlet, {*LARGE, "a thousand values"}),
        (Exact(), doubtful(exact), {*TWO_KINDS, "a thousand values in one group", "rows of wild numbers"}),
    ],
    ids=lambda each: type(each).__name__ if hasattr(type(each), "exact") else "",
)
def test_estimators_agree_with_fifty_digits(estimator, reference, left_out):
    for name in set(PROBLEMS) - left_out:
        found = estimator(PROBLEMS[name]).probabilities
        assert worst_error(found, of_release(reference, PROBLEMS[name])) <= RELATIVE, name


def test_exact_agrees_where_two_kinds_of_members_have_a_closed_form():
    problem = PROBLEMS["ten thousand members of two kinds"]
    found, rows = Exact()(problem).probabilities, exact_digits(problem.prior[[0, -1]])
    wanted = two_kinds([b / a for a, b in rows], (9800, 200), 300)
    assert np.ptp(found[:9800], axis=0).max() == np.ptp(found[9800:], axis=0).max() == 0
    assert worst_error(found[[0, -1], 1:], [[each] for each in wanted]) <= RELATIVE


def test_exact_loses_only_beliefs_below_its_stated_limit():
    problem = PROBLEMS["rows of wild numbers"]
    found, wanted = Exact()(problem).probabilities, of_release(doubtful(exact), problem)
    kept = np.array([[float(w) > 1e-150 for w in row] for row in wanted])
    assert worst_error(found[kept][:, None], [[wanted[i][s]] for i, s in np.argwhere(kept)]) <= RELATIVE
    assert found[~kept].max() <= 1e-150


@pytest.mark.parametrize("name", ["nearly equal rows", "groups of one", "ten thousand members of two kinds"])
def test_sinkhorn_agrees_with_fifty_digits(name):
    problem = PROBLEMS[name]
    posterior = Sinkhorn(tolerance=1e-12)(problem)
    assert not (posterior.status & Status.UNCONVERGED).any()
    assert worst_error(posterior.probabilities, of_release(sinkhorn, problem)) <= RELATIVE


@pytest.mark.parametrize("rows", [1e-3, 1e-30, 1e-200])
def test_sinkhorn_agrees_or_says_that_it_did_not_converge(rows):
    problem = release([[1, rows, rows], [1, rows, rows / 2], [1, 0.5, 0.5], [0.2, 0.3, 0.5]], [2, 1, 1])
    posterior = Sinkhorn(tolerance=1e-13, iterations=100_000)(problem)
    error = worst_error(posterior.probabilities, of_release(sinkhorn, problem))
    assert error <= RELATIVE or posterior.status[0] & Status.UNCONVERGED


@pytest.mark.parametrize("name", IN_PAIRS)
def test_belief_propagation_agrees_in_groups_of_at_most_two(name):
    problem = IN_PAIRS[name]
    wanted = of_release(doubtful(exact), problem)
    assert worst_error(BeliefPropagation()(problem).probabilities, wanted) <= RELATIVE
    assert worst_error(Exact()(problem).probabilities, wanted) <= RELATIVE
