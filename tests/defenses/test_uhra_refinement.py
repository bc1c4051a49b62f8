"""Refinement against the plain rule, one record at a time; its termination; the search for the nearest group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses import DistinctDiversity, KAnonymity, TCloseness
from foreknow.defenses.algorithms.group_index import (
    GroupLimits,
    index_groups,
    keeps_limits,
    nearer_groups,
    nearest_group,
    update_group,
)
from foreknow.defenses.requirements.summary import Summary, TableCounts, entropy
from foreknow.defenses.uhra import MIN_DECREASE, GroupRule, place_leftovers, refine

GRID = 8
"""Coordinates are eighths, so that sums are exact and equal distances are equal numbers."""


def records_of(values, m=3):
    """Summary of records with some values and uniform priors."""
    counts = np.eye(m, dtype=np.int64)[values]
    prior = np.full((len(values), m), 1 / m)
    whole = TableCounts(tuple(range(m)), counts.sum(axis=0))
    return Summary(np.ones(len(values), dtype=np.int64), counts, prior, entropy(prior), whole)


def rule_of(values, k, t, m=3):
    table = np.bincount(values, minlength=m) / len(values)
    return GroupRule(GroupLimits(k, table, t, np.full(m, np.inf)))


def squared(x, y):
    return sum((a - b) * (a - b) for a, b in zip(x, y, strict=True))


def centroid(points, group):
    return [sum(points[i][a] for i in group) / len(group) for a in range(len(points[0]))]


def sse(points, labels):
    groups = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
    return sum(squared(points[i], centroid(points, group)) for group in groups for i in group)


def swept(points, values, labels, satisfies, margin=MIN_DECREASE):
    """Algorithm 2, lines 23 to 26, once: the labels, and True if a record moved."""
    groups = [[i for i, label in enumerate(labels) if label == g] for g in range(max(labels, default=-1) + 1)]
    moved = False
    for i in range(len(points)):
        own = next((g for g, group in enumerate(groups) if i in group), None)
        if own is None or not satisfies([values[x] for x in groups[own] if x != i]):
            continue
        reach = squared(points[i], centroid(points, groups[own])) - margin
        near = sorted((squared(points[i], centroid(points, group)), g) for g, group in enumerate(groups) if g != own)
        for far, g in near:
            if far < reach and satisfies([values[x] for x in groups[g]] + [values[i]]):
                groups[own].remove(i)
                groups[g].append(i)
                moved = True
                break
    found = [next((g for g, group in enumerate(groups) if i in group), -1) for i in range(len(points))]
    return np.array(found), moved


def keeps(values, k, t, l=1):  # noqa: E741 - the diversity's letter
    def satisfies(group):
        shares = [abs(group.count(s) / max(len(group), 1) - values.count(s) / len(values)) for s in set(values)]
        return len(group) >= max(k, 1) and sum(shares) / 2 <= t + 1e-9 and len(set(group)) >= l

    return satisfies


@st.composite
def grouped(draw, most=14):
    """Points on the grid, values, and groups."""
    n = draw(st.integers(2, most))
    cells = st.lists(st.integers(0, GRID), min_size=n, max_size=n)
    points = np.column_stack([draw(cells), draw(cells)]) / GRID
    values = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    return points, values, labels


settings = {"k": st.integers(1, 3), "t": st.sampled_from([0.2, 0.4, 1.0])}


class TestRefine:
    @given(drawn=grouped(), **settings)
    def test_equals_the_plain_sweeps(self, drawn, k, t):
        points, values, labels = drawn
        satisfies, expected, moved = keeps(values.tolist(), k, t), labels, bool((labels >= 0).any())
        sweeps = 0
        while moved:
            expected, moved = swept(points.tolist(), values.tolist(), expected.tolist(), satisfies)
            sweeps += 1
        refined = refine(records_of(values), points, labels, rule_of(values, k, t), 1000)
        assert refined.labels.tolist() == expected.tolist()
        assert refined.converged
        assert sweeps in (0, refined.sweeps)

    @given(drawn=grouped(), l=st.integers(1, 2), **settings)
    def test_asks_a_requirement_of_both_groups(self, drawn, k, t, l):  # noqa: E741 - the diversity's letter
        points, values, labels = drawn
        requirement = KAnonymity(k) & TCloseness(t) & DistinctDiversity(l)
        rule = rule_of(values, k, t)._replace(predicate=requirement)
        satisfies, expected, moved = keeps(values.tolist(), k, t, l), labels, bool((labels >= 0).any())
        while moved:
            expected, moved = swept(points.tolist(), values.tolist(), expected.tolist(), satisfies)
        assert refine(records_of(values), points, labels, rule, 1000).labels.tolist() == expected.tolist()

    @pytest.mark.parametrize("seed", range(4))
    def test_equals_the_plain_sweeps_where_groups_stand_in_many_cells(self, seed):
        rng = np.random.default_rng(seed)
        points, values = rng.integers(0, 64, (150, 3)) / 64, rng.integers(0, 3, 150)
        labels = rng.permutation(np.arange(150) % 40)
        expected, moved = labels, True
        while moved:
            expected, moved = swept(points.tolist(), values.tolist(), expected.tolist(), keeps(values.tolist(), 2, 0.7))
        refined = refine(records_of(values), points, labels, rule_of(values, 2, 0.7), 1000)
        assert refined.labels.tolist() == expected.tolist()
        assert (refined.labels != labels).any()

    @pytest.mark.parametrize("seed", range(8))
    def test_ends_because_the_sum_of_squares_falls_with_every_sweep(self, seed):
        rng = np.random.default_rng(seed)
        n = 200
        points, values = rng.random((n, 2)), rng.integers(0, 3, n)
        labels = rng.permutation(np.arange(n) % 30)
        rule, at, converged = rule_of(values, 3, 1.0), sse(points, labels), False
        while not converged:
            labels, _, converged = refine(records_of(values), points, labels, rule, 1)
            now = sse(points, labels)
            assert now < at - MIN_DECREASE / 2 or converged
            at = now

    def test_the_printed_rule_without_a_strictly_nearer_centroid_need_not_end(self):
        """Two records at one point, the centroid of two groups: with ``<=`` for ``<`` the first record alternates between them."""
        points, values, labels = [[0.5], [0.5], [0.5], [0.5]], [0, 0, 0, 0], [0, 0, 0, 1]
        satisfies = keeps(values, 1, 1.0)
        for _ in range(5):
            labels, moved = swept(points, values, list(labels), satisfies, margin=-1e-9)
            assert moved
        assert (
            refine(
                records_of(np.zeros(4, int)), np.array(points), np.array([0, 0, 0, 1]), rule_of(values, 1, 1.0), 9
            ).sweeps
            == 1
        )

    def test_a_group_of_k_keeps_its_records(self):
        points, values = np.array([[0.0], [1.0], [0.0], [0.1]]), np.zeros(4, dtype=np.int64)
        labels = np.array([0, 0, 1, 1])
        assert refine(records_of(values), points, labels, rule_of(values, 2, 1.0), 9).labels.tolist() == [0, 0, 1, 1]
        assert refine(records_of(values), points, labels, rule_of(values, 1, 1.0), 9).labels.tolist() == [1, 0, 1, 1]

    def test_stops_at_the_limit_and_says_so(self):
        points, values = np.array([[0.0], [1.0], [0.0], [0.1]]), np.zeros(4, dtype=np.int64)
        labels, sweeps, converged = refine(
            records_of(values), points, np.array([0, 0, 1, 1]), rule_of(values, 1, 1.0), 1
        )
        assert (labels.tolist(), sweeps, converged) == ([1, 0, 1, 1], 1, False)


class TestNearestGroup:
    @given(drawn=grouped(), data=st.data(), **settings)
    def test_is_the_first_of_all_by_distance(self, drawn, data, k, t):
        points, values, labels = drawn
        if not (labels >= 0).any():
            return
        limits, groups = rule_of(values, k, t).limits, index_groups(points, values, labels, 3)
        members = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
        for row, to in data.draw(st.lists(st.tuples(st.integers(0, len(points) - 1), st.integers(0, 3)), max_size=4)):
            if labels[row] >= 0 and to < len(members) and len(members[labels[row]]) > 1:
                members[labels[row]].remove(row)
                members[to].append(row)
                update_group(groups, int(labels[row]), points[row], int(values[row]), -1)
                update_group(groups, to, points[row], int(values[row]), 1)
                labels[row] = to
        satisfies = keeps(values.tolist(), k, t)
        for row in range(len(points)):
            ranked = sorted(
                (squared(points[row], centroid(points.tolist(), group)), g) for g, group in enumerate(members)
            )
            good = [g for _, g in ranked if satisfies([*values[members[g]].tolist(), int(values[row])])]
            assert nearer_groups(groups, points[row], int(values[row]), limits, -1, np.inf).tolist() == good
            assert nearest_group(groups, points[row], int(values[row]), limits, -1, np.inf) == (good or [-1])[0]

    def test_limits_are_those_of_the_requirements(self):
        rng = np.random.default_rng(3)
        values, labels = rng.integers(0, 3, 60), rng.integers(0, 12, 60)
        groups = index_groups(np.zeros((60, 1)), values, labels, 3)
        limits = rule_of(values, 4, 0.25).limits
        whole = records_of(values).table
        for group in range(12):
            for value in range(3):
                for by in (-1, 1):
                    counts = groups.counts[group] + by * np.eye(3, dtype=np.int64)[value]
                    if counts.min() >= 0 and counts.sum():
                        summary = Summary(counts[None].sum(axis=1), counts[None], np.zeros((1, 3)), np.zeros(1), whole)
                        expected = (KAnonymity(4) & TCloseness(0.25))(summary)[0]
                        assert keeps_limits(groups, group, value, by, limits) == expected

    @pytest.mark.parametrize("asked", [False, True])
    def test_leftovers_join_the_nearest_that_may_take_them_one_by_one(self, asked):
        points, values = np.array([[0.0], [0.0], [1.0], [1.0], [0.2], [0.3], [0.4]]), np.array([0, 1, 0, 1, 0, 0, 1])
        rule = rule_of(values, 2, 0.1)
        if asked:
            rule = rule._replace(predicate=KAnonymity(2) & TCloseness(0.1))
        labels = place_leftovers(
            records_of(values), points, np.array([0, 0, 1, 1, -1, -1, -1]), np.array([4, 5, 6]), rule
        )
        assert labels.tolist() == [0, 0, 1, 1, 0, 1, 0]
