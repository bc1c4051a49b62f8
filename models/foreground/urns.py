"""Who has which value, drawn group by group while the global distribution is summed over: Pólya's urns.

A signature is an urn. It holds, of each value, the prior's pseudo-count and a ball for each of its people who has the value. The
values of a group are dealt given those of all other groups: the group's balls are taken out, what is left says how likely
each value is for the first of the signature's people, and every value dealt puts its ball back before the next. People of no
supported signature draw from an urn that never changes, the rest's distribution.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.elementary import multiply
from foreknow.models.foreground.evidence import Cells, Evidence
from foreknow.models.group_rows import group_rows

type Dealing = Callable[[FloatArray], IntArray]
"""One more round with the values' pseudo-counts, shape ``(m,)``: how many people of each signature have each, ``(s, m)``."""


class Urns(NamedTuple):
    """The urns of s signatures, and of the rest behind them.

    Attributes
    ----------
    pseudo_counts : float array, shape (s + 1, m)
    added : float array, shape (s + 1,)
        How much a ball weighs: 1; 0 for the rest, whose urn never changes.
    counts : int array, shape (s + 1, m)
        How many people of each signature have each value. Kernels change it.
    """

    pseudo_counts: FloatArray
    added: FloatArray
    counts: IntArray


def dealing(evidence: Evidence, rng: np.random.Generator) -> Dealing:
    """A Markov chain over the assignments of all groups, which starts where each group's values are shuffled.

    A round deals the values of each group anew. For two values it does so under the law of the group given all others,
    whatever its size. For more it is a round of exchanges: each person meets another of the group, drawn evenly, and the
    values of both are dealt anew between them. Groups that show one value only are counted once and for all.

    Pseudo-counts and the rest's probabilities must be over 0 for values that groups show; this is not checked.

    Cost of a round: for two values O(N c) per group, N people of whom c have the rarer one; for more, O(n).
    """
    added = np.append(np.ones(evidence.signatures), 0.0)
    counts, deal = _by_cells(evidence, rng) if evidence.counts.shape[1] == 2 else _by_exchanges(evidence, rng)

    def dealt(pseudo_counts: FloatArray) -> IntArray:
        table = evidence.table(np.tile(pseudo_counts, (evidence.signatures, 1)))
        deal(Urns(table, added, counts))
        return counts[:-1]

    return dealt


def _by_cells(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Urns], None]]:
    signature, size, starts, holding = _every_group(evidence.cells)
    having = np.zeros(len(size), dtype=np.int64)
    for j, c in enumerate(holding):
        having[starts[j] : starts[j + 1]] = rng.multivariate_hypergeometric(size[starts[j] : starts[j + 1]], c)
    counts = evidence.cells.settled.copy()
    np.add.at(counts, signature, np.column_stack([having, size - having]))
    return counts, lambda urns: _deal(urns, signature, size, starts, holding, having, rng)


def _every_group(cells: Cells) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Signature, size, starts and holding of the cells, with those of alike groups repeated: each deals for itself."""
    kind = np.repeat(np.arange(len(cells.times)), cells.times)
    lengths = np.diff(cells.starts)[kind]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    cell = np.arange(starts[-1]) + np.repeat(cells.starts[kind] - starts[:-1], lengths)
    return cells.signature[cell], cells.size[cell], starts, cells.holding[kind]


def _by_exchanges(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Urns], None]]:
    mixed = np.append((evidence.counts > 0).sum(axis=1) > 1, False)
    order, starts = group_rows(np.where(mixed[evidence.group], evidence.group, -1), len(evidence.counts))
    value = np.append(evidence.counts.argmax(axis=1), 0)[evidence.group]
    undecided = order[starts[0] :]
    shuffled = undecided[np.lexsort((rng.random(len(undecided)), evidence.group[undecided]))]
    shown = evidence.counts[mixed[:-1]]
    value[shuffled] = np.repeat(np.tile(np.arange(shown.shape[1]), len(shown)), shown.ravel())
    counts = np.zeros((evidence.signatures + 1, shown.shape[1]), dtype=np.int64)
    np.add.at(counts, (evidence.place[evidence.published], value[evidence.published]), 1)
    return counts, lambda urns: _exchange(urns, evidence.place, order, starts, value, rng)


@compiled
def _balls(urns: Urns, row: int, value: int) -> float:
    """What an urn holds of a value."""
    return float(urns.pseudo_counts[row, value] + urns.added[row] * urns.counts[row, value])


@compiled
def _put(urns: Urns, signature: IntArray, size: IntArray, having: IntArray, sign: int) -> None:
    """Put a group's balls of two values back into the urns, or take them out."""
    for i in range(len(size)):
        urns.counts[signature[i], 0] += sign * having[i]
        urns.counts[signature[i], 1] += sign * (size[i] - having[i])


@compiled
def _deal(
    urns: Urns,
    signature: IntArray,
    size: IntArray,
    starts: IntArray,
    holding: IntArray,
    having: IntArray,
    rng: np.random.Generator,
) -> None:
    """Deal two values anew in every group; ``having`` is how many people of each cell have the first."""
    for j in range(len(holding)):
        begin, end = starts[j], starts[j + 1]
        rows, people, have = signature[begin:end], size[begin:end], having[begin:end]
        _put(urns, rows, people, have, -1)
        rare = 1 if 2 * holding[j] > people.sum() else 0
        left = people.sum() - holding[j] if rare == 1 else holding[j]
        if left == 1:
            _deal_one(urns, rows, people, rare, have, rng)
        else:
            _deal_many(urns, rows, people, rare, left, have, rng)
        if rare == 1:
            have[:] = people - have
        _put(urns, rows, people, have, 1)


