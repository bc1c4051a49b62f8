"""Maximum-entropy beliefs under the margins of groups and linear constraints, by the convex dual."""

from typing import NamedTuple

import numpy as np
import scipy

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

MAX_MULTIPLIER = 40.0
"""Bound of the multiplier of a constraint; exp(-40) is 4e-18, so that it reaches probabilities of 0 and 1."""

COUNT_TOLERANCE = 1e-11
"""Largest deviation of an expected count from the published one, over the group's size, at which its iteration stops."""

SCALINGS, NEWTON_STEPS = 5, 300
"""Largest number of scalings of one group, and of Newton steps after them."""

LONGEST_STEP = 8.0
"""Largest change of the logarithm of a factor by one Newton step."""

RIDGE = 1e-13
"""Number added to the curvature, in records, where beliefs are 0 or 1 to rounding."""


class LinearConstraints(NamedTuple):
    """Bounds on sums of beliefs in one value: ``low <= Σ_{i matches} belief[i, value] <= high``.

    Attributes
    ----------
    matches : bool array, shape (n, c)
        Records of each constraint.
    value : int array, shape (c,)
    low, high : float array, shape (c,)
        In records.
    """

    matches: BoolArray
    value: IntArray
    low: FloatArray
    high: FloatArray


class MaxEntropyBeliefs(NamedTuple):
    """Result of `max_entropy_beliefs`.

    Attributes
    ----------
    probabilities : float array, shape (n, m)
        Zeros for records outside all groups.
    gap : float array, shape (c,)
        Distance of each constraint's sum from its bounds, in records.
    group_gap : float array, shape (g,)
        Largest distance of an expected count of each group from the published one, in records.
    """

    probabilities: FloatArray
    gap: FloatArray
    group_gap: FloatArray


class _Cells(NamedTuple):
    """Records of one group that match the same constraints; they have equal beliefs. So have groups of equal counts and cells.

    Attributes
    ----------
    cell : int array, shape (n,)
        Cell of each record; -1 for records outside all groups.
    kind : int array, shape (g,)
        Kind of each group: groups of one kind have equal counts and equal cells.
    counts : int array, shape (h, m)
        Counts of a group of each kind.
    times : float array, shape (h,)
        Number of groups of each kind.
    starts : int array, shape (h + 1,)
        First cell of each kind.
    weight, total : float array, shape (q,)
        Number of records of each cell, in one group and in all groups of its kind.
    matches : bool array, shape (q, c)
    """

    cell: IntArray
    kind: IntArray
    counts: IntArray
    times: FloatArray
    starts: IntArray
    weight: FloatArray
    total: FloatArray
    matches: BoolArray

    @property
    def scaling(self) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
        """Arrays that `_scaled` takes after the tilt."""
        return self.weight, self.starts, self.counts, self.times


def max_entropy_beliefs(group: IntArray, counts: IntArray, constraints: LinearConstraints) -> MaxEntropyBeliefs:
    """Beliefs of the largest entropy whose sums over groups are the counts, and that satisfy linear constraints.

    Maximize ``-Σ_i Σ_s b[i, s] log b[i, s]`` over rows b[i] that are distributions, with ``Σ_{i in g} b[i, s] = n_gs`` and the
    constraints. The solution is ``b[i, s] ∝ y_gs exp(Σ_c μ_c [i matches c] [s = value_c])``. The dual is minimized over the
    multipliers μ by L-BFGS; for each μ the factors y of each group follow by scaling (iterative proportional fitting) and, where
    that is slow, by Newton's method.

    Parameters
    ----------
    group : int array, shape (n,)
        Group of each record; -1 outside all groups.
    counts : int array, shape (g, m)
        Counts that exceed a group's records are those of records without any constraint.
    constraints : LinearConstraints

    Notes
    -----
    Records of one group that match the same constraints are one cell, and equal groups are computed once. Cost: O(q m) for each
    scaling of the q cells of different groups, O(q m^2) for each Newton step, and O(n c). Where constraints contradict each other
    or the counts, multipliers stop at `MAX_MULTIPLIER`, and gaps remain.
    """
    cells = _cells(group, counts, constraints)
    multipliers = _minimized(cells, constraints) if len(constraints.value) else np.zeros(0)
    beliefs, _, gap_of_kind = _scaled(_tilt(cells, constraints, multipliers), *cells.scaling)
    expected = _expected(cells, constraints, beliefs)
    gap = np.maximum(np.maximum(constraints.low - expected, expected - constraints.high), 0.0)
    rows = np.vstack([beliefs, np.zeros(counts.shape[1])])[cells.cell]
    return MaxEntropyBeliefs(rows, gap, gap_of_kind[cells.kind])


