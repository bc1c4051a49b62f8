"""Beliefs and their Monte Carlo diagnostics, from counts of values by batches of draws."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

type Counts = np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]


class ChainDiagnostics(NamedTuple):
    """Means of indicator draws with their Monte Carlo diagnostics: four float arrays, shape ``(B,)``."""

    belief: FloatArray
    standard_error: FloatArray
    ess: FloatArray
    rhat: FloatArray


@compiled
def chain_diagnostics(counts: Counts, starts: IntArray, length: int) -> ChainDiagnostics:
    """Means of draws of 0 or 1, by batch means and the differences between chains.

    ::

        V     = max(V_1, 2 V_2 - V_1, V_c)
        ess   = p (1 - p) / V
        error = sqrt(V + 2 (1 - 2 p)^2 / n^2)

    V_1, V_2 and V_c are variances of the mean p, from the sample variance of the means of batches, of pairs of batches, and of
    chains.

    Parameters
    ----------
    counts : unsigned int array, shape (chains, b, B)
        Number of draws of 1 in each of b batches of each chain, b even and at least 4, for each of B beliefs.
    starts : int array, shape (R + 1,)
        Beliefs of each record.
    length : int
        Number of draws of a batch.

    Returns
    -------
    ChainDiagnostics
        The effective sample size is at most ten times the number of draws. A belief whose draws are equal in each chain, and not
        in all, has one less than the number of chains, and an infinite R-hat. A belief with equal draws in all chains has as many
        as draws, and R-hat 1; its standard error is not 0 unless its record has one possible value. R-hat is that of half chains.

    Notes
    -----
    V_1 is too small where batches are not much longer than autocorrelations (batch means, Glynn and Whitt 1991). ``2 V_2 - V_1``
    corrects this to the first order: a lugsail estimate with r = 2 and c = 1/2 (Vats and Flegal 2022), which adds the
    autocorrelation of adjacent batches to V_1. V_c has one degree of freedom less than chains; for one chain it is 0.

    The second term of the error stands for values that were drawn a few times or never: two standard errors are about the
    interval of Agresti and Coull (1998), with two successes and two failures added to n draws. Here n is the effective sample
    size of the record: the sum of ``p (1 - p)`` over its values, divided by that of V, at most the number of draws.

    Split R-hat: Gelman et al. 2013, section 11.4, without rank-normalization; means and variances of draws of 0 or 1 follow from
    counts. Approximate. Not seen: values that no chain visits, if the chains agree on the others. Cost: O(chains b B).
    """
    chains, batches, beliefs = counts.shape
    draws = float(chains * batches * length)
    found = ChainDiagnostics(np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs), np.zeros(beliefs))
    variance = found.standard_error
    for r in range(len(starts) - 1):
        of_draws, of_means = 0.0, 0.0
        for k in range(starts[r], starts[r + 1]):
            p, variance[k], found.rhat[k] = _belief_diagnostics(counts, k, length)
            found.belief[k] = p
            found.ess[k] = draws if p == 0.0 or p == 1.0 else 10.0 * draws
            if variance[k] > 0.0:
                found.ess[k] = min(found.ess[k], p * (1.0 - p) / variance[k])
            of_draws += p * (1.0 - p)
            of_means += variance[k]
        size = min(draws, of_draws / of_means) if of_means > 0.0 else draws
        for k in range(starts[r], starts[r + 1]):
            rare = 2.0 * (1.0 - 2.0 * found.belief[k]) ** 2 / size**2 if starts[r + 1] - starts[r] > 1 else 0.0
            found.standard_error[k] = np.sqrt(variance[k] + rare)
    return found


@compiled
def _belief_diagnostics(counts: Counts, k: int, length: int) -> tuple[float, float, float]:
    """Mean of the draws of one belief, variance of this mean, and R-hat."""
    chains, batches, _ = counts.shape
    total, squares, of_pairs, of_chains, of_halves, within = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = batches // 2 * length
    for chain in range(chains):
        of_chain, last = 0.0, 0.0
        for part in range(2):
            of_half = 0.0
            for batch in range(part * (batches // 2), (part + 1) * (batches // 2)):
                ones = float(counts[chain, batch, k])
                squares += ones * ones
                of_pairs += (ones + last) ** 2 if batch % 2 == 1 else 0.0
                of_half, last = of_half + ones, ones
            of_halves += of_half * of_half
            within += of_half * (n - of_half)
            of_chain += of_half
        of_chains += of_chain * of_chain
        total += of_chain
    draws = 2 * n * chains
    p = total / draws
    if total == 0.0 or total == draws:
        return p, 0.0, 1.0
    single = _variance_of_mean(total, squares, chains * batches, length)
    paired = _variance_of_mean(total, of_pairs, chains * (batches // 2), 2 * length)
    between = _variance_of_mean(total, of_chains, chains, 2 * n)
    variance = max(single, 2.0 * paired - single, between)
    # Sums over half chains: their mean variance of draws, and the variance of their means.
    within /= 2 * chains * n * (n - 1.0)
    across = _variance_of_mean(total, of_halves, 2 * chains, n) * 2 * chains
    return p, variance, np.sqrt((n - 1.0) / n + across / within) if within > 0.0 else np.inf


@compiled
def _variance_of_mean(total: float, squares: float, number: int, length: int) -> float:
    """Variance of the mean of ``number`` batches, from the sum of their sums and the sum of the squares of their sums."""
    if number < 2:
        return 0.0
    return max(squares - total * total / number, 0.0) / (float(length) ** 2 * number * (number - 1.0))
