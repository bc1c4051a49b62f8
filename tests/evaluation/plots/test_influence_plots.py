"""What the pictures of influence show: every place that was reached, where it belongs."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import PathCollection

from foreknow.evaluation import influence_map, influence_over_distance
from foreknow.evaluation.plots.influence_plots import FAINTEST


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


def points(figure):
    dots, ring = (c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    return dots, ring


def test_every_place_has_a_point_as_dark_as_its_bits(graph):
    axes = influence_map(graph, "week").axes[0]
    dots, ring = points(axes.figure)
    lines = [label.get_text() for label in axes.get_yticklabels()]
    assert lines == ["A", "B", "D", "C"]
    found = {
        (lines[int(y)], int(x) + 1): bits for (x, y), bits in zip(dots.get_offsets(), dots.get_array(), strict=True)
    }
    assert found == {place: max(data["bits"], FAINTEST) for place, data in graph.nodes(data=True)}
    assert ring.get_offsets().tolist() == [[0, 0]]
    assert axes.get_xlabel() == "week"
    assert len(axes.lines) == graph.number_of_edges()


def test_the_most_touched_are_shown_and_the_title_says_so(graph):
    figure = influence_map(graph, most=2)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["A", "B"]
    assert "the 2 most touched of 4 people" in figure.axes[0].get_title()


def test_bars_and_line_are_the_table(graph):
    axes, strength = influence_over_distance(graph).axes
    assert [bar.get_height() for bar in axes.patches] == [1, 3, 2]
    assert np.allclose(strength.lines[0].get_ydata(), [0.8, (0.1 + 1e-9 + 0.5) / 3, (0.3 + 0.01) / 2])
