"""Pictures of what was measured. Each function returns a matplotlib figure, and shows or writes nothing."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from foreknow.models import Beliefs, History, Release

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Told apart by colour-blind readers as well (Okabe and Ito)."""
LINES = ("-", "--", ":", "-.")


def gain_over_time(risk: pd.DataFrame, time: str = "release", measure: str = "gain") -> Figure:
    """A measure of risk at each release: a colour per defense, a kind of line per attack.

    Parameters
    ----------
    risk : DataFrame
        As `Comparison.risk` gives it.
    time : str
        What the horizontal axis is called.
    measure : str
        The column shown.
    """
    figure, axes = _figure(8, 4.8)
    defenses, attacks = risk["defense"].unique(), risk["attack"].unique()
    for d, defense in enumerate(defenses):
        for a, attack in enumerate(attacks):
            rows = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
            axes.plot(
                rows["time"].to_numpy(), rows[measure].to_numpy(), LINES[a % len(LINES)], color=COLORS[d % len(COLORS)],
                marker="o", markersize=3, linewidth=1.8,
            )  # fmt: skip
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set(xlabel=time, ylabel=f"adversary's {measure}", title=f"What the releases gave away: {measure} per release")
    colours = [(name, {"color": COLORS[d % len(COLORS)], "linewidth": 4}) for d, name in enumerate(defenses)]
    kinds = [(name, {"color": "black", "linestyle": LINES[a % len(LINES)]}) for a, name in enumerate(attacks)]
    _legend(axes, colours + kinds)
    return figure


def belief_over_time(
    beliefs: Mapping[str, Beliefs], history: History, respondent: Hashable, time: str = "release"
) -> Figure:
    """One person's evolution: what is believed after each release, one panel per publication, the truth framed.

    Only releases with a record of that person are shown; where it was suppressed, the belief is the revised prior.

    Parameters
    ----------
    beliefs : mapping of title to Beliefs
        What an attack returned on each publication.
    history : History
        The original records, for the true values.
    respondent : hashable
        Who.
    time : str
        What the horizontal axis is called.
    """
    tables = {title: belief.of(respondent).xs("posterior", level="stage") for title, belief in beliefs.items()}
    releases, values = max(map(len, tables.values())), history.schema.values
    width, height = max(3.2, 0.45 * releases), max(3.4, 0.32 * len(values))
    figure = Figure(figsize=(1.5 + (width + 0.3) * len(tables), height + 1), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(tables), sharey=True))
    truth = _truth(history, respondent)
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        image = axes.imshow(table.to_numpy().T, aspect="auto", cmap="Blues", vmin=0, vmax=1, origin="lower")
        for column, when in enumerate(table.index):
            for row, probability in enumerate(table.loc[when].to_numpy()):
                if probability >= 0.005:
                    colour = "white" if probability > 0.6 else "black"
                    axes.text(column, row, f"{probability:.2f}", ha="center", va="center", fontsize=8, color=colour)
            frame = Rectangle(
                (column - 0.47, truth[when] - 0.46), 0.94, 0.92, fill=False, edgecolor="black", linewidth=1.6
            )
            axes.add_patch(frame)
        axes.set_xticks(range(len(table)), [str(when) for when in table.index])
        axes.set_yticks(range(len(values)), [str(value) for value in values])
        axes.set(xlabel=time, title=title)
    figure.colorbar(image, ax=list(panels), label="belief after the release")
    figure.suptitle(f"What is believed of respondent {respondent} (framed: the truth)")
    return figure


def group_sizes(releases: Mapping[str, Sequence[Release]]) -> Figure:
    """How many published records stand in groups of each size, over all releases, and how many were suppressed."""
    figure, axes = _figure(8, 4.2)
    found = {
        name: np.concatenate([np.bincount(release.group[release.group >= 0]) for release in published]).astype(int)
        for name, published in releases.items()
    }
    largest = max((sizes.max(initial=0) for sizes in found.values()), default=0)
    lost = {name: sum(int((release.group < 0).sum()) for release in published) for name, published in releases.items()}
    total = {name: max(sum(len(release.view) for release in published), 1) for name, published in releases.items()}
    edge = min(int(largest), 30)
    width = 0.8 / max(len(found), 1)
    places = np.concatenate([[-2], np.arange(1, edge + 1)])
    for d, (name, sizes) in enumerate(found.items()):
        records = np.bincount(np.minimum(sizes, edge), weights=sizes, minlength=edge + 1)
        share = np.concatenate([[lost[name]], records[1:]]) / total[name]
        offset = (d - (len(found) - 1) / 2) * width
        axes.bar(places + offset, share, width, label=name, color=COLORS[d % len(COLORS)])
    ticks = [-2, *range(edge, 0, -max(1, edge // 15))]
    labels = ["suppressed", *(f"{t}+" if t == edge and largest > edge else str(t) for t in ticks[1:])]
    axes.set_xticks(ticks, labels)
    axes.set(
        xlabel="size of the group",
        ylabel="share of the records",
        title="How large the groups are that records stand in",
    )
    axes.legend(frameon=False)
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)
    return figure, axes


def _legend(axes: Axes, entries: list[tuple[str, dict[str, Any]]]) -> None:
    handles = [Line2D([], [], label=name, **style) for name, style in entries]
    axes.legend(handles=handles, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _truth(history: History, respondent: Hashable) -> dict[Any, int]:
    """The person's true codes by time."""
    return {view.time: int(view.sensitive[row]) for view in history for row in view.people.rows(respondent)}
