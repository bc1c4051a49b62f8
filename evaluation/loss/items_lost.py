"""Information lost by the suppression of items: a tidy table, one row per release."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.defenses.suppression.suppressed_items import removal_cost
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.release_table import release_table
from foreknow.models import ItemRelease
from foreknow.models.group_rows import group_rows

COLUMNS = ("time", "items", "removed", "removed_share", "cost", "cost_per_group", "measured", "suppressed")


def items_lost(releases: Iterable[ItemRelease]) -> pd.DataFrame:
    """Number of items removed from published records, and their cost.

    The removal of an item costs the inverse of the number of items that its record had until then. The cost is divided by the cost
    of removing all items. For d records with w_i items, of which v_i are removed (Equation 1):
    ``T = sum_i sum_(j = w_i - v_i + 1..w_i) 1 / j  /  sum_i sum_(j = 1..w_i) 1 / j``.

    Parameters
    ----------
    releases : iterable of ItemRelease

    Returns
    -------
    DataFrame
        One row per release, with the columns

        - ``time``;
        - ``items``: number of items of the published records before any was removed;
        - ``removed``: number of them that were removed;
        - ``removed_share``: ``removed / items``;
        - ``cost``: T of all published records together;
        - ``cost_per_group``: mean over the groups of each group's T, the paper's "average removal cost";
        - ``measured``: number of published records;
        - ``suppressed``: number of suppressed records. Their items are left out of all columns; `suppressed` measures their loss.

        Where there is no item, ``removed_share`` and the costs are 0. Without a group, ``cost_per_group`` is NaN. Cost: O(i) for i
        items.

    Raises
    ------
    TypeError
        If ``releases`` is one release, or holds something else than an `ItemRelease`.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, Equation 1; `removal_cost` computes it, for this measure and for the search.
    """
    rows = []
    for release in check_releases("items_lost", releases, ItemRelease):
        group, before, after = release.release.group, release.original.sizes, release.published.sizes
        order, starts = group_rows(group, release.release.groups)
        costs = [removal_cost(before[own], after[own]) for own in np.split(order, starts)[1:-1]]
        kept = group >= 0
        items, left = int(before[kept].sum()), int(after[kept].sum())
        rows.append(
            {
                "time": release.time,
                "items": items,
                "removed": items - left,
                "removed_share": (items - left) / items if items else 0.0,
                "cost": removal_cost(before[kept], after[kept]),
                "cost_per_group": math.fsum(costs) / len(costs) if costs else math.nan,
                "measured": int(kept.sum()),
                "suppressed": int((~kept).sum()),
            }
        )
    return release_table(rows, COLUMNS)
