"""Estimation problem of a whole history as arrays, with its layout and components, and the posterior that a solver returns."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.problem import probability_rows
from foreknow.models.progress import Progress
from foreknow.models.settings import check_kind, check_shape, counted

MAX_STATES = 2**31
"""Largest number of states of all records together; three arrays of 8 bytes each take 48 GiB."""


class Layout(NamedTuple):
    """Arrays derived from a `JointProblem`, as compiled kernels read them.

    The values of a record are those that its group shows, or the whole domain where no multiset restricts them. The states of a
    record are the sequences of the values of the last d records of its path, oldest first; the last value varies fastest.
    """

    # previous, following (R,): record before and after each record on its path; -1 where there is none
    previous: IntArray
    following: IntArray
    group_starts: IntArray  # (G + 1,): records of group g: ``group_starts[g]`` to ``group_starts[g + 1]``
    release_starts: IntArray  # (T + 1,): groups of release t: ``release_starts[t]`` to ``release_starts[t + 1]``
    # (G + 1,): values of the records of group g: positions ``value_starts[g]`` to ``value_starts[g + 1]`` of ``values``
    value_starts: IntArray
    values: IntArray  # (V,): values, as codes of the domain
    shown: FloatArray  # (V,): published count of each value; 0 in groups that publish none
    state_starts: IntArray  # (R + 1,): states of record r: positions ``state_starts[r]`` to ``state_starts[r + 1]``
    # (S,): row of ``table`` that each state selects for the transition to the next record; 0 for the last record of a path
    state_rows: IntArray
    table: FloatArray  # (Q, m): rows of all transition tables
    # path, group, prior, evidence, evidence_row, emission, emission_row, pairs, pair_table, pair_tables: those of the problem
    path: IntArray
    group: IntArray
    prior: FloatArray
    evidence: FloatArray
    evidence_row: IntArray
    emission: FloatArray
    emission_row: IntArray
    pairs: IntArray
    pair_table: IntArray
    pair_tables: FloatArray
    # (R + 1,): pairs of record r: ``related_starts[r]`` to ``related_starts[r + 1]`` of ``related``
    related_starts: IntArray
    related: IntArray  # (2 P,): numbers of pairs, by record
    # count_logs, count_start, largest_count: those of the problem
    count_logs: FloatArray
    count_start: IntArray
    largest_count: int


def layout(problem: "JointProblem") -> Layout:
    """Layout of the records of a problem; raise ValueError if the states are more than `MAX_STATES`. Cost: O(R log R + S)."""
    group, counts, release, tables = problem.group, problem.counts, problem.release, problem.tables
    (groups, m), order = counts.shape, max(len(tables), 1)
    previous, following, known = _neighbours(problem.path, release[group], order)
    possible = (counts > 0) | ~problem.constrained[:, None] | (problem.emission_row >= 0)[:, None]
    value_starts = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    owner, values = np.nonzero(possible)
    states = _numbers_of_states(previous, group, np.diff(value_starts), order)
    state_starts = np.concatenate([[0], np.cumsum(states, dtype=np.float64)])
    if state_starts[-1] > MAX_STATES:
        raise ValueError(
            f"JointProblem: {len(group)} records have {state_starts[-1]:.3g} states over sequences of {order} values, more than "
            f"{MAX_STATES}. Use a chain of a smaller order, as transitions.truncate(1), or fewer records."
        )
    state_starts = state_starts.astype(np.int64)
    sizes = np.array([table.size // (m * len(table)) for table in tables], dtype=np.int64)
    offsets = np.cumsum([0, *(table.size // m for table in tables)])[:-1].astype(np.int64)
    places = (previous, following, known, state_starts, value_starts, values.astype(np.int64), group, problem.chain)
    return Layout(
        previous,
        following,
        np.searchsorted(group, np.arange(groups + 1)),
        np.searchsorted(release, np.arange(problem.releases + 1)),
        value_starts,
        values.astype(np.int64),
        counts[owner, values].astype(np.float64),
        state_starts,
        _state_rows(*places, offsets, sizes, m),
        np.vstack([np.zeros((0, m)), *(np.reshape(table, (-1, m)) for table in tables)]),
        problem.path,
        group,
        problem.prior,
        problem.evidence,
        problem.evidence_row,
        problem.emission,
        problem.emission_row,
        problem.pairs,
        problem.pair_table,
        problem.pair_tables,
        np.searchsorted(np.sort(problem.pairs, axis=None), np.arange(len(group) + 1)),
        np.argsort(problem.pairs, axis=None, kind="stable") // 2,
        problem.count_logs,
        problem.count_start,
        problem.largest_count,
    )


def _neighbours(path: IntArray, when: IntArray, order: int) -> tuple[IntArray, IntArray, IntArray]:
    """Previous and following record of each record, and the number of values in its state, at most ``order``."""
    by_path = np.lexsort((when, path))
    same = path[by_path][1:] == path[by_path][:-1]
    previous, following, known = np.full((3, len(path)), -1, dtype=np.int64)
    previous[by_path[1:][same]] = by_path[:-1][same]
    following[by_path[:-1][same]] = by_path[1:][same]
    numbers = np.arange(len(path))
    first = np.maximum.accumulate(np.where(np.append(True, ~same)[: len(path)], numbers, 0))
    known[by_path] = np.minimum(numbers - first + 1, order)
    return previous, following, known


@compiled
def _numbers_of_states(previous: IntArray, group: IntArray, width: IntArray, order: int) -> FloatArray:
    """Number of states of each record: product of the numbers of values of the last ``order`` records of its path."""
    states = np.zeros(len(group))
    for r in range(len(group)):
        states[r] = 1.0
        at = r
        for _ in range(order):
            if at >= 0:
                states[r] *= width[group[at]]
                at = previous[at]
    return states


@compiled
def _state_rows(
    previous: IntArray,
    following: IntArray,
    known: IntArray,
    state_starts: IntArray,
    value_starts: IntArray,
    values: IntArray,
    group: IntArray,
    chain: IntArray,
    offsets: IntArray,
    sizes: IntArray,
    m: int,
) -> IntArray:
    """Row of the transition tables that each state selects.

    The states are mixed-radix numbers of positions among the possible values; the rows are numbers of base m of values.
    """
    rows = np.zeros(state_starts[-1], dtype=np.int64)
    for r in range(len(group)):
        if following[r] < 0:
            continue
        # First row of the law of the next record after ``known`` values.
        base = offsets[known[r] - 1] + chain[following[r]] * sizes[known[r] - 1]
        for state in range(state_starts[r + 1] - state_starts[r]):
            rest, at, place, code = state, r, 1, 0
            # Digits of the state, the last value in the lowest place, as digits of base m.
            for _ in range(known[r]):
                start = value_starts[group[at]]
                width = value_starts[group[at] + 1] - start
                code += place * values[start + rest % width]
                rest //= width
                place *= m
                at = previous[at]
            rows[state_starts[r] + state] = base + code
    return rows


@equal_by_fields
@dataclass(frozen=True, eq=False)
class JointProblem:
    """All that an adversary holds of a history: groups, multisets, priors, transitions and claims. No true value.

    The law of the values x of all records is, with one factor for each group::

        p(x) ~ product over paths of P_i(x_i1) product over t of A(x_i,t | x_i,t-1, ..., x_i,t-d) evidence_it(x_it)
             * product over groups of 1[values of the group = published multiset]
             * product over groups of noisy counts of product over s of P(published count of s | number of s in the group)
             * product over pairs {r, q} of table[x_r, x_q]

    A path is the sequence of the records of one respondent. A counterfeit is a respondent with one record.

    Parameters
    ----------
    prior : float array, shape (N, m)
        Distribution of the first value of each path. Rows are normalized on entry.
    tables : tuple of float array, shapes (K, m, m), (K, m, m, m), ..., d arrays
        Transitions after 1, ..., d known values, for each of K chains. Rows may sum to less than 1.
    path : int array, shape (R,)
        Path of each record.
    group : int array, shape (R,)
        Group of each record, numbered over all releases, not decreasing.
    chain : int array, shape (R,)
        Chain that leads from the previous record of the path to each record.
    counts : int array, shape (G, m)
        Multiset of each group; a row of zeros for a group that publishes nothing, as of suppressed records.
    release : int array, shape (G,)
        Release of each group, 0 to T - 1, not decreasing. A path has at most one record in each release.
    evidence : float array, shape (E, m), optional
        Likelihoods of single values, as of compromised records.
    evidence_row : int array, shape (R,), optional
        Row of ``evidence`` of each record; -1 for none.
    emission : float array, shape (C, m, m), optional
        ``emission[c, x, y]`` is the probability that a record with own value x is published with value y (distorted values).
    emission_row : int array, shape (G,), optional
        Row of ``emission`` of each group; -1 where published values are the own ones.
    pairs : int array, shape (P, 2), optional
        Records of two related respondents in one release each, sorted on entry.
    pair_table : int array, shape (P,), optional
        Table of each pair.
    pair_tables : float array, shape (K, m, m), optional
        Positive symmetric factors of the values of a pair. `Enumeration`, `GroupGraph` and `PathSampler` read pairs; others refuse.
    count_logs : float array, shape (L,), optional
        Log-probabilities of noisy counts, finite.
    count_start : int array, shape (G, m), optional
        The noisy count of value s in group g has the log-probability ``count_logs[count_start[g, s] + n]`` if n of the records
        have it, concave in n; -1 for groups without. A noisy group has no multiset. Counts that differ by d may share numbers
        that begin d apart.
    largest_count : int, optional
        Largest n that is read; by default the largest size of a noisy group.
    respondents : int, optional
        Number of paths that belong to respondents; those after them are counterfeits. All by default.

    Notes
    -----
    Checked: that counts sum to the sizes of their groups, that rows of the prior sum to 1, and that pairs are of two records of one
    release with a positive symmetric table. Memory: O(number of states), at most R m^d; only shown values are stored. Arrays are
    kept in C order: kernels are compiled for one order only.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]
    path: IntArray
    group: IntArray
    chain: IntArray
    counts: IntArray
    release: IntArray
    evidence: FloatArray = None  # type: ignore[assignment]
    evidence_row: IntArray = None  # type: ignore[assignment]
    emission: FloatArray = None  # type: ignore[assignment]
    emission_row: IntArray = None  # type: ignore[assignment]
    pairs: IntArray = None  # type: ignore[assignment]
    pair_table: IntArray = None  # type: ignore[assignment]
    pair_tables: FloatArray = None  # type: ignore[assignment]
    count_logs: FloatArray = None  # type: ignore[assignment]
    count_start: IntArray = None  # type: ignore[assignment]
    largest_count: int = None  # type: ignore[assignment]
    respondents: int = None  # type: ignore[assignment]
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        m = np.shape(self.counts)[1]
        default = {
            "evidence": np.zeros((0, m)),
            "evidence_row": np.full(len(self.path), -1),
            "emission": np.zeros((0, m, m)),
            "emission_row": np.full(len(self.counts), -1),
            "pairs": np.zeros((0, 2)),
            "pair_table": np.zeros(0 if self.pairs is None else len(self.pairs)),
            "pair_tables": np.zeros((0, m, m)),
            "count_logs": np.zeros(0),
            "count_start": np.full((len(self.counts), m), -1),
        }
        for name, kind in ARRAYS.items():
            value = getattr(self, name)
            array = np.asarray(default[name] if value is None else value).astype(kind, order="C")
            object.__setattr__(self, name, array)
        tables = tuple(np.asarray(table).astype(np.float64, order="C") for table in self.tables)
        object.__setattr__(self, "tables", tables)
        if self.respondents is None:
            object.__setattr__(self, "respondents", len(self.prior))
        if self.largest_count is None:
            sizes = np.bincount(self.group, minlength=len(self.counts))
            object.__setattr__(self, "largest_count", int(sizes[self.noisy].max(initial=0)))
        _check_counts(self)
        _check_noisy(self)
        _check_pairs(self)
        pairs = np.sort(self.pairs, axis=1)
        order = np.lexsort(pairs.T[::-1])
        set_fields(self, pairs=pairs[order], pair_table=self.pair_table[order])
        object.__setattr__(self, "prior", probability_rows(self.prior, "the prior of path"))
        object.__setattr__(self, "layout", layout(self))

    @property
    def values(self) -> int:
        """Size m of the sensitive domain."""
        return int(self.counts.shape[1])

    @property
    def order(self) -> int:
        """Order d of the chains."""
        return len(self.tables)

    @property
    def releases(self) -> int:
        """Number T of releases."""
        return int(self.release[-1]) + 1 if len(self.release) else 0

    @property
    def constrained(self) -> BoolArray:
        """True for groups that publish a multiset: bool array, shape ``(G,)``."""
        return np.asarray(self.counts.any(axis=1))

    @property
    def noisy(self) -> BoolArray:
        """True for groups that publish noisy counts: bool array, shape ``(G,)``."""
        return np.asarray((self.count_start >= 0).any(axis=1))


