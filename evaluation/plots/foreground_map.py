"""Plot of mined global probabilities against the frequencies in the original records."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation
from matplotlib.ticker import PercentFormatter

from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.evaluation.plots.style import COLORS, legend, one_panel, without_mathtext
from foreknow.evaluation.risk.beliefs_and_truth import original_view
from foreknow.evaluation.risk.global_errors import (
    attribute_names,
    global_distributions,
    set_probabilities,
    signature_table,
)
from foreknow.models import History, View
from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.settings import as_list, check_kind
from foreknow.models.tables.columns import check_time
from foreknow.models.tables.schema import as_sensitive_values

MAX_MARKER_DIAMETER = 18.0
"""Diameter of the largest marker, in points; the areas of the others are in proportion to their support."""

MIN_MARKER_DIAMETER = 4.5
"""Least diameter of a marker, in points, so that signatures of few records are visible."""


def foreground_map(
    beliefs: ForegroundBeliefs,
    history: History,
    sensitive_set: Collection[Hashable],
    attributes: str | Sequence[str],
    time: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the mined probability of each signature of one attribute set against its frequency in the original records.

    On the diagonal the mined probability is the true frequency. The dashed line is the fraction in the whole table: a signature
    on it adds no information. The area of a marker is in proportion to the support, with a least size. Where the fit has draws, a
    bar is the 90 % credible interval. Signatures are labelled where there is room, those furthest from the table's share first.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        The result of a `ForegroundAttack`.
    history : History
        The original records, for the true frequencies.
    sensitive_set : collection of values
        The set that the attack was given; any set, if the attack distinguished all values.
    attributes : str or sequence of str
        The attribute set, in any order.
    time : optional
        Time of the release; by default the first.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError, TypeError
        If the beliefs have no such release or attribute set, or ``ax`` is not Axes; and as `global_probabilities`.
    """
    checked = as_sensitive_values("foreground_map", sensitive_set)
    distribution, view = _selected(beliefs, history, attributes, time)
    table = signature_table("foreground_map", distribution, view, checked)
    share = float(set_probabilities("foreground_map", distribution, distribution.rest[None], checked)[0])
    axes = one_panel("foreground_map", ax, 8.2, 5.4)
    _frame(axes, table, share)
    if sampled := "low" in table.columns:
        axes.vlines(table["frequency"], table["low"], table["high"], color=COLORS[0], linewidth=1.4)
    size = (MAX_MARKER_DIAMETER * np.sqrt(table["support"] / table["support"].max())).clip(MIN_MARKER_DIAMETER)
    axes.scatter(
        table["frequency"], table["probability"], s=size**2, color=COLORS[0], alpha=0.5, edgecolors="white", linewidths=0.6,
        zorder=3,
    )  # fmt: skip
    _label(axes, table.assign(size=size, far=(table[["frequency", "probability"]] - share).abs().max(axis=1)))
    words = ", ".join(map(str, checked[:4])) + (", ..." if len(checked) > 4 else "")
    axes.set(
        xlabel=without_mathtext(f"true fraction of records with {words}"),
        ylabel="fraction mined from the published groups",
        title=without_mathtext(f"Mined and true fraction of the sensitive set, by {attribute_names(distribution)}"),
    )
    legend(axes, _entries(int(table["support"].max()), sampled))
    return axes


def _selected(
    beliefs: ForegroundBeliefs, history: History, attributes: str | Sequence[str], time: Any
) -> tuple[GlobalDistribution, View]:
    """The attribute set's distribution in a release, and the release's original records."""
    takes = "is an attribute set, as 'town' or ['town', 'sex']"
    names = as_list("foreground_map", "attributes", [attributes] if isinstance(attributes, str) else attributes, takes)
    for name in names:
        check_kind("foreground_map", "attributes", name, str, takes)
    time = None if time is None else check_time("foreground_map", time)
    for observation, distributions in global_distributions("foreground_map", beliefs):
        if time is None or observation.time == time:
            for distribution in distributions:
                if set(distribution.attributes) == set(names):
                    return distribution, original_view(history, observation)
            there = "; ".join(map(attribute_names, distributions)) or "none"
            raise ValueError(
                f"foreground_map: at {observation.time!r} nothing was mined of the attribute set {', '.join(sorted(names))}; there "
                f"are: {there}. Name one of them, or lower the attack's support."
            )
    raise ValueError(
        f"foreground_map: there is no release at {time!r}; there are {', '.join(map(repr, beliefs.times)) or 'none'}."
    )


