"""The order of a Hilbert curve, in any number of dimensions."""

import numpy as np
from numpy.typing import NDArray

from foreknow.models import People
from foreknow.models.arrays import IntArray, compiled

type Words = NDArray[np.uint64]


def hilbert_order(people: People) -> IntArray:
    """People in the order in which a Hilbert curve through their quasi-identifiers meets them.

    Each quasi-identifier is scaled by value from its domain onto a grid of ``2**bits`` cells, the same number for all: the
    bits that the distinct values of the richest one need, 6 to 16. Values that lie close beside a far one may share a cell.
    A categorical value is scaled by its position: with a hierarchy, that in the tree's traversal, where the values of every
    generalization stand together; how high two neighbours' common ancestor is, the curve does not know. Axes are taken in
    the schema's order, the first being the most significant. Records in the same cell keep their order.

    Returns
    -------
    int array, shape (n,)
        The rows, sorted.

    Notes
    -----
    JS-reduce, section 6.4, which leaves the scale open. Cost: O(n d bits + n log n).
    """
    codes, bounds = people.quasi_identifiers, people.schema.bounds
    distinct = max(len(np.unique(column)) for column in codes.T)
    bits = int(np.clip(np.ceil(np.log2(max(distinct, 2))), 6, 16))
    width = bounds[:, 1] - bounds[:, 0]
    scaled = (codes - bounds[:, 0]) / np.where(width > 0, width, 1.0) * (2**bits - 1)
    words = hilbert_words(np.round(scaled).astype(np.uint64), bits)
    return np.lexsort(words.T[::-1]) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")


def hilbert_index(points: Words, bits: int) -> Words:
    """Each point's place on the Hilbert curve: ``(n, d)`` integers below ``2**bits`` to ``(n,)``.

    Raises
    ------
    ValueError
        If ``d * bits`` is over 64, where one number cannot hold the place; `hilbert_words` has no such limit.
    """
    if points.shape[1] * bits > 64:
        raise ValueError(f"{points.shape[1]} axes of {bits} bits make an index of over 64 bits; use hilbert_words.")
    return np.asarray(hilbert_words(points, bits)[:, 0])


def hilbert_words(points: Words, bits: int) -> Words:
    """Each point's place on the Hilbert curve in words of 64 bits, the most significant first: shape ``(n, words)``.

    Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004), from axes to the transposed index.
    """
    axes = np.ascontiguousarray(points, dtype=np.uint64).copy()
    return _interleaved(_transposed(axes, bits), bits)


@compiled
def _transposed(axes: Words, bits: int) -> Words:
    """Undo the excess work of rotations and reflections, then Gray-encode, each point in place."""
    n, d = axes.shape
    one = np.uint64(1)
    for i in range(n):
        x = axes[i]
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
        for a in range(1, d):
            x[a] ^= x[a - 1]
        turn = np.uint64(0)
        for level in range(bits - 1, 0, -1):
            bit = one << np.uint64(level)
            if x[d - 1] & bit:
                turn ^= bit - one
        for a in range(d):
            x[a] ^= turn
    return axes


@compiled
def _interleaved(axes: Words, bits: int) -> Words:
    """The bits of all axes, plane by plane from the most significant, as one number of ``d * bits`` bits."""
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
