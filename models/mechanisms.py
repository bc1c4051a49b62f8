"""Mechanisms of a publisher that alter a release: counterfeits, distorted values, signatures of m-invariance."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.assignments import group_sums
from foreknow.models.estimators.exact import log_evidence
from foreknow.models.problem import CONTRADICTED, DOUBT, UNCONVERGED, Posterior, Problem, chosen_groups

MAX_ROUNDS = 200
"""Largest number of rounds of a distribution that is estimated together with the beliefs."""

ROUND_TOLERANCE = 1e-3
"""Largest change of a probability between two rounds at which the estimation stops."""


def counterfeit_posterior(problem: Problem, people: int, estimate: Callable[[Problem], Posterior]) -> Posterior:
    """Posterior of respondents and counterfeits, where groups were formed by values and counterfeits replace missing records.

    The publisher is assumed to assign the records of one value at random to the groups that show it, and counterfeits to the
    places that remain. Let C be the number of counterfeits of value v in the groups of a signature (the set of shown values),
    n the number of true records of v there, and N the number of true records of v in all groups. Each of the C + n places of
    a signature and value is a counterfeit with an unknown probability, uniform between 0 and 1. Then::

        P(x | release) ~ product over people of P_i(x_i), over values of 1 / N!, over signatures and values of C! n! / (C + n + 1)!

    Given all other groups, a counterfeit of value v in a group has the weight ``(N + 1) (C + 1) / (n + 1)``, with the counts of
    the other groups. These counts are unknown. Their expectations under the present beliefs replace them (collapsed
    variational Bayes of order zero), and the beliefs are computed again until no probability of a counterfeit changes by more
    than `ROUND_TOLERANCE`.

    Parameters
    ----------
    problem : Problem
        Problem with the counterfeits as the last respondents; their prior rows are not read.
    people : int
        Number of respondents before the counterfeits.
    estimate : function of a Problem to a Posterior
        The estimator. It is called once per round on the groups that have counterfeits, and at the end on all groups.

    Returns
    -------
    Posterior
        Rows for respondents and counterfeits. ``UNCONVERGED`` is set in groups with counterfeits if the estimation did not
        converge within `MAX_ROUNDS` rounds.

    Notes
    -----
    Exact where one group has counterfeits and shows each value once; otherwise approximate. The result relies on a prior with
    correct frequencies of the values in this release, as N determines which values are missing. Groups without counterfeits
    have the posterior of the estimator. Several counterfeits of one value in one group are treated as independent. Cost: that
    of the estimator and O(g m) per round.
    """
    counts, invented_group = problem.counts, problem.group[people:]
    invented = np.bincount(invented_group, minlength=len(counts))
    with_counterfeits = invented > 0
    part = chosen_groups(problem, with_counterfeits)
    signature = signature_numbers(counts)
    expected = counts * (invented / np.maximum(counts.sum(axis=1), 1))[:, None]
    prior, change = problem.prior, np.inf
    for _ in range(MAX_ROUNDS):
        weights = counterfeit_weights(counts, expected, signature) * assignment_weights(counts, expected, signature)
        prior = np.vstack([problem.prior[:people], normalized_rows(weights)[invented_group]])
        belief = estimate(replace(part, prior=prior)).probabilities[people:]
        # An estimator that does not keep the counts of a group, as Omega, may expect more counterfeits of a value than it shows.
        previous, expected = expected, np.minimum(group_sums(belief, invented_group, len(counts)), counts)
        change = float(np.abs(expected - previous).max())
        if change <= ROUND_TOLERANCE:
            break
    answer = estimate(replace(problem, prior=prior))
    unconverged = with_counterfeits & (change > ROUND_TOLERANCE)
    return replace(answer, status=np.where(unconverged, answer.status | UNCONVERGED, answer.status))


def signature_numbers(counts: IntArray) -> IntArray:
    """Number of the signature (set of shown values) of each group: int array, shape ``(g,)``; equal for equal sets."""
    return np.unique(counts > 0, axis=0, return_inverse=True)[1].reshape(-1)


def sums_of_other_groups(expected: FloatArray, signature: IntArray) -> FloatArray:
    """Sums over the other groups of the same signature, of numbers of shape ``(g, m)`` by group: same shape."""
    return group_sums(expected, signature, int(signature.max(initial=-1)) + 1)[signature] - expected


def counterfeit_weights(counts: IntArray, expected: FloatArray, signature: IntArray) -> FloatArray:
    """Weight of a counterfeit of each value, shape ``(g, m)``: 1 plus the number expected in other groups of the signature.

    This is the predictive distribution of a Dirichlet distribution with parameters 1 over the values of the signature. It
    suffices where the rows of the respondents already contain the information of the signature. ``expected``, shape ``(g, m)``,
    is the expected number of counterfeits, ``signature`` the result of `signature_numbers`.
    """
    return np.where(counts > 0, sums_of_other_groups(expected, signature) + 1, 0.0)


def assignment_weights(counts: IntArray, expected: FloatArray, signature: IntArray) -> FloatArray:
    """Inverse of the share of the records of a value that a signature received, shape ``(g, m)``, from the other groups.

    A group whose members were assigned to its signature by their values has as its weight the product of these shares over its
    true records. This product is a constant divided by the product over its counterfeits. Parameters are those of
    `counterfeit_weights`.
    """
    true = counts - expected
    return (true.sum(axis=0) - true + 1) / (sums_of_other_groups(true, signature) + 1)


def normalized_rows(weights: FloatArray) -> FloatArray:
    """Rows divided by their sums; rows of zeros stay."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)


