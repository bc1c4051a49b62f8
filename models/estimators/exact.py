"""Exact Bayesian posterior: the weight of an assignment is the product of its priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.arguments import check_problem, check_state_limit
from foreknow.models.estimators.assignments.forward_backward import state_count
from foreknow.models.estimators.assignments.group_beliefs import (
    group_beliefs,
    proportional_rows,
    shown_priors,
    write_group_beliefs,
)
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, DOUBT, Posterior, Problem


class TooLarge(ValueError):  # noqa: N818 - the name says what is wrong
    """Error of an estimator for a group that has more states, or draws, than its limit."""


@dataclass(frozen=True)
class Exact:
    """Bayesian posterior, with assignments weighted by the product of their priors.

    The sum over the k! assignments of a group runs over its states: the number of members that have each value so far, as the
    members come one by one. There are ``prod_s (n_s + 1)`` of them for counts n_s. Alternatively the published values come one
    by one, and a state is the number of members of each kind that have a value; a kind are members whose priors for the shown
    values are multiples of each other. The smaller number of states is used. All terms are positive and sums are kept as
    logarithms, so nothing cancels, overflows or vanishes.

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    limit : int
        Largest number of states of a group, at most 2^40; memory is 32 bytes for each.

    Raises
    ------
    TooLarge
        When called, if a group exceeds the limit; the message names the group and the way out. Nothing is computed then.
    ValueError
        If the limit is not a whole number in its range. When called with a problem that has evidence.
    TypeError
        When called with anything but a `Problem`.

    Notes
    -----
    Exact to rounding: tests compare it with 50-digit arithmetic, to 1e-9 of each belief. Beliefs below 1e-150 may be returned as
    0, where the priors of a group span more orders of magnitude than a float.

    Cost: O(states * distinct values) for each group. This is the posterior of the random-assignment model of T. Li, N. Li, J.
    Zhang (ICDE 2009), there a ratio of permanents.
    """

    limit: int = 2**22
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_state_limit("Exact", self.limit)

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        states = state_counts(problem, self.limit)
        if states.size and states.max() > self.limit:
            worst = int(states.argmax())
            raise TooLarge(
                Advice(
                    f"group {worst} has {problem.sizes[worst]} respondents and {states[worst]:.3g} states, more than the limit of "
                    f"{self.limit}. ",
                    Wording(
                        "Use Auto() (--estimator auto), which approximates such groups alone, or Exact(limit=...) if there is "
                        "memory for it (32 bytes a state).",
                        "Choose --estimator auto.",
                    ),
                )
            )
        order, starts = group_rows(problem.group, len(problem.counts))
        return Posterior(*_beliefs_and_status(problem.prior, problem.counts, order, starts))


def state_counts(problem: Problem, limit: int) -> FloatArray:
    """Number of states of each group for `Exact`: float array, shape ``(g,)``.

    Kinds of members are counted only in groups whose states by values exceed the limit.
    """
    order, starts = group_rows(problem.group, len(problem.counts))
    return _state_counts(problem.prior, problem.counts, order, starts, float(limit))


@compiled
def _state_counts(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, limit: float) -> FloatArray:
    states = np.ones(len(counts))
    for j in range(len(counts)):
        values = np.flatnonzero(counts[j])
        states[j] = state_count(counts[j][values])
        if states[j] > limit:
            weights = shown_priors(prior, order[starts[j] : starts[j + 1]], values, 0.0)
            states[j] = min(states[j], state_count(np.bincount(proportional_rows(weights))))
    return states


@compiled
def _beliefs_and_status(
    prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        if len(rows) == 0:
            continue
        values = np.flatnonzero(counts[j])
        possible, of_group = group_beliefs(shown_priors(prior, rows, values, 0.0), counts[j][values])
        if not possible:
            status[j] = CONTRADICTED
            _, of_group = group_beliefs(shown_priors(prior, rows, values, DOUBT), counts[j][values])
        write_group_beliefs(of_group, rows, values, belief)
    return belief, status
