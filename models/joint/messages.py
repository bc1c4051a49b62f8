"""Messages along the paths of a joint problem, and the visits of groups that fit the tilts of minimum relative entropy.

Symbols in the comments: a state of a record r is the sequence of the values of the last d records of its path, x its last value,
p the record before r on the path, A the transitions, e the evidence, W the channel of distorted values, ``lambda`` the tilts
of the published values, ``alpha`` the forward and ``beta`` the backward messages.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.problem import JointProblem, Layout
from foreknow.models.progress import no_step

MAX_SCALINGS = 500
"""Largest number of rounds of scaling of a group for each visit."""

SCALED_TO = 0.9
"""Deviation to which a visit scales the tilts of a group, as a share of the tolerance: scaling further is undone by neighbours."""

FIRST_CHANGE = 1.0
"""Change of the messages to a group, in total variation, over which the first sweeps visit it."""

CHANGE_FACTOR = 3.0
"""Factor by which this threshold decreases once no group exceeds it."""


class Messages(NamedTuple):
    """Messages of the tilted law of all paths.

    Attributes
    ----------
    forward : float array, shape (S,)
        ``alpha``: law of the state of each record given the earlier records, its evidence and the tilts up to it; sums to 1.
    backward : float array, shape (S,)
        ``beta``: likelihood of the later records given the state of each record, scaled to a maximum of 1.
    tilt : float array, shape (V,)
        ``lambda``: factor of each published value of each group; 1 in groups that publish nothing.
    """

    forward: FloatArray
    backward: FloatArray
    tilt: FloatArray


def first_messages(problem: JointProblem) -> Messages:
    """Messages before any iteration: all 1, and tilts 0 for values that a group does not publish."""
    at = problem.layout
    constrained = np.repeat(problem.constrained, np.diff(at.value_starts))
    states = int(at.state_starts[-1])
    return Messages(np.ones(states), np.ones(states), np.where(constrained & (at.shown == 0), 0.0, 1.0))


def copied(messages: Messages) -> Messages:
    """Copy of messages, which an iteration may overwrite."""
    return Messages(*(part.copy() for part in messages))


class Scratch(NamedTuple):
    """Arrays that every visit overwrites, of the size of the largest group.

    ``predicted`` has the states of the records of a group, ``message`` and ``onward`` those of a record; ``weights`` and
    ``published``, shape (members, values), the weight of each own and published value given all other releases; ``expected`` and
    ``likelihood`` the values of a group.
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
    shape = tuple(int(np.diff(starts).max(initial=1)) for starts in (at.group_starts, at.value_starts))
    of_group, of_record = (
        int(np.diff(starts).max(initial=1)) for starts in (at.state_starts[at.group_starts], at.state_starts)
    )
    sizes = (of_group, shape, shape, shape[1], shape[1], of_record, of_record)
    return Scratch(*(np.zeros(size) for size in sizes))


def thresholds(tolerance: float) -> list[float]:
    """Thresholds of the changes of messages: from `FIRST_CHANGE` down to the first one that is at most a tolerance."""
    found = [FIRST_CHANGE]
    while found[-1] > tolerance:
        found.append(found[-1] / CHANGE_FACTOR)
    return found


