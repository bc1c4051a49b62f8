"""Simulated couples and families: a closed panel whose related respondents have values that depend on each other."""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.priors import GivenPrior, Prior
from foreknow.models.knowledge.relations import Relations
from foreknow.models.settings import as_generator, check_array_size, check_range, check_whole
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Numeric, Schema
from foreknow.models.tables.view import View

CONDITIONS, SHARES = ("none", "infection", "asthma", "diabetes", "depression"), (0.4, 0.2, 0.15, 0.15, 0.1)
"""Sensitive domain, and the share of each value among independent respondents; all numbers of this file are assumed."""

CHANGE = 0.15
"""Probability that a value is drawn anew, from the shares, between two views."""

ALIKE = {"couple": 4.0, "siblings": 3.0, "parent": 2.0}
"""Factor of two equal values, relative to two different ones, at strength 1."""

CHILDREN = (0.4, 0.2, 0.3, 0.1)
"""Shares of families with 0, 1, 2 and 3 children."""

SCHEMA = Schema({"age": Numeric(0, 89), "district": Numeric(1, 20)}, "condition", CONDITIONS, "id")


class SimulatedFamilies(NamedTuple):
    """Simulated panel of families, with the exact laws that generated it.

    Attributes
    ----------
    history : History
    prior : Prior
        Factor of the first value of each respondent.
    transitions : MarkovChain
    relations : Relations
        Edges of the kinds couple, parent and siblings, with the table of each.
    """

    history: History
    prior: Prior
    transitions: MarkovChain
    relations: Relations


def simulated_families(
    views: int = 6, families: int = 100, strength: float = 1.0, *, rng: np.random.Generator | int
) -> SimulatedFamilies:
    """Simulate a closed panel of couples and their children.

    The first values of a family are drawn from the product of the shares of its members and of a table for each edge; each later
    value from the transitions after the last one, independently between respondents. A family lives in one district.

    Parameters
    ----------
    views : int
        Number of views; their times are 1, ..., views. Every respondent is in each.
    families : int
        Number of families, of 2 to 5 respondents: a couple and 0 to 3 children.
    strength : float
        0 for independent respondents; with larger numbers the factor of equal values is `ALIKE` to the power of it.
    rng : numpy.random.Generator or int
        Random generator, or a seed. By keyword.

    Raises
    ------
    TypeError, ValueError
        If a number is none, or out of its range.

    Notes
    -----
    Simulated: no real family is in it, and no number is from a source. The joint law of prior, transitions and relations is exact.
    Cost: O(families m^5 + views records).

    Examples
    --------
    >>> history, prior, transitions, relations = simulated_families(2, 50, rng=1)
    >>> len(history), relations.kinds
    (2, ('couple', 'parent', 'siblings'))
    """
    check_whole("simulated_families", "views", views, "views")
    check_whole("simulated_families", "families", families, "families")
    check_range("simulated_families", "strength", strength, 0, 10, "of the relations")
    check_array_size("simulated_families", views=int(views), records=5 * int(families))
    generator = as_generator("simulated_families", rng)
    sizes = 2 + generator.choice(len(CHILDREN), p=CHILDREN, size=int(families))
    starts = np.cumsum(sizes) - sizes
    kinds = {kind: np.where(np.eye(len(SHARES)) > 0, factor**strength, 1.0) for kind, factor in sorted(ALIKE.items())}
    values = np.concatenate([_first_values(int(size), kinds, generator) for size in sizes])
    graph = nx.Graph()
    graph.add_nodes_from(range(len(values)))
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        graph.add_edges_from((start + i, start + j, {"kind": kind}) for i, j, kind in _edges(size))
    ages = np.repeat(generator.integers(30, 60, size=len(sizes)), sizes) + generator.integers(-5, 6, size=len(values))
    place = np.arange(len(values)) - np.repeat(starts, sizes)
    ages = np.where(place < 2, ages, np.maximum(ages - 28 - 3 * place, 0))
    district = np.repeat(generator.integers(1, 21, size=len(sizes)), sizes)
    step = (1 - CHANGE) * np.eye(len(SHARES)) + CHANGE * np.array(SHARES)
    frame = pd.DataFrame({"id": np.arange(len(values)), "age": ages, "district": district})
    made = []
    for t in range(1, int(views) + 1):
        made.append(View(frame.assign(condition=np.array(CONDITIONS)[values]), SCHEMA, t))
        values = (generator.random((len(values), 1)) > np.cumsum(step[values], axis=1)[:, :-1]).sum(axis=1)
    prior = GivenPrior(pd.DataFrame([SHARES] * len(frame), index=frame["id"], columns=list(CONDITIONS)))
    return SimulatedFamilies(History(made), prior, MarkovChain(1, step), Relations(graph, kinds))


def _edges(size: int) -> Iterator[tuple[int, int, str]]:
    """Edges of a family: members 0 and 1 are the couple, the others their children."""
    for i, j in combinations(range(size), 2):
        yield i, j, "couple" if j == 1 else "parent" if i < 2 else "siblings"


def _first_values(size: int, kinds: dict[str, FloatArray], rng: np.random.Generator) -> IntArray:
    """First values of one family, drawn from their law by enumeration: int array, shape ``(size,)``."""
    all_values = np.array(list(product(range(len(SHARES)), repeat=size)))
    weight = np.array(SHARES)[all_values].prod(axis=1)
    for i, j, kind in _edges(size):
        weight = weight * kinds[kind][all_values[:, i], all_values[:, j]]
    return np.asarray(all_values[rng.choice(len(weight), p=weight / weight.sum())], dtype=np.int64)
