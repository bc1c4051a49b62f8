"""Estimation problem of a whole history, as arrays."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.layout import Layout, layout
from foreknow.models.problem import ROW_SUM_TOLERANCE, probability_rows
from foreknow.models.settings import as_floats, check_kind, is_whole, shown


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
