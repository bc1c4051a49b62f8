"""Comparison of cascades with the exact laws of three readings of the confidence of a compromised record."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from foreknow.attacks import SequentialAttack
from foreknow.evaluation.arguments import check_releases, check_share
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    EvidenceCascade,
    GroupGraph,
    Observation,
    PriorCascade,
    Release,
    RemoveKnown,
    joint_history,
)
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.problem import JointPosterior, JointProblem, JointSolver, check_is_solver
from foreknow.models.knowledge.cascades import Cascade
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.problem import Estimator
from foreknow.models.settings import check_kind

COLUMNS = ("adversary", "cascade", "reading", "about", "measured", "bits_lost", "largest_error", "overstated")

ABOUT = ("claimed record", "claimed respondent", "others")
"""Records that a claim is about; other records of their respondents; records of all other respondents."""

ROUNDS = 100
"""Largest number of rounds of proportional fitting."""

GAP = 1e-6
"""Largest difference of a confidence and the fitted belief at which fitting stops."""

UNMET = 1e-3
"""Difference from which a confidence is reported as one that no law of the releases has."""


def compare_cascades(
    releases: Iterable[Release],
    cascades: Mapping[str, "Cascade | tuple[Cascade | None, Estimator] | None"],
    adversaries: Mapping[str, Adversary],
    *,
    solver: JointSolver | None = None,
    least: float = 2.0**-20,
) -> pd.DataFrame:
    """Errors of cascades against the joint law of the releases, under three readings of the confidence of a claim.

    A claim says with confidence c that a respondent has the value s at a release. The readings, each with a story that generates
    the claim:

    - ``"mixture"``: the source saw the value with probability c, and else tells one drawn from prior and transitions. It is the
      law of total probability of BayFrame, Equation 5, applied once, before all releases.
    - ``"likelihood"``: the source names the true value with probability c, and else one of the others, each as likely.
    - ``"Jeffrey"``: the source has read the releases, and its belief in s is c. The law is the one nearest to that of the
      releases, in Kullback-Leibler divergence, in which each claim has its confidence.

    Parameters
    ----------
    releases : iterable of Release
        Only observations are read.
    cascades : mapping of str to Cascade, None or pair
        Cascades by name; None for an adversary who ignores the claims. A pair of a cascade and an estimator replaces the estimator
        of the adversary: `PosteriorCascade` needs `DirichletMultinomial` or `Mixed`. `RemoveKnown` takes each claim for certain, of
        several about one record the one of the highest confidence.
    adversaries : mapping of str to Adversary
        Knowledge with compromised records, by name. The estimator is that of `SequentialAttack`, in which each cascade is used; the
        cascade of the adversary is not read.
    solver : JointSolver, optional
        Of the laws; by default `GroupGraph`. With `Enumeration` they are exact.
    least : float
        Lower limit of a belief, over 0 and at most 1, as in `log_score`.

    Returns
    -------
    DataFrame
        One row per adversary, cascade, reading and kind of record, for published records, given the releases and the claims up to
        that of the record. The laws of the readings are rows too, as the cascades ``"joint law, mixture"``, ``"joint law,
        likelihood"`` and ``"joint law, Jeffrey"``. Columns ``adversary``; ``cascade``; ``reading``; ``about``: ``"claimed
        record"``, ``"claimed respondent"`` (other records of a respondent with a claim at any release) or ``"others"``;
        ``measured``, their number; ``bits_lost``, the mean Kullback-Leibler divergence of the law to the belief, which is the
        expected loss of log score; ``largest_error``, the largest absolute difference of a belief and its probability under the
        law; ``overstated``, the mean of the highest belief less the probability that it is right under the law.
        ``attrs["unmet"]`` has for each adversary the number of claims whose confidence no law of the releases reaches, at
        the last release: the releases exclude the value, or prove it. Their confidence is not read by the reading ``"Jeffrey"``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind, an adversary has no compromised records, or an estimator does not read the evidence of
        its cascade.

    Notes
    -----
    The laws are solved for each prefix of the releases: t (2 + r) calls of the solver for t releases and r rounds of iterative
    proportional fitting (at most 100; two with one claim in each connected component of the groups). Where the laws are not exact,
    errors of the solver count as errors of the cascade.

    Examples
    --------
    One claim at one release: the normalized prior cascade is the mixture.

    >>> from foreknow.models import Enumeration, Exact, GivenPrior, Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")), 1)
    >>> prior = GivenPrior(pd.DataFrame({"ill": [0.5, 0.2], "well": [0.5, 0.8]}, index=["A", "B"]))
    >>> claim = pd.DataFrame({"respondent": ["A"], "value": ["ill"], "time": [1], "confidence": [0.7]})
    >>> adversary = Adversary(prior, None, CompromisedRecords(claim), Exact(), PriorCascade())
    >>> table = compare_cascades([Release(view, [0, 0])], {"prior": PriorCascade(), "none": None}, {"one claim": adversary})
    >>> table.query("cascade in ['prior', 'none'] and about == 'others'")[["cascade", "reading", "bits_lost"]].round(3)
       cascade     reading  bits_lost
    1    prior     mixture      0.000
    3    prior  likelihood      0.039
    5    prior     Jeffrey      0.532
    7     none     mixture      0.154
    9     none  likelihood      0.057
    11    none     Jeffrey      0.041
    """
    owner = "compare_cascades"
    published = check_releases(owner, releases)
    observations = [release.observation for release in published]
    used = GroupGraph() if solver is None else solver
    check_is_solver(owner, "solver", used)
    check_share(owner, "least", least)
    check_kind(owner, "cascades", cascades, Mapping, 'is a mapping of names to cascades, as {"prior": PriorCascade()}')
    check_kind(owner, "adversaries", adversaries, Mapping, 'is a mapping of names to adversaries, as {"a": adversary}')
    pairs = {name: one if isinstance(one, tuple) else (one, None) for name, one in cascades.items()}
    for name, pair in pairs.items():
        check_kind(
            owner,
            f"cascades[{name!r}]",
            pair[0],
            (Cascade, type(None)),
            "is a cascade, None, or a pair of it and an estimator",
        )
    tables, unmet = [], {}
    for name, adversary in adversaries.items():
        check_kind(owner, f"adversaries[{name!r}]", adversary, Adversary)
        if adversary.compromised is None:
            raise ValueError(
                f"{owner}: adversaries[{name!r}] has no compromised records; give compromised= and cascade=."
            )
        adversary.check_claim_times([seen.time for seen in observations])
        laws, unmet[name] = _laws(adversary, observations, used)
        beliefs = {
            title: [one.posterior.probabilities for one in SequentialAttack(_with(adversary, *pair))(published)]
            for title, pair in pairs.items()
        }
        beliefs |= {f"joint law, {reading}": law for reading, law in laws.items()}
        tables.append(_errors(beliefs, laws, _kinds(adversary, observations), least).assign(adversary=name))
    table = pd.concat(tables, ignore_index=True)[[*COLUMNS]] if tables else pd.DataFrame(columns=pd.Index(COLUMNS))
    table.attrs["unmet"] = unmet
    return table


@dataclass(frozen=True)
class _Stated(Cascade):
    """Claims in the place of evidence: the row of a claimed record has the confidence of each named value, and 0 for the others."""

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:  # noqa: ARG002 - the law of all releases revises nothing
        return prior

    def likelihood(self, claims: Claims, values: int) -> FloatArray:
        return np.bincount(claims.values, weights=claims.confidence, minlength=values)


def _laws(
    adversary: Adversary, observations: list[Observation], solver: JointSolver
) -> tuple[dict[str, list[FloatArray]], int]:
    """Beliefs about each release given those up to it, under each reading, and the number of claims that Jeffrey does not meet.

    Rows of records that are not published are 0.
    """
    readings: dict[str, tuple[Cascade, Callable[[JointProblem], tuple[JointPosterior, int]]]] = {
        "mixture": (PriorCascade(), lambda problem: (solver(problem), 0)),
        "likelihood": (EvidenceCascade(), lambda problem: (solver(problem), 0)),
        "Jeffrey": (_Stated(), lambda problem: _fitted(problem, solver)),
    }
    laws: dict[str, list[FloatArray]] = {}
    unmet = 0
    for reading, (cascade, solve) in readings.items():
        found = laws[reading] = []
        for t, seen in enumerate(observations):
            history = joint_history(replace(adversary, cascade=cascade), observations[: t + 1])
            posterior, unmet = solve(history.problem)
            rows = np.zeros((len(seen.people), len(seen.people.schema.values)))
            published = np.flatnonzero(seen.group >= 0)
            rows[published] = posterior.rows(history.record[t][published])
            found.append(rows)
    return laws, unmet


def _fitted(problem: JointProblem, solver: JointSolver) -> tuple[JointPosterior, int]:
    """Law with the stated marginals, by iterative proportional fitting, and the number of claims that it does not meet.

    A claim divides the values into those that it names, each with its confidence, and all others, with the rest; the evidence
    of the record has one factor for each part. The factors of all claims are scaled at once; where that carries too far, in
    connected claims, by a power of the ratio.
    """
    records = np.flatnonzero(problem.evidence_row >= 0)
    wanted = problem.evidence[problem.evidence_row[records]]
    named = wanted > 0
    rest = np.maximum(1 - wanted.sum(axis=1, keepdims=True), 0.0)
    factors, step, before, unmet = np.ones(wanted.shape), 1.0, np.inf, 0
    for _ in range(ROUNDS):
        posterior = solver(replace(problem, evidence=factors, evidence_row=_numbered(records, len(problem.path))))
        belief = posterior.rows(records)
        other = np.where(named, 0.0, belief).sum(axis=1, keepdims=True)
        have, want = np.where(named, belief, other), np.where(named, wanted, rest)
        reached = (have > 0) | (want == 0)
        away = np.where(named & reached.all(axis=1, keepdims=True), np.abs(belief - wanted), 0.0)
        gap = away.max(initial=0.0)
        if gap <= GAP:
            break
        step = step / 2 if gap > before else min(1.0, 1.2 * step)
        before = gap
        ratio = np.divide(want, have, out=np.ones(want.shape), where=have > 0)
        factors = np.where(reached.all(axis=1, keepdims=True), factors * ratio**step, factors)
        factors /= factors.max(axis=1, keepdims=True)
    if len(records):
        unmet = int((named & (np.abs(belief - wanted) > UNMET)).any(axis=1).sum())
    return posterior, unmet


def _numbered(records: IntArray, length: int) -> IntArray:
    """Row of each record among some records; -1 for the others."""
    numbers = np.full(length, -1, dtype=np.int64)
    numbers[records] = np.arange(len(records))
    return numbers


def _with(adversary: Adversary, cascade: Cascade | None, estimator: Estimator | None) -> Adversary:
    """Adversary with a cascade, and an estimator if there is one; without claims for None, with certain ones for `RemoveKnown`."""
    adversary = replace(adversary, estimator=estimator or adversary.estimator)
    if cascade is None:
        return adversary.without("compromised")
    records = adversary.compromised
    if isinstance(cascade, RemoveKnown) and records is not None:
        highest = records.frame.sort_values("confidence", ascending=False, kind="stable")
        certain = highest.drop_duplicates(["respondent", "time"]).assign(confidence=1.0)
        records = CompromisedRecords(certain, contradicted="report")
    return replace(adversary, compromised=records, cascade=cascade)


def _kinds(adversary: Adversary, observations: list[Observation]) -> list[IntArray]:
    """Kind of each record of each release, as a number of `ABOUT`; -1 for those that are not published."""
    assert adversary.compromised is not None
    known = set(adversary.compromised.frame["respondent"])
    kinds = []
    for seen in observations:
        kind = np.array([1 if respondent in known else 2 for respondent in seen.people.respondents], dtype=np.int64)
        claims = adversary.claims(seen.time, seen.people)
        kind[[] if claims is None else claims.rows] = 0
        kinds.append(np.where(seen.group >= 0, kind, -1))
    return kinds


def _errors(
    beliefs: dict[str, list[FloatArray]], laws: dict[str, list[FloatArray]], kinds: list[IntArray], least: float
) -> pd.DataFrame:
    """Rows of one adversary."""
    kind, rows = np.concatenate(kinds), []
    for cascade, each in beliefs.items():
        belief = np.concatenate(each)
        for reading, releases in laws.items():
            law = np.concatenate(releases)
            bits = np.where(law > 0, law * np.log2(np.maximum(law, least) / np.maximum(belief, least)), 0.0).sum(axis=1)
            best = belief.argmax(axis=1)[:, None]
            high = np.take_along_axis(belief - law, best, axis=1)[:, 0]
            largest = np.abs(belief - law).max(axis=1)
            for number, about in enumerate(ABOUT):
                some = kind == number
                if some.any():
                    sizes = (int(some.sum()), bits[some].mean(), largest[some].max(), high[some].mean())
                    rows.append((cascade, reading, about, *sizes))
    return pd.DataFrame(rows, columns=pd.Index(COLUMNS[1:]))
