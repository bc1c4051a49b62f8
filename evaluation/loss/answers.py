"""What counting queries answer, where records are known by boxes: a kernel."""

import numpy as np

from foreknow.evaluation.boxes import Boxes
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

BATCH = 256
"""How many queries are answered at a time: their partial products stay in the processor's cache."""


def answers(boxes: Boxes, wanted: tuple[BoolArray, ...], sensitive: BoolArray) -> FloatArray:
    """How many records each query counts, if those of a box are spread evenly over it.

    Parameters
    ----------
    boxes : Boxes
        c boxes, and how many records of each sensitive value lie in them.
    wanted : tuple of bool arrays, shape (q, v)
        Which codes of each quasi-identifier each query asks for.
    sensitive : bool array, shape (q, m)
        Which sensitive values.

    Returns
    -------
    float array, shape (q,)
        ``sum_c (sum_{s asked for} weights[c, s]) prod_a (codes of a in the box that are asked for / codes of a in the box)``:
        exact counts where boxes are single vectors. Cost: O(q (c d + p)), with p the
        pairs of a box and a value in it.
    """
    found = np.zeros(len(sensitive))
    intervals = [
        np.unique(pair, axis=0, return_inverse=True)
        for pair in np.stack([boxes.low, boxes.high], axis=2).swapaxes(0, 1)
    ]
    which = np.stack([numbers.ravel() for _, numbers in intervals], axis=1)
    for start in range(0, len(found), BATCH):
        batch = slice(start, start + BATCH)
        shares = [_shares(ends, column[batch]) for (ends, _), column in zip(intervals, wanted, strict=True)]
        starts = np.cumsum([0, *(len(share) for share in shares)])[:-1]
        values = np.ascontiguousarray(sensitive[batch].T, dtype=np.float64)
        found[batch] = _sum_of_products(np.vstack(shares), which + starts, values, boxes.weights)
    return found


def _shares(ends: IntArray, wanted: BoolArray) -> FloatArray:
    """The share of the codes in each interval that each query asks for: float array, shape ``(u, q)``."""
    so_far = np.zeros((wanted.shape[1] + 1, len(wanted)))
    np.cumsum(wanted.T, axis=0, out=so_far[1:])
    return np.asarray((so_far[ends[:, 1] + 1] - so_far[ends[:, 0]]) / (ends[:, 1] - ends[:, 0] + 1)[:, None])


@compiled
def _sum_of_products(shares: FloatArray, which: IntArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_c (sum_s weights[c, s] values[s, q]) prod_a shares[which[c, a], q]`` for each q."""
    queries = values.shape[1]
    total = np.zeros(queries)
    product = np.empty(queries)
    for c in range(len(which)):
        product[:] = 0.0
        for s in range(len(values)):
            if weights[c, s] > 0:
                for q in range(queries):
                    product[q] += weights[c, s] * values[s, q]
        for a in range(which.shape[1]):
            row = shares[which[c, a]]
            for q in range(queries):
                product[q] *= row[q]
        for q in range(queries):
            total[q] += product[q]
    return total
