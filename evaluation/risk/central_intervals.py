"""Central intervals of beliefs: between draws of the knowledge, or of a Monte Carlo mean."""

from types import EllipsisType
from typing import NamedTuple

import numpy as np
import scipy

from foreknow.evaluation.risk.across_draws import weighted_quantiles
from foreknow.models import Beliefs
from foreknow.models.arrays import FloatArray, IntArray


class BeliefInterval(NamedTuple):
    """Interval of each belief after a release: lower and upper ends, float arrays of shape ``(n, m)``, or of the chosen entries."""

    low: FloatArray
    high: FloatArray


def interval_of(
    beliefs: Beliefs, t: int, mass: float, entries: tuple[IntArray, IntArray] | EllipsisType = ...
) -> BeliefInterval:
    """Central interval of each belief after release number t, or of some entries, as rows and columns.

    With draws of the knowledge, its ends are the weighted quantiles of the beliefs under each draw. With a Monte Carlo standard
    error, they are those of the normal distribution around the belief, within 0 and 1. Otherwise both ends are the belief.
    """
    posterior = beliefs.releases[t].posterior
    lower, upper = (1 - mass) / 2, (1 + mass) / 2
    if beliefs.draws is not None:
        rows = np.stack([one.releases[t].posterior.probabilities[entries] for one in beliefs.draws.beliefs])
        weights = beliefs.draws.weights[t]
        return BeliefInterval(*(weighted_quantiles(rows, weights, level) for level in (lower, upper)))
    belief = posterior.probabilities[entries]
    if posterior.standard_error is None:
        return BeliefInterval(belief, belief)
    reach = float(scipy.special.ndtri(upper)) * posterior.standard_error[entries]
    return BeliefInterval(*(np.clip(belief + sign * reach, 0, 1) for sign in (-1, 1)))
