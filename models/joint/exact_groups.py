"""Messages between chains and groups with exact counts: loopy belief propagation, started at the tilted law."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.auto import Auto
from foreknow.models.joint.expected_steps import expected_steps
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.max_entropy import TiltedLaw, with_doubt
from foreknow.models.joint.messages import (
    Factors,
    Messages,
    factors_of,
    first_messages,
    multiply_evidence,
    normalize,
    write_predicted,
)
from foreknow.models.joint.posterior import JointPosterior, belief_starts, record_beliefs
from foreknow.models.joint.problem import JointProblem
from foreknow.models.problem import DOUBT, Problem

STEP = 0.2
"""Weight of the new message in the geometric mean of an update; with 0.5 the messages oscillate in groups of 10."""

LEAST_LIKELIHOOD = 1e-12
"""Smallest likelihood, relative to the largest of a record, that enters the geometric mean of two messages."""


def first_likelihoods(problem: JointProblem, messages: Messages) -> FloatArray:
    """Likelihood of each possible value of each record under the tilts of its group: float array, shape ``(B,)``."""
    at, starts = problem.layout, belief_starts(problem)
    by_value = messages.tilt.copy()
    for g in np.flatnonzero(problem.emission_row >= 0):
        span = slice(at.value_starts[g], at.value_starts[g + 1])
        values = at.values[span]
        by_value[span] = problem.emission[problem.emission_row[g]][np.ix_(values, values)] @ messages.tilt[span]
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.asarray(by_value[at.value_starts[problem.group[record]] + np.arange(len(record)) - starts[record]])


def exact_groups(problem: JointProblem, likelihoods: FloatArray) -> tuple[TiltedLaw, FloatArray]:
    """Law of the chains under the messages of their groups, after one update of these messages; and the messages.

    The message of a group to a member is the probability of the published multiset given the member's value, where the other
    members are independent with the weights that their chains give them. `Auto` computes it: exactly for groups of few states.

    Parameters
    ----------
    problem : JointProblem
    likelihoods : float array, shape (B,)
        Messages to each possible value of each record. The update is their geometric mean with the new ones, of weight `STEP`.

    Notes
    -----
    Exact where the respondents' groups make no cycle. Where the same respondents meet again, evidence is counted more than once.
    Cost: that of `Auto` on all groups, and O(S d).
    """
    law, impossible = with_doubt(problem)
    at, factors, starts = law.layout, factors_of(law), belief_starts(law)
    messages, weights = first_messages(law), np.zeros(int(starts[-1]))
    _pass_along(at, factors, starts, likelihoods, messages.forward, messages.backward, weights)
    updated = _updated(law, starts, weights, likelihoods)
    _pass_along(at, factors, starts, updated, messages.forward, messages.backward, weights)
    steps, _ = expected_steps(at, factors, messages, impossible)
    beliefs = record_beliefs(law, messages.forward * messages.backward)
    groups = len(law.counts)
    posterior = JointPosterior(problem, beliefs, np.zeros(groups, dtype=np.int64), np.zeros(groups))
    return TiltedLaw(posterior, steps, messages), updated


def group_answers(
    problem: JointProblem, starts: IntArray, weights: FloatArray, old: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Posterior of each record in its group with exact counts, the message of the group to it, and the status of each group.

    Parameters
    ----------
    problem : JointProblem
    starts : int array, shape (R + 1,)
        Result of `belief_starts`.
    weights : float array, shape (B,)
        Weight of each possible value of each record without the message of its group. Members are independent with them.
    old : float array, shape (B,)
        Messages that are kept in groups without counts and in those with distorted values.

    Returns
    -------
    beliefs, messages : float array, shape (B,)
    status : int array, shape (G,)

    Notes
    -----
    As exact as `Auto` for each group. Cost: that of `Auto`.
    """
    at, width = problem.layout, np.diff(starts)
    counted = problem.constrained & (problem.emission_row < 0)
    record = np.repeat(np.arange(len(width)), width)
    place = np.arange(len(record)) - starts[record]
    value = at.values[at.value_starts[problem.group[record]] + place]
    prior = np.zeros((len(width), problem.values))
    prior[record, value] = (1 - DOUBT) * weights + DOUBT / width[record]
    group = np.where(counted[problem.group], problem.group, -1)
    answer = Auto()(Problem(prior, group, np.where(counted[:, None], problem.counts, 0)))
    posterior, own = answer.probabilities[record, value], counted[problem.group[record]]
    free = weights * old
    free /= np.repeat(np.maximum(np.add.reduceat(free, starts[:-1]), np.finfo(float).tiny), width)
    message = np.where(own, posterior / prior[record, value], old)
    return np.where(own, posterior, free), message, np.where(counted, answer.status, 0)


