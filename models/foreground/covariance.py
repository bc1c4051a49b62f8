"""How the cells of a group move together: the covariance of who has x, over the worlds of the group."""

from collections.abc import Callable

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.elementary import binomial, multiply, odds_shares, tilt
from foreknow.models.foreground.evidence import Evidence


def movement(evidence: Evidence, first: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """How the expected numbers who have the first of two values move, signature by signature, with the signatures' log-odds.

    ``first``, shape ``(s,)``, is the probability of the value. The answer takes a direction of the log-odds to that of the
    numbers, both of shape ``(s,)``: a product with their covariance matrix, which is never built. Cost of a product: that of
    an expectation step, three times.
    """
    cells, table = evidence.cells, np.append(first, evidence.rest[0])

    def moved(ahead: FloatArray) -> FloatArray:
        along = np.append(ahead, 0.0)
        return _in_cells(cells.signature, cells.size, cells.starts, cells.holding, cells.times, table, along)[:-1]

    return moved


@compiled
def _in_cells(
    signature: IntArray,
    size: IntArray,
    starts: IntArray,
    holding: IntArray,
    times: IntArray,
    first: FloatArray,
    ahead: FloatArray,
) -> FloatArray:
    """How the number of each signature's people who are expected to have x moves along a direction of the log-odds."""
    moved = np.zeros(len(first))
    for kind in range(len(holding)):
        places = signature[starts[kind] : starts[kind + 1]]
        of_cells = np.zeros(len(places))
        cell_covariances(first[places], size[starts[kind] : starts[kind + 1]], holding[kind], ahead[places], of_cells)
        for i in range(len(places)):
            moved[places[i]] += times[kind] * of_cells[i]
    return moved


@compiled
def cell_covariances(probability: FloatArray, size: IntArray, c: int, ahead: FloatArray, moved: FloatArray) -> None:
    """The covariance of each cell's number who have x with a weighted sum of all these numbers, into ``moved``.

    It is by how much the expected numbers (`cell_expectations`) move if the logarithms of the cells' odds move along
    ``ahead``: ``moved_i = sum_l Cov(n_i, n_l) ahead_l = sum_l (d E[n_i] / d log-odds_l) ahead_l``.

    Parameters
    ----------
    probability : float array, shape (k,)
        Of each cell's people, the probability that one has x; cells of probability 0 or 1 do not move.
    size : int array, shape (k,)
        How many people are in each cell; they sum to N.
    c : int
        How many of the N have x; that it is possible is not checked.
    ahead : float array, shape (k,)
        The direction.
    moved : float array, shape (k,)
        Is written.

    Notes
    -----
    Exact to rounding; sums are taken about their means, so that little cancels. Cost:
    O(N c) time, O(k c) memory; O(k) where one person has x, or all but one.
    """
    k, people, left = len(size), 0, c
    for i in range(k):
        moved[i] = 0.0
        people += size[i] if 0.0 < probability[i] < 1.0 else 0
        left -= size[i] if probability[i] >= 1.0 else 0
    turned = 2 * left > people
    left = people - left if turned else left
    if left == 0:
        return
    mean = 0.0
    if left == 1:
        odds_shares(probability, size, turned, moved)
        for i in range(k):
            mean += moved[i] * ahead[i]
        for i in range(k):
            moved[i] *= ahead[i] - mean
        return
    # Counting those without x instead of those with it turns both signs.
    tilted, _ = tilt(probability, size, left, turned)
    for i in range(k):
        mean += size[i] * tilted[i] * ahead[i] / left
    fewer, first = np.zeros((k + 1, left + 1)), np.zeros((k + 1, left + 1))
    fewer[0, 0] = 1.0
    counts, leaning, product = np.zeros((k, left + 1)), np.zeros((k, left + 1)), np.zeros(left + 1)
    for i in range(k):
        binomial(tilted[i], size[i], counts[i])
        for b in range(left + 1):
            leaning[i, b] = counts[i, b] * b * (ahead[i] - mean)
        multiply(fewer[i], counts[i], size[i], fewer[i + 1])
        _multiply_signed(fewer[i], leaning[i], size[i], product)
        multiply(first[i], counts[i], size[i], first[i + 1])
        first[i + 1] += product
    whole, lean = fewer[k, left], first[k, left] / fewer[k, left]
    behind, onward, beside = np.zeros(left + 1), np.zeros(left + 1), np.zeros(left + 1)
    behind[0] = 1.0
    for i in range(k - 1, -1, -1):
        if 0.0 < probability[i] < 1.0:
            share, together = 0.0, 0.0
            for b in range(1, min(size[i], left) + 1):
                if counts[i, b] == 0.0:
                    continue
                others, others_lean = 0.0, 0.0
                for a in range(left - b + 1):
                    others += fewer[i, a] * behind[left - b - a]
                    others_lean += first[i, a] * behind[left - b - a] + fewer[i, a] * onward[left - b - a]
                share += b * counts[i, b] * others
                together += b * (counts[i, b] * others_lean + leaning[i, b] * others)
            moved[i] = together / whole - share / whole * lean
        multiply(onward, counts[i], size[i], beside)
        _multiply_signed(behind, leaning[i], size[i], product)
        onward[:] = beside + product
        multiply(behind, counts[i], size[i], beside)
        behind[:] = beside


@compiled
def _multiply_signed(one: FloatArray, other: FloatArray, longest: int, product: FloatArray) -> None:
    """As `multiply`, of numbers that may be negative."""
    product[:] = 0.0
    for b in range(min(longest, len(product) - 1) + 1):
        if other[b] != 0.0:
            for a in range(len(product) - b):
                product[a + b] += one[a] * other[b]
