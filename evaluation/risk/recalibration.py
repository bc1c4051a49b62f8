"""Recalibration of forecasts by isotonic regression, and the decomposition of proper scores that it gives."""

from typing import Literal, NamedTuple

import numpy as np
import scipy

from foreknow.evaluation.risk.forecasts import Forecasts
from foreknow.evaluation.risk.ranking import BELIEF_DECIMALS
from foreknow.models.arrays import FloatArray, IntArray

type Score = Literal["brier", "log"]
type Decomposition = Literal["isotonic", "bins"]

TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "within_bins", "calibration_error")
"""Terms of a decomposition."""


class Tallies(NamedTuple):
    """Weighted numbers of events and of non-events at each distinct belief.

    Attributes
    ----------
    belief : float array, shape (u,)
        Distinct beliefs, rising. Beliefs that agree to nine decimals are one.
    events, others : float array, shape (u,)
        Weight of the forecasts with that belief whose outcome is True, and of the others.
    """

    belief: FloatArray
    events: FloatArray
    others: FloatArray

    @property
    def total(self) -> FloatArray:
        """Weight of the forecasts of each belief: shape ``(u,)``."""
        return np.asarray(self.events + self.others)

    def merged(self, place: IntArray) -> "Tallies":
        """Tallies of sets of beliefs, with the mean belief of each; ``place`` is the set of each. Weights must be positive."""
        mean = np.bincount(place, self.total * self.belief) / np.bincount(place, self.total)
        return Tallies(mean, np.bincount(place, self.events), np.bincount(place, self.others))

    def occupied(self) -> "Tallies":
        """Tallies of the beliefs with a positive weight."""
        kept = self.total > 0
        return Tallies(self.belief[kept], self.events[kept], self.others[kept])


class DistinctBeliefs(NamedTuple):
    """Distinct beliefs of forecasts, which give tallies under any weights of the respondents.

    Attributes
    ----------
    found : Forecasts
        The c forecasts.
    belief : float array, shape (u,)
        Distinct beliefs, rising.
    place : int array, shape (c,)
        Position of the belief of each forecast among the distinct ones.
    """

    found: Forecasts
    belief: FloatArray
    place: IntArray

    def tallies(self, weights: FloatArray | None = None) -> Tallies:
        """Tallies under weights of the respondents, shape ``(N,)``; by default 1 each. Cost: O(c)."""
        each = np.ones(len(self.place)) if weights is None else weights[self.found.respondent]
        events = np.bincount(self.place, each * self.found.outcome, minlength=len(self.belief))
        others = np.bincount(self.place, each * ~self.found.outcome, minlength=len(self.belief))
        return Tallies(self.belief, events, others)


def distinct_beliefs(found: Forecasts) -> DistinctBeliefs:
    """Return the distinct beliefs of forecasts; those that agree to nine decimals are one. Cost: O(c log c)."""
    belief, place = np.unique(np.clip(np.round(found.belief, BELIEF_DECIMALS), 0, 1), return_inverse=True)
    return DistinctBeliefs(found, belief, place)


def recalibrated(tallies: Tallies) -> FloatArray:
    """Isotonic regression of the outcomes on the beliefs, by pooling adjacent violators: shape ``(u,)``.

    All weights must be positive. The result minimizes the mean of every proper score among rising functions of the belief.
    Exact. Cost: O(u).
    """
    if not len(tallies.belief):
        return np.zeros(0)
    total = tallies.total
    return np.asarray(np.clip(scipy.optimize.isotonic_regression(tallies.events / total, weights=total).x, 0, 1))


def decomposed(
    tallies: Tallies, score: Score, decomposition: Decomposition, bins: int, least: float
) -> dict[str, float]:
    """Terms of the decomposition of the mean score of a forecast, by name; NaN without a forecast.

    The score is ``miscalibration - discrimination + uncertainty + within_bins``; see `score_decomposition`.
    """
    tallies = tallies.occupied()
    if not len(tallies.belief):
        return dict.fromkeys(TERMS, float("nan"))
    number = np.minimum((tallies.belief * bins).astype(np.int64), bins - 1)
    binned = tallies.merged(np.unique(number, return_inverse=True)[1])
    coarse = tallies if decomposition == "isotonic" else binned
    observed = recalibrated(coarse) if decomposition == "isotonic" else coarse.events / coarse.total
    overall = np.full(len(coarse.belief), coarse.events.sum() / coarse.total.sum())
    loss, reached, ignorant = (
        mean_loss(coarse._replace(belief=belief), score, least) for belief in (coarse.belief, observed, overall)
    )
    fine = mean_loss(tallies, score, least)
    error = np.abs(binned.events - binned.total * binned.belief).sum() / binned.total.sum()
    terms = (fine, loss - reached, ignorant - reached, ignorant, fine - loss, float(error))
    return dict(zip(TERMS, terms, strict=True))


def mean_loss(tallies: Tallies, score: Score, least: float) -> float:
    """Mean loss of a forecast: squared error, or minus log2 of the probability of the outcome, at least ``least``."""
    p = tallies.belief
    if score == "brier":
        losses = tallies.events * (1 - p) ** 2 + tallies.others * p**2
    else:
        losses = -tallies.events * np.log2(np.maximum(p, least)) - tallies.others * np.log2(np.maximum(1 - p, least))
    return float(losses.sum() / tallies.total.sum())