def fit_tilts(
    groups: int,
    at: Layout,
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
    last visit. The threshold decreases until every group meets the tolerance; ``step`` is called before the sweeps of each. Most
    laws need those of `thresholds`, some need smaller ones. The iteration stops after a sweep with ``max_visits`` visits in all.

    ``messages``, ``scratch`` and ``pending`` are those of `visit`; ``pending`` is infinite for groups that were never visited.
    ``gap``, shape ``(G,)``, is overwritten with the deviation of each group, as `visit` returns it.
    """
    visits, change = 0, FIRST_CHANGE
    while visits < max_visits and change >= tolerance * 1e-6:
        step()
        left = max_visits - visits
        visits += sweep_over(groups, at, messages, scratch, pending, change, tolerance * SCALED_TO, left)
        if change <= tolerance and measure_gaps(gap, groups, at, messages, scratch, pending) <= tolerance:
            return visits
        change /= CHANGE_FACTOR
    measure_gaps(gap, groups, at, messages, scratch, pending)
    return visits


@compiled
def sweep_over(
    groups: int,
    at: Layout,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    change: float,
    tolerance: float,
    max_visits: float,
) -> int:
    """Visit the groups whose messages changed by more than ``change``, forward and backward in time, until there are none.

    Returns the number of visits.
    """
    visits, made = 0, 1
    while made > 0 and visits < max_visits:
        made = 0
        for step in range(2 * groups):
            g = step if step < groups else 2 * groups - 1 - step
            if pending[g] > change:
                visit(g, at.group_starts[groups], at, messages, scratch, pending, MAX_SCALINGS, tolerance)
                made += 1
        visits += made
    return visits


@compiled
def measure_gaps(
    gap: FloatArray, groups: int, at: Layout, messages: Messages, scratch: Scratch, pending: FloatArray
) -> float:
    """Deviation of the counts of each of the first ``groups`` groups, written to ``gap``; return the largest."""
    largest = 0.0
    for g in range(groups):
        gap[g] = visit(g, at.group_starts[groups], at, messages, scratch, pending, 0, 0.0)
        largest = max(largest, gap[g])
    return largest


@compiled
def visit(
    g: int,
    records: int,
    at: Layout,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    rounds: int,
    tolerance: float,
) -> float:
    """Scale the tilts of a group to its counts, given all other releases, and send messages to neighbouring records.

    ``messages`` and ``scratch`` are overwritten. Records from number ``records`` on are not part of the problem. ``pending``, shape
    ``(G,)``, is the change of the messages to each group since its last visit, in total variation of the beliefs of its neighbours.
    There are at most ``rounds`` rounds of scaling, to a deviation of ``tolerance``; 0 measures only.

    Returns the total variation between the expected and the published counts before scaling, as a share of the members.
    """
    first, last = at.group_starts[g], at.group_starts[g + 1]
    start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
    weights, published = scratch.weights[: last - first, :width], scratch.published[: last - first, :width]
    tilt, shown, values = messages.tilt[start : start + width], at.shown[start : start + width], at.values[start:]
    emission, channel, deviation = at.emission, at.emission_row[g], 0.0
    # w[i, x]: weight of each own value of member i by all other releases.
    write_weights(weights, first, at, messages, scratch.predicted)
    if shown.sum() > 0.0:
        # v[i, y] = sum over x of w[i, x] W(y | x): the same for published values.
        if channel < 0:
            published[:] = weights
        else:
            published[:] = 0.0
            for i in range(len(weights)):
                for x in range(width):
                    for y in range(width):
                        published[i, y] += weights[i, x] * emission[channel, values[x], values[y]]
        # lambda_y <- lambda_y n_y / E[count of y], until the expected counts are the published ones.
        deviation = _scale(tilt, shown, published, scratch.expected[:width], rounds, tolerance)
    elif at.count_start[g, 0] >= 0 and last > first:
        deviation = _soften(tilt, at, g, weights, scratch.expected[:width], rounds, tolerance)
    if rounds > 0:
        # L(x) = sum over y of W(y | x) lambda_y: the likelihood of each own value.
        likelihood = scratch.likelihood[:width]
        if channel < 0:
            likelihood[:] = tilt
        else:
            likelihood[:] = 0.0
            for x in range(width):
                for y in range(width):
                    likelihood[x] += emission[channel, values[x], values[y]] * tilt[y]
        pending[g] = 0.0
        send_forward(first, last, records, at, messages, scratch.predicted, likelihood, 0, pending)
        send_backward(first, last, at, messages, scratch.onward, scratch.message, likelihood, 0, pending)
    return deviation


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
        # lambda_y <- lambda_y n_y / E[count of y], scaled to a maximum of 1: a common factor changes no expected count.
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
def _soften(
    tilt: FloatArray, at: Layout, g: int, weights: FloatArray, expected: FloatArray, rounds: int, tolerance: float
) -> float:
    """Move the tilts of noisy counts to their fixed point in place; return the deviation before.

    The minimizer of ``KL(Q || chains) - sum over s of L_s(E n_s)``, for the log-likelihood L of a count, has the tilts ``log
    lambda_s = L_s'(E n_s)``: for Gaussian noise ``(y_s - E n_s) / sigma^2``. L' at k + 1/2 is ``L(k + 1) - L(k)``, linear between.
    The deviation is the change of expected counts that is left to first order, as a share of the members. The tilts of a group of
    one are the likelihood ratios, which is exact.
    """
    logs, start, numbers = at.count_logs, at.count_start[g], at.largest_count + 1
    if len(weights) == 1:
        for s in range(len(tilt)):
            tilt[s] = np.exp(min(max(logs[start[s] + 1] - logs[start[s]], -MAX_TILT), MAX_TILT))
        return 0.0
    before = 0.0
    for step in range(rounds + 1):
        _deviation(tilt, tilt, weights, expected)
        left = 0.0
        for s in range(len(tilt)):
            slope, change = _slope(logs[start[s] : start[s] + numbers], expected[s])
            left += expected[s] * abs(slope - np.log(tilt[s])) / (1.0 + expected[s] * change)
        left /= 2 * len(weights)
        before = left if step == 0 else before
        if step == rounds or left <= tolerance:
            break
        for s in range(len(tilt)):
            own = logs[start[s] : start[s] + numbers]
            tilt[s] = np.exp(_proximal(own, expected[s], np.log(tilt[s])))
    return before


MAX_TILT = 300.0
"""Largest absolute logarithm of the tilt of a noisy count."""


@inlined
def _slope(logs: FloatArray, number: float) -> tuple[float, float]:
    """Slope L' of log-likelihoods at an expected number, and minus its derivative; L is linear beyond the ends."""
    last = len(logs) - 2
    k = min(max(int(np.floor(number - 0.5)), 0), max(last - 1, 0))
    low, high = logs[k + 1] - logs[k], logs[min(k + 2, last + 1)] - logs[min(k + 1, last)]
    share = min(max(number - 0.5 - k, 0.0), 1.0)
    inside = 0.0 < number - 0.5 - k < 1.0
    return min(max(low + share * (high - low), -MAX_TILT), MAX_TILT), (low - high) if inside else 0.0


@inlined
def _proximal(logs: FloatArray, expected: float, tilt: float) -> float:
    """Tilt t with ``t = L'(n)`` and ``n = expected + expected (t - tilt)``, where expected is the slope of n in t, or more.

    By bisection: L' falls in n, and t grows with it.
    """
    spread = max(expected, 1e-12)
    low, high = -0.5, len(logs) + 0.5
    for _ in range(60):
        middle = (low + high) / 2
        if _slope(logs, middle)[0] > tilt + (middle - expected) / spread:
            low = middle
        else:
            high = middle
    return min(max(tilt + (low - expected) / spread, -MAX_TILT), MAX_TILT)


@inlined
def _deviation(tilt: FloatArray, shown: FloatArray, published: FloatArray, expected: FloatArray) -> float:
    """Total variation between expected and published counts, as a share of the members; write the expected counts.

    ``expected[y] = sum over i of v[i, y] lambda_y / sum over y' of v[i, y'] lambda_y'``.
    """
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
def write_weights(weights: FloatArray, first: int, at: Layout, messages: Messages, predicted: FloatArray) -> None:
    """Weight of each own value of the members of a group given all other releases; also write the predicted states.

    ``w[i, x]`` is the sum over the states that end in x of predicted times ``beta``, normalized.
    """
    width, starts, backward = weights.shape[1], at.state_starts, messages.backward
    write_predicted(predicted, first, first + len(weights), at, messages.forward)
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
    messages: Messages,
    scratch: Scratch,
) -> None:
    """Weight of each possible value of the records of some groups given all other releases.

    ``record_weights``, shape ``(B,)``, and ``scratch`` are overwritten. ``groups`` is the first group and the one after the last,
    ``starts`` the position of the first possible value of each record, shape ``(R + 1,)``.
    """
    for g in range(groups[0], groups[1]):
        first, last = at.group_starts[g], at.group_starts[g + 1]
        width = at.value_starts[g + 1] - at.value_starts[g]
        weights = record_weights[starts[first] : starts[last]].reshape((last - first, width))
        write_weights(weights, first, at, messages, scratch.predicted)


