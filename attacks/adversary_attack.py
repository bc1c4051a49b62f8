"""Attacks by an adversary; with uncertain knowledge, one attack for each draw, and the mixture of their beliefs."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.attacks.attack import check_adversary, each_release
from foreknow.models import Adversary, Averaged, Beliefs, Posterior, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.averaged import MIN_WEIGHT
from foreknow.models.beliefs import BeliefDraws, ReleaseBeliefs
from foreknow.models.estimators.exact import log_evidence
from foreknow.models.notes import Note, notes_of_draws

MIN_TERM = 1e-12  # weight of a draw from which it enters the Monte Carlo error of the mixture

FEW_DRAWS = 2.0  # effective number of draws under which a note says that the releases leave few of them


@dataclass(frozen=True)
class AdversaryAttack:
    """Attack by an adversary, or by each draw of an `Averaged` one; the beliefs are then a mixture.

    Attributes
    ----------
    reads, ignores : tuple of str
        Names of the parts of knowledge that the attack reads, and of those that it leaves out by definition. An adversary with
        another part is refused; ``"own"`` stands for parts of one's own (`Knowledge`).
    """

    adversary: Adversary | Averaged
    reads: ClassVar[tuple[str, ...]] = ("prior", "transitions", "compromised", "program")
    ignores: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        given = list(each_release(self, releases))
        if isinstance(self.adversary, Adversary):
            return self._attack(self.adversary, given).beliefs
        each = [self._attack(one, given) for one in self.adversary.adversaries]
        return _weighed_mixture(self.adversary, [one.beliefs for one in each], [one.evidence() for one in each])

    @abstractmethod
    def _attack(self, adversary: Adversary, releases: list[Release]) -> "Weighed":
        """Beliefs of one adversary."""


class ReleaseEvidence(NamedTuple):
    """Log-probabilities of the releases that the beliefs around each release are given, under one knowledge."""

    # before, after (t,): of the releases that the revised prior is given, and of those that the posterior is given; 0
    # for no release
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


class DrawWeights(NamedTuple):
    """Weight of each draw of the knowledge; rows sum to 1."""

    first: FloatArray  # (D,): before any release
    # before, after (t, D): in the revised prior and in the posterior of each release
    before: FloatArray
    after: FloatArray

    @classmethod
    def equal(cls, draws: int, releases: int) -> "DrawWeights":
        """Equal weights, whatever the releases are."""
        rows = np.full((releases, draws), 1.0 / draws)
        return cls(np.full(draws, 1.0 / draws), rows, rows)


class Weighed(NamedTuple):
    """Beliefs of an attack with one adversary, and what the releases say of its knowledge."""

    beliefs: Beliefs
    evidence: Callable[[], ReleaseEvidence]  # it is called for an `Averaged` adversary only


def forward_evidence(beliefs: Beliefs) -> ReleaseEvidence:
    """Log-probability of the releases up to each one, by the revised priors of an attack.

    The probability of a release given the earlier ones is that of its multisets under the revised priors (`log_evidence`), with
    members of a group independent given the earlier releases.
    """
    return ReleaseEvidence.forward(single_evidence(beliefs))


def single_evidence(beliefs: Beliefs) -> FloatArray:
    """Log-probability of each release under the revised priors: float array, shape ``(t,)``."""
    return np.array([float(log_evidence(one.problem).sum()) for one in beliefs])


def _weighed_mixture(adversary: Averaged, each: list[Beliefs], evidence: list[ReleaseEvidence]) -> Beliefs:
    """Mixture of the beliefs under each draw, weighed by the releases, with a note on the weights."""
    rows = (np.stack([getattr(one, stage) for one in evidence], axis=1) for stage in ("before", "after"))
    before, after = (np.array([*map(adversary.weights_given, stage)]).reshape(stage.shape) for stage in rows)
    beliefs = mixture(each, DrawWeights(adversary.first_weights, before, after))
    assert beliefs.draws is not None
    is_weighed = adversary.updated and len(beliefs)
    power = adversary.power_given(np.array([one.after[-1] for one in evidence])) if is_weighed else 1.0
    return replace(beliefs, notes=(*_weight_notes(beliefs.draws, power), *beliefs.notes))


def _weight_notes(draws: BeliefDraws, power: float) -> list[Note]:
    """Sentence on the number of draws that the last release leaves, or on the power by which its evidence is tempered."""
    left = float(draws.effective[-1]) if len(draws.weights) else np.inf
    if power < 1:
        kind = (
            "the releases weigh {draws} draws of the knowledge. At the last release, their probability is raised to the "
            "power of {power:.2g} (min_effective), and the effective number of draws is {left:.1f}."
        )
        return [Note(kind, draws=len(draws), power=power, left=left)]
    if len(draws) < FEW_DRAWS or left >= FEW_DRAWS:
        return []
    kind = (
        "the releases leave an effective number of {left:.1f} of {draws} draws of the knowledge. Unless these are "
        "all possible laws, beliefs are overconfident: give Averaged min_effective=0.5, use DataAugmentationAttack, or take draws "
        "from a posterior that has seen the releases."
    )
    return [Note(kind, left=left, draws=len(draws))]


def mixture(
    each: list[Beliefs],  # one for each draw, of the same releases
    weights: DrawWeights,
) -> Beliefs:
    """Mixture of the beliefs under each draw.

    The status of a group is that under any draw with a weight of at least `MIN_WEIGHT`, and its divergent draws are the total of
    these. Where an estimator samples, the standard error is ``sqrt(sum_d w_d^2 e_d^2)``, 0 under a draw whose estimator does not
    sample. The effective sample size is ``1 / sum_d (w_d^2 / ess_d)``: that of a mean of the estimates of independent chains with
    one variance, the sum of the sizes for weights in proportion to them. It is 0 where no draw has a size, as of impossible values.
    R-hat is the largest under a draw with a weight of at least `MIN_WEIGHT`: each sampler's own chains are compared, not the draws
    of the knowledge, whose beliefs differ.
    """
    releases = tuple(
        _mixed([beliefs.releases[t] for beliefs in each], weights.first, weights.before[t], weights.after[t])
        for t in range(len(weights.after))
    )
    return Beliefs(
        releases,
        notes=tuple(notes_of_draws([beliefs.notes for beliefs in each])),
        draws=BeliefDraws(tuple(each), weights.after),
    )


def _mixed(each: list[ReleaseBeliefs], first: FloatArray, before: FloatArray, after: FloatArray) -> ReleaseBeliefs:
    """Mixture of the beliefs around one release, with the weights before any release, before it, and after it."""

    def mean(rows: list[FloatArray], weights: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(weights, np.stack(rows), axes=1))

    posteriors = [one.posterior for one in each]
    weighty = [posterior for posterior, weight in zip(posteriors, after, strict=True) if weight >= MIN_WEIGHT]
    rhats = [one.rhat for one in weighty if one.rhat is not None]
    divergences = [one.divergences for one in weighty if one.divergences is not None]
    return ReleaseBeliefs(
        each[0].observation,
        mean([one.prior for one in each], first),
        mean([one.revised for one in each], before),
        Posterior(
            mean([posterior.probabilities for posterior in posteriors], after),
            np.bitwise_or.reduce([np.zeros_like(posteriors[0].status), *(one.status for one in weighty)]),
            _total(
                [one.standard_error for one in posteriors], lambda error, weight: (weight * error) ** 2, after, np.sqrt
            ),
            _total(
                [one.ess for one in posteriors], lambda ess, weight: _ratio(weight**2, ess), after, partial(_ratio, 1.0)
            ),
            np.asarray(np.fmax.reduce(rhats)) if rhats else None,
            divergences=np.sum(divergences, axis=0) if divergences else None,
        ),
        None if each[0].ghosts is None else mean([one.ghosts for one in each if one.ghosts is not None], before),
        None if each[0].law is None else mean([one.law for one in each if one.law is not None], first),
    )


def _total(
    numbers: list[FloatArray | None],
    term: Callable[[FloatArray, float], FloatArray],
    weights: FloatArray,
    final: Callable[[FloatArray], FloatArray],
) -> FloatArray | None:
    """Function of the sum of a term of each draw with a weight, shape ``(n, m)``; None where no draw has a number."""
    parts = [
        term(one, weight)
        for one, weight in zip(numbers, weights.tolist(), strict=True)
        if one is not None and weight >= MIN_TERM
    ]
    return np.asarray(final(np.sum(parts, axis=0))) if parts else None


def _ratio(number: float, rows: FloatArray) -> FloatArray:
    """Quotient of a number and each element; 0 for 0, the effective sample size of a value that is impossible."""
    return np.divide(number, rows, out=np.zeros_like(rows), where=rows > 0)
