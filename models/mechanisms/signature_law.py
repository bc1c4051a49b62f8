"""Posterior of a release of m-invariance, whose signatures depend on values and on values before."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.mechanisms.counterfeits import (
    ROUNDS,
    SETTLED,
    by_group,
    elsewhere,
    lacking_weights,
    shares,
    signatures_of,
)
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem


def weigh_signatures(
    problem: Problem, kept: FloatArray, dealt: FloatArray, weigh: Callable[[Problem], Posterior]
) -> Posterior:
    """Posterior of people and counterfeits where a signature was kept, or drawn by the value.

    A respondent of value x in a group of signature S has the likelihood ``kept(x) + dealt(x) r_S(x)``, where r_S(x) is the
    share of the freshly dealt records of value x that S received: an unknown with a Dirichlet prior of one pseudo-record,
    spread over the signatures that show x. It is estimated by the expected fresh records in all other groups, and the
    counterfeits by `lacking_weights`; the beliefs are then computed again, until none changes by more than `SETTLED`.

    Parameters
    ----------
    problem : Problem
        With the counterfeits as the last respondents; their prior rows are not read.
    kept : float array, shape (n, m)
        Probability that a respondent of each value keeps the signature and that this one is the signature kept.
    dealt : float array, shape (n, m)
        Probability that a respondent of each value is dealt afresh.
    weigh : function of a Problem to a Posterior
        The estimator; called once per round, on the whole release.

    Returns
    -------
    Posterior
        Rows for people and counterfeits. ``UNCONVERGED`` is set in all groups if the beliefs did not settle within
        `ROUNDS` rounds; ``CONTRADICTED`` in groups of a respondent to whom prior and likelihood leave no value, for whom
        the prior alone is taken.

    Notes
    -----
    Approximate: expectations stand for unknown counts. Exact where each value is shown by one signature and there is no
    counterfeit. Cost: that of the estimator and O(n m + g m) per round.
    """
    people, counts = len(kept), problem.counts
    group, strangers = problem.group[:people], problem.group[people:]
    inside, prior = group >= 0, problem.prior[:people]
    signature = signatures_of(counts)
    invented = np.bincount(strangers, minlength=len(counts))
    lacking = counts * (invented / np.maximum(counts.sum(axis=1), 1))[:, None]
    fresh = counts - lacking
    before, change = problem.prior, np.inf
    lost = np.zeros(people, dtype=np.bool_)
    for _ in range(ROUNDS):
        free = dealt[inside] * received_shares(counts, fresh, signature)[group[inside]]
        likelihood = kept[inside] + free
        rows = prior.copy()
        rows[inside] = shares(prior[inside] * likelihood)
        lost = rows.sum(axis=1) == 0
        rows[lost] = prior[lost]
        found = shares(lacking_weights(counts, lacking, signature))[strangers]
        answer = weigh(replace(problem, prior=np.vstack([rows, found])))
        belief = answer.probabilities
        lacking = by_group(belief[people:], strangers, len(counts))
        share = np.divide(free, likelihood, out=np.zeros_like(free), where=likelihood > 0)
        fresh = by_group(belief[:people][inside] * share, group[inside], len(counts))
        change = float(np.abs(belief - before).max(initial=0.0))
        before = belief
        if change <= SETTLED:
            break
    status = answer.status | (UNCONVERGED if change > SETTLED else 0)
    status[group[lost & inside]] |= CONTRADICTED
    return replace(answer, status=status)


def received_shares(counts: IntArray, fresh: FloatArray, signature: IntArray) -> FloatArray:
    """Share of the fresh records of each value that the signature of each group received: shape ``(g, m)``.

    Parameters
    ----------
    counts : int array, shape (g, m)
    fresh : float array, shape (g, m)
        Expected number of fresh records; those of the group itself are left out.
    signature : int array, shape (g,)
        As `foreknow.models.mechanisms.counterfeits.signatures_of` gives it.
    """
    shown = np.zeros((int(signature.max(initial=-1)) + 1, counts.shape[1]))
    shown[signature] = counts > 0
    others = fresh.sum(axis=0) - fresh
    return np.asarray((elsewhere(fresh, signature) + 1 / np.maximum(shown.sum(axis=0), 1)) / (others + 1))
