"""Intervals of measures over draws of uncertain knowledge."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind, is_number

OF_RECORDS = frozenset({"records", "measured", "published", "suppressed", "compromised", "certain"})
"""Columns of measures that count records and do not depend on the beliefs."""


def across_draws(
    measure: Callable[..., pd.DataFrame], beliefs: Beliefs, history: History, mass: float = 0.9, **options: object
) -> pd.DataFrame:
    """Measure of mixed beliefs, with the interval of the same measure over the draws of the knowledge.

    Parameters
    ----------
    measure : function of beliefs and a history to a table with one row per release
        One of `BELIEF_MEASURES`, as `adversary_gain` or `risk_table`.
    beliefs : Beliefs
        Of an attack with an `Averaged` adversary.
    history : History
        The original records.
    mass : float
        Weight of the draws within the interval, with equal tails; over 0 and below 1.
    **options
        Options of the measure.

    Returns
    -------
    DataFrame
        The table of the measure of the mixture. After each column of numbers there are two more, with ``_low`` and ``_high``
        after its name: quantiles over draws, with the weights of the draws at that release. Columns that do not depend on the
        beliefs have none: numbers of records (`OF_RECORDS`).

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If the beliefs have no draws, the mass is out of its range, or the measure has not one row per release.

    Notes
    -----
    The interval says how much the measure depends on what the adversary does not know of the law. The measure of the mixture
    can lie outside: a mixture of certain and different beliefs is uncertain. It is no interval for a larger population. For a
    measure over all releases, as `calibration`, call it with each of ``beliefs.draws.beliefs``. Cost: that of the measure for
    each draw.
    """
    if not callable(measure):
        raise TypeError(f"across_draws: measure is a {type(measure).__name__}; it is a function, as adversary_gain.")
    check_beliefs("across_draws", beliefs)
    check_kind("across_draws", "history", history, History, "is the History of the original records")
    if not is_number(mass, 0, 1) or mass in (0, 1):
        raise ValueError(f"across_draws: mass is {mass!r}; it is the weight within the interval, over 0 and below 1.")
    if beliefs.draws is None:
        raise ValueError("across_draws: the beliefs have no draws; attack with an Averaged adversary.")
    table = measure(beliefs, history, **options)
    if not isinstance(table, pd.DataFrame) or "time" not in table or len(table) != len(beliefs):
        raise ValueError(
            f"across_draws: {getattr(measure, '__name__', 'the measure')} returns no table with one row per release and a column "
            "time; use one of BELIEF_MEASURES, or call it with each of beliefs.draws.beliefs."
        )
    each = [measure(draw, history, **options) for draw in beliefs.draws.beliefs]
    columns: dict[str, pd.Series] = {}
    for name in table.columns:
        columns[name] = table[name]
        if name != "time" and name not in OF_RECORDS and pd.api.types.is_numeric_dtype(table[name]):
            draws = np.column_stack([one[name].to_numpy(dtype=np.float64) for one in each])
            for end, level in (("low", (1 - mass) / 2), ("high", (1 + mass) / 2)):
                columns[f"{name}_{end}"] = pd.Series(
                    [
                        weighted_quantiles(row[:, None], weights, level)[0]
                        for row, weights in zip(draws, beliefs.draws.weights, strict=True)
                    ],
                    index=table.index,
                    dtype=np.float64,
                )
    return pd.DataFrame(columns)


def weighted_quantiles(numbers: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Smallest number at or below which draws have a weight of at least the level; NaN where a draw has none.

    Parameters
    ----------
    numbers : float array, shape (D, ...)
    weights : float array, shape (D,)
        They sum to 1.
    level : float

    Returns
    -------
    float array, shape (...)

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), 0.6)
    array(2.)
    """
    order = np.argsort(numbers, axis=0, kind="stable")
    reached = np.cumsum(weights[order], axis=0) >= level - 1e-12
    reached[-1] = True
    found = np.take_along_axis(numbers, np.take_along_axis(order, reached.argmax(axis=0)[None], axis=0), axis=0)[0]
    return np.where(np.isnan(numbers).any(axis=0), np.nan, found)
