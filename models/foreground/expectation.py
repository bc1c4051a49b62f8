"""Expected counts of values by signature under a global distribution, with kernels of the conditional Bernoulli law."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators import Auto, Exact
from foreknow.models.estimators.assignments import log_weight_and_beliefs, proportional_rows, shown_priors
from foreknow.models.foreground.evidence import Evidence, distinct_groups
from foreknow.models.problem import Estimator, Problem, group_rows

AUTO_MAX_OPERATIONS = 2**18
"""Largest number of operations N c of a group of two values that is computed exactly under `Auto`: 0.4 ms."""


class Expected(NamedTuple):
    """Expected number of records of each signature with each value, and log-likelihoods of the published groups.

    Attributes
    ----------
    counts : float array, shape (rows, m)
        By row of `Evidence.table`: the rows after the s signatures are of the records whose signature has too little support.
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
    cells, component = evidence.cells, evidence.component_of_row
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
    """Expected numbers with the first value in the cells of distinct groups, under probabilities ``first`` of each row.

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
    component, components = evidence.component_of_row, int(evidence.component[-1]) + 1
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
    sums = np.zeros((evidence.rows, belief.shape[1]))
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


MIN_SADDLEPOINT_VARIANCE = 50.0
"""Smallest variance of the number of records with x at which the saddlepoint approximation is used."""

LOG_2_PI = math.log(2 * math.pi)


@compiled
def group_expectations(
    probability: FloatArray, size: IntArray, c: int, max_operations: float, expected: FloatArray
) -> tuple[float, float]:
    """Expected number of records with x in each cell of a group, exact or by a saddlepoint approximation.

    The computation is exact (`cell_expectations`) where it takes at most ``max_operations`` operations, or where the variance V
    below is under `MIN_SADDLEPOINT_VARIANCE`. Otherwise, with p the probabilities tilted to an expected number of c,
    ``V = sum of N_i p_i (1 - p_i)`` and ``K = sum of N_i p_i (1 - p_i) (1 - 2 p_i)``::

        log-weight = that of the tilted odds - log(2 pi V) / 2
        expected_i = N_i (p_i + p_i (1 - p_i) (K / V - (1 - 2 p_i)) / (2 V))

    The second line is the derivative of the first by the log-odds of cell i. A fit that maximizes the first therefore solves the
    equations in the second.

    Parameters
    ----------
    probability, size, c, expected
        As for `cell_expectations`.
    max_operations : float
        Largest number of operations N c of an exact computation, where c is the number of records with the rarer of the two
        values.

    Returns
    -------
    log_weight : float
        Its error is O(1 / V).
    error : float
        Largest absolute term of order 1 / V in a probability; 0 where the computation is exact. The probabilities include this
        term; what they leave out is O(1 / V^2).

    Notes
    -----
    H. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25 (1954). Cost: O(k) for k cells,
    times some tens of iterations.
    """
    records, holders = undecided(probability, size, c)
    if holders < 0 or holders > records or records * float(min(holders, records - holders)) <= max_operations:
        return cell_expectations(probability, size, c, expected), 0.0
    tilted, log_weight = tilt(probability, size, holders, False)
    # Sum of N_i p_i, V and K, with p the tilted probabilities.
    mean, variance, skew = 0.0, 0.0, 0.0
    for i in range(len(size)):
        own = size[i] * tilted[i] * (1.0 - tilted[i])
        mean += size[i] * tilted[i]
        variance += own
        skew += own * (1.0 - 2.0 * tilted[i])
    if variance < MIN_SADDLEPOINT_VARIANCE:
        return cell_expectations(probability, size, c, expected), 0.0
    # expected_i; decided cells have all of their records or none.
    error = 0.0
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            own = tilted[i] * (1.0 - tilted[i])
            first_order = own * (skew / variance - (1.0 - 2.0 * tilted[i])) / (2.0 * variance)
            # The tilted mean differs from c by up to 0.001; one more Newton step corrects that.
            expected[i] = size[i] * (tilted[i] + own * (holders - mean) / variance + first_order)
            error = max(error, abs(first_order))
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
    return log_weight - (LOG_2_PI + math.log(variance)) / 2.0, error


@compiled
def cell_expectations(probability: FloatArray, size: IntArray, c: int, expected: FloatArray) -> float:
    """Expected number of records with x in each cell of a group, over all assignments, exact.

    Parameters
    ----------
    probability : float array, shape (k,)
        Probability f that a record of the cell has x before the group is seen; from 0 to 1.
    size : int array, shape (k,)
        Number of records of each cell; they sum to N.
    c : int
        Number of the N records that have x, 0 to N.
    expected : float array, shape (k,)
        Output: ``N_i p(t:x)`` for the records t of cell i (foreground knowledge, Equations 3 and 5).

    Returns
    -------
    float
        Logarithm of the weight of all assignments (the sum in Equation 2). Minus infinity where no assignment is possible;
        ``expected`` is then that of equal probabilities, N_i c / N.

    Notes
    -----
    Exact to rounding, relative to each expected number; where more than half of the undecided records have x, to that of the
    records that lack it. Cost: O(N c) time and O(k c) memory; O(k) where one record has x, or all but one.
    """
    records, holders = undecided(probability, size, c)
    if holders < 0 or holders > records:
        expected[:] = size * c / size.sum()
        return -np.inf
    # Count the rarer of the two values among the undecided records.
    complement = 2 * holders > records
    holders = records - holders if complement else holders
    if holders == 1:
        return _one_holder(probability, size, complement, expected)
    tilted, log_weight = tilt(probability, size, holders, complement)
    # before[i, a]: probability of a counted records in the cells 0, ..., i - 1, under the tilted probabilities.
    coefficients, before = np.zeros((len(size), holders + 1)), np.zeros((len(size) + 1, holders + 1))
    before[0, 0] = 1.0
    for i in range(len(size)):
        binomial(tilted[i], size[i], coefficients[i])
        multiply(before[i], coefficients[i], size[i], before[i + 1])
    _backward_means(probability, size, complement, coefficients, before, expected)
    return log_weight + math.log(before[len(size), holders])


@compiled
def _backward_means(
    probability: FloatArray,
    size: IntArray,
    complement: bool,
    coefficients: FloatArray,
    before: FloatArray,
    expected: FloatArray,
) -> None:
    """Write each cell's mean number given that of the group into ``expected``, from the last cell to the first.

    ``coefficients`` holds the probabilities of each cell's numbers, ``before`` those of all cells before it together.
    """
    holders = coefficients.shape[1] - 1
    behind, product = np.zeros(holders + 1), np.zeros(holders + 1)
    behind[0] = 1.0
    for i in range(len(size) - 1, -1, -1):
        if 0.0 < probability[i] < 1.0:
            mean = _conditional_mean(coefficients[i], before[i], behind, size[i])
            expected[i] = size[i] - mean if complement else mean
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
        multiply(behind, coefficients[i], size[i], product)
        behind[:] = product


@compiled
def _conditional_mean(coefficients: FloatArray, before: FloatArray, behind: FloatArray, size: int) -> float:
    """Mean of a cell's number, given that all cells together have the largest number that the arrays reach."""
    holders = len(coefficients) - 1
    mean, total = 0.0, 0.0
    for b in range(min(size, holders) + 1):
        if coefficients[b] == 0.0:
            continue
        others = 0.0
        for a in range(holders - b + 1):
            others += before[a] * behind[holders - b - a]
        total += coefficients[b] * others
        mean += b * coefficients[b] * others
    return float(mean / total)


