"""Bootstrap over respondents: random weights by which all records of a respondent are drawn together."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.settings import as_generator, is_number, is_whole

MAX_DRAWS = 100_000
"""Largest number of bootstrap draws."""

WEIGHTS_PER_BATCH = 2**22
"""Number of weights that are drawn at a time."""


class Bootstrap(NamedTuple):
    """Settings of a bootstrap, checked.

    Attributes
    ----------
    draws : int
        Number of draws; 0 for none.
    level : float
        Probability that an interval should have.
    rng : numpy.random.Generator
    """

    draws: int
    level: float
    rng: np.random.Generator

    def weights(self, respondents: int) -> Iterator[FloatArray]:
        """Weights of the respondents, in batches of shape ``(b, N)`` that have ``draws`` rows in all.

        A row is the number of times that each of N respondents is drawn, with replacement, in N draws: a multinomial
        distribution. Cost: O(N) per draw; at most `WEIGHTS_PER_BATCH` weights at a time, or one row.
        """
        if not respondents:
            return
        batch = max(WEIGHTS_PER_BATCH // respondents, 1)
        shares = np.full(respondents, 1 / respondents)
        for start in range(0, self.draws, batch):
            size = min(batch, self.draws - start)
            yield self.rng.multinomial(respondents, shares, size=size).astype(np.float64)

    def interval(self, drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Percentile interval of each column of ``drawn``, shape ``(draws, c)``; NaN draws are left out.

        A column without a number has the interval NaN to NaN.
        """
        ends = np.full((2, drawn.shape[1]), np.nan)
        known = ~np.isnan(drawn).all(axis=0) if len(drawn) else np.zeros(drawn.shape[1], dtype=np.bool_)
        if known.any():
            tail = (1 - self.level) / 2
            ends[:, known] = np.nanquantile(drawn[:, known], [tail, 1 - tail], axis=0)
        return ends[0], ends[1]

    def reflected(self, estimate: FloatArray, drawn: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Estimate of each column less its bootstrap bias, and its basic interval, all at least 0: three of shape ``(c,)``.

        The interval reflects the percentile interval at the estimate, ``2 estimate - high`` to ``2 estimate - low``, so that it
        allows for the bias of an estimate that is fitted to the records.
        """
        low, high = self.interval(drawn)
        known = ~np.isnan(low)
        mean = np.full(len(estimate), np.nan)
        if known.any():
            mean[known] = np.nanmean(drawn[:, known], axis=0)
        corrected, least, most = (np.maximum(2 * estimate - drawn_value, 0) for drawn_value in (mean, high, low))
        return corrected, least, most


def as_bootstrap(owner: str, draws: Any, level: Any, rng: Any) -> Bootstrap:
    """Return the settings of a bootstrap.

    Raises
    ------
    ValueError
        If ``draws`` is no whole number from 0 to `MAX_DRAWS`, or ``level`` is not between 0 and 1.
    TypeError
        If ``rng`` is no generator, integer or None.
    """
    if not (is_whole(draws, 0) and draws <= MAX_DRAWS):
        raise ValueError(f"{owner}: draws is {draws!r}; it is a number of bootstrap draws, from 0 to {MAX_DRAWS}.")
    if not (is_number(level, 0, 1) and 0 < level < 1):
        raise ValueError(f"{owner}: level is {level!r}; it is the probability of an interval, over 0 and under 1.")
    return Bootstrap(int(draws), float(level), as_generator(owner, rng, optional=True))