ARRAYS: dict[str, Any] = dict.fromkeys(
    (
        "path",
        "group",
        "chain",
        "counts",
        "release",
        "evidence_row",
        "emission_row",
        "pairs",
        "pair_table",
        "count_start",
    ),
    np.int64,
)
ARRAYS |= dict.fromkeys(("prior", "evidence", "emission", "pair_tables", "count_logs"), np.float64)
"""Type of each array of a `JointProblem`."""


def _check_counts(problem: JointProblem) -> None:
    """Raise ValueError unless the counts of each group that publishes them sum to its number of records."""
    sizes, shown = np.bincount(problem.group, minlength=len(problem.counts)), problem.counts.sum(axis=1)
    unfit = problem.constrained & (shown != sizes)
    if unfit.any():
        g = int(unfit.argmax())
        raise ValueError(
            f"JointProblem: group {g} has {sizes[g]} records and counts that sum to {shown[g]}; a group shows one value per "
            "record. Add a path for each counterfeit."
        )


def _check_noisy(problem: JointProblem) -> None:
    """Raise ValueError unless groups of noisy counts have likelihoods of each number of records, and no multiset."""
    logs, noisy = problem.count_logs, problem.noisy
    if not noisy.any():
        return
    sizes = np.bincount(problem.group, minlength=len(problem.counts))
    check_shape("JointProblem: count_start", problem.count_start, (len(sizes), problem.values), "of each value")
    first, most = problem.count_start[noisy], problem.largest_count
    if first.min() < 0 or first.max() + most >= len(logs) or sizes[noisy].max() > most or not np.isfinite(logs).all():
        raise ValueError(
            f"JointProblem: count_logs have {len(logs)} numbers; they are finite, and each value of a noisy group has one for each "
            f"number of records from 0 to {most}, the largest_count, that is at least the size of the group."
        )
    if (noisy & (problem.constrained | (problem.emission_row >= 0))).any():
        raise ValueError("JointProblem: a group has noisy counts, and a multiset or distorted values beside them.")


