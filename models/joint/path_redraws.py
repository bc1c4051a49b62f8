"""Path redraws: one path exchanges values with a partner of its choice at each of several consecutive records.

Run swaps change two paths. Where a chain has zeros, a path changes its set of reachable values only if all its records exchange
values in one move, each with another partner. A path redraw proposes this: the partners at all records of a stretch of the path
are drawn jointly by forward filtering and backward sampling, each with the weight of the change of both paths. The reverse
proposal has another normalizing constant, and the move is accepted with the ratio of both (a locally informed proposal, Zanella
2020).
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.exchanges import exchange
from foreknow.models.joint.path_factors import (
    BASE,
    EVIDENCE,
    FOLLOWING,
    FOLLOWING_BASE,
    GROUP,
    PATH,
    PREVIOUS,
    PREVIOUS_GROUP,
    PREVIOUS_RELEASE,
    RELEASE,
    PathFactors,
)


class PathBuffers(NamedTuple):
    """Buffers of path redraws.

    Attributes
    ----------
    stretch, partner : int array, shape (T,)
        Records of the path, and the member that each exchanges with; itself if it keeps its value.
    forward : float array, shape (T, k)
        Filtered weight of each partner.
    change : float array, shape (T, k)
        Weight of the change of each partner's path.
    sums, reached : float array, shape (m,)
        Filtered weight of each value of the last record, and of each value of this record given it.
    """

    stretch: IntArray
    partner: IntArray
    forward: FloatArray
    change: FloatArray
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
    records, table, prior, evidence, starts = f.records, f.table, f.prior, f.evidence, f.group_starts
    forward, changes, sums, reached = w.forward, w.change, w.sums, w.reached
    logs, m = 0.0, len(sums)
    for j in range(length):
        r = w.stretch[j]
        g, u, base, before = records[r, GROUP], value[r], records[r, BASE], records[r, PREVIOUS]
        first, size = starts[g], starts[g + 1] - starts[g]
        after = records[r, FOLLOWING] if j == length - 1 else -1
        # Weight of each value of this record, by all values of the last one.
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
                p, own, y = records[b, PREVIOUS], records[b, BASE], beside[b, 0]
                if p < 0:
                    gained, lost = prior[records[b, PATH], u], prior[records[b, PATH], x]
                else:
                    gained, lost = table[own + y, u], table[own + y, x]
                    if j > 0:
                        if records[b, PREVIOUS_GROUP] == records[r, PREVIOUS_GROUP]:
                            v = beside[r, 0]
                            if y != v:
                                # The partner may have exchanged its last value too.
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
                change = gained / lost
            changes[j, k] = change
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
            after = w.stretch[j + 1]
            base, x = records[after, BASE], value[later]
            for k in range(size):
                weight[k] *= table[base + value[first + k], x]
            if later != after and records[later, PREVIOUS] >= 0:
                p, own = records[later, PREVIOUS], records[later, BASE]
                if records[p, GROUP] == records[r, GROUP] and p != r and weight[p - first] > 0.0:
                    v, u, y = value[r], value[after], value[p]
                    linked, correction = (
                        p,
                        table[own + v, u] * table[own + y, x] / (table[own + y, u] * table[own + v, x]),
                    )
                    weight[p - first] *= correction
        total = 0.0
        for k in range(size):
            total += weight[k]
        rest, chosen = rng.random() * total, r
        for k in range(size):
            if weight[k] > 0.0:
                chosen = first + k
                rest -= weight[k]
                if rest < 0.0:
                    break
        if chosen == linked:
            change += np.log(correction)
        w.partner[j] = later = chosen
        change += np.log(changes[j, chosen - first])
        moved = moved or chosen != r
    return change if moved else np.inf
