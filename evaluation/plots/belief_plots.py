"""Plots of beliefs over time. Each function returns a Matplotlib figure, and neither shows nor writes it.

A notebook shows such a figure if it is the last value of a cell, after ``%matplotlib inline``.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from foreknow.evaluation.plots.arguments import as_titled, check_table, check_text
from foreknow.evaluation.plots.belief_intervals import SPREADS, source_of, spread_of
from foreknow.evaluation.plots.style import (
    COLORS,
    FILLS,
    LINES,
    color_and_marker,
    hide_frame,
    legend,
    without_mathtext,
)
from foreknow.evaluation.plots.time_axis import TimeAxis, time_axis, with_gaps
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind

__all__ = ["COLORS", "belief_over_time", "gain_over_time"]

MAX_LINES = 12
"""Number of lines of one panel above which each attack has a panel of its own."""

MIN_WRITTEN_PROBABILITY = 0.005
"""Probability below which a cell of the heat map has no number."""

PANELS_PER_ROW = 4


def gain_over_time(risk: pd.DataFrame, time: str = "release", measure: str = "gain") -> Figure:
    """Measure of risk at each release: one line for each defense and attack.

    Colour and marker denote the defense; dash and fill of the marker denote the attack. If there is one defense, colour and marker
    denote the attack. If there are several defenses and more than three attacks, or more than 12 lines, each attack has a panel. A
    line is broken where a time is missing: a release without this measure, or a number or date that is left out.

    Parameters
    ----------
    risk : DataFrame
        As `Comparison.risk` returns it: columns ``defense``, ``attack``, ``time`` and the measure.
    time : str
        Label of the horizontal axis.
    measure : str
        Name of the column to plot.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or a label is not text.
    ValueError
        If a column is missing, as in the table of one attack; if the measure is not numeric; if two rows are of one defense,
        attack and time.
    """
    _check_risk(risk, time, measure)
    defenses, attacks = list(risk["defense"].unique()), list(risk["attack"].unique())
    is_split = (len(defenses) > 1 and len(attacks) > len(LINES)) or len(defenses) * len(attacks) > MAX_LINES
    shown = [[attack] for attack in attacks] if is_split and len(defenses) > 1 else [attacks]
    figure = Figure(figsize=(2.4 + 5.6 * len(shown) ** 0.75, 4.8), layout="constrained")
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    styles = _line_styles(defenses, attacks, len(shown) > 1)
    for axes, here in zip(panels, shown, strict=True):
        hide_frame(axes, "y", "0.9")
        for defense in defenses:
            for attack in here:
                rows = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
                axes.plot(*_points(rows, risk["time"], measure), linewidth=1.8, **styles[defense, attack])
        axes.axhline(0, color="black", linewidth=0.6)
        axes.set(xlabel=without_mathtext(time), title=without_mathtext(f"attack: {here[0]}" if len(shown) > 1 else ""))
    panels[0].set_ylabel(without_mathtext(f"adversary's {measure}"))
    only = f"\ndefense: {defenses[0]}" if len(defenses) == 1 else ""
    figure.suptitle(without_mathtext(f"Adversary's {measure} at each release{only}"))
    legend(panels[-1], _line_legend(defenses, attacks, styles, len(shown) > 1))
    return figure


def belief_over_time(
    beliefs: Beliefs | Mapping[str, Beliefs],
    history: History | None = None,
    respondent: Hashable | None = None,
    time: str = "release",
) -> Figure:
    """Posterior beliefs about one respondent after each release: one panel for each publication, true values framed.

    Columns run from the first to the last release with a record of the respondent. A hatched column has no record, or stands for
    missing times. If the record was suppressed, the belief is the revised prior. Where beliefs have draws (`Averaged`), a second
    number in a cell is the standard deviation between draws; where an estimator samples, it is the Monte Carlo standard error.

    Parameters
    ----------
    beliefs : Beliefs, or mapping of title to Beliefs
        Beliefs of an attack on one publication, or on each.
    history : History
        The original records, for the true values.
    respondent : hashable
        The respondent.
    time : str
        Label of the horizontal axis.

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, or the history or the respondent is left out.
    ValueError
        If there are no beliefs, or the respondent is in no release or not in a view of a release's time.
    """
    titled = as_titled("belief_over_time", beliefs)
    _check_belief_arguments(history, respondent, time)
    assert isinstance(history, History)
    tables = {title: _posteriors(title, belief, respondent) for title, belief in titled.items()}
    axis = _common_axis(list(titled.values()), tables)
    truth = _true_codes(history, respondent, axis)
    values = history.schema.values
    across = min(len(tables), PANELS_PER_ROW)
    down = -(-len(tables) // across)
    spreads = {title: _spreads(belief, respondent) for title, belief in titled.items()}
    step = 0.45 if any(map(len, spreads.values())) else 0.32
    width, height = max(3.2, 0.45 * len(axis.labels)) + 0.3, max(3.4, step * len(values)) + 0.4
    figure = Figure(figsize=(1.5 + width * across, height * down + 0.6), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for axes in panels[len(tables) :]:
        axes.remove()
    panels = panels[: len(tables)]
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        image = _heat_map(axes, table, axis, truth, spreads[title])
        axes.set_yticks(range(len(values)), [without_mathtext(value) for value in values])
        axes.set(xlabel=without_mathtext(time), title=without_mathtext(title))
    figure.colorbar(image, ax=list(panels), aspect=20 * down, label="belief after the release")
    is_hatched = any(len(table) < len(axis.labels) for table in tables.values())
    hatched = "; hatched: no record" if is_hatched else ""
    meaning = ", or ".join(_spread_meanings(list(titled.values())))
    second = f"\n±: {meaning}" if meaning else ""
    figure.suptitle(
        without_mathtext(f"Beliefs about respondent {respondent} (framed: the true value{hatched}){second}")
    )
    return figure


def _line_styles(defenses: list[Any], attacks: list[Any], is_split: bool) -> dict[tuple[Any, Any], dict[str, Any]]:
    """Style of the line of each defense and attack."""
    styles = {}
    for d, defense in enumerate(defenses):
        for a, attack in enumerate(attacks):
            series = a if len(defenses) == 1 else d
            second = 0 if is_split or len(defenses) == 1 else a
            styles[defense, attack] = {
                "linestyle": LINES[second], "fillstyle": FILLS[second], "markerfacecoloralt": "white", **color_and_marker(series)
            }  # fmt: skip
    return styles


def _line_legend(
    defenses: list[Any], attacks: list[Any], styles: dict[tuple[Any, Any], dict[str, Any]], is_split: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Entries of the legend: attacks if there is one defense, otherwise defenses and, in a common panel, attacks."""
    if len(defenses) == 1:
        return [(str(attack), {"linewidth": 1.8, **styles[defenses[0], attack]}) for attack in attacks]
    entries = [(str(defense), {"linewidth": 1.8, **styles[defense, attacks[0]]}) for defense in defenses]
    if is_split:
        return entries
    black = {"color": "black", "marker": "o", "markersize": 5}
    return entries + [(str(attack), {**styles[defenses[0], attack], **black}) for attack in attacks]


