"""What a global distribution makes of the published groups: who is expected to have what, and how likely they are."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.assignments import kinds, shown, weight_and_shares
from foreknow.models.estimators import Auto, Exact
from foreknow.models.foreground.elementary import cell_expectations
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.members import members
from foreknow.models.problem import Estimator, Problem


class Expected(NamedTuple):
    """How many people of each signature are expected to have each value, and how likely the published groups are.

    Attributes
    ----------
    counts : float array, shape (s + 1, m)
        The last row is of the people whose signature too few match.
    log_weights : float array, shape (p + 1,)
        Of each part of the evidence (`Evidence.part`), the sum over its groups of the logarithm of the weight of their
        worlds: natural logarithm; the last is of groups without a signature. NaN where the estimator does not say it.
    """

    counts: FloatArray
    log_weights: FloatArray

    @property
    def log_likelihood(self) -> float:
        """Of all published groups, natural logarithm; NaN where the estimator does not say it."""
        return float(self.log_weights.sum())


type Expectation = Callable[[FloatArray], Expected]
"""Of distributions of the s signatures, shape ``(s, m)``."""


def expectation(evidence: Evidence, estimator: Estimator) -> Expectation:
    """The expectation step of some evidence under an estimator; in closed form for two values and an exact estimator.

    Cost of a step: O(sum of N c) over the different kinds of groups in closed form; else the estimator's.
    """
    if closed_form(evidence, estimator):
        return _in_closed_form(evidence)
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
    expected, _ = in_cells(cells.signature, cells.size, cells.starts, cells.holding, table[:, 0].copy())
    share = expected / np.maximum(cells.size, 1)
    belief = prior
    of_cell = cells.of_person >= 0
    belief[of_cell, 0] = share[cells.of_person[of_cell]]
    belief[of_cell, 1] = 1.0 - belief[of_cell, 0]
    pure = evidence.published & ~of_cell
    belief[pure] = (evidence.counts > 0)[evidence.group[pure]]
    return belief


def _in_closed_form(evidence: Evidence) -> Expectation:
    cells, part = evidence.cells, evidence.part
    rows, parts = len(part), int(part[-1]) + 1
    lengths = np.diff(cells.starts)
    of_kind = np.repeat(cells.times, lengths)
    people = np.bincount(cells.signature, cells.size * of_kind, minlength=rows)
    # Within a group the rest's people stand last, so that its first cell's part is the group's.
    part_of_kind = part[cells.signature[cells.starts[:-1]]]
    known, value = np.nonzero(cells.settled)
    times = cells.settled[known, value]

    def expect(probabilities: FloatArray) -> Expected:
        table = evidence.table(probabilities)
        first = np.ascontiguousarray(table[:, 0])
        expected, weights = in_cells(cells.signature, cells.size, cells.starts, cells.holding, first)
        having = np.bincount(cells.signature, expected * of_kind, minlength=rows)
        counts = np.column_stack([having, people - having]) + cells.settled.astype(np.float64)
        with np.errstate(divide="ignore"):
            settled = np.bincount(part[known], times * np.log(table[known, value]), minlength=parts)
        return Expected(counts, settled + np.bincount(part_of_kind, weights * cells.times, minlength=parts))

    return expect


@compiled
def in_cells(
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
    sums = np.zeros((evidence.signatures + 1, belief.shape[1]))
    np.add.at(sums, evidence.place[kept], belief[kept])
    weights = np.full(int(evidence.part[-1]) + 1, np.nan)
    return Expected(sums, _log_weights(evidence, prior) if isinstance(estimator, Exact) else weights)


def _log_weights(evidence: Evidence, prior: FloatArray) -> FloatArray:
    """The logarithm of the weight of the worlds of each part's groups."""
    parts, group, mixed = int(evidence.part[-1]) + 1, evidence.group, evidence.mixed
    order, starts = members(group, len(evidence.counts))
    place = np.full(len(evidence.counts), evidence.signatures)
    np.minimum.at(place, group[evidence.published], evidence.place[evidence.published])
    open_ = np.bincount(evidence.part[place], _weights_of_mixed(prior, evidence.counts, order, starts), minlength=parts)
    known = np.flatnonzero(evidence.published)
    known = known[~mixed[group[known]]]
    with np.errstate(divide="ignore"):
        sure = np.log(prior[known, evidence.counts.argmax(axis=1)[group[known]]])
    return np.asarray(open_ + np.bincount(evidence.part[evidence.place[known]], sure, minlength=parts))


@compiled
def _weights_of_mixed(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> FloatArray:
    """For each group of several values, the logarithm of the weight of all assignments; 0 for the others."""
    weights = np.zeros(len(counts))
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(values) > 1:
            shares = shown(prior, rows, values, 0.0)
            weights[j] = weight_and_shares(np.log(shares), counts[j][values], kinds(shares))[0]
    return weights
