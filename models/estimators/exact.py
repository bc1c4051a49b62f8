"""The Bayesian posterior: an assignment weighs the product of its priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import kinds, pair_shares, put, shown, state_count
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, DOUBT, Posterior, Problem


class TooLarge(ValueError):  # noqa: N818 - the name says what is wrong
    """A group has more states than the estimator may visit."""


@dataclass(frozen=True)
class Exact:
    """Each assignment of a group weighs the product of the priors it uses; the belief is the exact posterior.

    Instead of the k! assignments it walks the states of a group: how much of each value is still to be given away as
    the people come one by one, or how many of each kind of person are still without a value as the values come one by
    one, whichever is fewer. There are ``prod_s (n_s + 1)`` of the former; a kind are people whose priors for the shown
    values are multiples of each other. All terms are positive, so nothing cancels, and sums are kept as logarithms, so
    nothing overflows or vanishes.

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    limit : int
        The most states a group may have; memory is 32 bytes each.

    Raises
    ------
    TooLarge
        When called, if a group passes the limit; it names the group and the way out. Nothing is computed then.

    Notes
    -----
    Exact to rounding. Cost: O(states * distinct values) per group. This is the posterior of the random-assignment model
    of Li, Li and Zhang (ICDE 2009), there a ratio of permanents.
    """

    limit: int = 2**22
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"Exact: the limit is {self.limit} states; a group of one has two. Write 1 or more.")

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        number = states(problem, self.limit)
        if number.size and number.max() > self.limit:
            worst = int(number.argmax())
            raise TooLarge(
                f"group {worst} has {problem.sizes[worst]} respondents and {number[worst]:.3g} states, more than the limit of "
                f"{self.limit}. Use Auto() (--estimator auto), which approximates such groups alone, or Exact(limit=...) if "
                "there is memory for it (32 bytes a state)."
            )
        order, starts = group_rows(problem.group, len(problem.counts))
        return Posterior(*_posteriors(problem.prior, problem.counts, order, starts))


def states(problem: Problem, limit: int) -> FloatArray:
    """Number of states of each group for `Exact`, as floats; where over the limit, counted by kinds if these are fewer."""
    order, starts = group_rows(problem.group, len(problem.counts))
    return _states(problem.prior, problem.counts, order, starts, float(limit))


@compiled
def _states(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, limit: float) -> FloatArray:
    """Number of states of each group: by values or, where they are over the limit, by kinds of people if these are fewer."""
    states = np.ones(len(counts))
    for j in range(len(counts)):
        values = np.flatnonzero(counts[j])
        states[j] = state_count(counts[j][values])
        if states[j] > limit:
            weights = shown(prior, order[starts[j] : starts[j + 1]], values, 0.0)
            states[j] = min(states[j], state_count(np.bincount(kinds(weights))))
    return states


@compiled
def _posteriors(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        if len(rows) == 0:
            continue
        values = np.flatnonzero(counts[j])
        found, shares = pair_shares(shown(prior, rows, values, 0.0), counts[j][values])
        if not found:
            status[j] = CONTRADICTED
            found, shares = pair_shares(shown(prior, rows, values, DOUBT), counts[j][values])
        put(shares, rows, values, belief)
    return belief, status
