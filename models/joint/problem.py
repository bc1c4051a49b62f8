"""Estimation problem of a whole history, as arrays."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint.layout import Layout, layout
from foreknow.models.problem import probability_rows
from foreknow.models.settings import check_kind, shown


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
        If shapes do not fit, numbers do not exist or decrease, a row is not a distribution, the counts of a group do not sum to
        its size, or the states are too many (`layout`).

    Notes
    -----
    Memory: O(number of states), at most R m^d; only shown values are stored.
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
        m = self.counts.shape[1] if self.counts.ndim == 2 else 0
        empty = np.zeros((0, m))
        optional = {
            "evidence": empty,
            "evidence_row": np.full(len(self.path), -1),
            "emission": np.zeros((0, m, m)),
            "emission_row": np.full(len(self.counts), -1),
            "respondents": len(self.prior),
        }
        for name, default in optional.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        _check_shapes(self, m)
        object.__setattr__(self, "prior", probability_rows(self.prior, "the prior of path"))
        free = ~self.constrained | (self.emission_row >= 0)
        shape = (self.path, self.group, self.chain, self.counts, self.release, free, self.tables)
        object.__setattr__(self, "layout", layout(*shape))

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


def _integers(name: str, value: Any) -> IntArray:
    array = np.asarray(value)
    if array.dtype.kind not in "iub":
        raise TypeError(f"JointProblem: {name} is {shown(value)}; it is an array of integers.")
    return array.astype(np.int64)


def _check_shapes(problem: JointProblem, m: int) -> None:
    """Raise ValueError unless shapes fit and numbers exist."""
    records, groups = len(problem.path), len(problem.counts)
    shapes = {
        "prior": (len(problem.prior), m),
        "path": (records,),
        "group": (records,),
        "chain": (records,),
        "counts": (groups, m),
        "release": (groups,),
        "evidence_row": (records,),
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
    limits = {"path": len(problem.prior), "group": groups, "chain": max(chains, 1)}
    for name, limit in limits.items():
        numbers = getattr(problem, name)
        if records and not (numbers.min() >= 0 and numbers.max() < limit):
            raise ValueError(f"JointProblem: {name} holds numbers outside 0..{limit - 1}.")
    for name in ("group", "release"):
        if (np.diff(getattr(problem, name)) < 0).any():
            raise ValueError(f"JointProblem: {name} decreases; sort records by group, and groups by release.")
    sizes = np.bincount(problem.group, minlength=groups)
    unfit = problem.counts.any(axis=1) & (problem.counts.sum(axis=1) != sizes)
    if unfit.any():
        g = int(unfit.argmax())
        raise ValueError(
            f"JointProblem: group {g} has {sizes[g]} records and counts that sum to {problem.counts[g].sum()}; a group shows one "
            "value per record. Add a path for each counterfeit."
        )


def check_joint_problem(solver: object, problem: Any) -> None:
    """Raise TypeError unless a solver is called with a `JointProblem`."""
    takes = "is a JointProblem; make one by joint_history(adversary, observations).problem"
    check_kind(type(solver).__name__, "problem", problem, JointProblem, takes)


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
