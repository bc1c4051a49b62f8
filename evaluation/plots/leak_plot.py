"""Leak plot: what is believed of each release going forward and in hindsight, and the difference."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from foreknow.evaluation.plots.arguments import check_table, check_text
from foreknow.evaluation.plots.style import COLORS, hide_frame, legend, without_mathtext
from foreknow.evaluation.plots.time_axis import with_gaps
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind

FORWARD = {"color": COLORS[0], "marker": "o", "markersize": 5, "linewidth": 1.8}
HINDSIGHT = {"color": COLORS[1], "marker": "s", "markersize": 5, "linewidth": 1.8}
NUMBERS = ("log_score_forward", "log_score_hindsight", "leak", "sure_forward", "sure_hindsight")


def leak_plot(table: pd.DataFrame, time: str = "release") -> Figure:
    """Log score and share of sure beliefs of each release, forward and in hindsight; the area between is the retroactive leak.

    Left: mean log2 of the belief in the true value, with the leak written in the area. Right: share of respondents with a sure
    belief. A line is broken where a time is missing.

    Parameters
    ----------
    table : DataFrame
        As `retroactive_leak` returns it.
    time : str
        Label of the horizontal axis.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or the label is not text.
    ValueError
        If a column is missing or not numeric, or a time is repeated.
    """
    takes = "is a DataFrame, as retroactive_leak returns it"
    check_text("leak_plot", time=time)
    check_kind("leak_plot", "table", table, pd.DataFrame, takes)
    for column in NUMBERS:
        check_table("leak_plot", "table", table, ("time", column), takes)
    if table["time"].duplicated().any():
        raise ValueError("leak_plot: a time of the table is repeated; plot the releases of one history.")
    figure = Figure(figsize=(10.4, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, measure in ((left, "log_score"), (right, "sure")):
        _draw_area(axes, table, f"{measure}_forward", f"{measure}_hindsight")
        axes.set_xlabel(without_mathtext(time))
    left.set(ylabel="log score, bits (0: certain and right)", title=_left_title(table))
    right.set(ylabel="share of respondents", title="Respondents with a sure belief")
    right.yaxis.set_major_formatter(PercentFormatter(1, decimals=_decimals(table)))
    right.set_ylim(bottom=0)
    area = {"color": COLORS[1], "alpha": 0.2, "linewidth": 8}
    legend(right, [("forward", FORWARD), ("in hindsight", HINDSIGHT), ("retroactive leak", area)])
    figure.suptitle("Beliefs about each release, before and after later releases", fontsize=11)
    return figure


def _draw_area(axes: Axes, table: pd.DataFrame, forward: str, hindsight: str) -> None:
    times, before = _points(table, forward)
    after = _points(table, hindsight)[1]
    if len(times):
        axes.fill_between(times, before, after, color=COLORS[1], alpha=0.2, linewidth=0)  # type: ignore[arg-type]
    axes.plot(times, before, **FORWARD)  # type: ignore[arg-type]
    axes.plot(times, after, **HINDSIGHT)  # type: ignore[arg-type]
    hide_frame(axes, "y", "0.9")


def _points(table: pd.DataFrame, column: str) -> tuple[list[object], FloatArray]:
    """Points of a line, with NaN where it is broken."""
    times, heights = with_gaps(table["time"].tolist(), table[column].to_numpy(dtype=float))
    return [without_mathtext(each) if isinstance(each, str) else each for each in times], heights


def _left_title(table: pd.DataFrame) -> str:
    leak = table["leak"].to_numpy(dtype=float)
    if not np.isfinite(leak).any():
        return "Log score"
    largest = int(np.nanargmax(leak))
    return without_mathtext(f"Log score (largest leak: {leak[largest]:.2f} bits, at {table['time'].iloc[largest]})")


def _decimals(table: pd.DataFrame) -> int:
    """Number of decimals of percentages: one where the largest share is small."""
    shares = table[["sure_forward", "sure_hindsight"]].to_numpy(dtype=float)
    return 0 if (shares >= 0.05).any() else 1
