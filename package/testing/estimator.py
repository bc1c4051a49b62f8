"""Checks of an estimator."""

import dataclasses
import itertools
from collections.abc import Iterable
from math import factorial

import numpy as np

from foreknow.models import Estimator, Posterior, Problem, Status
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.testing import examples
from foreknow.testing.running import run

TOLERANCE = 1e-9
"""Default distance between two beliefs that are equal by definition."""


def check_estimator(
    estimator: Estimator, *, tolerance: float = TOLERANCE, problems: Iterable[Problem] | None = None
) -> None:
    """Check that an estimator behaves as those of foreknow do.

    Parameters
    ----------
    estimator : Estimator
        ``estimator(problem) -> Posterior``.
    tolerance : float
        Distance at which two beliefs count as equal. An estimator that iterates needs a larger one. Sampled beliefs, which
        have a ``standard_error``, are not compared.
    problems : iterable of Problem, optional
        By default thirty small ones, in half of which the prior contradicts the counts.

    Raises
    ------
    AssertionError
        Names the check that failed, the estimator and the problem.

    Notes
    -----
    Checked: the estimator is a frozen dataclass with a class attribute ``exact``; beliefs are distributions over the values that
    the group shows; rows outside all groups keep the prior; renaming respondents, renaming values and removing other groups
    change nothing; the problem is not modified; evidence is read or refused; a problem without groups and an empty group
    are answered; equal priors give the shares of the group; a group of one is certain. An ``exact`` estimator equals the
    enumeration of all assignments, where the prior allows one. Cost: 12 calls per problem.

    Examples
    --------
    >>> from foreknow.models import Exact
    >>> check_estimator(Exact())
    """
    run("check_estimator", estimator, (_is_a_settings_object,), estimator)
    for problem in problems if problems is not None else examples.problems():
        run("check_estimator", estimator, BY_PROBLEM, estimator, problem)
        run("check_estimator", estimator, BY_COMPARISON, estimator, problem, tolerance)
    run("check_estimator", estimator, (_handles_corner_cases, _reads_or_refuses_evidence), estimator)


def _is_a_settings_object(estimator: Estimator) -> None:
    assert dataclasses.is_dataclass(estimator), "it is no dataclass"
    assert estimator.__dataclass_params__.frozen, "the dataclass is not frozen"
    assert isinstance(estimator.exact, bool), "the class attribute exact is not True or False"


def _handles_corner_cases(estimator: Estimator) -> None:
    prior = np.array([[0.2, 0.8], [1.0, 0.0]])
    nothing = estimator(Problem(prior, np.array([-1, -1]), np.zeros((0, 2), dtype=np.int64)))
    assert np.array_equal(nothing.probabilities, prior), "without groups, the belief is not the prior"
    assert nothing.status.shape == (0,), "without groups, the status is not empty"
    empty = estimator(Problem(np.full((2, 2), 0.5), np.array([1, 1]), np.array([[0, 0], [1, 1]])))
    assert_distributions(empty.probabilities)
    one = estimator(Problem(np.array([[0.2, 0.8]]), np.zeros(1, dtype=np.int64), np.array([[1, 0]])))
    assert np.allclose(one.probabilities, [[1, 0]]), "the value of a group of one is not certain"


def _reads_or_refuses_evidence(estimator: Estimator) -> None:
    plain = Problem(np.full((2, 2), 0.5), np.zeros(2, dtype=np.int64), np.array([[1, 1]]))
    try:
        told = estimator(dataclasses.replace(plain, evidence=np.array([[0.0, 1], [0, 0]])))
    except ValueError:
        return
    assert told.probabilities[0, 1] > 0.5, "evidence is neither read nor refused (Problem.refuse_evidence)"


def _rows_are_distributions(estimator: Estimator, problem: Problem) -> None:
    posterior, inside = estimator(problem), problem.group >= 0
    assert_distributions(posterior.probabilities)
    assert posterior.status.shape == (len(problem.counts),), "the status has not one entry per group"
    outside = posterior.probabilities[~inside]
    assert np.array_equal(outside, problem.prior[~inside]), "a row outside all groups is not the prior's"
    hidden = problem.counts[problem.group[inside]] == 0
    assert (posterior.probabilities[inside][hidden] == 0).all(), "a value that the group does not show has a belief"


