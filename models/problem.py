"""Estimation problem of a release and its posterior, as arrays; rows of probabilities and their divergence."""

import math
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import as_floats, check_kind, check_shape
from foreknow.models.tables.columns import coordinates
from foreknow.models.unknown_draws import UnknownDraws, unknowns_tree

if TYPE_CHECKING:
    import xarray

    from foreknow.models.tables.people import Observation

ROW_SUM_TOLERANCE = 1e-6
"""Largest difference from 1 of the sum of a row of probabilities. Within it, rows are normalized on entry, and negative
rounding errors are set to 0."""


ROW_PARTS = ("prior", "transitions", "compromised", "presence", "mechanism", "own")
"""Parts of an adversary's knowledge that reach a rule as prior rows, transitions and evidence of records: what it reads unless its
class attributes ``reads`` and ``ignores`` say otherwise."""


class Status(IntFlag):
    """Flags that an estimator sets for a group, beside its posterior."""

    FINE = 0
    CONTRADICTED = 1
    """The knowledge rules out what the release shows. The posterior is that of the same knowledge mixed with the uniform
    distribution of weight `DOUBT`, or the shares of the group where the docstring of the estimator says so."""
    UNCONVERGED = 2
    """An iteration stopped at its limit before it met its tolerance, chains of draws disagree, or a sampler diverged."""
    CYCLES = 4
    """Messages between groups reach it over a cycle, or come from tilted groups: approximate (`GroupGraph`)."""
    TILTED = 8
    """Its counts, or those that its edges carry, are kept by a normal law or in expectation: approximate (`GroupGraph`)."""


CONTRADICTED = int(Status.CONTRADICTED)
UNCONVERGED = int(Status.UNCONVERGED)
CYCLES = int(Status.CYCLES)
TILTED = int(Status.TILTED)
"""The same flags as integers, for compiled kernels."""

