"""Collapsed Gibbs sampling of the groups' assignments, with the global distribution integrated out.

Each signature has a Dirichlet prior, given as pseudo-counts. Given the values of all other records, the probability of a value
is proportional to its pseudo-count plus the number of the signature's other records that have it (Dirichlet-multinomial, or
Polya urn). A sweep redraws the values of each group given those of all other groups. Records whose signature has too little
support have the rest's distribution, which no count changes.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.conditional_bernoulli.polynomials import multiply
from foreknow.models.foreground.evidence import Cells, Evidence
from foreknow.models.group_rows import group_rows

type Sweep = Callable[[FloatArray], IntArray]
"""One more sweep under the values' pseudo-counts, shape ``(m,)``; returns the signatures' counts of values, ``(s, m)``."""

LOG_ODDS_MARGIN = 10.0
"""Margin of the bounds between which the tilting factor is searched, in log-odds."""


class Counts(NamedTuple):
    """Dirichlet-multinomial state of s signatures and of the rest behind them.

    Attributes
    ----------
    pseudo_counts : float array, shape (s + 1, m)
    weight : float array, shape (s + 1,)
        Amount that a record adds to its row: 1, and 0 for the rest.
    counts : int array, shape (s + 1, m)
        Number of records of each row with each value. Kernels update it in place.
    """

    pseudo_counts: FloatArray
    weight: FloatArray
    counts: IntArray


def assignment_sweeps(evidence: Evidence, rng: np.random.Generator) -> Sweep:
    """Start a Markov chain over the assignments of all groups, from a random permutation of each group's values.

    For two values, a sweep draws each group from its law given all others, of any size. For more values it is a sweep of
    exchanges: each record is paired with another of its group, chosen uniformly, and the two values are redrawn between them.
    Groups of one value are counted once.

    Pseudo-counts and the rest's probabilities must be positive for values that groups show; this is not checked.

    Cost of a sweep: for two values O(N c) per group, N records of which c have the rarer one; for more, O(n).
    """
    weight = np.append(np.ones(evidence.signatures), 0.0)
    counts, sweep = _by_cells(evidence, rng) if evidence.counts.shape[1] == 2 else _by_exchanges(evidence, rng)

    def swept(pseudo_counts: FloatArray) -> IntArray:
        table = evidence.table(np.tile(pseudo_counts, (evidence.signatures, 1)))
        sweep(Counts(table, weight, counts))
        return counts[:-1]

    return swept


def _by_cells(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Counts], None]]:
    """Counts of the start, and the sweep for two values."""
    row, size, starts, holders = _expanded_groups(evidence.cells)
    drawn = np.zeros(len(size), dtype=np.int64)
    for j, c in enumerate(holders):
        drawn[starts[j] : starts[j + 1]] = rng.multivariate_hypergeometric(size[starts[j] : starts[j + 1]], c)
    counts = evidence.cells.decided.copy()
    np.add.at(counts, row, np.column_stack([drawn, size - drawn]))
    return counts, lambda state: _sweep_cells(state, row, size, starts, holders, drawn, rng)


def _expanded_groups(cells: Cells) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Row, size, starts and holders of the cells, with equal groups repeated: each is drawn on its own."""
    kind = np.repeat(np.arange(len(cells.multiplicity)), cells.multiplicity)
    lengths = np.diff(cells.starts)[kind]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    cell = np.arange(starts[-1]) + np.repeat(cells.starts[kind] - starts[:-1], lengths)
    return cells.row[cell], cells.size[cell], starts, cells.holders[kind]


