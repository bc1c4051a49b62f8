"""Joint law of a history: all respondents and all releases together, and its solvers.

A solver is a frozen settings object, ``solver(problem) -> JointPosterior``, with a flag ``exact``.
"""

from collections.abc import Callable

from foreknow.models.joint.building import JointHistory, joint_history, release_beliefs
from foreknow.models.joint.enumeration import Enumeration, JointAuto
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.group_messages import GroupMessages
from foreknow.models.joint.learned_knowledge import LearnedKnowledge
from foreknow.models.joint.max_entropy import MaxEntropy, joint_log_evidence
from foreknow.models.joint.path_sampler import PathSampler, SampledPosterior
from foreknow.models.joint.problem import JointPosterior, JointProblem, JointSolver
from foreknow.models.joint.sampled_knowledge import SampledKnowledge

JOINT_SOLVERS: dict[str, Callable[..., JointSolver]] = {
    "group-graph": GroupGraph,
    "max-entropy": MaxEntropy,
    "group-messages": GroupMessages,
    "enumeration": Enumeration,
    "auto": JointAuto,
    "path-sampler": PathSampler,
}
"""Joint solvers by their names on the command line. `PathSampler` needs ``rng``; the others need no argument."""

__all__ = [
    "JOINT_SOLVERS",
    "Enumeration",
    "GroupGraph",
    "GroupMessages",
    "JointAuto",
    "JointHistory",
    "JointPosterior",
    "JointProblem",
    "JointSolver",
    "LearnedKnowledge",
    "MaxEntropy",
    "PathSampler",
    "SampledKnowledge",
    "SampledPosterior",
    "joint_history",
    "joint_log_evidence",
    "release_beliefs",
]
