"""Attacks with an adversary of uncertain knowledge: one attack for each draw, and the mixture of their beliefs."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from foreknow.attacks.attack import each_release
from foreknow.models import Adversary, Averaged, BeliefDraws, Beliefs, Posterior, Release, ReleaseBeliefs, log_evidence
from foreknow.models.arrays import FloatArray
from foreknow.models.averaged import MIN_WEIGHT

FEW_DRAWS = 2.0
"""Effective number of draws under which a note says that the releases leave few of them."""


class Weighed(NamedTuple):
    """Beliefs of an attack with one adversary, and what the releases say of its knowledge.

    Attributes
    ----------
    beliefs : Beliefs
    log_evidence : function without arguments to a float array, shape (t,)
        Log-probability of the releases that the posterior of each release is given. It is called for an `Averaged` adversary only.
    """

    beliefs: Beliefs
    log_evidence: Callable[[], FloatArray]


def forward_evidence(beliefs: Beliefs) -> FloatArray:
    """Log-probability of the releases up to each one, by the revised priors of an attack: float array, shape ``(t,)``.

    The probability of a release given the earlier ones is that of its multisets under the revised priors (`log_evidence`), with
    members of a group independent given the earlier releases.
    """
    return np.cumsum(single_evidence(beliefs))


def single_evidence(beliefs: Beliefs) -> FloatArray:
    """Log-probability of each release under the revised priors: float array, shape ``(t,)``."""
    return np.array([float(log_evidence(one.observation.problem(one.revised)).sum()) for one in beliefs])


def over_draws(
    attack: object,
    adversary: Adversary | Averaged,
    releases: Iterable[Release],
    single: Callable[[Adversary, list[Release]], Weighed],
    revised_before: bool = True,
) -> Beliefs:
    """Beliefs of an attack with an adversary, or the mixture of those with each draw of an `Averaged` one.

    Parameters
    ----------
    attack : object
        The attack, which error messages name.
    adversary : Adversary or Averaged
    releases : iterable of Release
    single : function of an Adversary and a list of Release to Weighed
    revised_before : bool
        As for `mixture`.
    """
    given = list(each_release(attack, releases))
    if isinstance(adversary, Adversary):
        return single(adversary, given).beliefs
    each = [single(one, given) for one in adversary.adversaries]
    evidence = np.array([one.log_evidence() for one in each])
    return mixture(adversary, [one.beliefs for one in each], evidence, revised_before)


def each_adversary(adversary: Adversary | Averaged) -> tuple[Adversary, ...]:
    """The adversary, or that of each draw."""
    return adversary.adversaries if isinstance(adversary, Averaged) else (adversary,)


def mixture(adversary: Averaged, each: list[Beliefs], evidence: FloatArray, revised_before: bool = True) -> Beliefs:
    """Mixture of the beliefs under each draw.

    Parameters
    ----------
    adversary : Averaged
    each : list of Beliefs
        One for each draw, of the same releases.
    evidence : float array, shape (D, t)
        Log-probability, under each draw, of the releases that the posterior of each release is given.
    revised_before : bool
        True if the revised priors are given the releases before each one, False if they are given no release.
    """
    weights = np.array([adversary.weights_given(evidence[:, t]) for t in range(evidence.shape[1])]).reshape(
        -1, len(each)
    )
    before = np.vstack([adversary.first_weights[None], weights[:-1]]) if len(weights) else weights
    if not revised_before:
        before = np.broadcast_to(adversary.first_weights, weights.shape)
    releases = tuple(
        _mixed([beliefs.releases[t] for beliefs in each], adversary.first_weights, before[t], weights[t])
        for t in range(len(weights))
    )
    draws = BeliefDraws(tuple(each), weights)
    return Beliefs(releases, notes=(*_draw_notes(draws), *dict.fromkeys(n for b in each for n in b.notes)), draws=draws)


def _mixed(each: list[ReleaseBeliefs], first: FloatArray, before: FloatArray, after: FloatArray) -> ReleaseBeliefs:
    """Mixture of the beliefs around one release, with the weights before any release, before it, and after it."""

    def mean(rows: list[FloatArray], weights: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(weights, np.stack(rows), axes=1))

    posteriors = [one.posterior for one in each]
    status = np.zeros_like(posteriors[0].status)
    for weight, posterior in zip(after, posteriors, strict=True):
        status |= posterior.status if weight >= MIN_WEIGHT else 0
    errors = [posterior.standard_error for posterior in posteriors]
    error = None
    if all(one is not None for one in errors):
        error = np.sqrt(mean([np.square(one) for one in errors if one is not None], after**2))
    return ReleaseBeliefs(
        each[0].observation,
        mean([one.prior for one in each], first),
        mean([one.revised for one in each], before),
        Posterior(mean([posterior.probabilities for posterior in posteriors], after), status, error),
    )


def _draw_notes(draws: BeliefDraws) -> list[str]:
    """Sentence on the number of draws that the releases leave."""
    left = float(draws.effective[-1]) if len(draws.weights) else np.inf
    if len(draws) < FEW_DRAWS or left >= FEW_DRAWS:
        return []
    return [
        f"the releases leave an effective number of {left:.1f} of {len(draws)} draws of the knowledge; take draws from a posterior "
        "that has seen the releases, or more draws."
    ]
