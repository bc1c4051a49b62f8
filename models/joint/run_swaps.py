"""Run swaps: two records of one group exchange values, at any of the consecutive releases in which their paths meet.

A move draws a pair of records and takes the maximal run of meetings of their paths. At each meeting the pair keeps or swaps its two
values, which leaves the multiset of the group as it is. All decisions of a run are drawn jointly from their distribution given
everything outside: forward filtering and backward sampling of a chain with two states. Cost: O(run).

In a group with distorted values two records exchange own and published values together. This leaves the product of the emissions of
the group as it is, so that the decisions have the same distribution.
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.path_factors import (
    BASE,
    EVIDENCE,
    FOLLOWING,
    FOLLOWING_BASE,
    FOLLOWING_GROUP,
    FOLLOWING_RELEASE,
    GROUP,
    KNOWN,
    PATH,
    PREVIOUS,
    PREVIOUS_GROUP,
    PREVIOUS_RELEASE,
    RELEASE,
    PathFactors,
)
from foreknow.models.joint.record_redraws import redraw_own_values, redraw_pair


class Workspace(NamedTuple):
    """Buffers of a move, allocated once for each chain.

    Attributes
    ----------
    pair : int array, shape (T + d, 2)
        Records of the pair at each meeting.
    forward : float array, shape (T + d, 2^d)
        Filtered weights of the last d decisions.
    weight : float array, shape (T + d, 2^d, 2)
        Weight of each decision given the last d ones.
    own : float array, shape (2, m)
        Weights of the own values of two records.
    codes : float array, shape (T, m^d)
        Filtered weights of the last d own values of a path; no row if multisets fix all own values.
    cursor : int array, shape (1,)
        Record that the next move visits.
    """

    pair: IntArray
    forward: FloatArray
    weight: FloatArray
    own: FloatArray
    codes: FloatArray
    cursor: IntArray


def workspace(releases: int, order: int, values: int, some_open: bool) -> Workspace:
    """Buffers for histories of a number of releases and chains of an order; ``some_open`` if not all own values are published."""
    length, states = releases + max(order, 1), 2 ** max(order, 1)
    return Workspace(
        np.zeros((length, 2), dtype=np.int64),
        np.zeros((length, states)),
        np.zeros((length, states, 2)),
        np.zeros((2, values)),
        np.zeros((releases if some_open else 0, values ** max(order, 1))),
        np.zeros(1, dtype=np.int64),
    )


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
    move is a swap at one release, which does not mix where pairs meet again. ``value``, ``published`` and ``beside`` are those of an
    `Assignment`.
    """
    records, done = len(value), 0
    while done < records:
        one = w.cursor[0]
        w.cursor[0] = one + 1 if one + 1 < records else 0
        g = f.records[one, GROUP]
        first, members = f.group_starts[g], f.group_starts[g + 1] - f.group_starts[g]
        done += 1
        distorted = f.channel[g] >= 0
        if len(w.codes) and f.records[one, PREVIOUS] < 0:
            redraw_own_values(f, value, published, one, w.codes, rng)
            at = one
            while at >= 0:
                write_beside(f.records, value, beside, at)
                at = f.records[at, FOLLOWING]
        # In a group of two one pair is enough; a second move of the same pair would be idle.
        if one == first + members - 1:
            continue
        two = first + int(rng.random() * (members - 1))
        two += two >= one
        if distorted:
            redraw_pair(f, value, published, order, one, two, w.own, rng)
            write_beside(f.records, value, beside, one)
            write_beside(f.records, value, beside, two)
        if order > 1:
            done += swap_run_of_order(f, value, published, beside, order, one, two, runs, w, rng) - 1
        else:
            done += swap_run(f, value, published, beside, one, two, runs, w, rng) - 1


@inlined
def exchange(records: IntArray, value: IntArray, published: IntArray, beside: IntArray, a: int, b: int) -> None:
    """Exchange the values of two records of a group."""
    if len(published):
        published[a], published[b] = published[b], published[a]
    if value[a] != value[b]:
        value[a], value[b] = value[b], value[a]
        write_beside(records, value, beside, a)
        write_beside(records, value, beside, b)


