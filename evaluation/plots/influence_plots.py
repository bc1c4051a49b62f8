"""Pictures of how one compromised record spread. Each function returns a matplotlib figure, and shows or writes nothing."""

from collections.abc import Hashable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from foreknow.evaluation.plots.belief_plots import COLORS, without_mathtext
from foreknow.evaluation.risk.influence import influence_by_distance

MOST_PEOPLE = 40
"""How many people an influence map has a line for."""

FAINTEST = 1e-4
"""The change of belief, in bits, from which on colours differ."""


def influence_map(graph: "nx.DiGraph[Any]", time: str = "release", most: int = MOST_PEOPLE) -> Figure:
    """People reached by one record, over time: a line per person, a column per release, the stronger the darker.

    Lines between people are groups, lines along a person are time; the record itself has a ring. Where more people were
    reached than there is room for, those with the strongest total influence are shown, and the title says so.

    Parameters
    ----------
    graph : networkx.DiGraph
        As `foreknow.attacks.Influence` gives it.
    time : str
        What the horizontal axis is called.
    most : int
        The most people shown.
    """
    source = graph.graph["source"]
    people = _people(graph, source[0])
    shown = {respondent: line for line, respondent in enumerate(people[:most])}
    nodes = {node: data for node, data in graph.nodes(data=True) if node[0] in shown}
    releases = {data["release"]: node[1] for node, data in nodes.items()}
    figure = Figure(
        figsize=(max(5.0, 2.2 + 0.42 * len(releases)), max(2.6, 1.4 + 0.26 * len(shown))), layout="constrained"
    )
    axes = figure.subplots()
    for one, other, data in graph.edges(data=True):
        if one in nodes and other in nodes:
            style = (
                {"color": COLORS[1], "linewidth": 0.8, "alpha": 0.6} if data["through"] == "group" else {"color": "0.6"}
            )
            ends = [(nodes[end]["release"], shown[end[0]]) for end in (one, other)]
            axes.plot(*zip(*ends, strict=True), zorder=1, **style)
    places = np.array([(data["release"], shown[node[0]], data["bits"]) for node, data in nodes.items()])
    points = axes.scatter(
        places[:, 0],
        places[:, 1],
        c=np.maximum(places[:, 2], FAINTEST),
        s=70,
        cmap="YlGnBu",
        norm=LogNorm(FAINTEST, 1),
        edgecolors="0.3",
        linewidths=0.5,
        zorder=2,
    )
    start = nodes[source]
    axes.scatter(
        [start["release"]], [shown[source[0]]], s=190, facecolors="none", edgecolors="black", linewidths=1.6, zorder=3
    )
    axes.set_xticks(sorted(releases), [without_mathtext(releases[number]) for number in sorted(releases)])
    axes.set_yticks(range(len(shown)), [without_mathtext(respondent) for respondent in shown])
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    left_out = f", the {len(shown)} most touched of {len(people)} people" if len(people) > len(shown) else ""
    axes.set(xlabel=without_mathtext(time), ylabel="respondent", title=f"Whom one compromised record reaches{left_out}")
    figure.colorbar(points, ax=axes, label=f"change of belief (bits)\nlight: {FAINTEST:g} or less")
    return figure


def influence_over_distance(graph: "nx.DiGraph[Any]") -> Figure:
    """Number of places reached at each distance (bars), and mean strength (line)."""
    table = influence_by_distance(graph)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.bar(table["distance"], table["places"], color="0.85", label="places reached")
    axes.set(xlabel="steps from the record (through a group, or to the next release)", ylabel="places reached")
    axes.spines[["top"]].set_visible(False)
    strength = axes.twinx()
    strength.plot(table["distance"], table["mean_bits"], color=COLORS[0], marker="o", label="mean change of belief")
    if (table["mean_bits"] > 0).any():
        strength.set_yscale("log")
    strength.set_ylabel("mean change of belief (bits)", color=COLORS[0])
    strength.spines[["top"]].set_visible(False)
    axes.set_title("How far a compromised record reaches, and how strongly")
    return figure


def _people(graph: "nx.DiGraph[Any]", source: Hashable) -> list[Hashable]:
    """The people reached: the record's own first, the others by the sum of their bits."""
    bits = pd.Series(
        [data["bits"] for _, data in graph.nodes(data=True)], index=[node[0] for node in graph.nodes], dtype=float
    )
    total = bits.groupby(level=0, sort=False).sum().sort_values(ascending=False, kind="stable")
    return [source, *(respondent for respondent in total.index if respondent != source)]
