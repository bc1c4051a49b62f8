"""The estimation problem that a release poses, and its answer, as arrays."""

from dataclasses import dataclass
from enum import IntFlag
from typing import ClassVar, Protocol

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray

TOLERANCE = 1e-6
"""How far from 1 a row of probabilities may sum before it is refused; within it, rows are normalized on entry, and
negative rounding errors are set to 0."""


class Status(IntFlag):
    """Flags of an estimator for a group, beside its belief."""

    FINE = 0
    CONTRADICTED = 1
    """The knowledge rules out what the release shows. The posterior is that of the same knowledge with a doubt of
    `DOUBT` mixed in, or the shares of the group where the estimator's docstring says so."""
    UNCONVERGED = 2
    """An iteration stopped at its limit before it met its tolerance, or chains of draws disagree."""


CONTRADICTED = int(Status.CONTRADICTED)
UNCONVERGED = int(Status.UNCONVERGED)
"""The same for compiled code, which knows no flags."""

DOUBT = 1e-12
"""The weight of the uniform distribution that is mixed into knowledge which a release contradicts."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The question of a release: the assignment of values to respondents, given a prior of each and each group's values.

    Parameters
    ----------
    prior : float array, shape (n, m)
        Rows are probabilities over the sensitive domain; they are normalized on entry.
    group : int array, shape (n,)
        Each respondent's group, 0 to g - 1, or -1 outside all groups.
    counts : int array, shape (g, m)
        The multiset of each group; ``counts[j]`` sums to the number of respondents in group j.
    evidence : float array, shape (n, m), optional
        Pseudo-counts for what is known of some respondents: ``evidence[i, s]`` is added to the Dirichlet parameter of
        every assignment in which respondent i has value s (BayFrame, Definition 6). Only estimators over such
        parameters read it, as `DirichletMultinomial`; the others refuse a problem that has it.

    Raises
    ------
    ValueError
        If the shapes do not fit, a row is no distribution, a group's counts do not sum to its size, or evidence is
        negative or not finite; it names the place.
    """

    prior: FloatArray
    group: IntArray
    counts: IntArray
    evidence: FloatArray | None = None

    def __post_init__(self) -> None:
        prior, group, counts = np.asarray(self.prior, float), np.asarray(self.group), np.asarray(self.counts)
        if prior.ndim != 2 or counts.ndim != 2 or prior.shape[1] != counts.shape[1] or group.shape != prior.shape[:1]:
            raise ValueError(
                f"a problem needs prior (n, m), group (n,) and counts (g, m); got {prior.shape}, {group.shape} and {counts.shape}."
            )
        if not (np.issubdtype(group.dtype, np.integer) and np.issubdtype(counts.dtype, np.integer)):
            raise ValueError(f"group and counts must be whole numbers; got {group.dtype} and {counts.dtype}.")
        if group.size and not (group.min() >= -1 and group.max() < len(counts)):
            wrong = group.min() if group.min() < -1 else group.max()
            raise ValueError(
                f"group holds {wrong}, and there are {len(counts)} groups; it must lie in -1..{len(counts) - 1}."
            )
        sizes = np.bincount(group[group >= 0], minlength=len(counts))
        if (counts < 0).any() or (counts.sum(axis=1) != sizes).any():
            worst = int(np.argmax((counts < 0).any(axis=1) | (counts.sum(axis=1) != sizes)))
            raise ValueError(
                f"group {worst} has {sizes[worst]} respondents and the counts {counts[worst].tolist()}, which sum to "
                f"{counts[worst].sum()}; a group shows one value per respondent."
            )
        object.__setattr__(self, "prior", probability_rows(prior, "the prior of respondent in row"))
        object.__setattr__(self, "group", group.astype(np.int64))
        object.__setattr__(self, "counts", counts.astype(np.int64))
        if self.evidence is not None:
            object.__setattr__(self, "evidence", _pseudo_counts(self.evidence, prior.shape))

    def refuse_evidence(self, estimator: object) -> None:
        """Raise ValueError if there is evidence: said by estimators that have no place for it."""
        if self.evidence is not None:
            raise ValueError(
                f"the problem has evidence (pseudo-counts of compromised records) and {estimator!r} cannot read it. Use "
                "DirichletMultinomial or Mixed, or let the records enter the prior (PriorCascade, EvidenceCascade)."
            )

    @property
    def sizes(self) -> IntArray:
        """The number of respondents of each group: int array, shape ``(g,)``."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Beliefs after a release.

    Attributes
    ----------
    probabilities : float array, shape (n, m)
        Rows are probabilities; the row of a respondent outside all groups is the prior's.
    status : int array, shape (g,)
        Per group, a `Status`.
    standard_error : float array, shape (n, m), optional
        Of estimators that sample: the Monte Carlo standard error of each probability.
    ess, rhat : float array, shape (n, m), optional
        Their effective sample size and their R-hat.
    rule : object array of str, shape (g,), optional
        Of estimators that choose: by which rule each group was computed.
    error : float array, shape (g,), optional
        Of estimators that use the law of large numbers where groups are large: per group, the estimated largest error of a
        belief; 0 where the computation is exact, NaN where nothing is known of it.
    """

    probabilities: FloatArray
    status: IntArray
    standard_error: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    rule: ObjectArray | None = None
    error: FloatArray | None = None

    def of_the_first(self, n: int) -> "Posterior":
        """The posterior of the first n respondents only: the others are counterfeits."""
        rows = (self.probabilities, self.standard_error, self.ess, self.rhat)
        first, error, ess, rhat = (None if of_each is None else of_each[:n] for of_each in rows)
        assert first is not None
        return Posterior(first, self.status, error, ess, rhat, self.rule, self.error)


