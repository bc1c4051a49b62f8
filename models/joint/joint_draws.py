"""Markov chains over joint assignments: annealed starts, one pass over the records for each draw, and swaps of runs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled, inlined
from foreknow.models.estimators.assignments import drawn_place
from foreknow.models.joint.path_factors import (
    BASE,
    EVIDENCE,
    FOLLOWING,
    FOLLOWING_BASE,
    GROUP,
    KNOWN,
    PATH,
    PREVIOUS,
    PREVIOUS_GROUP,
    PREVIOUS_RELEASE,
    RELATED,
    RELATIVES,
    RELEASE,
    PathFactors,
    Workspace,
    chain_factor,
    exchange,
    related_factor,
    softened,
    workspace,
    write_beside,
)
from foreknow.models.joint.problem import JointProblem, Layout
from foreknow.models.joint.redraws import (
    BlockBuffers,
    PathBuffers,
    RunBuffers,
    block_buffers,
    path_buffers,
    redraw_block,
    redraw_own_values,
    redraw_pair,
    redraw_paths,
    redraw_runs,
    run_buffers,
)
from foreknow.models.problem import DOUBT

LEVELS = 40
"""Largest number of laws of an annealed start."""

SOFTEST, HARDEST = 0.5, 1e-5
"""Weights of the uniform distribution in the first and the last law of an annealed start."""

RUN_SHARE = 0.5
"""Records in runs of three or four paths that a sweep redraws, as a share of all records."""

BLOCK_SHARE, MIN_ARRANGEMENTS = 0.25, 100
"""Arrangements that the block redraws of a sweep enumerate: for each record, and at least."""


class Assignment(NamedTuple):
    """Current state of a chain, changed in place by the moves."""

    own: IntArray  # (R,): own value of each record
    published: IntArray  # (R,): published value of each record; empty if no group has distorted values
    # (R, 2): own values of the records before and after each record on its path, -1 for none. They are copies, in the order of the
    # records, so that a move need not read values from all over memory.
    beside: IntArray


class Moves(NamedTuple):
    """Settings and buffers of the moves of one chain.

    ``runs`` is False for swaps at single releases, which do not mix where pairs meet again. ``redraws`` is the number of records on
    redrawn paths in each sweep, as a share of all records, and ``arrangements`` the number of arrangements
    that block redraws enumerate.
    """

    order: int
    runs: bool
    redraws: float
    arrangements: int
    pair: Workspace
    path: PathBuffers
    run: RunBuffers
    block: BlockBuffers


def moves(problem: JointProblem, redraws: float, runs: bool = True) -> Moves:
    """Moves for a problem; paths are redrawn for chains of order 1 only."""
    sizes = np.bincount(problem.group, minlength=len(problem.counts))
    buffers = path_buffers(problem.releases, int(sizes.max(initial=1)), problem.values)
    share = float(redraws) if problem.order == 1 and runs else 0.0
    some_open = bool((~problem.constrained | (problem.emission_row >= 0)).any())
    pair = workspace(problem.releases, problem.order, problem.values, some_open)
    arrangements = max(int(BLOCK_SHARE * len(problem.path)), MIN_ARRANGEMENTS) if runs and len(problem.path) else 0
    run, block = run_buffers(problem.releases), block_buffers(problem.order)
    return Moves(problem.order, runs, share, arrangements, pair, buffers, run, block)


@compiled
def advance(f: PathFactors, state: Assignment, sweeps: int, moves: Moves, rng: np.random.Generator) -> None:
    """Sweeps of run swaps, and redraws of paths, of runs of several paths, and of blocks."""
    for _ in range(sweeps):
        sweep(f, state.own, state.published, state.beside, moves.order, moves.runs, moves.pair, rng)
        if moves.redraws > 0.0:
            redraw_paths(f, state.own, state.published, state.beside, moves.redraws, moves.path, rng)
        if moves.runs and moves.order < 2:
            redraw_runs(f, state.own, state.published, state.beside, RUN_SHARE, moves.run, rng)
        done = 0
        while done < moves.arrangements:
            done += redraw_block(f, state.own, state.published, state.beside, moves.order, moves.block, rng)


class Trace(NamedTuple):
    """Sums over the draws of one chain, written by the kernels."""

    # (b, B): number of draws of each value of each record, by batch
    counts: "np.ndarray[tuple[int, int], np.dtype[np.uint16]]"
    # (draws,): logarithm of the joint density of each draw, of own and published values, without its constant
    log_density: FloatArray
    doubtful: IntArray  # (G,): number of draws in which a record of the group has a factor of probability 0
    component: IntArray  # (R,): component of each record
    densities: FloatArray  # (b, C): sum of the log density of each component, by batch


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
    counts, doubtful, component, densities = trace.counts, trace.doubtful, trace.component, trace.densities
    m, density, total, last = f.prior.shape[1], 1.0, 0.0, -1
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
        for k in range(records[r, RELATED], records[r, RELATED] + records[r, RELATIVES]):
            if f.relatives[k, 0] < r:
                density *= f.tables[f.relatives[k, 1], x, value[f.relatives[k, 0]]]
        if density < 1e-200 or r + 1 == len(value) or component[r + 1] != component[r]:
            logs = np.log(density)
            densities[batch, component[r]] += logs
            total, density = total + logs, 1.0
        counts[batch, starts[r] + places[g * m + x]] += 1
    trace.log_density[draw] = total


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


@compiled
def sweep(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    order: int,
    runs: bool,
    w: Workspace,
    rng: np.random.Generator,
) -> None:
    """Moves whose runs add up to the number of records.

    Records are visited in order, each with a random partner; the next sweep goes on where this one stops. With ``runs`` False each
    move is a swap at one release, which does not mix where pairs meet again. ``value``, ``published`` and ``beside`` are those of
    an `Assignment`.
    """
    records, done = len(value), 0
    while done < records:
        one = w.cursor[0]
        w.cursor[0] = one + 1 if one + 1 < records else 0
        g = f.records[one, GROUP]
        first, members = f.group_starts[g], f.group_starts[g + 1] - f.group_starts[g]
        done += 1
        distorted = f.channel[g] >= 0
        # Own values that no multiset fixes: once for each path, at its first record.
        if len(w.codes) and f.records[one, PREVIOUS] < 0:
            redraw_own_values(f, value, published, one, w.codes, rng)
            at = one
            while at >= 0:
                write_beside(f.records, value, beside, at)
                at = f.records[at, FOLLOWING]
        # In a group of two one pair is enough; a second move of the same pair would be idle.
        if one == first + members - 1:
            continue
        # A partner, uniformly distributed over the other members.
        two = first + int(rng.random() * (members - 1))
        two += two >= one
        # Published values of the pair, kept or exchanged, and both own values, where published values are distorted.
        if distorted:
            redraw_pair(f, value, published, order, one, two, w.own, rng)
            write_beside(f.records, value, beside, one)
            write_beside(f.records, value, beside, two)
        if order > 1:
            done += swap_run_of_order(f, value, published, beside, order, one, two, runs, w, rng) - 1
        else:
            done += swap_run(f, value, published, beside, one, two, runs, w, rng) - 1


@inlined
def swap_run(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    one: int,
    two: int,
    runs: bool,
    w: Workspace,
    rng: np.random.Generator,
) -> int:
    """Draw all decisions of the run of a pair, for chains of order 1 or 0; return the number of meetings.

    A run goes on while at least one of the two has no record between two meetings; records of the other between them keep their
    values.
    """
    # One body, without calls of functions on ``f``: Numba counts references to each array of a tuple at each call.
    records, table, prior, evidence, pair, weight = f.records, f.table, f.prior, f.evidence, w.pair, w.weight
    length = _meetings(records, one, two, runs, pair)
    if length == 1 and value[one] == value[two]:
        return 1
    # Filter over meetings j: keep and swap are the weights of "values kept" and "values exchanged" at meeting j, given all before.
    keep, swap = 1.0, 0.0
    for j in range(length):
        x, y = value[pair[j, 0]], value[pair[j, 1]]
        for side in range(2):
            # A(x | v) and A(y | v) of this record, with v its own last value (kept) or the partner's (swapped); P at its start.
            r = pair[j, side]
            base, before, after = records[r, BASE], records[r, PREVIOUS], records[r, FOLLOWING]
            if j > 0 and before == pair[j - 1, side]:
                own, other = base + beside[r, 0], base + value[pair[j - 1, 1 - side]]
                kept_x, kept_y, swapped_x, swapped_y = table[own, x], table[own, y], table[other, x], table[other, y]
            else:
                kept_x = table[base + beside[r, 0], x] if before >= 0 else prior[records[r, PATH], x]
                kept_y = table[base + beside[r, 0], y] if before >= 0 else prior[records[r, PATH], y]
                swapped_x, swapped_y = kept_x, kept_y
            # e, and A to the next record where that is outside the run.
            outer_x, outer_y = 1.0, 1.0
            if records[r, EVIDENCE] >= 0:
                outer_x, outer_y = evidence[records[r, EVIDENCE], x], evidence[records[r, EVIDENCE], y]
            if records[r, RELATIVES] > 0:
                # The table of the two themselves is symmetric, and stays.
                outer_x *= related_factor(f, value, r, x, pair[j, 1 - side])
                outer_y *= related_factor(f, value, r, y, pair[j, 1 - side])
            if after >= 0 and not (j + 1 < length and after == pair[j + 1, side]):
                outer_x *= table[records[r, FOLLOWING_BASE] + x, beside[r, 1]]
                outer_y *= table[records[r, FOLLOWING_BASE] + y, beside[r, 1]]
            # Values of the pair kept (stay: x, y) or exchanged (cross: y, x) at meeting j, after keep or swap at the one before.
            if side == 0:
                keep_stay, keep_cross = keep * kept_x * outer_x, keep * kept_y * outer_y
                swap_stay, swap_cross = swap * swapped_x * outer_x, swap * swapped_y * outer_y
            else:
                keep_stay, keep_cross = keep_stay * kept_y * outer_y, keep_cross * kept_x * outer_x
                swap_stay, swap_cross = swap_stay * swapped_y * outer_y, swap_cross * swapped_x * outer_x
        weight[j, 0, 0], weight[j, 0, 1] = keep_stay, keep_cross
        weight[j, 1, 0], weight[j, 1, 1] = swap_stay, swap_cross
        total = keep_stay + keep_cross + swap_stay + swap_cross
        keep, swap = (keep_stay + swap_stay) / total, (keep_cross + swap_cross) / total
    # Backward sampling of the decisions.
    swapped = rng.random() < swap
    for j in range(length - 1, -1, -1):
        if swapped:
            exchange(records, value, published, beside, pair[j, 0], pair[j, 1])
        if j > 0:
            column = 1 if swapped else 0
            kept, crossed = weight[j, 0, column], weight[j, 1, column]
            swapped = rng.random() * (kept + crossed) >= kept
    return length


@inlined
def _meetings(records: IntArray, one: int, two: int, runs: bool, pair: IntArray) -> int:
    """Write the maximal run of meetings of two paths around a pair; return its length."""
    a, b, length = one, two, 0
    c, d = _next_meeting(records, a, b, PREVIOUS)
    while runs and c >= 0:
        a, b = c, d
        c, d = _next_meeting(records, a, b, PREVIOUS)
    while a >= 0:
        pair[length, 0], pair[length, 1], length = a, b, length + 1
        a, b = _next_meeting(records, a, b, FOLLOWING) if runs else (-1, -1)
    return length


@inlined
def _next_meeting(records: IntArray, a: int, b: int, way: int) -> tuple[int, int]:
    """Next records of two paths in a direction of time (column ``way``) that share a group; -1 for none.

    At least one of the two paths has no record in between.
    """
    c, d = records[a, way], records[b, way]
    if c < 0 or d < 0:
        return -1, -1
    # Group and release of the records beside a and b, as copied into their rows.
    group, release, sign = PREVIOUS_GROUP + 2 * way, PREVIOUS_RELEASE + 2 * way, 2 * way - 1
    if records[a, release] == records[b, release]:
        return (c, d) if records[a, group] == records[b, group] else (-1, -1)
    if sign * records[c, RELEASE] < sign * records[d, RELEASE]:
        while c >= 0 and sign * records[c, RELEASE] < sign * records[d, RELEASE]:
            c = records[c, way]
    else:
        while d >= 0 and sign * records[d, RELEASE] < sign * records[c, RELEASE]:
            d = records[d, way]
    return (c, d) if c >= 0 and d >= 0 and records[c, GROUP] == records[d, GROUP] else (-1, -1)


@compiled
def swap_run_of_order(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    order: int,
    one: int,
    two: int,
    runs: bool,
    w: Workspace,
    rng: np.random.Generator,
) -> int:
    """Draw all decisions of the run of a pair, for chains of any order; return the number of meetings.

    A run is a maximal sequence of records that are consecutive on both paths and share a group. The states are the last d
    decisions: 2^d. After the run, d further steps carry the factors that still depend on it.
    """
    # The run: back to its first meeting, then forward; d further steps carry the factors that depend on it.
    a, b = one, two
    while runs and f.records[a, PREVIOUS] >= 0 and f.records[b, PREVIOUS] >= 0:
        if f.records[f.records[a, PREVIOUS], GROUP] != f.records[f.records[b, PREVIOUS], GROUP]:
            break
        a, b = f.records[a, PREVIOUS], f.records[b, PREVIOUS]
    length, states = 0, 2**order
    while a >= 0 and b >= 0 and f.records[a, GROUP] == f.records[b, GROUP] and (runs or length == 0):
        w.pair[length, 0], w.pair[length, 1] = a, b
        a, b, length = f.records[a, FOLLOWING], f.records[b, FOLLOWING], length + 1
    total = length + order
    for j in range(length, total):
        w.pair[j, 0], w.pair[j, 1] = a, b
        a, b = f.records[a, FOLLOWING] if a >= 0 else -1, f.records[b, FOLLOWING] if b >= 0 else -1
    # Filter: forward[j, last d decisions] = sum over the oldest decision of forward[j - 1] and the factors of both records.
    for j in range(total):
        w.forward[j, :] = 0.0
        for state in range(states):
            before = w.forward[j - 1, state] if j > 0 else (1.0 if state == 0 else 0.0)
            w.weight[j, state, 0] = w.weight[j, state, 1] = 0.0
            for swap in range(2 if j < length else 1):
                if before > 0.0:
                    weight = before * _side(f, value, w.pair, 0, j, length, state, swap)
                    weight *= _side(f, value, w.pair, 1, j, length, state, swap)
                    w.weight[j, state, swap] = weight
                    w.forward[j, (2 * state + swap) % states] += weight
        w.forward[j] /= w.forward[j].sum()
    # Backward sampling of the decisions; the state after the last step is drawn first.
    state = drawn_place(w.forward[total - 1], rng)
    for j in range(total - 1, -1, -1):
        # The decision is the lowest bit of the state; the state before has the other bits and one older decision.
        swap = state % 2
        low, high = state // 2, state // 2 + states // 2
        kept, crossed = w.weight[j, low, swap], w.weight[j, high, swap]
        state = high if rng.random() * (kept + crossed) >= kept else low
        if swap == 1:
            exchange(f.records, value, published, beside, w.pair[j, 0], w.pair[j, 1])
    return length


@compiled
def _side(
    f: PathFactors, value: IntArray, pair: IntArray, side: int, j: int, length: int, state: int, swap: int
) -> float:
    """Factor of one of the two records at step j, given the last decisions (bits of ``state``) and its own."""
    r = pair[j, side]
    if r < 0:
        return 1.0
    x = value[pair[j, 1 - side]] if swap == 1 else value[r]
    row = f.records[r, EVIDENCE]
    weight = f.evidence[row, x] if row >= 0 and j < length else 1.0
    if j < length and f.records[r, RELATIVES] > 0:
        weight *= related_factor(f, value, r, x, pair[j, 1 - side])
    if f.records[r, KNOWN] == 0:
        return float(weight * f.prior[f.records[r, PATH], x])
    code, place, at = 0, 1, r
    for k in range(1, f.records[r, KNOWN] + 1):
        at = f.records[at, PREVIOUS]
        crossed = k <= j and j - k < length and (state >> (k - 1)) & 1
        code += place * (value[pair[j - k, 1 - side]] if crossed else value[at])
        place *= f.table.shape[1]
    return float(weight * f.table[f.records[r, BASE] + code, x])
