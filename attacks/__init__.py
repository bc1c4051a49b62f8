"""An adversary at work on published releases: ``attack(releases) -> Beliefs``."""

from collections.abc import Callable

from foreknow.attacks.attack import Attack, Published
from foreknow.attacks.foreground import ForegroundAttack, ForegroundBeliefs
from foreknow.attacks.influence import Influence
from foreknow.attacks.retrospective import RetrospectiveAttack
from foreknow.attacks.sequential import SequentialAttack
from foreknow.attacks.snapshot import SnapshotAttack
from foreknow.models import Adversary

ATTACKS: dict[str, Callable[[Adversary], Attack]] = {
    "sequential": SequentialAttack,
    "snapshot": SnapshotAttack,
    "retrospective": RetrospectiveAttack,
}
"""Every attack, by the name the command line gives it."""

__all__ = [
    "ATTACKS",
    "Attack",
    "ForegroundAttack",
    "ForegroundBeliefs",
    "Influence",
    "Published",
    "RetrospectiveAttack",
    "SequentialAttack",
    "SnapshotAttack",
]