@compiled
def _one_holder(probability: FloatArray, size: IntArray, complement: bool, expected: FloatArray) -> float:
    """`cell_expectations` where one undecided record has x, or lacks it under ``complement``."""
    log_weight = odds_shares(probability, size, complement, expected)
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            log_weight += size[i] * (math.log(probability[i]) if complement else math.log1p(-probability[i]))
            expected[i] = size[i] - expected[i] if complement else expected[i]
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
    return log_weight


NEGLIGIBLE_RATIO = 1e-30
"""Ratio to a binomial's largest coefficient below which further coefficients are left at 0; those of 0 and 1 are kept."""

MAX_LOG_ODDS = 700.0
"""Largest absolute log-odds: the exponential of larger ones leaves the range of doubles."""

MIN_LOG_COEFFICIENT = -600.0
"""Smallest logarithm of a binomial's first coefficient from which the others follow by recurrence."""

TILTING_STEPS = 200
"""Largest number of iterations in the search for the tilting factor."""


@compiled
def undecided(probability: FloatArray, size: IntArray, c: int) -> tuple[int, int]:
    """Return the number of records with probabilities strictly between 0 and 1, and how many of them have x."""
    records, holders = 0, c
    for i in range(len(size)):
        if probability[i] >= 1.0:
            holders -= size[i]
        elif probability[i] > 0.0:
            records += size[i]
    return records, holders


@compiled
def odds_shares(probability: FloatArray, size: IntArray, complement: bool, shares: FloatArray) -> float:
    """Write each undecided cell's share of the sum of all records' odds into ``shares``; return the logarithm of the sum.

    Under ``complement`` the odds are those against x.
    """
    total, smallest = 0.0, 1.0
    if complement:
        for i in range(len(size)):
            if 0.0 < probability[i] < 1.0:
                smallest = min(smallest, probability[i])
    for i in range(len(size)):
        shares[i], f = 0.0, probability[i]
        if 0.0 < f < 1.0:
            # Odds against x are multiplied by the smallest probability, because the largest of them could be infinite.
            shares[i] = size[i] * ((1.0 - f) * (smallest / f) if complement else f / (1.0 - f))
            total += shares[i]
    for i in range(len(size)):
        shares[i] /= total
    return math.log(total) - math.log(smallest)


