"""Markov chain Monte Carlo over the joint assignments of all releases."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.joint.chain_diagnostics import chain_diagnostics
from foreknow.models.joint.joint_draws import (
    SOFTEST,
    Assignment,
    Moves,
    Trace,
    advance,
    anneal_start,
    annealing_levels,
    independent_start,
    moves,
    record_batch,
    value_places,
)
from foreknow.models.joint.path_factors import PathFactors, path_factors
from foreknow.models.joint.path_starts import later_messages, path_start
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.joint.solver import forward_by_prefixes
from foreknow.models.problem import CONTRADICTED, UNCONVERGED
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import as_generator, check_choice, check_range, check_whole, is_whole

BATCHES = 20
"""Number of batches of draws of each chain, for standard errors."""

PATHS_SOFTEST = 0.01
"""Weight of the uniform distribution with which the annealing of starts from paths begins."""

MAX_SWEEPS = 2**16 * BATCHES - BATCHES
"""Largest number of sweeps: a batch counts its draws in 16 bits."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SampledPosterior(JointPosterior):
    """Posterior of a joint problem by Markov chains.

    Attributes
    ----------
    problem, beliefs, status, gap, rounds, standard_error, ess, rhat, rule, log_evidence, log_tilted, relaxed
        As in `JointPosterior`.
    log_density : float array, shape (chains, sweeps)
        Logarithm of the joint density of own and published values of each draw, without its constant. Chains that have converged
        have the same mean.
    """

    log_density: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def unconverged_share(self) -> float:
        """Share of the beliefs with an R-hat over `MAX_RHAT`; NaN where there is no belief."""
        assert self.rhat is not None
        return float((self.rhat > MAX_RHAT).mean()) if len(self.rhat) else float("nan")