def _by_exchanges(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Counts], None]]:
    """Counts of the start, and the sweep for more than two values."""
    mixed = np.append(evidence.mixed, False)
    order, starts = group_rows(np.where(mixed[evidence.group], evidence.group, -1), len(evidence.counts))
    value = np.append(evidence.counts.argmax(axis=1), 0)[evidence.group]
    undecided = order[starts[0] :]
    permuted = undecided[np.lexsort((rng.random(len(undecided)), evidence.group[undecided]))]
    shown = evidence.counts[evidence.mixed]
    value[permuted] = np.repeat(np.tile(np.arange(shown.shape[1]), len(shown)), shown.ravel())
    counts = np.zeros((evidence.signatures + 1, shown.shape[1]), dtype=np.int64)
    np.add.at(counts, (evidence.row[evidence.published], value[evidence.published]), 1)
    return counts, lambda state: _sweep_pairs(state, evidence.row, order, starts, value, rng)


@compiled
def _weight_of(state: Counts, row: int, value: int) -> float:
    """Unnormalized predictive probability of a value: its pseudo-count plus its count."""
    return float(state.pseudo_counts[row, value] + state.weight[row] * state.counts[row, value])


@compiled
def _add_group(state: Counts, row: IntArray, size: IntArray, drawn: IntArray, sign: int) -> None:
    """Add the values of a group's records to the counts, or subtract them, for two values."""
    for i in range(len(size)):
        state.counts[row[i], 0] += sign * drawn[i]
        state.counts[row[i], 1] += sign * (size[i] - drawn[i])


@compiled
def _sweep_cells(
    state: Counts,
    row: IntArray,
    size: IntArray,
    starts: IntArray,
    holders: IntArray,
    drawn: IntArray,
    rng: np.random.Generator,
) -> None:
    """Redraw two values in every group; ``drawn`` is the number of each cell's records that have the first."""
    for j in range(len(holders)):
        begin, end = starts[j], starts[j + 1]
        rows, sizes, numbers = row[begin:end], size[begin:end], drawn[begin:end]
        _add_group(state, rows, sizes, numbers, -1)
        rare = 1 if 2 * holders[j] > sizes.sum() else 0
        c = sizes.sum() - holders[j] if rare == 1 else holders[j]
        if c == 1:
            _draw_one_holder(state, rows, sizes, rare, numbers, rng)
        else:
            _draw_holders(state, rows, sizes, rare, c, numbers, rng)
        if rare == 1:
            numbers[:] = sizes - numbers
        _add_group(state, rows, sizes, numbers, 1)


@compiled
def _draw_one_holder(
    state: Counts, rows: IntArray, size: IntArray, rare: int, numbers: IntArray, rng: np.random.Generator
) -> None:
    """Draw the cell of the one record with the rarer value, into ``numbers``."""
    weight, total = np.zeros(len(rows)), 0.0
    for i in range(len(rows)):
        others = _weight_of(state, rows[i], 1 - rare) + (size[i] - 1) * state.weight[rows[i]]
        weight[i] = size[i] * _weight_of(state, rows[i], rare) / others
        total += weight[i]
    remaining, i = rng.random() * total - weight[0], 0
    while remaining >= 0.0 and i < len(rows) - 1:
        i += 1
        remaining -= weight[i]
    numbers[:] = 0
    numbers[i] = 1


@compiled
def _draw_holders(
    state: Counts, rows: IntArray, size: IntArray, rare: int, c: int, numbers: IntArray, rng: np.random.Generator
) -> None:
    """Draw the number of each cell's records with the rarer value, c in all, into ``numbers``.

    The weights of the numbers 0, 1, ... of a cell are the coefficients of a polynomial, as in `cell_expectations`. Cells are
    drawn from the last to the first, given the total that the cells before them have.
    """
    k = len(rows)
    weights, before = np.full((k, c + 1), -np.inf), np.zeros((k + 1, c + 1))
    for i in range(k):
        _log_weights(state, rows[i], size[i], rare, weights[i])
    shift = _log_factor(weights, size, c)
    before[0, 0] = 1.0
    for i in range(k):
        _tilt_weights(weights[i], shift)
        multiply(before[i], weights[i], size[i], before[i + 1])
        before[i + 1] /= before[i + 1].max()
    for i in range(k - 1, -1, -1):
        numbers[i] = _draw_number(weights[i], before[i], size[i], c, rng)
        c -= numbers[i]