@inlined
def write_beside(records: IntArray, value: IntArray, beside: IntArray, r: int) -> None:
    """Write the own value of a record to its neighbours on the path."""
    if records[r, PREVIOUS] >= 0:
        beside[records[r, PREVIOUS], 1] = value[r]
    if records[r, FOLLOWING] >= 0:
        beside[records[r, FOLLOWING], 0] = value[r]


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
    keep, swap = 1.0, 0.0
    for j in range(length):
        x, y = value[pair[j, 0]], value[pair[j, 1]]
        for side in range(2):
            # Factors of this record with the values x and y, if the pair kept its values at the last meeting, and if it swapped.
            r = pair[j, side]
            base, before, after = records[r, BASE], records[r, PREVIOUS], records[r, FOLLOWING]
            if j > 0 and before == pair[j - 1, side]:
                own, other = base + beside[r, 0], base + value[pair[j - 1, 1 - side]]
                kept_x, kept_y, swapped_x, swapped_y = table[own, x], table[own, y], table[other, x], table[other, y]
            else:
                kept_x = table[base + beside[r, 0], x] if before >= 0 else prior[records[r, PATH], x]
                kept_y = table[base + beside[r, 0], y] if before >= 0 else prior[records[r, PATH], y]
                swapped_x, swapped_y = kept_x, kept_y
            outer_x, outer_y = 1.0, 1.0
            if records[r, EVIDENCE] >= 0:
                outer_x, outer_y = evidence[records[r, EVIDENCE], x], evidence[records[r, EVIDENCE], y]
            if after >= 0 and not (j + 1 < length and after == pair[j + 1, side]):
                outer_x *= table[records[r, FOLLOWING_BASE] + x, beside[r, 1]]
                outer_y *= table[records[r, FOLLOWING_BASE] + y, beside[r, 1]]
            if side == 0:
                keep_stay, keep_cross = keep * kept_x * outer_x, keep * kept_y * outer_y
                swap_stay, swap_cross = swap * swapped_x * outer_x, swap * swapped_y * outer_y
            else:
                keep_stay, keep_cross = keep_stay * kept_y * outer_y, keep_cross * kept_x * outer_x
                swap_stay, swap_cross = swap_stay * swapped_y * outer_y, swap_cross * swapped_x * outer_x
        weight[j, 0, 0], weight[j, 0, 1], weight[j, 1, 0], weight[j, 1, 1] = (
            keep_stay,
            keep_cross,
            swap_stay,
            swap_cross,
        )
        total = keep_stay + keep_cross + swap_stay + swap_cross
        keep, swap = (keep_stay + swap_stay) / total, (keep_cross + swap_cross) / total
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
    a, b = one, two
    while runs and records[a, PREVIOUS] >= 0 and records[b, PREVIOUS] >= 0:
        c, d = records[a, PREVIOUS], records[b, PREVIOUS]
        if records[a, PREVIOUS_RELEASE] != records[b, PREVIOUS_RELEASE]:
            c, d = _same_release(records, c, d, PREVIOUS, -1)
            if c < 0 or d < 0 or records[c, GROUP] != records[d, GROUP]:
                break
        elif records[a, PREVIOUS_GROUP] != records[b, PREVIOUS_GROUP]:
            break
        a, b = c, d
    pair[0, 0], pair[0, 1], length = a, b, 1
    while runs and records[a, FOLLOWING] >= 0 and records[b, FOLLOWING] >= 0:
        c, d = records[a, FOLLOWING], records[b, FOLLOWING]
        if records[a, FOLLOWING_RELEASE] != records[b, FOLLOWING_RELEASE]:
            c, d = _same_release(records, c, d, FOLLOWING, 1)
            if c < 0 or d < 0 or records[c, GROUP] != records[d, GROUP]:
                break
        elif records[a, FOLLOWING_GROUP] != records[b, FOLLOWING_GROUP]:
            break
        a, b = c, d
        pair[length, 0], pair[length, 1], length = a, b, length + 1
    return length


@inlined
def _same_release(records: IntArray, c: int, d: int, way: int, sign: int) -> tuple[int, int]:
    """Records of two paths at or after the later of two releases, in the direction of time ``sign`` (column ``way``); -1 for none.

    Only one of the two paths is followed. The records are of the same release, or that path has none there.
    """
    if sign * records[c, RELEASE] < sign * records[d, RELEASE]:
        while c >= 0 and sign * records[c, RELEASE] < sign * records[d, RELEASE]:
            c = records[c, way]
    else:
        while d >= 0 and sign * records[d, RELEASE] < sign * records[c, RELEASE]:
            d = records[d, way]
    return c, d


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
    _draw_decisions_of_order(f.records, value, published, beside, order, total, w, rng)
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
    if f.records[r, KNOWN] == 0:
        return float(weight * f.prior[f.records[r, PATH], x])
    code, place, at = 0, 1, r
    for k in range(1, f.records[r, KNOWN] + 1):
        at = f.records[at, PREVIOUS]
        crossed = k <= j and j - k < length and (state >> (k - 1)) & 1
        code += place * (value[pair[j - k, 1 - side]] if crossed else value[at])
        place *= f.table.shape[1]
    return float(weight * f.table[f.records[r, BASE] + code, x])


@compiled
def _draw_decisions_of_order(
    records: IntArray,
    value: IntArray,
    published: IntArray,
    beside: IntArray,
    order: int,
    total: int,
    w: Workspace,
    rng: np.random.Generator,
) -> None:
    """Backward sampling of the decisions of a run; the state after the last step is drawn first."""
    states = 2**order
    rest, state = rng.random(), 0
    for candidate in range(states):
        if w.forward[total - 1, candidate] > 0.0:
            state = candidate
            rest -= w.forward[total - 1, candidate]
            if rest < 0.0:
                break
    for j in range(total - 1, -1, -1):
        swap = state % 2
        low, high = state // 2, state // 2 + states // 2
        kept, crossed = w.weight[j, low, swap], w.weight[j, high, swap]
        state = high if rng.random() * (kept + crossed) >= kept else low
        if swap == 1:
            exchange(records, value, published, beside, w.pair[j, 0], w.pair[j, 1])
