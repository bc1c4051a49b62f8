"""Messages along the paths of a joint problem, tilted by one factor for each group and value."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.problem import JointProblem


class Potentials(NamedTuple):
    """Factors of a joint problem beside the groups: priors of paths, evidence, and channels of distorted values."""

    path: IntArray
    group: IntArray
    prior: FloatArray
    evidence: FloatArray
    evidence_row: IntArray
    emission: FloatArray
    emission_row: IntArray


class Messages(NamedTuple):
    """Messages of the tilted law of all paths; they are overwritten by the kernels.

    Attributes
    ----------
    forward : float array, shape (S,)
        Law of each state given earlier records and the evidence of this one, without the tilt of this one.
    backward : float array, shape (S,)
        Likelihood of later records given each state, scaled to a maximum of 1.
    tilt : float array, shape (V,)
        Factor of each published value of each group; 1 in groups that publish nothing.
    """

    forward: FloatArray
    backward: FloatArray
    tilt: FloatArray


def potentials(problem: JointProblem) -> Potentials:
    """Factors of a problem, for kernels."""
    return Potentials(
        problem.path,
        problem.group,
        problem.prior,
        problem.evidence,
        problem.evidence_row,
        problem.emission,
        problem.emission_row,
    )


def first_messages(problem: JointProblem) -> Messages:
    """Messages without evidence: forward and backward 1, tilts 1, and 0 for values that are not published."""
    at = problem.layout
    constrained = np.repeat(problem.constrained, np.diff(at.value_starts))
    states = int(at.state_starts[-1])
    return Messages(np.ones(states), np.ones(states), np.where(constrained & (at.shown == 0), 0.0, 1.0))


@compiled
def write_likelihood(likelihood: FloatArray, g: int, at: Layout, factors: Potentials, tilt: FloatArray) -> None:
    """Likelihood of each value of the records of a group: the tilt, or the expected tilt of the published value."""
    start, width = at.value_starts[g], len(likelihood)
    row = factors.emission_row[g]
    for s in range(width):
        likelihood[s] = tilt[start + s]
    if row >= 0:
        for s in range(width):
            likelihood[s] = 0.0
            for shown in range(width):
                likelihood[s] += factors.emission[row, s, shown] * tilt[start + shown]


@compiled
def write_forward(r: int, at: Layout, factors: Potentials, messages: Messages, likelihood: FloatArray) -> bool:
    """Forward message of a record; ``likelihood`` is that of its previous record's group. Return False if it is zero.

    A message of zero becomes uniform: what is known of the path rules the group's values out.
    """
    low, high = at.state_starts[r], at.state_starts[r + 1]
    start = at.value_starts[factors.group[r]]
    width = at.value_starts[factors.group[r] + 1] - start
    message = messages.forward[low:high]
    p = at.previous[r]
    if p < 0:
        for s in range(width):
            message[s] = factors.prior[factors.path[r], at.values[start + s]]
    else:
        message[:] = 0.0
        contexts = len(message) // width
        first, last, before = at.state_starts[p], at.state_starts[p + 1], len(likelihood)
        for state in range(last - first):
            weight = messages.forward[first + state] * likelihood[state % before]
            if weight > 0.0:
                row, begin = at.state_rows[first + state], (state % contexts) * width
                for s in range(width):
                    message[begin + s] += weight * at.table[row, at.values[start + s]]
    _multiply_evidence(message, r, start, width, at, factors)
    return _normalize(message)


@compiled
def _multiply_evidence(message: FloatArray, r: int, start: int, width: int, at: Layout, factors: Potentials) -> None:
    row = factors.evidence_row[r]
    if row >= 0:
        for state in range(len(message)):
            message[state] *= factors.evidence[row, at.values[start + state % width]]


@compiled
def _normalize(message: FloatArray) -> bool:
    total = message.sum()
    if total > 0.0:
        message /= total
    else:
        message[:] = 1.0 / len(message)
    return bool(total > 0.0)


@compiled
def write_backward(r: int, at: Layout, factors: Potentials, messages: Messages, likelihood: FloatArray) -> None:
    """Backward message of the record before r; ``likelihood`` is that of r's group. A message of zero becomes uniform."""
    p = at.previous[r]
    start, width = at.value_starts[factors.group[r]], len(likelihood)
    low, contexts = at.state_starts[r], (at.state_starts[r + 1] - at.state_starts[r]) // width
    message = messages.backward[at.state_starts[p] : at.state_starts[p + 1]]
    onward = messages.backward[low : at.state_starts[r + 1]].copy()
    _multiply_evidence(onward, r, start, width, at, factors)
    for state in range(len(onward)):
        onward[state] *= likelihood[state % width]
    for state in range(len(message)):
        row, begin = at.state_rows[at.state_starts[p] + state], (state % contexts) * width
        total = 0.0
        for s in range(width):
            total += at.table[row, at.values[start + s]] * onward[begin + s]
        message[state] = total
    largest = message.max()
    if largest > 0.0:
        message /= largest
    else:
        message[:] = 1.0


@compiled
def write_weights(weights: FloatArray, g: int, at: Layout, messages: Messages) -> None:
    """Weight of each value of each record of a group given the other releases: float array, shape ``(k, d)``; rows sum to 1."""
    first, width = at.group_starts[g], weights.shape[1]
    for i in range(len(weights)):
        low = at.state_starts[first + i]
        for s in range(width):
            weights[i, s] = 0.0
        for state in range(at.state_starts[first + i + 1] - low):
            weights[i, state % width] += messages.forward[low + state] * messages.backward[low + state]
        _normalize(weights[i])


@compiled
def write_published(published: FloatArray, weights: FloatArray, g: int, factors: Potentials) -> None:
    """Weight of each published value of each record of a group: that of the own values, or through the channel."""
    row = factors.emission_row[g]
    if row < 0:
        published[:] = weights
        return
    published[:] = 0.0
    for i in range(len(weights)):
        for s in range(weights.shape[1]):
            for shown in range(weights.shape[1]):
                published[i, shown] += weights[i, s] * factors.emission[row, s, shown]
