"""Visits of groups by block coordinate ascent, and sweeps over the groups whose messages have changed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.messages import Factors, Messages, send_backward, send_forward, write_predicted
from foreknow.models.joint.problem import JointProblem, Layout
from foreknow.models.progress import no_step


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
        last = first + members
        send_forward(first, last, records, at, factors, messages, scratch.predicted, likelihood, 0, pending)
        send_backward(first, last, at, factors, messages, scratch.onward, scratch.message, likelihood, 0, pending)
    return deviation


@compiled
def write_weights(
    weights: FloatArray, first: int, at: Layout, factors: Factors, messages: Messages, predicted: FloatArray
) -> None:
    """Weight of each own value of the members of a group given all other releases; also write the predicted states."""
    width, starts, backward = weights.shape[1], at.state_starts, messages.backward
    write_predicted(predicted, first, first + len(weights), at, factors, messages.forward)
    for i in range(len(weights)):
        total = 0.0
        weights[i, :] = 0.0
        for begin in range(starts[first + i], starts[first + i + 1], width):
            for s in range(width):
                weight = predicted[begin - starts[first] + s] * backward[begin + s]
                weights[i, s] += weight
                total += weight
        for s in range(width):
            weights[i, s] = weights[i, s] / total if total > 0.0 else 1.0 / width


@compiled
def write_record_weights(
    record_weights: FloatArray,
    groups: tuple[int, int],
    starts: IntArray,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
) -> None:
    """Weight of each possible value of the records of some groups given all other releases.

    Parameters
    ----------
    record_weights : float array, shape (B,)
        Overwritten at the records of the groups.
    groups : tuple of int
        The first group, and the one after the last.
    starts : int array, shape (R + 1,)
        Position of the first possible value of each record.
    at, factors, messages, scratch
        ``scratch`` is overwritten.
    """
    for g in range(groups[0], groups[1]):
        first, last = at.group_starts[g], at.group_starts[g + 1]
        width = at.value_starts[g + 1] - at.value_starts[g]
        weights = record_weights[starts[first] : starts[last]].reshape((last - first, width))
        write_weights(weights, first, at, factors, messages, scratch.predicted)


@inlined
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


@inlined
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


@inlined
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


@inlined
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


MAX_SCALINGS = 500
"""Largest number of rounds of scaling of a group for each visit."""

SCALED_TO = 0.9
"""Deviation to which a visit scales the tilts of a group, as a share of the tolerance: scaling further is undone by neighbours."""

FIRST_CHANGE = 1.0
"""Change of the messages to a group, in total variation, over which the first sweeps visit it."""

CHANGE_FACTOR = 3.0
"""Factor by which this threshold decreases once no group exceeds it."""


def thresholds(tolerance: float) -> list[float]:
    """Thresholds of the changes of messages: from `FIRST_CHANGE` down to the first one that is at most a tolerance."""
    found = [FIRST_CHANGE]
    while found[-1] > tolerance:
        found.append(found[-1] / CHANGE_FACTOR)
    return found


def fit_tilts(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    gap: FloatArray,
    tolerance: float,
    max_visits: float,
    step: Callable[[], None] = no_step,
) -> int:
    """Fit the tilts of the first ``groups`` groups until all expected counts are within a tolerance; return the number of visits.

    Sweeps go forward and backward in time, and visit the groups whose messages have changed by more than a threshold since their
    last visit. The threshold decreases until every group meets the tolerance.

    Parameters
    ----------
    groups : int
    at, factors, messages, scratch, pending
        As for `visit`; the last three are overwritten. ``pending`` is infinite for groups that were never visited.
    gap : float array, shape (G,)
        Overwritten with the deviation of each group, as `visit` returns it.
    tolerance : float
    max_visits : float
        Number of visits at which the iteration stops; checked after each sweep.
    step : callable
        Called before the sweeps of each threshold. Most laws need those of `thresholds`, some need smaller ones.
    """
    visits, change = 0, FIRST_CHANGE
    while visits < max_visits and change >= tolerance * 1e-6:
        step()
        visits += sweep_over(
            groups, at, factors, messages, scratch, pending, change, tolerance * SCALED_TO, max_visits - visits
        )
        if change <= tolerance and measure_gaps(gap, groups, at, factors, messages, scratch, pending) <= tolerance:
            return visits
        change /= CHANGE_FACTOR
    measure_gaps(gap, groups, at, factors, messages, scratch, pending)
    return visits


@compiled
def sweep_over(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    change: float,
    tolerance: float,
    max_visits: float,
) -> int:
    """Sweep until no group has messages that changed by more than ``change``; return the number of visits."""
    visits, made = 0, 1
    while made > 0 and visits < max_visits:
        made = _sweep(groups, at, factors, messages, scratch, pending, change, tolerance)
        visits += made
    return visits


@compiled
def _sweep(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    change: float,
    tolerance: float,
) -> int:
    """Visit the groups whose messages changed by more than ``change``, forward and then backward; return their number."""
    visits = 0
    records = at.group_starts[groups]
    for step in range(2 * groups):
        g = step if step < groups else 2 * groups - 1 - step
        if pending[g] > change:
            visit(g, records, at, factors, messages, scratch, pending, MAX_SCALINGS, tolerance)
            visits += 1
    return visits


@compiled
def measure_gaps(
    gap: FloatArray,
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
) -> float:
    """Deviation of the counts of each of the first ``groups`` groups, written to ``gap``; return the largest."""
    largest = 0.0
    for g in range(groups):
        gap[g] = visit(g, at.group_starts[groups], at, factors, messages, scratch, pending, 0, 0.0)
        largest = max(largest, gap[g])
    return largest


@compiled
def tilted_counts(
    groups: IntArray, m: int, at: Layout, factors: Factors, messages: Messages, scratch: Scratch
) -> FloatArray:
    """Expected number of records of each value among the members of some groups: float array, shape ``(len(groups), m)``.

    Groups publish own values, not distorted ones. ``scratch`` is overwritten. Cost: O(states of their members times values).
    """
    expected = np.zeros((len(groups), m))
    for row in range(len(groups)):
        g = groups[row]
        first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        weights = scratch.weights[:members, :width]
        write_weights(weights, first, at, factors, messages, scratch.predicted)
        for i in range(members):
            total = 0.0
            for s in range(width):
                total += weights[i, s] * messages.tilt[start + s]
            if total > 0.0:
                for s in range(width):
                    expected[row, at.values[start + s]] += weights[i, s] * messages.tilt[start + s] / total
    return expected
