"""Protocol of the solvers of the joint law."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.joint.problem import JointProblem, first_releases
from foreknow.models.progress import Progress
from foreknow.models.settings import shown


class JointSolver(Protocol):
    """Rule that computes the posterior of a joint problem; a frozen settings object."""

    exact: ClassVar[bool]
    """True if it computes the Bayesian posterior without approximation."""

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given all releases."""
        ...

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it."""
        ...


def check_is_solver(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is a solver object."""
    if isinstance(value, type) or not callable(value) or not hasattr(value, "forward"):
        raise TypeError(
            f"{owner}: {name} is {shown(value)}; it is a joint solver, as MaxEntropy() or PathSampler(rng=1)."
        )


def with_progress(solver: JointSolver, progress: Progress) -> JointSolver:
    """The solver with a progress of its own, if it takes one; else the solver unchanged."""
    if is_dataclass(solver) and any(setting.name == "progress" for setting in fields(solver)):
        return replace(solver, progress=progress)
    return solver


def forward_by_prefixes(solver: JointSolver, problem: JointProblem, progress: Progress = iter) -> JointPosterior:
    """Posterior of each release given the releases up to it, by a solution of each prefix: T times the cost of a solver.

    One item of ``progress`` is taken before each prefix.
    """
    if not problem.releases:
        return solver(problem)
    at = problem.layout
    numbers = range(problem.releases)
    parts = [solver(first_releases(problem, t + 1)) for t, _ in zip(numbers, progress(numbers), strict=True)]
    groups = [slice(at.release_starts[t], at.release_starts[t + 1]) for t in range(len(parts))]
    beliefs = [slice(*part.starts[at.group_starts[[g.start, g.stop]]]) for part, g in zip(parts, groups, strict=True)]

    def joined(name: str) -> FloatArray | None:
        arrays = [getattr(part, name) for part in parts]
        complete = all(array is not None for array in arrays)
        return np.concatenate([array[own] for array, own in zip(arrays, beliefs, strict=True)]) if complete else None

    return JointPosterior(
        problem,
        np.concatenate([part.beliefs[own] for part, own in zip(parts, beliefs, strict=True)]),
        np.concatenate([part.status[own] for part, own in zip(parts, groups, strict=True)]),
        np.concatenate([part.gap[own] for part, own in zip(parts, groups, strict=True)]),
        max(part.rounds for part in parts),
        joined("standard_error"),
        joined("ess"),
        joined("rhat"),
        parts[0].rule,
        approximation=parts[0].approximation,
    )
