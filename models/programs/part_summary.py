"""Summary of a program's draws: mean, standard error, effective sample size, R-hat, status and divergent draws."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.assignments.swap_moves import summarize_chains
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.problem import CONTRADICTED, UNCONVERGED
from foreknow.models.programs.release_parts import Part


class BeliefDraws(NamedTuple):
    """Draws of a belief, shape ``(chains, draws, n, m)``, and the number of divergent transitions among them."""

    belief: FloatArray
    divergences: int


class PartSummary(NamedTuple):
    """Posterior of the r group members of a part with g groups.

    Attributes
    ----------
    mean, standard_error, ess, rhat : float array, shape (r, m)
    status : int array, shape (g,)
    divergences : int
        Number of divergent draws.
    """

    mean: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray
    status: IntArray
    divergences: int


def summary_of(part: Part, draws: BeliefDraws, number: int) -> PartSummary:
    """Summary of the draws of a belief.

    A group is `Status.UNCONVERGED` if an R-hat of its members exceeds `MAX_RHAT`, or if any draw of the part is divergent.
    ``number`` is the effective sample size of a belief that does not depend on the draws.
    """
    inside = np.flatnonzero(part.problem.group >= 0)
    belief = np.maximum(draws.belief[:, :, inside], 0.0)
    if belief.shape[:2] == (1, 1):
        rows = belief[0, 0] / belief[0, 0].sum(axis=1, keepdims=True)
        return _without_draws(rows, np.zeros(len(part.groups), dtype=np.int64), number)
    mean, error, ess, rhat = summarize_chains(np.ascontiguousarray(np.moveaxis(belief, (0, 1), (2, 3))))
    disagree = part.problem.group[inside][(rhat > MAX_RHAT).any(axis=1)]
    unconverged = np.isin(np.flatnonzero(part.problem.sizes), disagree) | (draws.divergences > 0)
    return PartSummary(mean, error, ess, rhat, UNCONVERGED * unconverged, draws.divergences)


def contradicted(part: Part, number: int) -> PartSummary:
    """Shares of each group, with the status `Status.CONTRADICTED`."""
    problem = part.problem
    group = problem.group[problem.group >= 0]
    shares = problem.counts[group] / problem.sizes[group][:, None]
    return _without_draws(shares, np.full(len(part.groups), CONTRADICTED), number)


def _without_draws(belief: FloatArray, status: IntArray, number: int) -> PartSummary:
    """Summary of a belief that does not depend on the draws."""
    draws = np.full(belief.shape, float(number))
    return PartSummary(belief, np.zeros(belief.shape), draws, np.ones(belief.shape), status, 0)