@compiled
def write_predicted(predicted: FloatArray, first: int, last: int, at: Layout, forward: FloatArray) -> None:
    """Law of the state of each record given the earlier records and its evidence; uniform where they leave no possible value.

    ``predicted`` is overwritten for the records ``first`` to ``last - 1`` of one group; ``forward`` has the forward messages.
    """
    starts, rows, table, values, prior = at.state_starts, at.state_rows, at.table, at.values, at.prior
    previous, evidence, evidence_row = at.previous, at.evidence, at.evidence_row
    start, width = _values_of(first, last, at)
    for r in range(first, last):
        low, high, p = starts[r] - starts[first], starts[r + 1] - starts[first], previous[r]
        if p < 0:
            # The first record of a path: P(x).
            for s in range(width):
                predicted[low + s] = prior[at.path[r], values[start + s]]
        else:
            # Sum over the oldest value of the states of p: alpha_p(state) A(x | state).
            begin = low
            for state in range(low, high):
                predicted[state] = 0.0
            for state in range(starts[p], starts[p + 1]):
                weight, row = forward[state], rows[state]
                if weight > 0.0:
                    for s in range(width):
                        predicted[begin + s] += weight * table[row, values[start + s]]
                begin = begin + width if begin + width < high else low
        # Times e(x), normalized.
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
    messages: Messages,
    predicted: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the next one of its path: ``alpha_r = predicted L``, normalized; overwrites ``messages.forward``.

    ``predicted`` is that of `write_predicted` for the records ``first`` to ``last - 1`` of one group. The likelihood of value s
    of record r is at ``(r - first) * stride + s``: ``stride`` is 0 if all records have the same. The change of each message is
    added to ``pending``, shape ``(G,)``, of the group which receives it; records from number ``records`` on are not part of the
    problem.
    """
    starts, following, group = at.state_starts, at.following, at.group
    forward, backward = messages.forward, messages.backward
    _, width = _values_of(first, last, at)
    for r in range(first, last):
        low, states, of_predicted = starts[r], starts[r + 1] - starts[r], starts[r] - starts[first]
        place, total, total_old, total_new = (r - first) * stride, 0.0, 0.0, 0.0
        # alpha = predicted L, not normalized, and the sums of alpha beta with the old and the new alpha.
        for begin in range(0, states, width):
            for s in range(width):
                state = begin + s
                weight = predicted[of_predicted + state] * likelihood[place + s]
                predicted[of_predicted + state] = weight
                total += weight
                total_old += forward[low + state] * backward[low + state]
                total_new += weight * backward[low + state]
        scale = 1.0 / total if total > 0.0 else 0.0
        # Change of the receiver's belief: total variation between the laws alpha beta before and after.
        if 0 <= following[r] < records:
            change, old, new = 1.0, 0.0, 0.0
            if total_old > 0.0 and total_new > 0.0:
                change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
                for state in range(states):
                    moved = abs(forward[low + state] * old - predicted[of_predicted + state] * new)
                    change += moved * backward[low + state] / 2
            pending[group[following[r]]] += change
        # alpha, normalized; uniform where no state is possible.
        for state in range(states):
            forward[low + state] = predicted[of_predicted + state] * scale if total > 0.0 else 1.0 / states


@compiled
def send_backward(
    first: int,
    last: int,
    at: Layout,
    messages: Messages,
    onward: FloatArray,
    sent: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the previous one of its path: ``beta_p = sum over x of A(x | .) L(x) e(x) beta_r``, scaled.

    A likelihood of 0 throughout becomes uniform. ``messages.backward`` of the previous records is overwritten, ``onward`` and
    ``sent`` are buffers for the states of one record, and the other parameters are those of `send_forward`.
    """
    starts, rows, table, values = at.state_starts, at.state_rows, at.table, at.values
    previous, group, evidence, evidence_row = at.previous, at.group, at.evidence, at.evidence_row
    forward, backward = messages.forward, messages.backward
    start, width = _values_of(first, last, at)
    for r in range(first, last):
        p = previous[r]
        if p < 0:
            continue
        # onward = L(x) e(x) beta_r(state)
        states, place, claim = starts[r + 1] - starts[r], (r - first) * stride, evidence_row[r]
        for begin in range(0, states, width):
            for s in range(width):
                onward[begin + s] = backward[starts[r] + begin + s] * likelihood[place + s]
                if claim >= 0:
                    onward[begin + s] *= evidence[claim, values[start + s]]
        # sent(state of p) = sum over x of A(x | state) onward
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
        # Change of the receiver's belief, as in `send_forward`.
        change, old, new = 1.0, 0.0, 0.0
        if total_old > 0.0 and total_new > 0.0:
            change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
            for state in range(length):
                change += abs(backward[low + state] * old - sent[state] * new) * forward[low + state] / 2
        pending[group[p]] += change
        # beta, scaled to a maximum of 1; 1 throughout where no state is possible.
        scale = 1.0 / largest if largest > 0.0 else 0.0
        for state in range(length):
            backward[low + state] = sent[state] * scale if largest > 0.0 else 1.0


