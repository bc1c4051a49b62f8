"""Posterior of a release some of whose values are distorted, by a channel from true to published values."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.mechanisms.counterfeits import ROUNDS, SETTLED, shares
from foreknow.models.problem import UNCONVERGED, Posterior, Problem


class Channel(NamedTuple):
    """Law by which a record's own value x becomes the published value y, for each record on its own.

    ::

        W[x, x] = 1 - d(x),    W[x, y] = d(x) into(y) / (1 - into(x)) for y != x,    d = odds / (1 + odds)

    Where the group of the record does not show x, W[x, y] is multiplied by ``vanish``.

    Attributes
    ----------
    odds : float array, shape (m,)
        Odds of each own value to be distorted.
    into : float array, shape (m,)
        Probabilities of the values that are shown in place of the own ones.
    vanish : float
        Factor of own values that the group does not show: 1 where this is as likely as it is by chance.
    """

    odds: FloatArray
    into: FloatArray
    vanish: float


class Unmasked(NamedTuple):
    """Joint beliefs in own and published values, summed over one or the other.

    Attributes
    ----------
    belief : float array, shape (n, m)
        In own values.
    from_shown, from_vanished : float array, shape (n, m)
        Probability that the record is distorted and has each own value, one that its group shows and one that it does not.
    into : float array, shape (n, m)
        Probability that the record is distorted and published with each value.
    posterior : Posterior
        The estimator's, of published values.
    """

    belief: FloatArray
    from_shown: FloatArray
    from_vanished: FloatArray
    into: FloatArray
    posterior: Posterior


def weigh_distorted(
    problem: Problem, people: int, distorted: int, vanished: int, weigh: Callable[[Problem], Posterior]
) -> Posterior:
    """Posterior of people some of whom are published with other values, where the number of these is known.

    Published values follow a `Channel`. Its law is unknown and estimated from the release together with the beliefs. The odds
    of each own value are the expected number of its distorted records over that of its others, with one pseudo-record
    each; the values shown instead are as frequent as expected, with one pseudo-record each. Two factors scale the odds until
    the expected numbers of distorted records are those known: of the records whose own value the group shows, and of the
    others.

    Parameters
    ----------
    problem : Problem
        Of the published values. Respondents after the first ``people`` are counterfeits and not distorted.
    people : int
        Number of respondents who are people.
    distorted, vanished : int
        Number of distorted records, and of those among them whose own value their group does not show.
    weigh : function of a Problem to a Posterior
        The estimator, of published values; called once per round on the whole release.

    Returns
    -------
    Posterior
        Of own values; without standard errors. ``UNCONVERGED`` is set in all groups if the beliefs did not settle within
        `ROUNDS` rounds.

    Notes
    -----
    Given the channel, exact if the estimator is (see `unmasked`). The channel itself is an approximation of a defense such as
    MASK: there a group's records are not distorted independently, but until no value shows too often. Cost: that of
    the estimator and O(n m^2) per round.
    """
    group, m = problem.group, problem.prior.shape[1]
    total = max(int((group[:people] >= 0).sum()), 1)
    published = problem.counts.sum(axis=0) + 1.0
    share = (distorted + 1) / (total + 2)
    channel = Channel(np.full(m, share / (1 - share)), published / published.sum(), 1.0 if vanished else 0.0)
    scale, before, change = 1.0, problem.prior, np.inf
    for _ in range(ROUNDS):
        found = unmasked(problem, people, channel, weigh)
        change = float(np.abs(found.belief - before).max(initial=0.0))
        before = found.belief
        if change <= SETTLED:
            break
        moved, gone = found.from_shown.sum(axis=0), found.from_vanished.sum(axis=0)
        scale *= (distorted - vanished + 1) / (moved.sum() + 1)
        vanish = channel.vanish * (vanished + 1) / (gone.sum() + 1)
        still = found.belief[group >= 0].sum(axis=0) - moved - gone
        into = found.into.sum(axis=0) + 1
        channel = Channel(scale * (moved + gone + 1) / (np.maximum(still, 0) + 1), into / into.sum(), vanish)
    status = found.posterior.status | (UNCONVERGED if change > SETTLED else 0)
    return Posterior(found.belief, status, rule=found.posterior.rule)


def unmasked(problem: Problem, people: int, channel: Channel, weigh: Callable[[Problem], Posterior]) -> Unmasked:
    """Beliefs in own values under a channel.

    The prior of a record's published value is its own prior through the channel; a posterior of published values Q follows by the
    estimator, and that of own values by Bayes' rule within each pair::

        R[y] = sum over x of P[x] W[x, y],    belief[x] = sum over y of Q[y] P[x] W[x, y] / R[y]

    Rows outside all groups, of counterfeits, and rows to which the channel leaves no shown value, are those of the estimator.
    """
    prior, group = problem.prior, problem.group
    inside = (group >= 0) & (np.arange(len(group)) < people)
    shown = np.where(inside[:, None], problem.counts[group] > 0, True)
    left_alone = prior / (1 + channel.odds)
    own = np.where(shown, left_alone, 0.0)
    leaving = left_alone * channel.odds / np.maximum(1 - channel.into, np.finfo(float).tiny)
    leaving = np.where(shown, leaving, channel.vanish * leaving) * inside[:, None]
    # Into every other value than the own one.
    arriving = np.where(shown, (leaving.sum(axis=1, keepdims=True) - leaving) * channel.into, 0.0)
    through = np.maximum(own + arriving, 0.0)
    possible = inside & (through.sum(axis=1) > 0)
    posterior = weigh(replace(problem, prior=np.where(possible[:, None], shares(through), prior)))
    ratio = np.divide(posterior.probabilities, through, out=np.zeros_like(through), where=through > 0)
    ratio *= possible[:, None]
    received = ratio * channel.into
    left = leaving * (received.sum(axis=1, keepdims=True) - received)
    belief = np.where(possible[:, None], shares(own * ratio + left), posterior.probabilities)
    return Unmasked(belief, np.where(shown, left, 0.0), np.where(shown, 0.0, left), arriving * ratio, posterior)
