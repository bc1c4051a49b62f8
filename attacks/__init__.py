"""Attacks on published releases: ``attack(releases) -> Beliefs``."""

from collections.abc import Callable

from foreknow.attacks.attack import Attack
from foreknow.attacks.composition import CompositionAttack
from foreknow.attacks.control import OthersKnown, WithoutGroups
from foreknow.attacks.data_augmentation import DataAugmentationAttack
from foreknow.attacks.definetti import DeFinettiAttack
from foreknow.attacks.foreground import ForegroundAttack
from foreknow.attacks.influence import Influence
from foreknow.attacks.joint import JointAttack, LearnedAttack
from foreknow.attacks.linking import LinkingAttack
from foreknow.attacks.minimality import MinimalityAttack
from foreknow.attacks.privacy_max_entropy import ConditionalProbability, PrivacyMaxEntAttack
from foreknow.attacks.sequential import RetrospectiveAttack, SequentialAttack, SnapshotAttack
from foreknow.attacks.signature import SignatureAttack

ATTACKS: dict[str, Callable[..., Attack]] = {
    "joint": JointAttack,
    "sequential": SequentialAttack,
    "snapshot": SnapshotAttack,
    "retrospective": RetrospectiveAttack,
    "signature": SignatureAttack,
    "foreground": ForegroundAttack,
    "definetti": DeFinettiAttack,
    "composition": CompositionAttack,
    "maxent": PrivacyMaxEntAttack,
    "minimality": MinimalityAttack,
}
"""Attacks by their names on the command line. Those that extend `AdversaryAttack` take an `Adversary`; the others have settings of
their own and need no background knowledge. `LearnedAttack`, the joint attack with knowledge learned from the releases, is on the
command line ``foreknow attack --knowledge learned``. `DataAugmentationAttack`, which learns the transitions release by release, is
not."""

__all__ = [
    "ATTACKS",
    "Attack",
    "CompositionAttack",
    "ConditionalProbability",
    "DataAugmentationAttack",
    "DeFinettiAttack",
    "ForegroundAttack",
    "Influence",
    "JointAttack",
    "LearnedAttack",
    "LinkingAttack",
    "MinimalityAttack",
    "OthersKnown",
    "PrivacyMaxEntAttack",
    "RetrospectiveAttack",
    "SequentialAttack",
    "SignatureAttack",
    "SnapshotAttack",
    "WithoutGroups",
]
