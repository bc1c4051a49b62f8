"""Certainty penalty and suppression against sums by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.evaluation import gcp, suppressed
from foreknow.evaluation.loss.generalization_loss import certainty_penalty
from foreknow.models import Categorical, Grouping, Hierarchy, Numeric, Release, Schema, View

JOBS = Hierarchy(
    [
        ("nurse", "medical", "*"),
        ("doctor", "medical", "*"),
        ("teacher", "school", "*"),
        ("tutor", "school", "*"),
        ("dean", "school", "*"),
        ("pilot", "travel", "*"),  # no record has one
    ]
)
SCHEMA = Schema(
    {
        "age": Numeric(0, 100),
        "sex": Categorical(("f", "m")),
        "job": Categorical(("nurse", "doctor", "teacher", "tutor", "dean"), JOBS),
    },
    "result",
    ("a", "b", "c"),
)
VIEW = View(
    pd.DataFrame(
        [
            ("A", 20, "f", "nurse", "a"),
            ("B", 40, "f", "teacher", "b"),
            ("C", 30, "f", "doctor", "a"),
            ("D", 40, "m", "tutor", "c"),
            ("E", 65, "f", "nurse", "c"),
            ("F", 99, "m", "dean", "b"),
            ("G", 50, "m", "tutor", "a"),
            ("H", 50, "m", "tutor", "b"),
        ],
        columns=["id", "age", "sex", "job", "result"],
    ),
    SCHEMA,
    time=4,
)
LABELS = [7, 3, 7, 3, 3, -1, 9, 9]
# Group 3 (B, D, E): ages 40 to 65, both sexes, all jobs.      .25 + 2/2 + 5/5 = 2.25 each
# Group 7 (A, C):    ages 20 to 30, women, medical.            .10 + 0   + 2/5 =  .50 each
# Group 9 (G, H):    one age, one sex, one job.                  0 + 0   + 0   =   0  each
TOTAL = 3 * 2.25 + 2 * 0.5


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestCertaintyPenalty:
    def test_the_three_normalizations(self):
        assert only(gcp([Release(VIEW, LABELS)])) == {
            "time": 4,
            "gcp_total": pytest.approx(TOTAL),
            "gcp": pytest.approx(TOTAL / (3 * 7)),
            "gcp_per_group": pytest.approx((2.25 + 0.5 + 0) / 3),
            "measured": 7,
            "suppressed": 1,
        }

    def test_a_suppressed_record_may_count_as_blurred_completely(self):
        assert only(gcp([Release(VIEW, LABELS)], penalize_suppressed=True)) == {
            "time": 4,
            "gcp_total": pytest.approx(TOTAL + 3),
            "gcp": pytest.approx((TOTAL + 3) / (3 * 8)),
            "gcp_per_group": pytest.approx((2.25 + 0.5 + 0) / 3),
            "measured": 8,
            "suppressed": 1,
        }

    def test_each_group_s_penalty(self):
        np.testing.assert_allclose(certainty_penalty(Release(VIEW, LABELS)), [2.25, 0.5, 0])

    def test_a_label_between_the_value_and_the_root(self):
        """B and G: teacher and tutor are school, three of the five values of the domain; ages 40 to 50."""
        labels = [-1, 0, -1, -1, -1, -1, 0, -1]
        np.testing.assert_allclose(certainty_penalty(Release(VIEW, labels)), [0.1 + 1 + 3 / 5])

    def test_one_group_of_all_records(self):
        """79 of 100 years, and every value of the others."""
        np.testing.assert_allclose(certainty_penalty(Release(VIEW, [0] * 8)), [0.79 + 1 + 1])

    def test_groups_of_one_record_lose_nothing(self):
        found = only(gcp([Release(VIEW, range(8))]))
        assert (found["gcp_total"], found["gcp"], found["gcp_per_group"]) == (0, 0, 0)

    @pytest.mark.parametrize(("penalize", "total", "normalized"), [(False, 0, np.nan), (True, 24, 1)])
    def test_nothing_published(self, penalize, total, normalized):
        found = only(gcp([Release(VIEW, [-1] * 8)], penalize_suppressed=penalize))
        assert found["gcp_total"] == total
        np.testing.assert_equal([found["gcp"], found["gcp_per_group"]], [normalized, np.nan])
        assert found["suppressed"] == 8

    def test_an_attribute_with_one_value_costs_nothing(self):
        schema = Schema({"age": Numeric(), "sex": Categorical(("f",))}, "result", ("a",))
        view = View(pd.DataFrame({"id": [1, 2], "age": [30, 30], "sex": ["f", "f"], "result": ["a", "a"]}), schema)
        assert only(gcp([Release(view, [0, 0])]))["gcp_total"] == 0

    def test_an_open_domain_is_the_view_s(self):
        schema = Schema({"age": Numeric()}, "result", ("a",))
        view = View(pd.DataFrame({"id": [1, 2, 3], "age": [30, 40, 70], "result": ["a"] * 3}), schema)
        assert only(gcp([Release(view, [0, 0, 1])]))["gcp_total"] == pytest.approx(2 * 10 / 40)

    def test_a_label_that_repeats_the_value_below_it(self):
        """A short branch, filled up: x, x, *; x alone is not generalized, x and y are."""
        tree = Hierarchy([("x", "x", "*"), ("y", "yz", "*"), ("z", "yz", "*")])
        schema = Schema({"q": Categorical(("x", "y", "z"), tree)}, "result", ("a",))
        view = View(pd.DataFrame({"id": range(6), "q": list("xxxyyz"), "result": ["a"] * 6}), schema)
        found = certainty_penalty(Release(view, [0, 0, 1, 1, 2, 2]))
        np.testing.assert_allclose(found, [0, 1, 2 / 3])

    @pytest.mark.parametrize(
        ("width", "ages"),
        [("domain", (25 / 100, 10 / 100)), ("table", (25 / 79, 10 / 79)), ("distinct", (25 / 6, 10 / 6))],
    )
    def test_what_widths_are_divided_by(self, width, ages):
        """The ages of all eight records, F's too, go from 20 to 99, and are 20, 30, 40, 50, 65, 99."""
        expected = [ages[0] + 2, ages[1] + 2 / 5, 0]
        np.testing.assert_allclose(certainty_penalty(Release(VIEW, LABELS), width), expected)
        assert only(gcp([Release(VIEW, LABELS)], width=width))["gcp_total"] == pytest.approx(
            3 * expected[0] + 2 * expected[1]
        )

    def test_another_width(self):
        with pytest.raises(ValueError, match=r"width is 'range'; .* 'domain', 'table', 'distinct'"):
            gcp([Release(VIEW, LABELS)], width="range")

    def test_bucketized_blurs_nothing(self):
        found = only(gcp([Release(VIEW, Grouping(np.array(LABELS), bucketized=True))], penalize_suppressed=True))
        assert (found["gcp_total"], found["gcp_per_group"], found["suppressed"]) == (
            3,
            0,
            1,
        )  # and one record is not there

    def test_one_row_per_release(self):
        later = View(VIEW.frame, SCHEMA, time=5)
        table = gcp([Release(VIEW, LABELS), Release(later, range(8))])
        assert table["time"].tolist() == [4, 5]
        assert table["gcp_total"].tolist() == pytest.approx([TOTAL, 0])

    @given(drawn=tables(), data=st.data())
    def test_read_off_the_published_intervals(self, drawn, data):
        """Two numeric quasi-identifiers: the width printed in the public table, over the width of the view's column."""
        view, _ = drawn
        labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view)))
        release = Release(view, np.array(labels))
        total, groups = 0.0, {}
        for row in release.table.to_dict("records"):
            penalty = 0.0
            for name in ("age", "weight"):
                ends = [float(end) for end in str(row[name]).strip("[]").split(",")]
                domain = view.frame[name].max() - view.frame[name].min()
                penalty += (ends[-1] - ends[0]) / domain if domain else 0.0
            total += penalty
            groups[row["group"]] = penalty
        found = only(gcp([release]))
        assert found["gcp_total"] == pytest.approx(total)
        mean = sum(groups.values()) / len(groups) if groups else float("nan")
        assert found["gcp_per_group"] == pytest.approx(mean, nan_ok=True)
        assert found["measured"] == len(labels) - labels.count(-1)


class TestSuppressed:
    def test_left_out_distorted_and_invented(self):
        """A's a is published as b; so is F's b as a, but F is not published; C keeps a; two records are invented."""
        values = np.array([1, 1, 0, 2, 2, 0, 0, 1])
        grouping = Grouping(np.array(LABELS), values=values, counterfeits=np.array([[3, 0], [9, 2]]))
        assert only(suppressed([Release(VIEW, grouping)])) == {
            "time": 4,
            "records": 8,
            "suppressed": 1,
            "suppressed_share": 1 / 8,
            "distorted": 1,
            "counterfeits": 2,
        }

    def test_as_it_is(self):
        found = only(suppressed([Release(VIEW, [0] * 8)]))
        assert found == {
            "time": 4,
            "records": 8,
            "suppressed": 0,
            "suppressed_share": 0,
            "distorted": 0,
            "counterfeits": 0,
        }

    def test_everything_left_out(self):
        releases = [Release(view_of("AB", "ab", time=1), [-1, -1]), Release(view_of("ABC", "abc", time=2), [0, -1, 0])]
        table = suppressed(releases)
        assert table["suppressed_share"].tolist() == pytest.approx([1, 1 / 3])
        assert table["time"].tolist() == [1, 2]
