"""Effective sample size and R-hat of a mean, compiled.

They equal ArviZ's and are tested against it. They are not ArviZ's, because a release has thousands of beliefs: one call of
ArviZ's array functions takes about 10^3 times as long, and compiled kernels cannot call it.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, compiled

MIN_DRAWS = 8
"""Smallest number of draws of a chain; each half of it needs a variance."""

MAX_RHAT = 1.05
"""R-hat above which the chains of a belief disagree. The usual bound for one number is 1.01; a group has many numbers."""

MIN_RANGE = 1e-15
"""Range of draws at or below which they count as constant."""


@compiled
def mean_diagnostics(draws: FloatArray) -> tuple[float, float]:
    """Effective sample size and R-hat of the mean of several chains.

    Parameters
    ----------
    draws : float array, shape (c, t)
        c chains of t draws each, t at least 4.

    Returns
    -------
    tuple of float
        Computed from half chains. For constant draws the effective sample size is c t and R-hat is 1.

    Notes
    -----
    Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: an improved R-hat",
    Bayesian Analysis 16 (2021), sections 2 and 3, without the rank-normalization, since the estimate is a mean.
    Autocorrelations are summed in pairs while these are positive, and made monotone (Geyer 1992). Equal to ArviZ's
    ``ess(method="mean")`` and ``rhat(method="split")``. Cost: O(c t) times the lag at which correlations vanish.
    """
    halves = _halves(draws)
    c, t = halves.shape
    if draws.max() - draws.min() < MIN_RANGE:
        return float(draws.size), 1.0
    # Mean of each half chain, and deviations from it.
    means = np.zeros(c)
    for chain in range(c):
        means[chain] = halves[chain].mean()
        halves[chain] -= means[chain]
    # Variance W within half chains, B / t of their means, and V = W (t - 1) / t + B / t; R-hat is sqrt(V / W).
    within = _autocovariance(halves, 0) * t / (t - 1.0)
    between = ((means - means.mean()) ** 2).sum() / (c - 1)
    variance = within * (t - 1.0) / t + between
    rhat = np.sqrt(variance / within) if within > 0.0 else np.inf
    return _effective_size(halves, within, variance), rhat


@compiled
def _halves(draws: FloatArray) -> FloatArray:
    """First and last half of each chain: float array, shape ``(2 c, t // 2)``."""
    c, t = draws.shape
    half = t // 2
    halves = np.zeros((2 * c, half))
    for chain in range(c):
        halves[2 * chain] = draws[chain, :half]
        halves[2 * chain + 1] = draws[chain, t - half :]
    return halves


@compiled
def _autocovariance(centred: FloatArray, lag: int) -> float:
    """Autocovariance at a lag, averaged over chains; the divisor is the number of draws at every lag."""
    c, t = centred.shape
    total = 0.0
    for chain in range(c):
        for place in range(t - lag):
            total += centred[chain, place] * centred[chain, place + lag]
    return float(total / (t * c))


@compiled
def _effective_size(centred: FloatArray, within: float, variance: float) -> float:
    """Number of draws over the sum of the autocorrelations at all lags, truncated at the first negative pair."""
    c, t = centred.shape
    pair = 2.0 - (within - _autocovariance(centred, 1)) / variance
    total, smallest, even = 0.0, np.inf, 1.0
    lag = 0
    while lag < t - 4 and pair > 0.0:
        smallest = min(smallest, pair)
        total += smallest
        lag += 2
        even = 1.0 - (within - _autocovariance(centred, lag)) / variance
        pair = even + 1.0 - (within - _autocovariance(centred, lag + 1)) / variance
    # The last even lag is added if it is positive, or if the lags ran out before a pair was negative.
    tail = 0.0 if lag == 0 else even if pair >= 0.0 else max(even, 0.0)
    integrated_time = -1.0 + 2.0 * total + tail
    return float(c * t / max(integrated_time, 1.0 / np.log10(c * t)))