@compiled
def _deal_one(
    urns: Urns, rows: IntArray, people: IntArray, rare: int, have: IntArray, rng: np.random.Generator
) -> None:
    """Give the rarer value, which one person of the group has, to a cell; into ``have``."""
    weight, total = np.zeros(len(rows)), 0.0
    for i in range(len(rows)):
        others = _balls(urns, rows[i], 1 - rare) + (people[i] - 1) * urns.added[rows[i]]
        weight[i] = people[i] * _balls(urns, rows[i], rare) / others
        total += weight[i]
    chance, i = rng.random() * total - weight[0], 0
    while chance >= 0.0 and i < len(rows) - 1:
        i += 1
        chance -= weight[i]
    have[:] = 0
    have[i] = 1


@compiled
def _deal_many(
    urns: Urns, rows: IntArray, people: IntArray, rare: int, left: int, have: IntArray, rng: np.random.Generator
) -> None:
    """Share out the rarer value, which ``left`` people have, among the cells; into ``have``.

    The ways to give b of a cell's people the value are a polynomial's coefficients, as in `cell_expectations`; cells are drawn
    from the last to the first, by what those before them can still take.
    """
    k = len(rows)
    ways, before = np.full((k, left + 1), -np.inf), np.zeros((k + 1, left + 1))
    for i in range(k):
        _log_ways(urns, rows[i], people[i], rare, ways[i])
    shift = _shift(ways, people, left)
    before[0, 0] = 1.0
    for i in range(k):
        _raise(ways[i], shift)
        multiply(before[i], ways[i], people[i], before[i + 1])
        before[i + 1] /= before[i + 1].max()
    for i in range(k - 1, -1, -1):
        most, total = min(people[i], left), 0.0
        for b in range(most + 1):
            total += ways[i, b] * before[i, left - b]
        chance = rng.random() * total
        for b in range(most + 1):
            weight = ways[i, b] * before[i, left - b]
            if weight > 0.0:
                have[i] = b
                chance -= weight
                if chance < 0.0:
                    break
        left -= have[i]


@compiled
def _log_ways(urns: Urns, row: int, people: int, rare: int, ways: FloatArray) -> None:
    """The logarithms of the weights of 0, 1, ... of a cell's people having a value, as far as ``ways`` reaches."""
    first, second, added = _balls(urns, row, rare), _balls(urns, row, 1 - rare), urns.added[row]
    ways[0] = 0.0
    for b in range(1, min(people, len(ways) - 1) + 1):
        odds = (first + (b - 1) * added) / (second + (people - b) * added)
        ways[b] = ways[b - 1] + math.log(odds * (people - b + 1) / b)


@compiled
def _raise(ways: FloatArray, shift: float) -> float:
    """Multiply the weights of 0, 1, ... by powers of ``exp(shift)``, no longer as logarithms; and their mean number."""
    for b in range(len(ways)):
        ways[b] += shift * b
    ways[:] = np.exp(ways - ways.max())
    return float((ways * np.arange(len(ways))).sum() / ways.sum())


@compiled
def _shift(ways: FloatArray, people: IntArray, left: int) -> float:
    """What to raise all cells' weights by, so that about ``left`` people are expected to have a value.

    No share depends on it; without it, weights could vanish. Urns that hold next to nothing have weights that are large at both
    ends, but no further from a single peak than a power of the number of people.
    """
    low, high = np.inf, -np.inf
    for i in range(len(ways)):
        for b in range(1, min(people[i], left) + 1):
            low, high = min(low, ways[i, b - 1] - ways[i, b]), max(high, ways[i, b - 1] - ways[i, b])
    low, high = low - 10.0, high + 10.0
    while (high - low) ** 2 * left > 1.0:
        shift, mean = (low + high) / 2, 0.0
        for i in range(len(ways)):
            mean += _raise(ways[i].copy(), shift)
        low, high = (low, shift) if mean > left else (shift, high)
    return (low + high) / 2


@compiled
def _exchange(
    urns: Urns, place: IntArray, order: IntArray, starts: IntArray, value: IntArray, rng: np.random.Generator
) -> None:
    """Let everybody meet one other of the own group, and deal their two values anew between them."""
    for j in range(len(starts) - 1):
        k = starts[j + 1] - starts[j]
        for one in range(k):
            i, h = order[starts[j] + one], order[starts[j] + (one + 1 + int(rng.random() * (k - 1))) % k]
            a, b, p, q = value[i], value[h], place[i], place[h]
            if a != b and p != q:
                urns.counts[p, a] -= 1
                urns.counts[q, b] -= 1
                stay = _balls(urns, p, a) * _balls(urns, q, b)
                move = _balls(urns, p, b) * _balls(urns, q, a)
                if rng.random() * (stay + move) >= stay:
                    a, b = b, a
                value[i], value[h] = a, b
                urns.counts[p, a] += 1
                urns.counts[q, b] += 1