def _cells(group: IntArray, counts: IntArray, constraints: LinearConstraints) -> _Cells:
    published = np.flatnonzero(group >= 0)
    extra = counts.sum(axis=1) - np.bincount(group[published], minlength=len(counts))
    others = np.repeat(np.arange(len(counts)), extra)
    unmatched = np.zeros((len(others), len(constraints.value)), dtype=np.bool_)
    keys = np.column_stack(
        [np.concatenate([group[published], others]), np.vstack([constraints.matches[published], unmatched])]
    )
    distinct, number, weight = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    starts = np.searchsorted(distinct[:, 0], np.arange(len(counts) + 1))
    kinds: dict[bytes, int] = {}
    kind, first = np.zeros(len(counts), dtype=np.int64), list[int]()
    for j in range(len(counts)):
        own = slice(starts[j], starts[j + 1])
        key = counts[j].tobytes() + distinct[own, 1:].tobytes() + weight[own].tobytes()
        kind[j] = kinds.setdefault(key, len(kinds))
        if kind[j] == len(first):
            first.append(j)
    kept = [np.arange(starts[j], starts[j + 1]) for j in first]
    new_starts = np.cumsum([0, *map(len, kept)], dtype=np.int64)
    rows = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
    cell = np.full(len(group), -1, dtype=np.int64)
    own_group = group[published]
    cell[published] = number.reshape(-1)[: len(published)] - starts[own_group] + new_starts[kind[own_group]]
    times = np.bincount(kind, minlength=len(first)).astype(np.float64)
    sizes = weight[rows].astype(np.float64)
    total = sizes * np.repeat(times, np.diff(new_starts))
    return _Cells(cell, kind, counts[first], times, new_starts, sizes, total, distinct[rows, 1:].astype(np.bool_))


def _tilt(cells: _Cells, constraints: LinearConstraints, multipliers: FloatArray) -> FloatArray:
    """Logarithm of the factor of the constraints, by cell and value: shape ``(q, m)``."""
    by_value = np.zeros((len(multipliers), cells.counts.shape[1]))
    by_value[np.arange(len(multipliers)), constraints.value] = multipliers
    return np.asarray(cells.matches.astype(np.float64) @ by_value)


def _expected(cells: _Cells, constraints: LinearConstraints, beliefs: FloatArray) -> FloatArray:
    """Sum of each constraint, in records: shape ``(c,)``."""
    return np.asarray(np.einsum("q,qc,qc->c", cells.total, cells.matches, beliefs[:, constraints.value]))


