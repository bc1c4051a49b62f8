"""Exact counts in each group after the law of maximum entropy: loopy belief propagation between chains and groups."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import group_beliefs, proportional_rows, state_count
from foreknow.models.estimators.auto import Auto
from foreknow.models.estimators.belief_propagation import pass_messages
from foreknow.models.joint.max_entropy import MaxEntropy, TiltedLaw, with_doubt
from foreknow.models.joint.messages import (
    Messages,
    Scratch,
    copied,
    expected_steps,
    first_messages,
    scratch_of,
    send_backward,
    send_forward,
    thresholds,
    write_predicted,
    write_record_weights,
    write_weights,
)
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    Layout,
    belief_starts,
    record_beliefs,
)
from foreknow.models.problem import DOUBT, ROW_PARTS, Problem
from foreknow.models.progress import Progress, check_progress, no_step, stepping
from foreknow.models.settings import check_iteration

EXACT_COUNTS = Auto()
"""Estimator of a group whose members are independent given the other releases."""


@dataclass(frozen=True)
class GroupMessages:
    """Posterior of each group with its exact counts, where the other releases have the law of `MaxEntropy`.

    `MaxEntropy` keeps counts in expectation, so that its beliefs are underconfident in small groups. Its law gives each record
    a weight for each value by the other releases. With these weights the members of a group are taken as independent, and
    `Auto` computes the posterior of the group exactly.

    Parameters
    ----------
    tolerance, rounds
        As for `MaxEntropy`.
    progress : callable
        As for `MaxEntropy`. Each release is a further part.

    Notes
    -----
    Approximate. Exact for one release, as far as `Auto` is. The expected counts of each group are the published ones. Groups
    with distorted values or noisy counts keep the law of `MaxEntropy`. It understates what the releases tell, most where the same
    respondents meet again, which `GroupGraph` reads. Cost: that of `MaxEntropy`, that of `Auto` on all groups and O(S d);
    ``forward`` costs a small multiple of it.
    """

    tolerance: float = 5e-3
    rounds: int = 1000
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        check_iteration("GroupMessages", self.tolerance, self.rounds)
        check_progress("GroupMessages", self.progress, "the parts of a solution")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        step = stepping(self.progress, range(len(thresholds(self.tolerance)) + problem.releases))
        fit = MaxEntropy(self.tolerance, self.rounds).fit(problem, step=step)
        if not len(problem.path):
            return fit.posterior
        likelihoods = tilted_messages(problem, fit.messages).likelihoods
        weights = weights_without_groups(problem, likelihoods)
        return self._corrected(fit.posterior, weights, weights * likelihoods, step)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it."""
        step = stepping(self.progress, range(2 * problem.releases))
        posterior, weights = MaxEntropy(self.tolerance, self.rounds).fit_forward(problem, step)
        return self._corrected(posterior, weights, posterior.beliefs, step) if len(problem.path) else posterior

    def _corrected(
        self, relaxed: JointPosterior, weights: FloatArray, otherwise: FloatArray, step: Callable[[], None]
    ) -> JointPosterior:
        """Posterior with exact counts, and that of `MaxEntropy` from which it comes.

        Groups without exact counts have the law ``otherwise``, shape ``(B,)``, which need not be normalized.
        """
        problem = relaxed.problem
        beliefs, status = exact_beliefs(problem, weights, step)
        starts = belief_starts(problem)
        totals = np.maximum(np.add.reduceat(otherwise, starts[:-1]), np.finfo(float).tiny)
        beliefs = np.where(_has_counts(problem), beliefs, otherwise / np.repeat(totals, np.diff(starts)))
        return replace(
            relaxed,
            beliefs=beliefs,
            status=status | relaxed.status,
            gap=0 * relaxed.gap,
            rule="GroupMessages",
            log_tilted=None,
            relaxed=relaxed,
            approximation=self,
        )


