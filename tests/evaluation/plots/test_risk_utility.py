"""The map shows the table's points, joined in the order of the parameter."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from foreknow.evaluation import risk_utility_map
from foreknow.evaluation.plots.risk_utility import SHARED_COLOR
from foreknow.evaluation.plots.style import COLORS

TABLE = pd.DataFrame(
    [
        ("halved", 10, 0.10, 0.40), ("halved", 3, 0.30, 0.10), ("halved", 5, 0.20, 0.20),
        ("alike", 3, 0.15, 0.35), ("alike", 5, np.nan, 0.36), ("alike", 10, 0.05, 0.60),
        ("alone", 3, 0.50, 0.05),
    ],
    columns=["defense", "k", "gain", "gcp"],
)  # fmt: skip


def points(line):
    return list(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))


def drawn(axes, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes.figure.savefig(tmp_path / "picture.png")
    return plt.imread(tmp_path / "picture.png")


def test_a_curve_per_defense_in_the_order_of_the_parameter(tmp_path):
    axes = risk_utility_map(TABLE, along="k")
    assert [points(line) for line in axes.lines] == [
        [(0.10, 0.30), (0.20, 0.20), (0.40, 0.10)],
        [(0.35, 0.15), (0.60, 0.05)],  # the point without a gain is left out
        [(0.05, 0.50)],
    ]
    assert [text.get_text() for text in axes.get_legend().texts] == ["halved", "alike", "alone"]
    assert len({line.get_color() for line in axes.lines}) == len({line.get_marker() for line in axes.lines}) == 3
    assert drawn(axes, tmp_path).std() > 0


def test_the_parameter_is_written_at_the_ends():
    axes = risk_utility_map(TABLE, along="k")
    written = {(text.get_text(), text.xy) for text in axes.texts}
    assert written == {
        ("k=3", (0.10, 0.30)), ("10", (0.40, 0.10)), ("k=3", (0.35, 0.15)), ("10", (0.60, 0.05)), ("k=3", (0.05, 0.50)),
    }  # fmt: skip
    assert {text.get_color() for text in axes.texts} == set(COLORS[:3])


def test_the_same_words_are_not_written_over_each_other(tmp_path):
    rows = [
        (name, k, gain + shift, gcp)
        for name, shift in (("a", 0), ("b", 0.001))
        for k, gain, gcp in ((3, 0.3, 0.1), (9, 0.1, 0.4))
    ]
    axes = risk_utility_map(pd.DataFrame(rows, columns=["defense", "k", "gain", "gcp"]), along="k")
    assert drawn(axes, tmp_path).std() > 0
    written = [text for text in axes.texts if text.get_visible()]
    assert sorted(text.get_text() for text in written) == ["9", "k=3"]
    assert {text.get_color() for text in written} == {SHARED_COLOR}
    axes.set_ylim(0.2995, 0.302)  # the points are far from each other now
    assert drawn(axes, tmp_path).std() > 0
    assert {text.get_color() for text in axes.texts} == set(COLORS[:2])


CROWDED = pd.DataFrame(
    [
        ("one", 3, 0.21, 0.135), ("one", 10, 0.21, 0.15), ("two", 3, 0.62, 0.04), ("two", 10, 0.235, 0.095),
        ("three", 3, 0.585, 0.03), ("three", 10, 0.22, 0.095), ("four", 3, 0.235, 0.36), ("four", 10, 0.165, 0.42),
        ("five", 3, 0.155, 0.42), ("five", 10, 0.155, 0.395), ("six", 3, 0.275, 0.565), ("six", 10, 0.19, 0.505),
    ],
    columns=["defense", "k", "gain", "gcp"],
)  # fmt: skip


@pytest.mark.parametrize(("size", "scale"), [((7.5, 4.8), "linear"), ((14.0, 6.4), "linear"), ((7.5, 4.8), "log")])
def test_labels_overlap_neither_each_other_nor_markers(size, scale):
    """Also after the size of the figure or the scale of an axis was changed."""
    axes = risk_utility_map(CROWDED, along="k")
    figure = axes.figure
    figure.set_size_inches(*size)
    axes.set(xscale=scale)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in axes.texts if text.get_visible()]
    assert len(boxes) > 8
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    markers = axes.transData.transform(CROWDED[["gcp", "gain"]].to_numpy())
    assert not any(box.contains(*marker) for box in boxes for marker in markers)
    frame = axes.get_window_extent(renderer)
    assert all(frame.contains(*corner) for box in boxes for corner in box.corners())


def test_a_point_per_defense_and_a_panel_per_attack(tmp_path):
    rows = [(d, a, 0.1 * len(d) + 0.01 * len(a), 0.2 * len(d)) for d in ("x", "yy") for a in ("omega", "exactly")]
    panels = risk_utility_map(
        pd.DataFrame(rows, columns=["defense", "attack", "success", "query"]), "success", "query", panel="attack"
    )
    assert [axes.get_title() for axes in panels] == ["attack: omega", "attack: exactly"]
    for axes, attack in zip(panels, ("omega", "exactly"), strict=True):
        shown = [point for line in axes.lines for point in points(line)]
        assert shown == [(g, s) for _, a, s, g in rows if a == attack]
        assert not axes.texts
    assert panels[0].get_ylim() == panels[1].get_ylim()
    assert "relative error" in panels[0].get_xlabel()
    assert "most probable" in panels[0].get_ylabel()
    assert drawn(panels[0], tmp_path).std() > 0


def test_a_column_without_words_is_called_by_its_name():
    axes = risk_utility_map(TABLE.rename(columns={"gain": "worry"}), "worry", along="k")
    assert axes.get_ylabel() == "risk: worry"


def test_a_curve_without_any_point(tmp_path):
    empty = TABLE.assign(gain=TABLE["gain"].where(TABLE["defense"] != "halved"))
    axes = risk_utility_map(empty, along="k")
    assert points(axes.lines[0]) == []
    assert drawn(axes, tmp_path).std() > 0


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match=r"no column 'linkage'; it has 'defense', 'k', 'gain', 'gcp'"):
        risk_utility_map(TABLE, "linkage", along="k")


def test_two_rows_are_not_one_point():
    with pytest.raises(ValueError, match=r"two rows .* the point of defense 'halved'; .* along or panel"):
        risk_utility_map(TABLE)


def test_a_bound_is_a_dashed_line_of_its_curve():
    points = pd.DataFrame(
        {
            "defense": ["Cohorts", "Cohorts", "Mondrian"],
            "gain": [0.04, 0.01, 0.3],
            "query": [0.1, 0.2, 0.05],
            "at_most": [0.07, 0.02, np.nan],
        }
    )
    axes = risk_utility_map(points.assign(a=[5, 10, 3]), cost="query", along="a", bound="at_most")
    first, _, bounds, none = axes.lines
    assert (bounds.get_linestyle(), bounds.get_color()) == ("--", first.get_color())
    np.testing.assert_allclose(bounds.get_ydata(), [0.07, 0.02])
    assert not len(none.get_ydata())
    with pytest.raises(ValueError, match="limit"):
        risk_utility_map(points, cost="query", bound="limit")
