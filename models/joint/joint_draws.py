"""Markov chains over joint assignments: starts, annealing, and one pass over the records for each draw."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.block_redraws import BlockBuffers, block_buffers, redraw_block
from foreknow.models.joint.exchanges import Workspace, workspace
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.path_factors import (
    BASE,
    EVIDENCE,
    GROUP,
    KNOWN,
    PATH,
    PathFactors,
    chain_factor,
    softened,
)
from foreknow.models.joint.path_redraws import PathBuffers, path_buffers, redraw_paths
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.run_swaps import sweep
from foreknow.models.problem import DOUBT

LEVELS = 40
"""Largest number of laws of an annealed start."""

SOFTEST, HARDEST = 0.5, 1e-5
"""Weights of the uniform distribution in the first and the last law of an annealed start."""

BLOCKS = 8
"""Largest number of block redraws of a sweep, in histories of up to `SMALL_HISTORY` records."""

SMALL_HISTORY = 1000
"""Number of records over which a sweep has one block redraw, which takes .2 ms in long histories."""


class Assignment(NamedTuple):
    """Current state of a chain, changed in place by the moves.

    Attributes
    ----------
    own : int array, shape (R,)
        Own value of each record.
    published : int array, shape (R,)
        Published value of each record; empty if no group has distorted values.
    beside : int array, shape (R, 2)
        Own values of the records before and after each record on its path, -1 for none. They are copies, in the order of the
        records, so that a move need not read values from all over memory.
    """

    own: IntArray
    published: IntArray
    beside: IntArray


class Moves(NamedTuple):
    """Settings and buffers of the moves of one chain.

    Attributes
    ----------
    order : int
        Order of the chain of values.
    runs : bool
        False for swaps at single releases, which do not mix where pairs meet again.
    redraws : float
        Number of records on redrawn paths in each sweep, as a share of all records.
    blocks : int
        Number of block redraws in each sweep.
    pair : Workspace
    path : PathBuffers
    block : BlockBuffers
    """

    order: int
    runs: bool
    redraws: float
    blocks: int
    pair: Workspace
    path: PathBuffers
    block: BlockBuffers


def moves(problem: JointProblem, redraws: float, runs: bool = True) -> Moves:
    """Moves for a problem; paths are redrawn for chains of order 1 only, and blocks where some factor is zero."""
    sizes = np.bincount(problem.group, minlength=len(problem.counts))
    buffers = path_buffers(problem.releases, int(sizes.max(initial=1)), problem.values)
    share = float(redraws) if problem.order == 1 and runs else 0.0
    some_open = bool((~problem.constrained | (problem.emission_row >= 0)).any())
    pair = workspace(problem.releases, problem.order, problem.values, some_open)
    factors = (problem.prior, *problem.tables, problem.evidence, problem.emission)
    zeros = any((factor == 0.0).any() for factor in factors)
    records = len(problem.path)
    blocks = (1 if records > SMALL_HISTORY else min(-(-records // 2), BLOCKS)) if zeros and runs else 0
    return Moves(problem.order, runs, share, blocks, pair, buffers, block_buffers(problem.order))


@compiled
def advance(f: PathFactors, state: Assignment, sweeps: int, moves: Moves, rng: np.random.Generator) -> None:
    """Sweeps of run swaps, path redraws and block redraws."""
    for _ in range(sweeps):
        sweep(f, state.own, state.published, state.beside, moves.order, moves.runs, moves.pair, rng)
        if moves.redraws > 0.0:
            redraw_paths(f, state.own, state.published, state.beside, moves.redraws, moves.path, rng)
        for _ in range(moves.blocks):
            redraw_block(f, state.own, state.published, state.beside, moves.order, moves.block, rng)


class Trace(NamedTuple):
    """Sums over the draws of one chain, written by the kernels.

    Attributes
    ----------
    counts : unsigned int array, shape (b, B)
        Number of draws of each value of each record, by batch.
    log_density : float array, shape (draws,)
        Logarithm of the joint density of each draw, of own and published values, without its constant.
    doubtful : int array, shape (G,)
        Number of draws in which a record of the group has a factor of probability 0.
    """

    counts: "np.ndarray[tuple[int, int], np.dtype[np.uint16]]"
    log_density: FloatArray
    doubtful: IntArray


def independent_start(problem: JointProblem, rng: np.random.Generator) -> Assignment:
    """Uniform random arrangement of the multiset of each group, independent between groups.

    Own values of records without published value are uniform; those of records with distorted values are drawn with probabilities
    in proportion to the emissions of their published values.
    """
    counts, sizes = problem.counts, np.bincount(problem.group, minlength=len(problem.counts))
    value = rng.integers(problem.values, size=len(problem.group))
    constrained = problem.constrained[problem.group]
    shown = np.repeat(np.tile(np.arange(problem.values), len(counts)), counts.ravel())
    group = np.repeat(np.arange(len(counts)), np.where(problem.constrained, sizes, 0))
    value[constrained] = shown[np.lexsort((rng.random(len(shown)), group))]
    own = np.asarray(value, dtype=np.int64)
    distorted = np.flatnonzero(constrained & (problem.emission_row[problem.group] >= 0))
    if not len(distorted):
        return Assignment(own, np.zeros(0, dtype=np.int64), values_beside(problem.layout, own))
    published = own.copy()
    likelihood = problem.emission[problem.emission_row[problem.group[distorted]], :, published[distorted]] + DOUBT
    below = np.cumsum(likelihood, axis=1)
    own[distorted] = (below < rng.random((len(distorted), 1)) * below[:, -1:]).sum(axis=1)
    return Assignment(own, published, values_beside(problem.layout, own))


def values_beside(at: Layout, own: IntArray) -> IntArray:
    """Own values of the records before and after each record on its path; -1 for none."""
    return np.stack([np.where(record >= 0, own[record], -1) for record in (at.previous, at.following)], axis=1)


def annealing_levels(sweeps: int) -> int:
    """Number of weights of the uniform distribution in an annealed start of some sweeps."""
    return min(sweeps, LEVELS)


def anneal_start(
    f: PathFactors,
    state: Assignment,
    sweeps: int,
    moves: Moves,
    rng: np.random.Generator,
    softest: float = SOFTEST,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Sweeps under laws in which every factor is mixed with the uniform distribution, of a weight that falls geometrically.

    ``step`` is called before the sweeps of each weight.
    """
    levels = annealing_levels(sweeps)
    for level, weight in enumerate(np.geomspace(softest, HARDEST, levels)):
        step()
        length = sweeps * (level + 1) // levels - sweeps * level // levels
        advance(softened(f, float(weight)), state, length, moves, rng)


