"""First-order error, in large groups, of beliefs that treat respondents as independent."""

import numpy as np

from foreknow.models.arrays import FloatArray


def first_order_errors(belief: FloatArray) -> FloatArray:
    """First-order difference of the exact posterior from the belief of `Sinkhorn`, for one group.

    The belief p of `Sinkhorn` is that of independent respondents whose expected counts are the counts shown. The exact
    posterior is the law of the same respondents, conditioned on these counts. The local limit theorem for the vector of counts
    (its Edgeworth expansion to the third cumulant) gives the difference. With W the pseudo-inverse of the covariance matrix
    of the counts, ``sum over i of diag(p_i) - p_i p_i^T``::

        q[i, s] = (e_s - p_i)^T W (e_s - p_i)        t[s] = sum over i of p[i, s] (q[i, s] - sum over r of p[i, r] q[i, r])
        c[i, s] = ((W t)[s] - q[i, s]) / 2           difference[i, s] = p[i, s] (c[i, s] - sum over r of p[i, r] c[i, r])

    The difference is O(1 / k) where the variance of each value's count is proportional to k; the remainder is O(1 / k^2).

    Parameters
    ----------
    belief : float array, shape (k, d)
        Beliefs of a group's k members in its d shown values; rows sum to 1.

    Returns
    -------
    float array, shape (k, d)
        Rows sum to 0. Where the variance of a count is near 0, because the knowledge determines the holders of the value, this
        is a bad estimate of a difference that need not be small.

    Notes
    -----
    An approximation; W omits the directions in which no count varies. Cost: O(k d^2 + d^3).
    """
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    inverse = np.linalg.pinv(covariance, hermitian=True)
    projected = belief @ inverse
    quadratic = np.diag(inverse) - 2 * projected + (projected * belief).sum(axis=1, keepdims=True)
    third_cumulant = (belief * (quadratic - (belief * quadratic).sum(axis=1, keepdims=True))).sum(axis=0)
    correction = (inverse @ third_cumulant - quadratic) / 2
    return np.asarray(belief * (correction - (belief * correction).sum(axis=1, keepdims=True)))