def check_no_noise(owner: str, problem: JointProblem) -> None:
    """Raise ValueError if a problem has noisy counts, for what does not read them."""
    if problem.noisy.any():
        raise ValueError(
            f"{owner} does not read noisy counts; MaxEntropy(), GroupGraph(), PathSampler(rng=...) and Enumeration() do."
        )


def _check_pairs(problem: JointProblem) -> None:
    """Raise ValueError unless pairs are of two records of one release each, and have a positive symmetric table."""
    pairs, tables, m = problem.pairs, problem.pair_tables, problem.values
    check_shape("JointProblem: pairs", pairs, (len(pairs), 2), "two records each")
    check_shape("JointProblem: pair_table", problem.pair_table, (len(pairs),), "the table of each pair")
    check_shape("JointProblem: pair_tables", tables, (len(tables), m, m), "a factor of two values each")
    if not len(pairs):
        return
    inside = (pairs >= 0) & (pairs < len(problem.path))
    if not inside.all() or not ((problem.pair_table >= 0) & (problem.pair_table < len(tables))).all():
        raise ValueError(
            f"JointProblem: a pair has a record or a table that is none of {len(problem.path)} and {len(tables)}."
        )
    when = problem.release[problem.group[pairs]]
    wrong = (pairs[:, 0] == pairs[:, 1]) | (when[:, 0] != when[:, 1])
    if wrong.any():
        raise ValueError(
            f"JointProblem: the pair {pairs[wrong.argmax()].tolist()} is not of two records of one release."
        )
    if not ((tables > 0) & np.isfinite(tables)).all() or not np.allclose(
        tables, tables.transpose(0, 2, 1), rtol=1e-9, atol=0
    ):
        raise ValueError("JointProblem: a table of pairs is not positive, finite and symmetric.")