def value_places(at: Layout, m: int) -> IntArray:
    """Place of each value among the possible values of each group: int array, shape ``(G m,)``; 0 for others."""
    groups = len(at.value_starts) - 1
    width = np.diff(at.value_starts)
    place = np.zeros(groups * m, dtype=np.int64)
    owner = np.repeat(np.arange(groups), width)
    place[owner * m + at.values] = np.arange(len(owner)) - at.value_starts[owner]
    return place


@compiled
def record_draw(
    f: PathFactors, state: Assignment, starts: IntArray, places: IntArray, batch: int, draw: int, trace: Trace
) -> None:
    """Count the own values of one draw, and write its log density."""
    records, table, prior, evidence, channel = f.records, f.table, f.prior, f.evidence, f.channel
    value, published, beside = state.own, state.published, state.beside
    counts, doubtful, m = trace.counts, trace.doubtful, f.prior.shape[1]
    density, logs, last = 1.0, 0.0, -1
    for r in range(len(value)):
        x, g, known = value[r], records[r, GROUP], records[r, KNOWN]
        if known == 0:
            factor = prior[records[r, PATH], x]
        elif known == 1:
            factor = table[records[r, BASE] + beside[r, 0], x]
        else:
            factor = chain_factor(f, r, x, value)
        likelihood = evidence[records[r, EVIDENCE], x] if records[r, EVIDENCE] >= 0 else 1.0
        emission = f.emission[channel[g], x, published[r]] if len(published) and channel[g] >= 0 else 1.0
        if min(factor, likelihood, emission) <= DOUBT and g != last:
            doubtful[g] += 1
            last = g
        density *= factor * likelihood * emission
        if density < 1e-200:
            logs += np.log(density)
            density = 1.0
        counts[batch, starts[r] + places[g * m + x]] += 1
    trace.log_density[draw] = logs + np.log(density)


@compiled
def record_batch(
    f: PathFactors,
    state: Assignment,
    moves: Moves,
    starts: IntArray,
    places: IntArray,
    trace: Trace,
    batch: int,
    rng: np.random.Generator,
) -> None:
    """One sweep and one recorded draw for each draw of a batch; ``trace.log_density`` has equally many for each."""
    length = len(trace.log_density) // len(trace.counts)
    for draw in range(batch * length, (batch + 1) * length):
        advance(f, state, 1, moves, rng)
        record_draw(f, state, starts, places, batch, draw, trace)