def _points(rows: pd.DataFrame, times: "pd.Series[Any]", measure: str) -> tuple[list[Any], FloatArray]:
    """Points of a line at all times of the table, with NaN where the line is broken."""
    every = _in_order(times.unique().tolist())
    heights = rows.set_index("time")[measure].reindex(every).to_numpy(dtype=float)
    if rows["time"].nunique() == 0:
        return [], np.zeros(0)
    shown, broken = with_gaps(every, heights)
    return [without_mathtext(time) if isinstance(time, str) else time for time in shown], broken


def _in_order(times: list[Any]) -> list[Any]:
    try:
        return sorted(times)
    except TypeError:
        return times


def _posteriors(title: str, beliefs: Beliefs, respondent: Hashable) -> pd.DataFrame:
    """Posteriors of a respondent: one row for each release with a record."""
    try:
        evolution = beliefs.of(respondent)
    except KeyError as error:
        raise ValueError(f"belief_over_time: {f'beliefs[{title!r}]: ' if title else ''}{error.args[0]}") from None
    is_posterior = evolution.index.get_level_values("stage") == "posterior"
    return evolution[is_posterior].droplevel("stage")


def _spreads(beliefs: Beliefs, respondent: Hashable) -> dict[Any, FloatArray]:
    """Uncertainty of the beliefs about a respondent by time, where there is any: float array, shape ``(m,)``."""
    spreads = {}
    for t, release in enumerate(beliefs):
        rows, spread = list(release.observation.people.rows(respondent)), spread_of(beliefs, t)
        if rows and spread is not None:
            spreads[release.observation.time] = spread[rows[0]]
    return spreads


