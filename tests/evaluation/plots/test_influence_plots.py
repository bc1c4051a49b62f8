"""Plots of influence show every record that was reached, at its place and within the axes."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection

from foreknow.evaluation import influence_map, influence_over_distance
from foreknow.evaluation.plots.influence_plots import MIN_COLORED_CHANGE


@pytest.fixture
def graph():
    graph = nx.DiGraph(source=("A", 1))
    for person, time, bits, distance in [
        ("A", 1, 0.8, 0), ("B", 1, 0.1, 1), ("C", 1, 1e-9, 1), ("A", 2, 0.5, 1), ("B", 2, 0.3, 2), ("D", 2, 0.01, 2),
    ]:  # fmt: skip
        graph.add_node((person, time), bits=bits, release=time - 1, group=0, distance=distance)
    for one, other, through in [
        (("A", 1), ("B", 1), "group"), (("A", 1), ("C", 1), "group"), (("A", 1), ("A", 2), "time"),
        (("B", 1), ("B", 2), "time"), (("A", 2), ("D", 2), "group"),
    ]:  # fmt: skip
        graph.add_edge(one, other, through=through)
    return graph


def points(axes):
    dots, ring = (c for c in axes.collections if isinstance(c, PathCollection))
    return dots, ring


def test_every_place_has_a_point_as_dark_as_its_bits(graph):
    axes = influence_map(graph, "week")
    dots, ring = points(axes)
    lines = [label.get_text() for label in axes.get_yticklabels()]
    assert lines == ["A", "B", "D", "C"]
    found = {
        (lines[int(y)], int(x) + 1): bits for (x, y), bits in zip(dots.get_offsets(), dots.get_array(), strict=True)
    }
    assert found == {place: max(data["bits"], MIN_COLORED_CHANGE) for place, data in graph.nodes(data=True)}
    assert ring.get_offsets().tolist() == [[0, 0]]
    assert axes.get_xlabel() == "week"
    assert len(axes.lines) == graph.number_of_edges()


def test_the_most_touched_are_shown_and_the_title_says_so(graph):
    axes = influence_map(graph, most=2)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    assert "2 respondents of 4" in axes.get_title()


def test_bars_and_line_are_the_table(graph):
    axes = influence_over_distance(graph)
    _, strength = axes.figure.axes
    assert [bar.get_height() for bar in axes.patches] == [1, 3, 2]
    assert np.allclose(strength.lines[0].get_ydata(), [0.8, (0.1 + 1e-9 + 0.5) / 3, (0.3 + 0.01) / 2])


class TestLimits:
    """No marker is cut off, for maps of one row or of many."""

    @pytest.mark.parametrize("respondents", [1, 2, 5, 40])
    def test_markers_are_within_the_axes(self, graph, respondents):
        for number in range(respondents - 4):
            graph.add_node((f"p{number}", 1), bits=0.01, release=0, group=0, distance=3)
        axes = influence_map(graph, most=respondents)
        FigureCanvasAgg(axes.figure).draw()
        inside = axes.get_window_extent()
        for marks in points(axes):
            radius = (np.sqrt(marks.get_sizes().max()) / 2 + 1) * axes.figure.dpi / 72
            places = axes.transData.transform(marks.get_offsets())
            assert (places - radius >= [inside.x0, inside.y0]).all()
            assert (places + radius <= [inside.x1, inside.y1]).all()


def test_missing_years_are_hatched_and_crossed_by_dashes():
    graph = nx.DiGraph(source=("A", 1))
    for person, time, release in [("A", 1, 0), ("A", 2, 1), ("A", 5, 2), ("B", 6, 3)]:
        graph.add_node((person, time), bits=0.5, release=release, group=0, distance=release)
    graph.add_edge(("A", 1), ("A", 2), through="time")
    graph.add_edge(("A", 2), ("A", 5), through="time")
    axes = influence_map(graph)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3–4", "5", "6"]
    assert [patch.get_center()[0] for patch in axes.patches if patch.get_hatch()] == [2]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]
    assert {tuple(place) for place in points(axes)[0].get_offsets()} == {(0, 0), (1, 0), (3, 0), (4, 1)}


def test_a_release_without_a_marker_is_a_gap():
    graph = nx.DiGraph(source=("A", "a"))
    for time, release in [("a", 0), ("b", 1), ("e", 4)]:
        graph.add_node(("A", time), bits=0.5, release=release, group=0, distance=release)
    axes = influence_map(graph)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "…", "e"]