@compiled
def tilt(probability: FloatArray, size: IntArray, holders: int, complement: bool) -> tuple[FloatArray, float]:
    """Tilt the undecided cells' probabilities such that the expected number of counted records is ``holders``.

    Returns
    -------
    float array, shape (k,)
        The tilted probabilities; 0 for decided cells.
    float
        The difference of the log-weights of all assignments under the given and under the tilted probabilities.
    """
    log_odds = np.full(len(size), -np.inf)
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            own = math.log(probability[i]) - math.log1p(-probability[i])
            log_odds[i] = -own if complement else own
    shift = _log_factor(log_odds, size, holders)
    tilted, log_weight = np.zeros(len(size)), -holders * shift
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            log_against = math.log(probability[i]) if complement else math.log1p(-probability[i])
            if holders == 0:
                log_weight += size[i] * log_against
                continue
            shifted = log_odds[i] + shift
            tilted[i] = _logistic(shifted)
            # log(1 - f + f e^shift) = log(1 - f) + log(1 + e^(log-odds + shift))
            log_weight += size[i] * (
                log_against + (shifted if shifted > MAX_LOG_ODDS else math.log1p(math.exp(shifted)))
            )
    return tilted, log_weight


@compiled
def _log_factor(log_odds: FloatArray, size: IntArray, holders: int) -> float:
    """Logarithm of the factor of all odds under which ``holders`` records are expected, to 0.001; 0 where that is 0.

    Newton's method between bounds. Decided cells have log-odds of minus infinity.
    """
    if holders == 0:
        return 0.0
    # Bounds of the shift: p = holders / records in the cell of the largest odds (low), and in that of the smallest (high).
    records, low, high = 0, np.inf, -np.inf
    for i in range(len(size)):
        if log_odds[i] > -np.inf:
            records += size[i]
            low, high = min(low, -log_odds[i]), max(high, -log_odds[i])
    middle = math.log(holders) - math.log(records - holders)
    low, high = low + middle, high + middle
    shift = (low + high) / 2
    for _ in range(TILTING_STEPS):
        # Mean, sum of N_i p_i, and its derivative, sum of N_i p_i (1 - p_i).
        mean, slope = 0.0, 0.0
        for i in range(len(size)):
            if log_odds[i] > -np.inf:
                p = _logistic(log_odds[i] + shift)
                mean += size[i] * p
                slope += size[i] * p * (1.0 - p)
        if mean > holders:
            high = shift
        else:
            low = shift
        if abs(mean - holders) < 1e-3 or high - low < 1e-12:
            break
        # Newton step; bisection where it leaves the bounds.
        step = shift + (holders - mean) / max(slope, 1e-300)
        shift = step if low < step < high else (low + high) / 2
    return float(shift)


@compiled
def _logistic(x: float) -> float:
    """Probability with log-odds x."""
    return 1.0 / (1.0 + math.exp(-min(max(x, -MAX_LOG_ODDS), MAX_LOG_ODDS)))


@compiled
def binomial(p: float, size: int, coefficients: FloatArray) -> None:
    """Write the probabilities of 0, 1, ... of ``size`` records into ``coefficients``, as far as it reaches.

    Coefficients under `NEGLIGIBLE_RATIO` of the largest are left at 0.
    """
    coefficients[:] = 0.0
    last, log_first = min(size, len(coefficients) - 1), size * math.log1p(-p)
    if log_first < MIN_LOG_COEFFICIENT:
        _binomial_by_convolution(p, size, last, coefficients)
        return
    coefficients[0] = math.exp(log_first)
    peak, odds = coefficients[0], p / (1.0 - p)
    for b in range(last):
        coefficients[b + 1] = coefficients[b] * odds * (size - b) / (b + 1)
        peak = max(peak, coefficients[b + 1])
        if b > 0 and coefficients[b + 1] < NEGLIGIBLE_RATIO * peak:
            break


@compiled
def _binomial_by_convolution(p: float, size: int, last: int, coefficients: FloatArray) -> None:
    """Write the same probabilities up to ``last``, one record after another: O(size last), where the first underflows."""
    coefficients[0] = 1.0
    for done in range(size):
        for b in range(min(done + 1, last), 0, -1):
            coefficients[b] = coefficients[b] * (1.0 - p) + coefficients[b - 1] * p
        coefficients[0] *= 1.0 - p


@compiled
def multiply(one: FloatArray, other: FloatArray, degree: int, product: FloatArray) -> None:
    """Write the product of two polynomials into ``product``, as far as it reaches; the other's degree is at most ``degree``."""
    product[:] = 0.0
    for b in range(min(degree, len(product) - 1) + 1):
        if other[b] != 0.0:
            for a in range(len(product) - b):
                product[a + b] += one[a] * other[b]
