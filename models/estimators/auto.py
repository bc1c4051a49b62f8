"""Exact where it fits, something else where it does not."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.exact import Exact, states
from foreknow.models.problem import Estimator, Posterior, Problem


@dataclass(frozen=True)
class Auto:
    """`Exact` for every group of at most ``limit`` states, another estimator for the rest.

    It only chooses; the posterior's ``rule`` says for each group which one it was, and what the other estimator gives
    beside its belief (standard errors, for a `SwapChain`) is kept, with 0, infinity and 1 where `Exact` was chosen.

    Parameters
    ----------
    limit : int
        The most states a group may have for `Exact`; 2^16 take some milliseconds.
    beyond : Estimator
        What larger groups get: `BeliefPropagation`, which needs no chance, or ``SwapChain(rng=...)``, which says how far it
        can be trusted.

    Raises
    ------
    ValueError
        If the limit is not positive.

    Examples
    --------
    >>> two = Problem(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> Auto()(two).rule
    array(['Exact'], dtype=object)
    """

    limit: int = 2**16
    beyond: Estimator = field(default_factory=BeliefPropagation)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.beyond, type):
            raise TypeError(
                f"Auto: beyond is the class {self.beyond.__name__}; write {self.beyond.__name__}(...), a setting of it."
            )
        if self.limit < 1:
            raise ValueError(f"Auto: the limit is {self.limit} states; a group of one has two. Write 1 or more.")

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        small = states(problem, self.limit) <= self.limit
        rule = np.where(small, "Exact", type(self.beyond).__name__).astype(object)
        easy = np.concatenate([small, [False]])[problem.group]
        near, far = Exact(self.limit)(_part(problem, easy, small)), self.beyond(_part(problem, ~easy, ~small))
        probabilities = np.where(easy[:, None], near.probabilities, far.probabilities)
        return Posterior(probabilities, near.status | far.status, *_sampled(far, easy), rule=rule)


def _part(problem: Problem, rows: BoolArray, groups: BoolArray) -> Problem:
    """The problem with some groups only; everybody else is outside all groups."""
    return Problem(
        problem.prior, np.where(rows, problem.group, -1), np.where(groups[:, None], problem.counts, 0), problem.evidence
    )


def _sampled(far: Posterior, easy: BoolArray) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    """Standard errors, effective sample sizes and R-hats, as far as there are any."""
    if far.standard_error is None or far.ess is None or far.rhat is None:
        return None, None, None
    row = easy[:, None]
    return np.where(row, 0.0, far.standard_error), np.where(row, np.inf, far.ess), np.where(row, 1.0, far.rhat)