def _spread_meanings(beliefs: Sequence[Beliefs]) -> list[str]:
    """Meanings of the second number of a cell."""
    sources = {source_of(belief, t) for belief in beliefs for t in range(len(belief))}
    return [meaning for source, meaning in SPREADS.items() if source in sources]


def _common_axis(beliefs: Sequence[Beliefs], tables: Mapping[str, pd.DataFrame]) -> TimeAxis:
    """The axis of all panels, from the first to the last release with a record."""
    present = {time for table in tables.values() for time in table.index}
    every = _in_order(list(dict.fromkeys(time for belief in beliefs for time in belief.times)))
    places = [place for place, time in enumerate(every) if time in present]
    return time_axis(every[places[0] : places[-1] + 1])


def _heat_map(
    axes: Axes, table: pd.DataFrame, axis: TimeAxis, truth: Mapping[Any, int], spreads: Mapping[Any, FloatArray]
) -> AxesImage:
    """Draw the posteriors of a respondent, with numbers in the cells and frames around the true values."""
    shown = np.full((table.shape[1], len(axis.labels)), np.nan)
    for time, row in zip(table.index, table.to_numpy(), strict=True):
        column = axis.columns[time]
        shown[:, column] = row
        for value, probability in enumerate(row):
            if probability >= MIN_WRITTEN_PROBABILITY:
                color = "white" if probability > 0.6 else "black"
                spread = spreads[time][value] if time in spreads else 0.0
                second = f"\n±{spread:.2f}" if spread >= MIN_WRITTEN_PROBABILITY else ""
                axes.text(
                    column, value, f"{probability:.2f}{second}", ha="center", va="center", fontsize=8, color=color
                )
        corner = (column - 0.47, truth[time] - 0.46)
        axes.add_patch(Rectangle(corner, 0.94, 0.92, fill=False, edgecolor="black", linewidth=1.6, zorder=2))
    image = axes.imshow(
        np.ma.masked_invalid(shown), aspect="auto", cmap="Blues", vmin=0, vmax=1, origin="lower", zorder=1
    )
    absent = [column for time, column in axis.columns.items() if time not in table.index]
    axis._replace(gaps=tuple(sorted({*axis.gaps, *absent}))).draw_ticks(axes)
    return image


def _true_codes(history: History, respondent: Hashable, axis: TimeAxis) -> dict[Any, int]:
    """True codes of a respondent by time."""
    return {
        view.time: int(view.sensitive[row])
        for view in history
        if view.time in axis.columns
        for row in view.people.rows(respondent)
    }


def _check_risk(risk: pd.DataFrame, time: str, measure: str) -> None:
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


def _check_belief_arguments(history: object, respondent: object, time: object) -> None:
    owner = "belief_over_time"
    check_text(owner, time=time)
    if not isinstance(history, History) or respondent is None:
        got = "no respondent" if isinstance(history, History) else f"{history!r} in place of the history"
        raise TypeError(
            f"{owner} takes beliefs, the original records and a respondent, and got {got}; write "
            f"{owner}(beliefs, history, respondent)."
        )
    check_kind(owner, "respondent", respondent, Hashable, "is one of history.respondents")
