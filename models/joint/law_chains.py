"""Markov chains over joint assignments and the unknown law of their values: data augmentation."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.expected_counts import ChainLaw
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
from foreknow.models.joint.law_counts import (
    LawCells,
    collapsed_log_probability,
    count_cells,
    law_cells,
    law_of_rows,
    powers_ahead,
    rows_of_law,
    with_factors,
)
from foreknow.models.joint.path_factors import PathFactors, path_factors
from foreknow.models.joint.path_sampler import BATCHES, PathSampler
from foreknow.models.joint.posterior import belief_starts
from foreknow.models.joint.problem import JointProblem
from foreknow.models.knowledge.dirichlet_rows import drawn_rows
from foreknow.models.progress import stepping
from foreknow.models.settings import as_generator, check_array_size

START_CONCENTRATION = 20.0
"""Sum of the concentrations of each row of the law at the start of a chain."""


class UnknownLaw(NamedTuple):
    """Joint problem whose law is unknown: Dirichlet rows.

    Attributes
    ----------
    problem : JointProblem
        Its prior and its tables are not read.
    classes : int array, shape (respondents,)
        Class of each path of a respondent.
    powers : int array, shape (K,)
        Number of steps of each chain of the problem.
    start : ChainLaw
        Mean of the law at the start of a chain.
    pseudo_count : float
        Concentration of each probability.
    """

    problem: JointProblem
    classes: IntArray
    powers: IntArray
    start: ChainLaw
    pseudo_count: float


class LawDraws(NamedTuple):
    """Draws of all chains.

    Attributes
    ----------
    rows : float array, shape (chains, draws, rows, m)
        Law of each draw, by cell (`LawCells`).
    log_probability : float array, shape (chains, draws)
        Logarithm of the probability of each drawn assignment, the law being integrated out (`collapsed_log_probability`).
    mean : float array, shape (rows, m)
        Posterior mean of the law: mean over the draws of its means given the assignments.
    totals : float array, shape (rows,)
        Mean number of values drawn from each row.
    values : unsigned int array, shape (chains, b, B)
        Number of draws of each value of each record, by batch.
    """

    rows: FloatArray
    log_probability: FloatArray
    mean: FloatArray
    totals: FloatArray
    values: "np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]"


class LawState(NamedTuple):
    """State of a chain: a law, the factors that it gives, an assignment, and the counts of the assignment under the law before."""

    law: ChainLaw
    factors: PathFactors
    assignment: Assignment
    counts: FloatArray


def law_draws(unknown: UnknownLaw, sampler: PathSampler) -> LawDraws:
    """Draws of the law and of the values of all records given the releases.

    Each draw is one sweep of the moves of the sampler under the law of the draw before, then a draw of each row of the law from
    ``Dirichlet(pseudo_count + counts)``, the counts being those of the assignment. The stationary law is the posterior of both.

    Notes
    -----
    Cost of a draw: that of a sweep, O(R), and of the rows, O(N m). Memory: the draws of the law.
    """
    problem = unknown.problem
    chains, length = int(sampler.chains), -(-int(sampler.sweeps) // BATCHES)
    cells = law_cells(problem, unknown.classes, unknown.start, unknown.powers)
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
        state = _warm_state(unknown, sampler, cells, mover, rng, step)
        trace = Trace(values[c], np.zeros(1), doubtful)
        for draw in range(length * BATCHES):
            if draw % length == 0:
                step()
            state = _next_state(state, unknown, cells, mover, rng)
            record_draw(state.factors, state.assignment, starts, places, draw // length, 0, trace)
            rows[c, draw] = rows_of_law(state.law)
            log_probability[c, draw] = collapsed_log_probability(state.counts, unknown.pseudo_count)
            added = state.counts + unknown.pseudo_count
            mean += added / added.sum(axis=1, keepdims=True)
            totals += state.counts.sum(axis=1)
    number = chains * length * BATCHES
    return LawDraws(rows, log_probability, mean / number, totals / number, values)


def _warm_state(
    unknown: UnknownLaw,
    sampler: PathSampler,
    cells: LawCells,
    mover: Moves,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> LawState:
    """State of a chain after annealing, with the law of its start, and warm-up."""
    warmup = int(sampler.sweeps) // 2 if sampler.warmup is None else int(sampler.warmup)
    start = START_CONCENTRATION * rows_of_law(unknown.start) + unknown.pseudo_count
    law = law_of_rows(drawn_rows(start, rng), cells)
    factors = with_factors(path_factors(unknown.problem), unknown.problem, law, unknown.classes, unknown.powers)
    state = LawState(law, factors, independent_start(unknown.problem, rng), np.zeros(start.shape))
    anneal_start(state.factors, state.assignment, sampler.annealing_sweeps, mover, rng, step=step)
    step()
    for _ in range(warmup):
        state = _next_state(state, unknown, cells, mover, rng)
    return state


def _next_state(
    state: LawState, unknown: UnknownLaw, cells: LawCells, mover: Moves, rng: np.random.Generator
) -> LawState:
    """State after one sweep and a draw of the law."""
    advance(state.factors, state.assignment, 1, mover, rng)
    return _with_law(state, unknown, cells, rng)


def _with_law(state: LawState, unknown: UnknownLaw, cells: LawCells, rng: np.random.Generator) -> LawState:
    """State with a law drawn given the assignment."""
    ahead = powers_ahead(state.law, int(cells.steps.max(initial=1)))
    counts = count_cells(state.assignment.own, cells, ahead, rng)
    law = law_of_rows(drawn_rows(counts + unknown.pseudo_count, rng), cells)
    factors = with_factors(state.factors, unknown.problem, law, unknown.classes, unknown.powers)
    return LawState(law, factors, state.assignment, counts)
