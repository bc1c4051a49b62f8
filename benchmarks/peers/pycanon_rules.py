"""Rules of pycanon 1.3.5 that differ from the definition of the measure, written out from its source."""

from collections.abc import Callable

import numpy as np
import pandas as pd

type Counts = pd.DataFrame
"""Counts of the values: one row per group, one column per value, in the order of the values."""


def entropy(counts: Counts) -> float:
    """Entropy l-diversity as ``int(e ** H)``: rounded down, also below a whole number, so that three equal shares have l = 2."""
    worst = min(-float(np.sum(share * np.log(share))) for share in shown_shares(counts))
    return float(int(np.exp(1) ** worst))


def recursive(counts: Counts) -> float:
    """Recursive c with counts sorted in ascending order: the rarest over the sum from the l-th on, plus 1, rounded down."""
    least = int((counts > 0).sum(axis=1).min())
    if least <= 1:
        return float("nan")
    ranked = (np.sort(row[row > 0]) for row in counts.to_numpy())
    return max(float(np.floor(row[0] / row[least - 1 :].sum() + 1)) for row in ranked)


def enhanced(counts: Counts) -> float:
    """Enhanced beta as the smaller of the largest gain and the smallest ``-ln p``, not compared value by value."""
    whole = counts.sum() / counts.to_numpy().sum()
    gains = counts.div(counts.sum(axis=1), axis=0) / whole - 1
    return float(min(gains.to_numpy().max(), -np.log(whole.min())))


def shown_shares(counts: Counts) -> list[np.ndarray]:
    """Shares of the values that each group shows."""
    return [row[row > 0] / row.sum() for row in counts.to_numpy()]


RULES: dict[str, Callable[[Counts], float]] = {
    "entropy l": entropy,
    "recursive c": recursive,
    "enhanced beta": enhanced,
}