PAIR_SOLVERS = (
    "Enumeration() and PathSampler(rng=...) do, and GroupGraph() where chains are of order 1 and no value is distorted"
)
"""Solvers that read relations."""


def check_no_pairs(owner: str, problem: JointProblem, readers: str = PAIR_SOLVERS) -> None:
    """Raise ValueError if a problem has pairs of related records, for what does not read them, with the names of what does."""
    if len(problem.pairs):
        raise ValueError(
            f"{owner} does not read relations, and the history has {counted(len(problem.pairs), 'pair')} of related records; "
            f"{readers}. Leave them out knowingly: adversary.without('relations')."
        )


def without_pairs(problem: JointProblem) -> JointProblem:
    """The problem without relations."""
    return (
        replace(problem, pairs=problem.pairs[:0], pair_table=problem.pair_table[:0]) if len(problem.pairs) else problem
    )


def first_releases(problem: JointProblem, releases: int) -> JointProblem:
    """Problem of the first releases of a problem; paths keep their numbers. Cost: that of the layout."""
    groups = int(problem.layout.release_starts[releases])
    records = int(problem.layout.group_starts[groups])
    pairs = int(np.searchsorted(problem.pairs[:, 0], records))
    return replace(
        problem,
        pairs=problem.pairs[:pairs],
        pair_table=problem.pair_table[:pairs],
        path=problem.path[:records],
        group=problem.group[:records],
        chain=problem.chain[:records],
        counts=problem.counts[:groups],
        release=problem.release[:groups],
        evidence_row=problem.evidence_row[:records],
        emission_row=problem.emission_row[:groups],
        count_start=problem.count_start[:groups],
    )


