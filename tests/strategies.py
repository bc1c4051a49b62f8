"""Hypothesis strategies, and small tables written in one line."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from foreknow.models import Categorical, Evidence, Hierarchy, History, Numeric, Problem, Schema, View

WEIGHTS = (0, 0, 1, 1, 2, 5, 20, 1000, 1e-6)
"""Weights of rows of probabilities, with frequent ties, zeros and small numbers."""


@st.composite
def distributions(draw, m):
    """A row of m probabilities, often with zeros, sometimes one-hot."""
    weights = draw(st.lists(st.sampled_from(WEIGHTS), min_size=m, max_size=m).filter(any))
    return np.array(weights, dtype=float) / sum(weights)


@st.composite
def problems(draw, possible=False, largest=5, groups=3, values=4, hidden=False):
    """A problem with several groups in any order of rows, some respondents in no group, and some equal prior rows.

    If ``possible``, the prior allows the counts of each group. If ``hidden``, no group has the last value of the domain.
    """
    m = draw(st.integers(2 if hidden else 1, values))
    sizes = draw(st.lists(st.integers(1, largest), min_size=1, max_size=groups))
    group = [j for j, size in enumerate(sizes) for _ in range(size)] + [-1] * draw(st.integers(0, 2))
    group = np.array(draw(st.permutations(group)))
    shown = m - 1 if hidden else m
    kinds = distributions(m).filter(lambda row: row[:shown].any()) if hidden else distributions(m)
    kinds = draw(st.lists(kinds, min_size=1, max_size=6))
    prior = np.array([kinds[draw(st.integers(0, len(kinds) - 1))] for _ in group])
    counts = np.zeros((len(sizes), m), dtype=np.int64)
    for row, j in enumerate(group):
        if j >= 0:
            allowed = np.flatnonzero(prior[row][:shown]) if possible else np.arange(shown)
            counts[j, draw(st.sampled_from(allowed.tolist()))] += 1
    return Problem(prior, group, counts)


@st.composite
def evidences(draw, values=2, largest=4, groups=4, signatures=3):
    """Evidence on global distributions: groups of respondents of a few signatures, some of none, some in no group."""
    sizes = draw(st.lists(st.integers(1, largest), min_size=1, max_size=groups))
    group = [j for j, size in enumerate(sizes) for _ in range(size)] + [-1] * draw(st.integers(0, 2))
    signature = [draw(st.integers(-1, signatures - 1)) for _ in group]
    counts = np.zeros((len(sizes), values), dtype=np.int64)
    for j in group:
        if j >= 0:
            counts[j, draw(st.integers(0, values - 1))] += 1
    rest = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 7.0]), min_size=values, max_size=values)))
    return Evidence(np.array(signature), np.array(group), counts, rest / rest.sum())


@st.composite
def tables(draw, most=16, ages=8, values=3):
    """A small table with two quasi-identifiers with ties, and a prior row per record: (view, prior)."""
    n = draw(st.integers(2, most))
    cell = st.integers(0, ages - 1)
    columns = {
        "age": draw(st.lists(cell, min_size=n, max_size=n)),
        "weight": draw(st.lists(cell, min_size=n, max_size=n)),
    }
    results = draw(st.lists(st.integers(0, values - 1), min_size=n, max_size=n))
    domain = tuple("abcdef"[:values])
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(n)], **columns, "result": [domain[r] for r in results]})
    schema = Schema({"age": Numeric(), "weight": Numeric()}, "result", domain)
    kinds = draw(st.lists(distributions(values), min_size=1, max_size=3))
    prior = np.array([kinds[draw(st.integers(0, len(kinds) - 1))] for _ in range(n)])
    return View(frame, schema, 1), prior


TOWNS = Hierarchy(
    [("Rome", "Lazio", "*"), ("Milan", "Lombardy", "*"), ("Como", "Lombardy", "*"), ("Ostia", "Lazio", "*")]
)
MIXED = Schema(
    {"town": Categorical(TOWNS.leaves, TOWNS), "age": Numeric(0, 9), "sex": Categorical(("f", "m"))},
    "result",
    tuple("abc"),
)


@st.composite
def mixed_tables(draw, most=16):
    """A small table with a number, a category with a hierarchy and one without, often with equal rows: (view, prior)."""
    n, equal_rows = draw(st.integers(2, most)), draw(st.booleans())
    cells = {"town": TOWNS.leaves, "age": range(4), "sex": "fm", "result": "abc"}
    columns = {name: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)) for name, values in cells.items()}
    if equal_rows:
        columns |= {name: [columns[name][0]] * n for name in ("town", "age", "sex")}
    kinds = draw(st.lists(distributions(3), min_size=1, max_size=2))
    prior = np.array([kinds[draw(st.integers(0, len(kinds) - 1))] for _ in range(n)])
    return View(pd.DataFrame({"id": range(n), **columns}), MIXED, 1), prior


def frame_of(ids, results, ages=None):
    """A table of records, from a string of ids and one of results, with one letter per record."""
    ages = range(20, 20 + len(ids)) if ages is None else ages
    return pd.DataFrame({"id": list(ids), "age": list(ages), "result": list(results)})


def view_of(ids, results, ages=None, time=1, domain="abc"):
    """A view with the quasi-identifier age, from a string of ids and one of results, with one letter per record."""
    return View(frame_of(ids, results, ages), Schema({"age": Numeric(0, 99)}, "result", tuple(domain)), time)


def history_of(*records, domain="abc"):
    """A history, from a pair of ids and results per view, at times 1, 2, ...; a respondent has one age."""
    return History(
        view_of(ids, results, [20 + ord(i) - ord("A") for i in ids], time, domain)
        for time, (ids, results) in enumerate(records, start=1)
    )
