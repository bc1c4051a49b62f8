"""Privacy-MaxEnt attack: the law of maximum entropy under published counts and known conditional probabilities."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy

from foreknow.attacks.attack import Published, beliefs_of_each, each_release, table_shares
from foreknow.models import Beliefs, Categorical, Numeric, Observation, People, Posterior
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import CONTRADICTED, UNCONVERGED
from foreknow.models.settings import as_list, check_kind, check_range, is_number, shown
from foreknow.models.tables.columns import check_quasi_identifiers, check_value, is_hashable, lookalike

MET = 1e-5  # largest distance of a probability from that of its statement at which the statement is met


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ConditionalProbability:
    """Statement P(value | given) = p, or an interval of p: a linear constraint on beliefs (Privacy-MaxEnt).

    Parameters
    ----------
    value : object
        A value of the sensitive domain.
    given : mapping of str to a condition
        Condition of each quasi-identifier that the statement names, as ``{"sex": "f", "age": (20, 29)}``. Of a numeric attribute
        it is a number, or a pair with the lowest and the highest number; of a categorical attribute a value, or a collection of
        values. An empty mapping is about all respondents.
    low : float
        The probability, or the lowest one if ``high`` is given.
    high : float, optional
        The highest probability.

    Examples
    --------
    >>> rare = ConditionalProbability("breast cancer", {"sex": "m"}, 0, 0.01)
    >>> rare
    ConditionalProbability(P('breast cancer' | sex='m') from 0 to 0.01)
    """

    value: Hashable
    given: Mapping[str, Any]
    low: float
    high: float | None = field(default=None)

    def __post_init__(self) -> None:
        owner = "ConditionalProbability"
        takes = "maps names of quasi-identifiers to conditions, as {'sex': 'f', 'age': (20, 29)}"
        check_kind(owner, "given", self.given, Mapping, takes)
        object.__setattr__(self, "given", dict(self.given))
        check_range(owner, "low", self.low, 0, 1, "a probability")
        if self.high is not None:
            check_range(owner, "high", self.high, 0, 1, "a probability")
            if self.low > self.high:
                raise ValueError(f"{owner}: low is {self.low!r} and high {self.high!r}; low must not be above high.")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={condition!r}" for name, condition in self.given.items())
        is_exact = self.high is None or self.high == self.low
        share = f"= {self.low:g}" if is_exact else f"from {self.low:g} to {self.high:g}"
        return f"ConditionalProbability(P({self.value!r}{f' | {given}' if given else ''}) {share})"

    @property
    def interval(self) -> tuple[float, float]:
        """Lowest and highest probability."""
        return float(self.low), float(self.low if self.high is None else self.high)

    def position(self, people: People) -> int:
        """Position of the value in the sensitive domain of some respondents; ValueError if it is not there."""
        values = people.schema.values
        check_value(repr(self), self.value, values)
        return values.index(self.value)

    def matches(self, people: People) -> BoolArray:
        """Respondents that the statement is about: bool array, shape ``(n,)``. Cost: O(n) for each condition.

        Raises
        ------
        ValueError
            If an attribute is no quasi-identifier, or its condition does not fit it.
        """
        kinds = people.schema.quasi_identifiers
        found = np.ones(len(people), dtype=np.bool_)
        check_quasi_identifiers(repr(self), self.given, kinds)
        for name, condition in self.given.items():
            codes = people.quasi_identifiers[:, list(kinds).index(name)]
            kind = kinds[name]
            if isinstance(kind, Numeric):
                low, high = self._bounds(name, condition)
                found &= (low <= codes) & (codes <= high)
            else:
                found &= np.isin(codes, self._positions(name, kind, condition))
        return found

    def _bounds(self, name: str, condition: Any) -> tuple[float, float]:
        ends = condition if isinstance(condition, tuple | list) else (condition, condition)
        if len(ends) != 2 or not all(is_number(end, -np.inf) for end in ends) or ends[0] > ends[1]:
            raise ValueError(
                f"{self!r}: the condition of {name!r} is {shown(condition)}; of a numeric attribute it is a number, or a pair of "
                "increasing numbers."
            )
        return float(ends[0]), float(ends[1])

    def _positions(self, name: str, kind: Categorical, condition: Any) -> list[int]:
        """Positions of the values of a condition in the attribute's domain."""
        is_value = is_hashable(condition) and condition in kind.values
        is_several = isinstance(condition, Collection) and not isinstance(condition, str | bytes)
        values = [condition] if is_value or not is_several else list(condition)
        for value in values:
            if not (is_hashable(value) and value in kind.values):
                raise ValueError(
                    f"{self!r}: the condition of {name!r} names {shown(value)}; it must be {kind.domain}."
                    f"{lookalike(value, kind.values)}"
                )
        return [kind.values.index(value) for value in values]


