"""Attacks on published releases: ``attack(releases) -> Beliefs``."""

from collections.abc import Callable

from foreknow.attacks.attack import Attack, Published
from foreknow.attacks.foreground import ForegroundAttack
from foreknow.attacks.foreground_beliefs import ForegroundBeliefs
from foreknow.attacks.influence import Influence
from foreknow.attacks.joint import JointAttack
from foreknow.attacks.label_beliefs import LabelBeliefs, ReleaseLabelBeliefs
from foreknow.attacks.linking import LinkingAttack
from foreknow.attacks.minimality import merge_credibility
from foreknow.attacks.sequential import SequentialAttack
from foreknow.attacks.signature import SignatureAttack
from foreknow.attacks.snapshot import SnapshotAttack

ATTACKS: dict[str, Callable[..., Attack]] = {
    "joint": JointAttack,
    "sequential": SequentialAttack,
    "snapshot": SnapshotAttack,
    "signature": SignatureAttack,
    "foreground": ForegroundAttack,
}
"""Attacks by their names on the command line. All take an `Adversary`, except the foreground attack, which needs no background
knowledge."""

__all__ = [
    "ATTACKS",
    "Attack",
    "ForegroundAttack",
    "ForegroundBeliefs",
    "Influence",
    "JointAttack",
    "LabelBeliefs",
    "LinkingAttack",
    "Published",
    "ReleaseLabelBeliefs",
    "SequentialAttack",
    "SignatureAttack",
    "SnapshotAttack",
    "merge_credibility",
]
