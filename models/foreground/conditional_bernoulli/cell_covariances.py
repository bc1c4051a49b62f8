"""Covariances of the numbers of records with a value, between the cells of a group: exact polynomials of moments."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.conditional_bernoulli.polynomials import (
    binomial,
    multiply,
    odds_shares,
    tilt,
    undecided,
)


@compiled
def cell_covariances(
    probability: FloatArray, size: IntArray, c: int, direction: FloatArray, covariance: FloatArray
) -> None:
    """Covariance of each cell's number of records with x with a weighted sum of these numbers.

    It is the derivative of the expected numbers (`cell_expectations`) along ``direction`` in the cells' log-odds:
    ``covariance_i = sum_l Cov(n_i, n_l) direction_l = sum_l (d E[n_i] / d log-odds_l) direction_l``.

    Parameters
    ----------
    probability : float array, shape (k,)
        Probability that a record of the cell has x; cells of probability 0 or 1 have covariance 0.
    size : int array, shape (k,)
        Number of records of each cell; they sum to N.
    c : int
        Number of the N records that have x. It must be possible; this is not checked.
    direction : float array, shape (k,)
        The weights of the sum.
    covariance : float array, shape (k,)
        Output.

    Notes
    -----
    Exact to rounding; sums are taken about their means, which limits cancellation. Cost: O(N c) time and O(k c) memory; O(k) where
    one record has x, or all but one.
    """
    covariance[:] = 0.0
    records, holders = undecided(probability, size, c)
    # Counting the records without x instead of those with it changes both signs.
    complement = 2 * holders > records
    holders = records - holders if complement else holders
    if holders == 0:
        return
    mean = 0.0
    if holders == 1:
        odds_shares(probability, size, complement, covariance)
        for i in range(len(size)):
            mean += covariance[i] * direction[i]
        for i in range(len(size)):
            covariance[i] *= direction[i] - mean
        return
    tilted, _ = tilt(probability, size, holders, complement)
    for i in range(len(size)):
        mean += size[i] * tilted[i] * direction[i] / holders
    zeroth, first = np.zeros((len(size), holders + 1)), np.zeros((len(size), holders + 1))
    for i in range(len(size)):
        binomial(tilted[i], size[i], zeroth[i])
        for b in range(holders + 1):
            first[i, b] = zeroth[i, b] * b * (direction[i] - mean)
    _backward_covariances(probability, size, zeroth, first, covariance)


@compiled
def _forward(size: IntArray, zeroth: FloatArray, first: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Moment polynomials of all cells before each cell, shapes ``(k + 1, c + 1)``.

    A pair of polynomials describes some cells. The zeroth has the probability of each total number as coefficients, the first
    has that probability times the expected centred sum of directions. For two sets of cells with pairs (p, p') and (q, q'), the
    pair of their union is (p q, p q' + p' q).
    """
    k, length = zeroth.shape
    before, before_first, product = np.zeros((k + 1, length)), np.zeros((k + 1, length)), np.zeros(length)
    before[0, 0] = 1.0
    for i in range(k):
        multiply(before[i], zeroth[i], size[i], before[i + 1])
        multiply(before[i], first[i], size[i], product)
        multiply(before_first[i], zeroth[i], size[i], before_first[i + 1])
        before_first[i + 1] += product
    return before, before_first


@compiled
def _backward_covariances(
    probability: FloatArray, size: IntArray, zeroth: FloatArray, first: FloatArray, covariance: FloatArray
) -> None:
    """Write each cell's covariance from its moment polynomials and those of the cells before and behind it."""
    k, length = zeroth.shape
    before, before_first = _forward(size, zeroth, first)
    whole, mean_sum = before[k, length - 1], before_first[k, length - 1] / before[k, length - 1]
    behind, behind_first = np.zeros(length), np.zeros(length)
    product, other = np.zeros(length), np.zeros(length)
    behind[0] = 1.0
    for i in range(k - 1, -1, -1):
        if 0.0 < probability[i] < 1.0:
            number, joint = _cell_moments(
                zeroth[i], first[i], before[i], before_first[i], behind, behind_first, size[i]
            )
            covariance[i] = joint / whole - number / whole * mean_sum
        multiply(behind_first, zeroth[i], size[i], product)
        multiply(behind, first[i], size[i], other)
        behind_first[:] = product + other
        multiply(behind, zeroth[i], size[i], product)
        behind[:] = product


@compiled
def _cell_moments(
    zeroth: FloatArray,
    first: FloatArray,
    before: FloatArray,
    before_first: FloatArray,
    behind: FloatArray,
    behind_first: FloatArray,
    size: int,
) -> tuple[float, float]:
    """Unnormalized mean of a cell's number, and of its product with the centred sum, given the number of all cells."""
    holders = len(zeroth) - 1
    number, joint = 0.0, 0.0
    for b in range(1, min(size, holders) + 1):
        if zeroth[b] == 0.0:
            continue
        others, others_first = 0.0, 0.0
        for a in range(holders - b + 1):
            others += before[a] * behind[holders - b - a]
            others_first += before_first[a] * behind[holders - b - a] + before[a] * behind_first[holders - b - a]
        number += b * zeroth[b] * others
        joint += b * (zeroth[b] * others_first + first[b] * others)
    return number, joint
