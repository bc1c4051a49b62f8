"""Minimum relative entropy: the law nearest to the chains whose expected counts are the published ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.estimators.arguments import check_iteration
from foreknow.models.joint.messages import first_messages, potentials
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.sweeps import state_beliefs, sweep_backward, sweep_forward
from foreknow.models.problem import UNCONVERGED


@dataclass(frozen=True)
class MaxEntropy:
    """Law of minimum relative entropy to the chains, whose expected counts are the published ones.

    Parameters
    ----------
    tolerance : float
        Largest relative deviation of an expected count from the published one at which the iteration stops.
    rounds : int
        Largest number of sweeps.
    """

    tolerance: float = 1e-2
    rounds: int = 1000
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_iteration("MaxEntropy", self.tolerance, self.rounds)

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history."""
        at, factors, messages = problem.layout, potentials(problem), first_messages(problem)
        gap, gap_before = np.zeros(len(problem.counts)), np.zeros(len(problem.counts))
        rounds = 0
        for rounds in range(1, int(self.rounds) + 1):
            sweep_forward(at, factors, messages, gap, 0, problem.releases, True)
            if rounds > 1 and gap.max(initial=0.0) <= self.tolerance:
                break
            sweep_backward(at, factors, messages, gap_before, 0, problem.releases)
        starts = belief_starts(problem)
        beliefs = np.zeros(starts[-1])
        state_beliefs(at, factors, messages, beliefs, starts)
        status = np.where(gap > self.tolerance, UNCONVERGED, 0)
        return JointPosterior(problem, beliefs, status, gap, rounds, rule="MaxEntropy")