def exact_beliefs(
    problem: JointProblem, weights: FloatArray, step: Callable[[], None] = no_step
) -> tuple[FloatArray, IntArray]:
    """Posterior of each record in its group with exact counts, shape ``(B,)``, and the status of each group.

    ``weights``, shape ``(B,)``, are those of each possible value of each record without the message of its group; members are
    independent with them, and a group without counts or with distorted values keeps them. ``step`` is called before each release.
    As exact as `Auto` for each group, release by release. Cost: that of `Auto`; memory O(n m) for the records of one release.
    """
    at, starts = problem.layout, belief_starts(problem)
    counted, weights = _counted(problem), _doubted(problem, weights)
    beliefs, status = np.zeros(len(weights)), np.zeros(len(problem.counts), dtype=np.int64)
    for t in range(problem.releases):
        step()
        groups = slice(at.release_starts[t], at.release_starts[t + 1])
        records = slice(at.group_starts[groups.start], at.group_starts[groups.stop])
        width, group = np.diff(starts[records.start : records.stop + 1]), problem.group[records]
        row = np.repeat(np.arange(len(width)), width)
        place = np.arange(starts[records.start], starts[records.stop])
        value = at.values[at.value_starts[group][row] + place - starts[records][row]]
        prior = np.zeros((len(width), problem.values))
        prior[row, value] = weights[place]
        own = np.where(counted[group], group - groups.start, -1)
        answer = EXACT_COUNTS(Problem(prior, own, np.where(counted[groups, None], problem.counts[groups], 0)))
        beliefs[place] = answer.probabilities[row, value]
        status[groups] = answer.status
    return beliefs, status


def _counted(problem: JointProblem) -> BoolArray:
    """Groups that show the counts of their own values: shape ``(G,)``."""
    return np.asarray(problem.constrained & (problem.emission_row < 0))


def _has_counts(problem: JointProblem) -> BoolArray:
    """Beliefs of the records of these groups: shape ``(B,)``."""
    return np.repeat(_counted(problem)[problem.group], np.diff(belief_starts(problem)))


def _doubted(problem: JointProblem, weights: FloatArray) -> FloatArray:
    """Weights with a uniform distribution of weight `DOUBT` mixed in: shape ``(B,)``."""
    width = np.diff(belief_starts(problem))
    return np.asarray((1 - DOUBT) * weights + DOUBT / np.repeat(width, width))


def weights_without_groups(problem: JointProblem, likelihoods: FloatArray) -> FloatArray:
    """Weight of each possible value of each record by its chain and the messages of all other groups: shape ``(B,)``."""
    law, _ = with_doubt(problem)
    at, messages = law.layout, first_messages(law)
    starts, scratch = belief_starts(law), scratch_of(law)
    pass_along(at, messages, likelihoods, starts, scratch)
    weights = np.zeros(int(starts[-1]))
    write_record_weights(weights, (0, len(law.counts)), starts, at, messages, scratch)
    return weights


class ExactMessages(NamedTuple):
    """Messages of belief propagation with exact counts."""

    along: Messages  # along the paths; the tilts are not read
    likelihoods: FloatArray  # (B,): of each group to each possible value of its records
    # (B,): weight of each possible value of each record when its group was last updated; 0 where it is to be updated in any case
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
    problem: JointProblem, at: Layout, start: ExactMessages, threshold: float
) -> tuple[TiltedLaw, ExactMessages]:
    """Law of the chains under the messages of their groups, after one sweep of updates; and the messages.

    The message of a group to a member is the probability of the published multiset given the member's value, where the other
    members are independent with the weights that their chains give them. A sweep updates the groups forward and then backward in
    time, each from the newest messages of the others, where weights or beliefs changed by more than ``threshold``
    (`sweep_groups`). ``at`` is the layout of the history under the present law; the prior and tables of ``problem`` are not read.

    Exact where the respondents' groups make no cycle and have at most `MAX_EXACT_STATES` states. Where the same respondents meet
    again, evidence is counted more than once. Distorted groups keep their messages. Cost: that of the updated groups, and O(S d).
    """
    starts = belief_starts(problem)
    after = ExactMessages(copied(start.along), start.likelihoods.copy(), start.visited.copy())
    scratch = scratch_of(problem)
    sweep_groups(at, after.along, after.likelihoods, after.visited, starts, scratch, threshold)
    pass_along(at, after.along, after.likelihoods, starts, scratch)
    steps, _ = expected_steps(at, after.along, np.zeros(at.table.shape, dtype=np.bool_), (0, len(at.previous)))
    beliefs = record_beliefs(problem, after.along.forward * after.along.backward)
    groups = len(problem.counts)
    posterior = JointPosterior(problem, beliefs, np.zeros(groups, dtype=np.int64), np.zeros(groups))
    return TiltedLaw(posterior, steps, after.along), after


