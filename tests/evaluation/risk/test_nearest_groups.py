"""Nearest groups against a search through all groups, and growth with the number of categories."""

import math
import sys
import tracemalloc
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.evaluation import gcp, record_linkage
from foreknow.evaluation.risk.record_linkage import linkage_probability
from foreknow.models import Categorical, Hierarchy, Numeric, Release, Schema, View
from foreknow.models.tables.distance import points
from foreknow.models.tables.people import People
from foreknow.models.tables.release import published_hulls

TOWNS = Hierarchy(
    [(town, land, part, "*") for town, land, part in [
        ("Rome", "Italy", "South"), ("Milan", "Italy", "South"), ("Athens", "Greece", "South"),
        ("Oslo", "Norway", "North"), ("Bergen", "Norway", "North"), ("Turku", "Finland", "North"),
    ]]
)  # fmt: skip
SCHEMA = Schema(
    {"town": Categorical(TOWNS.leaves, TOWNS), "age": Numeric(0, 9), "job": Categorical(tuple("uvwxyz"))},
    "result",
    ("a",),
)


@st.composite
def releases(draw, most=14):
    """A release of people of few towns, ages and jobs, some of them suppressed."""
    row = st.tuples(st.sampled_from(TOWNS.leaves), st.integers(0, 3), st.sampled_from("uvwxyz"))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    frame = pd.DataFrame(rows, columns=["town", "age", "job"]).assign(id=range(len(rows)), result="a")
    labels = draw(st.lists(st.integers(-1, 4), min_size=len(rows), max_size=len(rows)))
    return Release(View(frame, SCHEMA), labels)


def middles(release):
    """The mean of the points of every vector in each group's box."""
    hull, found = published_hulls(release), []
    for low, high in zip(hull.low, hull.high, strict=True):
        axes = []
        for a, (name, kind) in enumerate(SCHEMA.quasi_identifiers.items()):
            codes = (
                np.arange(low[a], high[a] + 1) if isinstance(kind, Categorical) else np.array([(low[a] + high[a]) / 2])
            )
            alone = Schema({name: kind}, "result", ("a",))
            axes.append(points(People(np.arange(len(codes)), codes[:, None], alone)).mean(axis=0))
        found.append(np.concatenate(axes))
    return found


def by_loops(release, representative):
    place = points(release.view.people)
    if representative == "midpoint":
        centres = middles(release)
    else:
        centres = [place[release.group == g].mean(axis=0) for g in range(release.groups)]
    probability = []
    for x, own in zip(place, release.group, strict=True):
        away = [math.dist(x, centre) for centre in centres]
        near = [g for g, d in enumerate(away) if math.isclose(d, min(away), abs_tol=1e-9)]
        probability.append(1 / (len(near) * (release.group == own).sum()) if own in near else 0.0)
    return probability


@pytest.mark.parametrize("frequent", [0.0, 0.3, 2.0], ids=["all dense", "some rare", "all rare"])
@pytest.mark.parametrize("representative", ["centroid", "midpoint"])
def test_as_plain_loops_do(frequent, representative):
    """Whichever nodes have axes of their own, and however many pairs are compared at a time."""

    @given(releases(), st.sampled_from([1, 5, 2**22]))
    def check(release, at_a_time):
        if not release.groups:
            return
        with mock.patch.multiple(nearest_groups_module(), DENSE_SHARE=frequent, PAIRS_PER_BATCH=at_a_time):
            found = linkage_probability(release, representative)
        np.testing.assert_allclose(found, by_loops(release, representative))

    check()


def nearest_groups_module():
    return sys.modules["foreknow.evaluation.risk.record_linkage"]


def many_jobs(n, v):
    """n people of v jobs, all about as frequent, in groups of five with ages close together."""
    rng = np.random.default_rng(0)
    jobs = tuple(f"job {number:05d}" for number in range(v))
    frame = pd.DataFrame(
        {"id": range(n), "age": np.sort(rng.integers(20, 80, n)), "job": rng.choice(jobs, n), "result": "a"}
    )
    schema = Schema({"age": Numeric(), "job": Categorical(jobs)}, "result", ("a",))
    return Release(View(frame, schema), np.arange(n) // 5)


def peak(measure, *arguments):
    """The most memory a call takes, in bytes."""
    measure(*arguments)
    tracemalloc.start()
    measure(*arguments)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def steps(work, *arguments):
    """The number of instructions Python takes for a call."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        work(*arguments)
    finally:
        sys.settrace(None)
    return count


class TestGrowth:
    """Twice the records and twice the categories take about twice the memory and the steps, not four times."""

    # Peak bytes grow in steps: 18-fold from 500 to 8,000 records, of which 2.6-fold from 1,000 to 2,000.
    SMALL, LARGE = many_jobs(2000, 2000), many_jobs(4000, 4000)

    @pytest.mark.parametrize("measure", [gcp, record_linkage])
    def test_memory(self, measure):
        assert peak(measure, [self.LARGE]) < 2.6 * peak(measure, [self.SMALL])

    def test_memory_of_the_public_table(self):
        assert peak(lambda: self.LARGE.table) < 2.6 * peak(lambda: self.SMALL.table)

    def test_steps_of_a_hierarchy(self):
        small, large = ([f"v{number}" for number in range(v)] for v in (200, 400))
        assert steps(Hierarchy.flat, large) < 2.6 * steps(Hierarchy.flat, small)

    def test_pairs_compared(self):
        """People of one job, and groups that have one of it: n / v people by as many groups, of v jobs."""
        seen = []

        def spy(vectors, centres, least):
            seen.append((vectors.sparse @ centres.sparse.T).nnz)
            return closest(vectors, centres, least)

        module = nearest_groups_module()
        closest = module._closest_pairs
        with mock.patch.object(module, "_closest_pairs", spy):
            record_linkage([self.SMALL, self.LARGE])
        assert 0 < seen[1] < 2.6 * seen[0]
