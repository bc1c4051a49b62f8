"""Posterior of prior and transitions given the releases alone, by data augmentation."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import drawn_place
from foreknow.models.estimators.convergence import MAX_RHAT, mean_diagnostics
from foreknow.models.joint.joint_draws import (
    Assignment,
    Moves,
    Trace,
    advance,
    anneal_start,
    annealing_levels,
    independent_start,
    moves,
    record_draw,
    value_places,
)
from foreknow.models.joint.learned_knowledge import LearningData, each_observation, learning_data
from foreknow.models.joint.max_entropy import ChainLaw, with_law
from foreknow.models.joint.path_factors import PathFactors, path_factors
from foreknow.models.joint.path_sampler import (
    BATCHES,
    PathSampler,
    SampledPosterior,
    number_of_chains,
    posterior_of_counts,
)
from foreknow.models.joint.problem import JointProblem, belief_starts
from foreknow.models.knowledge.class_frequencies import ClassFrequencies
from foreknow.models.knowledge.dirichlet import drawn_rows
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.sequences import GAPS, GapRule
from foreknow.models.notes import Note
from foreknow.models.problem import DOUBT
from foreknow.models.progress import stepping
from foreknow.models.settings import as_generator, check_array_size, check_choice, check_positive, check_whole
from foreknow.models.tables.columns import coordinate
from foreknow.models.tables.people import Observation
from foreknow.models.tables.release import Release

if TYPE_CHECKING:
    import pandas as pd
    import xarray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SampledKnowledge:
    """Posterior of prior and transitions given the releases alone; made by `SampledKnowledge.fit`.

    Attributes
    ----------
    prior : ClassFrequencies
        Posterior mean of the distribution of the first published value of a respondent, by class.
    transitions : MarkovChain or None
        Posterior mean of the distribution of the next value; None where no respondent has two records.
    draws : xarray.DataTree
        Draws for ArviZ, in two groups. ``posterior`` has the variables of `history_model`: ``frequencies`` with dims chain, draw,
        class, value, and ``transitions`` with dims chain, draw, last, value. For chains of order d over 1 the dims are value_1,
        ..., value_d, value, as in `markov_model`; the steps after k < d values are ``transitions_k``. ``sample_stats`` has ``lp``:
        logarithm of the probability of the drawn assignment, with the law integrated out.
    posterior : SampledPosterior
        Beliefs about all records: the mixture over the draws of the law. Its problem has the posterior mean as its law.
    notes : tuple of str
        Limits of the data and of the chains.

    Notes
    -----
    It is also the joint solver of its releases: ``JointAttack(Adversary(sampled.prior, sampled.transitions), solver=sampled)``
    has beliefs that integrate out the unknown law, in hindsight. The adversary has the gaps of `fit`. With another solver it
    takes the posterior means for the law.
    """

    prior: ClassFrequencies
    transitions: MarkovChain | None
    draws: "xarray.DataTree"
    posterior: SampledPosterior
    notes: tuple[str, ...] = field(default=())
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ()
    ignores: ClassVar[tuple[str, ...]] = ("prior", "transitions")  # the draws are of their own

    @classmethod
    def fit(
        cls,
        releases: Iterable[Release | Observation],
        *,
        sampler: PathSampler,
        classes: Mapping[str, int | None] | None = None,
        pseudo_count: float = 0.1,
        gaps: GapRule = "ignore",
        order: int = 1,
    ) -> "SampledKnowledge":
        """Sample the prior, the transitions and the values of all records given the releases.

        Parameters
        ----------
        releases
            As in `LearnedKnowledge.fit`.
        sampler : PathSampler
            Number of chains and of draws, moves, progress, and random generator. Warm-up and annealing are half of ``sweeps`` each
            by default.
        classes
            As in `LearnedKnowledge.fit`.
        pseudo_count : float
            Concentration of each probability of a row: the prior of each row is ``Dirichlet(pseudo_count, ..., pseudo_count)``.
        gaps, order
            As in `LearnedKnowledge.fit`.

        Notes
        -----
        Data augmentation (Tanner and Wong 1987): sweeps of the moves of `PathSampler` under the current law alternate with draws
        of each row of the law from its Dirichlet distribution given the counts of the current assignment. Consistent as the
        number of sweeps grows. Values between two records that are several steps apart are drawn with ``gaps="power"``.

        Each chain starts at an independent assignment, and at a law drawn around the published distribution, with half staying.
        The assignment is annealed under this law. Chains that disagree have an R-hat over `MAX_RHAT`, which the notes report.
        Counterfeits keep a uniform prior. The channel of distorted values is not sampled: it is estimated once, going forward,
        under a uniform prior and transitions to the published distribution with half staying.

        The posterior mean has the rows ``(pseudo_count + counts) / total``, averaged over the draws of the assignment. With known
        values it equals the estimate of `LearnedKnowledge.fit` with the same pseudo-count.
        """
        owner = "SampledKnowledge.fit"
        check_positive(owner, "pseudo_count", pseudo_count, "the concentration of a Dirichlet prior")
        check_choice(owner, "gaps", gaps, GAPS)
        check_whole(owner, "order", order, "past values")
        observations = each_observation(owner, releases)
        data = learning_data(owner, observations, classes or {}, gaps, int(order), float(pseudo_count))
        if data.problem.noisy.any():
            raise ValueError(f"{owner} does not read noisy counts; LearnedKnowledge.fit does.")
        drawn, cells = law_draws(data, sampler), law_cells(data)
        law = law_of_rows(drawn.mean, cells)
        prior, chain, _ = data.knowledge(law)
        domain = [coordinate(value) for value in observations[0].people.schema.values]
        # Beliefs of the mixture over the draws of the law; the problem has their mean.
        fine = np.zeros(len(data.problem.counts), dtype=np.int64)
        density, rule = drawn.log_probability, "PathSampler, unknown law"
        beliefs = posterior_of_counts(data.under(law), drawn.values, density, fine, rule)
        return cls(prior, chain, draws_tree(drawn, cells, domain), beliefs, draws_notes(drawn, cells, domain))

    def summary(self, probability: float = 0.9) -> "pd.DataFrame":
        """Posterior mean, central credible interval, effective sample sizes and R-hat of each probability, by ArviZ.

        One row for each probability, as ``transitions[a, b]``: that of b after a.
        """
        import arviz as az

        table: pd.DataFrame = az.summary(self.draws, ci_prob=float(probability), ci_kind="eti", round_to="none")
        return table

    @property
    def rhat(self) -> "xarray.DataTree":
        """R-hat of each probability of the law and of ``lp``, by ArviZ, in the groups of ``draws``."""
        import arviz as az
        import xarray

        groups = {name: az.rhat(self.draws, group=name) for name in ("posterior", "sample_stats")}
        return xarray.DataTree.from_dict(groups)

    def __call__(self, problem: JointProblem) -> SampledPosterior:
        """Sampled beliefs, as those of a joint problem of the same releases."""
        own, same = self.posterior.problem, np.array_equal
        alike = all(same(getattr(own, name), getattr(problem, name)) for name in ("counts", "group", "release"))
        if not (alike and same(own.layout.previous, problem.layout.previous)):
            raise ValueError(
                "SampledKnowledge: the problem is of other releases than those that were sampled, or its adversary has other gaps "
                "or no transitions. Give the same releases and gaps as to SampledKnowledge.fit."
            )
        if len(problem.pairs) or (problem.evidence_row >= 0).any() or (problem.emission_row >= 0).any():
            raise ValueError(
                "SampledKnowledge: the problem has evidence or relations, which the draws do not know, or distorted values, whose "
                "channel depends on the adversary. Use "
                "Adversary(sampled.prior, sampled.transitions, ...) with another solver."
            )
        return replace(self.posterior, problem=problem)

    def forward(self, problem: JointProblem) -> NoReturn:  # noqa: ARG002
        """Raise ValueError: the draws are given all releases."""
        raise ValueError(
            "SampledKnowledge: the draws are given all releases; there are no beliefs given the first ones only. Use "
            "hindsight=True, or SampledKnowledge.fit(releases[:t], ...) for each t."
        )


START_CONCENTRATION = 20.0
"""Sum of the concentrations of each row of the law at the start of a chain."""


class LawDraws(NamedTuple):
    """Draws of all chains."""

    rows: FloatArray  # (chains, draws, rows, m): law of each draw, by cell (`LawCells`)
    # (chains, draws): logarithm of the probability of each drawn assignment, the law being integrated out
    # (`collapsed_log_probability`)
    log_probability: FloatArray
    mean: FloatArray  # (rows, m): posterior mean of the law: mean over the draws of its means given the assignments
    totals: FloatArray  # (rows,): mean number of values drawn from each row
    # (chains, b, B): number of draws of each value of each record, by batch
    values: "np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]"


class LawState(NamedTuple):
    """State of a chain: a law, the factors that it gives, an assignment, and the counts of the assignment under the law before."""

    law: ChainLaw
    factors: PathFactors
    assignment: Assignment
    counts: FloatArray


def law_draws(data: LearningData, sampler: PathSampler) -> LawDraws:
    """Draws of the law and of the values of all records given the releases.

    Each draw is one sweep of the moves of the sampler under the law of the draw before, then a draw of each row of the law from
    ``Dirichlet(pseudo_count + counts)``, the counts being those of the assignment. The stationary law is the posterior of both.

    Notes
    -----
    Cost of a draw: that of a sweep, O(R), and of the rows, O(N m). Memory: the draws of the law.
    """
    problem = data.problem
    chains, length = number_of_chains(sampler, problem), -(-int(sampler.sweeps) // BATCHES)
    cells = law_cells(data)
    shape = (int(cells.row_starts[-1]), problem.values)
    check_array_size("SampledKnowledge.fit", chains=chains, draws=length * BATCHES, rows=shape[0], values=shape[1])
    starts, places = belief_starts(problem), value_places(problem.layout, problem.values)
    values = np.zeros((chains, BATCHES, int(starts[-1])), dtype=np.uint8 if length < 256 else np.uint16)
    rows, log_probability = np.zeros((chains, length * BATCHES, *shape)), np.zeros((chains, length * BATCHES))
    doubtful, mean, totals = np.zeros(len(problem.counts), dtype=np.int64), np.zeros(shape), np.zeros(shape[0])
    mover = moves(problem, sampler.redraws)
    seeds = as_generator("PathSampler", sampler.rng).integers(2**63, size=(chains, 2))
    step = stepping(sampler.progress, range(chains * (annealing_levels(sampler.annealing_sweeps) + 1 + BATCHES)))
    for c, rng in enumerate(map(np.random.default_rng, seeds)):
        state = _warm_state(data, sampler, cells, mover, rng, step)
        trace = Trace(
            values[c], np.zeros(1), doubtful, np.zeros(len(problem.path), dtype=np.int64), np.zeros((BATCHES, 1))
        )
        for draw in range(length * BATCHES):
            if draw % length == 0:
                step()
            state = _next_state(state, data, cells, mover, rng)
            record_draw(state.factors, state.assignment, starts, places, draw // length, 0, trace)
            rows[c, draw] = rows_of_law(state.law)
            log_probability[c, draw] = collapsed_log_probability(state.counts, data.pseudo_count)
            added = state.counts + data.pseudo_count
            mean += added / added.sum(axis=1, keepdims=True)
            totals += state.counts.sum(axis=1)
    number = chains * length * BATCHES
    return LawDraws(rows, log_probability, mean / number, totals / number, values)


class LawCells(NamedTuple):
    """Probability of the law that each record selects: rows of first values, then rows of steps after 1, ..., d values."""

    previous: IntArray  # (R,): record before each record on its path; -1 for none
    # (R,): row of the first value of a path: the class of the respondent; -1 for other records and for counterfeits
    first: IntArray
    steps: IntArray  # (R,): number of steps of the chain from the previous record
    # (d + 2,): first row of the first values, of the steps after 1, ..., d values, and the number of rows
    row_starts: IntArray


def _warm_state(
    data: LearningData,
    sampler: PathSampler,
    cells: LawCells,
    mover: Moves,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> LawState:
    """State of a chain after annealing, with the law of its start, and warm-up."""
    warmup = int(sampler.sweeps) // 2 if sampler.warmup is None else int(sampler.warmup)
    start = START_CONCENTRATION * rows_of_law(data.start) + data.pseudo_count
    law = law_of_rows(drawn_rows(start, rng), cells)
    factors = with_factors(path_factors(data.problem), data, law)
    state = LawState(law, factors, independent_start(data.problem, rng), np.zeros(start.shape))
    anneal_start(state.factors, state.assignment, sampler.annealing_sweeps, mover, rng, step=step)
    step()
    for _ in range(warmup):
        state = _next_state(state, data, cells, mover, rng)
    return state


def _next_state(
    state: LawState, data: LearningData, cells: LawCells, mover: Moves, rng: np.random.Generator
) -> LawState:
    """State after one sweep, and a draw of the law given the assignment."""
    advance(state.factors, state.assignment, 1, mover, rng)
    ahead = powers_ahead(state.law, int(cells.steps.max(initial=1)))
    counts = count_cells(state.assignment.own, cells, ahead, rng)
    law = law_of_rows(drawn_rows(counts + data.pseudo_count, rng), cells)
    factors = with_factors(state.factors, data, law)
    return LawState(law, factors, state.assignment, counts)


def law_cells(data: LearningData) -> LawCells:
    """Cells of the records of a history."""
    problem, previous, m = data.problem, data.problem.layout.previous, data.problem.values
    of_path = np.full(len(problem.prior), -1, dtype=np.int64)
    of_path[: problem.respondents] = data.classes
    first = np.where(previous < 0, of_path[problem.path], -1)
    rows = [0, *np.cumsum([len(data.start.prior), *(table.size // m for table in data.start.tables)])]
    return LawCells(previous, first, data.powers[problem.chain], np.array(rows, dtype=np.int64))


@compiled
def count_cells(value: IntArray, cells: LawCells, ahead: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Number of first values and of steps in an assignment, by cell: float array, shape ``(rows, m)``.

    ``ahead``, shape ``(longest + 1, m, m)``, are the powers 0, 1, ... of the transitions of order 1. Between records that are
    several steps apart, the values in between are drawn given both ends, and their steps are counted. Cost: O(R d), and O(m) for
    each of them.
    """
    m, order = ahead.shape[1], len(cells.row_starts) - 2
    counts = np.zeros((cells.row_starts[-1], m))
    weight = np.zeros(m)
    for r in range(len(value)):
        at, y = cells.previous[r], value[r]
        if at < 0:
            # First value of a path, in the row of its class.
            if cells.first[r] >= 0:
                counts[cells.first[r], y] += 1.0
            continue
        if cells.steps[r] > 1:
            # Several steps from x to y: the next value is z with probability proportional to A(z | x) A^left(y | z); then from z.
            x = value[at]
            for left in range(cells.steps[r] - 1, 0, -1):
                for z in range(m):
                    weight[z] = ahead[1, x, z] * ahead[left, z, y]
                between = drawn_place(weight, rng)
                counts[cells.row_starts[1] + x, between] += 1.0
                x = between
            counts[cells.row_starts[1] + x, y] += 1.0
            continue
        # One step: the row of the last values of the path, at most d, the latest in the lowest place.
        known, code, place = 0, 0, 1
        while known < order and at >= 0:
            code += place * value[at]
            place *= m
            known += 1
            at = cells.previous[at]
        counts[cells.row_starts[known] + code, y] += 1.0
    return counts


