"""Run swaps: two records of one group exchange values, at any of the consecutive releases in which their paths meet.

A move draws a pair of records and takes the maximal run of meetings of their paths. At each meeting the pair keeps or swaps its two
values, which leaves the multiset of the group as it is. All decisions of a run are drawn jointly from their distribution given
everything outside: forward filtering and backward sampling of a chain with two states. Cost: O(run).

In a group with distorted values two records exchange own and published values together. This leaves the product of the emissions of
the group as it is, so that the decisions have the same distribution.
"""

import numpy as np

from foreknow.models.arrays import IntArray, compiled, inlined
from foreknow.models.joint.exchanges import Workspace, exchange, write_beside
from foreknow.models.joint.path_factors import (
    BASE,
    EVIDENCE,
    FOLLOWING,
    FOLLOWING_BASE,
    FOLLOWING_GROUP,
    FOLLOWING_RELEASE,
    GROUP,
    PATH,
    PREVIOUS,
    PREVIOUS_GROUP,
    PREVIOUS_RELEASE,
    RELEASE,
    PathFactors,
)
from foreknow.models.joint.record_redraws import redraw_own_values, redraw_pair
from foreknow.models.joint.run_swaps_of_order import swap_run_of_order


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
