"""Moves of the sampler over joint assignments: redraws of paths, of blocks of paths, and of records that no multiset fixes."""

import itertools
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
    are_related,
    chain_factor,
    evidence_factor,
    exchange,
    related_factor,
    write_beside,
)


class PathBuffers(NamedTuple):
    """Buffers of path redraws."""

    # stretch, partner (T,): records of the path, and the member that each exchanges with; itself if it keeps its value
    stretch: IntArray
    partner: IntArray
    forward: FloatArray  # (T, k): filtered weight of each partner
    change: FloatArray  # (T, k): weight of the change of each partner's path
    # sums, reached (m,): filtered weight of each value of the last record, and of each value of this record given it
    sums: FloatArray
    reached: FloatArray


def path_buffers(releases: int, largest: int, values: int) -> PathBuffers:
    """Buffers for a number of releases, and groups of a largest size."""
    empty = np.zeros((releases, largest))
    stretch, partner = np.zeros(releases, dtype=np.int64), np.zeros(releases, dtype=np.int64)
    return PathBuffers(stretch, partner, empty, empty.copy(), np.zeros(values), np.zeros(values))


@compiled
def redraw_paths(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    share: float,
    w: PathBuffers,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Redraws of stretches of random paths, until their lengths add up to a share of the records; for chains of order 1.

    The lengths of the stretches are 1, 2, 4, ... with equal probabilities. Returns the number of proposals that change a value, and
    that of those accepted.
    """
    done, proposed, accepted = 0, 0, 0
    powers = int(np.ceil(np.log2(max(len(w.stretch), 1)))) + 1
    while done < share * len(value):
        # Stretch of at most 2^i records around a random one.
        at = int(rng.random() * len(value))
        longest = 2 ** int(rng.random() * powers)
        shift = int(rng.random() * longest)
        while shift > 0 and f.records[at, PREVIOUS] >= 0:
            at = f.records[at, PREVIOUS]
            shift -= 1
        # A stretch that is cut at the start of its path is as likely from each of its records: its length shrinks by the rest.
        length = 0
        while length < longest - shift and at >= 0 and length < len(w.stretch):
            w.stretch[length] = at
            at = f.records[at, FOLLOWING]
            length += 1
        done += length
        # Proposal by the filter of the present values, accepted by the ratio of the two sums and of the changes of the partners.
        before = _filter_partners(f, value, beside, length, w)
        change = _draw_partners(f, value, length, w, rng)
        if change == np.inf:
            continue
        proposed += 1
        _exchange(f.records, value, published, beside, length, w)
        after = _filter_partners(f, value, beside, length, w)
        if np.log(rng.random()) < before - after - change:
            accepted += 1
        else:
            _exchange(f.records, value, published, beside, length, w)
    return proposed, accepted


@compiled
def _exchange(
    records: IntArray, value: IntArray, published: IntArray, beside: IntArray, length: int, w: PathBuffers
) -> None:
    for j in range(length):
        exchange(records, value, published, beside, w.stretch[j], w.partner[j])


@compiled
def _filter_partners(f: PathFactors, value: IntArray, beside: IntArray, length: int, w: PathBuffers) -> float:
    """Filtered weights of all partners; return the logarithm of their sum over all sequences of partners.

    The weight of a partner is that of its value on the redrawn path (``weight``), times the ratio of the partner's own factors with
    the value it receives to those with the value it gives (``change``). Where the partner's last record is in the group of the last
    redrawn record, the two may have exchanged there as well, and the term of that exchange is corrected.
    """
    # One body: Numba counts references to arrays that a function is given, even an inlined one, which is twice as slow.
    # Record r of the path at step j has the value u, its partner b the value x; y and z are the values before and after b. A is the
    # chain, P the prior, e the evidence.
    records, table, prior, evidence, starts = f.records, f.table, f.prior, f.evidence, f.group_starts
    forward, changes, sums, reached = w.forward, w.change, w.sums, w.reached
    logs, m = 0.0, len(sums)
    for j in range(length):
        r = w.stretch[j]
        g, u, base, before = records[r, GROUP], value[r], records[r, BASE], records[r, PREVIOUS]
        first, size = starts[g], starts[g + 1] - starts[g]
        after = records[r, FOLLOWING] if j == length - 1 else -1
        # reached[x] = P(x), A(x | value before the stretch), or the sum over partners of step j - 1 of forward A(x | v).
        if before < 0:
            reached[:] = prior[records[r, PATH]]
        elif j == 0:
            reached[:] = table[base + beside[r, 0]]
        else:
            before_first = starts[records[r, PREVIOUS_GROUP]]
            sums[:] = 0.0
            for k in range(starts[records[r, PREVIOUS_GROUP] + 1] - before_first):
                sums[value[before_first + k]] += forward[j - 1, k]
            reached[:] = 0.0
            for v in range(m):
                if sums[v] > 0.0:
                    for x in range(m):
                        reached[x] += sums[v] * table[base + v, x]
        total = 0.0
        for k in range(size):
            b = first + k
            x = value[b]
            forward[j, k] = changes[j, k] = 0.0
            if b != r and x == u:
                continue
            weight, change = reached[x], 1.0
            if b != r:
                # change = factors of b with u over those with x: A(u | y) A(z | u) e(u) / (A(x | y) A(z | x) e(x)).
                p, own, y = records[b, PREVIOUS], records[b, BASE], beside[b, 0]
                if p < 0:
                    gained, lost = prior[records[b, PATH], u], prior[records[b, PATH], x]
                else:
                    gained, lost = table[own + y, u], table[own + y, x]
                    if j > 0:
                        if records[b, PREVIOUS_GROUP] == records[r, PREVIOUS_GROUP]:
                            v = beside[r, 0]
                            if y != v:
                                # b may have exchanged its last value y for v too: then the ratio is A(u | v) / A(x | v) instead of
                                # A(u | y) / A(x | y), in the term of forward that comes from b.
                                c = forward[j - 1, p - before_first]
                                joint = table[own + v, u] * table[own + y, x] / (table[own + y, u] * table[own + v, x])
                                weight += c * table[base + y, x] * (joint - 1.0)
                        elif records[b, PREVIOUS_RELEASE] < records[r, PREVIOUS_RELEASE] and _met_earlier(
                            records, w.stretch, j, b
                        ):
                            continue
                if records[b, FOLLOWING] >= 0:
                    row, z = records[b, FOLLOWING_BASE], beside[b, 1]
                    gained *= table[row + u, z]
                    lost *= table[row + x, z]
                if records[b, EVIDENCE] >= 0:
                    gained *= evidence[records[b, EVIDENCE], u]
                    lost *= evidence[records[b, EVIDENCE], x]
                # Relations of r and b to others; that of r and b, whose table is symmetric, stays.
                if records[b, RELATIVES] > 0:
                    gained *= related_factor(f, value, b, u, r)
                    lost *= related_factor(f, value, b, x, r)
                if records[r, RELATIVES] > 0:
                    gained *= related_factor(f, value, r, x, b)
                    lost *= related_factor(f, value, r, u, b)
                change = gained / lost
            changes[j, k] = change
            # forward[j, k] = reached[x] change e(x), times A(value after the stretch | x) at its end; normalized.
            weight = max(weight, 0.0) * change
            if records[r, EVIDENCE] >= 0:
                weight *= evidence[records[r, EVIDENCE], x]
            if after >= 0:
                weight *= table[records[r, FOLLOWING_BASE] + x, beside[r, 1]]
            forward[j, k] = weight
            total += weight
        scale = 1.0 / total
        for k in range(size):
            forward[j, k] *= scale
        logs += np.log(total)
    return logs


@compiled
def _met_earlier(records: IntArray, stretch: IntArray, j: int, b: int) -> bool:
    """True if the last record of the partner b is in a group of an earlier record of the stretch, not the last one."""
    for i in range(j - 2, -1, -1):
        if records[stretch[i], RELEASE] <= records[b, PREVIOUS_RELEASE]:
            return bool(records[stretch[i], GROUP] == records[b, PREVIOUS_GROUP])
    return False


@compiled
def _draw_partners(f: PathFactors, value: IntArray, length: int, w: PathBuffers, rng: np.random.Generator) -> float:
    """Backward sampling of the partners; return the log weight of the changes of their paths, or infinity if nothing changes."""
    records, table, starts, forward, changes = f.records, f.table, f.group_starts, w.forward, w.change
    change, moved, later = 0.0, False, -1
    for j in range(length - 1, -1, -1):
        r, weight = w.stretch[j], forward[j]
        first = starts[records[r, GROUP]]
        size = starts[records[r, GROUP] + 1] - first
        linked, correction = -1, 1.0
        if later >= 0:
            # Given the partner drawn at step j + 1: forward times A(x | own value), with the correction of `_filter_partners`.
            after = w.stretch[j + 1]
            base, x = records[after, BASE], value[later]
            for k in range(size):
                weight[k] *= table[base + value[first + k], x]
            if later != after and records[later, PREVIOUS] >= 0:
                p, own = records[later, PREVIOUS], records[later, BASE]
                if records[p, GROUP] == records[r, GROUP] and p != r and weight[p - first] > 0.0:
                    v, u, y = value[r], value[after], value[p]
                    linked = p
                    correction = table[own + v, u] * table[own + y, x] / (table[own + y, u] * table[own + v, x])
                    weight[p - first] *= correction
        chosen = first + drawn_place(weight[:size], rng)
        if chosen == linked:
            change += np.log(correction)
        w.partner[j] = later = chosen
        change += np.log(changes[j, chosen - first])
        moved = moved or chosen != r
    return change if moved else np.inf


RUN_PATHS = 4
"""Largest number of paths of a run that are redrawn together; the smallest is 3."""

FOUR_PATHS = 0.2
"""Share of the redraws of runs that have four paths, in groups of four or more."""

RUN_ORDERS = np.array(sorted(itertools.permutations(range(RUN_PATHS)), key=lambda order: order[-1] != RUN_PATHS - 1))
"""Orders of four values: int array, shape (24, 4). The first six keep the last value in its place, and are the orders of three."""


class RunBuffers(NamedTuple):
    """Buffers of redraws of runs of several paths.

    ``run``, shape ``(T, 4)``, are the records of the paths at each meeting; ``forward``, shape ``(T, 24)``, the filtered weight of
    each order; ``order``, shape ``(T,)``, the drawn ones; ``own``, shape ``(4, 4)``, the weight of each value for each path, and
    ``step``, shape ``(4, 4, 4)``, that of each value given each value of the meeting before; ``held``, shape ``(2, 4)``, own and
    published values.
    """

    run: IntArray
    forward: FloatArray
    order: IntArray
    own: FloatArray
    step: FloatArray
    held: IntArray


def run_buffers(releases: int) -> RunBuffers:
    """Buffers for a number of releases."""
    run, order = np.zeros((releases, RUN_PATHS), dtype=np.int64), np.zeros(releases, dtype=np.int64)
    own, step = np.zeros((RUN_PATHS, RUN_PATHS)), np.zeros((RUN_PATHS, RUN_PATHS, RUN_PATHS))
    return RunBuffers(
        run, np.zeros((releases, len(RUN_ORDERS))), order, own, step, np.zeros((2, RUN_PATHS), dtype=np.int64)
    )


@compiled
def redraw_runs(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    share: float,
    w: RunBuffers,
    rng: np.random.Generator,
) -> None:
    """Draw which of three or four members of a group has which of their values, at all of their consecutive meetings.

    For chains of order 1 or 0. Redraws end when their records add up to a share of all records. Forward filtering and backward
    sampling over the orders of the values: O(36) for each meeting of three paths, O(576) of four.
    """
    done = 0
    while done < share * len(value):
        one = int(rng.random() * len(value))
        g = f.records[one, GROUP]
        first, size = f.group_starts[g], f.group_starts[g + 1] - f.group_starts[g]
        paths = RUN_PATHS if size > 3 and rng.random() < FOUR_PATHS else 3
        done += paths
        if size < paths:
            continue
        w.run[0, 0], found = one, 1
        while found < paths:
            w.run[0, found] = first + int(rng.random() * size)
            found += not (w.run[0, :found] == w.run[0, found]).any()
        length = _write_run(f.records, paths, w.run)
        done += (length - 1) * paths
        _draw_orders(f, value, beside, paths, length, w, rng)
        for j in range(length):
            line, order = w.run[j], RUN_ORDERS[w.order[j]]
            for i in range(paths):
                w.held[0, i] = value[line[i]]
                w.held[1, i] = published[line[i]] if len(published) else 0
            for i in range(paths):
                value[line[i]] = w.held[0, order[i]]
                if len(published):
                    published[line[i]] = w.held[1, order[i]]
                write_beside(f.records, value, beside, line[i])


@compiled
def _write_run(records: IntArray, paths: int, run: IntArray) -> int:
    """Write the maximal run of meetings around the records of the first row; return its length."""
    while _all_meet(records, run[0], paths, PREVIOUS):
        for i in range(paths):
            run[0, i] = records[run[0, i], PREVIOUS]
    length = 1
    while _all_meet(records, run[length - 1], paths, FOLLOWING):
        for i in range(paths):
            run[length, i] = records[run[length - 1, i], FOLLOWING]
        length += 1
    return length


@inlined
def _all_meet(records: IntArray, line: IntArray, paths: int, way: int) -> bool:
    """True if the next records of all paths in a direction of time are in one group."""
    group = records[line[0], PREVIOUS_GROUP + 2 * way]
    meet = bool(group >= 0)
    for i in range(1, paths):
        meet = meet and records[line[i], PREVIOUS_GROUP + 2 * way] == group
    return meet


@compiled
def _draw_orders(
    f: PathFactors, value: IntArray, beside: IntArray, paths: int, length: int, w: RunBuffers, rng: np.random.Generator
) -> None:
    """Draw the order of the values at each meeting of a run."""
    records, table, orders, forward = f.records, f.table, 6 if paths == 3 else 24, w.forward
    for j in range(length):
        # own[i, a]: e(x_a), and A from the record before the run or to the one after it; P at the start of a path.
        for i in range(paths):
            r = w.run[j, i]
            for a in range(paths):
                x = value[w.run[j, a]]
                weight = evidence_factor(f, r, x)
                if records[r, PREVIOUS] < 0:
                    weight *= f.prior[records[r, PATH], x]
                elif j == 0:
                    weight *= table[records[r, BASE] + beside[r, 0], x]
                if j + 1 == length and records[r, FOLLOWING] >= 0:
                    weight *= table[records[r, FOLLOWING_BASE] + x, beside[r, 1]]
                w.own[i, a] = weight
        _write_steps(f, value, paths, j, w)
        related = False
        for i in range(paths):
            related = related or records[w.run[j, i], RELATIVES] > 0
        # forward[j, s] = tables of relatives prod_i own[i, s_i] sum_t forward[j - 1, t] prod_i step[i, t_i, s_i]; normalized.
        total = 0.0
        for s in range(orders):
            weight = 1.0 if j == 0 else 0.0
            for t in range(orders if j > 0 else 0):
                weight += forward[j - 1, t] * _step_of_orders(w.step, paths, t, s)
            for i in range(paths):
                weight *= w.own[i, RUN_ORDERS[s, i]]
            if related:
                weight *= _related_in_order(f, value, w.run[j, :paths], RUN_ORDERS[s])
            forward[j, s] = weight
            total += weight
        for s in range(orders):
            forward[j, s] /= total
    for j in range(length - 1, -1, -1):
        if j + 1 < length:
            _write_steps(f, value, paths, j + 1, w)
            for t in range(orders):
                forward[j, t] *= _step_of_orders(w.step, paths, t, w.order[j + 1])
        w.order[j] = drawn_place(forward[j, :orders], rng)


@compiled
def _related_in_order(f: PathFactors, value: IntArray, line: IntArray, order: IntArray) -> float:
    """Tables of the pairs of some members of a group, of which each has the value of the one at its place in an order."""
    weight = 1.0
    for i in range(len(line)):
        x, first = value[line[order[i]]], f.records[line[i], RELATED]
        for k in range(first, first + f.records[line[i], RELATIVES]):
            other, y, counted = f.relatives[k, 0], value[f.relatives[k, 0]], False
            for place in range(len(line)):
                if line[place] == other:
                    y, counted = value[line[order[place]]], place < i
            if not counted:
                weight *= f.tables[f.relatives[k, 1], x, y]
    return weight


@inlined
def _write_steps(f: PathFactors, value: IntArray, paths: int, j: int, w: RunBuffers) -> None:
    """Write step[i, a, b], the probability of value b at meeting j given value a at the one before, for each path."""
    for i in range(paths if j > 0 else 0):
        for a in range(paths):
            row = f.records[w.run[j, i], BASE] + value[w.run[j - 1, a]]
            for b in range(paths):
                w.step[i, a, b] = f.table[row, value[w.run[j, b]]]


@inlined
def _step_of_orders(step: FloatArray, paths: int, t: int, s: int) -> float:
    """Probability of the order s given the order t at the meeting before."""
    weight = 1.0
    for i in range(paths):
        weight *= step[i, RUN_ORDERS[t, i], RUN_ORDERS[s, i]]
    return weight


MIN_PATHS, MAX_PATHS = 3, 6
"""Smallest and largest number of paths of a block."""

MAX_RELEASES = 8
"""Largest number of releases of a block."""


class BlockBuffers(NamedTuple):
    """Buffers of block redraws, allocated once for each chain."""

    at: IntArray  # (6,): a record of each path; -1 for none
    line: IntArray  # (L,): records of the block in the order of time, then those after it that depend on its values
    # first (L + 1,), size (L,): parts of the line that vary: place of the first record, and number of records. A part has two or
    # more members of a group, or one record of a group without multiset.
    first: IntArray
    size: IntArray
    # before, arranged, drawn (L, 6): values of each part before the move, in the present arrangement, and in the drawn one. In
    # histories with distorted values, own and published value are one number, since they are exchanged together.
    before: IntArray
    arranged: IntArray
    drawn: IntArray
    weight: FloatArray  # (L + 1,): product of the factors up to each part


def block_buffers(order: int) -> BlockBuffers:
    """Buffers for chains of an order."""
    length = MAX_PATHS * (MAX_RELEASES + order)
    line, first, size = np.zeros((3, length + 1), dtype=np.int64)
    before, arranged, drawn = np.zeros((3, length, MAX_PATHS), dtype=np.int64)
    cursor, weight = np.zeros(MAX_PATHS, dtype=np.int64), np.ones(length + 1)
    return BlockBuffers(cursor, line, first, size, before, arranged, drawn, weight)


@compiled
def redraw_block(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    order: int,
    w: BlockBuffers,
    rng: np.random.Generator,
) -> int:
    """Draw the values of a few paths around a random record, given all others; return the number of arrangements.

    The limit of the arrangements is 6, 36, 216 or 1,296, with equal probabilities. The number counts orders of equal values as
    well: it does not depend on the state, as the end of a sweep must not. Cost: O(a) for a arrangements.
    """
    if not _choose_paths(f, w, rng):
        return 1
    parts, arrangements = _line_up(f, order, 6 ** (1 + int(rng.random() * 4)), w)
    m = f.prior.shape[1] if len(published) else 1
    for j in range(parts):
        for i in range(w.size[j]):
            r = w.line[w.first[j] + i]
            w.before[j, i] = value[r] * m + (published[r] if len(published) and w.size[j] > 1 else 0)
    _draw_arrangement(f, value, parts, m, w, rng)
    for j in range(parts):
        for i in range(w.size[j]):
            r = w.line[w.first[j] + i]
            value[r] = w.drawn[j, i] // m
            write_beside(f.records, value, beside, r)
            if len(published) and w.size[j] > 1:
                published[r] = w.drawn[j, i] % m
    return arrangements


@compiled
def _choose_paths(f: PathFactors, w: BlockBuffers, rng: np.random.Generator) -> bool:
    """Write a record of each path to ``at``, at the first release of the block or later; False if the first path has no meeting.

    Each further path meets one of those before it, at a release near by. In half of the blocks the second pair of paths are a
    relative of the first one and a member of its group, so that the values of two related records change together.
    """
    records, at = f.records, w.at
    # Two members of one group, and the first release of the block, up to `MAX_RELEASES` - 1 releases before theirs.
    at[:] = -1
    related = len(f.relatives) > 0 and rng.random() < 0.5
    at[0] = f.relatives[int(rng.random() * len(f.relatives)), 0] if related else int(rng.random() * len(records))
    at[1] = _partner(f, at[0], rng)
    if at[1] < 0:
        return False
    start, found = records[at[0], RELEASE] - int(rng.random() * MAX_RELEASES), 2
    if related:
        at[2] = f.relatives[records[at[0], RELATED] + int(rng.random() * records[at[0], RELATIVES]), 0]
        found += _is_new(records, at, found)
        if found == 3:
            at[3] = _partner(f, at[2], rng)
            found += _is_new(records, at, found)
    # Try one to four further paths, of partners of records at most three steps from one of ``at``; keep new ones.
    for _ in range(min(MIN_PATHS - 2 + int(rng.random() * (MAX_PATHS - MIN_PATHS + 1)), MAX_PATHS - found)):
        r = at[int(rng.random() * found)]
        way = PREVIOUS if rng.random() < 0.5 else FOLLOWING
        for _ in range(int(rng.random() * MAX_RELEASES / 2)):
            if records[r, way] >= 0:
                r = records[r, way]
        at[found] = _partner(f, r, rng)
        found += _is_new(records, at, found)
    # The first record of each path at the release ``start`` or later.
    for p in range(MAX_PATHS):
        if p >= found:
            at[p] = -1
        while at[p] >= 0 and records[at[p], RELEASE] < start:
            at[p] = records[at[p], FOLLOWING]
        while at[p] >= 0 and records[at[p], PREVIOUS] >= 0 and records[at[p], PREVIOUS_RELEASE] >= start:
            at[p] = records[at[p], PREVIOUS]
    return True


@inlined
def _is_new(records: IntArray, at: IntArray, found: int) -> bool:
    """True if there is a record at a place, and it is on another path than those before it."""
    new = at[found] >= 0
    for p in range(found):
        new = new and records[at[p], PATH] != records[at[found], PATH]
    return bool(new)


@inlined
def _partner(f: PathFactors, r: int, rng: np.random.Generator) -> int:
    """Random other member of the group of a record; -1 if there is none."""
    g = f.records[r, GROUP]
    first, others = f.group_starts[g], f.group_starts[g + 1] - f.group_starts[g] - 1
    if others == 0:
        return -1
    found = int(first + int(rng.random() * others))
    return found + 1 if found >= r else found


@compiled
def _line_up(f: PathFactors, order: int, limit: int, w: BlockBuffers) -> tuple[int, int]:
    """Write the records of a block to ``line``, and its parts that vary; return their number, and that of arrangements.

    The block ends before the release at which it would have more arrangements than the limit.
    """
    records, at, line = f.records, w.at, w.line
    length, parts, arrangements, kept = 0, 0, 1, 1
    for _ in range(MAX_RELEASES):
        here = _add_release(records, at, line, length)
        # Parts of the earliest release: a record without multiset, of m values, or members of a group, of at most size! orders.
        new, place = parts, length
        while place < length + here:
            g = records[line[place], GROUP]
            size = 1
            while not f.free[g] and place + size < length + here and records[line[place + size], GROUP] == g:
                size += 1
                arrangements *= size
            if f.free[g]:
                arrangements *= f.prior.shape[1]
            if f.free[g] or size > 1:
                w.first[new], w.size[new] = place, size
                new += 1
            place += size
        if here == 0 or arrangements > limit:
            break
        # The release is in the block: each of its paths goes on to the next record.
        for i in range(here):
            for p in range(MAX_PATHS):
                if at[p] == line[length + i]:
                    at[p] = records[at[p], FOLLOWING]
        parts, length, kept = new, length + here, arrangements
    # The d records after the block on each path: their chain factors depend on its values.
    for p in range(MAX_PATHS):
        for _ in range(order):
            if at[p] >= 0:
                line[length] = at[p]
                at[p], length = records[at[p], FOLLOWING], length + 1
    w.first[parts] = length
    return parts, kept


@compiled
def _add_release(records: IntArray, at: IntArray, line: IntArray, length: int) -> int:
    """Write the records of the earliest release to ``line``, sorted by group; return their number."""
    now, here = -1, 0
    for p in range(MAX_PATHS):
        if at[p] >= 0 and (now < 0 or records[at[p], RELEASE] < now):
            now = records[at[p], RELEASE]
    for p in range(MAX_PATHS):
        if at[p] >= 0 and records[at[p], RELEASE] == now:
            place = length + here
            while place > length and records[line[place - 1], GROUP] > records[at[p], GROUP]:
                line[place] = line[place - 1]
                place -= 1
            line[place] = at[p]
            here += 1
    return here


@compiled
def _draw_arrangement(
    f: PathFactors, value: IntArray, parts: int, m: int, w: BlockBuffers, rng: np.random.Generator
) -> None:
    """Write a random arrangement to ``drawn``, with probability proportional to its weight; own values are left as they were."""
    # Depth first over the arrangements of part 0, 1, ...; ``entered`` is True when a part takes its first arrangement.
    w.drawn[:parts] = w.before[:parts]
    total, depth, entered = 0.0, 0 if parts > 0 else -1, True
    while depth >= 0:
        first, size, item = w.first[depth], w.size[depth], w.arranged[depth]
        if entered:
            # Values in ascending order, or the first value of the domain for a part of one record.
            more, item[0] = True, w.before[depth, 0] if size > 1 else 0
            for i in range(1, size):
                place = i
                while place > 0 and item[place - 1] > w.before[depth, i]:
                    item[place] = item[place - 1]
                    place -= 1
                item[place] = w.before[depth, i]
        elif size > 1:
            more = _next_arrangement(item, size)
        else:
            item[0] += m
            more = item[0] < m * f.prior.shape[1]
        # Own values of the arrangement; after the last one the values before the move, and back to the previous part.
        for i in range(size):
            value[w.line[first + i]] = (item[i] if more else w.before[depth, i]) // m
        entered = False
        if not more:
            depth -= 1
            continue
        # Weight of parts 0, ..., depth: that of the parts before, times the factors A e of the records up to the next part.
        weight = w.weight[depth]
        for place in range(first, w.first[depth + 1]):
            r = w.line[place]
            weight *= chain_factor(f, r, value[r], value) * evidence_factor(f, r, value[r])
            if f.records[r, RELATIVES] > 0:
                weight *= _related_so_far(f, value, w.line[: w.first[parts]], place)
        w.weight[depth + 1] = weight
        if depth < parts - 1:
            depth, entered = depth + 1, True
            continue
        # A complete arrangement replaces the drawn one with probability weight / sum of all weights so far.
        total += weight
        if rng.random() * total < weight:
            w.drawn[:parts] = w.arranged[:parts]


@compiled
def _related_so_far(f: PathFactors, value: IntArray, line: IntArray, place: int) -> float:
    """Tables of the pairs of the record at a place of a line with all records but those at later places."""
    r, weight = line[place], 1.0
    first = f.records[r, RELATED]
    for k in range(first, first + f.records[r, RELATIVES]):
        later, at = False, place + 1
        while at < len(line) and f.records[line[at], RELEASE] == f.records[r, RELEASE]:
            later = later or line[at] == f.relatives[k, 0]
            at += 1
        if not later:
            weight *= f.tables[f.relatives[k, 1], value[r], value[f.relatives[k, 0]]]
    return weight


@compiled
def _next_arrangement(item: IntArray, size: int) -> bool:
    """Replace items by the next arrangement in lexicographic order; False after the last one."""
    i = size - 2
    while i >= 0 and item[i] >= item[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = size - 1
    while item[j] <= item[i]:
        j -= 1
    item[i], item[j] = item[j], item[i]
    i, j = i + 1, size - 1
    while i < j:
        item[i], item[j] = item[j], item[i]
        i, j = i + 1, j - 1
    return True


@compiled
def redraw_own_values(
    f: PathFactors, value: IntArray, published: IntArray, first: int, forward: FloatArray, rng: np.random.Generator
) -> None:
    """Draw all open values of a path, given the others and its published values.

    Open are the values of records that no multiset fixes. Forward filtering and backward sampling over codes of the last d values;
    ``first`` is the first record of the path, and ``forward``, shape ``(T, m^d)``, is overwritten. Cost: O(m^(d + 1)) for each open
    record.
    """
    m, codes, at, is_open = f.prior.shape[1], forward.shape[1], first, False
    while at >= 0 and not is_open:
        is_open = f.free[f.records[at, GROUP]] or f.channel[f.records[at, GROUP]] >= 0
        at = f.records[at, FOLLOWING]
    if not is_open:
        return
    # forward[t, code] ~ sum over the oldest value of forward[t - 1] A(x | .), times e(x) and W(published | x).
    length, at, last = 0, first, first
    while at >= 0:
        g, channel = f.records[at, GROUP], f.channel[f.records[at, GROUP]]
        fixed = not f.free[g] and channel < 0
        forward[length] = 0.0
        for before in range(codes if length > 0 else 1):
            weight = forward[length - 1, before] if length > 0 else 1.0
            if weight > 0.0:
                # Row of A(. | code before), and that code without its oldest value.
                row, after = _row(f, at, before), before * m % codes
                step = f.table[row] if row >= 0 else f.prior[f.records[at, PATH]]
                for x in range(value[at] if fixed else 0, value[at] + 1 if fixed else m):
                    forward[length, after + x] += weight * step[x]
        for code in range(codes):
            if forward[length, code] > 0.0:
                forward[length, code] *= evidence_factor(f, at, code % m)
                if f.records[at, RELATIVES] > 0:
                    forward[length, code] *= related_factor(f, value, at, code % m, -1)
                if channel >= 0:
                    forward[length, code] *= f.emission[channel, code % m, published[at]]
        forward[length] /= forward[length].sum()
        at, last, length = f.records[at, FOLLOWING], at, length + 1
    # Backward: the code before has all values of this one but the last, and one older value.
    code = drawn_place(forward[length - 1], rng)
    for j in range(length - 1, -1, -1):
        value[last] = code % m
        if j > 0:
            # Weight of each oldest value: forward[code before] A(x | code before).
            for oldest in range(m):
                before = code // m + oldest * (codes // m)
                row = _row(f, last, before)
                factor = f.table[row, code % m] if row >= 0 else f.prior[f.records[last, PATH], code % m]
                forward[j, oldest] = forward[j - 1, before] * factor
            code = code // m + drawn_place(forward[j, :m], rng) * (codes // m)
        last = f.records[last, PREVIOUS]


@compiled
def _row(f: PathFactors, r: int, code: int) -> int:
    """Row of the chain given the code of the values before a record, the last one in the lowest place; -1 for the prior."""
    known = f.records[r, KNOWN]
    return int(f.records[r, BASE] + code % f.table.shape[1] ** known) if known > 0 else -1


@compiled
def redraw_pair(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    order: int,
    one: int,
    two: int,
    weights: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw who of two records of a group has which of their two published values, and both own values; O(m d).

    Two related records are left as they are.
    """
    if are_related(f, one, two):
        return
    channel = f.channel[f.records[one, GROUP]]
    _write_weights(f, value, order, one, weights[0])
    _write_weights(f, value, order, two, weights[1])
    y, z = published[one], published[two]
    keep = _likelihood(f, channel, y, weights[0]) * _likelihood(f, channel, z, weights[1])
    swap = _likelihood(f, channel, z, weights[0]) * _likelihood(f, channel, y, weights[1])
    if rng.random() * (keep + swap) >= keep:
        published[one], published[two] = z, y
    _draw_own(f, value, one, channel, published[one], weights[0], rng)
    _draw_own(f, value, two, channel, published[two], weights[1], rng)


@compiled
def _write_weights(f: PathFactors, value: IntArray, order: int, r: int, weights: FloatArray) -> None:
    """Weight of each own value of a record given its neighbours and claims, scaled to a sum of 1; its value changes on the way."""
    total = 0.0
    for x in range(len(weights)):
        value[r] = x
        weight = chain_factor(f, r, x, value) * evidence_factor(f, r, x)
        if f.records[r, RELATIVES] > 0:
            weight *= related_factor(f, value, r, x, -1)
        after = f.records[r, FOLLOWING]
        for _ in range(order):
            if after >= 0:
                weight *= chain_factor(f, after, value[after], value)
                after = f.records[after, FOLLOWING]
        weights[x] = weight
        total += weight
    weights /= total


@compiled
def _likelihood(f: PathFactors, channel: int, y: int, weights: FloatArray) -> float:
    """Weight of a published value, summed over own values."""
    return float((weights * f.emission[channel, :, y]).sum())


@compiled
def _draw_own(
    f: PathFactors, value: IntArray, r: int, channel: int, y: int, weights: FloatArray, rng: np.random.Generator
) -> None:
    """Draw an own value given the published value y."""
    value[r] = drawn_place(weights * f.emission[channel, :, y], rng)
