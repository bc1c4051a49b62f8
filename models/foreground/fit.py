"""What every way to find a global distribution returns, and the shape they share."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Protocol

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.problem import Estimator

EDGE = 1e-6
"""A probability this close to 0 or 1 counts as being there."""


class FitStatus(IntFlag):
    """What is to be said of a global distribution, beside its numbers."""

    FINE = 0
    BOUNDARY = 1
    """A probability is 0 or 1: somebody is believed to have, or not to have, a value for certain."""
    SEVERAL = 2
    """Other starting points led to other solutions; the likeliest is given, and the others in ``others``."""
    UNCONVERGED = 4
    """An iteration stopped at its limit before its tolerance was met, or chains of draws disagree."""


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
    others : float array, shape (o, s, m)
        Other solutions that were met, each less likely than the one before.
    draws : float array, shape (d, s, m), optional
        Of fits that sample: draws from the posterior of the distribution.
    ess, rhat : float array, shape (s, m), optional
        Their effective sample size and their R-hat.
    """

    probabilities: FloatArray
    status: FitStatus
    log_likelihood: float
    iterations: int
    others: FloatArray
    draws: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None


class Fitting(Protocol):
    """A way to find a global distribution; a frozen settings object."""

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set; the estimator says what a group makes of it."""
        ...


def best_of(solutions: list[tuple[FloatArray, float, int, bool]], apart: float) -> Fit:
    """The likeliest of some solutions, each with its log-likelihood, its iterations, and whether it converged.

    Those further from it than ``apart``, in some probability, and from each other, are ``others``. Where likelihoods are not
    known, the first is taken.
    """
    known = [(-np.inf if np.isnan(weight) else weight) for _, weight, _, _ in solutions]
    order = sorted(range(len(solutions)), key=lambda i: -known[i])
    distinct: list[int] = []
    for i in order:
        if all(np.abs(solutions[i][0] - solutions[j][0]).max(initial=0.0) > apart for j in distinct):
            distinct.append(i)
    probabilities, weight, iterations, converged = solutions[order[0]]
    status = FitStatus.FINE if converged else FitStatus.UNCONVERGED
    if ((probabilities < EDGE) | (probabilities > 1 - EDGE)).any():
        status |= FitStatus.BOUNDARY
    if len(distinct) > 1:
        status |= FitStatus.SEVERAL
    others = [solutions[i][0] for i in distinct[1:]]
    return Fit(probabilities, status, weight, iterations, np.array(others).reshape(-1, *probabilities.shape))


def starting_points(evidence: Evidence, starts: int) -> list[FloatArray]:
    """The shares of the groups, and points that lean from them toward one value or the other, signature by signature.

    The first is what is believed before anything is learned. The others mix it, half and half, with distributions spread
    evenly over the simplex by the golden ratio's multiples: the same in every run.
    """
    first = np.maximum(evidence.shares, 1e-9)
    first = first / first.sum(axis=1, keepdims=True)
    s, m = first.shape
    points = [first]
    golden = (5**0.5 - 1) / 2
    for start in range(1, starts):
        spread = np.modf((np.arange(s * m).reshape(s, m) + start * s * m + 1) * golden)[0]
        lean = -np.log(np.maximum(spread, 1e-12))
        points.append(0.5 * first + 0.5 * lean / lean.sum(axis=1, keepdims=True))
    return points
