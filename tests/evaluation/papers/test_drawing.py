"""Means of figures, the text of an interval, and pictures: limits, gaps, error bars, labels and lines that coincide."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from foreknow.evaluation.papers.drawing import LEAST_SEEDS, Missing, coinciding, draw, in_order, means, with_interval
from foreknow.evaluation.papers.figures import Figure

QUERY = "SELECT * FROM measured"


def figure(kind="curves", **more):
    return Figure("1", "a figure", QUERY, kind, "release", "gain", **more)


def of(rows, kind="curves", **more):
    """Means of rows of x, y, seed and further columns."""
    return means(figure(kind, **more), {"measured": pd.DataFrame(rows)})


def rows(xs, ys, seeds=(1,), **columns):
    return [{"x": x, "y": y, "seed": seed, **columns} for seed in seeds for x, y in zip(xs, ys, strict=True)]


def test_means_and_intervals_are_those_of_students_t():
    values = np.random.default_rng(1).normal(size=5)
    (found,) = of([{"x": 1, "y": y, "seed": seed} for seed, y in enumerate(values)]).itertuples()
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.y - found.half, found.y + found.half, found.seeds) == (pytest.approx(low), pytest.approx(high), 5)


def test_points_stand_in_the_order_of_x_whatever_seed_has_them():
    found = of(
        [*rows([3, 1], [0.3, 0.1], line="a"), *rows([10, 2], [1.0, 0.2], [2], line="a"), *rows([2], [0], line="b")]
    )
    assert found[["line", "x"]].to_numpy().tolist() == [["a", 1], ["a", 2], ["a", 3], ["a", 10], ["b", 2]]
    assert in_order(["b", "a"]) == ["b", "a"]


def test_a_seed_without_a_value_is_not_counted_and_few_give_no_interval():
    found = of([*rows([1, 2], [0.1, np.nan], [1, 2]), *rows([1, 2], [0.2, 0.4], [3])])
    assert found["seeds"].tolist() == [3, 1]
    assert found["y"].tolist() == pytest.approx([0.4 / 3, 0.4])
    assert found["half"].notna().tolist() == [True, False]
    assert LEAST_SEEDS == 3


def test_a_figure_none_of_whose_cells_is_kept_is_missing():
    other = {"measured": pd.DataFrame(rows([1], [0.1]))}
    with pytest.raises(Missing, match="measured"):
        means(Figure("1", "a figure", f"{QUERY} WHERE x = 2", "curves", "release", "gain"), other)


def test_a_line_has_a_gap_where_no_seed_has_a_value_and_bands_end_at_the_range():
    found = of([*rows([1, 2, 3], [0.0, np.nan, 1.0]), *rows([1, 2, 3], [1.0, np.nan, 1.0], [2, 3])])
    picture = draw(figure(within=(0, 1)), found)
    (axes,) = picture.axes
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [False, True, False]
    band = np.concatenate([path.vertices[:, 1] for path in axes.collections[0].get_paths()])
    assert (band.min(), band.max()) == (0, 1)


def test_limits_hold_the_intervals_and_the_marks():
    wide = [{"x": x, "y": x + (seed - 2), "seed": seed} for seed in (1, 2, 3) for x in (1, 2)]
    (axes,) = draw(figure(marks={"the text": 9.0}), of(wide)).axes
    bottom, top = axes.get_ylim()
    band = np.concatenate([path.vertices[:, 1] for path in axes.collections[0].get_paths()])
    assert bottom < band.min() < 0
    assert 9 < top < 10


def test_a_mean_of_few_seeds_is_a_small_point_where_others_have_enough():
    (axes,) = draw(figure(), of([*rows([1, 2], [0, 1]), *rows([1], [0.5], [2, 3])])).axes
    line, small = axes.lines
    assert line.get_markevery() == [0]
    assert (small.get_xdata().tolist(), small.get_ydata().tolist()) == ([2], [1])
    assert small.get_markersize() < line.get_markersize()
    (alone,) = draw(figure(), of(rows([1, 2], [0, 1]))).axes
    assert len(alone.lines) == 1
    assert alone.lines[0].get_markevery() == [0, 1]


def test_a_logarithmic_axis_stays_above_0_where_a_band_does_not():
    wide = [{"x": x, "y": y, "seed": seed} for seed, y in enumerate((0.1, 0.1, 100.0)) for x in (1, 2)]
    (axes,) = draw(figure(log=True), of([*wide, {"x": 3, "y": 0.0, "seed": 1}])).axes
    assert 1 < axes.get_ylim()[0] < 100 / 3


def test_panels_of_other_ranges_have_their_own_scale():
    both = [*rows([1, 2], [0, 0.1], panel="small"), *rows([1, 2], [0, 1], panel="large")]
    small, large = draw(figure(), of(both)).axes
    assert small.get_ylim()[1] < 0.2 < large.get_ylim()[1]
    alike = [*rows([1, 2], [0, 0.9], panel="a"), *rows([1, 2], [0, 1], panel="b")]
    one, other = draw(figure(), of(alike)).axes
    assert one.get_ylim() == other.get_ylim()


def test_lines_that_coincide_are_named_in_the_title():
    found = of([
        *rows([1, 2], [0, 1], line="DK"), *rows([1, 2], [0, 0.5], line="none"), *rows([1, 2], [0.01, 1], line="1-step DK"),
    ])  # fmt: skip
    assert coinciding(found) == {"1-step DK": "DK"}
    (axes,) = draw(figure(), found).axes
    assert axes.get_title() == "DK ≈ 1-step DK"


def test_a_map_has_error_bars_in_both_directions_labels_and_printed_ranges():
    points = [
        {"x": k + 0.1 * seed, "y": 1 / k - 0.01 * seed, "point": k, "seed": seed, "line": "UHRA"}
        for seed in (1, 2, 3)
        for k in (3, 5, 20)
    ]
    shown = figure("points", point_label="k", printed=[("", "UHRA", (2, 40), (0, 0.5))])
    found = means(shown, {"measured": pd.DataFrame(points)})
    assert found[["across", "half"]].notna().all().all()
    picture = draw(shown, found)
    (axes,) = picture.axes
    assert [text.get_text() for text in axes.texts] == ["3", "5", "20"]
    upright, level = (each.get_segments() for each in axes.collections)
    for row, (low, high), (left, right) in zip(found.itertuples(), upright, level, strict=True):
        assert (high[1] - low[1], right[0] - left[0]) == (pytest.approx(2 * row.half), pytest.approx(2 * row.across))
    assert axes.patches[0].get_bbox().extents.tolist() == [2, 0, 40, 0.5]
    assert axes.get_xlim()[1] > 40
    assert "numbers at points: k" in picture.legends[0].get_title().get_text()


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (9.71, 12.3, "10 ± 12"), (0.0445, 7e-19, "0.0445 ± 0"), (3.0, 0.0, "3 ± 0"), (0.25, np.nan, "0.25"),
        (np.nan, np.nan, ""), (4000.0, np.nan, "4,000"), (0.8469, 0.0048, "0.8469 ± 0.0048"), (0.5, 1e-6, "0.5000 ± 0.0001"),
        (-0.001, 0.2, "0.00 ± 0.20"),
    ],
)  # fmt: skip
def test_the_text_of_an_interval_has_two_digits_of_its_half(mean, half, text):
    assert with_interval(mean, half) == text
