"""Conformance of all plots: they draw on the given axes, return them, and change nothing else."""

import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mined_beliefs import HISTORY as MINED_HISTORY
from mined_beliefs import TOWNS, beliefs_with
from strategies import view_of

import foreknow.evaluation as evaluation
from foreknow.attacks import SnapshotAttack
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.evaluation.plots.style import given_panels
from foreknow.models import Adversary, History, Release, SwapChain, UniformPrior

VIEW = view_of("ABCD", "xxyy", domain="xy")
HISTORY = History([VIEW])
RELEASE = Release(VIEW, [0, 0, 1, 1])
BELIEFS = SnapshotAttack(Adversary(UniformPrior()))([RELEASE])
SAMPLED = SnapshotAttack(Adversary(UniformPrior(), estimator=SwapChain(draws=8, chains=2, rng=1)))([RELEASE])
TWO = {"one": BELIEFS, "two": BELIEFS}
CURVE = evaluation.reliability_curve(BELIEFS, HISTORY, draws=2, rng=1)
LEAK = evaluation.retroactive_leak(BELIEFS, BELIEFS, HISTORY)
RISK = pd.DataFrame(
    {"defense": ["a", "b"], "attack": ["c", "d"], "time": [1, 1], "gain": [0.1, 0.3], "gcp": [0.2, 0.1]}
)
GRAPH = nx.DiGraph(source=("A", 1))
GRAPH.add_node(("A", 1), bits=0.5, release=0, group=0, distance=0)

SOURCES = evaluation.belief_sources(SnapshotAttack(Adversary(UniformPrior())), [RELEASE], "A")

PLOTS = [
    ("belief_sources_plot", (SOURCES,), {}, ()),
    ("belief_forest", (BELIEFS, "x", None, 1, HISTORY), {}, ()),
    ("belief_over_time", (BELIEFS, HISTORY, "A"), {}, ()),
    ("belief_over_time", (TWO, HISTORY, "A"), {}, (2,)),
    ("breach_curve", (BELIEFS, HISTORY, {"x"}, 2), {}, (2,)),
    ("convergence_plot", (SAMPLED,), {}, (2, 1)),
    ("convergence_plot", ({"one": SAMPLED, "two": SAMPLED},), {}, (2, 2)),
    ("foreground_map", (beliefs_with(TOWNS), MINED_HISTORY, {"x"}, "town"), {}, ()),
    ("gain_over_time", (RISK,), {}, ()),
    ("gain_over_time", (RISK,), {"panel": "attack"}, (2,)),
    ("group_sizes", ({"one": [RELEASE]},), {}, ()),
    ("group_sizes", ({name: [RELEASE] for name in "abcde"},), {}, ()),
    ("influence_map", (GRAPH,), {}, ()),
    ("influence_over_distance", (GRAPH,), {}, ()),
    ("leak_plot", (LEAK,), {}, (3,)),
    ("reliability_plot", ({"one": CURVE, "two": CURVE},), {}, (2, 2)),
    ("risk_utility_map", (RISK,), {}, ()),
    ("risk_utility_map", (RISK,), {"panel": "attack"}, (2,)),
]
"""Name of each public plot and of the one that only commands draw, arguments, and shape of the axes: () for a single Axes."""


def plot_named(name):
    return group_sizes if name == "group_sizes" else getattr(evaluation, name)


EACH = pytest.mark.parametrize(
    ("name", "arguments", "options", "shape"), PLOTS, ids=[f"{name}{shape or ''}" for name, _, _, shape in PLOTS]
)


def state_of_figure(figure):
    """All that a figure has besides its axes."""
    artists = [child for child in figure.get_children() if not isinstance(child, Axes)]
    titles = figure.get_suptitle(), figure.get_supxlabel(), figure.get_supylabel()
    return artists, titles, tuple(figure.get_size_inches()), figure.get_layout_engine(), vars(figure.subplotpars).copy()


def state_of_panel(axes):
    """Number of artists, place, limits, ticks and labels of axes."""
    words = axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), tuple(axes.get_xticks()), tuple(axes.get_yticks())
    return len(axes.get_children()), axes.get_position().bounds, axes.axis(), axes.has_data(), axes.get_legend(), words


def test_all_public_plots_are_in_the_table():
    plots = {"group_sizes"} | {
        name for name in evaluation.__all__ if ".plots." in getattr(getattr(evaluation, name), "__module__", "")
    }
    assert {name for name, *_ in PLOTS} == plots


@EACH
def test_given_axes(name, arguments, options, shape):
    """One panel of the figure is left empty, and colour bars and twins stay within the given ones."""
    figure = Figure()
    *given, other = figure.subplots(1, math.prod(shape) + 1)
    places = [axes.get_position() for axes in given]
    before, empty, settings = state_of_figure(figure), state_of_panel(other), dict(mpl.rcParams)
    drawn = plot_named(name)(*arguments, **options, ax=np.reshape(given, shape) if shape else given[0])
    assert (drawn.shape == shape and list(drawn.flat) == given) if shape else drawn is given[0]
    assert all(axes.has_data() for axes in given)
    assert state_of_panel(other) == empty
    assert state_of_figure(figure) == before
    right = max(place.x1 for place in places)
    for axes in figure.axes:
        assert axes is other or axes.get_position().x1 <= right + 1e-9
        if legend := axes.get_legend():  # inside, where the figure has no layout that makes room
            assert legend.get_bbox_to_anchor().bounds == axes.bbox.bounds
    assert not plt.get_fignums()
    assert dict(mpl.rcParams) == settings


@EACH
def test_a_new_figure(name, arguments, options, shape):
    drawn = plot_named(name)(*arguments, **options)
    assert isinstance(drawn, np.ndarray if shape else Axes)
    assert np.shape(drawn) == shape
    assert {axes.figure for axes in np.ravel(drawn)} == {plt.figure(number) for number in plt.get_fignums()}
    assert len(plt.get_fignums()) == 1


AXES = Figure().subplots(1, 5)
POLAR = Figure().add_subplot(projection="polar")


@EACH
def test_wrong_axes(name, arguments, options, shape):
    """One clear error, before anything is drawn."""
    plot, number = plot_named(name), math.prod(shape)
    for wrong in (3, AXES[0].figure, POLAR, *([] if shape else [AXES[:1]]), [*AXES[:number][:-1], "x"]):
        with pytest.raises(TypeError, match=rf"^{name}: ax is .*; it is .* matplotlib Axes.*\.$"):
            plot(*arguments, **options, ax=wrong)
    for wrong in (AXES[: number + 1], AXES[: number - 1], [AXES[0]] * number) if shape else ():
        with pytest.raises(ValueError, match=rf"^{name}: ax has .*, and the plot has {number} panels; give an array"):
            plot(*arguments, **options, ax=wrong)
    assert not plt.get_fignums()
    assert not any(axes.has_data() for axes in AXES)


def test_a_layout_that_makes_room_has_the_legend_outside():
    axes = evaluation.gain_over_time(RISK, ax=Figure(layout="constrained").subplots())
    assert axes.get_legend().get_bbox_to_anchor().x0 >= axes.bbox.x1


def test_panels_in_another_arrangement():
    """A grid and nested lists are taken row by row, and one panel may be bare."""
    grid = Figure().subplots(2, 2)
    assert list(given_panels("plot", grid, (4,))) == list(grid.flat)
    assert (given_panels("plot", [list(row) for row in grid], (2, 2)) == grid).all()
    assert given_panels("plot", AXES[0], (1,)).tolist() == [AXES[0]]
    assert given_panels("plot", None, (1,)) is None
