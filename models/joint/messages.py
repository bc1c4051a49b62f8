"""Messages along the paths of a joint problem, and the visits of groups that fit the tilts of minimum relative entropy."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.problem import JointProblem, Layout
from foreknow.models.progress import no_step


class Factors(NamedTuple):
    """Factors of a joint problem beside those of the groups: priors of paths, evidence, and channels of distorted values."""

    path: IntArray
    group: IntArray
    prior: FloatArray
    evidence: FloatArray
    evidence_row: IntArray
    emission: FloatArray
    emission_row: IntArray


class Messages(NamedTuple):
    """Messages of the tilted law of all paths.

    Attributes
    ----------
    forward : float array, shape (S,)
        Law of the state of each record given the earlier records, its evidence and the tilts up to it; sums to 1.
    backward : float array, shape (S,)
        Likelihood of the later records given the state of each record, scaled to a maximum of 1.
    tilt : float array, shape (V,)
        Factor of each published value of each group; 1 in groups that publish nothing.
    """

    forward: FloatArray
    backward: FloatArray
    tilt: FloatArray


def factors_of(problem: JointProblem) -> Factors:
    """Factors of a problem."""
    return Factors(
        problem.path,
        problem.group,
        problem.prior,
        problem.evidence,
        problem.evidence_row,
        problem.emission,
        problem.emission_row,
    )


def first_messages(problem: JointProblem) -> Messages:
    """Messages before any iteration: all 1, and tilts 0 for values that a group does not publish."""
    at = problem.layout
    constrained = np.repeat(problem.constrained, np.diff(at.value_starts))
    states = int(at.state_starts[-1])
    return Messages(np.ones(states), np.ones(states), np.where(constrained & (at.shown == 0), 0.0, 1.0))


def copied(messages: Messages) -> Messages:
    """Copy of messages, which an iteration may overwrite."""
    return Messages(*(part.copy() for part in messages))


@compiled
def multiply_evidence(message: FloatArray, r: int, start: int, width: int, at: Layout, factors: Factors) -> None:
    """Multiply the evidence of a record into a message over its states."""
    row = factors.evidence_row[r]
    if row >= 0:
        for begin in range(0, len(message), width):
            for s in range(width):
                message[begin + s] *= factors.evidence[row, at.values[start + s]]


@compiled
def write_predicted(
    predicted: FloatArray, first: int, last: int, at: Layout, factors: Factors, forward: FloatArray
) -> None:
    """Law of the state of each record given the earlier records and its evidence; uniform where they leave no possible value.

    Parameters
    ----------
    predicted : float array, shape (states of the records,) at least
        Overwritten.
    first, last : int
        Records of one group, from ``first`` to the one before ``last``.
    at, factors
        Read only.
    forward : float array, shape (S,)
        Forward messages.
    """
    starts, rows, table, values = at.state_starts, at.state_rows, at.table, at.values
    previous, evidence, evidence_row = at.previous, factors.evidence, factors.evidence_row
    start, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        low, high, p = starts[r] - starts[first], starts[r + 1] - starts[first], previous[r]
        if p < 0:
            for s in range(width):
                predicted[low + s] = factors.prior[factors.path[r], values[start + s]]
        else:
            begin = low
            for state in range(low, high):
                predicted[state] = 0.0
            for state in range(starts[p], starts[p + 1]):
                weight, row = forward[state], rows[state]
                if weight > 0.0:
                    for s in range(width):
                        predicted[begin + s] += weight * table[row, values[start + s]]
                begin = begin + width if begin + width < high else low
        claim = evidence_row[r]
        if claim >= 0:
            for begin in range(low, high, width):
                for s in range(width):
                    predicted[begin + s] *= evidence[claim, values[start + s]]
        total = 0.0
        for state in range(low, high):
            total += predicted[state]
        scale = 1.0 / total if total > 0.0 else 0.0
        for state in range(low, high):
            predicted[state] = predicted[state] * scale if total > 0.0 else 1.0 / (high - low)


@compiled
def send_forward(
    first: int,
    last: int,
    records: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    predicted: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the next one of its path: the predicted law of its states times the likelihood of its value.

    Parameters
    ----------
    first, last : int
        Records of one group.
    records : int
        Records from this number on are not part of the problem; nothing is added to their ``pending``.
    at, factors, messages
        ``messages.forward`` is overwritten.
    predicted : float array
        As `write_predicted` wrote it.
    likelihood : float array
        Likelihood of value s of record r at ``(r - first) * stride + s``.
    stride : int
        0 if all records have the same likelihood, else the number of values of the group.
    pending : float array, shape (G,)
        The change of each message is added to that of the group which receives it.
    """
    starts, following, group = at.state_starts, at.following, factors.group
    forward, backward = messages.forward, messages.backward
    _, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        low, states, of_predicted = starts[r], starts[r + 1] - starts[r], starts[r] - starts[first]
        place, total, total_old, total_new = (r - first) * stride, 0.0, 0.0, 0.0
        for begin in range(0, states, width):
            for s in range(width):
                state = begin + s
                weight = predicted[of_predicted + state] * likelihood[place + s]
                predicted[of_predicted + state] = weight
                total += weight
                total_old += forward[low + state] * backward[low + state]
                total_new += weight * backward[low + state]
        scale = 1.0 / total if total > 0.0 else 0.0
        if 0 <= following[r] < records:
            change, old, new = 1.0, 0.0, 0.0
            if total_old > 0.0 and total_new > 0.0:
                change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
                for state in range(states):
                    moved = abs(forward[low + state] * old - predicted[of_predicted + state] * new)
                    change += moved * backward[low + state] / 2
            pending[group[following[r]]] += change
        for state in range(states):
            forward[low + state] = predicted[of_predicted + state] * scale if total > 0.0 else 1.0 / states


