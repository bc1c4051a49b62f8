"""Reliability plot: observed frequency against the belief, by isotonic regression, with bands."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from foreknow.evaluation.plots.arguments import check_table, check_titled
from foreknow.evaluation.plots.style import color_and_marker, hide_frame, without_mathtext
from foreknow.evaluation.risk.reliability_curve import ROWS_AT

PANELS_PER_ROW = 3
WIDTH = 3.1
"""Width of a panel in inches: three fit a notebook."""
HEIGHT = 3.4
"""Height of a curve in inches."""


def reliability_plot(curves: Mapping[str, pd.DataFrame]) -> Figure:
    """Reliability plot: observed frequency against the belief, by isotonic regression, one panel for each attack.

    On the diagonal, beliefs are calibrated; where the curve is below it, they are too high. The band shows the variation of the
    curve over bootstrap draws of respondents. Bars at the bottom have the number of beliefs, on a logarithmic scale.

    Parameters
    ----------
    curves : mapping of title to DataFrame
        As `reliability_curve` returns them; without the columns of a band, none is drawn.

    Raises
    ------
    TypeError, ValueError
        If it is not such a mapping, it is empty, or a column is missing.

    Notes
    -----
    The picture is the CORP reliability diagram (Dimitriadis, Gneiting, Jordan 2021), as ``arviz.plot_ppc_pava`` draws it.
    """
    _check_curves(curves)
    across = min(len(curves), PANELS_PER_ROW)
    down = -(-len(curves) // across)
    figure = Figure(
        figsize=(0.9 + WIDTH * max(across, HEIGHT / WIDTH), (HEIGHT + 1.2) * down + 0.3), layout="constrained"
    )
    panels = figure.subplots(2 * down, across, sharex=True, squeeze=False, height_ratios=[4, 1] * down)
    for number, (title, table) in enumerate(curves.items()):
        row, column = divmod(number, across)
        upper, lower = panels[2 * row, column], panels[2 * row + 1, column]
        color = color_and_marker(number)["color"]
        _draw_curve(upper, table, color)
        _draw_numbers(lower, table, color)
        upper.set_title(without_mathtext(title), fontsize=10)
        upper.set_ylabel("observed frequency" if column == 0 else "")
        lower.set_ylabel("beliefs" if column == 0 else "")
        lower.set_xlabel("belief")
        lower.tick_params(labelbottom=True)
    for number in range(len(curves), down * across):
        row, column = divmod(number, across)
        panels[2 * row, column].remove()
        panels[2 * row + 1, column].remove()
    figure.suptitle("Reliability of beliefs (diagonal: calibrated)", fontsize=11)
    return figure


def _draw_curve(axes: Axes, table: pd.DataFrame, color: str) -> None:
    believed, observed = table["believed"].to_numpy(dtype=float), table["observed"].to_numpy(dtype=float)
    axes.plot([0, 1], [0, 1], color="0.45", linewidth=1, linestyle="--")
    if "observed_low" in table:
        low, high = (table[name].to_numpy(dtype=float) for name in ("observed_low", "observed_high"))
        axes.fill_between(believed, low, high, color=color, alpha=0.22, linewidth=0)
    axes.plot(believed, observed, color=color, linewidth=1.6)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    hide_frame(axes)


def _draw_numbers(axes: Axes, table: pd.DataFrame, color: str) -> None:
    number, edges = np.histogram(
        np.clip(table["believed"], 0, 1), ROWS_AT, range=(0, 1), weights=table["beliefs"].to_numpy(dtype=float)
    )
    axes.bar((edges[1:] + edges[:-1]) / 2, number, 0.9 / ROWS_AT, color=color, alpha=0.7)
    if (number > 0).any():
        axes.set(yscale="log", ylim=(0.5, None))
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
