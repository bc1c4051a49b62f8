"""How compromised records spread to others: the cascading methods of BayFrame, section 4.4, and one more.

A cascade has two moments. `revise` is what the claims make of the revised prior, before the release is seen; `weigh` is how
they enter the posterior. Claims of confidence 1 are treated alike by all: the respondent has the value before the release,
and leaves the group with it when the others are weighed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.problem import CONTRADICTED, DOUBT, Estimator, Posterior, Problem

SAME = 1e-12
"""By how much a confidence may differ from the revised prior and still be equal to it."""


class Cascade(Protocol):
    """Rule by which compromised records enter an adversary's beliefs; a frozen settings object."""

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Apply claims to the revised prior of shape ``(n, m)`` before the release; rows are probabilities."""
        ...

    def weigh(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """The posterior of a release whose problem has the prior that `revise` gave."""
        ...


@dataclass(frozen=True)
class RemoveKnown:
    """Whoever is surely known leaves the group with the value, and the rest is solved (BayFrame, section 4.4, CR = 1).

    With `Exact` this is what a one-hot prior row does by itself; with other estimators it is more. Where the known records
    do not fit the group (more of them have a value than the group shows) nobody is removed from it, the estimator meets
    their one-hot rows, and the group is reported as `Status.CONTRADICTED`.

    Raises
    ------
    ValueError
        When called, if a claim has a confidence below 1.
    """

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """The prior with one-hot rows for those who are known."""
        if len(claims.unsure.rows):
            raise ValueError(
                f"a compromised record has the confidence {claims.unsure.confidence[0]:g}, and RemoveKnown takes only 1. Use "
                "PriorCascade, PosteriorCascade or EvidenceCascade."
            )
        return known(prior, claims.sure)

    def weigh(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """The posterior of the rest, with the known people put back."""
        return removing_known(problem, claims.sure, estimator)


@dataclass(frozen=True)
class PriorCascade:
    """Claims enter the revised prior by the law of total probability (BayFrame, section 4.4.1, Equation 5).

    With confidence CR the respondent has the value, else what was believed before holds::

        CR_RPD(s) = CR + (1 - CR) RPD(s)

    Parameters
    ----------
    normalized : bool
        Equation 5 is about the claimed value s alone, and the row then sums to ``1 + CR (1 - RPD(s))``. With
        ``normalized=True`` the law is carried through: the other values keep ``(1 - CR) RPD``, and several claims about one
        respondent share one row, ``sum CR e_s + (1 - sum CR) RPD``. With ``False`` the equation is applied as printed, value
        by value, and the row divided by its sum.

    Notes
    -----
    By this rule a claim can only raise a belief, even one of less confidence than is believed anyway, and a source that is
    right half of the time moves everybody to one half: it takes CR for the chance that the adversary saw the value, not for
    the weight of evidence. `EvidenceCascade` does the latter.
    """

    normalized: bool = True

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """The prior with the claims mixed in."""
        rows, values, confidence = claims.unsure
        mixed = prior.copy()
        if self.normalized:
            told = np.zeros(prior.shape[:1])
            np.add.at(told, rows, confidence)
            mixed *= np.maximum(1 - told, 0.0)[:, None]
            np.add.at(mixed, (rows, values), confidence)
        else:
            mixed[rows, values] = confidence + (1 - confidence) * prior[rows, values]
        mixed[rows] /= mixed[rows].sum(axis=1, keepdims=True)
        return known(mixed, claims.sure)

    def weigh(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """The estimator's posterior of the rest; the unsure claims are in the prior already."""
        return removing_known(problem, claims.sure, estimator)