@compiled
def pass_along(at: Layout, messages: Messages, likelihoods: FloatArray, starts: IntArray, scratch: Scratch) -> None:
    """Write all messages along the paths, under the likelihoods of the groups."""
    groups = len(at.group_starts) - 1
    unread = np.zeros(groups)
    for step in range(2 * groups):
        g = step if step < groups else 2 * groups - 1 - step
        first, last, width = at.group_starts[g], at.group_starts[g + 1], at.value_starts[g + 1] - at.value_starts[g]
        likelihood = likelihoods[starts[first] : starts[last]]
        if step < groups:
            write_predicted(scratch.predicted, first, last, at, messages.forward)
            send_forward(first, last, 0, at, messages, scratch.predicted, likelihood, width, unread)
        else:
            send_backward(first, last, at, messages, scratch.onward, scratch.message, likelihood, width, unread)


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
    messages: Messages,
    likelihoods: FloatArray,
    visited: FloatArray,
    starts: IntArray,
    scratch: Scratch,
    threshold: float,
) -> None:
    """Visit all groups forward and then backward in time.

    A group is updated if the mean weights of its members changed by more than ``threshold`` since its last update, in total
    variation, or its mean beliefs did so in that update. ``messages``, ``likelihoods``, ``visited`` (`ExactMessages`) and
    ``scratch`` are overwritten; ``starts``, shape ``(R + 1,)``, is the position of the first possible value of each record.
    """
    groups = len(at.group_starts) - 1
    unread = np.zeros(groups)
    for place in range(2 * groups):
        g = place if place < groups else 2 * groups - 1 - place
        first, last = at.group_starts[g], at.group_starts[g + 1]
        members, start, width = last - first, at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        shown, likelihood = at.shown[start : start + width], likelihoods[starts[first] : starts[last]]
        # w[i, x]: weight of each value of member i by its chain and the messages of all other groups.
        weights = scratch.weights[:members, :width]
        write_weights(weights, first, at, messages, scratch.predicted)
        if shown.sum() > 0.0 and at.emission_row[g] < 0:
            before = visited[starts[first] : starts[last]].reshape((members, width))
            if np.abs(before - weights).sum() > 2.0 * threshold * members:
                # Message to member i: P(multiset | x_i), by the exact counts of the others; half way from the old one.
                moved = _update(likelihood.reshape((members, width)), weights, shown.astype(np.int64))
                before[:] = weights if moved <= 2.0 * threshold * members else np.zeros_like(weights)
        # alpha to the next and beta to the previous record of each member.
        send_forward(first, last, len(at.previous), at, messages, scratch.predicted, likelihood, width, unread)
        send_backward(first, last, at, messages, scratch.onward, scratch.message, likelihood, width, unread)


@compiled
def _update(old: FloatArray, weights: FloatArray, capacity: IntArray) -> float:
    """Geometric mean of the old messages of a group and those that the weights of its members give, written to the old ones.

    Returns the difference between the beliefs about the members under the old messages and the new ones, summed over members and
    values.
    """
    members, width = weights.shape
    doubted, moved = (1.0 - DOUBT) * weights + DOUBT / width, 0.0
    beliefs = member_beliefs(doubted, capacity)
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
def member_beliefs(weights: FloatArray, capacity: IntArray) -> FloatArray:
    """Posterior of the members of a group: exact where it has few states, else by belief propagation."""
    states = state_count(capacity)
    if states > MAX_EXACT_STATES:
        states = min(states, state_count(np.bincount(proportional_rows(weights))))
    if states <= MAX_EXACT_STATES:
        return group_beliefs(weights, capacity)[1]
    return pass_messages(np.log(weights), capacity, BETHE_TOLERANCE, BETHE_ITERATIONS, BETHE_DAMPING)[1]