@inlined
def _values_of(first: int, last: int, at: Layout) -> tuple[int, int]:
    """First position and number of the possible values of the records of a group; 0 for no record."""
    if last <= first:
        return 0, 0
    g = at.group[first]
    return at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]


@compiled
def tilted_counts(groups: IntArray, m: int, at: Layout, messages: Messages, scratch: Scratch) -> FloatArray:
    """Expected number of records of each value among the members of some groups: float array, shape ``(len(groups), m)``.

    Groups publish own values, not distorted ones. ``scratch`` is overwritten. Cost: O(states of their members times values).
    """
    expected = np.zeros((len(groups), m))
    for row in range(len(groups)):
        g = groups[row]
        first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        weights = scratch.weights[:members, :width]
        write_weights(weights, first, at, messages, scratch.predicted)
        for i in range(members):
            total = 0.0
            for s in range(width):
                total += weights[i, s] * messages.tilt[start + s]
            if total > 0.0:
                for s in range(width):
                    expected[row, at.values[start + s]] += weights[i, s] * messages.tilt[start + s] / total
    return expected


@compiled
def expected_steps(
    at: Layout, messages: Messages, impossible: BoolArray, records: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Expected number of each transition, and the probability that the step to each record is impossible.

    ``at`` and ``messages`` are those of a fitted law. ``impossible``, shape ``(Q, m)``, are the entries of the transition tables
    that the knowledge rules out. ``records`` are the first record and the one after the last, to which steps lead; ``(0, R)`` for
    all.

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
    steps, ruled_out = np.zeros(at.table.shape), np.zeros(len(at.previous))
    forward, backward, table = messages.forward, messages.backward, at.table
    for r in range(records[0], records[1]):
        p = at.previous[r]
        if p < 0:
            continue
        start, width = _values_of(r, r + 1, at)
        low, first = at.state_starts[r], at.state_starts[p]
        states, before = at.state_starts[r + 1] - low, at.state_starts[p + 1] - first
        contexts = states // width
        # predicted(state) = sum of alpha_p A, without the evidence and the likelihood of r
        predicted, onward, total = np.zeros(states), np.zeros(states), 0.0
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                predicted[begin + s] += forward[first + state] * table[row, at.values[start + s]]
        # onward = e L beta_r, recovered as alpha_r beta_r / predicted
        for state in range(states):
            if predicted[state] > 0.0:
                onward[state] = forward[low + state] * backward[low + state] / predicted[state]
                total += forward[low + state] * backward[low + state]
        if total <= 0.0:
            ruled_out[r] = 1.0
            continue
        # Pair marginal of the states of p and the value x of r: alpha_p A(x | .) onward, normalized.
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                value = at.values[start + s]
                pair = forward[first + state] * table[row, value] * onward[begin + s] / total
                steps[row, value] += pair
                if impossible[row, value]:
                    ruled_out[r] += pair
    return steps, ruled_out


@compiled
def log_weight(at: Layout, tilt: FloatArray) -> float:
    """Negative dual, ``sum over paths of log Z_i(tilt) - sum over groups of n_gs log tilt_gs``; ``tilt`` has the shape ``(V,)``.

    At least the negative relative entropy of the tilted law, and equal to it where the tilts meet the counts. Where every group has
    one member, the log-likelihood of the values; minus infinity where a path has weight 0. Cost: O(S d), one forward pass.
    """
    # Minus the sum over groups of n_gs log tilt_gs.
    log_z = 0.0
    for position in range(len(tilt)):
        if at.shown[position] > 0.0:
            log_z -= at.shown[position] * np.log(max(tilt[position], 1e-300))
    forward = np.zeros(at.state_starts[-1])
    for r in range(len(at.previous)):
        message, p = forward[at.state_starts[r] : at.state_starts[r + 1]], at.previous[r]
        start, width = _values_of(r, r + 1, at)
        values, claim, channel = at.values[start : start + width], at.evidence_row[r], at.emission_row[at.group[r]]
        # P(x), or the sum over the oldest value of alpha_p A(x | .)
        if p < 0:
            for s in range(width):
                message[s] = at.prior[at.path[r], values[s]]
        else:
            contexts, first = len(message) // width, at.state_starts[p]
            for state in range(at.state_starts[p + 1] - first):
                row, begin = at.state_rows[first + state], (state % contexts) * width
                for s in range(width):
                    message[begin + s] += forward[first + state] * at.table[row, values[s]]
        # Times e(x) L(x); the sum of all weights is a factor of Z_i.
        total = 0.0
        for state in range(len(message)):
            s = state % width
            likelihood = tilt[start + s]
            if channel >= 0:
                likelihood = 0.0
                for y in range(width):
                    likelihood += at.emission[channel, values[s], values[y]] * tilt[start + y]
            if claim >= 0:
                message[state] *= at.evidence[claim, values[s]]
            message[state] *= likelihood
            total += message[state]
        if total <= 0.0:
            return -np.inf
        log_z += np.log(total)
        message /= total
    return log_z
