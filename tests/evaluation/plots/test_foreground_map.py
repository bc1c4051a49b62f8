"""The plot shows the numbers of the table."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mined_beliefs import HISTORY, TOWNS, beliefs_with, mined

from foreknow.evaluation import foreground_map, global_probabilities

DRAWS = np.linspace(0, 1, 101)[:, None] * np.array([1.0, 0.5, 0.2])
SAMPLED = mined(["town"], [0.5, 0.25, 0.1], draws=np.stack([DRAWS, 1 - DRAWS], axis=2))


def drawn(axes, tmp_path):
    """Render the figure of the axes to pixels, with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes.figure.savefig(tmp_path / "picture.png")
    return mpl.image.imread(tmp_path / "picture.png")


def test_a_mark_per_signature_with_its_support_for_size(tmp_path):
    axes = foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, "town")
    marks = axes.collections[0]
    np.testing.assert_allclose(marks.get_offsets(), [(1 / 2, 0.8), (2 / 3, 0.5), (1 / 3, 0.3)])  # true, mined
    areas = marks.get_sizes()
    np.testing.assert_allclose(areas / areas.max(), [1 / 3, 1, 1])
    assert drawn(axes, tmp_path).std() > 0


def test_the_diagonal_and_the_share_of_the_whole_table():
    axes = foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, "town")
    diagonal, level = axes.lines
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert set(level.get_ydata()) == {0.5}
    assert axes.get_xlim() == axes.get_ylim()
    assert [text.get_text() for text in axes.get_legend().texts] == [
        "mined fraction = true fraction", "fraction in the whole table", "1 record", "3 records",
    ]  # fmt: skip


def test_the_signatures_are_named_and_the_axes_say_what_is_shown():
    axes = foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, ["town"])
    assert {text.get_text(): text.xy for text in axes.texts} == {
        "Como": pytest.approx((1 / 2, 0.8)), "Milan": pytest.approx((2 / 3, 0.5)), "Rome": pytest.approx((1 / 3, 0.3)),
    }  # fmt: skip
    assert "town" in axes.get_title()
    assert axes.get_xlabel().endswith("with x")
    assert "mined" in axes.get_ylabel()


def test_a_bar_is_the_credible_interval(tmp_path):
    axes = foreground_map(beliefs_with(SAMPLED), HISTORY, {"x"}, "town")
    table = global_probabilities(beliefs_with(SAMPLED), HISTORY, {"x"})
    bars = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(bars, table[["low", "high"]])
    assert axes.get_ylim()[1] > table["high"].max()
    assert "90 % credible interval" in [text.get_text() for text in axes.get_legend().texts]
    assert drawn(axes, tmp_path).std() > 0


def test_names_are_not_written_over_each_other():
    """Of signatures at one point not all are labelled; those far from it are."""
    near = mined(["town", "age"], [0.5, 0.5, 0.5, 0.5, 0.01])
    axes = foreground_map(beliefs_with(near), HISTORY, {"x"}, {"age", "town"})
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    axes.figure.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in axes.texts if text.get_visible()]
    assert len(boxes) >= 2
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_all_frequencies_zero(tmp_path):
    axes = foreground_map(beliefs_with(mined(["age"], [0.0, 0.0])), HISTORY, {"x"}, "age")
    assert drawn(axes, tmp_path).std() > 0


def test_an_attribute_set_that_was_not_mined():
    with pytest.raises(
        ValueError, match=r"at 1 nothing was mined of the attribute set age, town; there are: town\. Name"
    ):
        foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, ["town", "age"])


def test_another_set_than_the_attack_s():
    with pytest.raises(ValueError, match=r"foreground_map: the set asked for is {'y'}, and the attack was given {'x'}"):
        foreground_map(beliefs_with(TOWNS), HISTORY, {"y"}, "town")


@pytest.mark.parametrize("attributes", [3, None, [1], [["town"]], np.array("town")])
def test_attributes_that_are_no_names(attributes):
    with pytest.raises(TypeError, match=r"foreground_map: attributes is .*; it is an attribute set, as 'town'"):
        foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, attributes)


def test_a_release_that_there_is_not():
    with pytest.raises(ValueError, match="no release at 7; there are 1"):
        foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, "town", time=7)


def test_labels_of_a_small_panel_are_within_it():
    """The room is that of the axes as they are drawn, which are a fifth of the figure's width here."""
    axes = Figure(layout="constrained").subplots(1, 5)[1]
    foreground_map(beliefs_with(TOWNS), HISTORY, {"x"}, "town", ax=axes)
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    axes.figure.draw(renderer)
    frame = axes.get_window_extent(renderer)
    boxes = [text.get_window_extent(renderer) for text in axes.texts if text.get_visible()]
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