def _frame(axes: Axes, table: pd.DataFrame, share: float) -> None:
    """Draw axes of one scale, the diagonal, and the table's share."""
    numbers = [name for name in ("frequency", "probability", "high") if name in table.columns]
    top = float(table[numbers].to_numpy().max(initial=max(share, 1e-6)))
    ends = (-0.05 * top, 1.14 * top)
    axes.plot(ends, ends, color="0.55", linewidth=1)
    axes.axhline(share, color="0.55", linewidth=1, linestyle="--")
    axes.set(xlim=ends, ylim=ends)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
    axes.spines[["top", "right"]].set_visible(False)


def _label(axes: Axes, table: pd.DataFrame) -> None:
    """Label the signatures where there is room; those furthest from the table's share first."""
    ordered = table.sort_values("far", ascending=False, kind="stable")
    labels = [
        axes.annotate(without_mathtext(name), (x, y), (0, 0), textcoords="offset points", va="center", fontsize=9)
        for name, x, y in zip(ordered["signature"], ordered["frequency"], ordered["probability"], strict=True)
    ]
    axes.add_artist(MarkerLabels(labels, ordered["size"].to_numpy() / 2))


def _entries(largest: int, sampled: bool) -> list[tuple[str, dict[str, Any]]]:
    """Entries of the legend: lines, markers and bars."""
    mark = {"color": COLORS[0], "alpha": 0.5, "marker": "o", "linestyle": "", "markeredgecolor": "white"}
    sizes = [
        (
            f"{records:,} {'record' if records == 1 else 'records'}",
            mark | {"markersize": MAX_MARKER_DIAMETER * (records / largest) ** 0.5},
        )
        for records in sorted({largest, max(largest // 4, 1)})
    ]
    bars = [("90 % credible interval", {"color": COLORS[0], "linewidth": 1.4})] if sampled else []
    lines = {"color": "0.55", "linewidth": 1}
    return [
        ("mined fraction = true fraction", lines),
        ("fraction in the whole table", lines | {"linestyle": "--"}),
        *bars,
        *sizes,
    ]


DISTANCE = 3.0
"""Distance of a label from the edge of its marker, in points."""


class MarkerLabels(Artist):
    """Invisible artist that shows each label of its axes right or left of its marker, or hides it.

    The room depends on the size of the figure and on the layout, so labels are placed at each drawing. A label is hidden where it
    would overlap a marker, an earlier label or the edge of the axes.

    Parameters
    ----------
    labels : sequence of Annotation
        Labels of the same axes, the most important first.
    radii : float array, shape (n,)
        Radii of their markers, in points.
    """

    def __init__(self, labels: Sequence[Annotation], radii: FloatArray) -> None:
        super().__init__()
        self.labels = labels
        self.radii = radii
        self.set_zorder(-1)  # drawn before the labels
        self.set_in_layout(False)
        for label in labels:
            label.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the labels one after the other; each is compared with all markers and the labels before it."""
        if not isinstance(self.axes, Axes) or not self.labels:
            return
        scale = float(np.asarray(renderer.points_to_pixels(1.0)))
        frame = self.axes.get_window_extent(renderer)
        places = self.axes.transData.transform([label.xy for label in self.labels])
        low, high = (places + sign * scale * self.radii[:, None] for sign in (-1, 1))  # corners of what is taken
        for label, (x, y), radius in zip(self.labels, places, self.radii, strict=True):
            label.set_visible(True)
            width, height = label.get_window_extent(renderer).size
            away = radius + DISTANCE
            for side, left in (("left", x + away * scale), ("right", x - away * scale - width)):
                start, end = np.array([left, y - height / 2]), np.array([left + width, y + height / 2])
                is_covered = ((start < high) & (low < end)).all(axis=1).any()
                if frame.x0 < start[0] and end[0] < frame.x1 and not is_covered:
                    label.set(position=(away if side == "left" else -away, 0), horizontalalignment=side)
                    low, high = np.vstack([low, start]), np.vstack([high, end])
                    break
            else:
                label.set_visible(False)
