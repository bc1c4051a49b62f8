"""Records as points, by the log-odds of the sensitive set among the records of the same attribute signature."""

from collections.abc import Iterable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.foreground.attribute_signatures import AttributeSignatures

MAX_DISTANCE_OF_EQUALS = 1e-8
"""Largest distance of two records that match the same signatures."""


def log_odds_points(
    sets: Iterable[AttributeSignatures], in_set: BoolArray, among_equals: "IntArray | np.random.Generator"
) -> FloatArray:
    """One coordinate per attribute set: the log-odds of the sensitive set among all records of the same signature.

    Half a record is added to each side, so that all log-odds are finite. A record without a supported signature has the log-odds of
    the whole table.

    Parameters
    ----------
    sets : iterable of AttributeSignatures
        Signatures of the same n records, one item for each attribute set.
    in_set : bool array, shape (n,)
        True for the records with a value of the sensitive set.
    among_equals : int array, shape (n,), or Generator
        An order of the records, along which records that match the same signatures in all attribute sets are near each other;
        or a generator of random positions.

    Returns
    -------
    float array, shape (n, 1 + a)
        The first coordinate separates equal records. Records that match the same signatures in all sets are nearer to each
        other than to any other record, and no two records are at the same point.

    Notes
    -----
    These are the odds that an attack could mine at best. Cost: O(n a log n).
    """
    n = len(in_set)
    matched, columns = np.zeros((n, 0), dtype=np.int64), []
    for signatures in sets:
        # The last entry, of the whole table, is that of signature -1.
        in_signature = in_set & (signatures.signature >= 0)
        holders = np.append(np.bincount(signatures.signature[in_signature], minlength=len(signatures)), in_set.sum())
        size = np.append(signatures.support, n)
        columns.append(np.log((holders + 0.5) / (size - holders + 0.5))[signatures.signature])
        matched = np.column_stack([matched, signatures.signature])
    position = among_equals.random(n) if isinstance(among_equals, np.random.Generator) else np.argsort(among_equals) / n
    if columns:
        position = position + 2 * np.unique(matched, axis=0, return_inverse=True)[1].reshape(-1)
    return np.column_stack([MAX_DISTANCE_OF_EQUALS * position, *columns])
