"""How far chains of draws can be trusted: effective sample size and R-hat of a mean, compiled for many at once."""

import numpy as np

from foreknow.models.arrays import FloatArray, compiled


@compiled
def mean_diagnostics(draws: FloatArray) -> tuple[float, float]:
    """The effective sample size and the R-hat of the mean of some chains of draws.

    Parameters
    ----------
    draws : float array, shape (c, t)
        Of c chains, t draws each, at least 4.

    Returns
    -------
    tuple of float
        Of chains cut in halves. Where nothing varies, all draws count and R-hat is 1.

    Notes
    -----
    Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: an improved R-hat",
    Bayesian Analysis 16 (2021), sections 2 and 3, without the rank-normalization: the mean is what is wanted here.
    Autocorrelations are summed in pairs as long as these are positive, and made to fall (Geyer 1992). The same as ArviZ's
    ``ess(method="mean")`` and ``rhat(method="split")``, which take some 10^3 times longer. Cost: O(c t) times the lag at
    which correlations vanish.
    """
    halves = _halves(draws)
    c, t = halves.shape
    if draws.max() - draws.min() < 1e-15:
        return float(draws.size), 1.0
    means = np.zeros(c)
    for chain in range(c):
        means[chain] = halves[chain].mean()
        halves[chain] -= means[chain]
    within = _lagged(halves, 0) * t / (t - 1.0)
    between = ((means - means.mean()) ** 2).sum() / (c - 1)
    whole = within * (t - 1.0) / t + between
    rhat = np.sqrt(whole / within) if within > 0.0 else np.inf
    return _effective(halves, within, whole), rhat


@compiled
def _halves(draws: FloatArray) -> FloatArray:
    c, t = draws.shape
    half = t // 2
    halves = np.zeros((2 * c, half))
    for chain in range(c):
        halves[2 * chain] = draws[chain, :half]
        halves[2 * chain + 1] = draws[chain, t - half :]
    return halves


@compiled
def _lagged(centred: FloatArray, lag: int) -> float:
    """The mean over chains of the autocovariance at a lag, divided by the number of draws whatever the lag."""
    c, t = centred.shape
    total = 0.0
    for chain in range(c):
        for place in range(t - lag):
            total += centred[chain, place] * centred[chain, place + lag]
    return float(total / (t * c))


@compiled
def _effective(centred: FloatArray, within: float, whole: float) -> float:
    """All draws over the sum of the autocorrelations at all lags, which is cut off where they are mere noise."""
    c, t = centred.shape
    pair = 2.0 - (within - _lagged(centred, 1)) / whole
    total, least, even = 0.0, np.inf, 1.0
    lag = 0
    while lag < t - 4 and pair > 0.0:
        least = min(least, pair)
        total += least
        lag += 2
        even = 1.0 - (within - _lagged(centred, lag)) / whole
        pair = even + 1.0 - (within - _lagged(centred, lag + 1)) / whole
    # The last even lag counts if it is positive; where the lags ran out before the noise began, whatever it is.
    tail = 0.0 if lag == 0 else even if pair >= 0.0 else max(even, 0.0)
    steps = -1.0 + 2.0 * total + tail
    return float(c * t / max(steps, 1.0 / np.log10(c * t)))
