"""An adversary at work on published releases: ``attack(releases) -> Beliefs``."""

from foreknow.attacks.sequential import SequentialAttack
from foreknow.attacks.snapshot import SnapshotAttack

ATTACKS = {"sequential": SequentialAttack, "snapshot": SnapshotAttack}
"""Every attack, by the name the command line gives it."""

__all__ = ["ATTACKS", "SequentialAttack", "SnapshotAttack"]
