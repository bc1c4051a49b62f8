"""Expectation step: expected counts of values by signature under a global distribution, and the groups' likelihood."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators import Auto, Exact
from foreknow.models.estimators.assignments.group_beliefs import log_weight_and_beliefs, proportional_rows, shown_priors
from foreknow.models.foreground.conditional_bernoulli.group_expectations import group_expectations
from foreknow.models.foreground.evidence import Evidence, distinct_groups
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Problem

AUTO_MAX_OPERATIONS = 2**18
"""Largest number of operations N c of a group of two values that is computed exactly under `Auto`: 0.4 ms."""


class Expected(NamedTuple):
    """Expected number of records of each signature with each value, and log-likelihoods of the published groups.

    Attributes
    ----------
    counts : float array, shape (s + 1, m)
        The last row is of the records whose signature has too little support.
    log_weights : float array, shape (p + 1,)
        For each component of the evidence (`Evidence.component`), the sum over its groups of the logarithm of the weight of all
        assignments, natural logarithm. The last is of groups without a signature. NaN for estimators without a likelihood.
    error : float
        Largest first-order term of a probability in groups computed by the saddlepoint approximation (`group_expectations`). What
        it leaves out is of second order. 0 without such groups.
    """

    counts: FloatArray
    log_weights: FloatArray
    error: float = 0.0

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of all published groups, natural logarithm; NaN for estimators without a likelihood."""
        return float(self.log_weights.sum())


type Expectation = Callable[[FloatArray], Expected]
"""Function of the distributions of the s signatures, shape ``(s, m)``."""


def expectation(evidence: Evidence, estimator: Estimator) -> Expectation:
    """Return the expectation step of some evidence under an estimator.

    Two values under `Exact` or `Auto` are computed in closed form; further values under these by each distinct group once; other
    estimators by one call for the whole release.

    Notes
    -----
    Cost of a step in closed form: O(sum of N c) over the distinct groups, N records of which c have the rarer value. Under `Auto`
    a group of k cells and more than `AUTO_MAX_OPERATIONS` operations takes O(k), by a saddlepoint approximation. Otherwise the
    cost is that of the estimator.
    """
    if has_closed_form(evidence, estimator):
        return _in_closed_form(evidence, max_operations(estimator))
    if isinstance(estimator, Exact | Auto) and _fits_states(evidence, estimator.limit):
        return _by_distinct_groups(evidence, estimator)
    return lambda probabilities: _estimated(evidence, estimator, probabilities)


def has_closed_form(evidence: Evidence, estimator: Estimator) -> bool:
    """Return whether the expectation is computed by elementary symmetric polynomials."""
    return evidence.counts.shape[1] == 2 and isinstance(estimator, Exact | Auto)


def step_operations(evidence: Evidence, estimator: Estimator) -> float:
    """Number of operations of an expectation step, for any distributions; infinite where unknown.

    In closed form ``sum of N c`` over the distinct groups, N records of which c have the rarer value, each at most
    `AUTO_MAX_OPERATIONS` under `Auto`. For an exact estimator the number of states times that of values.
    """
    if has_closed_form(evidence, estimator):
        cells = evidence.cells
        records = np.add.reduceat(cells.size, cells.starts[:-1]) if len(cells.holders) else cells.holders
        each = records * np.minimum(cells.holders, records - cells.holders)
        return float(np.minimum(each, max_operations(estimator)).sum())
    if isinstance(estimator, Exact | Auto) and _fits_states(evidence, estimator.limit):
        counts = distinct_groups(evidence).counts
        return float(((counts + 1.0).prod(axis=1) * (counts > 0).sum(axis=1)).sum())
    return math.inf


def max_operations(estimator: Estimator) -> float:
    """Largest number of operations N c of a group that is computed exactly in closed form."""
    return float(AUTO_MAX_OPERATIONS) if isinstance(estimator, Auto) else math.inf