class LinearConstraints(NamedTuple):
    """Bounds on sums of beliefs in one value: ``low <= Σ_{i matches} belief[i, value] <= high``."""

    matches: BoolArray  # (n, c): records of each constraint
    value: IntArray  # (c,)
    # low, high (c,): in records
    low: FloatArray
    high: FloatArray


class MaxEntropyBeliefs(NamedTuple):
    """Result of `max_entropy_beliefs`."""

    probabilities: FloatArray  # (n, m): zeros for records outside all groups
    gap: FloatArray  # (c,): distance of each constraint's sum from its bounds, in records
    # (g,): largest distance of an expected count of each group from the published one, in records
    group_gap: FloatArray


@dataclass(frozen=True)
class PrivacyMaxEntAttack:
    """Beliefs of maximum entropy about each release, under statements P(value | quasi-identifiers) about its records.

    With q the quasi-identifiers, s the value and b the group, the entropy of P(q, s, b) is maximized under::

        Σ_s P(q, s, b) = P(q, b),    Σ_q P(q, s, b) = P(s, b),
        Σ_{q that match} Σ_b P(q, s, b) = P(s | matching) P(matching)      for each statement, or between two bounds.

    The posterior is P(s | q, b). Without statements it is the share P(s, b) / P(b) of the group.

    Parameters
    ----------
    statements : sequence of ConditionalProbability
        What the adversary knows of the published records. A statement about no published record of a release is not used there.

    Notes
    -----
    W. Du, Z. Teng, Z. Zhu, "Privacy-MaxEnt: Integrating Background Knowledge in Privacy Quantification", SIGMOD 2008.

    Each release is attacked on its own. Expected counts, not counts, equal the published ones: members of a group are treated as
    independent, as by `Sinkhorn`. A statement is about the records of the release, not about a population from which they
    are drawn; a probability that no table has exactly is met in expectation.

    Solved by the convex dual (`max_entropy_beliefs`). Where statements contradict each other or the groups, the nearest
    solution found is used; the ``notes`` name the statements, and groups with a record that they match have the status
    ``CONTRADICTED``. Groups whose expected counts are off have ``UNCONVERGED``. Records outside all groups keep the prior, the
    shares of the published table. Counterfeits match no statement, and distorted values are taken as true.

    Cost: O(n c) for c statements, and O(q m) for each scaling of q groups of equal records.

    Examples
    --------
    A man and a woman share a group of flu and breast cancer; one in ten thousand men has breast cancer.

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> rows = [("m", "flu", 1), ("f", "breast cancer", 1), ("f", "flu", 2), ("m", "flu", 2)]
    >>> table = PublishedTable(pd.DataFrame(rows, columns=["sex", "disease", "group"]), sensitive="disease")
    >>> rare = ConditionalProbability("breast cancer", {"sex": "m"}, 1e-4)
    >>> PrivacyMaxEntAttack([rare])([table]).posterior(0).round(4)["breast cancer"].to_list()
    [0.0002, 0.9998, 0.0, 0.0]
    """

    statements: Sequence[ConditionalProbability] = ()

    def __post_init__(self) -> None:
        statements = as_list(
            "PrivacyMaxEntAttack", "statements", self.statements, "is a list of ConditionalProbability"
        )
        object.__setattr__(self, "statements", tuple(statements))
        for number, statement in enumerate(statements):
            takes = "is a ConditionalProbability, as ConditionalProbability('flu', {'sex': 'f'}, 0.1)"
            check_kind("PrivacyMaxEntAttack", f"statement {number}", statement, ConditionalProbability, takes)

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release, each on its own. Only observations are read."""
        return beliefs_of_each((release.observation for release in each_release(self, releases)), self._attack)

    def _attack(self, seen: Observation) -> tuple[ReleaseBeliefs, Iterator[str]]:
        """Beliefs around one release, and notes on the statements."""
        constraints = self._constraints(seen)
        solved = max_entropy_beliefs(seen.group, seen.counts, constraints)
        prior = np.tile(table_shares(seen), (len(seen.people), 1))
        status = np.where(solved.group_gap > MET * np.maximum(seen.counts.sum(axis=1), 1), UNCONVERGED, 0)
        unmet = solved.gap > MET * np.maximum(constraints.matches.sum(axis=0), 1)
        status[np.unique(seen.group[(constraints.matches & unmet).any(axis=1)])] |= CONTRADICTED
        posterior = np.where((seen.group >= 0)[:, None], solved.probabilities, prior)
        beliefs = ReleaseBeliefs(seen, prior, prior, Posterior(posterior, status.astype(np.int64)))
        return beliefs, self._notes(constraints, solved)

    def _constraints(self, seen: Observation) -> LinearConstraints:
        published, c = seen.group >= 0, len(self.statements)
        matching = [statement.matches(seen.people) & published for statement in self.statements]
        matches = np.array(matching, dtype=np.bool_).reshape(c, len(published)).T
        value = np.array([statement.position(seen.people) for statement in self.statements], dtype=np.int64)
        intervals = np.array([statement.interval for statement in self.statements]).reshape(c, 2)
        bounds = np.asarray(intervals * matches.sum(axis=0)[:, None], dtype=np.float64)
        return LinearConstraints(matches, value, bounds[:, 0], bounds[:, 1])

    def _notes(self, constraints: LinearConstraints, solved: MaxEntropyBeliefs) -> Iterator[str]:
        matching = constraints.matches.sum(axis=0)
        for statement, number, gap in zip(self.statements, matching, solved.gap, strict=True):
            if not number:
                yield f"no published record matches {statement!r}; it is not used."
            elif gap > MET * number:
                yield (
                    f"{statement!r} cannot be met together with the groups and the other statements; the probability found differs "
                    f"by {gap / number:.2g}."
                )


# Bound of the multiplier of a constraint; exp(-40) is 4e-18, so that it reaches probabilities of 0 and 1
MAX_MULTIPLIER = 40.0

# Largest deviation of an expected count from the published one, over the group's size, at which its iteration stops
COUNT_TOLERANCE = 1e-11

SCALINGS, NEWTON_STEPS = 5, 300
"""Largest number of scalings of one group, and of Newton steps after them."""

LONGEST_STEP = 8.0  # largest change of the logarithm of a factor by one Newton step

RIDGE = 1e-13  # number added to the curvature, in records, where beliefs are 0 or 1 to rounding


class _Cells(NamedTuple):
    """Records of one group that match the same constraints; they have equal beliefs. So have groups of equal counts and cells."""

    cell: IntArray  # (n,): cell of each record; -1 for records outside all groups
    kind: IntArray  # (g,): kind of each group: groups of one kind have equal counts and equal cells
    counts: IntArray  # (h, m): counts of a group of each kind
    times: FloatArray  # (h,): number of groups of each kind
    starts: IntArray  # (h + 1,): first cell of each kind
    # weight, total (q,): number of records of each cell, in one group and in all groups of its kind
    weight: FloatArray
    total: FloatArray
    matches: BoolArray  # (q, c)

    @property
    def scaling(self) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
        """Arrays that `_scaled` takes after the tilt."""
        return self.weight, self.starts, self.counts, self.times


def max_entropy_beliefs(
    group: IntArray,  # (n,): group of each record; -1 outside all groups
    counts: IntArray,  # (g, m): counts that exceed a group's records are those of records without any constraint
    constraints: LinearConstraints,
) -> MaxEntropyBeliefs:
    """Beliefs of the largest entropy whose sums over groups are the counts, and that satisfy linear constraints.

    Maximize ``-Σ_i Σ_s b[i, s] log b[i, s]`` over rows b[i] that are distributions, with ``Σ_{i in g} b[i, s] = n_gs`` and the
    constraints. The solution is ``b[i, s] ∝ y_gs exp(Σ_c μ_c [i matches c] [s = value_c])``. The dual is minimized over the
    multipliers μ by L-BFGS; for each μ the factors y of each group follow by scaling (iterative proportional fitting) and, where
    that is slow, by Newton's method.

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
