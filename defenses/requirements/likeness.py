"""Basic and enhanced beta-likeness."""

from dataclasses import dataclass
from typing import ClassVar, override

import numpy as np

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, GroupPredicate, Sense, check_summary
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import MAX_FLOAT, is_number


@dataclass(frozen=True)
class BasicBetaLikeness(GroupPredicate):
    """Basic beta-likeness: the relative gain ``(q - p) / p`` of every value is at most beta.

    Here q is the value's share of the group and p its share of the table.

    Parameters
    ----------
    beta : float
        At least 0, finite.

    Raises
    ------
    ValueError
        If beta is out of range.

    Notes
    -----
    The gain is relative, unlike the distance of t-closeness, so that rare values are protected as frequent ones are. Losses
    are not bounded. A group of one value satisfies if ``p >= 1 / (1 + beta)``; `BetaLikeness` excludes it.

    Monotone: the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for each group.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 2.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"
    reads_prior: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_gain("BasicBetaLikeness", self.beta)

    @property
    @override
    def bound(self) -> float:
        return float(self.beta)

    def level(self, summary: Summary) -> FloatArray:
        """Smallest beta that each group satisfies; infinite if it shows a value that the table lacks."""
        check_summary(self, summary)
        return np.asarray(gains(summary).max(axis=1, initial=0.0))


@dataclass(frozen=True)
class BetaLikeness(GroupPredicate):
    """Enhanced beta-likeness: the relative gain ``(q - p) / p`` of every value is at most ``min(beta, -ln p)``.

    Here q is the value's share of the group and p its share of the table.

    Parameters
    ----------
    beta : float
        At least 0, finite.

    Raises
    ------
    ValueError
        If beta is out of range.

    Notes
    -----
    The second bound is the smaller one for values with ``p > exp(-beta)``; it keeps q below 1 wherever p is.

    Monotone: the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for each group.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 3.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"
    reads_prior: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_gain("BetaLikeness", self.beta)

    @property
    @override
    def bound(self) -> float:
        return float(self.beta)

    def level(self, summary: Summary) -> FloatArray:
        """Smallest beta that each group satisfies; infinite if a gain exceeds ``-ln p``, which no beta allows."""
        check_summary(self, summary)
        gain, table = gains(summary), summary.table.counts
        most = np.log(np.maximum(table.sum(), 1)) - np.log(np.maximum(table, 1))
        return np.asarray(np.where(gain > most + LEVEL_TOLERANCE, np.inf, gain).max(axis=1, initial=0.0))


def gains(summary: Summary) -> FloatArray:
    """Relative gain of each value's share of a group on its share of the table: float array, shape ``(b, m)``.

    At least -1. For a value that the table lacks it is infinite if the group shows the value, and 0 otherwise.
    """
    table = summary.table.counts
    expected = np.maximum(summary.size, 1)[:, None] * (table / np.maximum(table.sum(), 1))
    lacking = np.where(summary.counts > 0, np.inf, 0.0)
    return np.asarray(np.divide(summary.counts - expected, expected, out=lacking, where=expected > 0))


def _check_gain(owner: str, beta: float) -> None:
    if not is_number(beta, 0, MAX_FLOAT):
        raise ValueError(f"{owner}: beta is {beta!r}; it is a relative gain, a finite number of 0 or more.")