@compiled
def send_backward(
    first: int,
    last: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    onward: FloatArray,
    sent: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the previous one of its path: the likelihood of this record and the later ones.

    A likelihood of 0 throughout becomes uniform. ``messages.backward`` of the previous records is overwritten, ``onward`` and
    ``sent`` are buffers for the states of one record, and the other parameters are those of `send_forward`.
    """
    starts, rows, table, values = at.state_starts, at.state_rows, at.table, at.values
    previous, group, evidence, evidence_row = at.previous, factors.group, factors.evidence, factors.evidence_row
    forward, backward = messages.forward, messages.backward
    start, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        p = previous[r]
        if p < 0:
            continue
        states, place, claim = starts[r + 1] - starts[r], (r - first) * stride, evidence_row[r]
        for begin in range(0, states, width):
            for s in range(width):
                onward[begin + s] = backward[starts[r] + begin + s] * likelihood[place + s]
                if claim >= 0:
                    onward[begin + s] *= evidence[claim, values[start + s]]
        low, length, begin = starts[p], starts[p + 1] - starts[p], 0
        largest, total_old, total_new = 0.0, 0.0, 0.0
        for state in range(length):
            row, total = rows[low + state], 0.0
            for s in range(width):
                total += table[row, values[start + s]] * onward[begin + s]
            begin = begin + width if begin + width < states else 0
            sent[state] = total
            largest = max(largest, total)
            total_old += backward[low + state] * forward[low + state]
            total_new += total * forward[low + state]
        change, old, new = 1.0, 0.0, 0.0
        if total_old > 0.0 and total_new > 0.0:
            change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
            for state in range(length):
                change += abs(backward[low + state] * old - sent[state] * new) * forward[low + state] / 2
        pending[group[p]] += change
        scale = 1.0 / largest if largest > 0.0 else 0.0
        for state in range(length):
            backward[low + state] = sent[state] * scale if largest > 0.0 else 1.0


@inlined
def _values_of(first: int, last: int, at: Layout, factors: Factors) -> tuple[int, int]:
    """First position and number of the possible values of the records of a group; 0 for no record."""
    if last <= first:
        return 0, 0
    g = factors.group[first]
    return at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]


@compiled
def expected_steps(
    at: Layout, factors: Factors, messages: Messages, impossible: BoolArray, records: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Expected number of each transition, and the probability that the step to each record is impossible.

    Parameters
    ----------
    at, factors, messages
        Of a fitted law; read only.
    impossible : bool array, shape (Q, m)
        Entries of the transition tables that the knowledge rules out.
    records : tuple of int
        First record, and the one after the last, to which steps lead. ``(0, R)`` for all.

    Returns
    -------
    steps : float array, shape (Q, m)
        Expected number of transitions by row of ``table`` and value: sums of the pair marginals of consecutive records.
    ruled_out : float array, shape (R,)
        0 for the first record of a path.

    Notes
    -----
    Exact given the tilts. The likelihood of a record's values is recovered from its forward message, without another pass over
    the groups. Cost: O(S m) for all records.
    """
    steps = np.zeros(at.table.shape)
    ruled_out = np.zeros(len(at.previous))
    for r in range(records[0], records[1]):
        p = at.previous[r]
        if p < 0:
            continue
        start = at.value_starts[factors.group[r]]
        width = at.value_starts[factors.group[r] + 1] - start
        low, first = at.state_starts[r], at.state_starts[p]
        states, before = at.state_starts[r + 1] - low, at.state_starts[p + 1] - first
        contexts = states // width
        predicted = np.zeros(states)
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                predicted[begin + s] += messages.forward[first + state] * at.table[row, at.values[start + s]]
        onward = np.zeros(states)
        total = 0.0
        for state in range(states):
            if predicted[state] > 0.0:
                onward[state] = messages.forward[low + state] * messages.backward[low + state] / predicted[state]
                total += messages.forward[low + state] * messages.backward[low + state]
        if total <= 0.0:
            ruled_out[r] = 1.0
            continue
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                value = at.values[start + s]
                pair = messages.forward[first + state] * at.table[row, value] * onward[begin + s] / total
                steps[row, value] += pair
                if impossible[row, value]:
                    ruled_out[r] += pair
    return steps, ruled_out


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
