"""Links of a register to published groups, against the enumeration of all assignments."""

import itertools

import numpy as np
import pandas as pd
import pytest

from foreknow.app.cli.files.published_tables import Cells
from foreknow.app.cli.files.register import linked
from foreknow.models import Categorical, Hierarchy, Numeric, People, Schema

SCHEMA = Schema({"age": Numeric(0, 99), "town": Categorical(("Lyon", "Rome"))}, "s", ("a", "b"))


def register(ages, towns):
    codes = np.column_stack([ages, towns]).astype(float)
    return People(np.arange(len(ages)).astype(object), codes, SCHEMA, 1)


def by_enumeration(fits, group, size):
    """The group of each person in every assignment: a set of groups, -1 for a person who is not in the release."""
    found = [set() for _ in fits]
    choices = [[cell for cell in range(len(size)) if fit[cell]] + [None] for fit in fits]
    for assignment in itertools.product(*choices):
        if all(assignment.count(cell) == size[cell] for cell in range(len(size))):
            for groups, cell in zip(found, assignment, strict=True):
                groups.add(-1 if cell is None else group[cell])
    return found


@pytest.mark.parametrize("seed", range(60))
def test_links_are_those_of_all_assignments(seed):
    """Cells overlap, two may be of one group, and the register has up to two persons more than the release records."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    ages, towns = rng.integers(0, 4, n), rng.integers(0, 2, n)
    low = rng.integers(0, 4, c)
    high = np.minimum(low + rng.integers(0, 4, c), 3)
    town = rng.choice(["*", "Lyon", "Rome"], c, p=[0.6, 0.2, 0.2])
    code = {"*": (0, 1), "Lyon": (0,), "Rome": (1,)}
    fits = [[low[j] <= ages[i] <= high[j] and towns[i] in code[town[j]] for j in range(c)] for i in range(n)]
    group, size = rng.integers(0, 2, c), np.zeros(c, dtype=int)
    for i in rng.permutation(n)[: n - int(rng.integers(0, 3))]:
        if any(fits[i]):
            size[rng.choice(np.flatnonzero(fits[i]))] += 1
    shown = size > 0
    fits, group, size = [list(np.array(fit)[shown]) for fit in fits], group[shown].tolist(), size[shown]
    labels = pd.DataFrame({"age": [f"[{a},{b}]" for a, b in zip(low, high, strict=True)], "town": town})[shown]
    expected = by_enumeration(fits, group, size.tolist())
    found, undetermined = linked(register(ages, towns), Cells(labels, np.array(group, dtype=int), size))
    assert [{g} if not u else None for g, u in zip(found, undetermined, strict=True)] == [
        one if len(one) == 1 else None for one in expected
    ]


@pytest.mark.parametrize(("ages", "message"), [([1, 5], "1 persons fit the group with age"), ([5], "and it has 2 rec")])
def test_a_register_that_is_too_small_is_refused(ages, message):
    cells = Cells(pd.DataFrame({"age": ["[0,3]"], "town": ["*"]}), np.array([0]), np.array([2]))
    with pytest.raises(ValueError, match=message):
        linked(register(ages, [0] * len(ages)), cells)


def test_a_register_that_no_assignment_fits_is_refused():
    """Each cell has enough persons, and both together have not."""
    labels = pd.DataFrame({"age": ["[0,3]", "[0,4]"], "town": ["*", "*"]})
    with pytest.raises(ValueError, match="no assignment"):
        linked(register([1, 2, 9], [0, 0, 0]), Cells(labels, np.array([0, 1]), np.array([2, 1])))


def test_labels_of_a_hierarchy():
    tree = Hierarchy([("Lyon", "France", "*"), ("Nice", "France", "*"), ("Rome", "Italy", "*")])
    schema = Schema({"town": Categorical(("Lyon", "Nice", "Rome"), tree)}, "s", ("a",))
    people = People(np.array(list("xyz"), dtype=object), np.array([[0.0], [1], [2]]), schema, 1)
    labels = pd.DataFrame({"town": ["Italy", "{Nice, Lyon}"]})
    assert linked(people, Cells(labels, np.array([0, 1]), np.array([1, 2])))[0].tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="'Spain', which is not understood"):
        linked(people, Cells(pd.DataFrame({"town": ["Spain"]}), np.array([0]), np.array([1])))
