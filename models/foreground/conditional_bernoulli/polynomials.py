"""Polynomials of the number of records with a value: exponential tilting, binomial coefficients, products.

A group has N records, of which c have the value x; record j has x with probability f_j, independently of the others. The
weight of all assignments is the coefficient of ``z^c`` in ``prod_j ((1 - f_j) + f_j z)``. Records of one signature have the
same probability and form a cell. All terms are positive. Multiplying all odds ``f_j / (1 - f_j)`` by one factor changes no
conditional probability (exponential tilting). The factor is chosen such that the expected number of records with x is c.
The coefficients then neither overflow nor vanish.

Where fewer records lack x than have it, those without x are counted instead (``complement``). All odds are then inverted.
"""

import math

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

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
    records, low, high = 0, np.inf, -np.inf
    for i in range(len(size)):
        if log_odds[i] > -np.inf:
            records += size[i]
            low, high = min(low, -log_odds[i]), max(high, -log_odds[i])
    middle = math.log(holders) - math.log(records - holders)
    low, high = low + middle, high + middle
    shift = (low + high) / 2
    for _ in range(TILTING_STEPS):
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
