"""Pictures of whom an attack links to a sensitive set, and how rightly. Each is a matplotlib figure; none is shown or written."""

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from foreknow.evaluation.plots.belief_plots import COLORS, MARKERS, legend
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut, mean, set_beliefs_and_truth
from foreknow.evaluation.risk.breaches import over
from foreknow.evaluation.risk.ranking import DECIMALS
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray


def breach_curve(
    beliefs: Beliefs,
    history: History,
    sensitive: Collection[Hashable],
    r: float | None = None,
    leaving_out: LeftOut = None,
) -> Figure:
    """Who is linked to a sensitive set with more than each threshold, and how many of these have a value of it.

    To the left, the shares over the threshold of those who have a value of the set and of those who have none; dashes are the
    groups' shares, what somebody believes who only counts: the attack is worth what it adds to them. To the right, of all
    whom the attack links, the share who have a value of the set, beside what the attack expects, and what somebody expects
    who only counts. Where those without one are many, few of them in a hundred are still many of those linked.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned; its releases are taken together.
    history : History
        The original records.
    sensitive : collection of values
        The set nobody should be linked to.
    r : float, optional
        A threshold 1/r to mark, with the numbers there: ``breached``, ``flagged`` and ``precision`` of `breaches`.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Whose respondents are left out.

    Raises
    ------
    ValueError, TypeError
        As `breaches`.
    """
    at = None if r is None else over(r, "breach_curve")
    found = list(set_beliefs_and_truth("breach_curve", beliefs, history, sensitive, leaving_out))
    belief = np.concatenate([np.zeros(0), *(one.belief for one in found)])
    share = np.concatenate([np.zeros(0), *(one.share for one in found)])
    holds = np.concatenate([np.zeros(0, dtype=np.bool_), *(one.holds for one in found)])
    figure = Figure(figsize=(11.0, 4.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    _recall(left, belief, share, holds, at)
    _precision(right, belief, share, holds, at)
    for axes in (left, right):
        axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.08), xlabel="threshold 1/r; people believed over it are linked")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.92")
        axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    figure.suptitle(
        f"{int(holds.sum()):,} of {len(holds):,} people have a value of the sensitive set: who is linked to it?"
    )
    return figure


def _recall(axes: Axes, belief: FloatArray, share: FloatArray, holds: BoolArray, at: float | None) -> None:
    for color, who, name in ((COLORS[1], holds, "have it"), (COLORS[0], ~holds, "do not")):
        for each, style, words in ((belief, "-", "the attack"), (share, "--", "counting alone")):
            places, linked = _over(each[who], np.ones(int(who.sum())))
            drawn = linked / max(int(who.sum()), 1)
            axes.plot(places, drawn, style, color=color, drawstyle="steps-post", label=f"{name}: {words}")
        if at is not None and who.any():
            _mark(axes, at, mean(belief[who] > at), color, "left")
    axes.set(title="Of those who have it, and of those who do not", ylabel="share linked")


def _precision(axes: Axes, belief: FloatArray, share: FloatArray, holds: BoolArray, at: float | None) -> None:
    everybody = _over(belief, np.ones(len(belief)))[1]
    lines = ((holds, "-", COLORS[1], "have it in truth"), (belief, "-", "0.55", "as the attack expects"),
             (share, "--", "0.55", "as counting expects"))  # fmt: skip
    for each, style, color, name in lines:
        places, linked = _over(belief, each.astype(np.float64))
        drawn = np.divide(linked, everybody, out=np.full(len(linked), np.nan), where=everybody > 0)
        axes.plot(places, drawn, style, color=color, drawstyle="steps-post", label=name)
    if at is not None and (belief > at).any():
        _mark(axes, at, mean(holds[belief > at]), COLORS[1], "right")
    axes.set(title="Of those whom the attack links", ylabel="share who have it")


def reliability_diagram(calibrations: Mapping[str, pd.DataFrame]) -> Figure:
    """How often beliefs of each size are right: on the diagonal as often as believed, below it less.

    Below stands how many beliefs there are of each size: a mark over few of them says little.

    Parameters
    ----------
    calibrations : mapping of title to DataFrame
        As `calibration` gives them, each a line.
    """
    figure = Figure(figsize=(7.6, 6.0), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    axes.plot([0, 1], [0, 1], color="0.55", linewidth=1)
    entries: list[tuple[str, dict[str, Any]]] = [("as often as believed", {"color": "0.55", "linewidth": 1})]
    width = 0.8 / max(len(calibrations), 1)
    for d, (title, table) in enumerate(calibrations.items()):
        style = {"color": COLORS[d % len(COLORS)], "marker": MARKERS[d % len(MARKERS)], "markersize": 6}
        axes.plot(table["believed"].to_numpy(), table["observed"].to_numpy(), linewidth=1.4, **style)
        part = (table["high"] - table["low"]).to_numpy()
        middle = (table["low"] + table["high"]).to_numpy() / 2 + (d - (len(calibrations) - 1) / 2) * width * part
        below.bar(middle, table["beliefs"].to_numpy(), width * part, color=style["color"])
        entries.append((title, {"linewidth": 1.4, **style}))
    axes.set(ylabel="share of them that is right", title="Is what is believed true as often as it is believed?")
    below.set(xlabel="belief", ylabel="beliefs", xlim=(-0.02, 1.02))
    if any((table["beliefs"] > 0).any() for table in calibrations.values()):
        below.set(yscale="log", ylim=(0.5, None))
    for panel in (axes, below):
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="0.92")
        panel.set_axisbelow(True)
    for axis in (axes.yaxis, below.xaxis):
        axis.set_major_formatter(PercentFormatter(1))
    legend(axes, entries)
    return figure


def _over(belief: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At 0, at each belief and at 1: the weight of the beliefs that are over it."""
    different = np.concatenate([[0.0, 1.0], np.clip(np.round(belief, DECIMALS), 0, 1)])
    places, place = np.unique(different, return_inverse=True)
    of_place = np.bincount(place, np.concatenate([[0.0, 0.0], weight]))
    return places, np.concatenate([np.cumsum(of_place[::-1])[::-1][1:], [0.0]])


def _mark(axes: Axes, place: float, share: float, color: str, aligned: str) -> None:
    """A threshold, and the share there in words beside it."""
    axes.axvline(place, color="0.55", linewidth=1, linestyle=":")
    axes.plot([place], [share], marker="o", color=color, markersize=6)
    away = (6 if aligned == "left" else -6, 5)
    axes.annotate(f"{share:.1%}", (place, share), away, textcoords="offset points", ha=aligned, color=color, fontsize=9)
