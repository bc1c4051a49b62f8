"""Cascades: rules by which compromised records change the beliefs about other respondents (BayFrame, section 4.4).

A cascade is applied twice. `revise` applies the claims to the revised prior, before the release is seen; `posterior` applies
them to the posterior. All cascades treat claims of confidence 1 alike: the respondent has the value before the release, and is
removed from the group with it when the posterior of the others is computed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.problem import CONTRADICTED, DOUBT, Estimator, Posterior, Problem
from foreknow.models.settings import check_flag

CONFIDENCE_TOLERANCE = 1e-12
"""Largest difference between a confidence and the revised prior at which they count as equal."""


@runtime_checkable
class Cascade(Protocol):
    """Rule by which compromised records enter the beliefs of an adversary; a frozen settings object."""

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Revised prior of shape ``(n, m)`` with the claims, before the release; rows are probabilities."""
        ...

    def posterior(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """Posterior of a release whose problem has the prior that `revise` returned.

        By default that of the estimator for members not known with certainty: the other claims are in the prior already.
        """
        return posterior_of_others(problem, claims.sure, estimator)

    def likelihood(self, claims: Claims, values: int) -> FloatArray | None:
        """Likelihood of each value under the claims about one respondent, shape ``(m,)``, for the joint law.

        None where a claim of confidence c makes the law of the respondent a mixture: of the law given the value, with weight c, and
        of the law without the claim. By default certainty, and ValueError for a claim of a confidence below 1.
        """
        unsure = claims.unsure.confidence
        if len(unsure):
            raise ValueError(
                f"{self!r} has no meaning in the joint law for a compromised record of confidence {unsure[0]:g}. Give "
                "EvidenceCascade(), the likelihood of one record, or PriorCascade(), a mixture."
            )
        return np.bincount(claims.values, minlength=values).astype(float)


@dataclass(frozen=True)
class RemoveKnown(Cascade):
    """Remove respondents known with certainty from their groups, with their values (BayFrame, section 4.4, CR = 1).

    With `Exact` the result is that of a one-hot prior row; with other estimators it differs. Where the known records do not fit
    the group (more of them have a value than the group shows) no member is removed from it, the estimator receives their
    one-hot rows, and the group has `Status.CONTRADICTED`.

    Raises
    ------
    ValueError
        When called, if a claim has a confidence below 1.

    Notes
    -----
    In the joint law (`JointAttack`) it has the same meaning, and all releases read it.
    """

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Prior with one-hot rows for the respondents of the claims."""
        if len(claims.unsure.rows):
            raise ValueError(
                f"a compromised record has the confidence {claims.unsure.confidence[0]:g}, and RemoveKnown takes only 1. Use "
                "PriorCascade, PosteriorCascade or EvidenceCascade."
            )
        return with_known_values(prior, claims.sure)


@dataclass(frozen=True)
class PriorCascade(Cascade):
    """Mix claims into the revised prior by the law of total probability (BayFrame, section 4.4.1, Equation 5).

    With probability CR the respondent has the value, otherwise the earlier belief holds::

        CR_RPD(s) = CR + (1 - CR) RPD(s)

    Parameters
    ----------
    normalized : bool
        Equation 5 changes the claimed value s only, so the row sums to ``1 + CR (1 - RPD(s))``. With ``normalized=True`` the
        law is applied to all values: the others have ``(1 - CR) RPD``, and several claims about one respondent give one row,
        ``sum CR e_s + (1 - sum CR) RPD``. With ``False`` the equation is applied as printed, value by value, and the row is
        divided by its sum.

    Raises
    ------
    TypeError
        If ``normalized`` is not True or False.

    Notes
    -----
    By this rule a claim can only raise a belief, even a claim of less confidence than the belief has already. A source that is
    right half of the time raises every belief to at least one half. The rule reads CR as the probability that the adversary saw
    the value, not as the weight of evidence; `EvidenceCascade` does the latter.

    Applied to the revised prior of one release, it approximates the mixture that `JointAttack` computes: with probability CR the
    whole path is that given the value, and otherwise the path without the claim. There the reference of the claim is the law
    before all releases, here the belief after the earlier ones. The two are equal for the first release. ``normalized=False`` has
    no such meaning, and `JointAttack` refuses it.
    """

    normalized: bool = True

    def __post_init__(self) -> None:
        check_flag("PriorCascade", "normalized", self.normalized)

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Prior with the claims mixed in."""
        rows, values, confidence = claims.unsure
        mixed = prior.copy()
        if self.normalized:
            claimed = np.zeros(prior.shape[:1])
            np.add.at(claimed, rows, confidence)
            mixed *= np.maximum(1 - claimed, 0.0)[:, None]
            np.add.at(mixed, (rows, values), confidence)
        else:
            mixed[rows, values] = confidence + (1 - confidence) * prior[rows, values]
        mixed[rows] /= mixed[rows].sum(axis=1, keepdims=True)
        return with_known_values(mixed, claims.sure)

    def likelihood(self, claims: Claims, values: int) -> FloatArray | None:
        """None, for a mixture; ValueError for claims of a confidence below 1 with ``normalized=False``."""
        return None if self.normalized else super().likelihood(claims, values)


@dataclass(frozen=True)
class PosteriorCascade(Cascade):
    """Add claims as pseudo-counts of the assignments that they match (BayFrame, section 4.4.2, Definition 6).

    An assignment matches a claim if it gives the value to the respondent, and the confidence CR of the claim is over the revised
    prior RPD. The Dirichlet parameter of an assignment grows by CR for every claim that it matches. A claim of CR = RPD has
    no effect and is dropped. A claim of CR < RPD supports the other values of the respondent: the values of the group that no
    claim names share the remaining probability in proportion to RPD, and these shares become claims. (The paper states this for
    one remaining value, in Example 4; the general case is ours.)

    Only estimators that read evidence can be used: `DirichletMultinomial`, in closed form, and `Mixed`, which uses it in small
    groups. The definition does not cover large groups, whose Omega-estimate has no Dirichlet parameters; `Mixed` documents two
    readings.

    Parameters
    ----------
    keep_stated : bool
        Treatment of the other claims about a respondent once new ones were derived. ``False``: they are dropped, as in
        Example 4, where Cancer-II of Elisa has CR = .02 over RPD = .004 and yet matches nothing, as only the derived .95 of
        Depression counts. ``True``: they are kept, as Definition 6 is printed.

    Raises
    ------
    TypeError
        If ``keep_stated`` is not True or False.

    Notes
    -----
    Pseudo-counts weigh the assignments of one group at one release; they are no likelihood, and have no counterpart in the joint
    law: `JointAttack` refuses the cascade for records of a confidence below 1.
    """

    keep_stated: bool = False

    def __post_init__(self) -> None:
        check_flag("PosteriorCascade", "keep_stated", self.keep_stated)

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Prior with one-hot rows for respondents known with certainty; other claims do not change it."""
        return with_known_values(prior, claims.sure)

    def posterior(self, problem: Problem, claims: Claims, estimator: Estimator) -> Posterior:
        """Posterior with the claims as evidence."""

        def with_evidence(rest: Problem) -> Posterior:
            evidence = np.zeros(rest.prior.shape)
            rows, values, confidence = matching_claims(rest, claims.unsure, self.keep_stated)
            evidence[rows, values] = confidence
            return estimator(replace(rest, evidence=evidence))

        return posterior_of_others(problem, claims.sure, with_evidence)


@dataclass(frozen=True)
class EvidenceCascade(Cascade):
    """Multiply the prior by the likelihood of the claims, by Bayes' rule.

    A source names the true value with probability CR, and any other value otherwise. A claim then has the likelihood ``CR`` for
    the claimed value and ``(1 - CR) / (m - 1)`` for each of the others. With several claims about one respondent each named
    value has its own CR, and the values not named share the rest. With the likelihood L::

        CR_RPD(s) = RPD(s) L(s) / sum over s' of RPD(s') L(s')

    A claim of CR = 1/m has no effect, a smaller one lowers the belief in the value, and one of 1 is certainty. Evidence commutes:
    with `Exact` the posterior is the same whether claims come before the release or after it. Neither paper has this rule.

    Where the prior gives the claims probability zero, the uniform distribution is mixed into it with weight `DOUBT`.

    Notes
    -----
    In the joint law (`JointAttack`) it is the same likelihood, of one record, which all releases read.
    """

    def revise(self, prior: FloatArray, claims: Claims) -> FloatArray:
        """Prior times the likelihood of the claims, rows normalized."""
        if not len(claims.unsure.rows):
            return with_known_values(prior, claims.sure)
        respondents, likelihood = _likelihood(claims.unsure, prior.shape[1])
        revised = prior.copy()
        revised[respondents] *= likelihood
        impossible = revised[respondents].sum(axis=1) == 0
        rows = respondents[impossible]
        revised[rows] = ((1 - DOUBT) * prior[rows] + DOUBT / prior.shape[1]) * likelihood[impossible]
        revised[respondents] /= revised[respondents].sum(axis=1, keepdims=True)
        return with_known_values(revised, claims.sure)

    def likelihood(self, claims: Claims, values: int) -> FloatArray:
        """Likelihood of each value under the claims about one respondent, shape ``(m,)``."""
        return np.asarray(_likelihood(claims, values)[1][0])


def _likelihood(claims: Claims, values: int) -> tuple[IntArray, FloatArray]:
    """Distinct rows of the claims, and the likelihood of all claims about each for every value: shape ``(r, m)``."""
    respondents, place = np.unique(claims.rows, return_inverse=True)
    named = np.zeros((len(respondents), values), dtype=np.bool_)
    named[place, claims.values] = True
    rest = np.maximum(1 - np.bincount(place, claims.confidence), 0.0) / np.maximum((~named).sum(axis=1), 1)
    likelihood = np.repeat(rest[:, None], values, axis=1)
    likelihood[place, claims.values] = claims.confidence
    return respondents, likelihood


def with_known_values(prior: FloatArray, sure: Claims) -> FloatArray:
    """Copy of the prior with a one-hot row for every claim of confidence 1."""
    rows = prior.copy()
    rows[sure.rows] = 0.0
    rows[sure.rows, sure.values] = 1.0
    return rows


def posterior_of_others(problem: Problem, sure: Claims, estimate: Callable[[Problem], Posterior]) -> Posterior:
    """Posterior in which members known with certainty are removed from their groups and have one-hot rows.

    A group that the claims of confidence 1 do not fit keeps all members, and has `Status.CONTRADICTED`.
    """
    if not len(sure.rows):
        return estimate(problem)
    inside = problem.group[sure.rows] >= 0
    group, values = problem.group[sure.rows[inside]], sure.values[inside]
    removed = np.zeros_like(problem.counts)
    np.add.at(removed, (group, values), 1)
    unfit = (removed > problem.counts).any(axis=1)
    others = problem.group.copy()
    others[sure.rows[inside][~unfit[group]]] = -1
    counts = np.where(unfit[:, None], problem.counts, problem.counts - removed)
    answer = estimate(replace(problem, prior=with_known_values(problem.prior, sure), group=others, counts=counts))
    return replace(answer, status=np.where(unfit, answer.status | CONTRADICTED, answer.status))


def matching_claims(problem: Problem, claims: Claims, keep_stated: bool) -> Claims:
    """Claims that some assignments match, including those derived from claims below the revised prior."""
    matching: list[tuple[int, int, float]] = []
    for row in np.unique(claims.rows).tolist():
        about = claims.rows == row
        stated = dict(zip(claims.values[about].tolist(), claims.confidence[about].tolist(), strict=True))
        belief = problem.prior[row]
        below = any(c < belief[s] - CONFIDENCE_TOLERANCE for s, c in stated.items())
        derived = _above(_derived(problem, row, stated) if below else {}, belief)
        counted = derived | (_above(stated, belief) if keep_stated or not derived else {})
        matching += [(row, s, c) for s, c in counted.items()]
    rows, values, confidence = zip(*matching, strict=True) if matching else ((), (), ())
    return Claims(np.array(rows, dtype=np.int64), np.array(values, dtype=np.int64), np.array(confidence, dtype=float))


def _above(confidence: dict[int, float], belief: FloatArray) -> dict[int, float]:
    """Confidences that are over the belief in their value."""
    return {s: c for s, c in confidence.items() if c > belief[s] + CONFIDENCE_TOLERANCE}


def _derived(problem: Problem, row: int, stated: dict[int, float]) -> dict[int, float]:
    """Remaining probability of a respondent, shared by the values of the group that no claim names."""
    if problem.group[row] < 0:
        return {}
    others: IntArray = np.array([s for s in np.flatnonzero(problem.counts[problem.group[row]]) if s not in stated])
    if not len(others):
        return {}
    belief = problem.prior[row, others]
    share = belief / belief.sum() if belief.sum() > 0 else np.full(len(others), 1 / len(others))
    return dict(zip(others.tolist(), ((1 - sum(stated.values())) * share).tolist(), strict=True))
