"""Choice of an estimator for each group: `Exact` where it is affordable, an approximation elsewhere."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators.arguments import check_is_estimator, check_problem, check_state_limit
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.by_group import by_group
from foreknow.models.estimators.exact import Exact, state_counts
from foreknow.models.estimators.large_numbers import first_order_errors
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
