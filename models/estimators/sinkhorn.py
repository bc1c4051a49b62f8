"""The Omega-estimate carried on until both margins hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import put
from foreknow.models.estimators.support import shown_and_possible
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem


@dataclass(frozen=True)
class Sinkhorn:
    """The priors of a group scaled by rows and columns until everybody has one value and every value is used up.

    In turn, each value's column is scaled to its multiplicity and each person's row to 1; one turn is `Omega`. The limit
    is ``belief[i, s] = x_i P[i, s] y_s`` with both margins right: of all tables with these margins the one nearest to the
    priors in Kullback-Leibler divergence, a maximum-entropy surrogate of `Exact` that treats people as independent.

    Pairs that no possible assignment contains are left out first: without them the scaling converges geometrically.
    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    tolerance : float
        It stops when no person's row misses 1 by more just after the columns were scaled; then rows are scaled once more.
    iterations : int
        The most turns; a group that needs more is reported as `Status.UNCONVERGED`.

    Notes
    -----
    R. Sinkhorn, "A relationship between arbitrary positive matrices and doubly stochastic matrices", Annals of
    Mathematical Statistics 35 (1964); N. Linial, A. Samorodnitsky, A. Wigderson, Combinatorica 20 (2000). An approximation;
    exact where all priors of a group are equal. Cost: O(k d) per turn for k people and d distinct values; where nearly
    all weight is on pairs that no assignment contains together, thousands of turns, or more than the limit.
    """

    tolerance: float = 1e-9
    iterations: int = 10_000
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.tolerance > 0 or self.iterations < 1:
            raise ValueError(
                f"{self!r}: the tolerance must be positive and the iterations 1 or more; the defaults are 1e-9 and 10,000."
            )

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        return Posterior(
            *_posteriors(problem.prior, problem.counts, order, starts, self.tolerance, int(self.iterations))
        )


@compiled
def _posteriors(
    prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, tolerance: float, iterations: int
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        values = np.flatnonzero(counts[j])
        found, weights, pairs = shown_and_possible(prior, rows, values, counts[j][values])
        if not found:
            status[j] |= CONTRADICTED
        if not _scale(weights, pairs, counts[j][values], tolerance, iterations):
            status[j] |= UNCONVERGED
        put(weights, rows, values, belief)
    return belief, status


@compiled
def _scale(weights: FloatArray, pairs: BoolArray, capacity: IntArray, tolerance: float, iterations: int) -> bool:
    """Scale a group's weights in place; whether the tolerance was met."""
    k, d = weights.shape
    for i in range(k):
        for s in range(d):
            if not pairs[i, s]:
                weights[i, s] = 0.0
    for _ in range(iterations):
        columns = np.zeros(d)
        for i in range(k):
            for s in range(d):
                columns[s] += weights[i, s]
        missed = 0.0
        for i in range(k):
            total = 0.0
            for s in range(d):
                weights[i, s] *= capacity[s] / max(columns[s], 1e-300)
                total += weights[i, s]
            missed = max(missed, abs(total - 1.0))
            for s in range(d):
                weights[i, s] /= max(total, 1e-300)
        if missed <= tolerance:
            return True
    return False
