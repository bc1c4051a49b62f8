"""Jensen-Shannon divergence of rows of probabilities."""

import math

import numpy as np

from foreknow.models.arrays import FloatArray


def jensen_shannon(first: FloatArray, second: FloatArray) -> FloatArray:
    """Jensen-Shannon divergence of two arrays of distributions, row by row, in bits.

    ``JS(p, q) = (KL(p || (p + q) / 2) + KL(q || (p + q) / 2)) / 2``, between 0 and 1 (Lin, IEEE Trans. Inf. Theory 37, 1991).

    Parameters
    ----------
    first, second : float array, shape (n, m)
        Rows are probabilities.

    Returns
    -------
    float array, shape (n,)

    Notes
    -----
    Exact up to rounding; equal rows give 0. The rows' sums are not checked. Cost: O(n m).

    `scipy.spatial.distance.jensenshannon` returns the square root and normalizes its rows.

    Examples
    --------
    >>> jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])).round(4)
    array([0.3113])
    """
    middle = (first + second) / 2
    from scipy.special import rel_entr

    nats = (rel_entr(first, middle) + rel_entr(second, middle)).sum(axis=1) / 2
    return np.asarray(np.maximum(nats, 0.0) / math.log(2))
