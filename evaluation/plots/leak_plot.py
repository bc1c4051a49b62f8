"""Leak plot: what is believed of each release going forward and in hindsight, and the difference."""

from numbers import Integral

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from foreknow.evaluation.plots.arguments import check_table, check_text
from foreknow.evaluation.plots.panels import Panels, given_panels, new_figure
from foreknow.evaluation.plots.style import COLORS, hide_frame, legend, without_mathtext
from foreknow.evaluation.plots.time_axis import with_gaps
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind

FORWARD = {"color": COLORS[0], "marker": "o", "markersize": 5, "linewidth": 1.8}
LEAK = {"color": COLORS[2], "marker": "^", "markersize": 5, "linewidth": 1.8}
HINDSIGHT = {"color": COLORS[1], "marker": "s", "markersize": 5, "linewidth": 1.8}
NUMBERS = ("log_score_forward", "log_score_hindsight", "leak", "sure_forward", "sure_hindsight")


def leak_plot(table: pd.DataFrame, time: str = "release", *, ax: Panels | None = None) -> Panels:
    """Log score and share of sure beliefs of each release, forward and in hindsight; the area between is the retroactive leak.

    There are three panels: mean log2 of the belief in the true value; share of respondents with a sure belief; the leak, their
    difference in log score. A line is broken where a time is missing.

    Parameters
    ----------
    table : DataFrame
        As `retroactive_leak` returns it.
    time : str
        Label of the horizontal axis.
    ax : array of Axes, shape (3,), optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of Axes, shape (3,)
        The panels of the log score, the sure beliefs and the leak.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, the label is not text, or ``ax`` has other elements than Axes.
    ValueError
        If a column is missing or not numeric, or a time is repeated; if ``ax`` has not three axes.
    """
    takes = "is a DataFrame, as retroactive_leak returns it"
    check_text("leak_plot", time=time)
    check_kind("leak_plot", "table", table, pd.DataFrame, takes)
    for column in NUMBERS:
        check_table("leak_plot", "table", table, ("time", column), takes)
    if table["time"].duplicated().any():
        raise ValueError("leak_plot: a time of the table is repeated; plot the releases of one history.")
    panels = given_panels("leak_plot", ax, (3,))
    if panels is None:
        figure = new_figure(11.4, 3.9)
        figure.suptitle("Beliefs about each release, before and after later releases", fontsize=11)
        panels = figure.subplots(1, 3)
    for axes, measure in zip(panels, ("log_score", "sure"), strict=False):
        _draw_area(axes, table, f"{measure}_forward", f"{measure}_hindsight")
    panels[2].axhline(0, color="black", linewidth=0.6)
    panels[2].plot(*_points(table, "leak"), **LEAK)
    panels[0].set(ylabel="bits (0: certain and right)", title="Log score")
    panels[1].set(ylabel="share of respondents", title="Respondents with a sure belief")
    panels[1].yaxis.set_major_formatter(PercentFormatter(1))
    panels[1].set_ylim(bottom=0)
    panels[2].set(ylabel="bits", title="Retroactive leak")
    for axes in panels:
        hide_frame(axes, "y", "0.9")
        axes.set_xlabel(without_mathtext(time))
        if len(table) and all(isinstance(each, Integral) for each in table["time"]):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(panels[2], [("forward", FORWARD), ("in hindsight", HINDSIGHT), ("difference", LEAK)])
    return panels


def _draw_area(axes: Axes, table: pd.DataFrame, forward: str, hindsight: str) -> None:
    times, before = _points(table, forward)
    after = _points(table, hindsight)[1]
    if len(times):
        axes.fill_between(times, before, after, color=COLORS[1], alpha=0.2, linewidth=0)  # type: ignore[arg-type]
    axes.plot(times, before, **FORWARD)  # type: ignore[arg-type]
    axes.plot(times, after, **HINDSIGHT)  # type: ignore[arg-type]


def _points(table: pd.DataFrame, column: str) -> tuple[list[object], FloatArray]:
    """Points of a line, with NaN where it is broken."""
    times, heights = with_gaps(table["time"].tolist(), table[column].to_numpy(dtype=float))
    return [without_mathtext(each) if isinstance(each, str) else each for each in times], heights
