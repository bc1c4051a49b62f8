"""R-U confidentiality map: disclosure risk of publications against their information loss."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from foreknow.evaluation.plots.arguments import check_table, check_text
from foreknow.evaluation.plots.end_labels import LabelPlacement
from foreknow.evaluation.plots.style import COLORS, color_and_marker, hide_frame, legend, without_mathtext
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns.required_columns import check_columns

AXIS_LABELS = {
    "gain": "gain of the adversary",
    "total_risk": "total risk: gain, 1 for groups of one value",
    "linkage": "record linkage, mean probability",
    "success": "share of true values that are the most probable",
    "confidence": "mean belief in the true value",
    "gcp": "certainty penalty of a published record (gcp)",
    "penalized": "certainty penalty, 1 for a suppressed record",
    "query": "median relative error of counting queries",
    "discernibility_per_record": "discernibility, per record",
    "suppressed_share": "share of the records suppressed",
}
"""Labels of the columns of `Comparison.summary` on the axes."""


def risk_utility_map(
    table: pd.DataFrame,
    risk: str = "gain",
    cost: str = "gcp",
    along: str | None = None,
    curve: str = "defense",
    panel: str | None = None,
) -> Figure:
    """Map of disclosure risk against information loss: one curve per defense, through the values of a parameter.

    The lower left corner is best. Points of a defense are joined in increasing order of the parameter, whose first and last
    values are written at the ends; a label in grey belongs to several curves. Labels are placed when the figure is drawn. A point
    without a risk or a cost is left out. A cost that ignores suppressed records, such as ``gcp``, favours defenses that suppress
    many; ``discernibility_per_record`` and ``query`` do not.

    Parameters
    ----------
    table : DataFrame
        One row per point, such as rows of `Comparison.summary` with a column for the parameter.
    risk, cost : str
        Numeric columns of the vertical and the horizontal axis.
    along : str, optional
        Column of the parameter. Without it, a defense is one point.
    curve : str
        Column that identifies the curve of a point.
    panel : str, optional
        Column with one panel per value, such as ``"attack"``. Panels share their axes.

    Returns
    -------
    Figure

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or a name of a column is not text.
    ValueError
        If a column is missing or not numeric, or two rows are the same point of a curve.

    Notes
    -----
    G. Duncan, S. Keller-McNulty, S. L. Stokes, Disclosure risk vs. data utility: the R-U confidentiality map (2001); the map of
    BayFrame (Figures 3, 7 to 9) and UHRA (Figures 1 to 3) has ``record_linkage`` against ``gcp``.

    Examples
    --------
    >>> points = pd.DataFrame({"defense": ["Mondrian"] * 3, "k": [2, 4, 8], "gain": [0.3, 0.2, 0.1], "gcp": [0.1, 0.2, 0.4]})
    >>> risk_utility_map(points, along="k").axes[0].get_xlabel()
    'cost: certainty penalty of a published record (gcp)'
    """
    roles: dict[str, Any] = {"curve": curve, "along": along, "panel": panel}
    named = {role: name for role, name in roles.items() if name is not None or role == "curve"}
    names = list(named.values())
    check_kind("risk_utility_map", "table", table, pd.DataFrame, "is a DataFrame, such as Comparison.summary()")
    check_text("risk_utility_map", risk=risk, cost=cost, **named)
    check_columns(table, [*names, risk, cost])
    for name in (risk, cost):
        check_table("risk_utility_map", "table", table, (name,), "is a DataFrame")
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
            for end in _draw_curve(axes, rows[rows[curve] == name], risk, cost, along, d)
        ]
        _write_labels(axes, ends)
        hide_frame(axes)
        axes.margins(0.12)
        title = "" if panel is None else without_mathtext(f"{panel}: {shown}")
        axes.set(xlabel=without_mathtext(f"cost: {AXIS_LABELS.get(cost, cost)}"), title=title)
    all_axes[0].set_ylabel(without_mathtext(f"risk: {AXIS_LABELS.get(risk, risk)}"))
    figure.suptitle("Disclosure risk against information loss (lower left is better)", fontsize=11)
    legend(all_axes[-1], [(str(name), _style(d, along is not None)) for d, name in enumerate(curves)])
    return figure


class _End(NamedTuple):
    """Label at the end of a curve: place, text, direction away from the curve, and colour."""

    x: float
    y: float
    text: str
    right: int
    up: int
    color: str


def _draw_curve(axes: Axes, rows: pd.DataFrame, risk: str, cost: str, along: str | None, d: int) -> list[_End]:
    """Draw a curve, and return the labels of its ends."""
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


def _write_labels(axes: Axes, ends: list[_End]) -> None:
    """Write the labels at the ends of the curves."""
    labels = [
        axes.annotate(
            without_mathtext(end.text), (end.x, end.y), (end.right, end.up), textcoords="offset points", fontsize=8,
            color=end.color,
        )
        for end in ends
    ]  # fmt: skip
    axes.add_artist(LabelPlacement(labels))


def _style(d: int, joined: bool) -> dict[str, Any]:
    return {"linestyle": "-" if joined else "", "linewidth": 1.6, **color_and_marker(d, size=5 if joined else 8)}


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_points(table: pd.DataFrame, names: list[str]) -> None:
    repeated = table[table.duplicated(names)]
    if len(repeated):
        where = ", ".join(f"{name} {value!r}" for name, value in repeated[names].iloc[0].items())
        raise ValueError(
            f"two rows of the table are the point of {where}; a map has one point for each. Take their mean, or name the column "
            "in which they differ as along or panel."
        )
