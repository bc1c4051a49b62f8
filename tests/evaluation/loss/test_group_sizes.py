"""Measures of group sizes against sums by hand."""

import numpy as np
import pytest
from strategies import view_of

from foreknow.evaluation import average_group_size, discernibility
from foreknow.models import Grouping, Release

VIEW = view_of("ABCDEFGH", "aabbccab", time=4)
LABELS = [7, 3, 7, 3, 3, -1, -1, 9]  # groups of 3, 2 and 1; two of eight records suppressed


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestDiscernibility:
    def test_squares_of_sizes_and_all_records_for_each_suppressed_one(self):
        assert only(discernibility([Release(VIEW, LABELS)])) == {
            "time": 4, "discernibility": 14 + 2 * 8, "discernibility_published": 9 + 4 + 1, "records": 8, "suppressed": 2,
        }  # fmt: skip

    def test_one_group_of_all_records_and_groups_of_one(self):
        table = discernibility([Release(VIEW, [0] * 8), Release(VIEW, range(8)), Release(VIEW, [-1] * 8)])
        assert table["discernibility_published"].tolist() == [64, 8, 0]
        assert table["discernibility"].tolist() == [64, 8, 64]


class TestAverageGroupSize:
    def test_the_mean_size_of_a_group_of_published_records(self):
        assert only(average_group_size([Release(VIEW, LABELS)])) == {
            "time": 4, "group_size": 2, "smallest": 1, "largest": 3, "groups": 3, "measured": 6, "suppressed": 2,
        }  # fmt: skip

    def test_in_multiples_of_k(self):
        assert only(average_group_size([Release(VIEW, [0] * 8)], k=4))["group_size"] == 2

    def test_nothing_published(self):
        found = only(average_group_size([Release(VIEW, [-1] * 8)]))
        np.testing.assert_equal(found["group_size"], np.nan)
        assert (found["smallest"], found["largest"], found["groups"], found["suppressed"]) == (0, 0, 0, 8)

    def test_k_is_at_least_one(self):
        with pytest.raises(ValueError, match="average_group_size: k is 0; it is a number of records"):
            average_group_size([Release(VIEW, LABELS)], k=0)


@pytest.mark.parametrize("bucketized", [False, True])
def test_counterfeits_and_how_quasi_identifiers_are_published_do_not_matter(bucketized):
    grouping = Grouping(np.array(LABELS), counterfeits=np.array([[9, 0], [9, 1]]), bucketized=bucketized)
    release = Release(VIEW, grouping)
    assert only(discernibility([release]))["discernibility_published"] == 14
    assert only(average_group_size([release]))["largest"] == 3
