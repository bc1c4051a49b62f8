"""Record linkage against sums by hand and plain loops over all groups."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.evaluation import record_linkage
from foreknow.evaluation.risk.record_linkage import linkage_probability
from foreknow.models import Categorical, Grouping, Hierarchy, Release, Schema, View

JOBS = Hierarchy(
    [("nurse", "medical", "*"), ("doctor", "medical", "*"), ("teacher", "school", "*"), ("tutor", "school", "*")]
)


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


def with_jobs(jobs):
    schema = Schema({"job": Categorical(("nurse", "doctor", "teacher", "tutor"), JOBS)}, "result", ("a", "b"))
    return View(pd.DataFrame({"id": range(len(jobs)), "job": jobs, "result": ["a"] * len(jobs)}), schema)


def by_loops(release, centres):
    """P of every record: exact comparison of squared distances but for rounding, one group after the other."""
    codes, width = release.view.people.quasi_identifiers, np.diff(release.view.schema.bounds)[:, 0]
    probability = []
    for x, own in zip(codes, release.group, strict=True):
        away = [
            sum(((xi - ci) / w) ** 2 for xi, ci, w in zip(x, centre, width, strict=True) if w) for centre in centres
        ]
        nearest = [g for g, d in enumerate(away) if math.isclose(math.sqrt(d), math.sqrt(min(away)), abs_tol=1e-9)]
        rows = int(release.counts[own].sum()) if own >= 0 else 0
        probability.append(1 / (len(nearest) * rows) if own in nearest else 0.0)
    return probability


def centroids(release):
    codes = release.view.people.quasi_identifiers
    return [codes[release.group == g].mean(axis=0) for g in range(release.groups)]


def middles(release):
    codes = release.view.people.quasi_identifiers
    rows = [codes[release.group == g] for g in range(release.groups)]
    return [(members.min(axis=0) + members.max(axis=0)) / 2 for members in rows]


class TestByHand:
    def test_all_records_linked_correctly_give_the_number_of_groups(self):
        release = Release(view_of("ABCDE", "abcab", [20, 21, 22, 60, 61]), [0, 0, 0, 1, 1])
        assert only(record_linkage([release])) == {
            "time": 1, "linkage_sum": pytest.approx(2), "linkage": pytest.approx(2 / 5), "linked": 5, "records": 5, "suppressed": 0,
        }  # fmt: skip

    def test_nearer_to_another_group(self):
        """Means 30 and 29: A (20) and D (21) are nearer to 29, B (40) to 30, C (37) to 30."""
        release = Release(view_of("ABCD", "abab", [20, 40, 37, 21]), [0, 0, 1, 1])
        np.testing.assert_allclose(linkage_probability(release), [0, 1 / 2, 0, 1 / 2])

    def test_equally_near_groups_share(self):
        """Both groups have the mean 30, summed in another order; and a third is far away."""
        release = Release(view_of("ABCDEFG", "abcabca", [20, 30, 40, 40, 20, 90, 90]), [0, 0, 0, 1, 1, 2, 2])
        np.testing.assert_allclose(linkage_probability(release), [1 / 6] * 3 + [1 / 4] * 2 + [1 / 2] * 2)

    def test_halfway_between_two_groups(self):
        """B (30) stands as far from 20 = (10 + 30) / 2 as from 40."""
        release = Release(view_of("ABC", "abc", [10, 30, 40]), [0, 0, 1])
        np.testing.assert_allclose(linkage_probability(release), [1 / 2, 1 / 4, 1])

    def test_a_suppressed_record_counts_with_nothing(self):
        release = Release(view_of("ABCD", "abab", [20, 21, 60, 61]), [0, 0, -1, -1])
        found = only(record_linkage([release]))
        assert (found["linkage_sum"], found["linkage"], found["linked"], found["suppressed"]) == (
            pytest.approx(1),
            0.25,
            2,
            2,
        )

    def test_nothing_published(self):
        found = only(record_linkage([Release(view_of("AB", "ab"), [-1, -1])]))
        assert (found["linkage_sum"], found["linkage"], found["linked"]) == (0, 0, 0)

    def test_one_group_and_one_record(self):
        assert only(record_linkage([Release(view_of("ABC", "abc"), [4, 4, 4])]))["linkage_sum"] == pytest.approx(1)
        assert only(record_linkage([Release(view_of("A", "a"), [0])]))["linkage_sum"] == 1

    def test_a_counterfeit_is_a_row_to_draw_and_no_record_to_link(self):
        grouping = Grouping(np.array([0, 0, 1, 1]), counterfeits=np.array([[0, 2], [0, 2]]))
        found = only(record_linkage([Release(view_of("ABCD", "abab", [20, 21, 60, 61]), grouping)]))
        assert (found["linkage_sum"], found["records"]) == (pytest.approx(2 / 4 + 2 / 2), 4)

    def test_hierarchies_say_who_is_near(self):
        """Nurse and doctor are half as far apart as nurse and tutor.

        Group 0 stands between nurse and doctor, group 1 is teachers, group 2 a teacher and a nurse: its nurse is .25 from
        group 0, and from its own mean, half the way from nurse to teacher, .5.
        """
        release = Release(with_jobs(["nurse", "doctor", "teacher", "teacher", "teacher", "nurse"]), [0, 0, 1, 1, 2, 2])
        np.testing.assert_allclose(linkage_probability(release), [1 / 2, 1 / 2, 1 / 2, 1 / 2, 0, 0])

    def test_the_middle_of_what_is_published(self):
        """Ages 20, 20, 50 have the mean 30 and the middle 35; 36 is nearer to 35 than to its own group's 39 = (36 + 42) / 2."""
        release = Release(view_of("ABCDE", "ababa", [20, 20, 50, 36, 42]), [0, 0, 0, 1, 1])
        np.testing.assert_allclose(linkage_probability(release), [1 / 3, 1 / 3, 0, 1 / 2, 1 / 2])
        np.testing.assert_allclose(linkage_probability(release, "midpoint"), [1 / 3, 1 / 3, 0, 0, 1 / 2])

    def test_the_middle_of_a_label_is_that_of_all_under_it(self):
        """Two nurses and a doctor: the mean is nearer to nurse, the middle of medical as near to both."""
        release = Release(with_jobs(["nurse", "nurse", "doctor", "tutor"]), [0, 0, 0, 1])
        np.testing.assert_allclose(linkage_probability(release, "midpoint"), [1 / 3] * 3 + [1])
        same = Release(with_jobs(["nurse", "doctor", "nurse", "nurse", "doctor"]), [0, 0, 1, 1, 1])
        np.testing.assert_allclose(linkage_probability(same, "midpoint"), [1 / 4] * 2 + [1 / 6] * 3)
        # by centroids nurses are with the group that has more of them
        np.testing.assert_allclose(linkage_probability(same), [0, 1 / 2, 1 / 3, 1 / 3, 0])

    def test_another_representative(self):
        with pytest.raises(ValueError, match=r"representative is 'median'.*'centroid'"):
            record_linkage([Release(view_of("A", "a"), [0])], representative="median")


