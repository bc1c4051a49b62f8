"""Source of the uncertainty of beliefs: draws of the knowledge, or a Monte Carlo mean."""

from typing import Literal

from foreknow.models import Beliefs
from foreknow.models.arrays import FloatArray

type Source = Literal["draws", "Monte Carlo", "none"]

MIN_ERROR = 1e-9
"""Standard error below which a belief does not depend on the draws, but for rounding."""

SPREADS: dict[Source, str] = {
    "draws": "standard deviation between draws",
    "Monte Carlo": "Monte Carlo standard error",
}
"""Meaning of the number of `spread_of`, by the source of the uncertainty."""

INTERVALS: dict[Source, str] = {
    "draws": "interval between draws",
    "Monte Carlo": "Monte Carlo interval",
    "none": "no interval",
}
"""Meaning of the ends of an interval, by the source of the uncertainty."""


def source_of(beliefs: Beliefs, t: int) -> Source:
    """Source of the uncertainty of the beliefs after release number t: draws of the knowledge come first.

    Beliefs whose standard errors are all below `MIN_ERROR` have none, as those of a program without unknown quantities.
    """
    if beliefs.draws is not None:
        return "draws"
    error = beliefs.releases[t].posterior.standard_error
    return "none" if error is None or not (error >= MIN_ERROR).any() else "Monte Carlo"


def spread_of(beliefs: Beliefs, t: int) -> FloatArray | None:
    """Standard deviation between draws, or Monte Carlo standard error: float array, shape ``(n, m)``; None without either."""
    if beliefs.draws is not None:
        return beliefs.draws.spread(t)
    return beliefs.releases[t].posterior.standard_error
