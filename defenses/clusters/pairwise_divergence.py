"""Jensen-Shannon divergence of all pairs of distributions, as input of complete-linkage clustering."""

import numpy as np

from foreknow.defenses.requirements.summary import LOG_FLOOR
from foreknow.models.arrays import FloatArray, compiled


def pairwise_divergence(rows: FloatArray, most: float = np.inf, radius: FloatArray | None = None) -> FloatArray:
    """Jensen-Shannon divergence of each pair of rows, in bits, or a lower bound where that is over a limit.

    ``JS(p, q) = 1 + sum_s (p log p + q log q - (p + q) log(p + q)) / 2``, summed over the values that have positive probability
    in both rows. It is at least ``1 - sum_s sqrt(p q)``, since ``h(x) <= 2 sqrt(x (1 - x))`` bits. A pair whose lower bound is
    over ``most`` gets the bound, which takes no logarithm: complete linkage cut at ``most`` does not distinguish larger numbers.

    Parameters
    ----------
    rows : float array, shape (u, m)
        Distributions.
    most : float
        The limit, in bits.
    radius : float array, shape (u,), optional
        Adds to the root divergence: the result is ``(sqrt(JS) + r + r')^2``.

    Returns
    -------
    float array, shape (u (u - 1) / 2,)
        Condensed, as SciPy takes it.

    Notes
    -----
    Cost: O(u^2 m). `foreknow.models.divergence.jensen_shannon` would take most of the u^2 m logarithms for nothing, and allocate
    an array of shape (u, u, m).
    """
    added = np.zeros(len(rows)) if radius is None else radius
    return _pairwise(rows, rows * np.log2(np.maximum(rows, LOG_FLOOR)), np.sqrt(rows), most, added)


@compiled
def _pairwise(rows: FloatArray, weighted: FloatArray, roots: FloatArray, most: float, radius: FloatArray) -> FloatArray:
    n = len(rows)
    divergence = np.empty(n * (n - 1) // 2)
    place = 0
    for i in range(n):
        for j in range(i + 1, n):
            divergence[place] = _lower_bound(roots[i], roots[j])
            if divergence[place] <= most:
                divergence[place] = _divergence(rows[i], rows[j], weighted[i], weighted[j])
                if radius[i] + radius[j] > 0.0:
                    divergence[place] = (np.sqrt(divergence[place]) + radius[i] + radius[j]) ** 2
            place += 1
    return divergence


@compiled
def _lower_bound(root: FloatArray, other: FloatArray) -> float:
    """The bound ``1 - sum_s sqrt(p q)`` from the roots of p and q."""
    overlap = 0.0
    for s in range(len(root)):
        overlap += root[s] * other[s]
    return 1 - overlap


@compiled
def _divergence(p: FloatArray, q: FloatArray, p_log_p: FloatArray, q_log_q: FloatArray) -> float:
    bits = 2.0
    for s in range(len(p)):
        if p[s] > 0.0 and q[s] > 0.0:
            both = p[s] + q[s]
            bits += p_log_p[s] + q_log_q[s] - both * np.log2(both)
    return max(bits / 2, 0.0)
