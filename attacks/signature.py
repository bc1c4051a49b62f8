"""Attack on m-invariance by an adversary who knows its rule: a new signature discloses a new value."""

from collections.abc import Hashable, Iterable, Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from foreknow.attacks.adversary_attack import AdversaryAttack, ReleaseEvidence, Weighed
from foreknow.attacks.attack import check_order_1
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Beliefs, Memory, Observation, Release
from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.knowledge.personal_transitions import chains_at, class_by_respondent, steps_between
from foreknow.models.mechanisms import SignatureLaw, signature_law


class _Published(NamedTuple):
    """State of a respondent at the last publication: number of the release, belief, signature."""

    release: int
    belief: FloatArray
    signature: BoolArray


class SignatureAttack(AdversaryAttack):
    """Sequential attack by an adversary who knows the rule of m-invariance.

    By the rule, a respondent with the same value as when last published is in a group of the same signature (the set of
    shown values); every other respondent is assigned a signature at random among the records of the same value. With x' the value
    when last published, x the present one, S' and S the signatures, the likelihood of the transition is::

        P(S | S', x', x) = [x = x'] [S = S'] + [x != x'] r_S(x)

    where r_S(x) is the share of the fresh records of value x that signature S received; for a newcomer it is r_S(x). The
    forward filter of order 1 carries it. A respondent of another signature than before has another value, for certain.

    The shares r and the law of the counterfeits of each signature are unknown. Both are estimated from each release
    together with its beliefs (`foreknow.models.mechanisms.signature_law`).

    Parameters
    ----------
    adversary : Adversary or Averaged
        With transitions of order 1. Its setting for counterfeits is not read.

    Notes
    -----
    Assumed, and not checked: all releases are of one m and one rule, and all of them are known, so that no
    respondent was last published among values without the own one.

    Exact: the exclusions. Approximate: expectations stand for unknown counts, and the groups of different releases are treated as
    independent evidence, as in `SequentialAttack`, so that beliefs are too sure where the same people meet again. Where the chain
    and the rule leave a respondent no value, the signature is not read, and the status of the group is ``CONTRADICTED``.
    Compromised records of a release in which their respondent is not published enter by the chain, not by the signature.

    The releases weigh the draws of an `Averaged` adversary by the probability of the signatures and of the counts given them. Both
    have the shares and the law of counterfeits that are estimated under the draw.

    Cost: that of the estimator and O(n m + g m) per round, up to 200 rounds per release.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_order_1(self, self.adversary)

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        found, laws = read_signatures(adversary, releases)
        beliefs = Beliefs(found, notes=belief_notes(adversary, found, signatures=True))
        return Weighed(beliefs, partial(signature_evidence, laws))


def signature_evidence(laws: Sequence[SignatureLaw]) -> ReleaseEvidence:
    """Log-probability of the signatures and the counts of the releases up to each one."""
    return ReleaseEvidence.forward(np.array([law.log_evidence for law in laws]))


def read_signatures(
    adversary: Adversary, releases: Iterable[Release]
) -> tuple[tuple[ReleaseBeliefs, ...], tuple[SignatureLaw, ...]]:
    """Beliefs about each release, and the law of its signatures, as estimated from it and the releases before."""
    memory, found, laws = Memory(), list[ReleaseBeliefs](), list[SignatureLaw]()
    last: dict[Hashable, _Published] = {}
    classes: list[dict[Hashable, int]] = []
    for number, release in enumerate(releases):
        seen = release.observation
        check_unique(seen)
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        assert adversary.transitions is not None
        classes.append(class_by_respondent(adversary.transitions, seen.people))
        laws.append(_weigh(adversary, revised, seen, last, classes))
        posterior = laws[-1].posterior.first(len(revised))
        found.append(ReleaseBeliefs(seen, prior, revised, posterior))
        memory = adversary.update_memory(memory, seen, posterior, prior=prior)
        shown = seen.counts > 0
        for row in np.flatnonzero(seen.group >= 0):
            published = _Published(number, posterior.probabilities[row], shown[seen.group[row]])
            last[seen.people.respondents[row]] = published
    adversary.check_claim_times([belief.observation.time for belief in found])
    return tuple(found), tuple(laws)


def _weigh(
    adversary: Adversary,
    revised: FloatArray,
    seen: Observation,
    last: dict[Hashable, _Published],
    classes: list[dict[Hashable, int]],
) -> SignatureLaw:
    """Law of one release."""
    transitions = adversary.transitions
    assert transitions is not None
    kept, dealt = np.zeros(revised.shape), np.ones(revised.shape)
    shown, products = seen.counts > 0, dict[tuple[tuple[int, int], ...], FloatArray]()
    for row, respondent in enumerate(seen.people.respondents):
        before = last.get(respondent)
        if before is not None and seen.group[row] >= 0:
            steps = steps_between(classes, respondent, before.release, len(classes) - 1, adversary.gaps)
            if steps not in products:
                tables = [chains_at(transitions, release)[own].probabilities for release, own in steps]
                products[steps] = reduce(np.matmul, tables)
            stays = stay_probabilities(before.belief, products[steps])
            dealt[row] = 1 - stays
            if np.array_equal(before.signature, shown[seen.group[row]]):
                kept[row] = stays
    estimate = partial(adversary.problem_posterior, observation=seen)
    return signature_law(seen.problem(revised), kept, dealt, estimate)


def stay_probabilities(
    belief: FloatArray,  # (m,): in the value before
    step: FloatArray,  # (m, m): transition probabilities from the value before, in rows, to the present one
) -> FloatArray:
    """Probability that a present value was the value before as well, for each present value: shape ``(m,)``."""
    ahead = belief @ step
    return np.divide(belief * step.diagonal(), ahead, out=np.zeros_like(ahead), where=ahead > 0)


def check_unique(seen: Observation) -> None:
    """Raise ValueError if a release is not of m-invariance: a group shows a value twice, or values are distorted."""
    attack = Wording("SignatureAttack", "The signature attack")
    rule = Advice(
        attack, " reads releases of m-invariance, whose groups show each value once and no value is distorted; "
    )
    other = Wording("Use SequentialAttack", "Use --attack sequential")
    way = Advice(other, " for releases of other defenses.")
    if (seen.counts > 1).any():
        group, value = np.argwhere(seen.counts > 1)[0]
        place = f"the group {group} of the release at {seen.time!r} shows {seen.people.schema.values[value]!r} "
        raise ValueError(Advice(rule, place, f"{seen.counts[group, value]} times. ", way))
    if seen.distorted:
        raise ValueError(
            Advice(rule, f"in the release at {seen.time!r} there are {seen.distorted} distorted ones. ", way)
        )
