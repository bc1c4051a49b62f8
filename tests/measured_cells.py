"""Experiments of the tests of cells, which other processes import by name."""

import time

import pandas as pd

from foreknow.evaluation.cells import Experiment


def drawn(cell, rng):
    """Return draws, which take some milliseconds."""
    time.sleep(0.01)
    return pd.DataFrame({"row": range(200), "draw": rng.random(200), "scaled": rng.normal(size=200) * cell["scale"]})


def product_sum(cell, rng):
    """Return the sum of a product of matrices, whose rounding could depend on the number of threads."""
    square = rng.random((300, 300))
    return pd.DataFrame({"total": [float((square @ square).sum())], "text": [str(cell["size"])]})


def mixed(cell, rng):
    """Return columns of several types, which depend on the cell."""
    if cell["k"] is None:
        return pd.DataFrame({"flag": [True, False], "none": [None, None]})
    return pd.DataFrame({"number": [7], "at": [pd.Timestamp("2024-02-29")]})


def nothing(cell, rng):
    return pd.DataFrame({"total": []})


def number(cell, rng):
    return 3


def repeated(cell, rng):
    return pd.DataFrame({"Scale": [1.0]})


def failing(cell, rng):
    return pd.DataFrame({"total": [1 // cell["scale"]]})


DRAWN = Experiment("drawn", drawn, [{"scale": scale, "seed": seed} for scale in (1, 2.5) for seed in range(6)])
SUMS = Experiment("sums", product_sum, [{"size": size, "known": None} for size in range(4)])
