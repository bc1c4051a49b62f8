"""Exact Bayesian posterior, by products of priors, and the logarithm of the evidence of a release."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import (
    group_beliefs,
    log_weight_and_beliefs,
    proportional_rows,
    shown_priors,
    state_count,
    write_group_beliefs,
)
from foreknow.models.estimators.sinkhorn import Sinkhorn
from foreknow.models.problem import CONTRADICTED, DOUBT, ROW_PARTS, Posterior, Problem, group_rows
from foreknow.models.settings import check_state_limit


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

    Notes
    -----
    Exact to rounding: tests compare it with 50-digit arithmetic, to 1e-9 of each belief. Beliefs below 1e-150 may be returned as
    0, where the priors of a group span more orders of magnitude than a float.

    Cost: O(states * distinct values) for each group. This is the posterior of the random-assignment model of T. Li, N. Li, J.
    Zhang (ICDE 2009), there a ratio of permanents.
    """

    limit: int = 2**22
    exact: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "membership")

    def __post_init__(self) -> None:
        check_state_limit("Exact", self.limit)

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
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


def log_evidence(problem: Problem, limit: int = 2**16) -> FloatArray:
    """Log-probability of the multiset of each group, if each member's value is drawn from the member's prior.

    Parameters
    ----------
    problem : Problem
        Its evidence (pseudo-counts) is not read.
    limit : int
        Largest number of states of a group for the exact sum.

    Returns
    -------
    float array, shape (g,)
        0 for an empty group.

    Notes
    -----
    Exact for groups with at most ``limit`` states, as `Exact`. For other groups, the saddle-point approximation: the law of
    `Sinkhorn` has the published counts as expectation, and the local limit theorem gives their probability under it,
    ``-KL(Sinkhorn || prior) - log det(2 pi covariance of the counts) / 2``. Its relative error falls as 1 / k in a group of k
    members. A doubt of `DOUBT` is mixed into the prior, so that the result is finite. Cost: that of `Auto`.

    Examples
    --------
    Two members, both values shown once, ``.9 * .6 + .1 * .4``:

    >>> problem = Problem(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> np.exp(log_evidence(problem)).round(6)
    array([0.58])
    """
    order, starts = group_rows(problem.group, len(problem.counts))
    large = state_counts(problem, int(limit)) > limit
    found = _exact(problem.prior, problem.counts, order, starts, large)
    if large.any():
        belief = Sinkhorn()(problem).probabilities
        for j in np.flatnonzero(large):
            rows, shown = order[starts[j] : starts[j + 1]], np.flatnonzero(problem.counts[j])
            found[j] = saddle_point(shown_priors(problem.prior, rows, shown, DOUBT), belief[rows][:, shown])
    return found


def saddle_point(prior: FloatArray, belief: FloatArray) -> float:
    """Saddle-point approximation of the log-probability of the counts ``belief.sum(axis=0)``: float arrays, shape ``(k, d)``.

    The probability of the counts under the beliefs is at most 1, which bounds its approximation where beliefs are almost certain.
    """
    weighed = belief > 0
    divergence = float(np.sum(belief[weighed] * np.log(belief[weighed] / prior[weighed])))
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    # The counts sum to k; all but the last determine them.
    sign, log_det = np.linalg.slogdet(2 * np.pi * covariance[:-1, :-1])
    return -divergence - (max(log_det / 2, 0.0) if sign > 0 else 0.0)


@compiled
def _exact(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, large: BoolArray) -> FloatArray:
    """Log-probability of each group that is not large; 0 for the others."""
    found = np.zeros(len(counts))
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(rows) > 0 and not large[j]:
            weights = shown_priors(prior, rows, values, DOUBT)
            if len(values) == 1:
                found[j] = np.log(weights[:, 0]).sum()
            else:
                found[j] = log_weight_and_beliefs(np.log(weights), counts[j][values], proportional_rows(weights))[0]
    return found
