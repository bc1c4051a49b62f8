"""The R-U confidentiality map: what publications give away, against what they cost."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from foreknow.evaluation.plots.belief_plots import COLORS, MARKERS, legend, without_mathtext
from foreknow.models.tables.required_columns import check_columns

WORDS = {
    "gain": "gain of the adversary",
    "total_risk": "total risk: gain, groups of one value as disclosed",
    "linkage": "record linkage, mean probability",
    "success": "share of values guessed right",
    "confidence": "mean belief in the true value",
    "gcp": "certainty penalty of a published record (gcp)",
    "penalized": "certainty penalty, suppressed records in full",
    "query": "median relative error of counting queries",
    "discernibility_per_record": "discernibility, per record",
    "suppressed_share": "share of the records suppressed",
}
"""What the columns of `Comparison.summary` are called on the axes."""

NEAR = 0.06
"""Ends of curves lie close together within this share of the axes."""


def risk_utility_map(
    table: pd.DataFrame,
    risk: str = "gain",
    cost: str = "gcp",
    along: str | None = None,
    curve: str = "defense",
    panel: str | None = None,
) -> Figure:
    """A map of risk against cost: a curve per defense through what it makes of each value of a parameter.

    Its lower left corner is where one wants to be. Points of a defense are joined in the rising order of the parameter, whose
    first and last value are written at the ends; a point where the risk or the cost is missing is left out. A cost that leaves
    out suppressed records, as ``gcp`` does, flatters who suppresses many: ``discernibility_per_record`` and ``query`` do not.

    Parameters
    ----------
    table : DataFrame
        One row per point, as rows of `Comparison.summary` with a column for the parameter.
    risk, cost : str
        The columns shown, upwards and to the right.
    along : str, optional
        The column of the parameter. Left out, a defense is one point.
    curve : str
        The column that says which curve a point is of.
    panel : str, optional
        A column with a panel for each of its values, as ``"attack"``; the panels share their axes.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a column is missing, or two rows are the same point of a curve.

    Notes
    -----
    G. Duncan, S. Keller-McNulty, S. L. Stokes, Disclosure risk vs. data utility: the R-U confidentiality map (2001); the map of
    BayFrame (Figures 3, 7 to 9) and UHRA (Figures 1 to 3) has ``record_linkage`` against ``gcp``.

    Examples
    --------
    >>> points = pd.DataFrame({"defense": ["halved"] * 3, "k": [2, 4, 8], "gain": [0.3, 0.2, 0.1], "gcp": [0.1, 0.2, 0.4]})
    >>> risk_utility_map(points, along="k").axes[0].get_xlabel()
    'cost: certainty penalty of a published record (gcp)'
    """
    names = [name for name in (curve, along, panel) if name is not None]
    check_columns(table, [*names, risk, cost])
    _check_points(table, names)
    curves = list(table[curve].unique())
    panels: Sequence[Any] = [None] if panel is None else list(table[panel].unique())
    figure = Figure(figsize=(2.9 + 4.6 * len(panels), 4.8), layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, shown in zip(all_axes, panels, strict=True):
        rows = table if panel is None else table[table[panel] == shown]
        ends = [
            end
            for d, name in enumerate(curves)
            for end in _curve(axes, rows[rows[curve] == name], risk, cost, along, d)
        ]
        _write(axes, ends)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.92")
        axes.set_axisbelow(True)
        axes.margins(0.12)
        title = "" if panel is None else without_mathtext(f"{panel}: {shown}")
        axes.set(xlabel=without_mathtext(f"cost: {WORDS.get(cost, cost)}"), title=title)
    all_axes[0].set_ylabel(without_mathtext(f"risk: {WORDS.get(risk, risk)}"))
    figure.suptitle("What is given away, against what it costs: down and left is better", fontsize=11)
    legend(all_axes[-1], [(str(name), _style(d, along is not None)) for d, name in enumerate(curves)])
    return figure


class _End(NamedTuple):
    """The end of a curve, with its label, the label's side and its colour."""

    x: float
    y: float
    text: str
    right: int
    up: int
    color: str


def _curve(axes: Axes, rows: pd.DataFrame, risk: str, cost: str, along: str | None, d: int) -> list[_End]:
    """Draw a curve, and say what is to be written at its ends."""
    rows = rows.dropna(subset=[risk, cost])
    if along is not None:
        rows = rows.sort_values(along, kind="stable")
    x, y = rows[cost].to_numpy(dtype=float), rows[risk].to_numpy(dtype=float)
    axes.plot(x, y, **_style(d, along is not None))
    if along is None:
        return []
    values = rows[along].tolist()
    places = {len(x) - 1: _text(values[-1])} if len(x) > 1 else {}
    if len(x):
        places[0] = f"{along}={_text(values[0])}"
    return [
        _End(x[i], y[i], text, 1 if x[i] >= x.mean() else -1, 1 if y[i] >= y.mean() else -1, COLORS[d % len(COLORS)])
        for i, text in places.items()
    ]


def _write(axes: Axes, ends: list[_End]) -> None:
    """Write at the ends, away from the curves; the same words once where several ends lie close together."""
    width, height = np.diff(axes.get_xlim())[0], np.diff(axes.get_ylim())[0]
    written: list[_End] = []
    for end in ends:
        if any(
            end.text == other.text and abs(end.x - other.x) < NEAR * width and abs(end.y - other.y) < NEAR * height
            for other in written
        ):
            continue
        written.append(end)
        axes.annotate(
            without_mathtext(end.text), (end.x, end.y), (7 * end.right, 7 * end.up), textcoords="offset points", fontsize=8,
            color=end.color, ha="left" if end.right > 0 else "right", va="bottom" if end.up > 0 else "top",
        )  # fmt: skip


def _style(d: int, joined: bool) -> dict[str, Any]:
    return {
        "color": COLORS[d % len(COLORS)],
        "marker": MARKERS[d % len(MARKERS)],
        "linestyle": "-" if joined else "",
        "markersize": 5 if joined else 8,
        "linewidth": 1.6,
    }


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_points(table: pd.DataFrame, names: list[str]) -> None:
    twice = table[table.duplicated(names)]
    if len(twice):
        where = ", ".join(f"{name} {value!r}" for name, value in twice[names].iloc[0].items())
        raise ValueError(
            f"two rows of the table are the point of {where}; a map has one point for each. Take their mean, or name the column "
            "in which they differ as along or panel."
        )
