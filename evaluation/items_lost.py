"""What the suppression of items lost: a tidy table, one row per release."""

import math
from collections import defaultdict
from collections.abc import Iterable

import pandas as pd

from foreknow.models import ItemRelease


def items_lost(releases: Iterable[ItemRelease]) -> pd.DataFrame:
    """How many items were left out of published records, and at what cost.

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
    """
    rows = []
    for release in releases:
        had_and_left = zip(release.original.sizes.tolist(), release.published.sizes.tolist(), strict=True)
        of: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for group, pair in zip(release.release.group.tolist(), had_and_left, strict=True):
            of[group].append(pair)
        suppressed = of.pop(-1, [])
        sizes = [pair for group in of.values() for pair in group]
        items, left = sum(had for had, _ in sizes), sum(left for _, left in sizes)
        rows.append(
            {
                "time": release.time,
                "items": items,
                "lost": items - left,
                "share": (items - left) / items if items else 0.0,
                "cost": _cost(sizes),
                "per_group": math.fsum(map(_cost, of.values())) / len(of) if of else float("nan"),
                "records": len(sizes),
                "suppressed": len(suppressed),
            }
        )
    return pd.DataFrame(rows)


def _cost(sizes: list[tuple[int, int]]) -> float:
    """T of some records, from the number of items that each had, and has left."""
    whole = math.fsum(1 / j for had, _ in sizes for j in range(1, had + 1))
    return math.fsum(1 / j for had, left in sizes for j in range(left + 1, had + 1)) / whole if whole else 0.0
