"""beta-likeness: no value becomes much likelier in a group than in the table (Cao, Karras, PVLDB 5(11), 2012)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.defenses.requirements.requirement import ROUNDING, Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import GREATEST_FLOAT, is_number


@dataclass(frozen=True)
class BasicBetaLikeness(Requirement):
    """No value's share q of a group gains more than beta on its share p of the whole table: ``(q - p) / p <= beta``.

    Unlike t-closeness it is relative, so that a rare value is guarded as a frequent one is, and only gains count. From
    ``p = 1 / (1 + beta)`` on it allows a group of one value; `BetaLikeness` does not. What two groups satisfy, their
    union does.

    Parameters
    ----------
    beta : float
        0 or more.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 2.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        _check_gain("BasicBetaLikeness", self.beta)

    @property
    def bound(self) -> float:
        """The number beta."""
        return float(self.beta)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The smallest beta each group keeps: infinite where a value is shown that the whole table lacks."""
        return np.asarray(gains(summary).max(axis=1, initial=0.0))


@dataclass(frozen=True)
class BetaLikeness(Requirement):
    """No value's share q of a group gains more on its share p of the whole table than beta, nor than ``-ln p``.

    The enhanced beta-likeness: ``(q - p) / p <= min(beta, -ln p)``. Values of ``p > exp(-beta)``, for which beta is
    loose, are held to the second bound, which keeps q below 1 wherever p is. What two groups satisfy, their union does.

    Parameters
    ----------
    beta : float
        0 or more.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 3.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        _check_gain("BetaLikeness", self.beta)

    @property
    def bound(self) -> float:
        """The number beta."""
        return float(self.beta)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The smallest beta each group keeps: infinite where a value's gain passes ``-ln p``, which no beta allows."""
        gain, whole = gains(summary), summary.whole.counts
        most = np.log(np.maximum(whole.sum(), 1)) - np.log(np.maximum(whole, 1))
        return np.asarray(np.where(gain > most + ROUNDING, np.inf, gain).max(axis=1, initial=0.0))


def gains(summary: Summary) -> FloatArray:
    """What each value's share of a group gains on its share of the whole table: float array, shape ``(b, m)``.

    At least -1; infinite where the group shows a value that the whole table lacks, 0 where both do.
    """
    whole = summary.whole.counts
    expected = np.maximum(summary.size, 1)[:, None] * (whole / np.maximum(whole.sum(), 1))
    lacking = np.where(summary.counts > 0, np.inf, 0.0)
    return np.asarray(np.divide(summary.counts - expected, expected, out=lacking, where=expected > 0))


def _check_gain(owner: str, beta: float) -> None:
    if not is_number(beta, 0, GREATEST_FLOAT):
        raise ValueError(f"{owner}: beta is {beta}; it is a relative gain, a finite number of 0 or more.")
