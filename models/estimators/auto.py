"""Choice of an estimator for each group: `Exact` where it is affordable, an approximation elsewhere."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators.arguments import check_is_estimator, check_problem, check_state_limit
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.by_group import by_group
from foreknow.models.estimators.exact import Exact, state_counts
from foreknow.models.estimators.sinkhorn import Sinkhorn
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Posterior, Problem
from foreknow.models.settings import check_whole

EXACT, BEYOND, SINKHORN = 0, 1, 2
"""Positions of the three estimators in the choice of each group."""


@dataclass(frozen=True)
class Auto:
    """`Exact` for groups with few states, another estimator for groups with few pairs, and `Sinkhorn` for the rest.

    A group of k members and d distinct values has k d pairs. An iteration of `BeliefPropagation` takes about 100 ns for each
    pair, and it needs 20 to 2,000 iterations. `Sinkhorn` takes 2 ns for each pair and iteration, and its error falls as 1 / k
    by the law of large numbers.

    The posterior's ``rule`` has the name of each group's estimator. Its ``error`` has the estimated largest error of a belief
    for groups that `Sinkhorn` computed (`first_order_errors`), 0 for `Exact`, and NaN for ``beyond``. Where ``beyond`` samples,
    its standard errors, effective sample sizes and R-hats are kept; they are 0, infinity and 1 in the other groups.

    Parameters
    ----------
    limit : int
        Largest number of states of a group for `Exact`, at most 2^40; 2^16 take some milliseconds.
    beyond : Estimator
        Estimator for groups with more states: `BeliefPropagation`, which is deterministic, or ``SwapChain(rng=...)``, which
        gives standard errors.
    pairs : int
        Largest number of pairs k d of a group for ``beyond``; 2^17 take `BeliefPropagation` about .2 seconds, and 30 if it needs
        all its iterations.

    Raises
    ------
    ValueError
        If ``limit`` or ``pairs`` is not a whole number of at least 1. When called with a problem that has evidence.
    TypeError
        If ``beyond`` is no estimator. When called with anything but a `Problem`.

    Examples
    --------
    >>> two = Problem(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> Auto()(two).rule
    array(['Exact'], dtype=object)

    A group of 10,000 members with distinct priors:

    >>> share = np.linspace(0.1, 0.9, 10_000)
    >>> crowd = Problem(np.column_stack([share, 1 - share]), np.zeros(10_000, int), np.array([[4_000, 6_000]]))
    >>> posterior = Auto(pairs=10_000)(crowd)
    >>> posterior.rule, posterior.error.round(6)
    (array(['Sinkhorn'], dtype=object), array([3.1e-05]))
    """

    limit: int = 2**16
    beyond: Estimator = field(default_factory=BeliefPropagation)
    pairs: int = 2**17
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_state_limit("Auto", self.limit)
        check_is_estimator("Auto", "beyond", self.beyond)
        check_whole("Auto", "pairs", self.pairs, "pairs of member and value")

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        fits_exact = state_counts(problem, self.limit) <= self.limit
        fits_beyond = problem.sizes * (problem.counts > 0).sum(axis=1) <= self.pairs
        choice = np.where(fits_exact, EXACT, np.where(fits_beyond, BEYOND, SINKHORN))
        estimators: tuple[Estimator, ...] = (Exact(self.limit), self.beyond, Sinkhorn())
        posterior = by_group([(estimator, problem) for estimator in estimators], choice)
        return replace(posterior, error=_errors(problem, posterior.probabilities, choice))


def _errors(problem: Problem, belief: FloatArray, choice: IntArray) -> FloatArray:
    """Estimated largest error of a belief in each group: float array, shape ``(g,)``."""
    errors = np.where(choice == BEYOND, np.nan, 0.0)
    order, starts = group_rows(problem.group, len(problem.counts))
    shown: BoolArray = problem.counts > 0
    for j in np.flatnonzero(choice == SINKHORN):
        rows = order[starts[j] : starts[j + 1]]
        errors[j] = np.abs(first_order_errors(belief[rows][:, shown[j]])).max()
    return errors


def first_order_errors(belief: FloatArray) -> FloatArray:
    """First-order difference of the exact posterior from the belief of `Sinkhorn`, for one group.

    The belief p of `Sinkhorn` is that of independent respondents whose expected counts are the counts shown. The exact
    posterior is the law of the same respondents, conditioned on these counts. The local limit theorem for the vector of counts
    (its Edgeworth expansion to the third cumulant) gives the difference. With W the pseudo-inverse of the covariance matrix
    of the counts, ``sum over i of diag(p_i) - p_i p_i^T``::

        q[i, s] = (e_s - p_i)^T W (e_s - p_i)        t[s] = sum over i of p[i, s] (q[i, s] - sum over r of p[i, r] q[i, r])
        c[i, s] = ((W t)[s] - q[i, s]) / 2           difference[i, s] = p[i, s] (c[i, s] - sum over r of p[i, r] c[i, r])

    The difference is O(1 / k) where the variance of each value's count is proportional to k; the remainder is O(1 / k^2).

    Parameters
    ----------
    belief : float array, shape (k, d)
        Beliefs of a group's k members in its d shown values; rows sum to 1.

    Returns
    -------
    float array, shape (k, d)
        Rows sum to 0. Where the variance of a count is near 0, because the knowledge determines the holders of the value, this
        is a bad estimate of a difference that need not be small.

    Notes
    -----
    An approximation; W omits the directions in which no count varies. Cost: O(k d^2 + d^3).
    """
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    inverse = np.linalg.pinv(covariance, hermitian=True)
    projected = belief @ inverse
    quadratic = np.diag(inverse) - 2 * projected + (projected * belief).sum(axis=1, keepdims=True)
    third_cumulant = (belief * (quadratic - (belief * quadratic).sum(axis=1, keepdims=True))).sum(axis=0)
    correction = (inverse @ third_cumulant - quadratic) / 2
    return np.asarray(belief * (correction - (belief * correction).sum(axis=1, keepdims=True)))
