"""The law of large numbers in groups: error of the beliefs that treat people as independent given the margins."""

import numpy as np

from foreknow.models.arrays import FloatArray


def first_order_errors(belief: FloatArray) -> FloatArray:
    """The first-order difference of the exact posterior from `Sinkhorn`'s belief, for one group.

    `Sinkhorn`'s belief p is that of independent people whose expected counts are those shown; the exact posterior is the law of the
    same people given that the counts are met. The local limit theorem for the vector of counts (its Edgeworth expansion
    to the third cumulant) gives the difference. With W the pseudo-inverse of the covariance matrix of the counts, ``sum over i
    of diag(p_i) - p_i p_i^T``::

        q[i, s] = (e_s - p_i)^T W (e_s - p_i)        t[s] = sum over i of p[i, s] (q[i, s] - sum over r of p[i, r] q[i, r])
        c[i, s] = ((W t)[s] - q[i, s]) / 2           difference[i, s] = p[i, s] (c[i, s] - sum over r of p[i, r] c[i, r])

    It is O(1 / k) where every value's count varies in proportion to k, and what is left out O(1 / k^2).

    Parameters
    ----------
    belief : float array, shape (k, d)
        The beliefs of a group's k people in its d shown values; rows sum to 1.

    Returns
    -------
    float array, shape (k, d)
        Rows sum to 0. Where a count hardly varies (knowledge settles who has the value), it is a bad estimate of a
        difference that need not be small.

    Notes
    -----
    An approximation; W leaves out the directions in which no count varies. Cost: O(k d^2 + d^3).
    """
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    inverse = np.linalg.pinv(covariance, hermitian=True)
    leaning = belief @ inverse
    spread = np.diag(inverse) - 2 * leaning + (leaning * belief).sum(axis=1, keepdims=True)
    skew = (belief * (spread - (belief * spread).sum(axis=1, keepdims=True))).sum(axis=0)
    shift = (inverse @ skew - spread) / 2
    return np.asarray(belief * (shift - (belief * shift).sum(axis=1, keepdims=True)))
