"""Plots of influence: of one compromised record on beliefs, and of releases and parts of the knowledge on one belief."""

from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LogNorm

from foreknow.evaluation.plots.style import (
    COLORS,
    TimeAxis,
    check_table,
    check_text,
    one_panel,
    time_axis,
    without_mathtext,
)
from foreknow.evaluation.risk.information_flow import influence_by_distance
from foreknow.models.settings import check_kind, check_whole

MAX_DRAWN_RESPONDENTS = 40
"""Largest number of respondents in an influence map."""

MIN_COLORED_CHANGE = 1e-4
"""Change of belief, in bits, up to which all markers have the lightest colour."""

MARKER_MARGIN = 0.75
"""Distance from the outermost markers to the edge of the axes, in rows and columns; half a row holds a marker."""


def influence_map(
    graph: "nx.DiGraph[Any]", time: str = "release", most: int = MAX_DRAWN_RESPONDENTS, *, ax: Axes | None = None
) -> Axes:
    """Influence of one compromised record over time: a row for each respondent, a column for each release.

    The darker a marker, the greater the change of belief. Lines between respondents are groups, lines along a respondent are time,
    dashed where times are missing (hatched columns). The record itself has a ring. If more respondents were reached than
    ``most``, those with the greatest total influence are shown, and the title says so.

    Parameters
    ----------
    graph : networkx.DiGraph
        As `foreknow.attacks.Influence` returns it.
    time : str
        Label of the horizontal axis.
    most : int
        Largest number of respondents shown.
    ax : Axes, optional
        Where to draw; by default a new figure. The colour bar takes room from these axes.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If the graph is not one of `foreknow.attacks.Influence`, ``most`` is not a whole number of at least 1, or ``ax`` is not
        Axes.
    """
    check_text("influence_map", time=time)
    check_whole("influence_map", "most", most, "respondents")
    _check_graph("influence_map", graph)
    respondents = _by_influence(graph)
    rows = {respondent: row for row, respondent in enumerate(respondents[: int(most)])}
    nodes = {node: data for node, data in graph.nodes(data=True) if node[0] in rows}
    axis = _release_axis(nodes)
    places = {node: (axis.columns[node[1]], rows[node[0]]) for node in nodes}
    width, height = max(5.0, 2.2 + 0.42 * len(axis.labels)), max(2.6, 1.6 + 0.26 * len(rows))
    axes = one_panel("influence_map", ax, width, height)
    _draw_edges(axes, graph, places, axis)
    points = _draw_markers(axes, nodes, places, graph.graph["source"])
    axis.draw_ticks(axes)
    axes.set_yticks(range(len(rows)), [without_mathtext(respondent) for respondent in rows])
    axes.set(xlim=(-MARKER_MARGIN, len(axis.labels) - 1 + MARKER_MARGIN))
    axes.set(ylim=(len(rows) - 1 + MARKER_MARGIN, -MARKER_MARGIN))
    axes.spines[["top", "right"]].set_visible(False)
    left_out = f"\n{len(rows)} respondents of {len(respondents)}" if len(respondents) > len(rows) else ""
    axes.set(xlabel=without_mathtext(time), ylabel="respondent", title=f"Influence of one compromised record{left_out}")
    label = f"change of belief (bits)\nlightest: {MIN_COLORED_CHANGE:g} or less"
    axes.figure.colorbar(points, ax=axes, label=label)
    return axes


def influence_over_distance(graph: "nx.DiGraph[Any]", *, ax: Axes | None = None) -> Axes:
    """Number of records reached at each distance (bars), and their mean change of belief (line).

    Parameters
    ----------
    graph : networkx.DiGraph
        As `foreknow.attacks.Influence` returns it.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        The axes of the bars. The axis of the line is at its right side, a twin of the same place.

    Raises
    ------
    TypeError, ValueError
        If the graph is not one of `foreknow.attacks.Influence`, or ``ax`` is not Axes.
    """
    _check_graph("influence_over_distance", graph)
    table = influence_by_distance(graph)
    axes = one_panel("influence_over_distance", ax, 6.4, 3.6)
    axes.bar(table["distance"], table["places"], color="0.85", label="records reached")
    axes.set(xlabel="steps from the record (through a group, or to the next release)", ylabel="records reached")
    axes.spines[["top"]].set_visible(False)
    strength = axes.twinx()
    strength.plot(table["distance"], table["mean_bits"], color=COLORS[0], marker="o", label="mean change of belief")
    if (table["mean_bits"] > 0).any():
        strength.set_yscale("log")
    strength.set_ylabel("mean change of belief (bits)", color=COLORS[0])
    strength.spines[["top"]].set_visible(False)
    axes.set_title("Influence of one compromised record by distance")
    return axes


BELIEF_TICKS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
"""Beliefs that the axis of log odds names, those within its limits."""


