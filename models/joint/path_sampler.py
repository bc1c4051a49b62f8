"""Markov chain Monte Carlo over the joint assignments of all releases: starts, draws, diagnostics."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import drawn_place
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.joint.group_graph import GroupGraph
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
    values_beside,
)
from foreknow.models.joint.max_entropy import MaxEntropy, with_doubt
from foreknow.models.joint.noisy_paths import NoisyLaw, Tally, contradicted, record_noisy
from foreknow.models.joint.path_factors import PathFactors, path_factors
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    Layout,
    belief_starts,
    check_no_noise,
    components,
    forward_by_prefixes,
    without_pairs,
)
from foreknow.models.problem import CONTRADICTED, DOUBT, ROW_PARTS, UNCONVERGED
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import as_generator, check_choice, check_range, check_whole

BATCHES = 20
"""Number of batches of draws of each chain, for standard errors."""

SMALL_HISTORY = 1000
"""Largest number of records of histories that have eight chains by default."""

FALSE_ALARM, SAME_DENSITY = 1e-4, 1e-6
"""Probability that log densities of chains that mix count as different, and a difference of log densities that is none."""

PATHS_SOFTEST = 0.01
"""Weight of the uniform distribution with which the annealing of starts from paths begins."""

MAX_SWEEPS = 2**16 * BATCHES - BATCHES
"""Largest number of sweeps: a batch counts its draws in 16 bits."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SampledPosterior(JointPosterior):
    """Posterior of a joint problem by Markov chains: a `JointPosterior` with the log density of each draw.

    ``log_density``, shape ``(chains, sweeps)``, is the logarithm of the joint density of own and published values, without its
    constant. Chains that have converged have the same mean.
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
    own and published values, and the published ones are the multiset. The moves of a sweep are run swaps, of runs
    that add up to the number of records, path redraws, of stretches that add up to ``redraws`` times this number,
    and redraws of runs of three or four paths and of blocks of three to six. Own values in groups without multiset
    or with distorted values are drawn along the path, and published values by pairs. Relations are in the weights of all moves, and
    half of the blocks begin with two related records and a member of the group of each. Each chain is annealed:
    every factor is mixed with the uniform distribution, of a weight that falls geometrically to 0.

    Parameters
    ----------
    sweeps : int
        Number of draws that each chain keeps, one a sweep; rounded up to a multiple of `BATCHES`.
    chains : int, optional
        Number of chains, at least 1; by default 8 for at most `SMALL_HISTORY` records, and 4 for more. R-hat compares half chains;
        with one chain it does not see that the chain is stuck.
    warmup : int, optional
        Number of sweeps after annealing that each chain discards; a quarter of ``sweeps`` by default.
    anneal : int, optional
        Number of sweeps of the annealed start; half of ``sweeps`` by default.
    redraws : float
        Number of records on redrawn paths in each sweep, as a share of all records. Only chains of order 1 are redrawn.
    start : {"mixed", "random", "paths"}
        Start of each chain. ``"random"``: an independent uniform random assignment of each group. ``"paths"``: each group given the
        releases before it and the messages of `MaxEntropy` from those after it, with a weaker annealing; for large groups and
        chains of order 1 with zeros. ``"mixed"``: chains 0, 2, ... from random assignments, chains 1, 3, ... as ``"paths"``, with
        the beliefs of `START_SOLVER` instead of messages; all from random ones for chains of an order above 1.
    threads : int, optional
        Number of chains that run at the same time; one for each processor by default. Results do not depend on it.
    progress : callable
        Function of the steps of all chains that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken before each step: a level of annealing, the warm-up, or one of `BATCHES` batches of draws. `forward` has one step for
        each release. Results do not depend on it.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one. Each call continues the generator, so that two calls differ.

    Notes
    -----
    Consistent as the number of sweeps grows. Each belief has a standard error, an effective sample size and an R-hat
    (`chain_diagnostics`). A group with an R-hat over `MAX_RHAT` is reported as `Status.UNCONVERGED`, and so is every group of a
    connected component of the history in which the log densities of the chains differ (`densities_differ`).

    Zeros are mixed with the uniform distribution of weight `DOUBT`, so that every assignment has a positive density, and smaller
    positive probabilities count as zeros. A group is reported as `Status.CONTRADICTED` if in every chain a draw has a record in
    it with a factor of probability 0. Chains that are stuck can report a group that is not contradicted; their log densities
    then differ.

    Not seen: values that no chain draws, if the chains agree on the other values. Zeros and small factors can cut the likely
    assignments into parts that only moves of several paths connect. On 2,000 random histories of 2 to 4 releases, some with many
    zeros, block redraws connect all parts. More than six paths that must change together stay apart.

    With noisy counts a sweep redraws each path given all others; ``anneal``, ``redraws`` and ``start`` are not read. At scales
    below about .5 two paths must change together, which no redraw does: chains are stuck, mostly with `Status.UNCONVERGED`.

    With zeros in the chain of values and groups of ten members or more, the log densities of chains come near each other only after
    1,000 sweeps of annealing or more with ``redraws`` of 1; ``start="paths"`` is nearer. In long histories of large groups the
    chains do not converge in any useful time. The status and R-hat say so, and `MaxEntropy` is better
    (docs/methods/joint-sampler.md).

    Cost: O(chains sweeps R) for run swaps; O(k + m v) for each record of a redrawn path, in a group of k members and v values;
    O(m^2) for each record without multiset or with distorted values. Chains of order d cost O(d 2^d) and O(m^(d + 1)). Memory:
    chains * `BATCHES` numbers of 8 bits for each belief, of 16 bits with batches of over 255 draws.
    """

    sweeps: int = 400
    chains: int | None = None
    warmup: int | None = None
    anneal: int | None = None
    redraws: float = 0.25
    start: Literal["mixed", "random", "paths"] = "mixed"
    threads: int | None = None
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "relations")

    def __post_init__(self) -> None:
        check_progress("PathSampler", self.progress, "the steps of all chains")
        object.__setattr__(self, "rng", as_generator("PathSampler", self.rng))
        for name in ("chains", "threads"):
            if getattr(self, name) is not None:
                check_whole("PathSampler", name, getattr(self, name), name)
        for name, least in (("sweeps", 1), ("warmup", 0), ("anneal", 0)):
            number = getattr(self, name)
            if number is not None or name == "sweeps":
                check_whole("PathSampler", name, number, "sweeps", least, MAX_SWEEPS)
        check_choice("PathSampler", "start", self.start, ("mixed", "random", "paths"))
        check_range("PathSampler", "redraws", self.redraws, 0, 1000, "a share of the records")

    @property
    def annealing_sweeps(self) -> int:
        """Number of sweeps of the annealed start."""
        return int(self.sweeps) // 2 if self.anneal is None else int(self.anneal)

    @property
    def warmup_sweeps(self) -> int:
        """Number of sweeps after annealing that each chain discards."""
        return int(self.sweeps) // 4 if self.warmup is None else int(self.warmup)

    def __call__(self, problem: JointProblem) -> SampledPosterior:
        """Posterior of a whole history."""
        return sampled_posterior(self, problem)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is sampled anew."""
        return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)

    def draws(self, problem: JointProblem, number: int) -> IntArray:
        """Joint assignments of own values: int array, shape ``(number, R)``.

        The rows are in the order of the chains; the numbers of draws of two chains differ by at most one. The draws of a
        chain are equidistant over about ``sweeps`` sweeps, at least one sweep apart.
        """
        check_whole("PathSampler.draws", "number", number, "draws")
        check_no_noise("PathSampler.draws", problem)
        number, chains = int(number), number_of_chains(self, problem)
        factors, start = path_factors(problem), start_of(self, problem)
        step = stepping(self.progress, range(chains * (annealing_levels(self.annealing_sweeps) + 1)))

        def of_chain(c: int, rng: np.random.Generator) -> IntArray:
            made = np.zeros((number // chains + (c < number % chains), len(problem.path)), dtype=np.int64)
            state, mover = warm_chain(self, problem, factors, start(c, rng), True, rng, step)
            for line in made:
                advance(factors, state, max(int(self.sweeps) // len(made), 1), mover, rng)
                line[:] = state.own
            return made

        return np.concatenate(each_chain(self, chains, of_chain))


def number_of_chains(sampler: PathSampler, problem: JointProblem) -> int:
    """Number of chains of a sampler; where it is not set, more for small histories, where chains are cheap."""
    if sampler.chains is not None:
        return int(sampler.chains)
    return 8 if len(problem.path) <= SMALL_HISTORY else 4


def each_chain[T](sampler: PathSampler, chains: int, work: Callable[[int, np.random.Generator], T]) -> list[T]:
    """Results of a function of the number and the generator of each chain; they do not depend on the number of threads."""
    seeds = as_generator("PathSampler", sampler.rng).integers(2**63, size=(chains, 2))
    threads = os.cpu_count() or 1 if sampler.threads is None else int(sampler.threads)
    with ThreadPoolExecutor(min(threads, len(seeds))) as pool:
        return list(pool.map(work, range(len(seeds)), map(np.random.default_rng, seeds)))


class Start(NamedTuple):
    """Start of a chain, and the weight of the uniform distribution with which its annealing begins."""

    state: Assignment
    softest: float


def start_of(sampler: PathSampler, problem: JointProblem) -> Callable[[int, np.random.Generator], Start]:
    """Function of the number and the generator of a chain that draws its start."""
    mixed = sampler.start == "mixed"
    one_chain = number_of_chains(sampler, problem) == 1
    if sampler.start == "random" or (mixed and (one_chain or problem.order > 1)) or not len(problem.path):
        return lambda _, rng: Start(independent_start(problem, rng), SOFTEST)
    ahead = (
        belief_ratios(with_doubt(problem)[0].layout, START_SOLVER(without_pairs(problem)).beliefs)
        if mixed
        else later_messages(problem)
    )

    def drawn(c: int, rng: np.random.Generator) -> Start:
        if mixed and c % 2 == 0:
            return Start(independent_start(problem, rng), SOFTEST)
        return Start(path_start(problem, ahead, rng), PATHS_SOFTEST)

    return drawn


def warm_chain(
    sampler: PathSampler,
    problem: JointProblem,
    factors: PathFactors,
    start: Start,
    runs: bool,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> tuple[Assignment, Moves]:
    """State and moves of a chain after annealing and warm-up."""
    state, mover = start.state, moves(problem, sampler.redraws, runs)
    anneal_start(factors, state, sampler.annealing_sweeps, mover, rng, start.softest, step)
    step()
    advance(factors, state, sampler.warmup_sweeps, mover, rng)
    return state, mover


def sampled_posterior(sampler: PathSampler, problem: JointProblem, runs: bool = True) -> SampledPosterior:
    """Posterior by run swaps and path redraws, or by swaps at single releases if ``runs`` is False.

    With noisy counts it is that of redraws of whole paths, whose beliefs are means of conditional probabilities.
    """
    chains, length = number_of_chains(sampler, problem), -(-int(sampler.sweeps) // BATCHES)
    starts, places = belief_starts(problem), value_places(problem.layout, problem.values)
    counts = np.zeros((chains, BATCHES, int(starts[-1])), dtype=np.uint8 if length < 256 else np.uint16)
    log_density = np.zeros((chains, length * BATCHES))
    doubtful = np.zeros((chains, len(problem.counts)), dtype=np.int64)
    parts, component = components(problem), np.zeros(len(problem.path), dtype=np.int64)
    component[np.concatenate([component[:0], *parts])] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    densities = np.zeros((chains, BATCHES, len(parts)))
    if problem.noisy.any():
        return _noisy_posterior(sampler, problem, counts, log_density, densities, component)
    factors, start = path_factors(problem), start_of(sampler, problem)
    step = stepping(sampler.progress, range(chains * (annealing_levels(sampler.annealing_sweeps) + 1 + BATCHES)))

    def of_chain(c: int, rng: np.random.Generator) -> None:
        state, mover = warm_chain(sampler, problem, factors, start(c, rng), runs, rng, step)
        trace = Trace(counts[c], log_density[c], doubtful[c], component, densities[c])
        for batch in range(BATCHES):
            step()
            record_batch(factors, state, mover, starts, places, trace, batch, rng)

    each_chain(sampler, chains, of_chain)
    status = np.where((doubtful > 0).all(axis=0), CONTRADICTED, 0)
    status[problem.group[densities_differ(densities / length)[component]]] |= UNCONVERGED
    return posterior_of_counts(problem, counts, log_density, status, "PathSampler")


def _noisy_posterior(
    sampler: PathSampler,
    problem: JointProblem,
    counts: "Counts",
    log_density: FloatArray,
    densities: FloatArray,
    component: IntArray,
) -> SampledPosterior:
    """Posterior by redraws of whole paths given noisy counts; the arrays are overwritten, with an axis of chains before the others.

    The beliefs are means of conditional probabilities, with the standard errors of batch means, or those of the chains where these
    are larger. A group is unconverged if the log densities of the chains differ; R-hat and effective sample sizes are of the draws.
    """
    law, chains, length = NoisyLaw.of(problem), len(counts), log_density.shape[1] // BATCHES
    step = stepping(sampler.progress, range(chains * (1 + BATCHES)))

    def of_chain(c: int, rng: np.random.Generator) -> Tally:
        arrays = (counts[c], log_density[c], densities[c], component)
        return record_noisy(problem, law, sampler.warmup_sweeps, BATCHES, length, *arrays, rng, step)

    found = each_chain(sampler, chains, of_chain)
    means = np.stack([one.beliefs.reshape(-1) for one in found]) / BATCHES
    beliefs, batches = means.mean(axis=0), chains * BATCHES
    squares = sum(one.squares.reshape(-1) for one in found) / batches
    variance = np.maximum(squares - beliefs**2, 0.0) / (batches - 1)
    if chains > 1:
        variance = np.maximum(variance, means.var(axis=0, ddof=1) / chains)
    ruled_out = np.sum([one.ruled_out for one in found], axis=0) / (batches * length)
    status = contradicted(problem, ruled_out, beliefs)
    status[problem.group[densities_differ(densities / length)[component]]] |= UNCONVERGED
    drawn = posterior_of_counts(problem, counts, log_density, status.copy(), "PathSampler")
    return replace(drawn, beliefs=beliefs, standard_error=np.sqrt(variance), status=status)


def posterior_of_counts(
    problem: JointProblem, counts: "Counts", log_density: FloatArray, status: IntArray, rule: str
) -> SampledPosterior:
    """Posterior of counts of the draws by batch (`chain_diagnostics`); a group with an R-hat over `MAX_RHAT` is unconverged.

    ``log_density`` has the shape ``(chains, draws)``; ``status``, shape ``(G,)``, has the other flags and is overwritten.
    """
    starts, draws = belief_starts(problem), log_density.shape[1]
    found = chain_diagnostics(counts, starts, draws // BATCHES)
    status[np.repeat(problem.group, np.diff(starts))[found.rhat > MAX_RHAT]] |= UNCONVERGED
    gap = np.zeros(len(problem.counts))
    return SampledPosterior(problem, found.belief, status, gap, draws, *found[1:], rule, log_density=log_density)


def densities_differ(means: FloatArray) -> BoolArray:
    """True for the components whose mean log densities differ between chains by more than their variation within chains explains.

    ``means``, shape ``(chains, b, C)``, is the mean log density of each component in each batch, b even and at least 4. The
    variance of the means of chains is compared with that expected from batches, corrected as in `chain_diagnostics`. Where chains
    mix, their ratio times the number of chains less one has about the chi-squared distribution, and is over the bound with
    probability `FALSE_ALARM`. One chain never differs.
    """
    from scipy.special import chdtri

    chains, batches, parts = means.shape
    if chains < 2:
        return np.zeros(parts, dtype=np.bool_)
    paired = means.reshape(chains, batches // 2, 2, parts).mean(axis=2)
    single, double = (each.var(axis=1, ddof=1).mean(axis=0) / each.shape[1] for each in (means, paired))
    within = np.maximum(single, 2 * double - single) + SAME_DENSITY**2
    between = means.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(between * (chains - 1) > chdtri(chains - 1, FALSE_ALARM) * within)


START_SOLVER = GroupGraph()
"""Solver from whose beliefs every second chain starts."""

FITTED = MaxEntropy(tolerance=1e-2)
"""Solver whose messages look ahead in ``start="paths"``."""

EXCHANGES = 30
"""Exchanges of two values of a group for each of its records."""


def later_messages(problem: JointProblem) -> FloatArray:
    """Likelihood of the later releases given the value of each record, by `MaxEntropy`: float array, shape ``(S,)``."""
    if problem.order > 1:
        raise ValueError(
            f"PathSampler: start='paths' draws the paths of chains of order 1, and this chain has order {problem.order}. Use "
            "start='mixed' or start='random'."
        )
    return FITTED.fit(without_pairs(problem)).messages.backward


@compiled
def belief_ratios(at: Layout, beliefs: FloatArray) -> FloatArray:
    """Each belief divided by what the beliefs about the record before, the chain and the evidence predict: shape ``(B,)``.

    For chains of order 1 or 0. In place of `later_messages`, they draw paths with about these beliefs: a part of them is the
    evidence of the group itself, which is then counted twice.
    """
    found = np.zeros(len(beliefs))
    for r in range(len(at.path)):
        p, claim, start = at.previous[r], at.evidence_row[r], at.value_starts[at.group[r]]
        for s in range(at.state_starts[r + 1] - at.state_starts[r]):
            x = at.values[start + s]
            predicted = at.prior[at.path[r], x] if p < 0 else 0.0
            for before in range(at.state_starts[p], at.state_starts[p + 1] if p >= 0 else 0):
                predicted += beliefs[before] * at.table[at.state_rows[before], x]
            if claim >= 0:
                predicted *= at.evidence[claim, x]
            # Positive weights: exchanges of pairs leave assignments of weight 0 only if all others have a weight above 0.
            found[at.state_starts[r] + s] = (beliefs[at.state_starts[r] + s] + DOUBT) / (predicted + DOUBT)
    return found


def path_start(problem: JointProblem, later: FloatArray, rng: np.random.Generator) -> Assignment:
    """Random assignment of each group, given those of the earlier releases; ``later`` is the result of `later_messages`.

    A group begins at a uniform random arrangement, and pairs of its records exchange their values or keep them, in proportion to
    the weights of both. This is exact as `EXCHANGES` grows where the weights are positive. Groups with distorted values start as
    in `independent_start`. Cost: O(S + m R + R `EXCHANGES`).
    """
    random, law = independent_start(problem, rng), with_doubt(problem)[0]
    fixed = problem.constrained & (problem.emission_row < 0)
    distorted = problem.constrained & (problem.emission_row >= 0)
    kind = np.where(fixed, 1, np.where(distorted, 2, 0))
    _draw_groups(random.own, law.layout, later, kind, rng)
    return Assignment(random.own, random.published, values_beside(problem.layout, random.own))


@compiled
def _draw_groups(own: IntArray, at: Layout, later: FloatArray, kind: IntArray, rng: np.random.Generator) -> None:
    """Draw the values of each group in the order of time: ``kind`` is 0 for free values, 1 for a multiset, 2 for no change."""
    m = at.table.shape[1]
    for g in range(len(kind)):
        first, size = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        if kind[g] == 2:
            continue
        weights = np.zeros((size, m))
        for i in range(size):
            r = first + i
            p, claim = at.previous[r], at.evidence_row[r]
            row = at.state_rows[at.state_starts[p] + _place(at, at.group[p], own[p])] if p >= 0 else 0
            for s in range(width):
                x = at.values[start + s]
                weight = at.table[row, x] if p >= 0 else at.prior[at.path[r], x]
                weights[i, x] = weight * later[at.state_starts[r] + s]
                if claim >= 0:
                    weights[i, x] *= at.evidence[claim, x]
            if kind[g] == 0:
                own[r] = drawn_place(weights[i], rng)
        if kind[g] == 1 and size > 1:
            for _ in range(EXCHANGES * size):
                a, b = int(rng.random() * size), int(rng.random() * (size - 1))
                b += b >= a
                x, y = own[first + a], own[first + b]
                keep, swap = weights[a, x] * weights[b, y], weights[a, y] * weights[b, x]
                if rng.random() * (keep + swap) < swap:
                    own[first + a], own[first + b] = y, x


@compiled
def _place(at: Layout, g: int, x: int) -> int:
    """Position of a value among the possible values of a group."""
    for s in range(at.value_starts[g + 1] - at.value_starts[g]):
        if at.values[at.value_starts[g] + s] == x:
            return s
    return 0


type Counts = np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]


class ChainDiagnostics(NamedTuple):
    """Means of indicator draws with their Monte Carlo diagnostics: four float arrays, shape ``(B,)``."""

    belief: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray


@compiled
def chain_diagnostics(counts: Counts, starts: IntArray, length: int) -> ChainDiagnostics:
    """Means of draws of 0 or 1, by batch means and the differences between chains.

    ::

        V     = max(V_1, 2 V_2 - V_1, V_c)
        ess   = p (1 - p) / V
        error = sqrt(V + 2 (1 - 2 p)^2 / n^2)

    V_1, V_2 and V_c are variances of the mean p, from the sample variance of the means of batches, of pairs of batches, and of
    chains. ``counts``, shape ``(chains, b, B)``, is the number of draws of 1 in each of b batches of each chain, b even and at
    least 4, for each of B beliefs; ``starts`` has the beliefs of each record, ``length`` is the number of draws of a batch.

    The effective sample size is at most ten times the number of draws. A belief whose draws are equal in each chain, and not
    in all, has one less than the number of chains, and an infinite R-hat. A belief with equal draws in all chains has as many
    as draws, and R-hat 1; its standard error is not 0 unless its record has one possible value.

    Notes
    -----
    V_1 is too small where batches are not much longer than autocorrelations (batch means, Glynn and Whitt 1991). ``2 V_2 - V_1``
    corrects this to the first order: a lugsail estimate with r = 2 and c = 1/2 (Vats and Flegal 2022). V_c has one degree of
    freedom less than chains; for one chain it is 0.

    The second term of the error stands for values that were drawn a few times or never: two standard errors are about the
    interval of Agresti and Coull (1998), with two successes and two failures added to n draws. Here n is the effective sample
    size of the record: the sum of ``p (1 - p)`` over its values, divided by that of V, at most the number of draws.

    R-hat is that of half chains: Gelman et al. 2013, section 11.4, without rank-normalization; means and variances of draws of 0
    or 1 follow from counts. Approximate. Not seen: values that no chain visits, if the chains agree on the others. Cost: O(chains
    b B).
    """
    chains, batches, beliefs = counts.shape
    draws = float(chains * batches * length)
    found = ChainDiagnostics(np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs))
    variance = found.standard_error
    for r in range(len(starts) - 1):
        of_draws, of_means = 0.0, 0.0
        for k in range(starts[r], starts[r + 1]):
            # p, V, R-hat and the effective sample size of each belief, and the sums of p (1 - p) and V over the record.
            p, variance[k], found.rhat[k] = _belief_diagnostics(counts, k, length)
            found.belief[k] = p
            found.ess[k] = draws if p == 0.0 or p == 1.0 else 10.0 * draws
            if variance[k] > 0.0:
                found.ess[k] = min(found.ess[k], p * (1.0 - p) / variance[k])
            of_draws += p * (1.0 - p)
            of_means += variance[k]
        # n of the record; the standard error overwrites V.
        size = min(draws, of_draws / of_means) if of_means > 0.0 else draws
        for k in range(starts[r], starts[r + 1]):
            rare = 2.0 * (1.0 - 2.0 * found.belief[k]) ** 2 / size**2 if starts[r + 1] - starts[r] > 1 else 0.0
            found.standard_error[k] = np.sqrt(variance[k] + rare)
    return found


@compiled
def _belief_diagnostics(counts: Counts, k: int, length: int) -> tuple[float, float, float]:
    """Mean of the draws of one belief, variance of this mean, and R-hat."""
    chains, batches, _ = counts.shape
    # Sums over all draws; sums of squares over batches, pairs of them, chains and half chains; ``within`` sums ones times zeros.
    total, squares, of_pairs, of_chains, of_halves, within = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = batches // 2 * length
    for chain in range(chains):
        of_chain, last = 0.0, 0.0
        for part in range(2):
            of_half = 0.0
            for batch in range(part * (batches // 2), (part + 1) * (batches // 2)):
                ones = float(counts[chain, batch, k])
                squares += ones * ones
                of_pairs += (ones + last) ** 2 if batch % 2 == 1 else 0.0
                of_half, last = of_half + ones, ones
            of_halves += of_half * of_half
            within += of_half * (n - of_half)
            of_chain += of_half
        of_chains += of_chain * of_chain
        total += of_chain
    draws = 2 * n * chains
    p = total / draws
    if total == 0.0 or total == draws:
        return p, 0.0, 1.0
    # V_1, V_2, V_c and V.
    single = _variance_of_mean(total, squares, chains * batches, length)
    paired = _variance_of_mean(total, of_pairs, chains * (batches // 2), 2 * length)
    between = _variance_of_mean(total, of_chains, chains, 2 * n)
    variance = max(single, 2.0 * paired - single, between)
    # Sums over half chains: their mean variance of draws, and the variance of their means.
    within /= 2 * chains * n * (n - 1.0)
    across = _variance_of_mean(total, of_halves, 2 * chains, n) * 2 * chains
    return p, variance, np.sqrt((n - 1.0) / n + across / within) if within > 0.0 else np.inf


@compiled
def _variance_of_mean(total: float, squares: float, number: int, length: int) -> float:
    """Variance of the mean of ``number`` batches, from the sum of their sums and the sum of the squares of their sums."""
    if number < 2:
        return 0.0
    return max(squares - total * total / number, 0.0) / (float(length) ** 2 * number * (number - 1.0))
