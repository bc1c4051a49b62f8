"""Columns of times, with gaps where times are missing."""

import datetime

import numpy as np
import pandas as pd
import pytest

from foreknow.evaluation.plots.style import gaps_after, time_axis, with_gaps


@pytest.mark.parametrize(
    ("times", "gaps"),
    [
        ([], set()),
        ([3], set()),
        ([1, 2, 3], set()),
        ([0, 5, 10, 20], {2}),
        ([1, 2, 4], {1}),
        ([0.5, 1.0, 2.0, 2.5], {1}),
        (["a", "c", "z"], set()),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 8), datetime.date(2024, 1, 29)], {1}),
        (list(pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"])), set()),
        (list(np.array([1, 2, 7])), {1}),
        ([(1, "a"), (2, "b")], set()),
    ],
)
def test_where_times_are_missing(times, gaps):
    assert gaps_after(times) == gaps


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        ([1, 2, 4], ("1", "2", "3", "4")),
        ([1, 2, 7], ("1", "2", "3–6", "7")),
        ([0, 5, 10, 25], ("0", "5", "10", "15–20", "25")),
        ([0.5, 1.0, 2.0], ("0.5", "1.0", "…", "2.0")),
        (["a", "$b"], ("a", r"\$b")),
    ],
)
def test_labels(times, labels):
    axis = time_axis(times)
    assert axis.labels == labels
    assert [axis.labels[axis.columns[time]] for time in times] == [str(time).replace("$", r"\$") for time in times]
    assert set(axis.gaps) == set(range(len(labels))) - set(axis.columns.values())


def test_a_line_is_broken_between_the_times():
    places, heights = with_gaps([1, 2, 4, 5, 9], np.arange(5.0))
    assert places == [1, 2, 3, 4, 5, 7, 9]
    np.testing.assert_array_equal(heights, [0, 1, np.nan, 2, 3, np.nan, 4])
