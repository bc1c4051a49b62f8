"""What a global distribution makes of the published groups: who is expected to have what, and how likely they are."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators import Auto, Exact
from foreknow.models.estimators.assignments import kinds, shown, weight_and_shares
from foreknow.models.foreground.distinct_groups import distinct_groups
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.large_groups import group_expectations
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Problem

OPERATIONS = 2**18
"""Under `Auto`, the largest number of operations N c of a group of two values that is computed exactly: .4 ms."""


class Expected(NamedTuple):
    """How many people of each signature are expected to have each value, and how likely the published groups are.

    Attributes
    ----------
    counts : float array, shape (s + 1, m)
        The last row is of the people whose signature too few match.
    log_weights : float array, shape (p + 1,)
        Of each part of the evidence (`Evidence.part`), the sum over its groups of the logarithm of the weight of their
        worlds: natural logarithm; the last is of groups without a signature. NaN where the estimator does not say it.
    error : float
        In groups that are computed by the law of large numbers, the largest term of first order in a probability
        (`group_expectations`); what it leaves out is of second order. 0 where there is no such group.
    """

    counts: FloatArray
    log_weights: FloatArray
    error: float = 0.0

    @property
    def log_likelihood(self) -> float:
        """Of all published groups, natural logarithm; NaN where the estimator does not say it."""
        return float(self.log_weights.sum())


type Expectation = Callable[[FloatArray], Expected]
"""Of distributions of the s signatures, shape ``(s, m)``."""


def expectation(evidence: Evidence, estimator: Estimator) -> Expectation:
    """The expectation step of some evidence under an estimator; in closed form for two values and `Exact` or `Auto`.

    Cost of a step: O(sum of N c) over the different kinds of groups in closed form, but O(k) for a group of k cells and more than
    `OPERATIONS` operations under `Auto`, which takes the law of large numbers there; of an exact estimator that of one group
    of each kind; else the estimator's.
    """
    if closed_form(evidence, estimator):
        return _in_closed_form(evidence, most_operations(estimator))
    if isinstance(estimator, Exact | Auto) and _few_states(evidence, estimator.limit):
        return _by_kinds(evidence, estimator)
    return lambda probabilities: _estimated(evidence, estimator, probabilities)


def closed_form(evidence: Evidence, estimator: Estimator) -> bool:
    """Whether the expectation is computed by elementary symmetric polynomials."""
    return evidence.counts.shape[1] == 2 and isinstance(estimator, Exact | Auto)


def operations(evidence: Evidence, estimator: Estimator) -> float:
    """The number of operations of an expectation step, before anything is known of the distributions; infinite where unknown.

    In closed form ``sum of N c`` over the kinds of groups, N people of whom c have the rarer value, and at most `OPERATIONS` each
    under `Auto`; for an exact estimator the number of states times that of values.
    """
    if closed_form(evidence, estimator):
        cells = evidence.cells
        people = np.add.reduceat(cells.size, cells.starts[:-1]) if len(cells.holding) else cells.holding
        each = people * np.minimum(cells.holding, people - cells.holding)
        return float(np.minimum(each, most_operations(estimator)).sum())
    if isinstance(estimator, Exact | Auto) and _few_states(evidence, estimator.limit):
        counts = distinct_groups(evidence).counts
        return float(((counts + 1.0).prod(axis=1) * (counts > 0).sum(axis=1)).sum())
    return math.inf


def most_operations(estimator: Estimator) -> float:
    """The largest number of operations N c of a group that is computed exactly in closed form."""
    return float(OPERATIONS) if isinstance(estimator, Auto) else math.inf


def believed(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> FloatArray:
    """Everybody's posterior under a global distribution: float array, shape ``(n, m)`` (foreground knowledge, Equation 3).

    The row of somebody outside all groups is the signature's.
    """
    table = evidence.table(probabilities)
    prior = table[evidence.place]
    if not closed_form(evidence, estimator):
        return estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    cells = evidence.cells
    layout, most = (cells.signature, cells.size, cells.starts, cells.holding), most_operations(estimator)
    expected, _, _ = in_cells(*layout, table[:, 0].copy(), most)
    share = expected / np.maximum(cells.size, 1)
    belief = prior
    of_cell = cells.of_person >= 0
    belief[of_cell, 0] = share[cells.of_person[of_cell]]
    belief[of_cell, 1] = 1.0 - belief[of_cell, 0]
    pure = evidence.published & ~of_cell
    belief[pure] = (evidence.counts > 0)[evidence.group[pure]]
    return belief


def _in_closed_form(evidence: Evidence, most: float) -> Expectation:
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
        expected, weights, errors = in_cells(cells.signature, cells.size, cells.starts, cells.holding, first, most)
        having = np.bincount(cells.signature, expected * of_kind, minlength=rows)
        counts = np.column_stack([having, people - having]) + cells.settled.astype(np.float64)
        with np.errstate(divide="ignore"):
            settled = np.bincount(part[known], times * np.log(table[known, value]), minlength=parts)
        of_parts = settled + np.bincount(part_of_kind, weights * cells.times, minlength=parts)
        return Expected(counts, of_parts, float(errors.max(initial=0.0)))

    return expect


@compiled
def in_cells(
    signature: IntArray, size: IntArray, starts: IntArray, holding: IntArray, first: FloatArray, most: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The expected number in each cell who have the first value; the log-weight of each kind of group's worlds, and the error.

    Groups of more than ``most`` operations are computed by the law of large numbers (`group_expectations`).
    """
    expected, weights, errors = np.zeros(len(size)), np.zeros(len(holding)), np.zeros(len(holding))
    for kind in range(len(holding)):
        begin, end = starts[kind], starts[kind + 1]
        probability = first[signature[begin:end]]
        weights[kind], errors[kind] = group_expectations(
            probability, size[begin:end], holding[kind], most, expected[begin:end]
        )
    return expected, weights, errors