class TestBucketized:
    def test_links_go_to_the_groups_that_show_the_record_s_point(self):
        """Age 20 is shown by both groups, 21 by the first, 30 by the second."""
        view = view_of("ABCDE", "abcab", [20, 21, 20, 30, 20])
        grouping = Grouping(np.array([0, 0, 1, 1, 1]), bucketized=True)
        np.testing.assert_allclose(linkage_probability(Release(view, grouping)), [1 / 4, 1 / 2, 1 / 6, 1 / 3, 1 / 6])

    def test_suppressed_and_counterfeit(self):
        view = view_of("ABC", "abc", [20, 20, 30])
        grouping = Grouping(np.array([0, -1, 0]), counterfeits=np.array([[0, 1]]), bucketized=True)
        np.testing.assert_allclose(linkage_probability(Release(view, grouping)), [1 / 3, 0, 1 / 3])


@given(drawn=tables(), data=st.data())
def test_as_plain_loops_do(drawn, data):
    view, _ = drawn
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view)))
    counterfeits = [[max(labels), 0]] if max(labels) >= 0 and data.draw(st.booleans()) else None
    release = Release(view, Grouping(np.array(labels), counterfeits=counterfeits))
    if release.groups:
        np.testing.assert_allclose(linkage_probability(release), by_loops(release, centroids(release)))
        np.testing.assert_allclose(linkage_probability(release, "midpoint"), by_loops(release, middles(release)))
    found = only(record_linkage([release]))
    assert found["linkage"] == pytest.approx(found["linkage_sum"] / len(view))
    assert found["linkage_sum"] <= release.groups + 1e-9


def test_one_row_per_release():
    releases = [Release(view_of("AB", "ab", time=t), labels) for t, labels in ((1, [0, 0]), (3, [0, 1]))]
    table = record_linkage(releases)
    assert table["time"].tolist() == [1, 3]
    assert table["linkage_sum"].tolist() == pytest.approx([1, 2])
