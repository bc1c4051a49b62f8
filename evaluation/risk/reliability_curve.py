"""Reliability curve: recalibrated beliefs by isotonic regression, with bands by bootstrap over respondents."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.evaluation.risk.forecasts import forecasts
from foreknow.evaluation.risk.recalibration import DistinctBeliefs, Tallies, distinct_beliefs, recalibrated
from foreknow.evaluation.risk.respondent_bootstrap import Bootstrap, as_bootstrap
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray

ROWS_AT = 20
"""Number of equal parts of 0 to 1, each of which has a row at its first belief, so that the numbers of beliefs give a histogram."""


def reliability_curve(
    beliefs: Beliefs,
    history: History,
    *,
    sensitive_set: Collection[Hashable] | None = None,
    leaving_out: LeftOut = None,
    draws: int = 200,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Observed frequency as a rising function of the belief, by isotonic regression (CORP; Dimitriadis, Gneiting, Jordan 2021).

    Beliefs are calibrated if the curve is the diagonal. Unlike the bins of `calibration`, it has no setting.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack; its releases are pooled.
    history : History
        The original records.
    sensitive_set : collection of values, optional
        Sensitive set: the beliefs are then that a respondent has one of its values. By default, the beliefs in each value.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    draws, level, rng
        See `calibration`; with 0 draws there is no band.

    Returns
    -------
    DataFrame
        One row per end of a block of beliefs with one observed frequency, and for the first belief of each twentieth of 0 to 1,
        in rising order; the curve is linear between them. Columns ``believed``; ``observed``; ``beliefs``, the number of
        beliefs from this row's to the next row's, the latter excluded, which sum to all beliefs; with ``draws``,
        ``observed_low`` and ``observed_high``, pointwise intervals.

    Raises
    ------
    TypeError, ValueError
        As `calibration`.

    Notes
    -----
    The band has the curves of respondents drawn with all their records. It is pointwise; where beliefs are all distinct, the
    bootstrap of isotonic regression is approximate (its error falls with the cube root of the number of beliefs); where all or
    none of the beliefs are right, it is too narrow. Beliefs that agree to nine decimals are one. Cost: O(c log c) for c
    beliefs, and O(c) per draw.

    Examples
    --------
    Two groups of two; the adversary believes 0.8 where 3 of 4 are right:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, Omega, Release, Schema, View
    >>> frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 21, 22, 23], "result": ["ill", "well", "well", "ill"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.2, 0.2, 0.8], "well": [0.2, 0.8, 0.8, 0.2]}, index=list("ABCD"))
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=Omega()))([Release(view, [0, 0, 1, 1])])
    >>> reliability_curve(beliefs, History([view]), draws=0)
       believed  observed  beliefs
    0       0.2       0.0        4
    1       0.8       1.0        4
    """
    bootstrap = as_bootstrap("reliability_curve", draws, level, rng)
    distinct = distinct_beliefs(forecasts("reliability_curve", beliefs, history, sensitive_set, leaving_out))
    tallies = distinct.tallies()
    observed = recalibrated(tallies)
    ends = _block_ends(observed) | _first_of_each_part(tallies.belief)
    number = np.add.reduceat(tallies.total, np.flatnonzero(ends)) if ends.any() else np.zeros(0)
    table = pd.DataFrame(
        {"believed": tallies.belief[ends], "observed": observed[ends], "beliefs": number.astype(np.int64)}
    )
    if not bootstrap.draws:
        return table
    low, high = bootstrap.interval(_drawn_curves(distinct, tallies.belief[ends], bootstrap))
    return table.assign(observed_low=low, observed_high=high)


def _block_ends(observed: FloatArray) -> BoolArray:
    """Mask of the first and the last belief of each block of equal observed frequencies: shape ``(u,)``."""
    changes = np.diff(observed) != 0
    edge = np.ones(min(len(observed), 1), dtype=np.bool_)
    return np.asarray(np.concatenate([edge, changes]) | np.concatenate([changes, edge]))


def _first_of_each_part(belief: FloatArray) -> BoolArray:
    """Mask of the first belief of each of `ROWS_AT` parts of 0 to 1: shape ``(u,)``."""
    return np.asarray(np.diff(np.minimum((belief * ROWS_AT).astype(np.int64), ROWS_AT - 1), prepend=-1) != 0)


def _drawn_curves(distinct: DistinctBeliefs, places: FloatArray, bootstrap: Bootstrap) -> FloatArray:
    """Curve of each draw at some beliefs: float array, shape ``(draws, len(places))``."""
    drawn = [
        _curve(distinct.tallies(weights).occupied(), places)
        for batch in bootstrap.weights(distinct.found.respondents)
        for weights in batch
    ]
    return np.array(drawn).reshape(len(drawn), len(places))


def _curve(tallies: Tallies, places: FloatArray) -> FloatArray:
    return np.interp(places, tallies.belief, recalibrated(tallies))
