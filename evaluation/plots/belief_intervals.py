"""Uncertainty of beliefs: between draws of the knowledge, or of a Monte Carlo mean."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from foreknow.evaluation.risk.across_draws import weighted_quantiles
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
"""Meaning of the ends of `interval_of`, by the source of the uncertainty."""


class BeliefInterval(NamedTuple):
    """Interval of each belief after a release: lower and upper ends, float arrays of shape ``(n, m)``."""

    low: FloatArray
    high: FloatArray


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


def interval_of(beliefs: Beliefs, t: int, mass: float) -> BeliefInterval:
    """Central interval of each belief after release number t.

    With draws of the knowledge, its ends are the weighted quantiles of the beliefs under each draw. With a Monte Carlo standard
    error, they are those of the normal distribution around the belief, within 0 and 1. Otherwise both ends are the belief.
    """
    posterior = beliefs.releases[t].posterior
    lower, upper = (1 - mass) / 2, (1 + mass) / 2
    if beliefs.draws is not None:
        rows = np.stack([one.releases[t].posterior.probabilities for one in beliefs.draws.beliefs])
        weights = beliefs.draws.weights[t]
        return BeliefInterval(*(weighted_quantiles(rows, weights, level) for level in (lower, upper)))
    if posterior.standard_error is None:
        return BeliefInterval(posterior.probabilities, posterior.probabilities)
    reach = float(ndtri(upper)) * posterior.standard_error
    ends = (np.clip(posterior.probabilities + sign * reach, 0, 1) for sign in (-1, 1))
    return BeliefInterval(*ends)
