"""Breaches: respondents linked to a sensitive set with more than 1/r, and rankings of the beliefs behind them."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd
import scipy

from foreknow.attacks.foreground import breach_threshold
from foreknow.evaluation.arguments import release_table
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut, SetBeliefsAndTruth, mean, set_beliefs_and_truth
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

COLUMNS = (
    "time", "breached", "flagged", "belief_of_holders", "breached_of_shares", "precision", "expected_precision",
    "expected_precision_of_shares", "lift", "base_rate", "brier", "brier_of_shares", "auc", "auc_of_shares", "auc_within",
    "top_c_precision", "top_c_by_chance", "mixed", "holders", "measured", "suppressed",
)  # fmt: skip


def breaches(
    beliefs: Beliefs,
    history: History,
    sensitive_set: Collection[Hashable],
    r: float,
    *,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Recall, precision, scores and rankings of the beliefs that respondents have a value of a sensitive set.

    p is the belief in the set: the sum of the posteriors of its values. A respondent whose true value is in the set is a holder.
    A respondent is in breach if ``p > 1/r``, by more than rounding (1e-9): a share of exactly 1/r, as Anatomy publishes it with
    l = r, is no breach.

    Parameters
    ----------
    beliefs, history
        As in `adversary_gain`.
    sensitive_set : collection of values
        The set, as the attack was given it.
    r : float
        The threshold is 1/r; 1 or more.
    leaving_out
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release, with ``time`` and, of the published records that are not left out:

        - as in the paper: ``breached``, the fraction of holders in breach (recall); ``flagged``, the fraction of the others in
          breach; ``belief_of_holders``, the mean p of the holders; and beside them ``breached_of_shares``, the fraction of holders
          whose group shows the set with more than 1/r;
        - of the respondents in breach: ``precision``, the fraction of holders; ``expected_precision``, the mean p;
          ``expected_precision_of_shares``, the mean share of the set in their groups; ``lift``, precision over ``base_rate``;
        - ``base_rate``, the fraction of holders;
        - ``brier``, the Brier score: mean of ``(p - truth)^2``, truth being 1 for holders, else 0; ``brier_of_shares``, the same
          with the group's share for p;
        - ``auc``, the area under the ROC curve of p, ties one half; ``auc_of_shares``, that of the shares, which is high where
          groups differ, whatever the attack adds;
        - ``auc_within``, the area within groups (`within_group_auc`), where shares have 1/2; ``top_c_precision``, the fraction of
          holders among the c respondents of highest p of each group, c being its number of holders; ``top_c_by_chance``, the same
          for respondents drawn at random. All three are over groups with holders and others only;
        - ``mixed``, the number of respondents in such groups; ``holders``, their number; ``measured``, the number of respondents;
          ``suppressed``, which are left out; with ``leaving_out``, ``compromised``.

        NaN where there is no respondent, or no pair of them, to average over.

    Notes
    -----
    R. Wong et al., "Can the Utility of Anonymized Data be Used for Privacy Breaches?", arXiv:0905.1755, section 5.1, gives the
    first three. They do not show how much is due to the attack: in groups that show the set with exactly 1/r, any respondent
    believed slightly likelier than the others is in breach, right or wrong; and the maximum over many attribute sets
    overstates beliefs. A baseline is ``breaches`` of a `SnapshotAttack` with `RandomWorlds`, the adversary without background
    knowledge.

    Exact; beliefs that agree to nine decimals are tied. Cost: O(n log n) per release.

    Examples
    --------
    Two groups of two. The beliefs of an attack are right in the first group, and equal in the second:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, History, Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 21, 22, 23], "result": ["ill", "well", "ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.2, 0.4, 0.4], "well": [0.2, 0.8, 0.6, 0.6]}, index=list("ABCD"))
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior)))([Release(view, [0, 0, 1, 1])])
    >>> breaches(beliefs, History([view]), {"ill"}, r=2)[["breached", "flagged", "precision", "auc_within"]]
       breached  flagged  precision  auc_within
    0       0.5      0.0        1.0        0.75
    """
    threshold = breach_threshold(r, "breaches")
    of_set = set_beliefs_and_truth("breaches", beliefs, history, sensitive_set, leaving_out)
    return release_table((_measured(release, threshold) for release in of_set), COLUMNS)


def _measured(release: SetBeliefsAndTruth, threshold: float) -> dict[str, object]:
    belief, share, holds, by_value = release.belief, release.share, release.holds, release.by_value
    breach, one_group = belief > threshold, np.zeros(len(belief), dtype=np.int64)
    base_rate, precision = mean(holds), mean(holds[breach])
    sizes, holders = _sizes(holds, by_value.group)
    mixed = ((holders > 0) & (holders < sizes))[by_value.group]  # respondents in groups with holders and others
    return {
        "time": by_value.time,
        "breached": mean(breach[holds]),
        "flagged": mean(breach[~holds]),
        "belief_of_holders": mean(belief[holds]),
        "breached_of_shares": mean(share[holds] > threshold),
        "precision": precision,
        "expected_precision": mean(belief[breach]),
        "expected_precision_of_shares": mean(share[breach]),
        "lift": precision / base_rate if base_rate else float("nan"),
        "base_rate": base_rate,
        "brier": mean((belief - holds) ** 2),
        "brier_of_shares": mean((share - holds) ** 2),
        "auc": within_group_auc(belief, holds, one_group),
        "auc_of_shares": within_group_auc(share, holds, one_group),
        "auc_within": within_group_auc(belief[mixed], holds[mixed], by_value.group[mixed]),
        "top_c_precision": top_c_precision(belief[mixed], holds[mixed], by_value.group[mixed]),
        "top_c_by_chance": top_c_precision(np.zeros(int(mixed.sum())), holds[mixed], by_value.group[mixed]),
        "mixed": int(mixed.sum()),
        "holders": int(holds.sum()),
        "measured": len(holds),
    } | by_value.excluded


BELIEF_DECIMALS = 9
"""Number of decimals to which two tied beliefs agree; further differences are rounding."""


def within_group_auc(belief: FloatArray, holds: BoolArray, group: IntArray) -> float:
    """Area under the ROC curve within groups: fraction of (holder, non-holder) pairs in which the holder has the higher belief.

    Pairs are of one group. Ties count one half. With one group for all it is the ordinary area under the ROC curve (the
    Mann-Whitney statistic).

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
