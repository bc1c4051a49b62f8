"""Estimation problem of a whole history, as arrays: its layout for message passing, and its connected components."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import ROW_SUM_TOLERANCE, group_rows, probability_rows
from foreknow.models.settings import as_floats, check_kind, is_whole, shown

MAX_STATES = 2**31
"""Largest number of states of all records together; three arrays of 8 bytes each take 48 GiB."""


class Layout(NamedTuple):
    """Arrays derived from a `JointProblem`, as compiled kernels read them.

    The values of a record are those that its group shows, or the whole domain where no multiset restricts them. The states of a
    record are the sequences of the values of the last d records of its path, oldest first; the last value varies fastest.

    Attributes
    ----------
    previous, following : int array, shape (R,)
        Record before and after each record on its path; -1 where there is none.
    group_starts : int array, shape (G + 1,)
        Records of group g: ``group_starts[g]`` to ``group_starts[g + 1]``.
    release_starts : int array, shape (T + 1,)
        Groups of release t: ``release_starts[t]`` to ``release_starts[t + 1]``.
    value_starts : int array, shape (G + 1,)
        Values of the records of group g: positions ``value_starts[g]`` to ``value_starts[g + 1]`` of ``values``.
    values : int array, shape (V,)
        Values, as codes of the domain.
    shown : float array, shape (V,)
        Published count of each value; 0 in groups that publish none.
    state_starts : int array, shape (R + 1,)
        States of record r: positions ``state_starts[r]`` to ``state_starts[r + 1]``.
    state_rows : int array, shape (S,)
        Row of ``table`` that each state selects for the transition to the next record; 0 for the last record of a path.
    table : float array, shape (Q, m)
        Rows of all transition tables.
    """

    previous: IntArray
    following: IntArray
    group_starts: IntArray
    release_starts: IntArray
    value_starts: IntArray
    values: IntArray
    shown: FloatArray
    state_starts: IntArray
    state_rows: IntArray
    table: FloatArray


def layout(
    path: IntArray,
    group: IntArray,
    chain: IntArray,
    counts: IntArray,
    release: IntArray,
    free: BoolArray,
    tables: tuple[FloatArray, ...],
) -> Layout:
    """Layout of the records of a problem; ``free`` is True for groups whose records can have any value of the domain.

    Raises
    ------
    ValueError
        If the states are more than `MAX_STATES`.

    Notes
    -----
    Cost: O(R log R + S).
    """
    (groups, m), order = counts.shape, max(len(tables), 1)
    previous, following, known = _neighbours(path, release[group], order)
    possible = (counts > 0) | free[:, None]
    value_starts = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    owner, values = np.nonzero(possible)
    states = _numbers_of_states(previous, group, np.diff(value_starts), order)
    state_starts = np.concatenate([[0], np.cumsum(states, dtype=np.float64)])
    if state_starts[-1] > MAX_STATES:
        raise ValueError(
            f"JointProblem: {len(path)} records have {state_starts[-1]:.3g} states over sequences of {order} values, more than "
            f"{MAX_STATES}. Use a chain of a smaller order, as transitions.truncate(1), or fewer records."
        )
    state_starts = state_starts.astype(np.int64)
    sizes = np.array([table.size // (m * len(table)) for table in tables], dtype=np.int64)
    offsets = np.cumsum([0, *(table.size // m for table in tables)])[:-1]
    arguments = (previous, following, known, state_starts, value_starts, values.astype(np.int64), group, chain)
    return Layout(
        previous,
        following,
        np.searchsorted(group, np.arange(groups + 1)),
        np.searchsorted(release, np.arange((release[-1] + 1 if groups else 0) + 1)),
        value_starts,
        values.astype(np.int64),
        counts[owner, values].astype(np.float64),
        state_starts,
        _state_rows(*arguments, offsets.astype(np.int64), sizes, m),
        np.vstack([np.zeros((0, m)), *(np.reshape(table, (-1, m)) for table in tables)]),
    )


def _neighbours(path: IntArray, when: IntArray, order: int) -> tuple[IntArray, IntArray, IntArray]:
    """Previous and following record of each record, and the number of values in its state, at most ``order``."""
    by_path = np.lexsort((when, path))
    same = path[by_path][1:] == path[by_path][:-1]
    previous, following = np.full(len(path), -1, dtype=np.int64), np.full(len(path), -1, dtype=np.int64)
    previous[by_path[1:][same]] = by_path[:-1][same]
    following[by_path[:-1][same]] = by_path[1:][same]
    first = (
        np.maximum.accumulate(np.where(np.concatenate([[True], ~same]), np.arange(len(path)), 0))
        if len(path)
        else by_path
    )
    known = np.zeros(len(path), dtype=np.int64)
    known[by_path] = np.minimum(np.arange(len(path)) - first + 1, order)
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
        base = offsets[known[r] - 1] + chain[following[r]] * sizes[known[r] - 1]
        for state in range(state_starts[r + 1] - state_starts[r]):
            rest, at, place, code = state, r, 1, 0
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
    respondents : int, optional
        Number of paths that belong to respondents; those after them are counterfeits. All by default.

    Raises
    ------
    TypeError
        If an argument is no array of numbers.
    ValueError
        If shapes do not fit, numbers do not exist or decrease, a row is not a distribution, the counts of a group are negative or
        do not sum to its size, a path has two records in a release, or the states are too many (`layout`).

    Notes
    -----
    Memory: O(number of states), at most R m^d; only shown values are stored. Arrays are kept in C order: kernels are compiled for
    one order only.
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
    respondents: int = None  # type: ignore[assignment]
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("path", "group", "chain", "counts", "release"):
            object.__setattr__(self, name, _integers(name, getattr(self, name)))
        object.__setattr__(self, "prior", _floats("prior", self.prior))
        object.__setattr__(self, "tables", _tables(self.tables))
        m = self.counts.shape[1] if self.counts.ndim == 2 else 0
        optional = {
            "evidence": (_floats, np.zeros((0, m))),
            "evidence_row": (_integers, np.full(len(self.path), -1)),
            "emission": (_floats, np.zeros((0, m, m))),
            "emission_row": (_integers, np.full(len(self.counts), -1)),
        }
        for name, (converted, default) in optional.items():
            given = getattr(self, name)
            object.__setattr__(self, name, default if given is None else converted(name, given))
        if self.respondents is None:
            object.__setattr__(self, "respondents", len(self.prior))
        _check_shapes(self, m)
        _check_numbers(self)
        _check_counts(self)
        _check_rows(self)
        object.__setattr__(self, "prior", probability_rows(self.prior, "the prior of path"))
        free = ~self.constrained | (self.emission_row >= 0)
        shape = (self.path, self.group, self.chain, self.counts, self.release, free, self.tables)
        object.__setattr__(self, "layout", layout(*shape))
        _check_releases(self)

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


def check_joint_problem(solver: object, problem: Any) -> None:
    """Raise TypeError unless a solver is called with a `JointProblem`."""
    takes = "is a JointProblem; make one by joint_history(adversary, observations).problem"
    check_kind(type(solver).__name__, "problem", problem, JointProblem, takes)


def _integers(name: str, value: Any) -> IntArray:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array("ragged")
    if array.dtype.kind not in "iub" and (array.size or array.dtype.kind != "f"):
        raise TypeError(f"JointProblem: {name} is {shown(value)}; it is an array of integers.")
    return np.atleast_1d(array.astype(np.int64, order="C"))


def _floats(name: str, value: Any) -> FloatArray:
    return np.ascontiguousarray(as_floats("JointProblem", name, value, "is an array of numbers"))


def _tables(value: Any) -> tuple[FloatArray, ...]:
    if not isinstance(value, tuple | list):
        raise TypeError(
            f"JointProblem: tables is {shown(value)}; it is a tuple of arrays, one for each length of the past."
        )
    return tuple(_floats(f"table {length}", table) for length, table in enumerate(value, start=1))


def _check_shapes(problem: JointProblem, m: int) -> None:
    """Raise ValueError unless shapes fit."""
    records, groups = len(problem.path), len(problem.counts)
    shapes = {
        "counts": (groups, m),
        "prior": (len(problem.prior), m),
        "path": (records,),
        "group": (records,),
        "chain": (records,),
        "release": (groups,),
        "evidence": (len(problem.evidence), m),
        "evidence_row": (records,),
        "emission": (len(problem.emission), m, m),
        "emission_row": (groups,),
    }
    for name, shape in shapes.items():
        if np.shape(getattr(problem, name)) != shape:
            raise ValueError(f"JointProblem: {name} has shape {np.shape(getattr(problem, name))}; it needs {shape}.")
    chains = len(problem.tables[0]) if problem.tables else 0
    for length, table in enumerate(problem.tables, start=1):
        if np.shape(table) != (chains, *(m,) * (length + 1)):
            raise ValueError(
                f"JointProblem: table {length} has shape {np.shape(table)}; it needs {(chains, *(m,) * (length + 1))}."
            )


def _check_numbers(problem: JointProblem) -> None:
    """Raise ValueError unless numbers exist, and records and groups are sorted."""
    chains = len(problem.tables[0]) if problem.tables else 1
    limits = {
        "path": (0, len(problem.prior)),
        "group": (0, len(problem.counts)),
        "chain": (0, chains),
        "release": (0, np.iinfo(np.int32).max),
        "evidence_row": (-1, len(problem.evidence)),
        "emission_row": (-1, len(problem.emission)),
    }
    for name, (least, limit) in limits.items():
        numbers = getattr(problem, name)
        if len(numbers) and not (numbers.min() >= least and numbers.max() < limit):
            raise ValueError(f"JointProblem: {name} holds numbers outside {least}..{limit - 1}.")
    for name in ("group", "release"):
        if (np.diff(getattr(problem, name)) < 0).any():
            raise ValueError(f"JointProblem: {name} decreases; sort records by group, and groups by release.")
    if not is_whole(problem.respondents, 0) or problem.respondents > len(problem.prior):
        raise ValueError(
            f"JointProblem: respondents is {shown(problem.respondents)}; it is a number of paths, from 0 to {len(problem.prior)}."
        )


def _check_counts(problem: JointProblem) -> None:
    """Raise ValueError unless the counts of each group sum to its size, or all are 0."""
    sizes = np.bincount(problem.group, minlength=len(problem.counts))
    negative = (problem.counts < 0).any(axis=1)
    unfit = negative | (problem.counts.any(axis=1) & (problem.counts.sum(axis=1) != sizes))
    if unfit.any():
        g = int(unfit.argmax())
        raise ValueError(
            f"JointProblem: group {g} has {sizes[g]} records and counts that sum to {problem.counts[g].sum()}"
            f"{', some of them negative' if negative[g] else ''}; a group shows one value per record. Add a path for each "
            "counterfeit."
        )


def _check_rows(problem: JointProblem) -> None:
    """Raise ValueError unless transitions and channels are probabilities and likelihoods are positive and finite."""
    tables = {f"table {length}": table for length, table in enumerate(problem.tables, start=1)}
    for name, table in {**tables, "emission": problem.emission}.items():
        total = table.sum(axis=-1)
        if not ((table >= 0).all() and (total <= 1 + ROW_SUM_TOLERANCE).all()):
            raise ValueError(
                f"JointProblem: {name} has a row that is no distribution; its numbers are at least 0 and sum to at most 1."
            )
    wrong = ~(np.isfinite(problem.evidence) & (problem.evidence >= 0)).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"JointProblem: row {int(wrong.argmax())} of evidence is not finite or negative; it holds the likelihood of each value."
        )


def _check_releases(problem: JointProblem) -> None:
    """Raise ValueError if a path has two records in a release."""
    previous, when = problem.layout.previous, problem.release[problem.group]
    twice = (previous >= 0) & (when == when[previous])
    if twice.any():
        r = int(twice.argmax())
        raise ValueError(
            f"JointProblem: path {problem.path[r]} has two records in release {when[r]}; a path has one value in a release."
        )


def first_releases(problem: JointProblem, releases: int) -> JointProblem:
    """Problem of the first releases of a problem; paths keep their numbers. Cost: that of the layout."""
    groups = int(problem.layout.release_starts[releases])
    records = int(problem.layout.group_starts[groups])
    return replace(
        problem,
        path=problem.path[:records],
        group=problem.group[:records],
        chain=problem.chain[:records],
        counts=problem.counts[:groups],
        release=problem.release[:groups],
        evidence_row=problem.evidence_row[:records],
        emission_row=problem.emission_row[:groups],
    )


class Components(NamedTuple):
    """Records of each connected component: those of component c are ``order[starts[c]:starts[c + 1]]``, ascending.

    Paths of one component are connected by groups that publish a multiset. Groups that publish none connect nothing. The joint
    law is the product of the laws of the components.

    Attributes
    ----------
    order : int array, shape (R,)
    starts : int array, shape (C + 1,)
    """

    order: IntArray
    starts: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def records(self, component: int) -> IntArray:
        """Records of a component, ascending."""
        return self.order[self.starts[component] : self.starts[component + 1]]


def components(problem: JointProblem) -> Components:
    """Connected components of a problem, numbered by their first record. Cost: O(R log R)."""
    paths, groups = len(problem.prior), len(problem.counts)
    tied = problem.constrained[problem.group]
    ends = (problem.path[tied], paths + problem.group[tied])
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(int(tied.sum()), dtype=np.int8), ends), shape=(paths + groups, paths + groups))
    _, label = connected_components(graph, directed=False)
    of_record = label[problem.path]
    _, first, number = np.unique(of_record, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return Components(*group_rows(place[number], len(first)))


def sub_problem(problem: JointProblem, records: IntArray) -> JointProblem:
    """Problem of some records alone.

    Parameters
    ----------
    problem : JointProblem
    records : int array, shape (r,)
        Ascending, without repetition: all records of some components. Of a group without counts, a part of the records is enough.

    Returns
    -------
    JointProblem
        Its records, paths and groups are in the order of the problem, numbered anew. Releases keep their numbers, and records
        keep their possible values.

    Raises
    ------
    ValueError
        If the records hold only a part of a group that publishes a multiset.

    Notes
    -----
    Not checked: that the records hold the whole of each path. Cost: O(r log r + N + G).
    """
    records = np.asarray(records, dtype=np.int64)
    paths, path = np.unique(problem.path[records], return_inverse=True)
    groups, group = np.unique(problem.group[records], return_inverse=True)
    return replace(
        problem,
        prior=problem.prior[paths],
        path=path,
        group=group,
        chain=problem.chain[records],
        counts=problem.counts[groups],
        release=problem.release[groups],
        evidence_row=problem.evidence_row[records],
        emission_row=problem.emission_row[groups],
        respondents=int((paths < problem.respondents).sum()),
    )