def belief_sources_plot(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of `belief_sources`: from belief to belief as releases are added, and for each part from the belief without it.

    The axis is that of log odds, and its ticks are beliefs. Bars that raise the belief and bars that lower it have two colours; the
    dashed line is the belief given all releases and all parts.

    Parameters
    ----------
    table : DataFrame
        As `belief_sources` returns it.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If the table has other columns, or ``ax`` is not Axes.
    """
    check_table("belief_sources_plot", "table", table, ("source", "name", "log_odds", "change"), "as of belief_sources")
    drawn = table[table["source"].isin(["start", "release"]) | table["change"].notna()]
    axes = one_panel("belief_sources_plot", ax, 6.4, 1.4 + 0.32 * len(drawn))
    end = float(table.loc[table["source"] != "part", "log_odds"].iloc[-1])
    labels = []
    for place, (source, name, odds, change) in enumerate(
        drawn[["source", "name", "log_odds", "change"]].itertuples(index=False)
    ):
        start = odds if source == "part" else odds - change
        axes.barh(place, change, left=start, height=0.6, color=COLORS[1] if change > 0 else COLORS[0])
        axes.plot([start] * 2, [place - 0.3, place + 0.3], color="0.2", linewidth=1.5)
        kinds = {"start": "before any group", "release": f"release {name}", "part": f"with {name}"}
        labels.append(without_mathtext(kinds[source]))
    axes.axvline(end, color="0.4", linestyle="--", linewidth=1)
    axes.use_sticky_edges = False
    axes.margins(x=0.05)
    low, high = axes.get_xlim()
    ticks = [(belief, np.log2(belief) - np.log2(1 - belief)) for belief in BELIEF_TICKS]
    inside = [(belief, odds) for belief, odds in ticks if low <= odds <= high]
    axes.set_xticks([odds for _, odds in inside], [f"{belief:g}" for belief, _ in inside])
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    about = table.attrs
    title = (
        f"Belief that {about['respondent']} has {about['value']} at {about['time']}" if about else "Sources of a belief"
    )
    axes.set(xlabel="belief, by log odds (orange raises it, blue lowers it)", title=without_mathtext(title))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _release_axis(nodes: Mapping[Any, Mapping[str, Any]]) -> TimeAxis:
    """Columns of the releases, with gaps for missing times and for releases without a marker."""
    times = {int(data["release"]): node[1] for node, data in nodes.items()}
    numbers = sorted(times)
    breaks = [place for place, (one, other) in enumerate(pairwise(numbers)) if other - one > 1]
    return time_axis([times[number] for number in numbers], breaks)


def _draw_edges(axes: Axes, graph: "nx.DiGraph[Any]", places: Mapping[Any, tuple[int, int]], axis: TimeAxis) -> None:
    """Draw groups in colour and time in grey, dashed across a gap."""
    for one, other, data in graph.edges(data=True):
        if one not in places or other not in places:
            continue
        style: dict[str, Any] = {"color": "0.6"}
        if data["through"] == "group":
            style = {"color": COLORS[1], "linewidth": 0.8, "alpha": 0.6}
        (start, _), (end, _) = places[one], places[other]
        if any(min(start, end) < gap < max(start, end) for gap in axis.gaps):
            style["linestyle"] = "--"
        axes.plot(*zip(places[one], places[other], strict=True), zorder=1, **style)


def _draw_markers(
    axes: Axes, nodes: Mapping[Any, Mapping[str, Any]], places: Mapping[Any, tuple[int, int]], source: Hashable
) -> PathCollection:
    """Draw a marker for each respondent and release, and a ring around the compromised record."""
    across, down = np.array([places[node] for node in nodes]).T
    points = axes.scatter(
        across,
        down,
        c=np.maximum([data["bits"] for data in nodes.values()], MIN_COLORED_CHANGE),
        s=70,
        cmap="YlGnBu",
        norm=LogNorm(MIN_COLORED_CHANGE, 1),
        edgecolors="0.3",
        linewidths=0.5,
        zorder=2,
    )
    x, y = places[source]
    axes.scatter([x], [y], s=190, facecolors="none", edgecolors="black", linewidths=1.6, zorder=3)
    return points


def _by_influence(graph: "nx.DiGraph[Any]") -> list[Hashable]:
    """The respondents reached: first the one of the compromised record, then the others by the sum of their bits."""
    respondent = graph.graph["source"][0]
    bits = pd.Series(
        [data["bits"] for _, data in graph.nodes(data=True)], index=[node[0] for node in graph.nodes], dtype=float
    )
    total = bits.groupby(level=0, sort=False).sum().sort_values(ascending=False, kind="stable")
    return [respondent, *(other for other in total.index if other != respondent)]


def _check_graph(owner: str, graph: Any) -> None:
    takes = "is a graph, as foreknow.attacks.Influence(...)(releases, ...) returns it"
    check_kind(owner, "graph", graph, nx.DiGraph, takes)
    wanted = {"bits", "release", "distance"}
    whole = all(
        isinstance(node, tuple) and len(node) == 2 and wanted <= data.keys() for node, data in graph.nodes(data=True)
    )
    joined = all("through" in data for _, _, data in graph.edges(data=True))
    if not whole or not joined or graph.graph.get("source") not in graph:
        raise ValueError(f"{owner}: graph has other nodes, edges or no source; it {takes}.")
