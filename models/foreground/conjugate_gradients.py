"""Symmetric linear systems in independent parts, by conjugate gradients, as far as they are positive."""

from collections.abc import Callable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Product = Callable[[FloatArray], FloatArray]
"""A symmetric matrix, as what it makes of a vector of shape ``(s,)``."""

MOST = 500
"""The most products."""


def conjugate_gradients(
    weight: FloatArray, pull: FloatArray, product: Product, part: IntArray, parts: int
) -> tuple[FloatArray, BoolArray]:
    """The direction x with ``weight * x - product(x) = pull``, in each part, and whether the part met curvature over 0 only.

    A part is done when its error is small beside its pull, or where it meets a direction along which the matrix is not
    positive; then this direction, along which ``pull`` leads, is added, and the answer solves nothing.

    Parameters
    ----------
    weight, pull : float array, shape (s,)
        The weight is over 0; it preconditions.
    product : Product
        It joins no two parts; this is not checked.
    part : int array, shape (s,)
        From 0 to ``parts - 1``.
    parts : int

    Returns
    -------
    float array, shape (s,); bool array, shape (parts,)

    Notes
    -----
    Approximate: to a hundredth of the pull, and nearer the smaller the pull is. T. Steihaug, SIAM Journal on Numerical Analysis
    20, 1983. Cost: at most `MOST` products.
    """

    def within(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.bincount(part, one * other, minlength=parts)

    x, left = np.zeros(len(pull)), pull.copy()
    ahead = left / weight
    size = first = within(left, ahead)
    enough = np.minimum(0.01, np.sqrt(first)) ** 2 * first
    active: BoolArray = size > enough
    is_concave = np.ones(parts, dtype=np.bool_)
    for _ in range(MOST):
        along = weight * ahead - product(ahead)
        bend = within(ahead, along)
        flat = active & (bend <= 1e-12 * within(ahead, weight * ahead))
        x += np.where(flat[part], ahead, 0.0)
        active, is_concave = active & ~flat, is_concave & ~flat
        pace = np.where(active, size / np.where(active, bend, 1.0), 0.0)
        x += pace[part] * ahead
        left -= pace[part] * along
        following = within(left, left / weight)
        active &= following > enough
        if not active.any():
            break
        ahead = np.where(active[part], left / weight + (following / np.where(size > 0, size, 1.0))[part] * ahead, 0.0)
        size = following
    return x, is_concave
