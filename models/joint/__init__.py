"""Joint law of a history: all respondents and all releases together, and its solvers.

A solver is a frozen settings object, ``solver(problem) -> JointPosterior``, with a flag ``exact``.
"""

from collections.abc import Callable
from typing import Any

from foreknow.models.joint.enumeration import Enumeration
from foreknow.models.joint.joint_auto import JointAuto
from foreknow.models.joint.learned_knowledge import LearnedKnowledge
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.joint.problem import JointProblem

JOINT_SOLVERS: dict[str, Callable[[], Any]] = {
    "max-entropy": MaxEntropy,
    "enumeration": Enumeration,
    "auto": JointAuto,
}
"""Joint solvers that need no argument, by their names on the command line."""

__all__ = [
    "JOINT_SOLVERS",
    "Enumeration",
    "JointAuto",
    "JointPosterior",
    "JointProblem",
    "LearnedKnowledge",
    "MaxEntropy",
]