def law_of_rows(rows: FloatArray, cells: LawCells) -> ChainLaw:
    """Law of probabilities by cell, shape ``(rows, m)``; rows are mixed with the uniform distribution of weight `DOUBT`."""
    m = rows.shape[1]
    mixed = (1.0 - DOUBT) * rows + DOUBT / m
    parts = np.split(mixed, cells.row_starts[1:-1])
    return ChainLaw(
        parts[0], tuple(part.reshape((m,) * (length + 1)) for length, part in enumerate(parts[1:], start=1))
    )


def rows_of_law(law: ChainLaw) -> FloatArray:
    """Probabilities of a law by cell: float array, shape ``(rows, m)``."""
    m = law.prior.shape[1]
    return np.concatenate([law.prior, *(table.reshape(-1, m) for table in law.tables)])


def powers_ahead(law: ChainLaw, longest: int) -> FloatArray:
    """Powers 0, ..., longest of the transitions of a law of order 1; the identity alone where each step is one."""
    m = law.prior.shape[1]
    powers = [np.eye(m)]
    if len(law.tables) == 1 and longest > 1:
        for _ in range(longest):
            powers.append(powers[-1] @ law.tables[0])
    return np.stack(powers)


def with_factors(factors: PathFactors, data: LearningData, law: ChainLaw) -> PathFactors:
    """Factors of a problem under a positive law. Cost: O(N m + size of the tables)."""
    prior, tables = with_law(data.problem, law, data.classes, data.powers)
    rows = [table.reshape(-1, data.problem.values) for table in tables] if law.tables else [factors.table]
    return factors._replace(
        prior=prior.astype(factors.prior.dtype), table=np.concatenate(rows).astype(factors.table.dtype)
    )


