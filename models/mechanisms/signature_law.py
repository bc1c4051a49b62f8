"""Posterior of a release of m-invariance, whose signatures depend on the present value and on the value before."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.log_evidence import log_evidence
from foreknow.models.group_rows import group_sums
from foreknow.models.mechanisms.counterfeits import (
    MAX_ROUNDS,
    ROUND_TOLERANCE,
    counterfeit_weights,
    normalized_rows,
    signature_numbers,
    sums_of_other_groups,
)
from foreknow.models.problem import CONTRADICTED, DOUBT, UNCONVERGED, Posterior, Problem


class SignatureLaw(NamedTuple):
    """Posterior of a release of m-invariance, with the law of its signatures.

    Attributes
    ----------
    posterior : Posterior
        Rows for respondents and counterfeits.
    shares : float array, shape (g, m)
        Share of the newly assigned records of each value that the signature of each group received.
    counterfeits : float array, shape (g, m)
        Distribution of the value of a counterfeit of each group.
    problem : Problem
        Priors of respondents and counterfeits given their signatures, with the groups and their counts.
    log_scale : float
        Log-probability of the signatures of all respondents under their priors.
    """

    posterior: Posterior
    shares: FloatArray
    counterfeits: FloatArray
    problem: Problem
    log_scale: float

    @property
    def log_evidence(self) -> float:
        """Log-probability of the release: its signatures, and the counts of its groups given the signatures."""
        return self.log_scale + float(log_evidence(self.problem).sum())


def signature_law(
    problem: Problem, kept: FloatArray, reassigned: FloatArray, estimate: Callable[[Problem], Posterior]
) -> SignatureLaw:
    """Law of respondents and counterfeits where a signature was kept, or assigned anew by the value.

    A respondent of value x in a group of signature S has the likelihood ``kept(x) + reassigned(x) r_S(x)``, where r_S(x) is
    the share of the newly assigned records of value x that S received. This share is unknown and has a Dirichlet prior of one
    pseudo-record, spread over the signatures that show x. It is estimated by the expected new records in all other groups, and
    the counterfeits by `counterfeit_weights`. Then the beliefs are computed again, until none changes by more than
    `ROUND_TOLERANCE`.

    Parameters
    ----------
    problem : Problem
        Problem with the counterfeits as the last respondents; their prior rows are not read.
    kept : float array, shape (n, m)
        Probability that a respondent of each value keeps the signature, and that this signature is the kept one.
    reassigned : float array, shape (n, m)
        Probability that a respondent of each value is assigned anew.
    estimate : function of a Problem to a Posterior
        The estimator; called once per round, on the whole release.

    Returns
    -------
    SignatureLaw
        ``UNCONVERGED`` is set in all groups if the beliefs did not converge within `MAX_ROUNDS` rounds; ``CONTRADICTED`` in
        groups of a respondent to whom prior and likelihood leave no value. Such a respondent has the prior alone.

    Notes
    -----
    Approximate: expectations replace unknown counts. Exact where each value is shown by one signature and there is no
    counterfeit. Cost: that of the estimator and O(n m + g m) per round.
    """
    people, counts = len(kept), problem.counts
    group, invented_group = problem.group[:people], problem.group[people:]
    inside, prior = group >= 0, problem.prior[:people]
    signature = signature_numbers(counts)
    invented = np.bincount(invented_group, minlength=len(counts))
    expected = counts * (invented / np.maximum(counts.sum(axis=1), 1))[:, None]
    new = counts - expected
    before, change = problem.prior, np.inf
    for _ in range(MAX_ROUNDS):
        shares = received_shares(counts, new, signature)
        free = reassigned[inside] * shares[group[inside]]
        likelihood = kept[inside] + free
        weights, rows = prior[inside] * likelihood, prior.copy()
        rows[inside] = normalized_rows(weights)
        impossible = rows.sum(axis=1) == 0
        rows[impossible] = prior[impossible]
        invented_rows = normalized_rows(counterfeit_weights(counts, expected, signature))
        given = replace(problem, prior=np.vstack([rows, invented_rows[invented_group]]))
        answer = estimate(given)
        belief = answer.probabilities
        expected = group_sums(belief[people:], invented_group, len(counts))
        share = np.divide(free, likelihood, out=np.zeros_like(free), where=likelihood > 0)
        new = group_sums(belief[:people][inside] * share, group[inside], len(counts))
        change = float(np.abs(belief - before).max(initial=0.0))
        before = belief
        if change <= ROUND_TOLERANCE:
            break
    status = answer.status | (UNCONVERGED if change > ROUND_TOLERANCE else 0)
    status[group[impossible & inside]] |= CONTRADICTED
    log_scale = float(np.log(np.maximum(weights.sum(axis=1), DOUBT)).sum())
    return SignatureLaw(replace(answer, status=status), shares, invented_rows, given, log_scale)


def received_shares(counts: IntArray, new: FloatArray, signature: IntArray) -> FloatArray:
    """Share of the newly assigned records of each value that the signature of each group received: shape ``(g, m)``.

    Parameters
    ----------
    counts : int array, shape (g, m)
    new : float array, shape (g, m)
        Expected number of newly assigned records; those of the group itself are left out.
    signature : int array, shape (g,)
        Result of `foreknow.models.mechanisms.counterfeits.signature_numbers`.
    """
    shown = np.zeros((int(signature.max(initial=-1)) + 1, counts.shape[1]))
    shown[signature] = counts > 0
    others = new.sum(axis=0) - new
    return np.asarray((sums_of_other_groups(new, signature) + 1 / np.maximum(shown.sum(axis=0), 1)) / (others + 1))
