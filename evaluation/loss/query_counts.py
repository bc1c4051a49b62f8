"""Expected counts of counting queries over boxes."""

import numpy as np

from foreknow.evaluation.boxes import Boxes
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

QUERIES_PER_BATCH = 256
"""Number of queries computed at a time, whose partial products fit into the processor's cache."""


def query_counts(boxes: Boxes, selected: tuple[BoolArray, ...], selected_values: BoolArray) -> FloatArray:
    """Number of records that each query counts, if the records of a box are spread evenly over it.

    Parameters
    ----------
    boxes : Boxes
        c boxes, with the number of records of each sensitive value.
    selected : tuple of bool arrays, shape (q, v)
        Codes of each quasi-identifier that each query selects.
    selected_values : bool array, shape (q, m)
        Sensitive values that each query selects.

    Returns
    -------
    float array, shape (q,)
        ``sum_c (sum_{s selected} weights[c, s]) prod_a (selected codes of a in the box / codes of a in the box)``: exact counts
        where boxes are single vectors. Cost: O(q (c d + p)), p being the number of pairs of a box and a value in it.
    """
    counts = np.zeros(len(selected_values))
    intervals = [
        np.unique(pair, axis=0, return_inverse=True)
        for pair in np.stack([boxes.low, boxes.high], axis=2).swapaxes(0, 1)
    ]
    interval = np.stack([numbers.ravel() for _, numbers in intervals], axis=1)
    for start in range(0, len(counts), QUERIES_PER_BATCH):
        batch = slice(start, start + QUERIES_PER_BATCH)
        shares = [_shares(ends, column[batch]) for (ends, _), column in zip(intervals, selected, strict=True)]
        starts = np.cumsum([0, *(len(share) for share in shares)])[:-1]
        values = np.ascontiguousarray(selected_values[batch].T, dtype=np.float64)
        counts[batch] = _sum_of_products(np.vstack(shares), interval + starts, values, boxes.weights)
    return counts


def _shares(ends: IntArray, selected: BoolArray) -> FloatArray:
    """Share of the codes of each interval that each query selects: float array, shape ``(u, q)``."""
    below = np.zeros((selected.shape[1] + 1, len(selected)))
    np.cumsum(selected.T, axis=0, out=below[1:])
    return np.asarray((below[ends[:, 1] + 1] - below[ends[:, 0]]) / (ends[:, 1] - ends[:, 0] + 1)[:, None])


@compiled
def _sum_of_products(shares: FloatArray, interval: IntArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_c (sum_s weights[c, s] values[s, q]) prod_a shares[interval[c, a], q]`` for each q."""
    queries = values.shape[1]
    total = np.zeros(queries)
    product = np.empty(queries)
    for c in range(len(interval)):
        product[:] = 0.0
        for s in range(len(values)):
            # Most boxes hold few values: zeros are skipped before the loop over queries.
            if weights[c, s] > 0:
                for q in range(queries):
                    product[q] += weights[c, s] * values[s, q]
        for a in range(interval.shape[1]):
            row = shares[interval[c, a]]
            for q in range(queries):
                product[q] *= row[q]
        for q in range(queries):
            total[q] += product[q]
    return total
