"""Defense against foreground knowledge: groups that teach an adversary little about any member."""

from foreknow.defenses.foreground_safe.foreground_safe import ForegroundSafe

__all__ = ["ForegroundSafe"]
