"""Two values in large groups, by the law of large numbers: a saddlepoint in place of a sum over all worlds."""

import math

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.elementary import cell_expectations, tilt, undecided

SPREAD = 50.0
"""The smallest variance of the number of people who have x for which the saddlepoint is taken."""

NORMALIZER = math.log(2 * math.pi)


@compiled
def group_expectations(
    probability: FloatArray, size: IntArray, c: int, most: float, expected: FloatArray
) -> tuple[float, float]:
    """The expected number of each cell of a group who have x, into ``expected``; the log-weight of the worlds, and the error.

    Exact (`cell_expectations`) where that takes at most ``most`` operations, or where the number of people who have x, all
    odds tilted to an expected number of c, has a variance under `SPREAD`. Else with p the tilted probabilities, ``V = sum of N_i
    p_i (1 - p_i)`` and ``K = sum of N_i p_i (1 - p_i) (1 - 2 p_i)``::

        log-weight = that of the tilted odds - log(2 pi V) / 2
        expected_i = N_i (p_i + p_i (1 - p_i) (K / V - (1 - 2 p_i)) / (2 V))

    The second line is the derivative of the first by the log-odds of cell i, so that a fit that climbs the one solves the other.

    Parameters
    ----------
    probability, size, c, expected
        As for `cell_expectations`.
    most : float
        The largest number of operations N c of an exact computation, c being the number of the rarer of the two values.

    Returns
    -------
    float, float
        The log-weight, of error O(1 / V); and the largest term of order 1 / V in a probability, 0 where the computation is exact.
        What that term leaves out is O(1 / V^2).

    Notes
    -----
    H. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25 (1954). Cost: O(k) for k cells,
    some tens of times.
    """
    people, left = undecided(probability, size, c)
    if left < 0 or left > people or people * float(min(left, people - left)) <= most:
        return cell_expectations(probability, size, c, expected), 0.0
    tilted, weight = tilt(probability, size, left, False)
    mean, variance, skew = 0.0, 0.0, 0.0
    for i in range(len(size)):
        own = size[i] * tilted[i] * (1.0 - tilted[i])
        mean += size[i] * tilted[i]
        variance += own
        skew += own * (1.0 - 2.0 * tilted[i])
    if variance < SPREAD:
        return cell_expectations(probability, size, c, expected), 0.0
    largest = 0.0
    for i in range(len(size)):
        if 0.0 < probability[i] < 1.0:
            own = tilted[i] * (1.0 - tilted[i])
            first_order = own * (skew / variance - (1.0 - 2.0 * tilted[i])) / (2.0 * variance)
            # The tilted mean misses c by up to a thousandth; one more step of Newton's method mends that.
            expected[i] = size[i] * (tilted[i] + own * (left - mean) / variance + first_order)
            largest = max(largest, abs(first_order))
        else:
            expected[i] = size[i] if probability[i] >= 1.0 else 0.0
    return weight - (NORMALIZER + math.log(variance)) / 2.0, largest
