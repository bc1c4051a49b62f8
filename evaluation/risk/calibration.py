"""Calibration: observed frequency of beliefs of each size."""

from collections.abc import Collection, Hashable
from typing import Any

import numpy as np
import pandas as pd
import scipy

from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.evaluation.risk.forecasts import Forecasts, forecasts
from foreknow.evaluation.risk.respondent_bootstrap import Bootstrap, as_bootstrap
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import is_whole

MAX_BINS = 2**31
"""Largest number of bins: a number that `float` and `int64` hold exactly."""


def calibration(
    beliefs: Beliefs,
    history: History,
    *,
    bins: int = 10,
    leaving_out: LeftOut = None,
    sensitive_set: Collection[Hashable] | None = None,
    draws: int = 0,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Observed frequency of true values among beliefs of each size, over all releases.

    Beliefs are calibrated if the observed frequency equals the mean belief in every bin.

    Parameters
    ----------
    beliefs, history
        As in `adversary_gain`.
    bins : int
        Number of equal parts into which 0 to 1 is cut.
    leaving_out
        As in `adversary_gain`.
    sensitive_set : collection of values, optional
        Sensitive set: the beliefs are then that a respondent has one of its values. By default, the beliefs in each value.
    draws : int
        Number of bootstrap draws; 0 for no intervals.
    level : float
        Probability of an interval, over 0 and under 1.
    rng : numpy.random.Generator or int, optional
        Random generator of the draws, or a seed. By default fresh entropy.

    Returns
    -------
    DataFrame
        One row per bin that holds a belief. Columns ``bin_low`` and ``bin_high``, its ends (a belief on an end belongs to the
        higher bin, 1 to the last); ``believed``, the mean belief; ``observed``, the fraction of the beliefs whose value (or set) is
        the respondent's; ``beliefs``, their number: one for each published respondent and value or, of a set, for each
        published respondent. Releases are pooled; suppressed records are left out. With ``draws``, also ``observed_low`` and
        ``observed_high``, the percentile interval of ``observed``.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if ``bins`` is no whole number from 1 to 2**31; if the set is empty, not in the domain, or all of
        it; if ``draws`` is no whole number from 0 to 100,000, or ``level`` is not between 0 and 1.

    Notes
    -----
    The records of a respondent in several releases are not independent, so the bootstrap draws respondents with all their
    records (a cluster bootstrap; Davison, Hinkley 1997). Members of a group are dependent too, which it ignores: intervals of
    few large groups are approximate. Where all or none of the beliefs of a bin are right, the interval is a point. Beliefs with
    draws of uncertain knowledge (`Averaged`) are those of the mixture; for the calibration of each draw, call it with each of
    ``beliefs.draws.beliefs``. Cost: O(n m) for n records in all, and O(n m) per draw at most.
    """
    number_of_bins = check_bins("calibration", bins)
    bootstrap = as_bootstrap("calibration", draws, level, rng)
    found = forecasts("calibration", beliefs, history, sensitive_set, leaving_out)
    number = np.minimum((found.belief * number_of_bins).astype(np.int64), number_of_bins - 1)
    place, occupied = pd.factorize(number, sort=True)
    size, believed, right = (np.bincount(place, each, len(occupied)) for each in (None, found.belief, found.outcome))
    table = pd.DataFrame(
        {
            "bin_low": occupied / number_of_bins,
            "bin_high": (occupied + 1) / number_of_bins,
            "believed": believed / size,
            "observed": right / size,
            "beliefs": size,
        }
    )
    if not bootstrap.draws:
        return table
    low, high = bootstrap.interval(_drawn_frequencies(found, place, bootstrap))
    return table.assign(observed_low=low, observed_high=high)


def check_bins(owner: str, bins: Any) -> int:
    """Return a number of bins of 0 to 1; raises ValueError unless it is from 1 to `MAX_BINS`."""
    if not (is_whole(bins) and bins <= MAX_BINS):
        raise ValueError(f"{owner}: bins is {bins!r}; it is a number of parts of 0 to 1, from 1 to {MAX_BINS}.")
    return int(bins)


def _drawn_frequencies(found: Forecasts, place: IntArray, bootstrap: Bootstrap) -> FloatArray:
    """Observed frequency of each occupied bin in each draw, NaN where a draw has none of its beliefs: ``(draws, bins)``."""
    shape = (found.respondents, int(place.max(initial=-1)) + 1)
    ones = np.ones(len(place))
    number = scipy.sparse.csr_array((ones, (found.respondent, place)), shape=shape)
    right = scipy.sparse.csr_array((found.outcome.astype(np.float64), (found.respondent, place)), shape=shape)
    drawn = [np.zeros((0, shape[1]))]
    for weights in bootstrap.weights(found.respondents):
        total = np.asarray(weights @ number)
        drawn.append(np.divide(weights @ right, total, out=np.full(total.shape, np.nan), where=total > 0))
    return np.concatenate(drawn)
