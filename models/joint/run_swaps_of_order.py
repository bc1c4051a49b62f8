"""Run swaps for chains of any order, where the states are the last d decisions of a pair."""

import numpy as np

from foreknow.models.arrays import IntArray, compiled
from foreknow.models.joint.exchanges import Workspace, exchange
from foreknow.models.joint.path_factors import BASE, EVIDENCE, FOLLOWING, GROUP, KNOWN, PATH, PREVIOUS, PathFactors


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
