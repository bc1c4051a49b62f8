"""Which people of a group have one of two values: elementary symmetric polynomials, tilted so that nothing vanishes.

In a group of N people of whom c have x, each with a probability f of his own, a world weighs the product of the
probabilities it uses, and the weight of all worlds is a coefficient of ``prod_j ((1 - f_j) + f_j z)``. People of one
signature are alike, and are taken as one cell of the group. All terms are positive; multiplying all odds by one number
changes no share, and the number is chosen so that c people are expected: then what is summed is neither too large nor too
small, whatever the group.
"""

import math

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

NEGLIGIBLE = 1e-30
"""What part of a cell's likeliest number is too little to be told in a sum of doubles; a number of 1 is always told."""

LARGEST = 700.0
"""Log-odds beyond this are as good as this: their exponential would leave the range of doubles."""

FAINTEST = -600.0
"""The logarithm of the smallest probability of nobody from which the others are computed one from another."""


@compiled
def cell_expectations(probability: FloatArray, size: IntArray, c: int, expected: FloatArray) -> float:
    """How many of each cell of a group have x, on average over its worlds, into ``expected``; and the worlds' log-weight.

    Parameters
    ----------
    probability : float array, shape (k,)
        Of each cell's people, the probability f that one has x, before the group is seen; from 0 to 1.
    size : int array, shape (k,)
        How many people are in each cell; they sum to N.
    c : int
        How many of the N have x, 0 to N.
    expected : float array, shape (k,)
        Is written: ``N_i p(t:x)`` for the people t of cell i (foreground knowledge, Equations 3 and 5).

    Returns
    -------
    float
        The logarithm of the weight of all worlds (the sum in Equation 2); minus infinity where there is none, and then
        ``expected`` is that of equal probabilities, N_i c / N.

    Notes
    -----
    Exact to rounding. Cost: O(N c) time, O(k c) memory; O(k) where one person has x, or all but one.
    """
    people, left = undecided(probability, size, c)
    if left < 0 or left > people:
        for i in range(len(size)):
            expected[i] = size[i] * c / size.sum()
        return -np.inf
    # Of the undecided, either those with x or those without are counted, whichever are fewer.
    turned = 2 * left > people
    left = people - left if turned else left
    if left == 1:
        return _single(probability, size, turned, expected)
    tilted, weight = tilt(probability, size, left, turned)
    counts, before = np.zeros((len(size), left + 1)), np.zeros((len(size) + 1, left + 1))
    before[0, 0] = 1.0
    for i in range(len(size)):
        binomial(tilted[i], size[i], counts[i])
        multiply(before[i], counts[i], size[i], before[i + 1])
    _back(probability, size, turned, counts, before, expected)
    return weight + math.log(before[len(size), left])


@compiled
def undecided(probability: FloatArray, size: IntArray, c: int) -> tuple[int, int]:
    """How many people may or may not have x, and how many of them do."""
    people, left = 0, c
    for i in range(len(size)):
        if probability[i] >= 1.0:
            left -= size[i]
        elif probability[i] > 0.0:
            people += size[i]
    return people, left


@compiled
def _back(
    probability: FloatArray, size: IntArray, turned: bool, counts: FloatArray, before: FloatArray, expected: FloatArray
) -> None:
    """From the last cell to the first, the mean of each cell's number given that of the whole group, into ``expected``.

    ``counts`` has the chances of each cell's numbers, ``before`` those of all cells before each.
    """
    left = counts.shape[1] - 1
    behind, beside = np.zeros(left + 1), np.zeros(left + 1)
    behind[0] = 1.0
    for i in range(len(size) - 1, -1, -1):
        if 0.0 < probability[i] < 1.0:
            share = _mean_given(counts[i], before[i], behind, size[i])
            expected[i] = size[i] - share if turned else share
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
        multiply(behind, counts[i], size[i], beside)
        behind[:] = beside


@compiled
def _mean_given(counts: FloatArray, before: FloatArray, behind: FloatArray, size: int) -> float:
    """The mean of a cell's number, given that it and those before and behind it make the most that the arrays reach."""
    left = len(counts) - 1
    mean, total = 0.0, 0.0
    for b in range(min(size, left) + 1):
        if counts[b] == 0.0:
            continue
        others = 0.0
        for a in range(left - b + 1):
            others += before[a] * behind[left - b - a]
        total += counts[b] * others
        mean += b * counts[b] * others
    return float(mean / total)


@compiled
def _single(probability: FloatArray, size: IntArray, turned: bool, expected: FloatArray) -> float:
    """Where one undecided person has x, or does not where ``turned``."""
    weight = odds_shares(probability, size, turned, expected)
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            weight += size[i] * (math.log(probability[i]) if turned else math.log1p(-probability[i]))
            expected[i] = size[i] - expected[i] if turned else expected[i]
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
    return weight


