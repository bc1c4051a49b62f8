"""Records as points that lie near where a sensitive set is as likely: by what mining could at best learn of each."""

from collections.abc import Iterable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.foreground.attribute_signatures import AttributeSignatures

TIE = 1e-8
"""How far records that match the same signatures are apart, at most."""


def alike_points(
    sets: Iterable[AttributeSignatures], sensitive: BoolArray, among_equals: "IntArray | np.random.Generator"
) -> FloatArray:
    """One coordinate per attribute set: the log-odds of the sensitive set among all who match the same signature.

    Half a record is added to each side, so that none is infinite. Whoever matches no supported signature is taken for one of the
    whole table.

    Parameters
    ----------
    sets : iterable of AttributeSignatures
        Of the same n records each.
    sensitive : bool array, shape (n,)
        Who has a value of the set.
    among_equals : int array, shape (n,), or Generator
        An order of the records, along which those who match the same signatures throughout are near each other; or what draws
        their places.

    Returns
    -------
    float array, shape (n, 1 + a)
        The first coordinate only decides between equals: records that match the same signatures throughout are nearer to each
        other than to any other, and no two are at the same point.

    Notes
    -----
    Cost: O(n a log n).
    """
    n = len(sensitive)
    matched, columns = np.zeros((n, 0), dtype=np.int64), []
    for found in sets:
        # The signature -1 takes the last entry.
        holders = np.append(
            np.bincount(found.signature[sensitive & (found.signature >= 0)], minlength=len(found)), sensitive.sum()
        )
        people = np.append(found.support, n)
        columns.append(np.log((holders + 0.5) / (people - holders + 0.5))[found.signature])
        matched = np.column_stack([matched, found.signature])
    place = among_equals.random(n) if isinstance(among_equals, np.random.Generator) else np.argsort(among_equals) / n
    if columns:
        place = place + 2 * np.unique(matched, axis=0, return_inverse=True)[1].reshape(-1)
    return np.column_stack([TIE * place, *columns])
