"""Attacks on published releases: ``attack(releases) -> Beliefs``."""

from collections.abc import Callable

from foreknow.attacks.attack import Attack, Published
from foreknow.attacks.composition import CompositionAttack
from foreknow.attacks.conditional_probability import ConditionalProbability
from foreknow.attacks.data_augmentation import DataAugmentationAttack
from foreknow.attacks.definetti import DeFinettiAttack
from foreknow.attacks.foreground import ForegroundAttack
from foreknow.attacks.foreground_beliefs import ForegroundBeliefs
from foreknow.attacks.influence import Influence
from foreknow.attacks.joint import JointAttack
from foreknow.attacks.label_beliefs import LabelBeliefs, ReleaseLabelBeliefs
from foreknow.attacks.learned import LearnedAttack
from foreknow.attacks.linking import LinkingAttack
from foreknow.attacks.minimality import merge_credibility
from foreknow.attacks.minimality_attack import MinimalityAttack
from foreknow.attacks.privacy_max_entropy import PrivacyMaxEntAttack
from foreknow.attacks.retrospective import RetrospectiveAttack
from foreknow.attacks.sequential import SequentialAttack
from foreknow.attacks.signature import SignatureAttack
from foreknow.attacks.snapshot import SnapshotAttack

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
"""Attacks by their names on the command line. The first five take an `Adversary`; the others have settings of their own and need no
background knowledge. `LearnedAttack`, the joint attack with knowledge learned from the releases, is on the command line
``foreknow attack --knowledge learned``. `DataAugmentationAttack`, which learns the transitions release by release, is not."""

__all__ = [
    "ATTACKS",
    "Attack",
    "CompositionAttack",
    "ConditionalProbability",
    "DataAugmentationAttack",
    "DeFinettiAttack",
    "ForegroundAttack",
    "ForegroundBeliefs",
    "Influence",
    "JointAttack",
    "LabelBeliefs",
    "LearnedAttack",
    "LinkingAttack",
    "MinimalityAttack",
    "PrivacyMaxEntAttack",
    "Published",
    "ReleaseLabelBeliefs",
    "RetrospectiveAttack",
    "SequentialAttack",
    "SignatureAttack",
    "SnapshotAttack",
    "merge_credibility",
]