def _in_closed_form(evidence: Evidence, operations: float) -> Expectation:
    cells, component = evidence.cells, evidence.component
    rows, components = len(component), int(component[-1]) + 1
    multiplicity = np.repeat(cells.multiplicity, np.diff(cells.starts))
    records = np.bincount(cells.row, cells.size * multiplicity, minlength=rows)
    # Within a group the rest's records stand last, so that its first cell's component is the group's.
    component_of_group = component[cells.row[cells.starts[:-1]]]
    decided_row, decided_value = np.nonzero(cells.decided)
    decided = cells.decided[decided_row, decided_value]

    def expect(probabilities: FloatArray) -> Expected:
        table = evidence.table(probabilities)
        first = np.ascontiguousarray(table[:, 0])
        expected, weights, errors = cells_under(cells.row, cells.size, cells.starts, cells.holders, first, operations)
        holders = np.bincount(cells.row, expected * multiplicity, minlength=rows)
        counts = np.column_stack([holders, records - holders]) + cells.decided.astype(np.float64)
        with np.errstate(divide="ignore"):
            certain = np.bincount(
                component[decided_row], decided * np.log(table[decided_row, decided_value]), minlength=components
            )
        log_weights = certain + np.bincount(component_of_group, weights * cells.multiplicity, minlength=components)
        return Expected(counts, log_weights, float(errors.max(initial=0.0)))

    return expect


@compiled
def cells_under(
    row: IntArray, size: IntArray, starts: IntArray, holders: IntArray, first: FloatArray, operations: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expected numbers with the first value in the cells of distinct groups, under probabilities ``first``, shape ``(s + 1,)``.

    Groups of more than ``operations`` operations are computed by a saddlepoint approximation (`group_expectations`).

    Returns
    -------
    expected : float array, shape (k,)
    log_weight, error : float array, shape (p,)
        For each distinct group, as `group_expectations` returns them.
    """
    expected, weights, errors = np.zeros(len(size)), np.zeros(len(holders)), np.zeros(len(holders))
    for group in range(len(holders)):
        begin, end = starts[group], starts[group + 1]
        weights[group], errors[group] = group_expectations(
            first[row[begin:end]], size[begin:end], holders[group], operations, expected[begin:end]
        )
    return expected, weights, errors


def _fits_states(evidence: Evidence, limit: int) -> bool:
    """Return whether the states of every group are at most ``limit``, whatever its records' distributions."""
    return bool((np.log(evidence.counts + 1.0).sum(axis=1) <= math.log(limit)).all())


def _by_distinct_groups(evidence: Evidence, estimator: Exact | Auto) -> Expectation:
    """Expectation step with each distinct group weighed once; none may have more states than the estimator's limit."""
    distinct = distinct_groups(evidence)
    component, components = evidence.component, int(evidence.component[-1]) + 1
    order, starts = group_rows(distinct.group, len(distinct.counts))
    # Within a group the rest's records stand last, so that its first record's component is the group's.
    component_of_group = component[distinct.row[starts[:-1]]]
    multiplicity = distinct.multiplicity[distinct.group][:, None]

    def expect(probabilities: FloatArray) -> Expected:
        prior = evidence.table(probabilities)[distinct.row]
        belief = estimator(Problem(prior, distinct.group, distinct.counts)).probabilities
        sums = np.zeros((len(component), belief.shape[1]))
        np.add.at(sums, distinct.row, belief * multiplicity)
        weights = _log_weights(prior, distinct.counts, order, starts) * distinct.multiplicity
        return Expected(sums, np.bincount(component_of_group, weights, minlength=components))

    return expect


def _estimated(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> Expected:
    prior = evidence.table(probabilities)[evidence.row]
    kept = evidence.published
    belief = estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    sums = np.zeros((evidence.signatures + 1, belief.shape[1]))
    np.add.at(sums, evidence.row[kept], belief[kept])
    return Expected(sums, np.full(int(evidence.component[-1]) + 1, np.nan))


@compiled
def _log_weights(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> FloatArray:
    """Logarithm of the weight of all assignments of each group: float array, shape ``(g,)``."""
    weights = np.zeros(len(counts))
    for j in range(len(counts)):
        rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(counts[j])
        if len(values) == 1:
            for row in rows:
                weights[j] += np.log(prior[row, values[0]])
        elif len(values) > 1:
            shares = shown_priors(prior, rows, values, 0.0)
            weights[j] = log_weight_and_beliefs(np.log(shares), counts[j][values], proportional_rows(shares))[0]
    return weights