def _is_a_function(estimator: Estimator, problem: Problem) -> None:
    before = [problem.prior.copy(), problem.group.copy(), problem.counts.copy()]
    first, second = estimator(problem), estimator(problem)
    after = [problem.prior, problem.group, problem.counts]
    assert all(map(np.array_equal, before, after)), "the problem was modified"
    if not _sampled(first):
        assert np.array_equal(first.probabilities, second.probabilities), "two calls differ"


def _respondents_are_exchangeable(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    order = np.random.default_rng(0).permutation(len(problem.group))
    turned = estimator(Problem(problem.prior[order], problem.group[order], problem.counts))
    _compare(estimator(problem), turned.probabilities, order, tolerance, "depends on the order of the rows")


def _values_are_exchangeable(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    order = np.random.default_rng(0).permutation(problem.counts.shape[1])
    turned = estimator(Problem(problem.prior[:, order], problem.group, problem.counts[:, order]))
    back = turned.probabilities[:, np.argsort(order)]
    _compare(estimator(problem), back, np.arange(len(back)), tolerance, "depends on the order of the values")


def _groups_are_independent(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    together = estimator(problem)
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        alone = estimator(Problem(problem.prior[rows], np.zeros(len(rows), dtype=np.int64), counts[None]))
        _compare(together, alone.probabilities, rows, tolerance, f"of group {j} depends on other groups")


def _equal_priors_give_shares(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    uniform = np.full(problem.prior.shape, 1 / problem.prior.shape[1])
    posterior, inside = estimator(Problem(uniform, problem.group, problem.counts)), problem.group >= 0
    shares = problem.counts / problem.counts.sum(axis=1, keepdims=True)
    if not _sampled(posterior):
        close = np.allclose(posterior.probabilities[inside], shares[problem.group[inside]], atol=tolerance)
        assert close, "equal priors do not give the shares of the group"


def _exact_is_enumeration(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    if estimator.exact:
        posterior = estimator(problem)
        for j, counts in enumerate(problem.counts):
            rows = np.flatnonzero(problem.group == j)
            expected = enumerated(problem.prior[rows], counts)
            if expected is not None:
                found = posterior.probabilities[rows]
                assert np.allclose(found, expected, atol=tolerance), f"group {j} differs from the enumeration"
            else:
                assert posterior.status[j] & Status.CONTRADICTED, f"group {j} is impossible and not CONTRADICTED"


BY_PROBLEM = (_is_a_function, _rows_are_distributions)

BY_COMPARISON = (
    _respondents_are_exchangeable,
    _values_are_exchangeable,
    _groups_are_independent,
    _equal_priors_give_shares,
    _exact_is_enumeration,
)


def enumerated(prior: FloatArray, counts: IntArray) -> FloatArray | None:
    """Posterior of one group by enumeration of all assignments of its values; None where none is possible.

    Parameters
    ----------
    prior : float array, shape (k, m)
    counts : int array, shape (m,)
    """
    values = np.repeat(np.arange(len(counts)), counts)
    weights = np.zeros(prior.shape)
    rows = np.arange(len(prior))
    for assignment in itertools.permutations(values.tolist()):
        weights[rows, list(assignment)] += prior[rows, list(assignment)].prod() / factorial(len(values))
    return weights / weights.sum(axis=1, keepdims=True) if weights.sum() > 0 else None


def assert_distributions(rows: FloatArray) -> None:
    """Raise AssertionError unless rows are finite, not negative and sum to 1."""
    assert np.isfinite(rows).all(), "a belief is not finite"
    assert (rows >= 0).all(), "a belief is negative"
    assert np.allclose(rows.sum(axis=1), 1, atol=TOLERANCE), "a row of beliefs does not sum to 1"


def _sampled(posterior: Posterior) -> bool:
    return posterior.standard_error is not None


def _compare(posterior: Posterior, other: FloatArray, rows: IntArray, tolerance: float, what: str) -> None:
    """Compare some rows with another answer; sampled and unconverged beliefs are left out."""
    if not _sampled(posterior) and not (posterior.status & Status.UNCONVERGED).any():
        assert np.allclose(posterior.probabilities[rows], other, rtol=1e-9, atol=tolerance), f"the belief {what}"
