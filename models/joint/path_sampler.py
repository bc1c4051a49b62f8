"""Markov chain Monte Carlo over the joint assignments of all releases."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.convergence import LARGEST_RHAT
from foreknow.models.joint.chain_diagnostics import chain_diagnostics
from foreknow.models.joint.joint_draws import Trace, anneal_start, independent_start, run_chain, value_places
from foreknow.models.joint.path_factors import path_factors
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.run_swaps import sweep, workspace
from foreknow.models.problem import CONTRADICTED, UNCONVERGED
from foreknow.models.settings import as_generator, check_kind, is_whole

BATCHES = 20
"""Number of batches of draws of each chain, for standard errors."""

MOST_SWEEPS = 2**16 * BATCHES
"""Limit of the number of sweeps: a batch counts its draws in 16 bits."""


@dataclass(frozen=True, eq=False)
class SampledPosterior(JointPosterior):
    """Posterior of a joint problem by Markov chains.

    Attributes
    ----------
    log_density : float array, shape (chains, sweeps)
        Logarithm of the joint density of each draw, without its constant.
    """

    log_density: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def unconverged_share(self) -> float:
        """Share of the beliefs whose R-hat exceeds `LARGEST_RHAT`."""
        assert self.rhat is not None
        return float((self.rhat > LARGEST_RHAT).mean()) if len(self.rhat) else 0.0


@dataclass(frozen=True)
class PathSampler:
    """Markov chains over the joint assignments of all releases, by run swaps.

    Parameters
    ----------
    sweeps : int
        Number of draws that each chain keeps, rounded up to a multiple of `BATCHES`.
    """

    sweeps: int = 400
    chains: int = 4
    warmup: int | None = None
    anneal: int | None = None
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", as_generator("PathSampler", self.rng))

    def __call__(self, problem: JointProblem) -> SampledPosterior:
        """Posterior of a whole history."""
        return sample_paths(self, problem, runs=True)


def sample_paths(sampler: PathSampler, problem: JointProblem, runs: bool) -> SampledPosterior:
    chains, sweeps = int(sampler.chains), -(-int(sampler.sweeps) // BATCHES) * BATCHES
    warmup = sweeps // 4 if sampler.warmup is None else int(sampler.warmup)
    anneal = sweeps // 2 if sampler.anneal is None else int(sampler.anneal)
    f, starts, places = path_factors(problem), belief_starts(problem), value_places(problem.layout, problem.values)
    kind = np.uint8 if sweeps // BATCHES < 256 else np.uint16
    counts = np.zeros((chains, BATCHES, int(starts[-1])), dtype=kind)
    log_density = np.zeros((chains, sweeps))
    doubtful = np.zeros((chains, len(problem.counts)), dtype=np.int64)
    w = workspace(problem.releases, problem.order, problem.values)
    for c, rng in enumerate(as_generator("PathSampler", sampler.rng).spawn(chains)):
        value = independent_start(problem, rng)
        anneal_start(f, value, problem.order, anneal, runs, w, rng)
        trace = Trace(counts[c], log_density[c], doubtful[c])
        run_chain(f, value, problem.order, warmup, runs, w, starts, places, trace, rng)
    found = chain_diagnostics(counts, sweeps // BATCHES)
    status = np.where((doubtful > 0).all(axis=0), CONTRADICTED, 0)
    status[np.unique(np.repeat(problem.group, np.diff(starts))[found.rhat > LARGEST_RHAT])] |= UNCONVERGED
    return SampledPosterior(
        problem, found.belief, status, np.zeros(len(problem.counts)), sweeps,
        found.standard_error, found.ess, found.rhat, "PathSampler", log_density,
    )