DOUBT = 1e-12
"""Weight of the uniform distribution that is mixed into knowledge which a release contradicts."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Problem:
    """Estimation problem of a release: priors of the respondents, their groups, and the counts of each group.

    Parameters
    ----------
    prior : float array, shape (n, m)
        Rows are probabilities over the sensitive domain; they are normalized on entry.
    group : int array, shape (n,)
        Group of each respondent, 0 to g - 1, or -1 outside all groups.
    counts : int array, shape (g, m)
        Multiset of each group; ``counts[j]`` sums to the number of respondents in group j.
    evidence : float array, shape (n, m), optional
        Pseudo-counts for knowledge of single respondents: ``evidence[i, s]`` is added to the Dirichlet parameter of every
        assignment in which respondent i has value s (BayFrame, Definition 6). Only estimators over such parameters read it, as
        `DirichletMultinomial`; the others refuse a problem that has it.
    observation : Observation, optional
        Release of the problem, for programs that read its respondents (`ProgramEstimator`); by keyword. The rows of its respondents
        come first, those of counterfeits behind them. No other estimator reads it, and problems are compared without it.
    """

    prior: FloatArray
    group: IntArray
    counts: IntArray
    evidence: FloatArray | None = None
    observation: "Observation | None" = field(default=None, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        prior = as_floats("Problem", "prior", self.prior, "is a float array of shape (n, m), a distribution per row")
        group, counts = np.asarray(self.group), np.asarray(self.counts)
        for name, array in (("group", group), ("counts", counts)):
            if array.dtype.kind not in "biu":
                raise ValueError(f"{name} must be whole numbers, an array of an integer type; got {array.dtype}.")
        if prior.ndim != 2 or counts.ndim != 2 or prior.shape[1] != counts.shape[1] or group.shape != prior.shape[:1]:
            raise ValueError(
                f"a problem needs prior (n, m), group (n,) and counts (g, m); got {prior.shape}, {group.shape} and {counts.shape}."
            )
        group, counts = group.astype(np.int64, order="C"), counts.astype(np.int64, order="C")
        check_groups(group, counts)
        set_fields(self, prior=probability_rows(prior, "the prior of respondent in row"), group=group, counts=counts)
        if self.evidence is not None:
            object.__setattr__(self, "evidence", _pseudo_counts(self.evidence, prior.shape))

    def refuse_evidence(self, estimator: object) -> None:
        """Raise ValueError if there is evidence; called by estimators that cannot read it."""
        if self.evidence is not None:
            raise ValueError(
                f"the problem has evidence (pseudo-counts of compromised records) and {estimator!r} cannot read it. Use "
                "DirichletMultinomial or Mixed, or let the records enter the prior (PriorCascade, EvidenceCascade)."
            )

    @property
    def sizes(self) -> IntArray:
        """Number of respondents of each group: int array, shape ``(g,)``."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def coords(self) -> dict[str, Any]:
        """Labels of ``respondent`` and ``value``, as ``pymc.Model(coords=problem.coords)`` takes them; numbers without observation.

        A counterfeit has the label ``counterfeit`` and its number.
        """
        n, m = self.prior.shape
        if self.observation is None:
            return {"respondent": list(range(n)), "value": list(range(m))}
        people = self.observation.people
        invented = [f"counterfeit {number}" for number in range(n - len(people))]
        labels = {"respondent": [*people.respondents, *invented], "value": people.schema.values}
        return {name: list(coordinates(each)) for name, each in labels.items()}


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior beliefs of a release.

    Attributes
    ----------
    probabilities : float array, shape (n, m)
        Rows are probabilities; the row of a respondent outside all groups is the row of the prior.
    status : int array, shape (g,)
        `Status` of each group.
    standard_error : float array, shape (n, m), optional
        Monte Carlo standard error of each probability, from estimators that sample.
    ess, rhat : float array, shape (n, m), optional
        Effective sample size and R-hat of each probability, from estimators that sample.
    rule : object array of str, shape (g,), optional
        Name of the rule by which each group was computed, from estimators that choose.
    error : float array, shape (g,), optional
        Estimated largest error of a belief of each group, from estimators that use the law of large numbers for large groups:
        0 where the computation is exact, NaN where no estimate is known.
    divergences : int array, shape (g,), optional
        Number of divergent draws among those that the posterior of each group averages, from estimators that sample by NUTS. A
        group with one has status `UNCONVERGED`.
    unknown_draws : tuple of UnknownDraws
        Draws of the free variables of a program, for each group or for the release; ``unknowns`` is their DataTree.
    """

    probabilities: FloatArray
    status: IntArray
    standard_error: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    rule: ObjectArray | None = None
    error: FloatArray | None = None
    divergences: IntArray | None = None
    unknown_draws: tuple[UnknownDraws, ...] = ()

    @property
    def unknowns(self) -> "xarray.DataTree | None":
        """Draws of the free variables of a program (`ProgramEstimator`), as a DataTree for ArviZ; None without any.

        Its group ``posterior`` has the variables, with the dimensions chain and draw, then ``group`` (the number of the group in
        the release) if each group was sampled by itself, then those that the program names. Coordinates are the program's labels. A
        number is NaN where a group has no such entry. Cost: a copy of all draws.
        """
        return unknowns_tree({None: self.unknown_draws})

    def first(self, n: int) -> "Posterior":
        """Posterior of the first n respondents, as without the counterfeits behind them."""
        rows = {name: getattr(self, name) for name in ("probabilities", "standard_error", "ess", "rhat")}
        return replace(self, **{name: array[:n] for name, array in rows.items() if array is not None})


class GroupRows(NamedTuple):
    """Row numbers sorted by group: the rows of group j are ``order[starts[j]:starts[j + 1]]``.

    Attributes
    ----------
    order : int array, shape (n,)
    starts : int array, shape (g + 1,)
    """

    order: IntArray
    starts: IntArray


def group_rows(group: IntArray, groups: int) -> GroupRows:
    """Rows of each of ``groups`` groups, in their original order; rows of group -1 are left out. Cost: O(n log n)."""
    order = np.argsort(group, kind="stable")
    return GroupRows(order, np.searchsorted(group[order], np.arange(groups + 1)))


def chosen_groups(problem: Problem, chosen: BoolArray) -> Problem:
    """Problem with the chosen groups only; respondents of other groups are outside all groups."""
    group = np.where(np.append(chosen, False)[problem.group], problem.group, -1)
    return replace(problem, group=group, counts=np.where(chosen[:, None], problem.counts, 0))


@runtime_checkable
class Estimator(Protocol):
    """Rule that computes a posterior from a problem; a frozen settings object."""

    exact: ClassVar[bool]
    """True if it computes the Bayesian posterior of its prior without approximation."""

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        ...


def check_is_estimator(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is an estimator: an object that can be called and has the flag ``exact``."""
    takes = (
        "is an estimator object, as Exact() or Auto(). Make one of a function of the prior (k, m) and the counts (m,) of one group "
        "by PerGroup(function), and of a PyMC program by ProgramEstimator(program, rng=1)"
    )
    check_kind(owner, name, value, Estimator, takes)


def are_probabilities(rows: FloatArray) -> BoolArray:
    """True for rows that hold no NaN and no negative number and sum to 1, all within `ROW_SUM_TOLERANCE`."""
    with np.errstate(invalid="ignore", over="ignore"):
        # A sum with a NaN or an infinity is not near 1.
        near = np.abs(rows.sum(axis=-1) - 1) <= ROW_SUM_TOLERANCE
        return np.asarray(near & (rows >= -ROW_SUM_TOLERANCE).all(axis=-1))


