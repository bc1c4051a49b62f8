"""What the suppression of items lost: a tidy table, one row per release."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.defenses.suppression.item_cost import removal_cost
from foreknow.evaluation.several import several
from foreknow.models import ItemRelease
from foreknow.models.group_rows import group_rows


def items_lost(releases: Iterable[ItemRelease]) -> pd.DataFrame:
    """Counts of the items left out of published records, and their cost.

    Each item costs the inverse of the number that its record still had: one of many is missed less than one of few. Over
    what leaving out everything would cost, of d records with w items each, v of them left out (Equation 1):
    ``T = sum_i sum_(j = w_i - v_i + 1..w_i) 1 / j  /  sum_i sum_(j = 1..w_i) 1 / j``.

    Parameters
    ----------
    releases : iterable of ItemRelease
        What was published.

    Returns
    -------
    DataFrame
        Columns ``time``; ``items``, those of the published records before any was left out; ``lost``, how many were; ``share``, of
        the items; ``cost``, T of all published records together; ``per_group``, the mean over the groups of each one's T, the
        paper's "average removal cost"; ``records`` and ``suppressed``, whose items are left out of all of this: what
        suppressing whole records costs, `suppressed` says. Nothing is lost, and the cost 0, where there was no
        item. It takes O(i) for i items.

    Raises
    ------
    TypeError
        If it is given one release.
    """
    rows = []
    for release in several("items_lost", releases):
        group, before, after = release.release.group, release.original.sizes, release.published.sizes
        order, starts = group_rows(group, release.release.groups)
        costs = [removal_cost(before[own], after[own]) for own in np.split(order, starts)[1:-1]]
        kept = group >= 0
        items, left = int(before[kept].sum()), int(after[kept].sum())
        rows.append(
            {
                "time": release.time,
                "items": items,
                "lost": items - left,
                "share": (items - left) / items if items else 0.0,
                "cost": removal_cost(before[kept], after[kept]),
                "per_group": math.fsum(costs) / len(costs) if costs else math.nan,
                "records": int(kept.sum()),
                "suppressed": int((~kept).sum()),
            }
        )
    return pd.DataFrame(rows)
