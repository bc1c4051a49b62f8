"""Plots of breaches of a sensitive set, and of the reliability of beliefs."""

from collections.abc import Collection, Hashable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from foreknow.attacks.foreground import breach_threshold
from foreknow.evaluation.plots.style import (
    COLORS,
    Panels,
    check_table,
    check_titled,
    color_and_marker,
    given_panels,
    hide_frame,
    keep_first_labels,
    new_figure,
    new_or_given_panels,
    place_legend,
    without_mathtext,
)
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut, mean, set_beliefs_and_truth
from foreknow.evaluation.risk.breaches import BELIEF_DECIMALS
from foreknow.evaluation.risk.reliability_curve import ROWS_AT
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_kind

MARKER_SPACING = 0.12
"""Distance between markers along a curve, as a share of the diagonal of the axes."""


def breach_curve(
    beliefs: Beliefs,
    history: History,
    sensitive_set: Collection[Hashable],
    r: float | None = None,
    leaving_out: LeftOut = None,
    *,
    ax: Panels | None = None,
) -> Panels:
    """Recall and precision of the breaches of a sensitive set, over thresholds 1/r of the belief.

    Left: the share in breach (belief over the threshold) of the holders, the records with a value of the set, and of the
    non-holders. Dashed lines have the share of the set in the group in place of the belief; the difference is the attack's gain.

    Right: the share of holders among the records in breach, beside the share that the attack expects (mean belief) and the share
    expected from the groups alone. If non-holders are many, a small share of them is a large part of the records in breach.

    Parameters
    ----------
    beliefs : Beliefs
        Beliefs of an attack; its releases are pooled.
    history : History
        The original records.
    sensitive_set : collection of values
        The sensitive set.
    r : float, optional
        Mark the threshold 1/r, with the numbers ``breached``, ``flagged`` and ``precision`` of `breaches`.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Respondents to leave out.
    ax : array of Axes, shape (2,), optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of Axes, shape (2,)
        The panels of the shares in breach and of the precision.

    Raises
    ------
    TypeError, ValueError
        As `breaches`; if ``ax`` is not an array of two axes.
    """
    check_kind("breach_curve", "beliefs", beliefs, Beliefs, "is a Beliefs, as an attack returns it")
    check_kind("breach_curve", "history", history, History, "is a History of the original records")
    threshold = None if r is None else breach_threshold(r, "breach_curve")
    outcomes = list(set_beliefs_and_truth("breach_curve", beliefs, history, sensitive_set, leaving_out))
    belief = np.concatenate([np.zeros(0), *(outcome.belief for outcome in outcomes)])
    share = np.concatenate([np.zeros(0), *(outcome.share for outcome in outcomes)])
    holds = np.concatenate([np.zeros(0, dtype=np.bool_), *(outcome.holds for outcome in outcomes)])
    title = f"Breaches of the sensitive set: {int(holds.sum()):,} holders among {len(holds):,} records"
    left, right = panels = new_or_given_panels("breach_curve", ax, (2,), (8.5, 4.6), title)
    _recall(left, belief, share, holds, threshold)
    _precision(right, belief, share, holds, threshold)
    for axes in (left, right):
        axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.08), xlabel="threshold 1/r of the belief")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        hide_frame(axes)
        handles = axes.get_legend_handles_labels()[0]
        place_legend(axes, handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return panels


def _recall(axes: Axes, belief: FloatArray, share: FloatArray, holds: BoolArray, threshold: float | None) -> None:
    for color, marker, kind, name in ((COLORS[1], "s", holds, "holders"), (COLORS[0], "o", ~holds, "non-holders")):
        for score, dash, source in ((belief, "-", "attack"), (share, "--", "group shares")):
            places, over_place = _weight_over(score[kind], np.ones(int(kind.sum())))
            heights = over_place / max(int(kind.sum()), 1)
            _steps(axes, places, heights, color, dash, marker, f"{name}: {source}")
        if threshold is not None and kind.any():
            _mark_threshold(axes, threshold, mean(belief[kind] > threshold), color, "left")
    axes.set(title="Recall: share of each kind in breach", ylabel="share in breach")


def _precision(axes: Axes, belief: FloatArray, share: FloatArray, holds: BoolArray, threshold: float | None) -> None:
    everyone = _weight_over(belief, np.ones(len(belief)))[1]
    lines = ((holds.astype(np.float64), "-", COLORS[1], "s", "observed"), (belief, "-", "0.45", "o", "expected by the attack"),
             (share, "--", "0.45", "o", "expected from group shares"))  # fmt: skip
    for weight, dash, color, marker, name in lines:
        places, over_place = _weight_over(belief, weight)
        heights = np.divide(over_place, everyone, out=np.full(len(over_place), np.nan), where=everyone > 0)
        _steps(axes, places, heights, color, dash, marker, name)
    if threshold is not None and (belief > threshold).any():
        _mark_threshold(axes, threshold, mean(holds[belief > threshold]), COLORS[1], "right")
    axes.set(title="Precision: holders in breach", ylabel="share of holders")


def _steps(axes: Axes, places: FloatArray, heights: FloatArray, color: str, dash: str, marker: str, label: str) -> None:
    """Draw a step curve, with markers that distinguish it in grey: hollow for dashed curves."""
    face = color if dash == "-" else "white"
    axes.plot(
        places, heights, dash, color=color, drawstyle="steps-post", label=label, marker=marker, markersize=5,
        markerfacecolor=face, markevery=MARKER_SPACING if np.isfinite(heights).any() else None,
    )  # fmt: skip


def _weight_over(belief: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Places 0, each belief and 1, and the total weight of the beliefs over each place."""
    different = np.concatenate([[0.0, 1.0], np.clip(np.round(belief, BELIEF_DECIMALS), 0, 1)])
    places, place = np.unique(different, return_inverse=True)
    of_place = np.bincount(place, np.concatenate([[0.0, 0.0], weight]))
    return places, np.concatenate([np.cumsum(of_place[::-1])[::-1][1:], [0.0]])


def _mark_threshold(axes: Axes, place: float, share: float, color: str, aligned: str) -> None:
    """Draw a threshold, and write the share there beside it."""
    axes.axvline(place, color="0.55", linewidth=1, linestyle=":")
    axes.plot([place], [share], marker="o", color=color, markersize=6)
    away = (6 if aligned == "left" else -6, 5)
    axes.annotate(f"{share:.1%}", (place, share), away, textcoords="offset points", ha=aligned, color=color, fontsize=9)


PANELS_PER_ROW = 3
WIDTH = 3.1
"""Width of a panel in inches: three fit a notebook."""
HEIGHT = 3.4
"""Height of a curve in inches."""


def reliability_plot(curves: Mapping[str, pd.DataFrame], *, ax: Panels | None = None) -> Panels:
    """Reliability plot: observed frequency against the belief, by isotonic regression, a pair of panels for each attack.

    On the diagonal, beliefs are calibrated; where the curve is below it, they are too high. The band shows the variation of the
    curve over bootstrap draws of respondents. Bars below have the number of beliefs, on a logarithmic scale.

    Parameters
    ----------
    curves : mapping of title to DataFrame
        As `reliability_curve` returns them; without the columns of a band, none is drawn.
    ax : array of Axes, shape (2, p), optional
        Where to draw; by default a new figure, with three curves in a row.

    Returns
    -------
    array of Axes, shape (2, p)
        The panels of the curves, and those of the numbers of beliefs, for the p titles of the mapping.

    Raises
    ------
    TypeError, ValueError
        If it is not such a mapping, it is empty, or a column is missing; if ``ax`` is not an array of 2p axes.

    Notes
    -----
    The picture is the CORP reliability diagram (Dimitriadis, Gneiting, Jordan 2021), as ``arviz.plot_ppc_pava`` draws it.
    """
    _check_curves(curves)
    panels = given_panels("reliability_plot", ax, (2, len(curves)))
    if panels is None:
        panels = _new_panels(len(curves))
    for number, ((upper, lower), (title, table)) in enumerate(zip(panels.T, curves.items(), strict=True)):
        color = color_and_marker(number)["color"]
        _draw_reliability(upper, table, color)
        _draw_numbers(lower, table, color)
        upper.set_title(without_mathtext(title), fontsize=10)
        upper.set_ylabel("observed frequency")
        lower.set(xlabel="belief", ylabel="beliefs")
    if ax is None:
        keep_first_labels(panels)
    return panels


def _new_panels(number: int) -> Panels:
    """Panels of a new figure, `PANELS_PER_ROW` curves in a row and the bars of each below it: shape ``(2, number)``."""
    across = min(number, PANELS_PER_ROW)
    down = -(-number // across)
    figure = new_figure(0.9 + WIDTH * max(across, HEIGHT / WIDTH), (HEIGHT + 1.2) * down + 0.3)
    figure.suptitle("Reliability of beliefs (diagonal: calibrated)", fontsize=11)
    grid = figure.subplots(2 * down, across, sharex=True, squeeze=False, height_ratios=[4, 1] * down)
    panels = np.stack([grid[::2].ravel(), grid[1::2].ravel()])
    for axes in panels[:, number:].flat:
        axes.remove()
    for axes in panels[1, :number]:
        axes.tick_params(labelbottom=True)
    return panels[:, :number]


def _draw_reliability(axes: Axes, table: pd.DataFrame, color: str) -> None:
    believed, observed = table["believed"].to_numpy(dtype=float), table["observed"].to_numpy(dtype=float)
    axes.plot([0, 1], [0, 1], color="0.45", linewidth=1, linestyle="--")
    if "observed_low" in table:
        low, high = (table[name].to_numpy(dtype=float) for name in ("observed_low", "observed_high"))
        axes.fill_between(believed, low, high, color=color, alpha=0.22, linewidth=0)
    axes.plot(believed, observed, color=color, linewidth=1.6)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
    hide_frame(axes)


def _draw_numbers(axes: Axes, table: pd.DataFrame, color: str) -> None:
    number, edges = np.histogram(
        np.clip(table["believed"], 0, 1), ROWS_AT, range=(0, 1), weights=table["beliefs"].to_numpy(dtype=float)
    )
    axes.bar((edges[1:] + edges[:-1]) / 2, number, 0.9 / ROWS_AT, color=color, alpha=0.7)
    if (number > 0).any():
        axes.set(yscale="log", ylim=(0.5, None))
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    hide_frame(axes)


def _check_curves(curves: Mapping[str, pd.DataFrame]) -> None:
    owner, takes = "reliability_plot", "is a DataFrame, as reliability_curve returns it"
    check_titled(owner, "curves", curves, pd.DataFrame, takes)
    if not curves:
        raise ValueError(
            f'{owner}: curves is empty; give at least one, as {{"mine": reliability_curve(beliefs, history)}}.'
        )
    for title, table in curves.items():
        band = ["observed_low", "observed_high"] if "observed_low" in table else []
        for column in ("believed", "observed", "beliefs", *band):
            check_table(owner, f"curves[{title!r}]", table, (column,), takes)
