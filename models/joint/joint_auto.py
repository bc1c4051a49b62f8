"""Choice of a joint solver for each component: `Enumeration` where it is affordable, another solver elsewhere."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_state_limit
from foreknow.models.joint.enumeration import enumerate_components
from foreknow.models.joint.group_messages import GroupMessages
from foreknow.models.joint.posterior import (
    JointPosterior,
    JointSolver,
    belief_starts,
    check_is_solver,
    forward_by_prefixes,
    with_progress,
)
from foreknow.models.joint.problem import JointProblem, check_joint_problem, sub_problem
from foreknow.models.progress import Progress, check_progress


@dataclass(frozen=True)
class JointAuto:
    """`Enumeration` for components with few transitions, another solver for the rest of the history.

    The posterior's ``rule`` says how many records and groups each solver has. Where the other solver samples, its diagnostics are
    kept; enumerated beliefs have the standard error 0, an infinite effective sample size and the R-hat 1.

    Parameters
    ----------
    limit : int
        Largest number of transitions of a component for `Enumeration`; 2^16 take some 20 milliseconds.
    otherwise : joint solver
        Solver of the other components, all together: `GroupMessages`, `MaxEntropy` or ``PathSampler(rng=...)``.
    progress : callable, optional
        That of ``otherwise``, by default its own; `forward` has one part for each release.

    Raises
    ------
    ValueError
        If the limit is not a whole number in its range.
    TypeError
        If ``otherwise`` is no solver, or ``progress`` cannot be called. When called with anything but a `JointProblem`.

    Examples
    --------
    >>> problem = JointProblem([[0.9, 0.1], [0.5, 0.5]], (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0])
    >>> posterior = JointAuto()(problem)
    >>> posterior.rows(np.array([0, 1])).round(3).tolist(), posterior.rule
    ([[0.9, 0.1], [0.1, 0.9]], 'Enumeration: 2 records in 1 group')
    """

    limit: int = 2**16
    otherwise: JointSolver = field(default_factory=GroupMessages)
    progress: Progress | None = field(default=None, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_state_limit("JointAuto", self.limit)
        check_is_solver("JointAuto", "otherwise", self.otherwise)
        if self.progress is not None:
            check_progress("JointAuto", self.progress, "the parts of a solution")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history."""
        check_joint_problem(self, problem)
        found = enumerate_components(problem, self.limit, stop=False)
        beliefs, status, rest = found.beliefs, found.status, found.unfit
        enumerated = np.ones(len(problem.path), dtype=np.bool_)
        enumerated[rest] = False
        gap, rule = np.zeros(len(problem.counts)), _rule("Enumeration", problem, np.flatnonzero(enumerated))
        if not len(rest):
            return JointPosterior(problem, beliefs, status, gap, rule=rule, log_evidence=found.log_evidence)
        otherwise = self.otherwise if self.progress is None else with_progress(self.otherwise, self.progress)
        posterior = otherwise(sub_problem(problem, rest))
        groups = np.unique(problem.group[rest])
        starts = belief_starts(problem)
        place = np.flatnonzero(np.repeat(~enumerated, np.diff(starts)))
        beliefs[place] = posterior.beliefs
        status[groups] |= posterior.status
        gap[groups] = posterior.gap
        other = _rule(posterior.rule or type(self.otherwise).__name__, problem, rest)
        error = _filled(posterior.standard_error, place, len(beliefs), 0.0)
        ess = _filled(posterior.ess, place, len(beliefs), np.inf)
        rhat = _filled(posterior.rhat, place, len(beliefs), 1.0)
        text = "; ".join(filter(None, (rule, other)))
        rest_law = posterior.approximation
        return JointPosterior(
            problem, beliefs, status, gap, posterior.rounds, error, ess, rhat, text, approximation=rest_law
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is solved anew."""
        check_joint_problem(self, problem)
        if self.progress is None:
            return forward_by_prefixes(self, problem)
        return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)


def _filled(numbers: FloatArray | None, place: IntArray, size: int, exact: float) -> FloatArray | None:
    """Diagnostics of all beliefs: those of a sampler at their places, that of an exact belief elsewhere."""
    if numbers is None:
        return None
    filled = np.full(size, exact)
    filled[place] = numbers
    return filled


def _rule(name: str, problem: JointProblem, records: IntArray) -> str:
    if not len(records):
        return ""
    groups = len(np.unique(problem.group[records]))
    return f"{name}: {len(records)} record{'s'[: len(records) != 1]} in {groups} group{'s'[: groups != 1]}"
