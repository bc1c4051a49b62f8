"""A picture of what a release taught of the population: mined probabilities against true frequencies."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from foreknow.attacks import ForegroundBeliefs
from foreknow.evaluation.plots.style import COLORS, legend, without_mathtext
from foreknow.evaluation.risk.beliefs_and_truth import check_set, original_view
from foreknow.evaluation.risk.global_errors import mined_and_true
from foreknow.evaluation.risk.mined_distributions import knowledge, named, of_set
from foreknow.models import GlobalDistribution, History, View

LARGEST = 18.0
"""The diameter of the largest mark, in points; the areas of the others are in proportion to their support."""
ACROSS, UP = 415.0, 350.0
"""How wide and high the axes are, in points, more or less: by it names are kept apart."""


def foreground_map(
    beliefs: ForegroundBeliefs,
    history: History,
    sensitive: Collection[Hashable],
    attributes: str | Sequence[str],
    time: Any = None,
) -> Figure:
    """Knowledge of one attribute set from a release: each signature's mined probability against its true frequency.

    On the diagonal it taught the truth; on the level line, the whole table's share, it taught nothing. A mark is the larger
    the more people match its signature; where the fit has draws, its bar is the 90 % credible interval. Names are written
    where there is room, those furthest from the table's share first.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        What a `ForegroundAttack` returned.
    history : History
        The original records, for the true frequencies.
    sensitive : collection of values
        The set the attack was given; any set, if the attack told all values apart.
    attributes : str or sequence of str
        The attribute set, in any order.
    time : optional
        Which release; by default the first.

    Raises
    ------
    ValueError, TypeError
        If the beliefs have no such release or attribute set; and as `global_probabilities`.
    """
    checked = check_set("foreground_map", sensitive)
    distribution, view = _found(beliefs, history, attributes, time)
    table = mined_and_true("foreground_map", distribution, view, checked)
    share = float(of_set("foreground_map", distribution, distribution.rest[None], checked)[0])
    figure = Figure(figsize=(8.2, 5.4), layout="constrained")
    axes = figure.subplots()
    _frame(axes, table, share)
    if sampled := "low" in table.columns:
        axes.vlines(table["frequency"], table["low"], table["high"], color=COLORS[0], linewidth=1.4)
    size = LARGEST * np.sqrt(table["support"] / table["support"].max())
    axes.scatter(
        table["frequency"], table["probability"], s=size**2, color=COLORS[0], alpha=0.5, edgecolors="white", zorder=3
    )
    _write(axes, table.assign(size=size, far=(table[["frequency", "probability"]] - share).abs().max(axis=1)))
    words = ", ".join(map(str, checked[:4])) + (", ..." if len(checked) > 4 else "")
    axes.set(
        xlabel=without_mathtext(f"true share of these people who have {words}"),
        ylabel="their share, as mined from the published groups",
        title=without_mathtext(f"What the groups teach of people by {named(distribution)}"),
    )
    legend(axes, _explained(int(table["support"].max()), sampled))
    return figure


def _found(
    beliefs: ForegroundBeliefs, history: History, attributes: str | Sequence[str], time: Any
) -> tuple[GlobalDistribution, View]:
    """The attribute set's distribution in a release, and the release's original records."""
    wanted = {attributes} if isinstance(attributes, str) else set(attributes)
    for seen, found in knowledge(beliefs):
        if time is None or seen.time == time:
            for distribution in found:
                if set(distribution.attributes) == wanted:
                    return distribution, original_view(history, seen)
            there = "; ".join(named(distribution) for distribution in found) or "none"
            raise ValueError(
                f"foreground_map: at {seen.time!r} nothing was mined of the attribute set {', '.join(sorted(wanted))}; there are: "
                f"{there}. Name one of them, or lower the attack's support."
            )
    raise ValueError(
        f"foreground_map: there is no release at {time!r}; there are {', '.join(map(repr, beliefs.times)) or 'none'}."
    )


def _frame(axes: Axes, table: pd.DataFrame, share: float) -> None:
    """Axes of one scale, the diagonal, and the table's share."""
    numbers = [name for name in ("frequency", "probability", "high") if name in table.columns]
    top = float(table[numbers].to_numpy().max(initial=max(share, 1e-6)))
    ends = (-0.05 * top, 1.14 * top)
    axes.plot(ends, ends, color="0.55", linewidth=1)
    axes.axhline(share, color="0.55", linewidth=1, linestyle="--")
    axes.set(xlim=ends, ylim=ends)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
    axes.spines[["top", "right"]].set_visible(False)


def _write(axes: Axes, table: pd.DataFrame) -> None:
    """Write each signature beside its mark, where nothing stands yet; those furthest from the table's share first."""
    low, high = axes.get_xlim()
    points = table[["frequency", "probability"]].to_numpy()
    places = (points - low) / (high - low) * (ACROSS, UP)
    radii = table["size"].to_numpy() / 2
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(places, radii, strict=True)]
    for row in np.argsort(-table["far"].to_numpy(), kind="stable"):
        word, (x, y), away = str(table["signature"].iloc[row]), places[row], radii[row] + 3
        width = 4.6 * len(word)
        for side, left in (("left", x + away), ("right", x - away - width)):
            box = (left, y - 5, left + width, y + 5)
            if left > 0 and left + width < ACROSS and not any(_meet(box, other) for other in taken):
                taken.append(box)
                shift = away if side == "left" else -away
                axes.annotate(
                    without_mathtext(word),
                    points[row],
                    (shift, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    fontsize=8,
                )
                break


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _explained(largest: int, sampled: bool) -> list[tuple[str, dict[str, Any]]]:
    """Legend of the lines and marks."""
    mark = {"color": COLORS[0], "alpha": 0.5, "marker": "o", "linestyle": "", "markeredgecolor": "white"}
    sizes = [
        (
            f"{people:,} {'person' if people == 1 else 'people'}",
            mark | {"markersize": LARGEST * (people / largest) ** 0.5},
        )
        for people in sorted({largest, max(largest // 4, 1)})
    ]
    bars = [("90 % credible interval", {"color": COLORS[0], "linewidth": 1.4})] if sampled else []
    lines = {"color": "0.55", "linewidth": 1}
    return [
        ("the truth was learned", lines),
        ("nothing was learned:\nthe whole table's share", lines | {"linestyle": "--"}),
        *bars,
        *sizes,
    ]