@equal_by_fields
@dataclass(frozen=True)
class PathSampler:
    """Markov chains over the joint assignments of all releases, with the joint law as their stationary law.

    A state assigns an own value to each record such that every group shows its multiset; in groups with distorted values it assigns
    own and published values, and the published ones are the multiset. The moves of a sweep are run swaps (`run_swaps`), of runs
    that add up to the number of records, and path redraws (`path_redraws`), of stretches that add up to ``redraws`` times this
    number. Where a factor is zero, blocks of paths are drawn as well (`block_redraws`). Own values in groups without multiset or
    with distorted values are drawn along the path, and published values by pairs (`record_redraws`). Each chain has a random start
    and is annealed: every factor is mixed with the uniform distribution, of a weight that falls geometrically to 0.

    Parameters
    ----------
    sweeps : int
        Number of draws that each chain keeps, one a sweep; rounded up to a multiple of `BATCHES`.
    chains : int
        Number of chains, at least 1. R-hat compares half chains; with one chain it does not see that the chain is stuck.
    warmup : int, optional
        Number of sweeps after annealing that each chain discards; a quarter of ``sweeps`` by default.
    anneal : int, optional
        Number of sweeps of the annealed start; half of ``sweeps`` by default.
    redraws : float
        Number of records on redrawn paths in each sweep, as a share of all records. Only chains of order 1 are redrawn.
    start : {"random", "paths"}
        Start of each chain. ``"random"``: an independent uniform random assignment of each group. ``"paths"``: each group
        given the releases before it and the messages of `MaxEntropy` from those after it, with a weaker annealing; for large groups
        and chains of order 1 with zeros (`path_starts`).
    threads : int, optional
        Number of chains that run at the same time; one for each processor by default. Results do not depend on it.
    progress : callable
        Function of the steps of all chains that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken before each step: a level of annealing, the warm-up, or one of `BATCHES` batches of draws. `forward` has one step for
        each release. Results do not depend on it.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one. Each call continues the generator, so that two calls differ.

    Raises
    ------
    ValueError
        If a number is not in its range.
    TypeError
        If ``rng`` is neither a generator nor an integer. When called with anything but a `JointProblem`.

    Notes
    -----
    Consistent as the number of sweeps grows. Each belief has a standard error, an effective sample size and an R-hat
    (`chain_diagnostics`). A group with an R-hat over `MAX_RHAT` is reported as `Status.UNCONVERGED`.

    Zeros are mixed with the uniform distribution of weight `DOUBT`, so that every assignment has a positive density, and smaller
    positive probabilities count as zeros. A group is reported as `Status.CONTRADICTED` if in every chain a draw has a record in
    it with a factor of probability 0. Chains that are stuck can report a group that is not contradicted; their log densities
    then differ.

    Not seen: values that no chain draws, if the chains agree on the other values. Zeros can cut the possible assignments into parts
    that only moves of several paths connect. On 2,000 random histories of 2 to 4 releases, some with many zeros, block redraws
    connect all parts. More than six paths that must change together stay apart.

    With zeros in the chain of values and groups of ten members or more, the log densities of chains come near each other only after
    1,000 sweeps of annealing or more with ``redraws`` of 1; ``start="paths"`` is nearer. In long histories of large groups the
    chains do not converge in any useful time. The status and R-hat say so, and `MaxEntropy` is better
    (docs/methods/joint-sampler.md).

    Cost: O(chains sweeps R) for run swaps; O(k + m v) for each record of a redrawn path, in a group of k members and v values;
    O(m^2) for each record without multiset or with distorted values. Chains of order d cost O(d 2^d) and O(m^(d + 1)). Memory:
    chains * `BATCHES` numbers of 8 bits for each belief, of 16 bits with batches of over 255 draws.
    """

    sweeps: int = 400
    chains: int = 4
    warmup: int | None = None
    anneal: int | None = None
    redraws: float = 0.25
    start: Literal["random", "paths"] = "random"
    threads: int | None = None
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_progress("PathSampler", self.progress, "the steps of all chains")
        object.__setattr__(self, "rng", as_generator("PathSampler", self.rng))
        check_whole("PathSampler", "chains", self.chains, "chains")
        if self.threads is not None:
            check_whole("PathSampler", "threads", self.threads, "threads")
        for name, least in (("sweeps", 1), ("warmup", 0), ("anneal", 0)):
            number = getattr(self, name)
            if not (number is None and name != "sweeps") and not (is_whole(number, least) and number <= MAX_SWEEPS):
                raise ValueError(
                    f"PathSampler: {name} is {number!r}; it is a number of sweeps, from {least} to {MAX_SWEEPS}."
                )
        check_choice("PathSampler", "start", self.start, ("random", "paths"))
        check_range("PathSampler", "redraws", self.redraws, 0, 1000, "a share of the records")

    @property
    def annealing_sweeps(self) -> int:
        """Number of sweeps of the annealed start."""
        return int(self.sweeps) // 2 if self.anneal is None else int(self.anneal)

    def __call__(self, problem: JointProblem) -> SampledPosterior:
        """Posterior of a whole history."""
        check_joint_problem(self, problem)
        return sampled_posterior(self, problem)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is sampled anew."""
        check_joint_problem(self, problem)
        return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)

    def draws(self, problem: JointProblem, number: int) -> IntArray:
        """Joint assignments of own values: int array, shape ``(number, R)``.

        The rows are in the order of the chains; the numbers of draws of two chains differ by at most one. The draws of a
        chain are equidistant over about ``sweeps`` sweeps, at least one sweep apart.
        """
        check_joint_problem(self, problem)
        check_whole("PathSampler.draws", "number", number, "draws")
        number, chains = int(number), int(self.chains)
        factors, start = path_factors(problem), start_of(self, problem)
        step = stepping(self.progress, range(chains * (annealing_levels(self.annealing_sweeps) + 1)))

        def of_chain(c: int, rng: np.random.Generator) -> IntArray:
            made = np.zeros((number // chains + (c < number % chains), len(problem.path)), dtype=np.int64)
            state, mover = warm_chain(self, problem, factors, start, True, rng, step)
            for line in made:
                advance(factors, state, max(int(self.sweeps) // len(made), 1), mover, rng)
                line[:] = state.own
            return made

        return np.concatenate(each_chain(self, of_chain))


def each_chain[T](sampler: PathSampler, work: Callable[[int, np.random.Generator], T]) -> list[T]:
    """Results of a function of the number and the generator of each chain; they do not depend on the number of threads."""
    seeds = as_generator("PathSampler", sampler.rng).integers(2**63, size=(int(sampler.chains), 2))
    threads = os.cpu_count() or 1 if sampler.threads is None else int(sampler.threads)
    with ThreadPoolExecutor(min(threads, len(seeds))) as pool:
        return list(pool.map(work, range(len(seeds)), map(np.random.default_rng, seeds)))


def start_of(sampler: PathSampler, problem: JointProblem) -> Callable[[np.random.Generator], Assignment]:
    """Function that draws the start of a chain."""
    if sampler.start == "random" or not len(problem.path):
        return lambda rng: independent_start(problem, rng)
    later = later_messages(problem)
    return lambda rng: path_start(problem, later, rng)


def warm_chain(
    sampler: PathSampler,
    problem: JointProblem,
    factors: PathFactors,
    start: Callable[[np.random.Generator], Assignment],
    runs: bool,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> tuple[Assignment, Moves]:
    """State and moves of a chain after annealing and warm-up."""
    warmup = int(sampler.sweeps) // 4 if sampler.warmup is None else int(sampler.warmup)
    state, mover = start(rng), moves(problem, sampler.redraws, runs)
    softest = SOFTEST if sampler.start == "random" else PATHS_SOFTEST
    anneal_start(factors, state, sampler.annealing_sweeps, mover, rng, softest, step)
    step()
    advance(factors, state, warmup, mover, rng)
    return state, mover


def sampled_posterior(sampler: PathSampler, problem: JointProblem, runs: bool = True) -> SampledPosterior:
    """Posterior by run swaps and path redraws, or by swaps at single releases if ``runs`` is False."""
    chains, length = int(sampler.chains), -(-int(sampler.sweeps) // BATCHES)
    starts, places = belief_starts(problem), value_places(problem.layout, problem.values)
    counts = np.zeros((chains, BATCHES, int(starts[-1])), dtype=np.uint8 if length < 256 else np.uint16)
    log_density = np.zeros((chains, length * BATCHES))
    doubtful = np.zeros((chains, len(problem.counts)), dtype=np.int64)
    factors, start = path_factors(problem), start_of(sampler, problem)
    step = stepping(sampler.progress, range(chains * (annealing_levels(sampler.annealing_sweeps) + 1 + BATCHES)))

    def of_chain(c: int, rng: np.random.Generator) -> None:
        state, mover = warm_chain(sampler, problem, factors, start, runs, rng, step)
        trace = Trace(counts[c], log_density[c], doubtful[c])
        for batch in range(BATCHES):
            step()
            record_batch(factors, state, mover, starts, places, trace, batch, rng)

    each_chain(sampler, of_chain)
    found = chain_diagnostics(counts, starts, length)
    status = np.where((doubtful > 0).all(axis=0), CONTRADICTED, 0)
    group = np.repeat(problem.group, np.diff(starts))
    status[group[found.rhat > MAX_RHAT]] |= UNCONVERGED
    gap = np.zeros(len(problem.counts))
    return SampledPosterior(
        problem,
        found.belief,
        status,
        gap,
        length * BATCHES,
        found.standard_error,
        found.ess,
        found.rhat,
        "PathSampler",
        log_density=log_density,
    )
