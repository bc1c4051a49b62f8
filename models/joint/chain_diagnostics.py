"""Beliefs and their Monte Carlo diagnostics, from counts of values by batches of draws."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, compiled


class ChainDiagnostics(NamedTuple):
    """Means of indicator draws with their Monte Carlo diagnostics: four float arrays, shape ``(B,)``."""

    belief: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray


@compiled
def chain_diagnostics(counts: "np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]", length: int) -> ChainDiagnostics:
    """Means of draws of 0 or 1, by batch means.

    Parameters
    ----------
    counts : unsigned int array, shape (chains, b, B)
        Number of draws of 1 in each of b batches of each chain, b even and at least 4, for each of B beliefs.
    length : int
        Number of draws of a batch.

    Returns
    -------
    ChainDiagnostics
        The standard error is that of the mean of all batches of all chains; it contains the variance between chains. The
        effective sample size is ``p (1 - p) / standard_error^2``, at most ten times the number of draws. R-hat is that of half
        chains: means and variances of draws of 0 or 1 follow from counts. A belief with equal draws has a standard error of 0,
        as many effective draws as draws, and R-hat 1.

    Notes
    -----
    Batch means (Glynn and Whitt 1991) are consistent if batches are much longer than autocorrelations; with shorter ones the
    standard error is too small. Split R-hat: Gelman et al. 2013, section 11.4, without rank-normalization. Cost: O(chains b B).
    """
    chains, batches, beliefs = counts.shape
    half, draws = batches // 2, chains * batches * length
    found = ChainDiagnostics(np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs))
    for k in range(beliefs):
        total, squares, within, of_halves, squares_of_halves = 0.0, 0.0, 0.0, 0.0, 0.0
        for chain in range(chains):
            for part in range(2):
                ones = 0.0
                for batch in range(part * half, (part + 1) * half):
                    number = float(counts[chain, batch, k])
                    ones += number
                    squares += number * number
                total += ones
                mean = ones / (half * length)
                of_halves += mean
                squares_of_halves += mean * mean
                within += mean * (1.0 - mean)
        p = total / draws
        found.belief[k] = p
        if total == 0.0 or total == draws:
            found.ess[k], found.rhat[k] = draws, 1.0
            continue
        number = chains * batches
        variance = max(squares / number - (total / number) ** 2, 0.0) / (length * length)
        error = variance / (number - 1)
        found.standard_error[k] = np.sqrt(error)
        found.ess[k] = min(p * (1.0 - p) / error, 10.0 * draws) if error > 0.0 else 10.0 * draws
        n = half * length
        within = within / (2 * chains) * n / (n - 1.0)
        between = max(squares_of_halves - of_halves**2 / (2 * chains), 0.0) / (2 * chains - 1)
        found.rhat[k] = np.sqrt((n - 1.0) / n + between / within) if within > 0.0 else np.inf
    return found
