"""What every way to find a global distribution returns, and the shape they share."""

from dataclasses import dataclass
from enum import IntFlag
from typing import NamedTuple, Protocol

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.problem import Estimator

EDGE = 1e-6
"""A probability this close to 0 or 1 counts as being there."""


class FitStatus(IntFlag):
    """Flags of a global distribution, beside its numbers."""

    FINE = 0
    BOUNDARY = 1
    """A probability is 0 or 1: somebody is believed to have, or not to have, a value for certain."""
    SEVERAL = 2
    """Other starting points led to other solutions; the likeliest is given, and the others in ``others``. It is looked for
    where a fit begins from several points only."""
    UNCONVERGED = 4
    """An iteration stopped at its limit before its tolerance was met, or chains of draws disagree."""
    LARGE_GROUPS = 8
    """Groups were computed by the law of large numbers, with the error in ``error``."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A global distribution, as numbers.

    Attributes
    ----------
    probabilities : float array, shape (s, m)
        The distribution of each signature.
    status : FitStatus
    log_likelihood : float
        Of the published groups, natural logarithm; NaN where the estimator does not say it.
    iterations : int
        From the start that took most.
    others : float array, shape (o, s, m)
        Other solutions that were met, each no likelier than the one before. Signatures that share no group, directly or
        through others, have solutions of their own: those with no other stand as they are in ``probabilities``.
    draws : float array, shape (d, s, m), optional
        Of fits that sample: draws from the posterior of the distribution.
    ess, rhat : float array, shape (s, m), optional
        Their effective sample size and their R-hat.
    starts : int
        The number of points from which the fit began.
    error : float
        Of groups that were computed by the law of large numbers, the largest term of first order in a person's probability; it is
        counted, and what is left out is of second order. 0 where there is no such group.
    """

    probabilities: FloatArray
    status: FitStatus
    log_likelihood: float
    iterations: int
    others: FloatArray
    draws: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    starts: int = 1
    error: float = 0.0


class Fitting(Protocol):
    """A way to find a global distribution; a frozen settings object."""

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set; the estimator says what a group makes of it."""
        ...


class Solution(NamedTuple):
    """Result of one start.

    Attributes
    ----------
    probabilities : float array, shape (s, m)
    log_weights : float array, shape (p + 1,)
        Of each part of the evidence, the logarithm of its groups' likelihood; NaN where the estimator does not say it.
    iterations : int
    converged : bool
    error : float
        As `Fit.error`.
    """

    probabilities: FloatArray
    log_weights: FloatArray
    iterations: int
    converged: bool
    error: float = 0.0


def best_of(solutions: list[Solution], part: IntArray, apart: float) -> Fit:
    """The likeliest of some solutions, part by part of the evidence (`Evidence.part`): the parts' likelihoods multiply.

    A part's solutions that are further from each other than ``apart``, in some probability, are distinct: the first of
    ``others`` has in each part the second likeliest, and so on, or the likeliest where there are no more. Where
    likelihoods are equal to rounding or not known, earlier solutions come first.
    """
    weights = np.array([solution.log_weights for solution in solutions])
    # A likelihood is known to about this many digits; a difference beyond them ranks nothing.
    order = np.argsort(-np.round(np.where(np.isnan(weights), 0.0, weights), 8), axis=0, kind="stable")
    rows, of_row = np.arange(len(part) - 1), part[:-1]
    ranked = np.array([solution.probabilities for solution in solutions])[order[:, of_row], rows]
    place = _places(ranked, of_row, len(weights[0]), apart)
    chosen = [ranked[0]]
    for number in range(1, int(place.max(initial=0)) + 1):
        chosen.append(chosen[0].copy())
        for rank in range(1, len(solutions)):
            takes = place[rank, of_row] == number
            chosen[-1][takes] = ranked[rank, takes]
    status = FitStatus.FINE
    if not all(solutions[start].converged for start in np.unique(order[0])):
        status |= FitStatus.UNCONVERGED
    if ((chosen[0] < EDGE) | (chosen[0] > 1 - EDGE)).any():
        status |= FitStatus.BOUNDARY
    if len(chosen) > 1:
        status |= FitStatus.SEVERAL
    error = max(solution.error for solution in solutions)
    if error > 0:
        status |= FitStatus.LARGE_GROUPS
    weight = float(np.take_along_axis(weights, order[:1], 0).sum())
    others = np.array(chosen[1:]).reshape(len(chosen) - 1, *chosen[0].shape)
    rounds = max(solution.iterations for solution in solutions)
    return Fit(chosen[0], status, weight, rounds, others, starts=len(solutions), error=error)


def _places(ranked: FloatArray, part: IntArray, parts: int, apart: float) -> IntArray:
    """The number of each solution among its part's distinct ones, likeliest first; -1 if it is none: ``(starts, parts)``."""
    place = np.full((len(ranked), parts), -1, dtype=np.int64)
    found = np.zeros(parts, dtype=np.int64)
    for rank in range(len(ranked)):
        is_distinct = np.ones(parts, dtype=np.bool_)
        for earlier in range(rank):
            gap = np.zeros(parts)
            np.maximum.at(gap, part, np.abs(ranked[rank] - ranked[earlier]).max(axis=1))
            is_distinct &= (gap > apart) | (place[earlier] < 0)
        place[rank] = np.where(is_distinct, found, -1)
        found += is_distinct
    return place


def starting_points(evidence: Evidence, starts: int) -> list[FloatArray]:
    """The shares of the groups, and behind them points all over the simplex.

    The first is what is believed before anything is learned; signatures whose people are in the same groups begin alike
    there. The others are multiples of irrational numbers, one per signature and value: the same in every run.
    """
    first = np.maximum(evidence.shares, 1e-9)
    golden = (5**0.5 - 1) / 2
    turn = golden * np.sqrt(2.0 + np.arange(first.size).reshape(first.shape))
    lean = [-np.log(np.maximum(np.modf(start * turn)[0], 1e-9)) for start in range(1, int(starts))]
    return [np.asarray(point / point.sum(axis=1, keepdims=True)) for point in (first, *lean)]
