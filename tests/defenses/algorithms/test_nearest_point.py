"""Nearest-point order, against a search of all remaining records at every step."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.models import Categorical, Hierarchy, Numeric, People, Schema
from foreknow.models.tables.distance import distances

PLACES = Hierarchy(
    [
        ("Rome", "Italy", "Europe", "*"),
        ("Milan", "Italy", "Europe", "*"),
        ("Turin", "Italy", "Europe", "*"),
        ("Paris", "France", "Europe", "*"),
        ("Lyon", "France", "Europe", "*"),
        ("Delhi", "India", "Asia", "*"),
        ("Tokyo", "Japan", "Asia", "*"),
    ]
)
KINDS = {
    "age": Numeric(0, 6),
    "town": Categorical(PLACES.leaves, PLACES),
    "colour": Categorical(("red", "green", "blue", "white")),
    "height": Numeric(0, 0.7),
    "planet": Categorical(("earth",)),
    "constant": Numeric(3, 3),
}
CODES = {
    "age": st.integers(0, 6),
    "town": st.integers(0, 6),
    "colour": st.integers(0, 3),
    "height": st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.35, 0.7]),
    "planet": st.just(0),
    "constant": st.just(3),
}
"""Few values of each, so that many records lie equally far from one, and some in the same place."""


def people_of(columns, kinds=KINDS):
    """People with some columns of codes."""
    codes = np.array(list(columns.values()), dtype=float).T
    schema = Schema({name: kinds[name] for name in columns}, "result", ("a",))
    return People(np.arange(len(codes)), codes, schema)


def squares(people):
    """Squared distances between all records as integers in a common unit, so that ties are exact.

    The distance in an attribute is an integer over its width in steps: 1/100 for numbers, one level for hierarchies.
    """
    whole = []
    for kind, codes in zip(people.schema.quasi_identifiers.values(), people.quasi_identifiers.T, strict=True):
        if isinstance(kind, Categorical):
            height = len(kind.tree.levels()) - 1
            whole.append((np.round(distances(kind, codes, codes) * height).astype(np.int64), height))
        else:
            steps = np.round(codes * 100).astype(np.int64)
            width = round((kind.high - kind.low) * 100)
            whole.append(
                (np.abs(np.subtract.outer(steps, steps)) if width else np.zeros((len(codes),) * 2, int), width or 1)
            )
    unit = math.lcm(*(width for _, width in whole))
    return sum((apart.astype(object) * (unit // width)) ** 2 for apart, width in whole)


def onward(people, first):
    """Order from the first row, each time to the nearest remaining row, and to the lowest of tied rows."""
    far = squares(people).tolist()
    order, left = [first], [row for row in range(len(people)) if row != first]
    while left:
        order.append(min(left, key=lambda row: (far[order[-1]][row], row)))
        left.remove(order[-1])
    return order


@st.composite
def crowds(draw, most=60):
    """Records with some of the attributes, in any order."""
    names = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=4, unique=True))
    n = draw(st.integers(1, most))
    return people_of({name: draw(st.lists(CODES[name], min_size=n, max_size=n)) for name in names})


@given(people=crowds())
def test_always_goes_on_to_the_nearest_left(people):
    order = nearest_point_order(people).tolist()
    assert order == onward(people, order[0])


@given(people=crowds())
@example(people=people_of({"age": [0, 6]}))
@example(people=people_of({"age": [3, 6, 0, 6, 0]}))
def test_starts_at_one_of_those_farthest_from_the_centroid(people):
    """The squared distance from a centroid is the mean squared distance from its records, minus half the mean over all pairs."""
    far = squares(people)
    from_centroid = 2 * len(people) * far.sum(axis=1) - far.sum()
    first = nearest_point_order(people)[0]
    assert from_centroid[first] == from_centroid.max()
    alike = np.flatnonzero(far[first] == 0)
    assert first == alike[0]


@given(people=crowds(), data=st.data())
def test_serves_some_of_the_people(people, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(people) - 1), min_size=1, unique=True)))
    some = people[rows]
    order = nearest_point_order(some).tolist()
    assert sorted(order) == list(range(len(rows)))
    assert order == onward(some, order[0])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("grid", [4, 30, 10**6])
def test_equals_the_plain_rule_on_larger_tables(seed, grid):
    """Deep trees, and coarse grids with ties at every step."""
    rng = np.random.default_rng(seed)
    n = 700
    columns = {"x": rng.integers(0, grid, n), "town": rng.integers(0, 7, n), "y": rng.integers(0, grid, n)}
    kinds = KINDS | {"x": Numeric(0, grid), "y": Numeric(0, grid)}
    people = people_of(columns, kinds)
    order = nearest_point_order(people).tolist()
    assert order == onward(people, order[0])


def test_by_hand():
    """The centroid of 0, 1, 5, 6 and 10 is 4.4, and 10 is farthest; then 6, 5, 1, 0."""
    people = people_of({"x": [5, 0, 10, 6, 1]}, {"x": Numeric(0, 10)})
    assert nearest_point_order(people).tolist() == [2, 3, 0, 4, 1]


def test_ties_are_exact_whatever_the_order_in_which_terms_are_added():
    """All orders of 1/6, 2/6 and 4/6 are equally far from the origin, and their sums of squares are rounded differently."""
    ways = list(itertools.permutations([1, 2, 4]))
    rounded = {((a / 6) ** 2 + (b / 6) ** 2) + (c / 6) ** 2 for a, b, c in ways}
    assert len(rounded) > 1
    kinds = {name: Numeric(0, 6) for name in "xyz"}
    for shift in range(6):
        turned = ways[shift:] + ways[:shift]
        people = people_of(dict(zip("xyz", zip((6, 6, 6), (0, 0, 0), *turned, strict=True), strict=True)), kinds)
        order = nearest_point_order(people).tolist()
        assert order == onward(people, order[0])


def test_ties_go_to_the_lowest_row_that_is_left():
    """White is rarest and therefore farthest. All different colours are equally far from each other."""
    people = people_of({"colour": [3, 1, 0, 2, 1, 0, 2]})
    assert nearest_point_order(people).tolist() == [0, 1, 4, 2, 5, 3, 6]


def test_knows_of_the_hierarchy():
    """From Delhi all records in Europe are equally far; from Milan the Italian ones come before the French."""
    codes = [PLACES.leaves.index(town) for town in ("Delhi", "Milan", "Paris", "Rome", "Lyon", "Turin")]
    people = people_of({"town": codes})
    assert nearest_point_order(people).tolist() == [0, 1, 3, 5, 2, 4]


def test_one_person_and_none():
    people = people_of({"age": [3]})
    assert nearest_point_order(people).tolist() == [0]
    assert nearest_point_order(people[np.array([], dtype=int)]).tolist() == []