def _minimized(cells: _Cells, constraints: LinearConstraints) -> FloatArray:
    """Multipliers at the minimum of the dual: one of each lower bound, less one of each upper bound."""
    low, high, c = constraints.low, constraints.high, len(constraints.value)
    is_exact = high <= low
    # In units of the root of the number of records, the curvature is alike in all directions.
    unit = np.sqrt(np.maximum(cells.total @ cells.matches, 1.0))

    def dual(scaled: FloatArray) -> tuple[float, FloatArray]:
        below, above = scaled[:c] / unit, scaled[c:] / unit
        beliefs, value, _ = _scaled(_tilt(cells, constraints, below - above), *cells.scaling)
        expected = _expected(cells, constraints, beliefs)
        slope = np.concatenate([(expected - low) / unit, (high - expected) / unit])
        return value - float(low @ below) + float(high @ above), slope

    limit = MAX_MULTIPLIER * unit
    bounds = scipy.optimize.Bounds(
        np.concatenate([np.where(is_exact, -limit, 0.0), np.zeros(c)]),
        np.concatenate([limit, np.where(is_exact, 0.0, limit)]),
    )
    options = {"maxiter": 1000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-8}
    found = scipy.optimize.minimize(
        dual, np.zeros(2 * c), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    return np.asarray((found[:c] - found[c:]) / unit)


@compiled
def _scaled(
    tilt: FloatArray, weight: FloatArray, starts: IntArray, counts: IntArray, times: FloatArray
) -> tuple[FloatArray, float, FloatArray]:
    """Beliefs of each cell under a tilt, the dual without constraints, and the largest gap of a count of each kind."""
    beliefs, gap, dual = np.zeros(tilt.shape), np.zeros(len(counts)), 0.0
    for j in range(len(counts)):
        shown = np.flatnonzero(counts[j])
        cells = slice(starts[j], starts[j + 1])
        wanted = counts[j][shown].astype(np.float64)
        found, value, gap[j] = _group_beliefs(np.ascontiguousarray(tilt[cells][:, shown]), weight[cells], wanted)
        for s in range(len(shown)):
            beliefs[cells, shown[s]] = found[:, s]
        dual += times[j] * value
    return beliefs, dual, gap


@compiled
def _group_beliefs(tilt: FloatArray, weight: FloatArray, wanted: FloatArray) -> tuple[FloatArray, float, float]:
    """Beliefs of the cells of one group, shape ``(q, d)``; the dual; and the largest gap of a count.

    Scaling lowers the dual at each step, but slowly where beliefs are near 0 or 1. After `SCALINGS` steps Newton steps are
    tried; one that raises the dual is taken back and replaced by a scaling.
    """
    factor = np.log(wanted)
    beliefs, expected, value = _tilted(factor, tilt, weight, wanted)
    gap = np.abs(expected - wanted).max()
    for step in range(SCALINGS + NEWTON_STEPS):
        if gap <= COUNT_TOLERANCE * weight.sum():
            break
        moved = factor + np.log(wanted / np.maximum(expected, 1e-300))
        if step >= SCALINGS:
            newton = factor + _newton_step(beliefs, weight, wanted - expected)
            _, _, tried = _tilted(newton, tilt, weight, wanted)
            if tried <= value:
                moved = newton
        factor = moved
        beliefs, expected, value = _tilted(factor, tilt, weight, wanted)
        gap = np.abs(expected - wanted).max()
    return beliefs, value, gap


@compiled
def _tilted(
    factor: FloatArray, tilt: FloatArray, weight: FloatArray, wanted: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Beliefs proportional to ``exp(factor + tilt)``, the expected counts, and the dual of one group."""
    beliefs, expected = np.zeros(tilt.shape), np.zeros(len(factor))
    value = -(wanted * factor).sum()
    for c in range(len(tilt)):
        exponents = factor + tilt[c]
        largest = exponents.max()
        sizes = np.exp(exponents - largest)
        total = sizes.sum()
        beliefs[c] = sizes / total
        expected += weight[c] * beliefs[c]
        value += weight[c] * (largest + np.log(total))
    return beliefs, expected, value


@compiled
def _newton_step(beliefs: FloatArray, weight: FloatArray, missing: FloatArray) -> FloatArray:
    """Newton step of the logarithms of the factors, at most `LONGEST_STEP` for each."""
    d = len(missing)
    # Equal steps of all factors change nothing: the constant makes the matrix regular without a change of the solution.
    curvature = np.full((d, d), weight.sum() / d)
    for c in range(len(beliefs)):
        for s in range(d):
            curvature[s, s] += weight[c] * beliefs[c, s] + RIDGE
            for t in range(d):
                curvature[s, t] -= weight[c] * beliefs[c, s] * beliefs[c, t]
    step = np.linalg.solve(curvature, missing)
    return np.asarray(step * min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300)))