class Channel(NamedTuple):
    """Distribution of the published value y of a record given its own value x, independent for each record.

    ::

        W[x, x] = 1 - d(x),    W[x, y] = d(x) into(y) / (1 - into(x)) for y != x,    d = odds / (1 + odds)

    Where the group of the record does not show x, W[x, y] is multiplied by ``vanish``.

    Attributes
    ----------
    odds : float array, shape (m,)
        Odds that a record of each own value is distorted.
    into : float array, shape (m,)
        Probability of each value that replaces an own value.
    vanish : float
        Factor for own values that the group does not show: 1 where this is as probable as by chance.
    """

    odds: FloatArray
    into: FloatArray
    vanish: float


class ChannelBeliefs(NamedTuple):
    """Marginals of the joint beliefs in own and published values."""

    belief: FloatArray  # (n, m): belief in own values
    # from_shown, from_vanished (n, m): probability that the record is distorted and has each own value: a value that its group
    # shows, and one that it does not
    from_shown: FloatArray
    from_vanished: FloatArray
    into: FloatArray  # (n, m): probability that the record is distorted and published with each value
    posterior: Posterior  # posterior of published values, from the estimator


def distortion_posterior(
    problem: Problem, people: int, distorted: int, vanished: int, estimate: Callable[[Problem], Posterior]
) -> Posterior:
    """Posterior of a release in which a known number of records is published with other values.

    Published values follow a `Channel`, which is unknown and estimated from the release together with the beliefs. The odds of
    each own value are the expected number of its distorted records divided by the expected number of the others, with one
    pseudo-record each. The frequencies of replacing values are the expected ones, with one pseudo-record each. Two factors
    scale the odds until the expected numbers of distorted records equal the known ones: one for records whose own value the
    group shows, one for the others.

    Parameters
    ----------
    problem : Problem
        Problem of the published values. Respondents after the first ``people`` are counterfeits and not distorted.
    people : int
        Number of respondents before the counterfeits.
    distorted, vanished : int
        Number of distorted records, and of those among them whose own value their group does not show.
    estimate : function of a Problem to a Posterior
        The estimator, of published values; called once per round on the whole release.

    Returns
    -------
    Posterior
        Posterior of own values, without standard errors. ``UNCONVERGED`` is set in all groups if the beliefs did not converge
        within `MAX_ROUNDS` rounds.

    Notes
    -----
    Exact given the channel, if the estimator is exact (see `beliefs_through_channel`). The channel is an approximation of a
    defense such as MASK, which does not distort the records of a group independently, but until no value is too frequent.
    Cost: that of the estimator and O(n m^2) per round.
    """
    _, beliefs, change = fit_channel(problem, people, distorted, vanished, estimate)
    status = beliefs.posterior.status | (UNCONVERGED if change > ROUND_TOLERANCE else 0)
    last = beliefs.posterior
    return Posterior(beliefs.belief, status, rule=last.rule, unknown_draws=last.unknown_draws)


def emission_matrices(channel: Channel, counts: IntArray) -> FloatArray:
    """Probability of each published value given the own value, by group: ``[j, x, y]``, shape ``(g, m, m)``.

    Own values that a group with ``counts``, shape ``(g, m)``, does not show are weighted by ``vanish``. The matrix of a group is
    divided by its largest row sum, which changes no posterior.
    """
    m = counts.shape[1]
    share = channel.odds / (1 + channel.odds)
    matrix = (share / np.maximum(1 - channel.into, np.finfo(float).tiny))[:, None] * channel.into
    matrix[np.arange(m), np.arange(m)] = 1 - share
    shown = counts > 0
    matrices = np.where(shown[:, :, None], matrix, channel.vanish * matrix)
    totals = matrices.sum(axis=2).max(axis=1, initial=0.0)
    return np.asarray(matrices / np.where(totals > 0, totals, 1.0)[:, None, None])


