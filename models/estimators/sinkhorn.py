"""Omega-estimate of Li, Li and Zhang, and Sinkhorn scaling to both margins, its limit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import (
    MIN_DIVISOR,
    group_sums,
    weights_and_possible_pairs,
    write_group_beliefs,
)
from foreknow.models.problem import CONTRADICTED, ROW_PARTS, UNCONVERGED, Posterior, Problem, group_rows
from foreknow.models.settings import check_iteration


@dataclass(frozen=True)
class Omega:
    """Omega-estimate: each value's column of priors scaled to its count, then each row scaled to 1.

    ``w[i, s] = n_s P[i, s] / sum_i' P[i', s]`` over the members i' of the group, and ``belief[i, s] = w[i, s] /
    sum_s' w[i, s']``. An approximation of `Exact`: equal to it where the members' priors are equal, and biased towards the
    frequencies of the group where they are sharp. Columns of the belief need not sum to the counts.

    A shown value to which every member's prior gives 0 is shared equally among the members. A respondent whose prior gives 0 to
    every shown value gets the frequencies of the group. Both are reported as `Status.CONTRADICTED`.

    Notes
    -----
    Cost: O(n m). T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009;
    JS-reduce, section 5.2. The treatment of columns and rows of zeros is not printed; it is our reading.
    """

    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        columns = group_sums(problem.prior, problem.group, len(problem.counts))
        return Posterior(*_column_scaled(problem.prior, problem.group, problem.counts, problem.sizes, columns))


@compiled
def _column_scaled(
    prior: FloatArray, group: IntArray, counts: IntArray, sizes: IntArray, columns: FloatArray
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    m = prior.shape[1]
    for i in range(len(prior)):
        j = group[i]
        if j < 0:
            continue
        total = 0.0
        for s in range(m):
            if counts[j, s] == 0:
                belief[i, s] = 0.0
            elif columns[j, s] > 0.0:
                belief[i, s] = counts[j, s] * (prior[i, s] / columns[j, s])
            else:
                belief[i, s] = counts[j, s] / sizes[j]
                status[j] = CONTRADICTED
            total += belief[i, s]
        if total == 0.0:
            status[j] = CONTRADICTED
        for s in range(m):
            belief[i, s] = belief[i, s] / total if total > 0.0 else counts[j, s] / sizes[j]
    return belief, status


@dataclass(frozen=True)
class Sinkhorn:
    """Priors of a group, scaled by rows and columns until rows sum to 1 and columns to the counts.

    Each iteration scales every value's column to its count and then every member's row to 1; one iteration is `Omega`. The
    limit is ``belief[i, s] = x_i P[i, s] y_s`` with both margins met. It is the table nearest to the priors in
    Kullback-Leibler divergence among all tables with these margins: a maximum-entropy approximation of `Exact` that treats
    members as independent.

    Pairs that no possible assignment contains are set to 0 first; without them the scaling converges geometrically. Where the
    knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of `DOUBT` mixed in,
    reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    tolerance : float
        Largest deviation of a row sum from 1 just after the columns were scaled, at which the iteration stops. Rows are then
        scaled once more.
    iterations : int
        Largest number of iterations; a group that needs more is reported as `Status.UNCONVERGED`.

    Notes
    -----
    R. Sinkhorn, "A relationship between arbitrary positive matrices and doubly stochastic matrices", Annals of
    Mathematical Statistics 35 (1964); N. Linial, A. Samorodnitsky, A. Wigderson, Combinatorica 20 (2000). An approximation;
    exact where all priors of a group are equal. Cost: O(k d) per iteration for k members and d distinct values. Where nearly
    all weight is on pairs that no assignment contains together, it takes thousands of iterations, or more than the limit.
    SciPy has no matrix scaling.
    """

    tolerance: float = 1e-9
    iterations: int = 10_000
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "membership")

    def __post_init__(self) -> None:
        check_iteration("Sinkhorn", self.tolerance, self.iterations)

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        settings = (float(self.tolerance), int(self.iterations))
        return Posterior(*_beliefs_and_status(problem.prior, problem.counts, order, starts, *settings))


@compiled
def _beliefs_and_status(
    prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, tolerance: float, iterations: int
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        values = np.flatnonzero(counts[j])
        possible, weights, pairs = weights_and_possible_pairs(prior, rows, values, counts[j][values])
        converged = _scale(weights, pairs, counts[j][values], tolerance, iterations)
        status[j] = (0 if possible else CONTRADICTED) | (0 if converged else UNCONVERGED)
        write_group_beliefs(weights, rows, values, belief)
    return belief, status


@compiled
def _scale(weights: FloatArray, pairs: BoolArray, capacity: IntArray, tolerance: float, iterations: int) -> bool:
    """Scale a group's weights in place; return True if the tolerance was met."""
    k, d = weights.shape
    for i in range(k):
        for s in range(d):
            if not pairs[i, s]:
                weights[i, s] = 0.0
    columns = np.zeros(d)
    for _ in range(iterations):
        # Columns to the counts, then rows to 1; the deviation is that of the rows between the two.
        columns[:] = 0.0
        for i in range(k):
            for s in range(d):
                columns[s] += weights[i, s]
        deviation = 0.0
        for i in range(k):
            total = 0.0
            for s in range(d):
                weights[i, s] *= capacity[s] / max(columns[s], MIN_DIVISOR)
                total += weights[i, s]
            deviation = max(deviation, abs(total - 1.0))
            for s in range(d):
                weights[i, s] /= max(total, MIN_DIVISOR)
        if deviation <= tolerance:
            return True
    return False