def components(problem: JointProblem) -> list[IntArray]:
    """Records of each connected component, ascending; components are numbered by their first record. Cost: O(R log R).

    Paths of one component are connected by groups that publish a multiset, and by pairs. Groups that publish none connect nothing.
    The joint law is the product of the laws of the components.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    paths, tied = len(problem.prior), (problem.constrained | problem.noisy)[problem.group]
    related, nodes = problem.path[problem.pairs], paths + len(problem.counts)
    ends = (
        np.concatenate([problem.path[tied], related[:, 0]]),
        np.concatenate([paths + problem.group[tied], related[:, 1]]),
    )
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(nodes, nodes))
    label = connected_components(graph, directed=False)[1][problem.path]
    by_label = np.argsort(label, kind="stable")
    parts = np.split(by_label, np.flatnonzero(np.diff(label[by_label])) + 1)
    return sorted((part for part in parts if len(part)), key=lambda part: int(part[0]))


def sub_problem(problem: JointProblem, records: IntArray) -> JointProblem:
    """Problem of some records alone: all records of some components, ascending. Cost: O(r log r + N + G).

    Records, paths and groups are in the order of the problem, numbered anew. Releases keep their numbers, and records their
    possible values. Of a group without counts, a part of the records is enough. Not checked: that the records hold the whole of
    each path.
    """
    records = np.asarray(records, dtype=np.int64)
    paths, path = np.unique(problem.path[records], return_inverse=True)
    groups, group = np.unique(problem.group[records], return_inverse=True)
    inside = np.isin(problem.pairs[:, 0], records)
    return replace(
        problem,
        pairs=np.searchsorted(records, problem.pairs[inside]),
        pair_table=problem.pair_table[inside],
        prior=problem.prior[paths],
        path=path,
        group=group,
        chain=problem.chain[records],
        counts=problem.counts[groups],
        release=problem.release[groups],
        evidence_row=problem.evidence_row[records],
        emission_row=problem.emission_row[groups],
        count_start=problem.count_start[groups],
        respondents=int((paths < problem.respondents).sum()),
    )


@equal_by_fields
@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Posterior beliefs about all records of a history.

    Attributes
    ----------
    problem : JointProblem
    beliefs : float array, shape (B,)
        Belief in each possible value of each record; those of record r are at ``starts[r]`` to ``starts[r + 1]``.
    status : int array, shape (G,)
        `Status` of each group.
    gap : float array, shape (G,)
        Share of the records of each group by which its expected counts differ from the published ones (total variation); 0 for
        solvers that keep the counts.
    rounds : int
        Sweeps of an iteration.
    standard_error, ess, rhat : float array, shape (B,), optional
        Monte Carlo diagnostics of each belief, from solvers that sample.
    rule : str
        Name of the solver.
    log_evidence : float, optional
        Logarithm of the probability of all published counts, from exact solvers, and from `GroupGraph` where it keeps no counts by
        tilts.
    log_tilted : float, optional
        Negative dual of minimum relative entropy, from `MaxEntropy`. `joint_log_evidence` completes it.
    relaxed : JointPosterior, optional
        Posterior of `MaxEntropy` with which the solver started; `joint_log_evidence` reads it.
    approximation : joint solver, optional
        `MaxEntropy`, `GroupMessages` or `GroupGraph`, where it approximates the law of some records.
    """

    problem: JointProblem
    beliefs: FloatArray
    status: IntArray
    gap: FloatArray
    rounds: int = 0
    standard_error: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    rule: str = ""
    log_evidence: float | None = None
    log_tilted: float | None = None
    relaxed: "JointPosterior | None" = None
    approximation: "JointSolver | None" = None

    @property
    def starts(self) -> IntArray:
        """Position of the first belief of each record, and the number of beliefs: int array, shape ``(R + 1,)``."""
        return belief_starts(self.problem)

    def rows(self, records: IntArray, numbers: FloatArray | None = None) -> FloatArray:
        """Beliefs about some records over the whole domain, or the ``numbers`` in their places: shape ``(len(records), m)``."""
        at, group, starts = self.problem.layout, self.problem.group[records], self.starts
        width = np.diff(at.value_starts)[group]
        row = np.repeat(np.arange(len(records)), width)
        place = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width)
        dense = np.zeros((len(records), self.problem.values))
        source = self.beliefs if numbers is None else numbers
        dense[row, at.values[at.value_starts[group][row] + place]] = source[starts[records][row] + place]
        return dense


