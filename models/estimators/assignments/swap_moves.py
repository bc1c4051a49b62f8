"""Gibbs moves over assignments: the values of three members at a time are redrawn among them."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.convergence import mean_diagnostics


@compiled
def sample_probabilities(
    weights: FloatArray, start: IntArray, draws: int, chains: int, warmup: int, rng: np.random.Generator
) -> FloatArray:
    """Conditional probabilities of each member's values, averaged over each sweep.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Priors of the k members, at least 4, for the d values.
    start : int array, shape (k,)
        Value of each member at the start of every chain.
    draws, chains, warmup : int
        Number of sweeps kept by each chain, of chains, and of sweeps discarded first.
    rng : numpy.random.Generator

    Returns
    -------
    float array, shape (k, d, chains, draws)
    """
    k, d = weights.shape
    kept = np.zeros((k, d, chains, draws))
    sums, moves = np.zeros((k, d)), np.zeros(k)
    for chain in range(chains):
        value = start.copy()
        for draw in range(-warmup, draws):
            _sweep(weights, value, sums, moves, rng)
            if draw < 0:
                continue
            for i in range(k):
                for s in range(d):
                    kept[i, s, chain, draw] = sums[i, s] / moves[i]
    return kept


@compiled
def _sweep(weights: FloatArray, value: IntArray, sums: FloatArray, moves: FloatArray, rng: np.random.Generator) -> None:
    """One move with each member as the first of three; write the sums of probabilities and the number of moves of each."""
    k = len(weights)
    sums[:] = 0.0
    moves[:] = 0.0
    for one in range(k):
        # Two further members, distinct and uniformly distributed.
        two = (one + 1 + int(rng.random() * (k - 1))) % k
        three = int(rng.random() * (k - 2))
        three += three >= min(one, two)
        three += three >= max(one, two)
        _redraw(weights, value, (one, two, three), sums, rng.random())
        moves[one] += 1.0
        moves[two] += 1.0
        moves[three] += 1.0


@compiled
def _redraw(weights: FloatArray, value: IntArray, trio: tuple[int, int, int], sums: FloatArray, uniform: float) -> None:
    """Redraw the values a, b and c of three members i, j and h among them, and add the probability of each to ``sums``.

    The weights are named by the values that i, j and h get: ``bca`` is the weight of i having b, j having c and h having a.
    ``uniform`` is a random number from 0 to 1.
    """
    i, j, h = trio
    a, b, c = value[i], value[j], value[h]
    abc = weights[i, a] * weights[j, b] * weights[h, c]
    acb = weights[i, a] * weights[j, c] * weights[h, b]
    cba = weights[i, c] * weights[j, b] * weights[h, a]
    bac = weights[i, b] * weights[j, a] * weights[h, c]
    bca = weights[i, b] * weights[j, c] * weights[h, a]
    cab = weights[i, c] * weights[j, a] * weights[h, b]
    total = abc + acb + cba + bac + bca + cab
    if total == 0.0:
        abc = total = 1.0
    sums[i, a] += (abc + acb) / total
    sums[i, b] += (bac + bca) / total
    sums[i, c] += (cba + cab) / total
    sums[j, a] += (bac + cab) / total
    sums[j, b] += (abc + cba) / total
    sums[j, c] += (acb + bca) / total
    sums[h, a] += (cba + bca) / total
    sums[h, b] += (acb + cab) / total
    sums[h, c] += (abc + bac) / total
    rest = uniform * total - abc
    if rest < 0.0:
        return
    if rest < acb:
        value[j], value[h] = c, b
    elif rest < acb + cba:
        value[i], value[h] = c, a
    elif rest < acb + cba + bac:
        value[i], value[j] = b, a
    elif rest < acb + cba + bac + bca:
        value[i], value[j], value[h] = b, c, a
    elif cab > 0.0:
        value[i], value[j], value[h] = c, a, b


@compiled
def summarize_chains(kept: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean of each belief over all chains, its standard error, effective sample size and R-hat, each of shape ``(k, d)``."""
    k, d = kept.shape[:2]
    mean, error, ess, rhat = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            mean[i, s] = kept[i, s].mean()
            ess[i, s], rhat[i, s] = mean_diagnostics(kept[i, s])
            error[i, s] = np.sqrt(kept[i, s].var() / ess[i, s])
        mean[i] /= mean[i].sum()
    return mean, error, ess, rhat
