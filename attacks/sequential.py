"""Attacks release by release: each one alone, forward with memory, and backward from later releases."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from foreknow.attacks.adversary_attack import (
    AdversaryAttack,
    ReleaseEvidence,
    Weighed,
    forward_evidence,
    single_evidence,
)
from foreknow.attacks.attack import check_order_1
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Beliefs, Memory, Posterior, Release
from foreknow.models.adversary import check_knows_ghosts
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.knowledge.membership import membership_evidence
from foreknow.models.knowledge.personal_transitions import chains_at, class_by_respondent, steps_between


class SequentialAttack(AdversaryAttack):
    """Revision of the prior and observation, release by release (JS-reduce, section 4.5).

    Parameters
    ----------
    adversary : Adversary or Averaged

    Notes
    -----
    The memory holds marginal beliefs, not their joint distribution. Where the same respondents share a group again, evidence
    is counted twice and beliefs are overconfident; the ``notes`` of the beliefs report it (`repeated_pairs`).

    `Presence` is read as in a filter: that a respondent is listed again is evidence of the last value, from that release on.
    """

    reads = ("prior", "transitions", "compromised", "presence", "mechanism", "program", "own")

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        beliefs = tuple(belief for _, belief in steps(adversary, releases))
        adversary.check_claim_times([belief.observation.time for belief in beliefs])
        found = Beliefs(beliefs, notes=belief_notes(adversary, beliefs))
        return Weighed(found, partial(forward_evidence, found))


def steps(adversary: Adversary, releases: Iterable[Release], first: int = 0) -> Iterator[tuple[Memory, ReleaseBeliefs]]:
    """Yield the memory before each release, and the beliefs before and after it; ``first`` is the number of the first one."""
    memory = Memory(releases=first)
    for release in releases:
        seen = release.observation
        check_knows_ghosts(adversary, seen.time, len(seen.ghosts or ()))
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        every, revised_of_all, prior_of_all = adversary.with_ghosts(memory, seen, revised, prior)
        posterior = adversary.posterior(revised_of_all, every)
        ghosts = None if every is seen else revised_of_all[len(revised) :]
        yield memory, ReleaseBeliefs(seen, prior, revised, posterior.first(len(prior)), ghosts)
        memory = adversary.update_memory(memory, every, posterior, prior=prior_of_all)


class SnapshotAttack(AdversaryAttack):
    """Observation of each release with the prior, without memory of earlier releases (JS-reduce, section 7.3).

    Parameters
    ----------
    adversary : Adversary or Averaged
        Its transitions and presence are left out.

    Notes
    -----
    With a `Membership` the beliefs are made of `Release.unlabeled`, which has no group of a respondent; the beliefs are stored
    beside the groups, for measures. A connected part of respondents and groups is solved as one group (`membership_posterior`).
    """

    reads = ("prior", "compromised", "membership", "mechanism", "program", "own")
    ignores = ("transitions", "presence")

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        adversary = adversary.without("presence")
        first = _first_step if adversary.membership is None else _unlabeled_step
        beliefs = [first(adversary, release, number) for number, release in enumerate(releases)]
        adversary.check_claim_times([belief.observation.time for belief in beliefs])
        found = Beliefs(tuple(beliefs), notes=belief_notes(adversary.without("transitions"), beliefs))
        return Weighed(found, lambda: ReleaseEvidence.alone(_evidence_of_each(adversary, found, releases)))


def _first_step(adversary: Adversary, release: Release, number: int) -> ReleaseBeliefs:
    """Beliefs about a release as if it were the first one, with its number."""
    return next(steps(adversary, [release], number))[1]


def _unlabeled_step(adversary: Adversary, release: Release, number: int) -> ReleaseBeliefs:
    """The same by the membership; the observation with groups is stored beside them, and not read."""
    if not isinstance(release, Release):
        raise TypeError(
            f"SnapshotAttack reads a membership of a Release, and this is a {type(release).__name__}, whose respondents are known "
            'with their groups. Leave it out: adversary.without("membership").'
        )
    seen = release.unlabeled
    prior = adversary.prior_rows(seen.people)
    revised = adversary.revise(Memory(releases=number), seen.people, seen.time, prior=prior)
    return ReleaseBeliefs(
        release.observation, prior, revised, adversary.posterior_without_labels(revised, seen).posterior
    )


def _evidence_of_each(adversary: Adversary, beliefs: Beliefs, releases: list[Release]) -> FloatArray:
    """Log-probability of each release alone: float array, shape ``(t,)``."""
    if adversary.membership is None:
        return single_evidence(beliefs)
    seen = [release.unlabeled for release in releases]
    each = zip(beliefs, seen, strict=True)
    return np.array(
        [membership_evidence(adversary.membership_components(one), b.revised, one.counts) for b, one in each]
    )


MIN_REVISED_PRIOR = 1e-200  # smallest revised prior by which a posterior is divided; the ratio stays finite


class RetrospectiveAttack(AdversaryAttack):
    """Beliefs about each release given all releases, by forward-backward smoothing of each respondent.

    The belief in the value s at release t is that of `SequentialAttack`, times the likelihood of later releases given s::

        belief_t(s) beta_t(s),    beta_t(s) = sum over s' of P(s' | s) L_t'(s') beta_t'(s')

    where t' is the next release in which the respondent is published, and L_t' the ratio of posterior to revised prior there
    (the revised prior without the compromised records about t'). None of the papers smooths.

    Parameters
    ----------
    adversary : Adversary or Averaged
        With transitions of order 1. All releases weigh the draws of an `Averaged` one in ``posterior``, and the earlier ones in
        ``revised``.

    Notes
    -----
    `JointAttack` keeps what this attack loses: the members of a group are evidence about each other's paths. Exact for a
    respondent who is alone in every group. Otherwise the groups count as independent evidence, as in `filter_revision`, so that
    evidence is repeated where the same respondents share groups again; the ``notes`` of the beliefs report it (`repeated_pairs`).
    ``revised``, ``status`` and ``unknowns`` are those of the sequential attack; standard errors are not propagated backwards. Cost:
    that of the sequential attack and O(t n m^2).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_order_1(self, self.adversary)

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        held, without_claims, with_evidence = _forward(adversary, releases)
        transitions = adversary.known_transitions
        assert transitions is not None
        classes = [class_by_respondent(transitions, belief.observation.people) for belief in held]
        after: dict[Hashable, tuple[int, FloatArray]] = {}
        found: list[ReleaseBeliefs] = []
        for number, release in reversed(list(enumerate(held))):
            later = _later_likelihood(adversary, release, number, after, classes)
            posterior = release.posterior.probabilities * later
            totals = posterior.sum(axis=1, keepdims=True)
            # Where later releases contradict every value with a belief, the forward belief is kept.
            posterior = np.divide(posterior, totals, out=release.posterior.probabilities.copy(), where=totals > 0)
            kept, unknown = release.posterior.status, release.posterior.unknown_draws
            found.insert(0, replace(release, posterior=Posterior(posterior, kept, unknown_draws=unknown)))
            likelihood = release.posterior.probabilities / np.maximum(without_claims[number], MIN_REVISED_PRIOR)
            for row in np.flatnonzero(with_evidence[number]):
                message = likelihood[row] * later[row]
                after[release.observation.people.respondents[row]] = (number, message / max(message.max(), 1e-300))
        beliefs = Beliefs(tuple(found), notes=belief_notes(adversary, found))
        return Weighed(beliefs, lambda: forward_evidence(beliefs).in_hindsight())


def _forward(
    adversary: Adversary, releases: Iterable[Release]
) -> tuple[list[ReleaseBeliefs], list[FloatArray], list[BoolArray]]:
    """Sequential beliefs, revised priors without compromised records, and the rows with evidence, per release."""
    held, without_claims, with_evidence = [], [], []
    for memory, belief in steps(adversary, releases):
        seen = belief.observation
        held.append(belief)
        without_claims.append(adversary.revise(memory, seen.people, prior=belief.prior))
        with_evidence.append(
            (seen.group >= 0) | adversary.affected_by_claims(memory, seen, belief.posterior, prior=belief.prior)
        )
    adversary.check_claim_times([belief.observation.time for belief in held])
    return held, without_claims, with_evidence


def _later_likelihood(
    adversary: Adversary,
    release: ReleaseBeliefs,
    number: int,
    after: dict[Hashable, tuple[int, FloatArray]],
    classes: list[dict[Hashable, int]],
) -> FloatArray:
    """Likelihood of later releases given each value of each respondent (beta): shape ``(n, m)``."""
    transitions = adversary.known_transitions
    assert transitions is not None
    later = np.ones(release.revised.shape)
    for row, respondent in enumerate(release.observation.people.respondents):
        if respondent in after:
            when, message = after[respondent]
            for step, own in reversed(steps_between(classes, respondent, number, when, adversary.gaps)):
                message = chains_at(transitions, step)[own].probabilities @ message
            later[row] = message
    return later