def belief_starts(problem: JointProblem) -> IntArray:
    """Position of the first belief of each record, in record order, and the number of beliefs."""
    width = np.diff(problem.layout.value_starts)[problem.group]
    return np.concatenate([[0], np.cumsum(width)]).astype(np.int64)


def record_beliefs(problem: JointProblem, states: FloatArray) -> FloatArray:
    """Beliefs in the last value of each state: normalized sums over the states of each record, shape ``(B,)``."""
    at, starts = problem.layout, belief_starts(problem)
    width = np.diff(starts)
    record = np.repeat(np.arange(len(width)), np.diff(at.state_starts))
    place = (np.arange(len(record)) - at.state_starts[record]) % width[record]
    beliefs = np.bincount(starts[record] + place, weights=states, minlength=int(starts[-1]))
    totals = np.add.reduceat(beliefs, starts[:-1]) if len(width) else beliefs
    return np.asarray(beliefs / np.repeat(totals, width))


@runtime_checkable
class JointSolver(Protocol):
    """Rule that computes the posterior of a joint problem; a frozen settings object."""

    exact: ClassVar[bool]
    """True if it computes the Bayesian posterior without approximation."""

    # A solver has the class attributes reads and ignores, as an attack; without them it reads `ROW_PARTS`.

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given all releases."""
        ...

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it."""
        ...


