"""Rankings of beliefs: area under the ROC curve within groups, and precision of the top c."""

import numpy as np
import scipy

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

BELIEF_DECIMALS = 9
"""Number of decimals to which two tied beliefs agree; further differences are rounding."""


def within_group_auc(belief: FloatArray, holds: BoolArray, group: IntArray) -> float:
    """Area under the ROC curve within groups: fraction of (holder, non-holder) pairs in which the holder has the higher belief.

    Pairs are of one group. Ties count one half. With one group for all it is the ordinary area under the ROC curve (the
    Mann-Whitney statistic).

    Parameters
    ----------
    belief : float array, shape (n,)
        Belief in each respondent.
    holds : bool array, shape (n,)
        True for holders.
    group : int array, shape (n,)
        Group of each respondent, from 0 on.

    Returns
    -------
    float
        From 0 to 1; 1/2 for equal beliefs; NaN without a pair. Exact; beliefs that agree to `BELIEF_DECIMALS` decimals are
        tied. Cost: O(n log n).

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
    # A rank within a group is the overall rank, less the number of respondents of the groups before.
    before = (np.cumsum(sizes) - sizes)[group[holds]]
    rank = scipy.stats.rankdata(group * levels + level)[holds] - before
    return float((rank.sum() - (holders * (holders + 1) / 2).sum()) / pairs)


def top_c_precision(belief: FloatArray, holds: BoolArray, group: IntArray) -> float:
    """Precision of the top c: fraction of holders among the c respondents of highest belief in each group with c holders.

    Respondents tied at rank c are drawn at random; the fraction is the mean over all draws.

    Parameters
    ----------
    belief, holds, group
        As in `within_group_auc`.

    Returns
    -------
    float
        From 0 to 1; NaN without a holder. Groups of holders only, or without one, count as right whatever the beliefs: leave them
        out beforehand. Exact, ties as in `within_group_auc`. Cost: O(n log n).

    Examples
    --------
    The respondent of highest belief is a holder; the other holder is one of two who are tied.

    >>> belief, holds = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> top_c_precision(belief, holds, np.zeros(4, dtype=np.int64))
    0.75
    """
    if not holds.any():
        return float("nan")
    sizes, holders = _sizes(holds, group)
    level, levels = _levels(-belief)
    ties, tie = np.unique(group * levels + level, return_inverse=True)
    tied, tied_holders = np.bincount(tie), np.bincount(tie, holds)
    ahead = np.cumsum(tied) - tied - (np.cumsum(sizes) - sizes)[ties // levels]
    drawn = np.clip(holders[ties // levels] - ahead, 0, tied)
    return float((drawn * tied_holders / tied).sum() / holders.sum())


def _sizes(holds: BoolArray, group: IntArray) -> tuple[IntArray, IntArray]:
    """Size of each group, and its number of holders: int arrays, shape ``(g,)``."""
    sizes = np.bincount(group)
    return sizes, np.bincount(group[holds], minlength=len(sizes))


def _levels(belief: FloatArray) -> tuple[IntArray, int]:
    """Rank of each belief among the distinct ones, lowest first, and the number of distinct ones."""
    distinct, level = np.unique(np.round(belief, BELIEF_DECIMALS), return_inverse=True)
    return level, len(distinct)