def _updated(problem: JointProblem, starts: IntArray, weights: FloatArray, old: FloatArray) -> FloatArray:
    """Geometric mean of the old messages of the groups and those that the weights of their members give."""
    _, new, _ = group_answers(problem, starts, weights, old)
    mean = _scaled(new, starts) ** STEP * _scaled(old, starts) ** (1 - STEP)
    counted = problem.constrained & (problem.emission_row < 0)
    return np.where(counted[np.repeat(problem.group, np.diff(starts))], mean, old)


def weights_without_groups(problem: JointProblem, likelihoods: FloatArray) -> FloatArray:
    """Weight of each possible value of each record by its chain and the messages of all other groups: shape ``(B,)``."""
    law, _ = with_doubt(problem)
    starts, messages = belief_starts(law), first_messages(law)
    weights = np.zeros(int(starts[-1]))
    _pass_along(law.layout, factors_of(law), starts, likelihoods, messages.forward, messages.backward, weights)
    return weights


def _scaled(likelihoods: FloatArray, starts: IntArray) -> FloatArray:
    """Likelihoods divided by the largest of each record, at least `LEAST_LIKELIHOOD`."""
    largest = np.maximum.reduceat(likelihoods, starts[:-1])
    return np.asarray(np.maximum(likelihoods / np.repeat(largest, np.diff(starts)), LEAST_LIKELIHOOD))


@compiled
def _pass_along(
    at: Layout,
    factors: Factors,
    starts: IntArray,
    likelihoods: FloatArray,
    forward: FloatArray,
    backward: FloatArray,
    weights: FloatArray,
) -> None:
    """Write all messages along the paths, and the weight of each value of each record without the message of its group."""
    predicted = np.zeros(len(forward))
    for r in range(len(at.previous)):
        low, high = at.state_starts[r], at.state_starts[r + 1]
        width = starts[r + 1] - starts[r]
        write_predicted(predicted[low:high], r, at, factors, forward)
        for state in range(high - low):
            forward[low + state] = predicted[low + state] * likelihoods[starts[r] + state % width]
        normalize(forward[low:high])
    for r in range(len(at.previous) - 1, -1, -1):
        low, high, p = at.state_starts[r], at.state_starts[r + 1], at.previous[r]
        width = starts[r + 1] - starts[r]
        weights[starts[r] : starts[r + 1]] = 0.0
        for state in range(high - low):
            weights[starts[r] + state % width] += predicted[low + state] * backward[low + state]
        normalize(weights[starts[r] : starts[r + 1]])
        if p >= 0:
            onward = backward[low:high].copy()
            for state in range(high - low):
                onward[state] *= likelihoods[starts[r] + state % width]
            multiply_evidence(onward, r, at.value_starts[factors.group[r]], width, at, factors)
            _write_backward(backward[at.state_starts[p] : at.state_starts[p + 1]], onward, r, at, factors)


@compiled
def _write_backward(message: FloatArray, onward: FloatArray, r: int, at: Layout, factors: Factors) -> None:
    """Likelihood of a record and the later ones given the state of the record before; uniform where it is 0 throughout."""
    start, first = at.value_starts[factors.group[r]], at.state_starts[at.previous[r]]
    width = at.value_starts[factors.group[r] + 1] - start
    contexts, largest = len(onward) // width, 0.0
    for state in range(len(message)):
        row, begin = at.state_rows[first + state], (state % contexts) * width
        total = 0.0
        for s in range(width):
            total += at.table[row, at.values[start + s]] * onward[begin + s]
        message[state] = total
        largest = max(largest, total)
    for state in range(len(message)):
        message[state] = message[state] / largest if largest > 0.0 else 1.0