def _few_states(evidence: Evidence, limit: int) -> bool:
    """Whether every group can be walked by its values, whatever its people's distributions are."""
    return bool((np.log(evidence.counts + 1.0).sum(axis=1) <= math.log(limit)).all())


def _by_kinds(evidence: Evidence, estimator: Exact | Auto) -> Expectation:
    """Each kind of group weighed once, and exactly: none may have more states than the estimator's limit."""
    found = distinct_groups(evidence)
    part, parts = evidence.part, int(evidence.part[-1]) + 1
    order, starts = group_rows(found.group, len(found.counts))
    # Within a group the rest's people stand last, so that its first person's part is the group's.
    part_of_kind = part[found.place[starts[:-1]]]
    times = found.times[found.group][:, None]

    def expect(probabilities: FloatArray) -> Expected:
        prior = evidence.table(probabilities)[found.place]
        belief = estimator(Problem(prior, found.group, found.counts)).probabilities
        sums = np.zeros((len(part), belief.shape[1]))
        np.add.at(sums, found.place, belief * times)
        weights = _log_weights(prior, found.counts, order, starts) * found.times
        return Expected(sums, np.bincount(part_of_kind, weights, minlength=parts))

    return expect


def _estimated(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> Expected:
    prior = evidence.table(probabilities)[evidence.place]
    kept = evidence.published
    belief = estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    sums = np.zeros((evidence.signatures + 1, belief.shape[1]))
    np.add.at(sums, evidence.place[kept], belief[kept])
    return Expected(sums, np.full(int(evidence.part[-1]) + 1, np.nan))


@compiled
def _log_weights(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> FloatArray:
    """The logarithm of the weight of all assignments of each group."""
    weights = np.zeros(len(counts))
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(values) == 1:
            for row in rows:
                weights[j] += np.log(prior[row, values[0]])
        elif len(values) > 1:
            shares = shown(prior, rows, values, 0.0)
            weights[j] = weight_and_shares(np.log(shares), counts[j][values], kinds(shares))[0]
    return weights
