"""Gibbs sampling of whole paths, given noisy counts of the groups."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import drawn_place
from foreknow.models.joint.max_entropy import contradicted_groups, with_doubt
from foreknow.models.joint.messages import MAX_TILT
from foreknow.models.joint.problem import JointProblem, Layout


class NoisyPaths(NamedTuple):
    """State of a chain, and buffers of a redraw; overwritten by `sweep`.

    ``own``, shape ``(R,)``, is the value of each record, ``number``, shape ``(G, m)``, that of the records of each value in each
    group, ``ratio``, of the same shape, the factor of one more record of it; ``line`` has the records of a path, ``forward`` and
    ``weight``, shape ``(L, m)``, its filtered values and its emissions.
    """

    own: IntArray
    number: IntArray
    ratio: FloatArray
    line: IntArray
    forward: FloatArray
    weight: FloatArray


class NoisyLaw(NamedTuple):
    """Law of the records of a problem of noisy counts: `of` checks that chains are of order 1 and no group has a multiset."""

    at: Layout
    back: FloatArray  # ``at.table`` with the matrix of each chain transposed: steps into each value
    first: IntArray  # first record of each path
    impossible: BoolArray  # shape of ``at.table``: steps of probability 0
    length: int  # of the longest path

    @classmethod
    def of(cls, problem: JointProblem) -> "NoisyLaw":
        """Law of a problem, zeros mixed with a doubt of `DOUBT`; ValueError for what the redraws of paths do not read."""
        if problem.order > 1 or problem.constrained.any():
            found = f"chains of order {problem.order}" if problem.order > 1 else "exact counts beside noisy ones"
            raise ValueError(
                f"PathSampler: a history of noisy counts has {found}; it takes order 1, and noisy counts alone."
            )
        law, impossible = with_doubt(problem)
        length = int(np.bincount(problem.path).max(initial=0))
        m, table = problem.values, law.layout.table
        back = np.ascontiguousarray(table.reshape(-1, m, m).transpose(0, 2, 1)).reshape(-1, m)
        return cls(law.layout, back, np.flatnonzero(law.layout.previous < 0), impossible, length)

    def start(self, problem: JointProblem, rng: np.random.Generator) -> NoisyPaths:
        """State of uniform random values."""
        m = problem.values
        own, number = rng.integers(m, size=len(problem.path)), np.zeros(problem.counts.shape, dtype=np.int64)
        np.add.at(number, (problem.group, own), 1)
        line, shape = np.zeros(self.length, dtype=np.int64), (self.length, m)
        state = NoisyPaths(own, number, np.ones(number.shape), line, np.zeros(shape), np.zeros(shape))
        _write_ratios(self.at, state)
        return state


class Tally(NamedTuple):
    """Sums over the draws of a chain; `sweep` overwrites them.

    ``batch``, shape ``(R, m)``, sums the conditional probabilities of each value given all other paths over a batch; ``beliefs``
    sums the means of the batches and ``squares`` their squares; ``drawn``, of the same shape, the draws of the batch;
    ``ruled_out``, shape ``(R,)``, the draws in which an impossible step leads to a record.
    """

    batch: FloatArray
    beliefs: FloatArray
    squares: FloatArray
    drawn: IntArray
    ruled_out: FloatArray


def record_noisy(
    problem: JointProblem,
    law: NoisyLaw,
    warmup: int,
    batches: int,
    length: int,
    counts: "np.ndarray[tuple[int, int], np.dtype[np.uint16]]",
    log_density: FloatArray,
    densities: FloatArray,
    component: IntArray,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> Tally:
    """Draw batches of ``length`` sweeps after a warm-up, and return the sums over them.

    ``counts``, shape ``(b, R m)``, ``log_density``, shape ``(b length,)``, and ``densities``, shape ``(b, C)``, are overwritten:
    number of draws of each value, log density of each draw, and its sum over the draws of each batch by component.
    """
    state, shape = law.start(problem, rng), (len(problem.path), problem.values)
    beliefs, squares, sums = np.zeros((3, *shape))
    tally = Tally(sums, beliefs, squares, np.zeros(shape, dtype=np.int64), np.zeros(len(problem.path)))
    step()
    for _ in range(warmup):
        sweep(law, state, tally, False, rng)
    for part in range(batches):
        step()
        tally.drawn[:], tally.batch[:] = 0, 0.0
        for number in range(length):
            sweep(law, state, tally, True, rng)
            log_density[part * length + number] = _add_density(law.at, state, component, densities[part])
        counts[part] = tally.drawn.reshape(-1)
        tally.batch[:] /= length
        tally.beliefs[:] += tally.batch
        tally.squares[:] += tally.batch**2
    return tally


def contradicted(problem: JointProblem, ruled_out: FloatArray, beliefs: FloatArray) -> IntArray:
    """Status of each group, from the share of the draws in which an impossible step leads to each record."""
    return contradicted_groups(problem, with_doubt(problem)[0], ruled_out, beliefs)


@compiled
def sweep(law: NoisyLaw, state: NoisyPaths, tally: Tally, keep: bool, rng: np.random.Generator) -> None:
    """Redraw each path given all others, by forward filtering and backward sampling; add what is drawn to the tally if ``keep``.

    The weight of a value of a record is the ratio of its group without the record. Cost: O(t m^2) for a path of t records.
    """
    at, own, forward, weight, line = law.at, state.own, state.forward, state.weight, state.line
    m = at.table.shape[1] if at.table.size else weight.shape[1]
    for first in law.first:
        t, r = 0, first
        while r >= 0:
            g, before = at.group[r], at.previous[r]
            line[t] = r
            state.number[g, own[r]] -= 1
            _write_ratio(at, state, g, own[r])
            _write_weights(weight[t], at, state, r)
            if before < 0:
                forward[t] = at.prior[at.path[r]]
            else:
                base = at.state_rows[at.state_starts[before]]
                forward[t] = 0.0
                for x in range(m):
                    part = forward[t - 1, x]
                    for y in range(m):
                        forward[t, y] += part * at.table[base + x, y]
            total = 0.0
            for y in range(m):
                forward[t, y] *= weight[t, y]
                total += forward[t, y]
            for y in range(m):
                forward[t, y] = forward[t, y] / total if total > 0.0 else 1.0 / m
            t, r = t + 1, at.following[r]
        if keep:
            _add_beliefs(tally, law, forward, weight, line, t)
        # Backward: the last value by its filtered law, each other one given the next.
        for k in range(t - 1, -1, -1):
            r = line[k]
            if k < t - 1:
                column = at.state_rows[at.state_starts[r]] + own[line[k + 1]]
                for x in range(m):
                    forward[k, x] *= law.back[column, x]
            own[r] = drawn_place(forward[k], rng)
            state.number[at.group[r], own[r]] += 1
            _write_ratio(at, state, at.group[r], own[r])
            if keep:
                tally.drawn[r, own[r]] += 1
                if k < t - 1:
                    row = at.state_rows[at.state_starts[r] + own[r]]
                    tally.ruled_out[line[k + 1]] += law.impossible[row, own[line[k + 1]]]


@compiled
def _write_ratio(at: Layout, state: NoisyPaths, g: int, s: int) -> None:
    """Factor of one more record of the value s in a group of which n records have it: ``P(y_s | n + 1) / P(y_s | n)``."""
    start, n = at.count_start[g, s], state.number[g, s]
    if start >= 0 and n < at.group_starts[g + 1] - at.group_starts[g]:
        log = at.count_logs[start + n + 1] - at.count_logs[start + n]
        state.ratio[g, s] = np.exp(min(max(log, -MAX_TILT), MAX_TILT))


@compiled
def _write_ratios(at: Layout, state: NoisyPaths) -> None:
    for g in range(len(state.number)):
        for s in range(state.number.shape[1]):
            _write_ratio(at, state, g, s)


@compiled
def _write_weights(weight: FloatArray, at: Layout, state: NoisyPaths, r: int) -> None:
    """Weight of each value of a record by the noisy counts of its group, its evidence, and the values of its relatives."""
    g, claim = at.group[r], at.evidence_row[r]
    for s in range(len(weight)):
        weight[s] = state.ratio[g, s]
        if claim >= 0:
            weight[s] *= at.evidence[claim, s]
        for k in range(at.related_starts[r], at.related_starts[r + 1]):
            pair = at.related[k]
            other = at.pairs[pair, 0] + at.pairs[pair, 1] - r
            weight[s] *= at.pair_tables[at.pair_table[pair], s, state.own[other]]


@compiled
def _add_beliefs(
    tally: Tally, law: NoisyLaw, forward: FloatArray, weight: FloatArray, line: IntArray, length: int
) -> None:
    """Add the conditional probability of each value of the records of a path, given all other paths."""
    m = weight.shape[1]
    onward, message = np.ones(m), np.ones(m)
    for k in range(length - 1, -1, -1):
        r, total = line[k], 0.0
        for x in range(m):
            total += forward[k, x] * onward[x]
        if total > 0.0:
            for x in range(m):
                tally.batch[r, x] += forward[k, x] * onward[x] / total
        if k > 0:
            base, largest = law.at.state_rows[law.at.state_starts[line[k - 1]]], 0.0
            message[:] = 0.0
            for y in range(m):
                part = weight[k, y] * onward[y]
                for x in range(m):
                    message[x] += part * law.back[base + y, x]
            for x in range(m):
                largest = max(largest, message[x])
            for x in range(m):
                onward[x] = message[x] / largest if largest > 0.0 else 1.0


@compiled
def _add_density(at: Layout, state: NoisyPaths, component: IntArray, densities: FloatArray) -> float:
    """Logarithm of the joint density of a state without its constant; add that of each component to ``densities``."""
    total = 0.0
    for r in range(len(state.own)):
        x, before, claim = state.own[r], at.previous[r], at.evidence_row[r]
        row = at.state_rows[at.state_starts[before] + state.own[before]] if before >= 0 else 0
        factor = at.table[row, x] if before >= 0 else at.prior[at.path[r], x]
        if claim >= 0:
            factor *= at.evidence[claim, x]
        term = np.log(max(factor, 1e-300))
        densities[component[r]] += term
        total += term
    for pair in range(len(at.pairs)):
        a, b = at.pairs[pair]
        term = np.log(at.pair_tables[at.pair_table[pair], state.own[a], state.own[b]])
        densities[component[a]] += term
        total += term
    for g in range(len(at.count_start)):
        if at.count_start[g, 0] >= 0 and at.group_starts[g + 1] > at.group_starts[g]:
            for s in range(state.number.shape[1]):
                term = at.count_logs[at.count_start[g, s] + state.number[g, s]]
                densities[component[at.group_starts[g]]] += term
                total += term
    return total