class Estimator(Protocol):
    """A rule that turns a problem into beliefs; a frozen settings object."""

    exact: ClassVar[bool]
    """Whether it computes the Bayesian posterior of its prior, and no approximation of it."""

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        ...


def are_probabilities(rows: FloatArray) -> BoolArray:
    """Which rows hold no NaN, nothing negative and sum to 1, all within `TOLERANCE`."""
    with np.errstate(invalid="ignore"):
        near = np.abs(rows.sum(axis=-1) - 1) <= TOLERANCE
        return np.asarray(near & (rows >= -TOLERANCE).all(axis=-1) & np.isfinite(rows).all(axis=-1))


def probability_rows(rows: FloatArray, what: str) -> FloatArray:
    """The rows, normalized to sum to 1 exactly.

    Raises
    ------
    ValueError
        If an entry is NaN or negative, or a row's sum is further from 1 than `TOLERANCE`; it names the row.
    """
    rows = np.asarray(rows, dtype=np.float64)
    wrong = ~are_probabilities(rows)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{what} {row} {_fault(rows[row])}; a row must be probabilities that sum to 1 over the whole sensitive domain. "
            "Normalize it, or give the rest to the values that were left out."
        )
    rows = np.maximum(rows, 0.0)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _pseudo_counts(evidence: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    evidence = np.asarray(evidence, dtype=np.float64)
    if evidence.shape != shape:
        raise ValueError(
            f"evidence has shape {evidence.shape}; it needs the prior's, {shape}: a pseudo-count per pair."
        )
    wrong = ~(np.isfinite(evidence) & (evidence >= 0))
    if wrong.any():
        row, value = (int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"the evidence for the respondent in row {row} and value {value} is {evidence[row, value]:g}; pseudo-counts are "
            "finite and 0 or more. Leave out what speaks against a pair."
        )
    return evidence


def _fault(row: FloatArray) -> str:
    if not np.isfinite(row).all():
        return "holds NaN or an infinity"
    return f"holds the negative number {row.min():g}" if row.min() < -TOLERANCE else f"sums to {row.sum():.6g}"
