"""Exact where it fits, an approximation chosen by its cost where it does not."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.by_group import by_group
from foreknow.models.estimators.exact import Exact, states
from foreknow.models.estimators.large_numbers import first_order_errors
from foreknow.models.estimators.sinkhorn import Sinkhorn
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Posterior, Problem


@dataclass(frozen=True)
class Auto:
    """`Exact` where a group has few states, another estimator where it has few pairs, and `Sinkhorn` for the rest.

    A group of k people and d distinct values has k d pairs; a round of `BeliefPropagation` takes some 100 ns for each, and
    20 to 2,000 rounds. `Sinkhorn` takes 2 ns a pair and turn, and by the law of large numbers its error falls as 1 / k.

    The posterior's ``rule`` has the name of each group's estimator, and ``error`` the estimated largest error of a belief of the
    groups that `Sinkhorn` computed (`first_order_errors`): 0 where `Exact` was chosen, NaN where ``beyond`` was. Of a sampling
    estimator ``beyond``, standard errors, effective sample sizes and R-hats are kept; they are 0, infinity and 1 in groups that
    others computed.

    Parameters
    ----------
    limit : int
        The largest number of states of a group for `Exact`; 2^16 take some milliseconds.
    beyond : Estimator
        For groups of more states: `BeliefPropagation`, which draws nothing, or ``SwapChain(rng=...)``, which gives standard errors.
    pairs : int
        The largest number of pairs k d of a group for ``beyond``; 2^17 take `BeliefPropagation` some .2 seconds, and 30 where it
        needs all its rounds.

    Raises
    ------
    ValueError
        If a limit is not positive.
    TypeError
        If ``beyond`` is a class.

    Examples
    --------
    >>> two = Problem(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> Auto()(two).rule
    array(['Exact'], dtype=object)

    Ten thousand people of whom nothing else is known than a share of their own:

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
        if isinstance(self.beyond, type):
            raise TypeError(
                f"Auto: beyond is the class {self.beyond.__name__}; write {self.beyond.__name__}(...), a setting of it."
            )
        if self.limit < 1:
            raise ValueError(f"Auto: the limit is {self.limit} states; a group of one has two. Write 1 or more.")
        if self.pairs < 1:
            raise ValueError(f"Auto: pairs is {self.pairs}; a group of one person has one pair. Write 1 or more.")

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        small = states(problem, self.limit) <= self.limit
        affordable = problem.sizes * (problem.counts > 0).sum(axis=1) <= self.pairs
        choice = np.where(small, 0, np.where(affordable, 1, 2))
        rules: tuple[Estimator, ...] = (Exact(self.limit), self.beyond, Sinkhorn())
        posterior = by_group([(rule, problem) for rule in rules], choice)
        return replace(posterior, error=_errors(problem, posterior.probabilities, choice))


def _errors(problem: Problem, belief: FloatArray, choice: IntArray) -> FloatArray:
    """Of each group, the estimated largest error of a belief: shape ``(g,)``."""
    errors = np.where(choice == 1, np.nan, 0.0)
    order, starts = group_rows(problem.group, len(problem.counts))
    shown: BoolArray = problem.counts > 0
    for j in np.flatnonzero(choice == 2):
        rows = order[starts[j] : starts[j + 1]]
        errors[j] = np.abs(first_order_errors(belief[rows][:, shown[j]])).max()
    return errors