def check_is_solver(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is a solver object."""
    check_kind(owner, name, value, JointSolver, "is a joint solver, as MaxEntropy() or PathSampler(rng=1)")


def with_progress(solver: JointSolver, progress: Progress) -> JointSolver:
    """The solver with a progress of its own, if it takes one; else the solver unchanged."""
    if is_dataclass(solver) and any(setting.name == "progress" for setting in fields(solver)):
        return replace(solver, progress=progress)
    return solver


def solved(
    solver: JointSolver,
    problem: JointProblem,
    hindsight: bool,
    prefix: Callable[[JointProblem, int], JointProblem] | None = None,
) -> JointPosterior:
    """Posterior of each release given all releases, or without ``hindsight`` given those up to it.

    ``prefix`` is that of `forward_by_prefixes`, where the evidence of records depends on later releases: each prefix of the
    history is then another problem.
    """
    if hindsight:
        return solver(problem)
    if prefix is None:
        return solver.forward(problem)
    progress = getattr(solver, "progress", None) or iter
    return forward_by_prefixes(with_progress(solver, iter), problem, progress, prefix)


def forward_by_prefixes(
    solver: JointSolver,
    problem: JointProblem,
    progress: Progress = iter,
    prefix: Callable[[JointProblem, int], JointProblem] | None = None,
    threads: int = 1,
) -> JointPosterior:
    """Posterior of each release given the releases up to it, by a solution of each prefix: T times the cost of a solver.

    One item of ``progress`` is taken before each prefix. ``prefix`` returns the problem of the first releases, `first_releases` by
    default; another one where the evidence of records depends on later releases. Several ``threads`` are for solvers without a
    random state.
    """
    if not problem.releases:
        return solver(problem)
    at, of_first = problem.layout, prefix or first_releases
    lengths = range(1, problem.releases + 1)
    # The longest first, so that no thread is left with it alone; in order of time for a solver with a random state.
    order = lengths if threads == 1 else lengths[::-1]
    with ThreadPoolExecutor(threads) as pool:
        solutions = (pool.map if threads > 1 else map)(lambda length: solver(of_first(problem, length)), order)
        found = dict(zip(progress(order), solutions, strict=True))
    parts = [found[length] for length in lengths]
    groups = [slice(at.release_starts[t], at.release_starts[t + 1]) for t in range(len(parts))]
    beliefs = [slice(*part.starts[at.group_starts[[g.start, g.stop]]]) for part, g in zip(parts, groups, strict=True)]

    def joined(name: str, places: list[slice]) -> Any:
        arrays = [getattr(part, name) for part in parts]
        if any(array is None for array in arrays):
            return None
        return np.concatenate([array[own] for array, own in zip(arrays, places, strict=True)])

    return JointPosterior(
        problem,
        **{name: joined(name, beliefs) for name in ("beliefs", "standard_error", "ess", "rhat")},
        **{name: joined(name, groups) for name in ("status", "gap")},
        rounds=max(part.rounds for part in parts),
        rule=parts[-1].rule,
        # A `GroupGraph` has the limit that it used.
        approximation=min((part.approximation for part in parts), key=lambda solver: getattr(solver, "limit", 0)),
    )
