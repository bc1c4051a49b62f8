"""k-anonymity-primacy against its steps in plain Python, and its promises."""

import itertools
import math

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import KAnonymity
from foreknow.defenses.algorithms.clustering import prior_clusters
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.defenses.k_primacy import ADD, SKIP, KPrimacy, best_changes
from foreknow.defenses.requirements.closeness import BetaLikeness
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.models import Numeric, Schema, View
from foreknow.models.tables.distance import points

settings_of = st.builds(
    dict, k=st.integers(1, 4), beta=st.sampled_from([0.2, 0.5, 1.0, 3.0]), j=st.sampled_from([0.0, 0.3, 1.0])
)


def squared(x, y):
    return sum((a - b) * (a - b) for a, b in zip(x, y, strict=True))


def limit(p, beta):
    return p * (1 + min(beta, -math.log(p)) + 1e-9)


class Plain:
    """The steps of the docstring, on one cluster."""

    def __init__(self, view, rows, k, beta):
        self.values, self.place, self.k = view.frame["result"].tolist(), points(view.people).tolist(), k
        self.limits = {s: limit(self.values.count(s) / len(self.values), beta) for s in sorted(set(self.values))}
        self.left = set(rows.tolist())
        self.groups, self.failed = [], []
        order = rows[nearest_point_order(view.people[rows])].tolist()
        for seed in order:
            if seed in self.left and len(self.left) >= k:
                self.group_around(seed)
        self.merge()
        for i in order:
            if not any(i in group for group in self.groups):
                self.join([i])

    def excess(self, group):
        values = [self.values[i] for i in group]
        return max(0.0, *(values.count(s) / len(group) - most for s, most in self.limits.items()))

    def group_around(self, seed):
        order = sorted(self.left - {seed}, key=lambda i: (squared(self.place[seed], self.place[i]), i))
        order = [seed, *order]
        group, waiting = order[: self.k], order[self.k :]
        self.left -= set(group)
        for y in waiting:
            if self.excess(group) > 0:
                group = self.changed(group, y, order)
        self.left = (self.left | set(order[: self.k])) - set(group)
        self.left |= set(order) - set(group)
        (self.failed if self.excess(group) > 0 else self.groups).append(group)

    def changed(self, group, y, order):
        def swapped(value):
            out = max((i for i in group if self.values[i] == value), key=order.index)
            return [i for i in group if i != out] + [y]

        others = sorted({self.values[i] for i in group} - {self.values[y]})
        options = [(self.excess(swapped(value)), value) for value in others]
        if options and min(options)[0] < self.excess(group):
            return swapped(min(options)[1])
        return [*group, y] if self.excess([*group, y]) < self.excess(group) else group

    def merge(self):
        for group in self.failed:
            self.join(group)

    def join(self, some):
        def centre(group):
            return [sum(self.place[i][a] for i in group) / len(group) for a in range(2)]

        for group in sorted(self.groups, key=lambda g: (squared(centre(g), centre(some)), self.groups.index(g))):
            if self.excess(group + some) == 0:
                group += some
                return


def steps(view, prior, k, beta, j):
    cluster, published = prior_clusters(prior, j), []
    for number in range(cluster.max() + 1):
        rows = np.flatnonzero(cluster == number)
        if len(rows) >= k:
            published += Plain(view, rows, k, beta).groups
    return oracle.partition(published)