@compiled
def odds_shares(probability: FloatArray, size: IntArray, turned: bool, shares: FloatArray) -> float:
    """Each undecided cell's share of all odds, or of all odds against, into ``shares``; and the logarithm of their sum."""
    total, smallest = 0.0, 1.0
    if turned:
        for i in range(len(size)):
            if 0.0 < probability[i] < 1.0:
                smallest = min(smallest, probability[i])
    for i in range(len(size)):
        shares[i], f = 0.0, probability[i]
        if 0.0 < f < 1.0:
            # Odds against are multiplied by the smallest probability: their own largest could be infinite.
            shares[i] = size[i] * ((1.0 - f) * (smallest / f) if turned else f / (1.0 - f))
            total += shares[i]
    for i in range(len(size)):
        shares[i] /= total
    return math.log(total) - math.log(smallest)


@compiled
def tilt(probability: FloatArray, size: IntArray, left: int, turned: bool) -> tuple[FloatArray, float]:
    """The undecided cells' probabilities, tilted such that ``left`` people are expected, and the log-weight that takes away.

    All odds are multiplied by one number. Cells that are decided get 0: they are not counted.
    """
    odds = np.full(len(size), -np.inf)
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            own = math.log(probability[i]) - math.log1p(-probability[i])
            odds[i] = -own if turned else own
    shift = _shift(odds, size, left)
    tilted, weight = np.zeros(len(size)), -left * shift
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            kept = math.log(probability[i]) if turned else math.log1p(-probability[i])
            if left == 0:
                weight += size[i] * kept
                continue
            moved = odds[i] + shift
            tilted[i] = _logistic(moved)
            # log(1 - f + f e^shift) = log(1 - f) + log(1 + e^(odds + shift))
            weight += size[i] * (kept + (moved if moved > LARGEST else math.log1p(math.exp(moved))))
    return tilted, weight


@compiled
def _shift(odds: FloatArray, size: IntArray, left: int) -> float:
    """What to add to all log-odds so that ``left`` people are expected, to a thousandth; 0 where that is none.

    By Newton's method between bounds. Cells that do not count have log-odds of minus infinity.
    """
    if left == 0:
        return 0.0
    undecided, low, high = 0, np.inf, -np.inf
    for i in range(len(size)):
        if odds[i] > -np.inf:
            undecided += size[i]
            low, high = min(low, -odds[i]), max(high, -odds[i])
    middle = math.log(left) - math.log(undecided - left)
    low, high = low + middle, high + middle
    shift = (low + high) / 2
    for _ in range(200):
        mean, slope = 0.0, 0.0
        for i in range(len(size)):
            if odds[i] > -np.inf:
                p = _logistic(odds[i] + shift)
                mean += size[i] * p
                slope += size[i] * p * (1.0 - p)
        if mean > left:
            high = shift
        else:
            low = shift
        if abs(mean - left) < 1e-3 or high - low < 1e-12:
            break
        step = shift + (left - mean) / max(slope, 1e-300)
        shift = step if low < step < high else (low + high) / 2
    return float(shift)


@compiled
def _logistic(x: float) -> float:
    """The probability whose log-odds are x."""
    return 1.0 / (1.0 + math.exp(-min(max(x, -LARGEST), LARGEST)))


@compiled
def binomial(p: float, size: int, counts: FloatArray) -> None:
    """The probabilities of 0, 1, ... of ``size`` people, as far as ``counts`` reaches; what is `NEGLIGIBLE` is left at 0."""
    counts[:] = 0.0
    last, nobody = min(size, len(counts) - 1), size * math.log1p(-p)
    if nobody < FAINTEST:
        counts[0] = 1.0
        for done in range(size):
            for b in range(min(done + 1, last), 0, -1):
                counts[b] = counts[b] * (1.0 - p) + counts[b - 1] * p
            counts[0] *= 1.0 - p
        return
    counts[0] = math.exp(nobody)
    peak, odds = counts[0], p / (1.0 - p)
    for b in range(last):
        counts[b + 1] = counts[b] * odds * (size - b) / (b + 1)
        peak = max(peak, counts[b + 1])
        if b > 0 and counts[b + 1] < NEGLIGIBLE * peak:
            break


@compiled
def multiply(one: FloatArray, other: FloatArray, longest: int, product: FloatArray) -> None:
    """The product of two polynomials, as far as ``product`` reaches; the other's degree is at most ``longest``."""
    product[:] = 0.0
    for b in range(min(longest, len(product) - 1) + 1):
        if other[b] > 0.0:
            for a in range(len(product) - b):
                product[a + b] += one[a] * other[b]
