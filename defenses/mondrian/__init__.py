"""Mondrian: recursive median cuts of a table, as long as every part satisfies the requirement."""

from foreknow.defenses.mondrian.mondrian import Mondrian

__all__ = ["Mondrian"]
