"""What an attack makes of a sensitive set: whom it links to it, how often rightly, and what counting alone would have said."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.evaluation.risk.ranking import top_c_precision, within_group_auc
from foreknow.evaluation.risk.truth import LeftOut, SetOutcome, mean, set_outcomes
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import GREATEST_FLOAT, is_number


def breaches(
    beliefs: Beliefs,
    history: History,
    sensitive: Collection[Hashable],
    r: float,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Who is linked to a sensitive set with more than 1/r, and how good the beliefs behind it are.

    p is the belief that somebody has a value of the set, the sum of its posteriors. A person is in breach where ``p > 1/r``, by
    more than rounding (1e-9): a share of exactly 1/r, as Anatomy publishes it with l = r, is none.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned.
    history : History
        The original records.
    sensitive : collection of values
        The set nobody should be linked to, as the attack was given it.
    r : float
        The threshold is 1/r; 1 or more.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Whose respondents are left out.

    Returns
    -------
    DataFrame
        One row per release, with ``time`` and, of the published people,

        - as the paper counts: ``breached``, the share in breach of those who have a value of the set (recall); ``flagged``, the
          share in breach of those who have none; ``probability``, the mean p of those who have one; beside them
          ``breached_of_shares``, the share of those who have one whose group shows the set with more than 1/r, so that
          counting tells;
        - of those in breach: ``precision``, the share who have a value of the set; ``claimed``, the mean p, which is the
          precision that the attack expects; ``counted``, the mean share of the set in their groups, which is the precision
          that somebody expects who only counts; ``lift``, precision over ``base_rate``;
        - ``base_rate``, the share of all published people who have one;
        - ``brier``, the mean of ``(p - truth)^2``, the truth being 1 or 0: smaller is better, and best is to believe what is
          likely; ``brier_of_shares``, the same with the group's share for p;
        - ``auc``, how often p is larger of somebody with a value of the set than of somebody without one, ties one half;
          ``auc_of_shares``, the same of the shares, which is high where groups differ, whatever the attack adds;
        - ``auc_within``, the same of two people of one group, where shares say nothing and have 1/2; ``named``, how many of
          those with a value of the set are among the c likeliest of their group, c being how many these are in it;
          ``named_by_chance``, how many would be if names were drawn. All three of groups that hold both kinds only;
        - ``mixed``, how many people are in such groups; ``sensitive``, how many people have a value of the set; ``records``,
          how many are published; ``suppressed``, how many are not, and are left out; with ``leaving_out``, ``compromised``.

        NaN where there is nobody, or no pair of people, to take the mean of.

    Raises
    ------
    ValueError, TypeError
        If r is under 1; if the set is empty, not in the domain or all of it; if the history is not the one published.

    Notes
    -----
    R. Wong et al., "Can the Utility of Anonymized Data be Used for Privacy Breaches?", arXiv:0905.1755, section 5.1, gives the
    first three. They hide how much is due to the attack: with groups that show the set with exactly 1/r, whoever is believed
    to have it by ever so little more than the others is in breach, right or wrong; and the worst over many attribute sets
    overstates. A baseline is ``breaches`` of a `SnapshotAttack` whose adversary counts (`RandomWorlds`).

    Exact; ties of beliefs are those to nine decimals. Cost: O(n log n) per release.

    Examples
    --------
    Of two groups of two, an attack is right about the first, and cannot tell in the second:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, History, Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 21, 22, 23], "result": ["ill", "well", "ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.2, 0.4, 0.4], "well": [0.2, 0.8, 0.6, 0.6]}, index=list("ABCD"))
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior)))([Release(view, [0, 0, 1, 1])])
    >>> breaches(beliefs, History([view]), {"ill"}, r=2)[["breached", "flagged", "precision", "counted", "auc_within"]]
       breached  flagged  precision  counted  auc_within
    0       0.5      0.0        1.0      0.5        0.75
    """
    bound = over(r, "breaches")
    return pd.DataFrame(
        [_measured(found, bound) for found in set_outcomes("breaches", beliefs, history, sensitive, leaving_out)]
    )


def over(r: float, owner: str) -> float:
    """What a belief must exceed to be a breach: 1/r, and what rounding may add to it.

    Raises
    ------
    ValueError
        If r is not a number of 1 or more.
    """
    if not is_number(r, 1, GREATEST_FLOAT):
        raise ValueError(f"{owner}: r is {r!r}; a breach is a belief over 1/r, so it is a number, 1 or more.")
    return 1 / r + LEVEL_TOLERANCE


def _measured(found: SetOutcome, bound: float) -> dict[str, object]:
    belief, share, holds, outcome = found.belief, found.share, found.holds, found.outcome
    breach, together = belief > bound, np.zeros(len(belief), dtype=np.int64)
    base_rate, precision = mean(holds), mean(holds[breach])
    mixed = _mixed(found)
    inside, held, group = belief[mixed], holds[mixed], outcome.group[mixed]
    return {
        "time": outcome.time,
        "breached": mean(breach[holds]),
        "flagged": mean(breach[~holds]),
        "probability": mean(belief[holds]),
        "breached_of_shares": mean(share[holds] > bound),
        "precision": precision,
        "claimed": mean(belief[breach]),
        "counted": mean(share[breach]),
        "lift": precision / base_rate if base_rate else float("nan"),
        "base_rate": base_rate,
        "brier": mean((belief - holds) ** 2),
        "brier_of_shares": mean((share - holds) ** 2),
        "auc": within_group_auc(belief, holds, together),
        "auc_of_shares": within_group_auc(share, holds, together),
        "auc_within": within_group_auc(inside, held, group),
        "named": top_c_precision(inside, held, group),
        "named_by_chance": top_c_precision(np.zeros(len(inside)), held, group),
        "mixed": int(mixed.sum()),
        "sensitive": int(holds.sum()),
        "records": len(holds),
    } | outcome.missing


def _mixed(found: SetOutcome) -> BoolArray:
    """Who is in a group that has people of both kinds."""
    group = found.outcome.group
    sizes = np.bincount(group)
    holders = np.bincount(group[found.holds], minlength=len(sizes))
    return np.asarray(((holders > 0) & (holders < sizes))[group])
