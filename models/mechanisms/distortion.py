"""Posterior of a release with distorted values, by a channel from true to published values."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.mechanisms.counterfeits import MAX_ROUNDS, ROUND_TOLERANCE, normalized_rows
from foreknow.models.problem import UNCONVERGED, Posterior, Problem


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
    """Marginals of the joint beliefs in own and published values.

    Attributes
    ----------
    belief : float array, shape (n, m)
        Belief in own values.
    from_shown, from_vanished : float array, shape (n, m)
        Probability that the record is distorted and has each own value: a value that its group shows, and one that it does not.
    into : float array, shape (n, m)
        Probability that the record is distorted and published with each value.
    posterior : Posterior
        Posterior of published values, from the estimator.
    """

    belief: FloatArray
    from_shown: FloatArray
    from_vanished: FloatArray
    into: FloatArray
    posterior: Posterior


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
    beliefs, change = _fit_channel(problem, people, distorted, vanished, estimate)[1:]
    status = beliefs.posterior.status | (UNCONVERGED if change > ROUND_TOLERANCE else 0)
    return Posterior(beliefs.belief, status, rule=beliefs.posterior.rule)


def fitted_channel(
    problem: Problem, people: int, distorted: int, vanished: int, estimate: Callable[[Problem], Posterior]
) -> Channel:
    """Channel that `distortion_posterior` estimates from a release; the parameters are the same."""
    return _fit_channel(problem, people, distorted, vanished, estimate)[0]


def emission_matrices(channel: Channel, counts: IntArray) -> FloatArray:
    """Probability of each published value given the own value, by group: float array, shape ``(g, m, m)``.

    Parameters
    ----------
    channel : Channel
    counts : int array, shape (g, m)
        Multisets of the groups, of which each is one factor: own values that a group does not show are weighted by ``vanish``.

    Returns
    -------
    float array, shape (g, m, m)
        ``[j, x, y]``; the matrix of a group is divided by its largest row sum, which changes no posterior.
    """
    m = counts.shape[1]
    share = channel.odds / (1 + channel.odds)
    matrix = (share / np.maximum(1 - channel.into, np.finfo(float).tiny))[:, None] * channel.into
    matrix[np.arange(m), np.arange(m)] = 1 - share
    shown = counts > 0
    matrices = np.where(shown[:, :, None], matrix, channel.vanish * matrix)
    totals = matrices.sum(axis=2).max(axis=1, initial=0.0)
    return np.asarray(matrices / np.where(totals > 0, totals, 1.0)[:, None, None])


def _fit_channel(
    problem: Problem, people: int, distorted: int, vanished: int, estimate: Callable[[Problem], Posterior]
) -> tuple[Channel, ChannelBeliefs, float]:
    """Channel of a release, the beliefs under it, and the largest change of a belief in the last round."""
    before, change = problem.prior, np.inf
    channel, scale = _first_channel(problem, people, distorted, vanished), 1.0
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


def _first_channel(problem: Problem, people: int, distorted: int, vanished: int) -> Channel:
    """Channel of the first round: equal odds, replacing values as frequent as published."""
    total = max(int((problem.group[:people] >= 0).sum()), 1)
    published = problem.counts.sum(axis=0) + 1.0
    share = (distorted + 1) / (total + 2)
    odds = np.full(problem.prior.shape[1], share / (1 - share))
    return Channel(odds, published / published.sum(), 1.0 if vanished else 0.0)


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
