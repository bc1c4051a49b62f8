"""What it costs to leave items out: the more, the fewer the record has left."""

import numpy as np
from numpy.typing import ArrayLike

from foreknow.models.arrays import FloatArray


def removal_cost(before: ArrayLike, after: ArrayLike) -> float:
    """The share of what the items of some records are worth that is lost where fewer are left: T, from 0 to 1.

    An item that is taken from a record of w items costs 1/w, whichever it is and in whatever order, so that a record whose
    items fall from w to u costs ``1/w + ... + 1/(u + 1)``; of the sum over the records, the share that leaving out every
    item would cost. 0 where there is no item.

    Parameters
    ----------
    before, after : int array, shape (k,)
        How many items each record has, and has left. That none has more left than before is not checked.

    Notes
    -----
    Shi, Xiong, Fung, CIKM 2010, Equation 1. Cost: O(k + w).

    Examples
    --------
    >>> round(removal_cost([2, 3], [1, 3]), 4)  # 1/2 of 1/2 + 1 and 1/3 + 1/2 + 1
    0.15
    """
    first, left = np.asarray(before, dtype=np.int64), np.asarray(after, dtype=np.int64)
    worth = harmonic(int(first.max(initial=0)))
    whole = worth[first].sum()
    return float((worth[first] - worth[left]).sum() / whole) if whole > 0 else 0.0


def harmonic(most: int) -> FloatArray:
    """What records of 0 to ``most`` items are worth: ``1 + 1/2 + ... + 1/w`` each, shape ``(most + 1,)``."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])