def collapsed_log_probability(counts: FloatArray, pseudo_count: float) -> float:
    """Logarithm of the probability of an assignment with these counts, all rows of the law being integrated out.

    The sum over the rows of the logarithms of Dirichlet-multinomial probabilities, without the known law of counterfeits. Counts
    have the shape ``(rows, m)``.
    """
    from scipy.special import gammaln

    m = counts.shape[-1]
    cells = gammaln(counts + pseudo_count).sum() - counts.size * gammaln(pseudo_count)
    rows = gammaln(m * pseudo_count) * len(counts) - gammaln(counts.sum(axis=-1) + m * pseudo_count).sum()
    return float(cells + rows)


FEW_VALUES = 1.0
"""Mean number of values drawn from a row of the law under which the pseudo-counts determine it."""


def draws_tree(drawn: LawDraws, cells: LawCells, domain: list[Hashable]) -> "xarray.DataTree":
    """Draws with names, dimensions and coordinates."""
    import arviz_base

    parts = np.split(drawn.rows, cells.row_starts[1:-1], axis=2)
    order, m = len(parts) - 1, len(domain)
    variables: dict[str, Any] = {"frequencies": parts[0]}
    dims: dict[str, list[str]] = {"frequencies": ["class", "value"]}
    for length, part in enumerate(parts[1:], start=1):
        name = "transitions" if length == order else f"transitions_{length}"
        before = ["last"] if order == 1 else [f"value_{place}" for place in range(order - length + 1, order + 1)]
        variables[name] = part.reshape(*part.shape[:2], *(m,) * (length + 1))
        dims[name] = [*before, "value"]
    coords: dict[str, Any] = dict.fromkeys((axis for axes in dims.values() for axis in axes), domain)
    coords["class"] = range(parts[0].shape[2])
    groups = {"posterior": variables, "sample_stats": {"lp": drawn.log_probability}}
    return arviz_base.from_dict(groups, coords=coords, dims=dims)


