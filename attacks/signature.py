"""Attack on m-invariance by an adversary who knows its rule: a new signature discloses a new value."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from foreknow.attacks.adversary_attack import AdversaryAttack, ReleaseEvidence, Weighed
from foreknow.attacks.attack import check_order_1
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Beliefs, Release
from foreknow.models.joint.signatures import read_signatures
from foreknow.models.mechanisms import SignatureLaw


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
        found, laws = read_signatures(adversary, [release.observation for release in releases])
        beliefs = Beliefs(found, notes=belief_notes(adversary, found, signatures=True))
        return Weighed(beliefs, partial(signature_evidence, laws))


def signature_evidence(laws: Sequence[SignatureLaw]) -> ReleaseEvidence:
    """Log-probability of the signatures and the counts of the releases up to each one."""
    return ReleaseEvidence.forward(np.array([law.log_evidence for law in laws]))
