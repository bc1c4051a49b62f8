"""Redraws of records whose own values no multiset fixes, given the rest of the path and the published values.

Records of a group without multiset can have any value. In a group with distorted values a record has an own value x and a published
value y, with the weight ``emission[x, y]``; the published values are an arrangement of the group's multiset. A redraw of own
values draws those of all records of this kind on a path. A pair redraw draws an exchange of the published values of two records,
summed over their own values, and then these own values.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.path_factors import (
    BASE,
    FOLLOWING,
    GROUP,
    KNOWN,
    PATH,
    PREVIOUS,
    PathFactors,
    chain_factor,
    evidence_factor,
)


@compiled
def redraw_own_values(
    f: PathFactors,
    value: IntArray,
    published: IntArray,
    first: int,
    forward: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw all open values of a path, given the others and its published values.

    Open are the values of records that no multiset fixes. Forward filtering and backward sampling over codes of the last d values.

    Parameters
    ----------
    f, value, published
    first : int
        First record of the path.
    forward : float array, shape (T, m^d)
        Overwritten with the filtered weight of each code.
    rng : numpy.random.Generator

    Notes
    -----
    Cost: O(m^(d + 1)) for each open record.
    """
    if _has_open_records(f, first):
        length, last = _filter_values(f, value, published, first, forward)
        _draw_values(f, value, length, last, forward, rng)


@compiled
def _has_open_records(f: PathFactors, first: int) -> bool:
    """True if a record of a path is in a group without multiset, or with distorted values."""
    at = first
    while at >= 0:
        g = f.records[at, GROUP]
        if f.free[g] or f.channel[g] >= 0:
            return True
        at = f.records[at, FOLLOWING]
    return False


@compiled
def _filter_values(
    f: PathFactors, value: IntArray, published: IntArray, first: int, forward: FloatArray
) -> tuple[int, int]:
    """Write the filtered weights of the codes of the last d values; return the number of records and the last one."""
    m, codes = f.prior.shape[1], forward.shape[1]
    length, at, last = 0, first, first
    while at >= 0:
        g, channel = f.records[at, GROUP], f.channel[f.records[at, GROUP]]
        fixed = not f.free[g] and channel < 0
        forward[length] = 0.0
        for before in range(codes if length > 0 else 1):
            weight = forward[length - 1, before] if length > 0 else 1.0
            if weight > 0.0:
                row, after = _row(f, at, before), before * m % codes
                step = f.table[row] if row >= 0 else f.prior[f.records[at, PATH]]
                if fixed:
                    forward[length, after + value[at]] += weight * step[value[at]]
                else:
                    for x in range(m):
                        forward[length, after + x] += weight * step[x]
        for code in range(codes):
            if forward[length, code] > 0.0:
                forward[length, code] *= evidence_factor(f, at, code % m)
                if channel >= 0:
                    forward[length, code] *= f.emission[channel, code % m, published[at]]
        forward[length] /= forward[length].sum()
        at, last, length = f.records[at, FOLLOWING], at, length + 1
    return length, last


@compiled
def _draw_values(
    f: PathFactors, value: IntArray, length: int, last: int, forward: FloatArray, rng: np.random.Generator
) -> None:
    """Draw the values of a path backward from its last record, given the filtered weights, which are overwritten."""
    m, codes = f.prior.shape[1], forward.shape[1]
    code = drawn_place(forward[length - 1], rng)
    for j in range(length - 1, -1, -1):
        value[last] = code % m
        if j > 0:
            # The code before has all values of this one but the last, and one older value.
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
    """Draw who of two records of a group has which of their two published values, and both own values; O(m d)."""
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
    total = 0.0
    for x in range(len(weights)):
        total += weights[x] * f.emission[channel, x, y]
    return total


@compiled
def _draw_own(
    f: PathFactors, value: IntArray, r: int, channel: int, y: int, weights: FloatArray, rng: np.random.Generator
) -> None:
    """Draw an own value given the published value y."""
    for x in range(len(weights)):
        weights[x] *= f.emission[channel, x, y]
    value[r] = drawn_place(weights, rng)


@compiled
def drawn_place(weights: FloatArray, rng: np.random.Generator) -> int:
    """Position drawn with probabilities in proportion to positive weights."""
    rest = rng.random() * weights.sum()
    for x in range(len(weights)):
        rest -= weights[x]
        if rest < 0.0:
            return x
    return len(weights) - 1
