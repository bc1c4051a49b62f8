"""The distance of quasi-identifiers: of codes, of matrices of codes, and of embedded points."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models import Categorical, Hierarchy, Numeric, People, Schema
from foreknow.models.tables.distance import (
    attribute_distance,
    distances,
    points,
    scale,
    squared_distance,
    tree_distances,
)


@st.composite
def hierarchies(draw, most=9):
    """A tree of any shape: each level merges labels of the level below, the last merges all; rows in any order."""
    v = draw(st.integers(1, most))
    columns = [list(range(v))]
    for _ in range(draw(st.integers(0, 3))):
        below = sorted(set(columns[-1]))
        merged = dict(
            zip(below, draw(st.lists(st.integers(0, 3), min_size=len(below), max_size=len(below))), strict=True)
        )
        columns.append([merged[label] for label in columns[-1]])
    rows = [(*(f"{level}:{label}" for level, label in enumerate(labels)), "*") for labels in zip(*columns, strict=True)]
    return Hierarchy(draw(st.permutations(rows)))


kinds = st.one_of(
    st.builds(lambda low, width: Numeric(low, low + width), st.integers(-5, 5), st.sampled_from([0, 0.5, 1, 7])),
    st.builds(lambda v: Categorical(tuple("abcdef"[:v])), st.integers(1, 6)),
    st.builds(lambda tree: Categorical(tree.leaves, tree), hierarchies()),
)


@st.composite
def crowds(draw, most=8):
    """Respondents with attributes of every kind."""
    attributes = draw(st.lists(kinds, min_size=1, max_size=3))
    n = draw(st.integers(1, most))
    columns = []
    for kind in attributes:
        low, high = kind.bounds
        cell = st.integers(0, int(high)) if isinstance(kind, Categorical) else st.floats(low, high)
        columns.append(draw(st.lists(cell, min_size=n, max_size=n)))
    schema = Schema({f"q{a}": kind for a, kind in enumerate(attributes)}, "result", ("a",))
    return People(np.arange(n), np.array(columns, dtype=float).T.reshape(n, -1), schema)


def distance_by_definition(kind, x, y):
    """The definition for one pair: numbers over the width, values by their lowest common ancestor in the tree."""
    if isinstance(kind, Numeric):
        return abs(x - y) / (kind.high - kind.low) if kind.high > kind.low else 0.0
    first, second = (str(kind.values[int(code)]) for code in (x, y))
    if kind.hierarchy is None:
        return float(first != second)
    height, _ = nx.lowest_common_ancestor(kind.hierarchy.tree, (0, first), (0, second))
    return height / kind.hierarchy.height


@given(people=crowds())
def test_is_as_defined_in_every_form(people):
    attributes, codes = list(people.schema.quasi_identifiers.values()), people.quasi_identifiers
    ruler = scale(people.schema)
    for (i, x), (j, y) in itertools.product(enumerate(codes), repeat=2):
        expected = [distance_by_definition(kind, x[a], y[a]) for a, kind in enumerate(attributes)]
        assert [attribute_distance(ruler, a, x[a], y[a]) for a in range(len(attributes))] == expected
        assert [distances(kind, codes[:, a], codes[:, a])[i, j] for a, kind in enumerate(attributes)] == expected
        assert squared_distance(ruler, x, y) == pytest.approx(sum(one**2 for one in expected), abs=1e-15)


@given(people=crowds())
def test_points_lie_as_far_apart_as_people(people):
    place, codes, ruler = points(people), people.quasi_identifiers, scale(people.schema)
    assert len(place) == len(people)
    for (i, x), (j, y) in itertools.product(enumerate(codes), repeat=2):
        assert ((place[i] - place[j]) ** 2).sum() == pytest.approx(squared_distance(ruler, x, y), abs=1e-12)


@given(tree=hierarchies(most=12))
def test_between_two_values_nothing_is_farther_than_they_are(tree):
    """Codes follow the traversal: a box of codes is as far away as its nearer bound, and siblings are neighbours."""
    far_apart = tree_distances(Categorical(tree.leaves, tree))
    for x, y in itertools.combinations(range(len(far_apart)), 2):
        assert (far_apart[x, x : y + 1] <= far_apart[x, y]).all()
        assert (far_apart[y, x : y + 1] <= far_apart[y, x]).all()


@given(tree=hierarchies())
def test_is_an_ultrametric(tree):
    """Of any three values, the two largest distances are equal."""
    far_apart = tree_distances(Categorical(tree.leaves, tree))
    assert (np.diag(far_apart) == 0).all()
    assert (far_apart == far_apart.T).all()
    assert ((far_apart > 0) | np.eye(len(far_apart), dtype=bool)).all()
    assert far_apart.max() <= 1
    assert (far_apart[:, None, :] <= np.maximum(far_apart[:, :, None], far_apart[None, :, :])).all()


def test_by_hand():
    """Rome is 1/3 from Milan, 2/3 from Paris and 1 from Tokyo; ages are divided by a width of 80."""
    tree = Hierarchy(
        [
            ("Rome", "Italy", "Europe", "*"),
            ("Milan", "Italy", "Europe", "*"),
            ("Paris", "France", "Europe", "*"),
            ("Tokyo", "Japan", "Asia", "*"),
        ]
    )
    kind = Categorical(tree.leaves, tree)
    assert np.allclose(tree_distances(kind)[0] * 3, [0, 1, 2, 3])
    assert distances(Numeric(10, 90), np.array([30.0]), np.array([10, 30, 70])).tolist() == [[0.25, 0.0, 0.5]]
    some = Categorical(("Tokyo", "Rome"), tree)
    assert some.values == ("Rome", "Tokyo")
    assert distances(some, np.array([0.0]), np.array([1.0, 0.0])).tolist() == [[1.0, 0.0]]
