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


class ReleaseEvidence(NamedTuple):
    """Log-probabilities of the releases that the beliefs around each release are given, under one knowledge.

    Attributes
    ----------
    before, after : float array, shape (t,)
        Of the releases that the revised prior is given, and of those that the posterior is given; 0 for no release.
    """

    before: FloatArray
    after: FloatArray

    @classmethod
    def forward(cls, single: FloatArray) -> "ReleaseEvidence":
        """Evidence of beliefs that go forward: float array of each release given the earlier ones, shape ``(t,)``."""
        total = np.cumsum(single)
        return cls(np.concatenate([np.zeros(1), total])[: len(total)], total)

    @classmethod
    def alone(cls, single: FloatArray) -> "ReleaseEvidence":
        """Evidence of beliefs about each release alone."""
        return cls(np.zeros(len(single)), single)

    def in_hindsight(self) -> "ReleaseEvidence":
        """Evidence where the posterior of each release is given all releases."""
        return ReleaseEvidence(self.before, np.full(len(self.after), self.after[-1:].sum()))


class Weighed(NamedTuple):
    """Beliefs of an attack with one adversary, and what the releases say of its knowledge.

    Attributes
    ----------
    beliefs : Beliefs
    evidence : function without arguments to ReleaseEvidence
        It is called for an `Averaged` adversary only.
    """

    beliefs: Beliefs
    evidence: Callable[[], ReleaseEvidence]


def forward_evidence(beliefs: Beliefs) -> ReleaseEvidence:
    """Log-probability of the releases up to each one, by the revised priors of an attack.

    The probability of a release given the earlier ones is that of its multisets under the revised priors (`log_evidence`), with
    members of a group independent given the earlier releases.
    """
    return ReleaseEvidence.forward(single_evidence(beliefs))


def single_evidence(beliefs: Beliefs) -> FloatArray:
    """Log-probability of each release under the revised priors: float array, shape ``(t,)``."""
    return np.array([float(log_evidence(one.observation.problem(one.revised)).sum()) for one in beliefs])


def over_draws(
    attack: object,
    adversary: Adversary | Averaged,
    releases: Iterable[Release],
    single: Callable[[Adversary, list[Release]], Weighed],
) -> Beliefs:
    """Beliefs of an attack with an adversary, or the mixture of those with each draw of an `Averaged` one.

    Parameters
    ----------
    attack : object
        The attack, which error messages name.
    adversary : Adversary or Averaged
    releases : iterable of Release
    single : function of an Adversary and a list of Release to Weighed
    """
    given = list(each_release(attack, releases))
    if isinstance(adversary, Adversary):
        return single(adversary, given).beliefs
    each = [single(one, given) for one in adversary.adversaries]
    return mixture(adversary, [one.beliefs for one in each], [one.evidence() for one in each])


def mixture(adversary: Averaged, each: list[Beliefs], evidence: list[ReleaseEvidence]) -> Beliefs:
    """Mixture of the beliefs under each draw.

    Parameters
    ----------
    adversary : Averaged
    each : list of Beliefs
        One for each draw, of the same releases.
    evidence : list of ReleaseEvidence
        One for each draw.
    """
    before = _weights(adversary, [one.before for one in evidence])
    after = _weights(adversary, [one.after for one in evidence])
    releases = tuple(
        _mixed([beliefs.releases[t] for beliefs in each], adversary.first_weights, before[t], after[t])
        for t in range(len(after))
    )
    draws = BeliefDraws(tuple(each), after)
    power = adversary.power_given(np.array([one.after[-1] for one in evidence])) if len(after) else 1.0
    notes = (*_draw_notes(draws, power if adversary.updated else 1.0), *dict.fromkeys(n for b in each for n in b.notes))
    return Beliefs(releases, notes=notes, draws=draws)


def _weights(adversary: Averaged, log_evidence: list[FloatArray]) -> FloatArray:
    """Weight of each draw at each release: float arrays, D of shape ``(t,)`` to ``(t, D)``."""
    rows = np.stack(log_evidence, axis=1)
    return np.array([adversary.weights_given(row) for row in rows]).reshape(rows.shape)


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


def _draw_notes(draws: BeliefDraws, power: float) -> list[str]:
    """Sentence on the number of draws that the releases leave, or on the power by which their evidence is tempered."""
    left = float(draws.effective[-1]) if len(draws.weights) else np.inf
    if power < 1:
        return [
            f"the releases weigh {len(draws)} draws of the knowledge, with their probability to the power of {power:.2g} "
            f"(min_effective): the effective number of draws is {left:.1f}."
        ]
    if len(draws) < FEW_DRAWS or left >= FEW_DRAWS:
        return []
    return [
        f"the releases leave an effective number of {left:.1f} of {len(draws)} draws of the knowledge. Unless these are "
        "all possible laws, beliefs are overconfident: give Averaged min_effective=0.5, use ParticleLearningAttack, or take draws "
        "from a posterior that has seen the releases."
    ]
