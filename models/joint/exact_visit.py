"""Visits of groups by belief propagation with exact counts: messages to the members, and to the neighbouring records."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.forward_backward import state_count
from foreknow.models.estimators.assignments.group_beliefs import group_beliefs, proportional_rows
from foreknow.models.estimators.assignments.message_passing import pass_messages
from foreknow.models.joint.group_visit import Scratch, write_weights
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages
from foreknow.models.joint.record_messages import send_backward, send_forward
from foreknow.models.problem import DOUBT

STEP = 0.5
"""Weight of the new message in the geometric mean of an update."""

LEAST_LIKELIHOOD = 1e-12
"""Smallest likelihood, relative to the largest of a record, that enters the geometric mean of two messages."""

MAX_EXACT_STATES = 2.0**12
"""Largest number of states of a group whose beliefs are exact; larger groups have the Bethe approximation."""

BETHE_TOLERANCE, BETHE_ITERATIONS, BETHE_DAMPING = 1e-3, 50, 0.2
"""Settings of the Bethe approximation, looser than those of `BeliefPropagation`: a group is visited again."""


@compiled
def sweep_groups(
    at: Layout,
    factors: Factors,
    messages: Messages,
    likelihoods: FloatArray,
    visited: FloatArray,
    starts: IntArray,
    scratch: Scratch,
    threshold: float,
) -> int:
    """Visit all groups forward and then backward in time; return the number of updates.

    Parameters
    ----------
    at, factors
        Read only.
    messages, scratch
        Overwritten.
    likelihoods : float array, shape (B,)
        Message of its group to each possible value of each record; overwritten.
    visited : float array, shape (B,)
        Weight of each value of each record at the last update of its group; 0 where the group is to be updated whatever its
        weights, as its messages were still far from what its weights give. Overwritten.
    starts : int array, shape (R + 1,)
        Position of the first possible value of each record.
    threshold : float
        A group is updated if the mean weights of its members changed by more than this since its last update, in total
        variation, or its mean beliefs did so in that update.
    """
    groups, updates = len(at.group_starts) - 1, 0
    unread = np.zeros(groups)
    for place in range(2 * groups):
        g = place if place < groups else 2 * groups - 1 - place
        updates += _visit(g, at, factors, messages, likelihoods, visited, starts, scratch, threshold, unread)
    return updates


@compiled
def _visit(
    g: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    likelihoods: FloatArray,
    visited: FloatArray,
    starts: IntArray,
    scratch: Scratch,
    threshold: float,
    unread: FloatArray,
) -> int:
    """Update a group whose messages are not those of the weights of its members, and send messages to the neighbouring records."""
    first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
    start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
    weights = scratch.weights[:members, :width]
    write_weights(weights, first, at, factors, messages, scratch.predicted)
    updated, shown = 0, at.shown[start : start + width]
    if shown.sum() > 0.0 and factors.emission_row[g] < 0:
        before = visited[starts[first] : starts[first + members]].reshape((members, width))
        if np.abs(before - weights).sum() > 2.0 * threshold * members:
            old = likelihoods[starts[first] : starts[first + members]].reshape((members, width))
            moved = _update(old, weights, shown.astype(np.int64))
            before[:] = weights if moved <= 2.0 * threshold * members else np.zeros_like(weights)
            updated = 1
    last, likelihood = first + members, likelihoods[starts[first] : starts[first + members]]
    send_forward(first, last, len(at.previous), at, factors, messages, scratch.predicted, likelihood, width, unread)
    send_backward(first, last, at, factors, messages, scratch.onward, scratch.message, likelihood, width, unread)
    return updated


@compiled
def _update(old: FloatArray, weights: FloatArray, capacity: IntArray) -> float:
    """Geometric mean of the old messages of a group and those that the weights of its members give, written to the old ones.

    Returns the difference between the beliefs about the members under the old messages and the new ones, summed over members and
    values.
    """
    members, width = weights.shape
    doubted, moved = (1.0 - DOUBT) * weights + DOUBT / width, 0.0
    beliefs = _beliefs(doubted, capacity)
    new = beliefs / doubted
    for i in range(members):
        before = doubted[i] * old[i]
        moved += np.abs(before / before.sum() - beliefs[i]).sum()
        largest_old, largest_new = old[i].max(), new[i].max()
        for s in range(width):
            last = max(old[i, s] / largest_old, LEAST_LIKELIHOOD)
            after = max(new[i, s] / largest_new, LEAST_LIKELIHOOD)
            old[i, s] = after**STEP * last ** (1.0 - STEP)
    return moved


@compiled
def _beliefs(weights: FloatArray, capacity: IntArray) -> FloatArray:
    """Posterior of the members of a group: exact where it has few states, else by belief propagation."""
    states = state_count(capacity)
    if states > MAX_EXACT_STATES:
        states = min(states, state_count(np.bincount(proportional_rows(weights))))
    if states <= MAX_EXACT_STATES:
        return group_beliefs(weights, capacity)[1]
    return pass_messages(np.log(weights), capacity, BETHE_TOLERANCE, BETHE_ITERATIONS, BETHE_DAMPING)[1]
