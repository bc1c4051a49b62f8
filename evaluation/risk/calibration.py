"""Calibration: observed frequency of beliefs of each size."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.evaluation.risk.beliefs_and_truth import (
    BeliefsAndTruth,
    LeftOut,
    beliefs_and_truth,
    set_beliefs_and_truth,
)
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray
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
) -> pd.DataFrame:
    """Observed frequency of true values among beliefs of each size, over all releases.

    Beliefs are calibrated if the observed frequency equals the mean belief in every bin.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.
    bins : int
        Number of equal parts into which 0 to 1 is cut.
    sensitive_set : collection of values, optional
        Sensitive set: the beliefs are then that a respondent has one of its values. By default, the beliefs in each value.

    Returns
    -------
    DataFrame
        One row per bin that holds a belief. Columns ``low`` and ``high``, its ends (a belief on an end belongs to the higher bin,
        1 to the last); ``believed``, the mean belief; ``observed``, the fraction of the beliefs whose value (or set) is the
        respondent's; ``beliefs``, their number: one for each published respondent and value or, of a set, for each published
        respondent. Releases are pooled; suppressed records are left out.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if ``bins`` is no whole number from 1 to 2**31; if the set is empty, not in the domain, or all of it.
    """
    if not (is_whole(bins) and bins <= MAX_BINS):
        raise ValueError(f"calibration: bins is {bins!r}; it is a number of parts of 0 to 1, from 1 to {MAX_BINS}.")
    bins = int(bins)
    pairs: list[tuple[FloatArray, BoolArray]]
    if sensitive_set is None:
        by_value = beliefs_and_truth("calibration", beliefs, history, leaving_out)
        pairs = [(release.belief.ravel(), _true_values(release).ravel()) for release in by_value]
    else:
        of_set = set_beliefs_and_truth("calibration", beliefs, history, sensitive_set, leaving_out)
        pairs = [(release.belief, release.holds) for release in of_set]
    belief = np.concatenate([np.zeros(0), *(belief for belief, _ in pairs)])
    observed = np.concatenate([np.zeros(0), *(true for _, true in pairs)])
    number = np.minimum((belief * bins).astype(np.int64), bins - 1)
    grouped = pd.DataFrame({"bin": number, "believed": belief, "observed": observed}).groupby("bin")
    table = grouped.mean()
    table.insert(0, "low", table.index / bins)
    table.insert(1, "high", (table.index + 1) / bins)
    return table.assign(beliefs=grouped.size()).reset_index(drop=True)


def _true_values(release: BeliefsAndTruth) -> BoolArray:
    """Mask of each respondent's true value: shape ``(n', m)``."""
    return np.asarray(release.true[:, None] == np.arange(release.belief.shape[1]))
