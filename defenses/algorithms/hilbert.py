"""Order of records along a Hilbert curve, in any number of dimensions."""

import numpy as np
from numpy.typing import NDArray

from foreknow.models import People
from foreknow.models.arrays import IntArray, compiled

type Words = NDArray[np.uint64]


def hilbert_order(people: People) -> IntArray:
    """Order of respondents along a Hilbert curve through the space of their quasi-identifiers.

    The domain of each quasi-identifier is scaled onto a grid of ``2**bits`` cells. The number of bits is the same for all: what
    the attribute with the most distinct values needs, from 6 to 16. Near values may share a cell where the domain is wide. A
    categorical value is scaled by its position; with a hierarchy this is its position in the tree's traversal, in which the
    values of every generalization are contiguous. The curve does not represent the heights of common ancestors. The axes are
    in the schema's order, the first one the most significant. Records of one cell keep their order.

    Parameters
    ----------
    people : People
        Respondents of a view, or some of them, as ``people[rows]``.

    Returns
    -------
    int array, shape (n,)
        Row of each respondent, in order.

    Notes
    -----
    JS-reduce, section 6.4, which does not specify the scale. Cost: O(n d bits + n log n).
    """
    codes, bounds = people.quasi_identifiers, people.schema.bounds
    outside = ((codes < bounds[:, 0]) | (codes > bounds[:, 1])).any(axis=0)
    if outside.any():
        name = list(people.schema.quasi_identifiers)[int(outside.argmax())]
        raise ValueError(f"hilbert_order: a number of {name!r} is outside its domain; widen the bounds of its Numeric.")
    distinct = max(len(np.unique(column)) for column in codes.T)
    bits = int(np.clip(np.ceil(np.log2(max(distinct, 2))), 6, 16))
    width = bounds[:, 1] - bounds[:, 0]
    scaled = (codes - bounds[:, 0]) / np.where(width > 0, width, 1.0) * (2**bits - 1)
    words = hilbert_words(np.round(scaled).astype(np.uint64), bits)
    return np.lexsort(words.T[::-1]) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")


def hilbert_words(points: Words, bits: int) -> Words:
    """Position of each point on the Hilbert curve in words of 64 bits, the most significant first: shape ``(n, words)``.

    ``points`` are coordinates from 0 to ``2**bits - 1``, shape ``(n, d)``. Skilling, "Programming the Hilbert curve", AIP
    Conference Proceedings 707 (2004), from axes to the transposed index.

    >>> hilbert_words(np.array([[0, 0], [0, 1], [1, 1], [1, 0]], dtype=np.uint64), bits=1).ravel().tolist()
    [0, 1, 2, 3]
    """
    axes = np.ascontiguousarray(points, dtype=np.uint64).copy()
    _transpose(axes, bits)
    return _interleaved(axes, bits)


@compiled
def _transpose(axes: Words, bits: int) -> None:
    """Undo the rotations and reflections of each point, then apply the Gray code, in place (Skilling's AxesToTranspose)."""
    one, d = np.uint64(1), axes.shape[1]
    for x in axes:
        # From the highest bit down, exchange the lower bits with those of the first axis, or invert them.
        for level in range(bits - 1, 0, -1):
            bit = one << np.uint64(level)
            low = bit - one
            for a in range(d):
                if x[a] & bit:
                    x[0] ^= low
                else:
                    swap = (x[0] ^ x[a]) & low
                    x[0] ^= swap
                    x[a] ^= swap
        # Gray code across the axes.
        for a in range(1, d):
            x[a] ^= x[a - 1]
        turn = np.uint64(0)
        for level in range(bits - 1, 0, -1):
            bit = one << np.uint64(level)
            if x[d - 1] & bit:
                turn ^= bit - one
        for a in range(d):
            x[a] ^= turn


@compiled
def _interleaved(axes: Words, bits: int) -> Words:
    """Bits of all axes, from the most significant level, as one number of ``d * bits`` bits in words."""
    n, d = axes.shape
    total = d * bits
    words = np.zeros((n, (total + 63) // 64), dtype=np.uint64)
    for i in range(n):
        place = total
        for level in range(bits - 1, -1, -1):
            for a in range(d):
                place -= 1
                bit = (axes[i, a] >> np.uint64(level)) & np.uint64(1)
                words[i, words.shape[1] - 1 - place // 64] |= bit << np.uint64(place % 64)
    return words
