"""Whether those who hold a secret are believed likelier to hold it than those who do not: what only the order of beliefs says."""

import numpy as np
from scipy.stats import rankdata

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

DECIMALS = 9
"""Beliefs that agree to so many decimals are tied: what differs further on is rounding."""


def within_group_auc(belief: FloatArray, holds: BoolArray, group: IntArray) -> float:
    """Of all pairs of a holder and another of one group, the share in which the holder is believed likelier to hold it.

    Ties count one half. With one group for all it is the area under the ROC curve (Mann and Whitney's statistic).

    Parameters
    ----------
    belief : float array, shape (n,)
        How likely each person is believed to hold it.
    holds : bool array, shape (n,)
        Who holds it.
    group : int array, shape (n,)
        Who is compared with whom, from 0 on.

    Returns
    -------
    float
        From 0 to 1; 1/2 for beliefs that do not tell people of a group apart; NaN where there is no pair. Exact, but for
        beliefs alike in their first `DECIMALS` decimals, which are ties. Cost: O(n log n).

    Examples
    --------
    >>> belief, holds = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> within_group_auc(belief, holds, np.zeros(4, dtype=np.int64))
    0.875
    """
    sizes, holders = _sizes(holds, group)
    pairs = int((holders * (sizes - holders)).sum())
    if pairs == 0:
        return float("nan")
    level, levels = _levels(belief)
    # Ranks within a group are ranks overall, less all people of the groups before.
    before = (np.cumsum(sizes) - sizes)[group[holds]]
    rank = rankdata(group * levels + level)[holds] - before
    return float((rank.sum() - (holders * (holders + 1) / 2).sum()) / pairs)


def top_c_precision(belief: FloatArray, holds: BoolArray, group: IntArray) -> float:
    """Of those who hold it, the share who are named, where of each group with c holders the c believed likeliest are named.

    Of equally believed people as many as are wanted are drawn; the share is the mean over all draws.

    Parameters
    ----------
    belief, holds, group
        As `within_group_auc` has them.

    Returns
    -------
    float
        From 0 to 1; NaN where nobody holds it. Groups in which all hold it, or nobody does, are named rightly whatever is
        believed: leave them out beforehand. Exact, ties as in `within_group_auc`. Cost: O(n log n).

    Examples
    --------
    Whoever is believed likeliest holds it; the other holder is one of two who are tied.

    >>> belief, holds = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> top_c_precision(belief, holds, np.zeros(4, dtype=np.int64))
    0.75
    """
    if not holds.any():
        return float("nan")
    sizes, holders = _sizes(holds, group)
    level, levels = _levels(-belief)
    ties, tie = np.unique(group * levels + level, return_inverse=True)
    tied, right = np.bincount(tie), np.bincount(tie, holds)
    likelier = np.cumsum(tied) - tied - (np.cumsum(sizes) - sizes)[ties // levels]
    named = np.clip(holders[ties // levels] - likelier, 0, tied)
    return float((named * right / tied).sum() / holders.sum())


def _sizes(holds: BoolArray, group: IntArray) -> tuple[IntArray, IntArray]:
    """How many are in each group, and how many of them hold it: shape ``(g,)`` both."""
    sizes = np.bincount(group)
    return sizes, np.bincount(group[holds], minlength=len(sizes))


def _levels(belief: FloatArray) -> tuple[IntArray, int]:
    """Each belief's place among the different ones, lowest first, and how many these are."""
    different, level = np.unique(np.round(belief, DECIMALS), return_inverse=True)
    return level, len(different)