@dataclass(frozen=True)
class PosteriorCascade:
    """Claims enter as pseudo-counts of the assignments that they match (BayFrame, section 4.4.2, Definition 6).

    An assignment matches a claim if it gives the respondent the value, and the claim's confidence CR is over the revised
    prior RPD; its Dirichlet parameter grows by CR for every claim it matches. A claim of CR = RPD says nothing and is
    dropped. One of CR < RPD speaks for the respondent's other values: what its group shows besides the claimed values shares
    what the claims leave over, in proportion to RPD, and these shares become claims. (The paper says so for one remaining
    value, Example 4; the general case is ours.)

    Only estimators that read evidence can be used: `DirichletMultinomial`, in closed form, and `Mixed`, which reads it so in small
    groups. In large groups, whose Omega-estimate has no Dirichlet parameters, the definition says nothing; `Mixed` documents two
    readings.

    Parameters
    ----------
    keep_stated : bool
        What becomes of the other claims of a respondent once new ones were derived. In Example 4 they are dropped:
        Elisa's Cancer-II has CR = .02 over RPD = .004 and yet matches nothing, as only Depression's derived .95 counts.
        ``True`` is Definition 6 to the letter, which keeps it.
    """

    keep_stated: bool = False

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """The prior; only those who are surely known change it."""
        return known(prior, claims.sure)

    def weigh(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """The posterior under the claims as evidence."""

        def with_evidence(rest: Problem) -> Posterior:
            evidence = np.zeros(rest.prior.shape)
            rows, values, confidence = matching(rest, claims.unsure, self.keep_stated)
            evidence[rows, values] = confidence
            return estimator(Problem(rest.prior, rest.group, rest.counts, evidence))

        return removing_known(problem, claims.sure, with_evidence)


@dataclass(frozen=True)
class EvidenceCascade:
    """Claims are evidence: the prior is multiplied with how likely each value makes the claim, by Bayes' rule.

    A source that names the true value with probability CR, and otherwise any other value, makes the claimed value
    ``CR`` likely and each of the others ``(1 - CR) / (m - 1)``; of several claims about one respondent each value has its
    own CR, and those not named share the rest. Then::

        CR_RPD(s) = RPD(s) L(s) / sum over s' of RPD(s') L(s')

    A claim of CR = 1/m says nothing, one below it speaks against the value, one of 1 is certainty. Evidence commutes: with
    `Exact` the posterior is the same whether claims come before the release or after it. Neither paper has this rule.

    A claim that the prior rules out altogether is met with a doubt of `DOUBT` in the prior.
    """

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """The prior times the likelihood of the claims, rows normalized."""
        rows, values, confidence = claims.unsure
        if not len(rows):
            return known(prior, claims.sure)
        people, place = np.unique(rows, return_inverse=True)
        likelihood = np.full((len(people), prior.shape[1]), -1.0)
        likelihood[place, values] = confidence
        told = np.bincount(place, confidence)
        silent = (likelihood < 0).sum(axis=1)
        rest = np.maximum(1 - told, 0.0) / np.maximum(silent, 1)
        likelihood = np.where(likelihood < 0, rest[:, None], likelihood)
        weighed = prior.copy()
        weighed[people] *= likelihood
        lost = people[weighed[people].sum(axis=1) == 0]
        weighed[lost] = ((1 - DOUBT) * prior[lost] + DOUBT / prior.shape[1]) * likelihood[np.isin(people, lost)]
        weighed[people] /= weighed[people].sum(axis=1, keepdims=True)
        return known(weighed, claims.sure)

    def weigh(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """The estimator's posterior of the rest; the unsure claims are in the prior already."""
        return removing_known(problem, claims.sure, estimator)


def known(prior: FloatArray, sure: Claims) -> FloatArray:
    """The prior with a one-hot row for every sure claim."""
    rows = prior.copy()
    rows[sure.rows] = 0.0
    rows[sure.rows, sure.values] = 1.0
    return rows


def removing_known(problem: Problem, sure: Claims, weigh: Callable[[Problem], Posterior]) -> Posterior:
    """The posterior of the rest of every group, with those who are surely known put back.

    A group that the sure claims do not fit keeps everybody, and is reported as contradicted.
    """
    if not len(sure.rows):
        return weigh(problem)
    inside = problem.group[sure.rows] >= 0
    group, values = problem.group[sure.rows[inside]], sure.values[inside]
    taken = np.zeros_like(problem.counts)
    np.add.at(taken, (group, values), 1)
    unfit = (taken > problem.counts).any(axis=1)
    gone = sure.rows[inside][~unfit[group]]
    left = problem.group.copy()
    left[gone] = -1
    counts = np.where(unfit[:, None], problem.counts, problem.counts - taken)
    answer = weigh(Problem(known(problem.prior, sure), left, counts, problem.evidence))
    return replace(answer, status=np.where(unfit, answer.status | CONTRADICTED, answer.status))


def matching(problem: Problem, claims: Claims, keep_stated: bool) -> Claims:
    """The claims that some assignments match, after new ones were derived from those below the revised prior."""
    found: list[tuple[int, int, float]] = []
    for row in np.unique(claims.rows):
        mine = claims.rows == row
        stated = dict(zip(claims.values[mine].tolist(), claims.confidence[mine].tolist(), strict=True))
        believed = problem.prior[row]
        over = {s: c for s, c in stated.items() if c > believed[s] + SAME}
        below = any(c < believed[s] - SAME for s, c in stated.items())
        shares = _derived(problem, int(row), stated) if below else {}
        derived = {s: c for s, c in shares.items() if c > believed[s] + SAME}
        counted = derived | (over if keep_stated or not derived else {})
        found += [(int(row), s, c) for s, c in counted.items()]
    rows, values, confidence = (np.array(column) for column in zip(*found, strict=True)) if found else ([], [], [])
    return Claims(np.asarray(rows, dtype=np.int64), np.asarray(values, dtype=np.int64), np.asarray(confidence, float))


def _derived(problem: Problem, row: int, stated: dict[int, float]) -> dict[int, float]:
    """The rest of the probability, for the values of the respondent's group that no claim names."""
    if problem.group[row] < 0:
        return {}
    others: IntArray = np.array([s for s in np.flatnonzero(problem.counts[problem.group[row]]) if s not in stated])
    if not len(others):
        return {}
    believed = problem.prior[row, others]
    share = believed / believed.sum() if believed.sum() > 0 else np.full(len(others), 1 / len(others))
    return dict(zip(others.tolist(), ((1 - sum(stated.values())) * share).tolist(), strict=True))
