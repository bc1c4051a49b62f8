"""Exact counts in each group, after the law of maximum entropy."""

from dataclasses import dataclass, replace
from typing import ClassVar

from foreknow.models.estimators.arguments import check_iteration
from foreknow.models.joint.exact_groups import first_likelihoods, group_answers, weights_without_groups
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.joint.solver import forward_by_prefixes
from foreknow.models.problem import CONTRADICTED
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
        Of `MaxEntropy`.
    passes : int
        Number of replacements of all messages. More than one or two count the same evidence more than once where respondents
        meet again (loopy belief propagation), and beliefs become overconfident.

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
    and O(S d).
    ``forward`` solves each prefix.
    """

    tolerance: float = 1e-2
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
        likelihoods = first_likelihoods(problem, fit.messages)
        for _ in range(self.passes):
            weights = weights_without_groups(problem, likelihoods)
            _, likelihoods, _ = group_answers(problem, starts, weights, likelihoods)
        weights = weights_without_groups(problem, likelihoods)
        beliefs, _, status = group_answers(problem, starts, weights, likelihoods)
        contradicted = fit.posterior.status & CONTRADICTED
        return replace(
            fit.posterior,
            beliefs=beliefs,
            status=status | contradicted,
            gap=0 * fit.posterior.gap,
            rule="GroupMessages",
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it: T times the cost of one solution."""
        check_joint_problem(self, problem)
        return forward_by_prefixes(self, problem)
