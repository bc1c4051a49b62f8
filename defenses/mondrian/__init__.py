"""Mondrian: recursive median cuts of a table while every part satisfies the requirement."""

from foreknow.defenses.mondrian.mondrian import Mondrian

__all__ = ["Mondrian"]
