"""What a global distribution makes of the published groups: who is expected to have what, and how likely they are."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.assignments import kinds, shown, weight_and_shares
from foreknow.models.estimators import Auto, Exact
from foreknow.models.foreground.elementary import cell_expectations
from foreknow.models.foreground.evidence import Cells, Evidence
from foreknow.models.members import members
from foreknow.models.problem import Estimator, Problem


class Expected(NamedTuple):
    """How many people of each signature are expected to have each value, and how likely the published groups are.

    Attributes
    ----------
    counts : float array, shape (s + 1, m)
        The last row is of the people whose signature too few match.
    log_likelihood : float
        The sum over the groups of the logarithm of the weight of their worlds: natural logarithm; NaN where the estimator
        does not say it.
    """

    counts: FloatArray
    log_likelihood: float


type Expectation = Callable[[FloatArray], Expected]
"""Of distributions of the s signatures, shape ``(s, m)``."""


def expectation(evidence: Evidence, estimator: Estimator) -> Expectation:
    """The expectation step of some evidence under an estimator; in closed form for two values and an exact estimator.

    Cost of a step: O(sum of N c) over the different kinds of groups in closed form; else the estimator's.
    """
    if closed_form(evidence, estimator):
        cells = evidence.cells
        return lambda probabilities: _expected_in_cells(cells, evidence.table(probabilities))
    return lambda probabilities: _estimated(evidence, estimator, probabilities)


def closed_form(evidence: Evidence, estimator: Estimator) -> bool:
    """Whether the expectation is computed by elementary symmetric polynomials."""
    return evidence.counts.shape[1] == 2 and isinstance(estimator, Exact | Auto)


def believed(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> FloatArray:
    """Everybody's posterior under a global distribution: float array, shape ``(n, m)`` (foreground knowledge, Equation 3).

    The row of somebody outside all groups is the signature's.
    """
    table = evidence.table(probabilities)
    prior = table[evidence.place]
    if not closed_form(evidence, estimator):
        return estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    cells = evidence.cells
    expected, _ = _in_cells(cells.signature, cells.size, cells.starts, cells.holding, table[:, 0].copy())
    share = expected / np.maximum(cells.size, 1)
    belief = prior
    of_cell = cells.of_person >= 0
    belief[of_cell, 0] = share[cells.of_person[of_cell]]
    belief[of_cell, 1] = 1.0 - belief[of_cell, 0]
    pure = evidence.published & ~of_cell
    belief[pure] = (evidence.counts > 0)[evidence.group[pure]]
    return belief


def _expected_in_cells(cells: Cells, table: FloatArray) -> Expected:
    first = table[:, 0].copy()
    expected, weights = _in_cells(cells.signature, cells.size, cells.starts, cells.holding, first)
    of_kind = np.repeat(cells.times, np.diff(cells.starts))
    having = np.bincount(cells.signature, expected * of_kind, minlength=len(table))
    people = np.bincount(cells.signature, cells.size * of_kind, minlength=len(table))
    counts = np.column_stack([having, people - having]) + cells.settled.astype(np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(table[:, :2])
    settled = np.where(cells.settled > 0, cells.settled * np.where(cells.settled > 0, logs, 0.0), 0.0).sum()
    return Expected(counts, float(weights @ cells.times + settled))


@compiled
def _in_cells(
    signature: IntArray, size: IntArray, starts: IntArray, holding: IntArray, first: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The expected number in each cell who have the first value, and the log-weight of each kind of group's worlds."""
    expected, weights = np.zeros(len(size)), np.zeros(len(holding))
    for kind in range(len(holding)):
        begin, end = starts[kind], starts[kind + 1]
        probability = first[signature[begin:end]]
        weights[kind] = cell_expectations(probability, size[begin:end], holding[kind], expected[begin:end])
    return expected, weights


def _estimated(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> Expected:
    prior = evidence.table(probabilities)[evidence.place]
    kept = evidence.published
    belief = estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    weight = np.nan
    if isinstance(estimator, Exact):
        order, starts = members(evidence.group, len(evidence.counts))
        weight = _log_weight(prior, evidence.counts, order, starts)
    sums = np.zeros((evidence.signatures + 1, belief.shape[1]))
    np.add.at(sums, evidence.place[kept], belief[kept])
    return Expected(sums, float(weight))


@compiled
def _log_weight(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> float:
    """The sum over the groups of the logarithm of the weight of all assignments."""
    total = 0.0
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(rows) > 0:
            weights = shown(prior, rows, values, 0.0)
            total += weight_and_shares(np.log(weights), counts[j][values], kinds(weights))[0]
    return total
