"""Negative dual of minimum relative entropy: logarithm of the weight of all paths under the tilts."""

import numpy as np

from foreknow.models.arrays import FloatArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, multiply_evidence


@compiled
def log_weight(at: Layout, factors: Factors, tilt: FloatArray) -> float:
    """Negative dual, ``sum over paths of log Z_i(tilt) - sum over groups of n_gs log tilt_gs``.

    Parameters
    ----------
    at, factors
        Read only.
    tilt : float array, shape (V,)
        Factor of each published value of each group.

    Returns
    -------
    float
        At least the negative relative entropy of the tilted law, and equal to it where the tilts meet the counts. Where every
        group has one member, the log-likelihood of the values; minus infinity where a path has weight 0.

    Notes
    -----
    Cost: O(S d), one forward pass.
    """
    total = 0.0
    for position in range(len(tilt)):
        if at.shown[position] > 0.0:
            total -= at.shown[position] * np.log(max(tilt[position], 1e-300))
    forward = np.zeros(at.state_starts[-1])
    for r in range(len(at.previous)):
        low, high = at.state_starts[r], at.state_starts[r + 1]
        weight = _write_weights(forward[low:high], r, at, factors, forward, tilt)
        if weight <= 0.0:
            return -np.inf
        total += np.log(weight)
        for state in range(low, high):
            forward[state] /= weight
    return total


@compiled
def _write_weights(
    message: FloatArray, r: int, at: Layout, factors: Factors, forward: FloatArray, tilt: FloatArray
) -> float:
    """Write the tilted weight of each state of a record given the earlier records; return the sum."""
    g = factors.group[r]
    start, width, p = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g], at.previous[r]
    if p < 0:
        for s in range(width):
            message[s] = factors.prior[factors.path[r], at.values[start + s]]
    else:
        contexts, first = len(message) // width, at.state_starts[p]
        for state in range(at.state_starts[p + 1] - first):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                message[begin + s] += forward[first + state] * at.table[row, at.values[start + s]]
    multiply_evidence(message, r, start, width, at, factors)
    channel, total = factors.emission_row[g], 0.0
    for state in range(len(message)):
        s = state % width
        likelihood = tilt[start + s]
        if channel >= 0:
            likelihood = 0.0
            for shown in range(width):
                likelihood += (
                    factors.emission[channel, at.values[start + s], at.values[start + shown]] * tilt[start + shown]
                )
        message[state] *= likelihood
        total += message[state]
    return total
