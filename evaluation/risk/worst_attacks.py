"""Worst case over attacks: for each measure the most that any attack reaches, and the attack."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

WORST = ("gain", "total_risk", "log_score", "right_share")
"""Measures of which the highest value is the worst case."""


def with_right_share(risk: pd.DataFrame) -> pd.DataFrame:
    """Risk table with ``right_share``, the number of sure and right beliefs over that of published records."""
    published = risk["published"].to_numpy(dtype=float)
    right = risk["right"].to_numpy(dtype=float)
    share = np.divide(right, published, out=np.full(len(risk), np.nan), where=published > 0)
    return risk.assign(right_share=share)


def worst_attacks(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Largest value of each measure of `WORST` among the rows with equal keys, and the attack of that row.

    Parameters
    ----------
    table : DataFrame
        Columns ``attack``, the keys and the measures.
    keys : sequence of str
        Columns whose combinations are the rows of the result, in the order of their first appearance.

    Returns
    -------
    DataFrame
        The keys, and for each measure its largest value and, in ``<measure>_attack``, the first attack that reaches it; NaN and
        None where no attack has a number.
    """
    columns = [*keys, *(name for measure in WORST for name in (measure, f"{measure}_attack"))]
    rows = []
    for _, group in table.groupby(list(keys), sort=False):
        row = {key: group[key].iloc[0] for key in keys}
        for measure in WORST:
            values = group[measure].to_numpy(dtype=float)
            known = np.flatnonzero(~np.isnan(values))
            best = known[values[known].argmax()] if len(known) else None
            row[measure] = np.nan if best is None else values[best]
            row[f"{measure}_attack"] = None if best is None else group["attack"].iloc[best]
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.Index(columns))
