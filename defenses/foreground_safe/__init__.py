"""Defense against foreground knowledge: groups from which an adversary mines little about any member."""

from foreknow.defenses.foreground_safe.foreground_safe import ForegroundSafe

__all__ = ["ForegroundSafe"]
