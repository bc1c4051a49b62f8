"""Plot of a measure of risk over time."""

from collections.abc import Mapping
from typing import Any, Literal, overload

import pandas as pd
from matplotlib.axes import Axes

from foreknow.evaluation.plots.arguments import check_table, check_text
from foreknow.evaluation.plots.panels import Panels, one_panel, row_of_panels
from foreknow.evaluation.plots.style import FILLS, LINES, color_and_marker, hide_frame, legend, without_mathtext
from foreknow.evaluation.plots.time_axis import in_order, with_gaps
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_choice, check_kind


@overload
def gain_over_time(
    risk: pd.DataFrame, time: str = ..., measure: str = ..., *, panel: None = None, ax: Axes | None = None
) -> Axes: ...


@overload
def gain_over_time(
    risk: pd.DataFrame,
    time: str = ...,
    measure: str = ...,
    *,
    panel: Literal["attack", "defense"],
    ax: Panels | None = None,
) -> Panels: ...


def gain_over_time(
    risk: pd.DataFrame,
    time: str = "release",
    measure: str = "gain",
    *,
    panel: Literal["attack", "defense"] | None = None,
    ax: Axes | Panels | None = None,
) -> Axes | Panels:
    """Measure of risk at each release: one line for each defense and attack.

    Colour and marker denote the defense; dash and fill of the marker denote the attack. If all lines of a panel are of one defense,
    colour and marker denote the attack. A line is broken where a time is missing: a release without this measure, or a number or
    date that is left out.

    Parameters
    ----------
    risk : DataFrame
        As `Comparison.risk` returns it: columns ``defense``, ``attack``, ``time`` and the measure.
    time : str
        Label of the horizontal axis.
    measure : str
        Name of the column to plot.
    panel : {"attack", "defense"}, optional
        Draw one panel for each attack or defense; by default all lines are in one.
    ax : Axes, or array of Axes, shape (p,), optional
        Where to draw, on p axes for the p values of ``panel``; by default a new figure.

    Returns
    -------
    Axes, or array of Axes, shape (p,)
        One Axes without ``panel``; otherwise one for each of its values, in the order of the table.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, a label is not text, or ``ax`` is not Axes.
    ValueError
        If a column is missing, as in the table of one attack; if the measure is not numeric; if two rows are of one defense,
        attack and time; if one panel has several defenses and more than three attacks; if ``ax`` has another number of panels.
    """
    _check_risk(risk, time, measure, panel)
    defenses, attacks = list(risk["defense"].unique()), list(risk["attack"].unique())
    styles = _line_styles(defenses, attacks, panel)
    every = in_order(risk["time"].unique().tolist())
    entries = _line_legend(defenses, attacks, styles, panel)
    only = f"\ndefense: {defenses[0]}" if len(defenses) == 1 and panel != "defense" else ""
    title = without_mathtext(f"Adversary's {measure} at each release{only}")
    if panel is None:
        axes = one_panel("gain_over_time", ax, 8.0, 4.8)
        _draw_lines(axes, risk, time, measure, styles, title, every)
        legend(axes, entries)
        return axes

    def draw(axes: Axes, name: Any) -> None:
        of_panel = without_mathtext(f"{panel}: {name}")
        _draw_lines(axes, risk[risk[panel] == name], time, measure, styles, of_panel, every)

    shown = list(risk[panel].unique())
    size = (2.4 + 5.6 * len(shown) ** 0.75, 4.8)
    panels = row_of_panels("gain_over_time", ax, shown, draw, size=size, title=title)
    legend(panels[-1], entries)
    return panels


def _draw_lines(
    axes: Axes,
    risk: pd.DataFrame,
    time: str,
    measure: str,
    styles: Mapping[tuple[Any, Any], dict[str, Any]],
    title: str,
    every: list[Any],
) -> None:
    """Draw the line of each defense and attack, at all times of a table."""
    hide_frame(axes, "y", "0.9")
    for (defense, attack), style in styles.items():
        rows = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
        if len(rows):
            axes.plot(*_points(rows, every, measure), linewidth=1.8, **style)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set(xlabel=without_mathtext(time), ylabel=without_mathtext(f"adversary's {measure}"), title=title)


def _line_styles(defenses: list[Any], attacks: list[Any], panel: str | None) -> dict[tuple[Any, Any], dict[str, Any]]:
    """Style of the line of each defense and attack."""
    by_attack = panel == "defense" or (panel is None and len(defenses) == 1)
    styles = {}
    for d, defense in enumerate(defenses):
        for a, attack in enumerate(attacks):
            second = a if panel is None and not by_attack else 0
            styles[defense, attack] = {
                "linestyle": LINES[second], "fillstyle": FILLS[second], "markerfacecoloralt": "white",
                **color_and_marker(a if by_attack else d),
            }  # fmt: skip
    return styles


def _line_legend(
    defenses: list[Any], attacks: list[Any], styles: dict[tuple[Any, Any], dict[str, Any]], panel: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """Entries of the legend: what the colours denote and, if one panel has several defenses, attacks by dash."""
    if panel == "defense" or (panel is None and len(defenses) == 1):
        return [(str(attack), {"linewidth": 1.8, **styles[defenses[0], attack]}) for attack in attacks]
    entries = [(str(defense), {"linewidth": 1.8, **styles[defense, attacks[0]]}) for defense in defenses]
    if panel is not None:
        return entries
    black = {"color": "black", "marker": "o", "markersize": 5}
    return entries + [(str(attack), {**styles[defenses[0], attack], **black}) for attack in attacks]


def _points(rows: pd.DataFrame, every: list[Any], measure: str) -> tuple[list[Any], FloatArray]:
    """Points of a line at all times of the table, with NaN where the line is broken."""
    heights = rows.set_index("time")[measure].reindex(every).to_numpy(dtype=float)
    shown, broken = with_gaps(every, heights)
    return [without_mathtext(time) if isinstance(time, str) else time for time in shown], broken


def _check_risk(risk: pd.DataFrame, time: str, measure: str, panel: str | None) -> None:
    check_text("gain_over_time", time=time, measure=measure)
    check_kind("gain_over_time", "risk", risk, pd.DataFrame, "is a DataFrame, as Comparison.risk returns it")
    for name in ("defense", "attack", "time", measure):
        if name not in risk.columns:
            raise ValueError(
                f"gain_over_time: the table has no column {name!r}; it has {', '.join(map(repr, risk.columns))}. Give the table of "
                'Comparison.risk, or add the columns, as table.assign(defense="JS-reduce", attack="snapshot").'
            )
    check_table("gain_over_time", "risk", risk, ("defense", "attack", "time", measure), "is a DataFrame")
    names = ["defense", "attack", "time"]
    repeated = risk[risk.duplicated(names)]
    if len(repeated):
        where = ", ".join(f"{name} {value!r}" for name, value in repeated[names].iloc[0].items())
        raise ValueError(f"gain_over_time: two rows of the table are of {where}; take their mean, or plot them apart.")
    if panel is not None:
        check_choice("gain_over_time", "panel", panel, ("attack", "defense"))
    elif len(risk["defense"].unique()) > 1 and (attacks := len(risk["attack"].unique())) > len(LINES):
        raise ValueError(
            f"gain_over_time: the table has several defenses and {attacks} attacks, and one panel tells {len(LINES)} attacks "
            'apart; give panel="attack", or the rows of fewer attacks.'
        )
