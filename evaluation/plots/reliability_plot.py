"""Reliability plot: observed frequency against the belief, by isotonic regression, with bands."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from foreknow.evaluation.plots.arguments import check_table, check_titled
from foreknow.evaluation.plots.panels import Panels, given_panels, keep_first_labels, new_figure
from foreknow.evaluation.plots.style import color_and_marker, hide_frame, without_mathtext
from foreknow.evaluation.risk.reliability_curve import ROWS_AT

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
        _draw_curve(upper, table, color)
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


def _draw_curve(axes: Axes, table: pd.DataFrame, color: str) -> None:
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
