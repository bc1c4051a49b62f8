"""Clusters of priors against complete linkage by definition, record by record."""

import itertools
import re

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from strategies import distributions, tables, view_of

from foreknow.defenses import UHRA, KPrimacy
from foreknow.defenses.algorithms import clustering
from foreknow.defenses.algorithms.clustering import (
    MAX_ROWS,
    WithinCluster,
    assign_leaders,
    pairwise_divergence,
    prior_clusters,
)
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records


def complete_linkage(rows, j, base=2.0):
    """Complete linkage: merge the two nearest clusters while their farthest members are within j. Also the heights."""
    clusters, heights = [[i] for i in range(len(rows))], []
    apart = [[oracle.divergence([a, b], base) for b in rows] for a in rows]
    while len(clusters) > 1:
        far, a, b = min(
            (max(apart[x][y] for x in one for y in other), p, q)
            for (p, one), (q, other) in itertools.combinations(enumerate(clusters), 2)
        )
        heights.append(far)
        if far > j + LEVEL_TOLERANCE:
            break
        clusters[a] += clusters.pop(b)
    return oracle.partition(clusters), heights


@pytest.mark.parametrize("base", [2.0, np.e])
@pytest.mark.parametrize("j", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_equals_clustering_all_records(j, base):
    """Random rows, some of them repeated: the heights are distinct, apart from the 0 of equal rows."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        kinds = rng.dirichlet(np.full(4, 0.5), size=9)
        rows = kinds[np.concatenate([np.arange(9), rng.integers(0, 9, 14)])]
        expected, heights = complete_linkage(rows.tolist(), j, base)
        assert np.unique(np.round([h for h in heights if h > LEVEL_TOLERANCE], 9)).size == sum(
            h > LEVEL_TOLERANCE for h in heights
        )
        assert oracle.groups_of(prior_clusters(rows, j, base)) == expected


@given(
    kinds=st.lists(distributions(3), min_size=1, max_size=7),
    times=st.integers(1, 3),
    j=st.sampled_from([0, 0.1, 0.5, 1]),
)
def test_any_two_of_a_cluster_are_within_j_and_ties_do_not_change_that(kinds, times, j):
    rows = np.array(kinds * times)
    cluster = prior_clusters(rows, j)
    assert set(cluster) == set(range(cluster.max() + 1))
    assert cluster[0] == 0
    apart = squareform(pairwise_divergence(rows)) if len(rows) > 1 else np.zeros((1, 1))
    same = cluster[:, None] == cluster
    assert (apart[same] <= j + LEVEL_TOLERANCE).all()
    for a, b in itertools.combinations(range(cluster.max() + 1), 2):
        assert apart[np.ix_(cluster == a, cluster == b)].max() > j, "two clusters within j are merged"


@given(drawn=tables(), data=st.data())
def test_neither_the_order_of_records_nor_how_many_are_alike_matters(drawn, data):
    _, prior = drawn
    order = np.array(data.draw(st.permutations(range(len(prior)))))
    cluster = prior_clusters(prior, 0.2)
    assert oracle.groups_of(prior_clusters(prior[order], 0.2)) == oracle.groups_of(cluster[order])
    assert prior_clusters(np.vstack([prior, prior]), 0.2).tolist() == [*cluster, *cluster]


@given(rows=st.lists(distributions(5), min_size=2, max_size=6))
def test_the_divergence_is_the_definition(rows):
    expected = [oracle.divergence([a, b]) for a, b in itertools.combinations(rows, 2)]
    assert np.allclose(pairwise_divergence(np.array(rows)), expected, atol=1e-12)
    bounded = pairwise_divergence(np.array(rows), 0.3)
    assert np.allclose(bounded[bounded <= 0.3], np.array(expected)[bounded <= 0.3], atol=1e-12)
    assert (bounded <= np.array(expected) + 1e-12).all()


def test_too_many_distinct_rows_are_one_clear_error():
    share = np.linspace(0, 1, MAX_ROWS + 1)
    with pytest.raises(
        ValueError,
        match=rf"{MAX_ROWS + 1} distinct rows, .* at most {MAX_ROWS} can be.*the defense tolerance=0.001 ",
    ):
        prior_clusters(np.column_stack([share, 1 - share]), 0.1)


@pytest.mark.parametrize(
    ("tolerance", "advice"),
    [
        (0.0, "Give the defense tolerance=0.001 (at most j / 4 = 0.1)"),
        (0.01, "Give the defense tolerance=0.05 (at most"),
        (0.03, "Give the defense tolerance=0.1 (at most"),
        (0.1, "The tolerance is at its largest, j / 4: raise j, or lower the number"),
    ],
)
def test_too_many_distinct_rows_advise_a_larger_tolerance(monkeypatch, tolerance, advice):
    monkeypatch.setattr(clustering, "MAX_ROWS", 1)
    with pytest.raises(ValueError, match=re.escape(advice)):
        prior_clusters(np.array([[1.0, 0.0], [0.0, 1.0]]), 0.4, tolerance=tolerance)


@given(rows=st.lists(distributions(3), min_size=2, max_size=8), j=st.floats(0.01, 0.5), part=st.floats(0, 1))
def test_clusters_stay_apart_only_if_two_leaders_are_far_apart(rows, j, part):
    tolerance = part * j / 4
    distinct = np.unique(np.array(rows), axis=0)
    leaders, cluster = assign_leaders(distinct, tolerance).rows, prior_clusters(distinct, j, tolerance=tolerance)
    for a, b in itertools.combinations(np.unique(cluster), 2):
        ones, others = ([distinct[row] for row in leaders if cluster[row] == c] for c in (a, b))
        farthest = max(oracle.divergence([one, other]) for one in ones for other in others)
        assert np.sqrt(farthest) > np.sqrt(j) - 2 * np.sqrt(tolerance) - 1e-6


class TestTolerance:
    @given(
        kinds=st.lists(distributions(3), min_size=1, max_size=12),
        near=st.lists(st.floats(0, 0.05), min_size=12, max_size=12),
        j=st.sampled_from([0.05, 0.2, 0.5, 1]),
        fraction=st.sampled_from([0.01, 0.25, 1]),
        base=st.sampled_from([2.0, np.e]),
    )
    def test_any_two_of_a_cluster_are_within_j_all_the_same(self, kinds, near, j, fraction, base):
        """Each row, and a second one that is moved towards the uniform distribution."""
        rows = np.array(kinds)
        rows = np.vstack([rows, rows + np.array(near[: len(rows)])[:, None] * (1 / 3 - rows)])
        cluster = prior_clusters(rows, j, base, fraction * j / 4)
        for a, b in itertools.combinations(range(len(rows)), 2):
            if cluster[a] == cluster[b]:
                assert oracle.divergence([rows[a], rows[b]], base) <= j + 2 * LEVEL_TOLERANCE

    @given(kinds=st.lists(distributions(3), min_size=1, max_size=12), tolerance=st.floats(1e-9, 0.2))
    def test_every_row_is_within_it_of_its_leader_and_leaders_are_apart(self, kinds, tolerance):
        rows = np.unique(np.array(kinds), axis=0)
        leaders = assign_leaders(rows, tolerance)
        for row, leader in enumerate(leaders.leader_of):
            apart = oracle.divergence([rows[row], rows[leaders.rows[leader]]], 2.0)
            assert apart <= min(tolerance, leaders.radius[leader] ** 2) + 1e-12
        for a, b in itertools.combinations(leaders.rows, 2):
            assert ((np.sqrt(rows[a]) - np.sqrt(rows[b])) ** 2).sum() > tolerance - 1e-12

    @pytest.mark.parametrize("j", [0.05, 0.2, 0.5])
    def test_clusters_are_those_without_it_where_no_two_priors_are_within_it(self, j):
        for seed in range(6):
            rows = np.random.default_rng(seed).dirichlet(np.full(4, 0.5), size=12)
            tolerance = min(((np.sqrt(a) - np.sqrt(b)) ** 2).sum() for a, b in itertools.combinations(rows, 2))
            rows = np.vstack([rows, rows])
            assert (
                prior_clusters(rows, j, tolerance=min(0.9 * tolerance, j / 4)).tolist()
                == prior_clusters(rows, j).tolist()
            )

    def test_more_distinct_priors_than_can_be_clustered_are_with_it(self):
        """For two values, the roots of 40,000 shares are on a quarter of a circle, and leaders are sqrt(tolerance) apart."""
        share = np.linspace(0, 1, MAX_ROWS + 10_000)
        rows = np.column_stack([share, 1 - share])
        assert len(assign_leaders(rows, 1e-4).rows) <= np.pi / 2 / np.sqrt(1e-4) + 1
        cluster = prior_clusters(rows, 0.2, tolerance=1e-4)
        for number in range(cluster.max() + 1):
            ends = rows[cluster == number][[0, -1]]
            assert oracle.divergence(list(ends), 2.0) <= 0.2 + LEVEL_TOLERANCE

    @pytest.mark.parametrize("kind", [UHRA, KPrimacy])
    def test_is_a_setting_of_the_defenses(self, kind):
        with pytest.raises(
            ValueError, match=r"tolerance is 0.2; it is a number from 0 to 0.15, a divergence of at most j / 4"
        ):
            kind(2, 0.5, 0.6, tolerance=0.2)
        with pytest.raises(ValueError, match=r"tolerance is -1; it is a number from 0"):
            kind(2, 0.5, 0.6, tolerance=-1)
        view = view_of("ABCDEF", "abcabc")
        share = np.array([0.5, 0.501, 0.502, 0.1, 0.101, 0.102])
        prior = np.column_stack([share, 1 - share, 0 * share])
        labels = kind(3, 2, 0.004, tolerance=0.001)(view, prior).labels
        assert (labels[:3] == labels[0]).all()
        assert (labels[3:] == labels[3]).all()
        assert labels[0] != labels[3]


@given(drawn=tables(), data=st.data())
def test_within_cluster_tells_mixed_groups(drawn, data):
    view, prior = drawn
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(view), max_size=len(view))))
    labels = np.unique(labels, return_inverse=True)[1]
    cluster = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view))))
    groups = summarize_groups(summarize_records(view, prior, members=True), labels)
    expected = [len(set(cluster[labels == group])) == 1 for group in range(len(groups))]
    assert WithinCluster(cluster)(groups).tolist() == expected
    with pytest.raises(ValueError, match="members=True"):
        WithinCluster(cluster)(summarize_records(view, prior))