def draws_notes(drawn: LawDraws, cells: LawCells, domain: list[Hashable]) -> tuple[str, ...]:
    """Limits of the data and of the chains, as sentences."""
    notes, first = list[str](), int(cells.row_starts[1])
    by_entry = np.ascontiguousarray(drawn.rows.transpose(2, 3, 0, 1)).reshape(-1, *drawn.rows.shape[:2])
    rhat = np.array([mean_diagnostics(each)[1] for each in by_entry])
    few = np.flatnonzero(drawn.totals[first : first + len(domain)] < FEW_VALUES)
    if len(cells.row_starts) == 2:
        notes.append("No respondent has two published records; the prior is sampled, and no transitions.")
    elif len(few):
        listed = ", ".join(repr(domain[s]) for s in few)
        notes.append(
            f"Fewer than {FEW_VALUES:g} transition is drawn from {listed} on average; the pseudo-counts determine these rows."
        )
    if len(drawn.log_probability) == 1:
        notes.append(
            "One chain was drawn. R-hat compares its halves, and does not show that it is stuck; draw several chains."
        )
    if apart := int((rhat > MAX_RHAT).sum()):
        kind = (
            "{apart:,} of {entries:,} probabilities of the law have an R-hat over {limit}, up to {largest:.2f}: the chains "
            "disagree. Draw more sweeps."
        )
        notes.append(Note(kind, apart=apart, entries=rhat.size, limit=str(MAX_RHAT), largest=float(rhat.max())))
    return tuple(notes)