class TestSteps:
    @given(drawn=tables(most=16), settings=settings_of)
    def test_equals_them(self, drawn, settings):
        """On a grid of eighths, so that equal distances are equal floats."""
        schema = Schema({"age": Numeric(0, 8), "weight": Numeric(0, 8)}, "result", drawn[0].schema.values)
        view, prior = View(drawn[0].frame, schema, 1), drawn[1]
        if settings["k"] <= len(view):
            grouping = KPrimacy(**settings, judged="view")(view, prior)
            assert oracle.groups_of(grouping.labels) == steps(view, prior, **settings)

    def test_the_change_that_leaves_the_smallest_excess(self):
        share = np.array([0.5, 0.3, 0.3])
        assert best_changes(np.array([4, 0, 0]), 4, share).tolist() == [SKIP, 0, 0]
        assert best_changes(np.array([1, 1, 0]), 2, share).tolist() == [ADD, SKIP, ADD], (
            "no swap reduces .2; two a of 3 are .167 over"
        )
        assert best_changes(np.array([0, 2, 2]), 4, share).tolist() == [ADD, SKIP, SKIP], (
            "a swap leaves the other at a half"
        )
        assert best_changes(np.array([2, 1, 1]), 4, share).tolist() == [SKIP, SKIP, SKIP]


class TestPromises:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_what_is_published_satisfies_and_no_two_of_a_group_differ_by_more(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        grouping = KPrimacy(**settings)(view, prior)
        published = [view.frame["result"][i] for i in np.flatnonzero(grouping.labels >= 0)]
        for group in oracle.groups_of(grouping.labels):
            assert len(group) >= settings["k"]
            values = [view.frame["result"][i] for i in group]
            for s in set(values):
                assert values.count(s) / len(group) <= limit(published.count(s) / len(published), settings["beta"])
            for a, b in itertools.combinations(group, 2):
                assert oracle.divergence([prior[a], prior[b]]) <= settings["j"] + oracle.SLACK
        said = sum(int(note.split()[0]) for note in grouping.notes if note.endswith("suppressed."))
        assert said == (grouping.labels < 0).sum()

    def test_the_limits_are_those_of_the_requirement(self):
        rng = np.random.default_rng(2)
        whole = TableCounts(("a", "b", "c"), np.array([70, 25, 5]))
        counts = rng.integers(0, 8, (400, 3))
        counts = counts[counts.sum(axis=1) > 0]
        groups = Summary(counts.sum(axis=1), counts, np.zeros(counts.shape), np.zeros(len(counts)), whole)
        for beta in (0.1, 0.5, 1.0, 4.0):
            share = KPrimacy(1, beta, 1)._limits(whole).share
            assert ((counts / counts.sum(axis=1)[:, None]) <= share).all(axis=1).tolist() == BetaLikeness(beta)(
                groups
            ).tolist()

    def test_by_hand(self):
        """F, the farthest, starts with E and D. Two b of three exceed .433, and C, the next nearest, replaces D."""
        view = view_of("ABCDEF", "aaabab", ages=[20, 21, 22, 24, 30, 31], domain="ab")
        grouping = KPrimacy(3, 0.3, 1, judged="view")(view, np.full((6, 2), 0.5))
        assert oracle.groups_of(grouping.labels) == {frozenset({2, 4, 5}), frozenset({0, 1, 3})}

    def test_a_view_of_one_value_is_one_value(self):
        grouping = KPrimacy(2, 0.5, 0.5)(view_of("ABCDE", "aaaaa"), np.full((5, 3), 1 / 3))
        assert sorted(np.bincount(grouping.labels)) == [2, 3]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"beta": -1}, "beta is -1"),
        ({"j": float("nan")}, "KPrimacy: j is nan; it is a number of at least 0, a divergence"),
        ({"base": 0.5}, "KPrimacy: the logarithm's base is 0.5; it is a number above 1"),
        ({"judged": None}, "KPrimacy: judged is None; it is one of 'published', 'view'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        KPrimacy(**{"k": 2, "beta": 1.0, "j": 0.5, **settings})


def test_more_than_there_are_is_refused():
    with pytest.raises(ValueError, match="k is 9 and the view at 1 has 2 records"):
        KPrimacy(9, 0.5, 0.5)(view_of("AB", "ab"), np.full((2, 3), 1 / 3))


def test_requirement():
    assert KPrimacy(4, 0.5, 1).requirement == KAnonymity(4) & BetaLikeness(0.5)
