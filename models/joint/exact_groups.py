"""Messages between chains and groups with exact counts: loopy belief propagation, started at the tilted law."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.exact_visit import sweep_groups
from foreknow.models.joint.expected_steps import expected_steps
from foreknow.models.joint.group_visit import Scratch, scratch_of
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.max_entropy import TiltedLaw
from foreknow.models.joint.messages import Factors, Messages, copied
from foreknow.models.joint.posterior import JointPosterior, belief_starts, record_beliefs
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.record_messages import send_backward, send_forward, write_predicted


class ExactMessages(NamedTuple):
    """Messages of belief propagation with exact counts.

    Attributes
    ----------
    along : Messages
        Along the paths; the tilts are not read.
    likelihoods : float array, shape (B,)
        Of each group to each possible value of its records.
    visited : float array, shape (B,)
        Weight of each possible value of each record when its group was last updated; 0 before, and where the messages of the
        group were then still far from what the weights give.
    """

    along: Messages
    likelihoods: FloatArray
    visited: FloatArray


def tilted_messages(problem: JointProblem, messages: Messages) -> ExactMessages:
    """Messages at the start: each record has the tilts of its group as likelihood."""
    at, starts = problem.layout, belief_starts(problem)
    by_value = messages.tilt.copy()
    for g in np.flatnonzero(problem.emission_row >= 0):
        span = slice(at.value_starts[g], at.value_starts[g + 1])
        values = at.values[span]
        by_value[span] = problem.emission[problem.emission_row[g]][np.ix_(values, values)] @ messages.tilt[span]
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    place = at.value_starts[problem.group[record]] + np.arange(len(record)) - starts[record]
    return ExactMessages(messages, by_value[place], np.zeros(len(record)))


def exact_groups(
    problem: JointProblem, at: Layout, factors: Factors, start: ExactMessages, threshold: float
) -> tuple[TiltedLaw, ExactMessages]:
    """Law of the chains under the messages of their groups, after one sweep of updates; and the messages.

    The message of a group to a member is the probability of the published multiset given the member's value, where the other
    members are independent with the weights that their chains give them. A sweep updates the groups forward and then backward
    in time, each from the newest messages of the others.

    Parameters
    ----------
    problem : JointProblem
        The history; its prior and tables are not read.
    at, factors
        Layout and factors of the history under the present law.
    start : ExactMessages
    threshold : float
        Mean change, in total variation, of the weights of its members or of its beliefs over which a group is updated again
        (`sweep_groups`).

    Notes
    -----
    Exact where the respondents' groups make no cycle and have at most `exact_visit.MAX_EXACT_STATES` states. Where the same
    respondents meet again, evidence is counted more than once. Distorted groups keep their messages. Cost: that of the updated
    groups, and O(S d).
    """
    starts = belief_starts(problem)
    after = ExactMessages(copied(start.along), start.likelihoods.copy(), start.visited.copy())
    scratch = scratch_of(problem)
    sweep_groups(at, factors, after.along, after.likelihoods, after.visited, starts, scratch, threshold)
    pass_along(at, factors, after.along, after.likelihoods, starts, scratch)
    steps, _ = expected_steps(at, factors, after.along, np.zeros(at.table.shape, dtype=np.bool_), (0, len(at.previous)))
    beliefs = record_beliefs(problem, after.along.forward * after.along.backward)
    groups = len(problem.counts)
    posterior = JointPosterior(problem, beliefs, np.zeros(groups, dtype=np.int64), np.zeros(groups))
    return TiltedLaw(posterior, steps, after.along), after


@compiled
def pass_along(
    at: Layout, factors: Factors, messages: Messages, likelihoods: FloatArray, starts: IntArray, scratch: Scratch
) -> None:
    """Write all messages along the paths, under the likelihoods of the groups."""
    groups = len(at.group_starts) - 1
    unread = np.zeros(groups)
    for step in range(2 * groups):
        g = step if step < groups else 2 * groups - 1 - step
        first, last, width = at.group_starts[g], at.group_starts[g + 1], at.value_starts[g + 1] - at.value_starts[g]
        likelihood = likelihoods[starts[first] : starts[last]]
        if step < groups:
            write_predicted(scratch.predicted, first, last, at, factors, messages.forward)
            send_forward(first, last, 0, at, factors, messages, scratch.predicted, likelihood, width, unread)
        else:
            send_backward(
                first, last, at, factors, messages, scratch.onward, scratch.message, likelihood, width, unread
            )
