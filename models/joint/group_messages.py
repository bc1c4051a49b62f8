"""Exact counts in each group, after the law of maximum entropy."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.arguments import check_iteration
from foreknow.models.estimators.auto import Auto
from foreknow.models.joint.exact_groups import pass_along, tilted_messages
from foreknow.models.joint.group_visit import Scratch, scratch_of, write_weights
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.max_entropy import MaxEntropy, with_doubt
from foreknow.models.joint.messages import Factors, Messages, factors_of, first_messages
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.joint.solver import forward_by_prefixes
from foreknow.models.problem import DOUBT, Problem
from foreknow.models.settings import is_whole, shown


@dataclass(frozen=True)
class GroupMessages:
    """Posterior of each group with its exact counts, where the other releases have the law of `MaxEntropy`.

    `MaxEntropy` keeps counts in expectation, so that its beliefs are underconfident in small groups. Its law gives each record
    a weight for each value by the other releases. With these weights the members of a group are taken as independent, and
    `Auto` computes the posterior of the group exactly. With ``passes`` over 0 the resulting messages of the groups first replace
    the tilts, and new weights are computed from them.

    Parameters
    ----------
    tolerance, rounds
        As for `MaxEntropy`, whose default tolerance is half of this one.
    passes : int
        Number of replacements of all messages. With 0 the weights are those of `MaxEntropy`. Each further pass counts evidence
        of respondents who meet again more often (loopy belief propagation), and beliefs become overconfident.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    TypeError
        When called with anything but a `JointProblem`.

    Notes
    -----
    Approximate. Exact for one release, as far as `Auto` is. The expected counts of each group are the published ones. Groups
    with distorted values keep the law of `MaxEntropy`. Cost: that of `MaxEntropy`, and for each pass that of `Auto` on all groups
    and O(S d). ``forward`` solves each prefix, at T times this cost.
    """

    tolerance: float = 5e-3
    rounds: int = 1000
    passes: int = 1
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_iteration("GroupMessages", self.tolerance, self.rounds)
        if not is_whole(self.passes, 0):
            raise ValueError(
                f"GroupMessages: passes is {shown(self.passes)}; it is a number of replacements, 0 or more."
            )

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        check_joint_problem(self, problem)
        fit, starts = MaxEntropy(self.tolerance, self.rounds).fit(problem), belief_starts(problem)
        if not len(problem.path):
            return fit.posterior
        likelihoods = tilted_messages(problem, fit.messages).likelihoods
        for _ in range(self.passes):
            weights = weights_without_groups(problem, likelihoods)
            _, likelihoods, _ = group_answers(problem, starts, weights, likelihoods)
        weights = weights_without_groups(problem, likelihoods)
        beliefs, _, status = group_answers(problem, starts, weights, likelihoods)
        status |= fit.posterior.status
        return replace(
            fit.posterior,
            beliefs=beliefs,
            status=status,
            gap=0 * fit.posterior.gap,
            rule="GroupMessages",
            log_tilted=None,
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it: T times the cost of one solution."""
        check_joint_problem(self, problem)
        return forward_by_prefixes(self, problem)


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


def weights_without_groups(problem: JointProblem, likelihoods: FloatArray) -> FloatArray:
    """Weight of each possible value of each record by its chain and the messages of all other groups: shape ``(B,)``."""
    law, _ = with_doubt(problem)
    starts, scratch, messages, factors = belief_starts(law), scratch_of(law), first_messages(law), factors_of(law)
    pass_along(law.layout, factors, messages, likelihoods, starts, scratch)
    weights = np.zeros(int(starts[-1]))
    _write_record_weights(weights, law.layout, factors, messages, scratch)
    return weights


@compiled
def _write_record_weights(
    weights: FloatArray, at: Layout, factors: Factors, messages: Messages, scratch: Scratch
) -> None:
    """Write the weights of the records of all groups, in record order."""
    place = 0
    for g in range(len(at.group_starts) - 1):
        first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        width = at.value_starts[g + 1] - at.value_starts[g]
        of_group = scratch.weights[:members, :width]
        write_weights(of_group, first, at, factors, messages, scratch.predicted)
        weights[place : place + members * width] = of_group.copy().reshape(-1)
        place += members * width
