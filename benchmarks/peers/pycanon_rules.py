"""How pycanon 1.3.5 computes what its name says otherwise, written out from its source: each disagreement is one of these."""

from collections.abc import Callable

import numpy as np
import pandas as pd

type Counts = pd.DataFrame
"""How often each group, a row, shows each value, a column in the order of the values."""


def entropy(counts: Counts) -> float:
    """``int(e ** H)``: rounded down, and exponents of logarithms fall short, so that three equal shares have l = 2."""
    worst = min(-float(np.sum(share * np.log(share))) for share in shown_shares(counts))
    return float(int(np.exp(1) ** worst))


def recursive(counts: Counts) -> float:
    """Counts are sorted from the least: the rarest value over the sum of the others from the l-th on, rounded, and 1 more."""
    least = int((counts > 0).sum(axis=1).min())
    if least <= 1:
        return float("nan")
    ranked = (np.sort(row[row > 0]) for row in counts.to_numpy())
    return max(float(np.floor(row[0] / row[least - 1 :].sum() + 1)) for row in ranked)


def enhanced(counts: Counts) -> float:
    """The largest gain of all values, or ``-ln p`` of the rarest value if that is less: not each value's gain by its own."""
    whole = counts.sum() / counts.to_numpy().sum()
    gains = counts.div(counts.sum(axis=1), axis=0) / whole - 1
    return float(min(gains.to_numpy().max(), -np.log(whole.min())))


def shown_shares(counts: Counts) -> list[np.ndarray]:
    """The shares of the values that each group shows."""
    return [row[row > 0] / row.sum() for row in counts.to_numpy()]


RULES: dict[str, Callable[[Counts], float]] = {
    "entropy l": entropy,
    "recursive c": recursive,
    "enhanced beta": enhanced,
}
