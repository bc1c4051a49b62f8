"""Expected number of records with a value in each cell of a group: exact polynomials, and a saddlepoint for large groups.

The law is that of independent Bernoulli variables given their sum (conditional Bernoulli). `polynomials` has the notation.
"""

import math

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.conditional_bernoulli.polynomials import (
    binomial,
    multiply,
    odds_shares,
    tilt,
    undecided,
)

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
    mean, variance, skew = 0.0, 0.0, 0.0
    for i in range(len(size)):
        own = size[i] * tilted[i] * (1.0 - tilted[i])
        mean += size[i] * tilted[i]
        variance += own
        skew += own * (1.0 - 2.0 * tilted[i])
    if variance < MIN_SADDLEPOINT_VARIANCE:
        return cell_expectations(probability, size, c, expected), 0.0
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
        for i in range(len(size)):
            expected[i] = size[i] * c / size.sum()
        return -np.inf
    complement = 2 * holders > records
    holders = records - holders if complement else holders
    if holders == 1:
        return _one_holder(probability, size, complement, expected)
    tilted, log_weight = tilt(probability, size, holders, complement)
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