def probability_rows(rows: FloatArray, what: str, names: Any = None) -> FloatArray:
    """Rows normalized to sum to 1, as a new array of shape ``(n, m)`` in C order; normalized rows stay as they are.

    Parameters
    ----------
    rows : float array, shape (n, m)
    what : str
        Name of a row in error messages, to which its number is added.
    names : sequence, optional
        Names of the rows, added instead of their numbers.
    """
    rows = np.asarray(rows, dtype=np.float64, order="C")
    # The sum of m rounded quotients differs from 1 by at most m roundings.
    rounding = rows.shape[1] * np.finfo(np.float64).eps
    if rows.size and rows.min() >= 0 and (np.abs(rows.sum(axis=1) - 1) <= rounding).all():
        return rows.copy()
    wrong = ~are_probabilities(rows)
    if wrong.any():
        row = int(wrong.argmax())
        name = row if names is None else repr(names[row])
        raise ValueError(
            f"{what} {name} sums to {rows[row].sum():.6g}; a row must be probabilities (the least is {rows[row].min():g}) that "
            "sum to 1 over the whole sensitive domain. Normalize it, or give the rest to the values that were left out."
        )
    rows = np.maximum(rows, 0.0)
    sums = rows.sum(axis=1, keepdims=True)
    is_normalized = np.abs(sums - 1) <= rounding
    return np.divide(rows, sums, out=rows, where=~is_normalized)


def check_groups(group: IntArray, counts: IntArray, counterfeits: bool = False, noisy: bool = False) -> None:
    """Raise ValueError unless groups are numbered -1 to g - 1, and the counts of each, if exact, sum to its size, or to more."""
    if group.size and not (group.min() >= -1 and group.max() < len(counts)):
        found = f"{group.min()} to {group.max()}"
        raise ValueError(
            f"group has numbers from {found}; with {len(counts)} groups they lie in -1..{len(counts) - 1}."
        )
    if noisy:
        return
    sizes = np.bincount(group[group >= 0], minlength=len(counts))
    more = counts.sum(axis=1) - sizes
    unfit = (counts < 0).any(axis=1) | (more < 0 if counterfeits else more != 0)
    if unfit.any():
        j = int(np.argmax(unfit))
        raise ValueError(
            f"group {j} has {sizes[j]} respondents and the counts {counts[j].tolist()}, which sum to "
            f"{counts[j].sum()}; no count is negative, and a group shows one value per respondent."
        )


def _pseudo_counts(evidence: Any, shape: tuple[int, ...]) -> FloatArray:
    given = np.asarray(
        as_floats("Problem", "evidence", evidence, "is a float array of the shape of the prior"), order="C"
    )
    check_shape("evidence", given, shape, "that of the prior: a pseudo-count per pair")
    wrong = ~(np.isfinite(given) & (given >= 0))
    if wrong.any():
        row, value = (int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"the evidence for the respondent in row {row} and value {value} is {given[row, value]:g}; pseudo-counts are "
            "finite and 0 or more. Evidence against a pair cannot be given; leave it out."
        )
    return given


def rows_of_counts(counts: FloatArray, pseudo_count: float, otherwise: FloatArray) -> FloatArray:
    """Counts plus a pseudo-count, divided by the sum of the row; ``otherwise``, of the same shape or one row, where it is 0."""
    added = counts + pseudo_count
    totals = added.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(totals > 0, added / np.where(totals > 0, totals, 1.0), otherwise))


def jensen_shannon(first: FloatArray, second: FloatArray) -> FloatArray:
    """Jensen-Shannon divergence of two arrays of distributions, row by row, in bits.

    ``JS(p, q) = (KL(p || (p + q) / 2) + KL(q || (p + q) / 2)) / 2``, between 0 and 1 (Lin, IEEE Trans. Inf. Theory 37, 1991).

    Parameters
    ----------
    first, second : float array, shape (n, m)
        Rows are probabilities.

    Returns
    -------
    float array, shape (n,)

    Notes
    -----
    Exact up to rounding; equal rows give 0. The rows' sums are not checked. Cost: O(n m).

    `scipy.spatial.distance.jensenshannon` returns the square root and normalizes its rows.

    Examples
    --------
    >>> jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])).round(4)
    array([0.3113])
    """
    from scipy.special import rel_entr

    middle = (first + second) / 2
    nats = (rel_entr(first, middle) + rel_entr(second, middle)).sum(axis=1) / 2
    return np.asarray(np.maximum(nats, 0.0) / math.log(2))