@compiled
def _draw_number(weights: FloatArray, before: FloatArray, size: int, c: int, rng: np.random.Generator) -> int:
    """Draw the number of a cell's records with the value, given that it and the cells before it have c."""
    most, total = min(size, c), 0.0
    for b in range(most + 1):
        total += weights[b] * before[c - b]
    remaining, number = rng.random() * total, 0
    for b in range(most + 1):
        weight = weights[b] * before[c - b]
        if weight > 0.0:
            number = b
            remaining -= weight
            if remaining < 0.0:
                break
    return number


@compiled
def _log_weights(state: Counts, row: int, size: int, rare: int, weights: FloatArray) -> None:
    """Write the log-weights of 0, 1, ... of a cell's records having a value into ``weights``, as far as it reaches."""
    first, second, added = _weight_of(state, row, rare), _weight_of(state, row, 1 - rare), state.weight[row]
    weights[0] = 0.0
    for b in range(1, min(size, len(weights) - 1) + 1):
        odds = (first + (b - 1) * added) / (second + (size - b) * added)
        weights[b] = weights[b - 1] + math.log(odds * (size - b + 1) / b)


@compiled
def _tilt_weights(weights: FloatArray, shift: float) -> float:
    """Replace log-weights of 0, 1, ... by weights times powers of ``exp(shift)``; return the mean number."""
    for b in range(len(weights)):
        weights[b] += shift * b
    weights[:] = np.exp(weights - weights.max())
    return float((weights * np.arange(len(weights))).sum() / weights.sum())


@compiled
def _log_factor(weights: FloatArray, size: IntArray, c: int) -> float:
    """Logarithm of the tilting factor under which about c records are expected to have the value, by bisection.

    No conditional probability depends on it; without it, weights could underflow. Small pseudo-counts make weights that are
    large at both ends; they exceed those of a single peak by no more than a power of the number of records.
    """
    low, high = np.inf, -np.inf
    for i in range(len(weights)):
        for b in range(1, min(size[i], c) + 1):
            low, high = min(low, weights[i, b - 1] - weights[i, b]), max(high, weights[i, b - 1] - weights[i, b])
    low, high = low - LOG_ODDS_MARGIN, high + LOG_ODDS_MARGIN
    while (high - low) ** 2 * c > 1.0:
        shift, mean = (low + high) / 2, 0.0
        for i in range(len(weights)):
            mean += _tilt_weights(weights[i].copy(), shift)
        low, high = (low, shift) if mean > c else (shift, high)
    return (low + high) / 2


@compiled
def _sweep_pairs(
    state: Counts, row: IntArray, order: IntArray, starts: IntArray, value: IntArray, rng: np.random.Generator
) -> None:
    """Pair each record with another of its group, uniformly, and redraw the values of both."""
    for j in range(len(starts) - 1):
        k = starts[j + 1] - starts[j]
        for one in range(k):
            other = (one + 1 + int(rng.random() * (k - 1))) % k
            _redraw_pair(state, row, order[starts[j] + one], order[starts[j] + other], value, rng)


@compiled
def _redraw_pair(state: Counts, row: IntArray, i: int, h: int, value: IntArray, rng: np.random.Generator) -> None:
    """Redraw the values of records i and h between them, given all others."""
    a, b, p, q = value[i], value[h], row[i], row[h]
    if a == b or p == q:
        return
    state.counts[p, a] -= 1
    state.counts[q, b] -= 1
    stay = _weight_of(state, p, a) * _weight_of(state, q, b)
    move = _weight_of(state, p, b) * _weight_of(state, q, a)
    if rng.random() * (stay + move) >= stay:
        a, b = b, a
    value[i], value[h] = a, b
    state.counts[p, a] += 1
    state.counts[q, b] += 1