def fit_channel(
    problem: Problem, people: int, distorted: int, vanished: int, estimate: Callable[[Problem], Posterior]
) -> tuple[Channel, ChannelBeliefs, float]:
    """Channel of a release, the beliefs under it, and the largest change of a belief in the last round.

    The parameters are those of `distortion_posterior`.
    """
    before, change, scale = problem.prior, np.inf, 1.0
    # The first round: equal odds, replacing values as frequent as published.
    total = max(int((problem.group[:people] >= 0).sum()), 1)
    published = problem.counts.sum(axis=0) + 1.0
    share = (distorted + 1) / (total + 2)
    odds = np.full(problem.prior.shape[1], share / (1 - share))
    channel = Channel(odds, published / published.sum(), 1.0 if vanished else 0.0)
    for _ in range(MAX_ROUNDS):
        beliefs = beliefs_through_channel(problem, people, channel, estimate)
        change = float(np.abs(beliefs.belief - before).max(initial=0.0))
        before = beliefs.belief
        if change <= ROUND_TOLERANCE:
            break
        moved, gone = beliefs.from_shown.sum(axis=0), beliefs.from_vanished.sum(axis=0)
        scale *= (distorted - vanished + 1) / (moved.sum() + 1)
        vanish = channel.vanish * (vanished + 1) / (gone.sum() + 1)
        unmoved = beliefs.belief[problem.group >= 0].sum(axis=0) - moved - gone
        into = beliefs.into.sum(axis=0) + 1
        channel = Channel(scale * (moved + gone + 1) / (np.maximum(unmoved, 0) + 1), into / into.sum(), vanish)
    return channel, beliefs, change


def beliefs_through_channel(
    problem: Problem, people: int, channel: Channel, estimate: Callable[[Problem], Posterior]
) -> ChannelBeliefs:
    """Beliefs in own values under a channel.

    The prior R of the published value of a record is its own prior P through the channel. The estimator computes the posterior
    Q of published values. The belief in own values follows by Bayes' rule for each record::

        R[y] = sum over x of P[x] W[x, y],    belief[x] = sum over y of Q[y] P[x] W[x, y] / R[y]

    Rows outside all groups, rows of counterfeits, and rows to which the channel leaves no shown value, are those of the
    estimator.
    """
    prior, group = problem.prior, problem.group
    inside = (group >= 0) & (np.arange(len(group)) < people)
    shown = np.where(inside[:, None], problem.counts[group] > 0, True)
    undistorted = prior / (1 + channel.odds)
    own = np.where(shown, undistorted, 0.0)
    leaving = undistorted * channel.odds / np.maximum(1 - channel.into, np.finfo(float).tiny)
    leaving = np.where(shown, leaving, channel.vanish * leaving) * inside[:, None]
    # The sum over all own values other than the published one.
    arriving = np.where(shown, (leaving.sum(axis=1, keepdims=True) - leaving) * channel.into, 0.0)
    published = np.maximum(own + arriving, 0.0)
    possible = inside & (published.sum(axis=1) > 0)
    posterior = estimate(replace(problem, prior=np.where(possible[:, None], normalized_rows(published), prior)))
    ratio = np.divide(posterior.probabilities, published, out=np.zeros_like(published), where=published > 0)
    ratio *= possible[:, None]
    received = ratio * channel.into
    left = leaving * (received.sum(axis=1, keepdims=True) - received)
    belief = np.where(possible[:, None], normalized_rows(own * ratio + left), posterior.probabilities)
    return ChannelBeliefs(belief, np.where(shown, left, 0.0), np.where(shown, 0.0, left), arriving * ratio, posterior)


class SignatureLaw(NamedTuple):
    """Posterior of a release of m-invariance, with the law of its signatures."""

    posterior: Posterior  # rows for respondents and counterfeits
    # (g, m): share of the newly assigned records of each value that the signature of each group received
    shares: FloatArray
    counterfeits: FloatArray  # (g, m): distribution of the value of a counterfeit of each group
    problem: Problem  # priors of respondents and counterfeits given their signatures, with the groups and their counts
    log_scale: float  # log-probability of the signatures of all respondents under their priors

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

    ``new``, shape ``(g, m)``, is their expected number, of which those of the group itself are left out; ``signature`` is the
    result of `signature_numbers`.
    """
    shown = np.zeros((int(signature.max(initial=-1)) + 1, counts.shape[1]))
    shown[signature] = counts > 0
    others = new.sum(axis=0) - new
    return np.asarray((sums_of_other_groups(new, signature) + 1 / np.maximum(shown.sum(axis=0), 1)) / (others + 1))
