"""Markov chains over joint assignments: starts, annealing, and one pass over the records for each draw."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.path_factors import BASE, EVIDENCE, GROUP, KNOWN, PATH, PREVIOUS, PathFactors, at_power, step
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.run_swaps import Workspace, sweep
from foreknow.models.problem import DOUBT

LEVELS = 40
"""Largest number of different powers of an annealed start."""

LEAST_POWER = 0.02
"""First power of an annealed start."""


class Trace(NamedTuple):
    """Sums over the draws of one chain, written by the kernels.

    Attributes
    ----------
    counts : unsigned int array, shape (b, B)
        Number of draws of each value of each record, by batch.
    log_density : float array, shape (draws,)
        Logarithm of the joint density of each draw, without its constant.
    doubtful : int array, shape (G,)
        Number of draws in which a record of the group has a factor of probability 0.
    """

    counts: "np.ndarray[tuple[int, int], np.dtype[np.uint16]]"
    log_density: FloatArray
    doubtful: IntArray


def independent_start(problem: JointProblem, rng: np.random.Generator) -> IntArray:
    """Uniform random assignment of each group, independent between groups: int array, shape ``(R,)``."""
    counts, sizes = problem.counts, np.bincount(problem.group, minlength=len(problem.counts))
    value = rng.integers(problem.values, size=len(problem.group))
    constrained = problem.constrained[problem.group]
    shown = np.repeat(np.tile(np.arange(problem.values), len(counts)), counts.ravel())
    group = np.repeat(np.arange(len(counts)), np.where(problem.constrained, sizes, 0))
    value[constrained] = shown[np.lexsort((rng.random(len(shown)), group))]
    return np.asarray(value, dtype=np.int64)


def anneal_start(
    f: PathFactors, value: IntArray, order: int, sweeps: int, runs: bool, w: Workspace, rng: np.random.Generator
) -> None:
    """Sweeps under the law raised to powers that grow linearly from `LEAST_POWER` to 1, in at most `LEVELS` levels."""
    levels = min(sweeps, LEVELS)
    for level, power in enumerate(np.linspace(LEAST_POWER, 1.0, levels + 1)[:-1]):
        heated = at_power(f, float(power))
        for _ in range(sweeps * (level + 1) // levels - sweeps * level // levels):
            sweep(heated, value, order, runs, w, rng)


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
    f: PathFactors, value: IntArray, starts: IntArray, places: IntArray, batch: int, draw: int, trace: Trace
) -> None:
    """Count the values of one draw, and write its log density; one logarithm for many records."""
    records, table, prior, evidence = f.records, f.table, f.prior, f.evidence
    counts, doubtful, m = trace.counts, trace.doubtful, f.prior.shape[1]
    density, logs, last = 1.0, 0.0, -1
    for r in range(len(value)):
        x, g, known = value[r], records[r, GROUP], records[r, KNOWN]
        if known > 1:
            factor = step(f, r, x, value)
        else:
            factor = table[records[r, BASE] + value[records[r, PREVIOUS]], x] if known == 1 else prior[records[r, PATH], x]
            factor *= evidence[records[r, EVIDENCE], x] if records[r, EVIDENCE] >= 0 else 1.0
        if factor <= DOUBT and g != last:
            doubtful[g] += 1
            last = g
        density *= factor
        if density < 1e-200:
            logs += np.log(density)
            density = 1.0
        counts[batch, starts[r] + places[g * m + x]] += 1
    trace.log_density[draw] = logs + np.log(density)


@compiled
def run_chain(
    f: PathFactors,
    value: IntArray,
    order: int,
    warmup: int,
    runs: bool,
    w: Workspace,
    starts: IntArray,
    places: IntArray,
    trace: Trace,
    rng: np.random.Generator,
) -> None:
    """Discarded sweeps, then one sweep and one recorded draw for each place of ``trace.log_density``."""
    for _ in range(warmup):
        sweep(f, value, order, runs, w, rng)
    draws, batches = len(trace.log_density), len(trace.counts)
    for draw in range(draws):
        sweep(f, value, order, runs, w, rng)
        record_draw(f, value, starts, places, draw * batches // draws, draw, trace)
