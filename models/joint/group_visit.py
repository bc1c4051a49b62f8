"""Visit of one group by block coordinate ascent: messages to its records, tilts, and messages to the neighbouring records."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages, multiply_evidence, normalize, write_predicted
from foreknow.models.joint.problem import JointProblem


class Scratch(NamedTuple):
    """Arrays that every visit overwrites, of the size of the largest group.

    Attributes
    ----------
    predicted : float array, shape (states of the records of a group,)
    weights, published : float array, shape (members of a group, values of a group)
        Weight of each own and of each published value of a record given all other releases.
    expected, likelihood : float array, shape (values of a group,)
    message, onward : float array, shape (states of a record,)
    """

    predicted: FloatArray
    weights: FloatArray
    published: FloatArray
    expected: FloatArray
    likelihood: FloatArray
    message: FloatArray
    onward: FloatArray


def scratch_of(problem: JointProblem) -> Scratch:
    """Scratch arrays for the groups of a problem."""
    at = problem.layout
    members, width = np.diff(at.group_starts), np.diff(at.value_starts)
    states = np.diff(at.state_starts)
    of_group = np.diff(at.state_starts[at.group_starts])
    largest = int(states.max(initial=1))
    shape = (int(members.max(initial=1)), int(width.max(initial=1)))
    return Scratch(
        np.zeros(int(of_group.max(initial=1))),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape[1]),
        np.zeros(shape[1]),
        np.zeros(largest),
        np.zeros(largest),
    )


@compiled
def visit(
    g: int,
    records: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    rounds: int,
    tolerance: float,
) -> float:
    """Scale the tilts of a group to its counts, given all other releases, and send messages to neighbouring records.

    Parameters
    ----------
    g : int
    records : int
        Records from this number on are not part of the problem.
    at, factors, messages, scratch
        ``messages`` and ``scratch`` are overwritten.
    pending : float array, shape (G,)
        Change of the messages to each group since its last visit, in total variation of the beliefs of its neighbours; overwritten.
    rounds : int
        Largest number of rounds of scaling; 0 to measure only.
    tolerance : float
        Deviation at which scaling stops.

    Returns
    -------
    float
        Total variation between the expected and the published counts before scaling, as a share of the members.
    """
    first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
    start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
    weights, published = scratch.weights[:members, :width], scratch.published[:members, :width]
    write_weights(weights, first, at, factors, messages, scratch.predicted)
    tilt, shown, values = messages.tilt[start : start + width], at.shown[start : start + width], at.values[start:]
    deviation = 0.0
    if shown.sum() > 0.0:
        _through_channel(published, weights, factors.emission_row[g], factors.emission, values[:width])
        deviation = _scale(tilt, shown, published, scratch.expected[:width], rounds, tolerance)
    if rounds > 0:
        likelihood = scratch.likelihood[:width]
        _write_likelihood(likelihood, tilt, factors.emission_row[g], factors.emission, values[:width])
        pending[g] = 0.0
        for r in range(first, first + members):
            predicted = scratch.predicted[at.state_starts[r] - at.state_starts[first] :]
            send_forward(r, records, at, factors, messages, predicted, scratch.message, likelihood, pending)
            if at.previous[r] >= 0:
                send_backward(r, at, factors, messages, scratch.onward, scratch.message, likelihood, pending)
    return deviation


@compiled
def write_weights(
    weights: FloatArray, first: int, at: Layout, factors: Factors, messages: Messages, predicted: FloatArray
) -> None:
    """Weight of each own value of the members of a group given all other releases; also write the predicted states."""
    width = weights.shape[1]
    for i in range(len(weights)):
        low, states = at.state_starts[first + i], at.state_starts[first + i + 1] - at.state_starts[first + i]
        own = predicted[low - at.state_starts[first] :][:states]
        write_predicted(own, first + i, at, factors, messages.forward)
        for s in range(width):
            weights[i, s] = 0.0
        for begin in range(0, states, width):
            for s in range(width):
                weights[i, s] += own[begin + s] * messages.backward[low + begin + s]
        normalize(weights[i])


@compiled
def _through_channel(
    published: FloatArray, weights: FloatArray, row: int, emission: FloatArray, values: IntArray
) -> None:
    """Weight of each published value of each record: that of the own value, or through the channel of distorted values."""
    if row < 0:
        published[:] = weights
        return
    published[:] = 0.0
    for i in range(len(weights)):
        for s in range(len(values)):
            for shown in range(len(values)):
                published[i, shown] += weights[i, s] * emission[row, values[s], values[shown]]


@compiled
def _write_likelihood(
    likelihood: FloatArray, tilt: FloatArray, row: int, emission: FloatArray, values: IntArray
) -> None:
    """Likelihood of each own value: the tilt, or the expected tilt of the published value."""
    likelihood[:] = tilt
    if row >= 0:
        likelihood[:] = 0.0
        for s in range(len(values)):
            for shown in range(len(values)):
                likelihood[s] += emission[row, values[s], values[shown]] * tilt[shown]


@compiled
def _scale(
    tilt: FloatArray, shown: FloatArray, published: FloatArray, expected: FloatArray, rounds: int, tolerance: float
) -> float:
    """Scale tilts in place until expected counts are the published ones; return the deviation before."""
    before = _deviation(tilt, shown, published, expected)
    after = before
    for _ in range(rounds):
        if after <= tolerance:
            break
        largest = 0.0
        for s in range(len(tilt)):
            if shown[s] > 0.0:
                tilt[s] *= shown[s] / max(expected[s], 1e-300)
                largest = max(largest, tilt[s])
        for s in range(len(tilt)):
            tilt[s] /= largest
        after = _deviation(tilt, shown, published, expected)
    return before


@compiled
def _deviation(tilt: FloatArray, shown: FloatArray, published: FloatArray, expected: FloatArray) -> float:
    """Total variation between expected and published counts, as a share of the members; write the expected counts."""
    expected[:] = 0.0
    for i in range(len(published)):
        total = 0.0
        for s in range(len(tilt)):
            total += published[i, s] * tilt[s]
        if total > 0.0:
            scale = 1.0 / total
            for s in range(len(tilt)):
                expected[s] += published[i, s] * tilt[s] * scale
    deviation = 0.0
    for s in range(len(tilt)):
        deviation += abs(expected[s] - shown[s])
    return deviation / (2 * len(published))


@compiled
def send_forward(
    r: int,
    records: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    predicted: FloatArray,
    message: FloatArray,
    likelihood: FloatArray,
    pending: FloatArray,
) -> None:
    """Message of a record to the next one of its path: the predicted law of its states times the likelihood of its value."""
    low, states = at.state_starts[r], at.state_starts[r + 1] - at.state_starts[r]
    sent = message[:states]
    width = len(likelihood)
    for begin in range(0, states, width):
        for s in range(width):
            sent[begin + s] = predicted[begin + s] * likelihood[s]
    normalize(sent)
    before, backward = messages.forward[low : low + states], messages.backward[low : low + states]
    if 0 <= at.following[r] < records:
        pending[factors.group[at.following[r]]] += _change(before, sent, backward)
    before[:] = sent


@compiled
def send_backward(
    r: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    onward: FloatArray,
    message: FloatArray,
    likelihood: FloatArray,
    pending: FloatArray,
) -> None:
    """Message of a record to the previous one of its path: the likelihood of this record and the later ones.

    A likelihood of 0 throughout becomes uniform.
    """
    p, start, width = at.previous[r], at.value_starts[factors.group[r]], len(likelihood)
    low, states = at.state_starts[r], at.state_starts[r + 1] - at.state_starts[r]
    for begin in range(0, states, width):
        for s in range(width):
            onward[begin + s] = messages.backward[low + begin + s] * likelihood[s]
    multiply_evidence(onward[:states], r, start, width, at, factors)
    first = at.state_starts[p]
    sent = message[: at.state_starts[p + 1] - first]
    values, largest, begin = at.values[start : start + width], 0.0, 0
    for state in range(len(sent)):
        row, total = at.table[at.state_rows[first + state]], 0.0
        for s in range(width):
            total += row[values[s]] * onward[begin + s]
        sent[state] = total
        largest = max(largest, total)
        begin = begin + width if begin + width < states else 0
    scale = 1.0 / largest if largest > 0.0 else 0.0
    for state in range(len(sent)):
        sent[state] = sent[state] * scale if largest > 0.0 else 1.0
    before = messages.backward[first : first + len(sent)]
    pending[factors.group[p]] += _change(before, sent, messages.forward[first : first + len(sent)])
    before[:] = sent


@compiled
def _change(old: FloatArray, new: FloatArray, other: FloatArray) -> float:
    """Total variation between the beliefs ``old * other`` and ``new * other``; 1 where one of them is zero."""
    total_old = total_new = 0.0
    for state in range(len(old)):
        total_old += old[state] * other[state]
        total_new += new[state] * other[state]
    if total_old <= 0.0 or total_new <= 0.0:
        return 1.0
    change, scale_old, scale_new = 0.0, 1.0 / total_old, 1.0 / total_new
    for state in range(len(old)):
        change += abs(old[state] * scale_old - new[state] * scale_new) * other[state]
    return change / 2
