"""Groups of similar records, against a search of all records; the bound by which they grow, against enumeration."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses.foreground_safe import enlarge_groups, group_around_sensitive


@st.composite
def people(draw, most=14):
    """Points without ties, a mask of the sensitive records, and odds."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    points = rng.integers(0, 3, size=(n, 2)) + 1e-3 * rng.random((n, 2))
    return points, rng.random(n) < 0.3, rng.choice([0.01, 0.1, 0.2, 1, 3], size=(n, 2))


def nearest(points, among, at):
    """Records sorted by their distance from a point."""
    return sorted(among, key=lambda record: ((points[record] - at) ** 2).sum())


@given(drawn=people(), others=st.integers(0, 3))
def test_each_takes_those_nearest_that_are_free(drawn, others):
    points, sensitive, _ = drawn
    if sensitive.sum() * (others + 1) > len(points):
        return
    free = set(np.flatnonzero(~sensitive).tolist())
    seeds = np.flatnonzero(sensitive).tolist()

    def company(seed):
        return nearest(points, free, points[seed])[:others]

    expected = np.full(len(points), -1)
    seeds.sort(key=lambda seed: ((points[company(seed)[-1]] - points[seed]) ** 2).sum() if others else 0)
    for group, seed in enumerate(seeds):
        taken = company(seed)
        expected[[seed, *taken]] = group
        free -= set(taken)
    assert group_around_sensitive(points, sensitive, others).tolist() == expected.tolist()


class TestGrowing:
    @given(drawn=people(), data=st.data(), r=st.integers(2, 4))
    def test_takes_the_nearest_records_until_the_bound_holds(self, drawn, data, r):
        """A group takes the free records nearest to its centroid: at least an eighth of its size, at most its size."""
        points, sensitive, odds = drawn
        size = data.draw(st.integers(1, len(points)))
        labels = np.where(np.arange(len(points)) < size, 0, -1)
        after = enlarge_groups(labels, np.array([0]), points, odds, sensitive, r)
        near = nearest(points, range(size, len(points)), points[:size].mean(axis=0))
        joined = np.flatnonzero(after[size:] == 0) + size
        assert (after[:size] == 0).all()
        assert set(joined) == set(near[: len(joined)])
        assert min(-(-size // 8), len(near)) <= len(joined) <= min(size, len(near))
        c = sensitive[:size].sum()
        holds = [
            (
                r * c * odds[[*range(size), *near[:few]]].max(axis=0) <= odds[[*range(size), *near[:few]]].sum(axis=0)
            ).all()
            for few in range(-(-size // 8), len(near[:size]) + 1)
        ]
        if True in holds:
            assert len(joined) == -(-size // 8) + holds.index(True)
        else:
            assert len(joined) == len(near[:size])

    @pytest.mark.parametrize(("size", "more"), [(8, 1), (9, 2), (17, 3)])
    def test_an_eighth_more_joins_even_where_one_would_do(self, size, more):
        """No record has a value of the set, so that the bound holds from the start."""
        points = np.arange(30.0)[:, None]
        labels = np.where(np.arange(30) < size, 0, -1)
        after = enlarge_groups(labels, np.array([0]), points, np.ones((30, 1)), np.zeros(30, dtype=bool), 2)
        assert after.tolist() == [0] * (size + more) + [-1] * (30 - size - more)

    @given(odds=st.lists(st.sampled_from([0.01, 0.1, 0.3, 1, 2, 30]), min_size=1, max_size=7), data=st.data())
    def test_no_posterior_is_over_the_bound(self, odds, data):
        """With odds w and c holders, no posterior is over c max w / sum w; with c = 1 the largest is equal to it."""
        c = data.draw(st.integers(1, len(odds)))
        prior = [[w / (1 + w), 1 / (1 + w)] for w in odds]
        likeliest = oracle.product_posterior(prior, [c, len(odds) - c])[:, 0].max()
        assert likeliest <= c * max(odds) / sum(odds) + 1e-12
        if c == 1:
            assert likeliest == pytest.approx(max(odds) / sum(odds))

    def test_without_a_free_record_it_joins_the_nearest_group(self):
        points, odds = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]), np.ones((6, 1))
        sensitive = np.array([True, False] * 3)
        labels = np.array([0, 0, 1, 1, 2, 2])
        assert enlarge_groups(labels, np.array([2]), points, odds, sensitive, 2).tolist() == [0, 0, 1, 1, 1, 1]
        assert enlarge_groups(labels, np.array([0, 1]), points, odds, sensitive, 2).tolist() == [0, 0, 0, 0, 0, 0]
        assert enlarge_groups(labels * 0, np.array([0]), points, odds, sensitive, 2).tolist() == [0] * 6
