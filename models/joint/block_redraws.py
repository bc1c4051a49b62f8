"""Block redraws: the values of a few paths at consecutive releases, drawn jointly given all others.

Zeros in the chain, the prior or the claims can forbid every exchange of two paths where three paths may rotate their values, and
exchanges at one release that another exchange, with another partner, would permit. A block redraw enumerates the arrangements of
the values of three to six paths wherever they meet, with all values of their records in groups without multiset, and draws one by
its probability. Blocks do not depend on values, so that the move leaves the joint law as it is (Gibbs sampling).
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.exchanges import write_beside
from foreknow.models.joint.path_factors import (
    FOLLOWING,
    GROUP,
    PATH,
    PREVIOUS,
    PREVIOUS_RELEASE,
    RELEASE,
    PathFactors,
    chain_factor,
    evidence_factor,
)

MIN_PATHS, MAX_PATHS = 3, 6
"""Smallest and largest number of paths of a block."""

MAX_ARRANGEMENTS = 6**4
"""Largest number of arrangements of a block: those of three paths that meet at four releases."""

MAX_RELEASES = 8
"""Largest number of releases of a block."""


class BlockBuffers(NamedTuple):
    """Buffers of block redraws, allocated once for each chain.

    Attributes
    ----------
    at : int array, shape (6,)
        A record of each path; -1 for none.
    line : int array, shape (L,)
        Records of the block in the order of time, then those after it that depend on its values.
    first, size : int array, shape (L + 1,) and (L,)
        Parts of the line that vary: place of the first record, and number of records. A part has two or more members of a group,
        or one record of a group without multiset.
    before, arranged, drawn : int array, shape (L, 6)
        Values of each part before the move, in the present arrangement, and in the drawn one. In histories with distorted values,
        own and published value are one number, since they are exchanged together.
    weight : float array, shape (L + 1,)
        Product of the factors up to each part.
    """

    at: IntArray
    line: IntArray
    first: IntArray
    size: IntArray
    before: IntArray
    arranged: IntArray
    drawn: IntArray
    weight: FloatArray


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
) -> None:
    """Draw the values of a few paths around a random record, given all others.

    Cost: O(a) for a arrangements, at most `MAX_ARRANGEMENTS`.
    """
    if not _choose_paths(f, w, rng):
        return
    parts, m = _line_up(f, order, w), f.prior.shape[1] if len(published) else 1
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


@compiled
def _choose_paths(f: PathFactors, w: BlockBuffers, rng: np.random.Generator) -> bool:
    """Write a record of each path to ``at``, at the first release of the block or later; False if the first path has no meeting.

    Each further path meets one of those before it, at a release near by.
    """
    records, at = f.records, w.at
    at[:] = -1
    at[0] = int(rng.random() * len(records))
    at[1] = _partner(f, at[0], rng)
    if at[1] < 0:
        return False
    start, found = records[at[0], RELEASE] - int(rng.random() * MAX_RELEASES), 2
    for _ in range(MIN_PATHS - 2 + int(rng.random() * (MAX_PATHS - MIN_PATHS + 1))):
        r = at[int(rng.random() * found)]
        way = PREVIOUS if rng.random() < 0.5 else FOLLOWING
        for _ in range(int(rng.random() * MAX_RELEASES / 2)):
            if records[r, way] >= 0:
                r = records[r, way]
        at[found] = _partner(f, r, rng)
        fresh = at[found] >= 0
        for p in range(found):
            fresh = fresh and records[at[p], PATH] != records[at[found], PATH]
        found += fresh
    for p in range(MAX_PATHS):
        if p >= found:
            at[p] = -1
        while at[p] >= 0 and records[at[p], RELEASE] < start:
            at[p] = records[at[p], FOLLOWING]
        while at[p] >= 0 and records[at[p], PREVIOUS] >= 0 and records[at[p], PREVIOUS_RELEASE] >= start:
            at[p] = records[at[p], PREVIOUS]
    return True


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
def _line_up(f: PathFactors, order: int, w: BlockBuffers) -> int:
    """Write the records of a block to ``line``, and its parts that vary; return their number.

    The block ends before the release at which it would have more than `MAX_ARRANGEMENTS` arrangements.
    """
    records, at, line = f.records, w.at, w.line
    length, parts, arrangements = 0, 0, 1
    for _ in range(MAX_RELEASES):
        here = _add_release(records, at, line, length)
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
        if here == 0 or arrangements > MAX_ARRANGEMENTS:
            break
        for i in range(here):
            for p in range(MAX_PATHS):
                if at[p] == line[length + i]:
                    at[p] = records[at[p], FOLLOWING]
        parts, length = new, length + here
    for p in range(MAX_PATHS):
        for _ in range(order):
            if at[p] >= 0:
                line[length] = at[p]
                at[p], length = records[at[p], FOLLOWING], length + 1
    w.first[parts] = length
    return parts


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
    w.drawn[:parts] = w.before[:parts]
    total, depth, entered = 0.0, 0 if parts > 0 else -1, True
    while depth >= 0:
        first, size, item = w.first[depth], w.size[depth], w.arranged[depth]
        if entered:
            more = _first_arrangement(w.before[depth], item, size)
        elif size > 1:
            more = _next_arrangement(item, size)
        else:
            item[0] += m
            more = item[0] < m * f.prior.shape[1]
        for i in range(size):
            value[w.line[first + i]] = (item[i] if more else w.before[depth, i]) // m
        entered = False
        if not more:
            depth -= 1
            continue
        weight = w.weight[depth]
        for place in range(first, w.first[depth + 1]):
            r = w.line[place]
            weight *= chain_factor(f, r, value[r], value) * evidence_factor(f, r, value[r])
        w.weight[depth + 1] = weight
        if depth < parts - 1:
            depth, entered = depth + 1, True
            continue
        total += weight
        if rng.random() * total < weight:
            w.drawn[:parts] = w.arranged[:parts]


@compiled
def _first_arrangement(before: IntArray, item: IntArray, size: int) -> bool:
    """Write the values of a part in ascending order, or the first value of the domain for a part of one record; True."""
    item[0] = before[0] if size > 1 else 0
    for i in range(1, size):
        place = i
        while place > 0 and item[place - 1] > before[i]:
            item[place] = item[place - 1]
            place -= 1
        item[place] = before[i]
    return True


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
