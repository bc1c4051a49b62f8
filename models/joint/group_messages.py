"""Exact counts in each group, after the law of maximum entropy."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators.arguments import check_iteration
from foreknow.models.estimators.auto import Auto
from foreknow.models.joint.exact_groups import pass_along, tilted_messages
from foreknow.models.joint.group_visit import scratch_of, write_record_weights
from foreknow.models.joint.max_entropy import MaxEntropy, with_doubt
from foreknow.models.joint.messages import factors_of, first_messages
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.joint.solver import forward_by_prefixes
from foreknow.models.joint.sweeps import thresholds
from foreknow.models.problem import DOUBT, Problem
from foreknow.models.progress import Progress, check_progress, no_step, stepping
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
        As for `MaxEntropy`.
    passes : int
        Number of replacements of all messages. With 0 the weights are those of `MaxEntropy`. Each pass counts evidence of
        respondents who meet again more often (loopy belief propagation): more values are disclosed, and beliefs become
        overconfident.
    progress : callable
        As for `MaxEntropy`. Each release is a further part, also in each pass; `forward` with passes has one part for each release.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    TypeError
        If ``progress`` cannot be called. When called with anything but a `JointProblem`.

    Notes
    -----
    Approximate. Exact for one release, as far as `Auto` is. The expected counts of each group are the published ones. Groups
    with distorted values keep the law of `MaxEntropy`. Cost: that of `MaxEntropy`, that of `Auto` on all groups and O(S d), and
    the latter two again for each pass. ``forward`` costs a small multiple of it; with passes it solves each prefix, at T times the
    cost.
    """

    tolerance: float = 5e-3
    rounds: int = 1000
    passes: int = 0
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_iteration("GroupMessages", self.tolerance, self.rounds)
        check_progress("GroupMessages", self.progress, "the parts of a solution")
        if not is_whole(self.passes, 0):
            raise ValueError(
                f"GroupMessages: passes is {shown(self.passes)}; it is a number of replacements, 0 or more."
            )

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        check_joint_problem(self, problem)
        parts = len(thresholds(self.tolerance)) + (int(self.passes) + 1) * problem.releases
        step = stepping(self.progress, range(parts))
        fit = MaxEntropy(self.tolerance, self.rounds).fit(problem, step=step)
        if not len(problem.path):
            return fit.posterior
        likelihoods = tilted_messages(problem, fit.messages).likelihoods
        weights = weights_without_groups(problem, likelihoods)
        for _ in range(self.passes):
            likelihoods = exact_messages(problem, weights, likelihoods, step)
            weights = weights_without_groups(problem, likelihoods)
        return self._corrected(fit.posterior, weights, weights * likelihoods, step)

    @property
    def _rule(self) -> str:
        return f"GroupMessages, {self.passes} pass{'es' * (self.passes > 1)}" if self.passes else "GroupMessages"

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it."""
        check_joint_problem(self, problem)
        if self.passes:
            return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)
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
            rule=self._rule,
            log_tilted=None,
            relaxed=relaxed,
            approximation=self,
        )


def exact_messages(
    problem: JointProblem, weights: FloatArray, old: FloatArray, step: Callable[[], None] = no_step
) -> FloatArray:
    """Message of each group to its records with exact counts: posterior over weight, shape ``(B,)``.

    Groups without counts and those with distorted values keep their old messages.
    """
    beliefs, _ = exact_beliefs(problem, weights, step)
    return np.where(_has_counts(problem), beliefs / _doubted(problem, weights), old)


def exact_beliefs(
    problem: JointProblem, weights: FloatArray, step: Callable[[], None] = no_step
) -> tuple[FloatArray, IntArray]:
    """Posterior of each record in its group with exact counts, and the status of each group.

    Parameters
    ----------
    problem : JointProblem
    weights : float array, shape (B,)
        Weight of each possible value of each record without the message of its group. Members are independent with them.
    step : callable
        Called before each release.

    Returns
    -------
    beliefs : float array, shape (B,)
        The weights, where a group has no counts or distorted values.
    status : int array, shape (G,)

    Notes
    -----
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
        answer = Auto()(Problem(prior, own, np.where(counted[groups, None], problem.counts[groups], 0)))
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
    at, factors, messages = law.layout, factors_of(law), first_messages(law)
    starts, scratch = belief_starts(law), scratch_of(law)
    pass_along(at, factors, messages, likelihoods, starts, scratch)
    weights = np.zeros(int(starts[-1]))
    write_record_weights(weights, (0, len(law.counts)), starts, at, factors, messages, scratch)
    return weights
