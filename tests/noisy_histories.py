"""Small histories of drawn values, with noisy counts in fixed cells of age."""

import numpy as np
import pandas as pd

from foreknow.models import Cells, History, NoisyRelease, NoisyTable, Numeric, Schema

SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b"))


def noisy_release(view, noise, counts, cuts=(), **settings):
    """A release of given noisy counts, in cells that end at some ages."""
    cells = Cells.grid(view.schema, {"age": list(cuts)})
    return NoisyRelease(view, NoisyTable(cells, np.array(counts), noise, **settings))


def true_counts(view, cells):
    """Number of records of each value in each cell."""
    found = np.zeros((len(cells), len(view.schema.values)), dtype=int)
    np.add.at(found, (cells.of(view.people), view.sensitive), 1)
    return found


def noisy_history(rng, noise, prior, chain, people=4, releases=3, listed=0.8, cuts=(4,), schema=SCHEMA):
    """History of respondents of one prior and chain, each listed with some chance, and its noisy releases."""
    ages, value = rng.integers(0, 10, people), rng.choice(len(prior), people, p=prior)
    rows = []
    for week in range(releases):
        here = np.flatnonzero(rng.random(people) < listed)
        rows += [(i, week, ages[i], schema.values[value[i]]) for i in (here if len(here) else [0])]
        value = np.array([rng.choice(len(prior), p=chain[v]) for v in value])
    frame = pd.DataFrame(rows, columns=["id", "week", "age", schema.sensitive])
    history = History.read(frame, schema, time="week")
    cells = Cells.grid(schema, {"age": list(cuts)})
    counts = [true_counts(view, cells) for view in history]
    noisy = [count + noise.draw(count.shape, rng) for count in counts]
    noisy = [np.maximum(count, 0) for count in noisy] if noise.clamped else noisy
    return history, [
        NoisyRelease(view, NoisyTable(cells, count, noise)) for view, count in zip(history, noisy, strict=True)
    ]
