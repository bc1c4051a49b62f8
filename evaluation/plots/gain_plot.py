"""Plot of a measure of risk over time."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from foreknow.evaluation.plots.belief_plots import MIN_ERROR
from foreknow.evaluation.plots.style import (
    COLORS,
    FILLS,
    LINES,
    Panels,
    TimeAxis,
    as_titled,
    check_table,
    check_text,
    color_and_marker,
    hide_frame,
    in_order,
    keep_first_labels,
    legend,
    new_or_given_panels,
    one_panel,
    place_legend,
    small_multiples,
    time_axis,
    with_gaps,
    without_mathtext,
)
from foreknow.models import Beliefs, Status
from foreknow.models.arrays import FloatArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.estimators.convergence import MAX_RHAT
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
    return small_multiples("gain_over_time", ax, shown, draw, entries, title=title)


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
            heights = rows.set_index("time")[measure].reindex(every).to_numpy(dtype=float)
            axes.plot(*_points(every, heights), linewidth=1.8, **style)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set(xlabel=without_mathtext(time), ylabel=without_mathtext(f"adversary's {measure}"), title=title)


def _line_styles(defenses: list[Any], attacks: list[Any], panel: str | None) -> dict[tuple[Any, Any], dict[str, Any]]:
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


def _points(times: list[Any], heights: FloatArray) -> tuple[list[Any], FloatArray]:
    """Points of a line, with NaN where it is broken."""
    shown, broken = with_gaps(times, heights)
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
    title = "Beliefs about each release, before and after later releases"
    panels = new_or_given_panels("leak_plot", ax, (3,), (8.6, 3.4), title, fontsize=11)
    for axes, measure in zip(panels, ("log_score", "sure"), strict=False):
        _draw_area(axes, table, f"{measure}_forward", f"{measure}_hindsight")
    panels[2].axhline(0, color="black", linewidth=0.6)
    panels[2].plot(*_points(table["time"].tolist(), table["leak"].to_numpy(dtype=float)), **LEAK)
    panels[0].set(ylabel="bits (0: certain and right)", title="Log score")
    panels[1].set(ylabel="share of respondents", title="Sure beliefs")
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
    (times, before), (_, after) = (
        _points(table["time"].tolist(), table[column].to_numpy(dtype=float)) for column in (forward, hindsight)
    )
    if len(times):
        axes.fill_between(times, before, after, color=COLORS[1], alpha=0.2, linewidth=0)
    axes.plot(times, before, **FORWARD)  # type: ignore[arg-type]
    axes.plot(times, after, **HINDSIGHT)  # type: ignore[arg-type]


CONVERGENCE = "convergence_plot"

SMALL_SIZE = 400
"""Effective sample size that Vehtari et al. (2021) recommend for four chains, 100 for each."""

JITTER = 0.32
"""Largest horizontal distance of a point from its release, in columns."""

TIME_WIDTH = 0.5
"""Width of a column in inches."""


def convergence_plot(
    beliefs: Beliefs | Mapping[str, Beliefs], time: str = "release", *, ax: Panels | None = None
) -> Panels:
    """R-hat and effective sample size of the groups of each release: one panel each, and one column of panels for each attack.

    A point is a group, with the largest R-hat and the smallest effective sample size of its members' beliefs. An orange cross is a
    group with status `Status.UNCONVERGED`. The title has their number, and the number of divergent draws. Dashed lines are at the
    R-hat above which a group is unconverged, and at an effective sample size of 400. Groups whose beliefs do not depend on the
    draws are left out.

    Parameters
    ----------
    beliefs : Beliefs, or mapping of title to Beliefs
        Beliefs of attacks whose estimator samples, as `ProgramEstimator` and `SwapChain`, or of a sampled `JointAttack`.
    time : str
        Label of the horizontal axis.
    ax : array of Axes, shape (2, p), optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of Axes, shape (2, p)
        R-hat above, effective sample size below, for the p titles of a mapping; shape ``(2, 1)`` for `Beliefs`.

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, the label is not text, or ``ax`` has other elements than Axes.
    ValueError
        If there are no beliefs, or they have no R-hat; if ``ax`` has another number of panels.

    Notes
    -----
    Of a mixture over draws of uncertain knowledge (`Averaged`), R-hat is the largest under a draw, and the effective sample size
    that of the weighted mean of the estimates (`foreknow.attacks.adversary_attack.mixture`).

    Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Analysis 16 (2021). ArviZ computes R-hat from chains; `Beliefs` keep
    the R-hat and not the chains, so that ``arviz_plots.plot_convergence_dist`` has nothing to compute it from.
    """
    titled = as_titled(CONVERGENCE, beliefs)
    check_text(CONVERGENCE, time=time)
    tables = {title: _groups(title, each) for title, each in titled.items()}
    axis = time_axis(list(dict.fromkeys(one for each in titled.values() for one in each.times)))
    size = 0.9 + (max(3.6, TIME_WIDTH * len(axis.labels)) + 0.4) * len(tables), 5.4
    panels = new_or_given_panels(CONVERGENCE, ax, (2, len(tables)), size, sharex=True, sharey="row")
    for (upper, lower), (title, table) in zip(panels.T, tables.items(), strict=True):
        _draw_convergence(upper, table, "rhat", axis, MAX_RHAT)
        _draw_convergence(lower, table, "ess", axis, SMALL_SIZE)
        lower.set_yscale("log")
        lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.yaxis.set_major_formatter("{x:,.0f}")
        lower.yaxis.set_minor_formatter(NullFormatter())
        for panel in (upper, lower):
            axis.draw_ticks(panel)
        upper.set_title(without_mathtext(_title(title, table)), fontsize=9)
        upper.set_ylabel("largest R-hat of a group")
        lower.set(xlabel=without_mathtext(time), ylabel="smallest effective sample size")
    marks = [
        Line2D([], [], label=name, **_convergence_style(name != "group")) for name in ("group", "unconverged group")
    ]
    place_legend(panels[1, 0], marks, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
    if ax is None:
        keep_first_labels(panels)
    return panels


def _groups(title: str, beliefs: Beliefs) -> pd.DataFrame:
    """One row for each group: time, R-hat, effective sample size, and True where it is unconverged."""
    sampled = [release for release in beliefs if release.posterior.rhat is not None]
    if not sampled:
        advice = (
            "SwapChain and ProgramEstimator sample; beliefs.at(time).posterior.status has the status of each group."
        )
        owned = f"beliefs[{title!r}]" if title else "the beliefs"
        raise ValueError(f"{CONVERGENCE}: {owned} have no R-hat, because their estimator does not sample. {advice}")
    return pd.concat([_groups_of(release) for release in sampled], ignore_index=True)


def _groups_of(release: ReleaseBeliefs) -> pd.DataFrame:
    """Groups of a release whose beliefs depend on the draws, or are unconverged."""
    posterior, observed = release.posterior, release.observation
    assert posterior.rhat is not None
    ess = np.full(posterior.rhat.shape, np.nan) if posterior.ess is None else posterior.ess
    error = np.ones(posterior.rhat.shape) if posterior.standard_error is None else posterior.standard_error
    rows = {"rhat": posterior.rhat.max(axis=1), "ess": ess.min(axis=1), "varies": (error >= MIN_ERROR).any(axis=1)}
    inside = observed.group >= 0
    by_group = pd.DataFrame(rows)[inside].groupby(observed.group[inside])
    table = by_group.agg({"rhat": "max", "ess": "min", "varies": "any"})
    table["unconverged"] = posterior.status[table.index] & int(Status.UNCONVERGED) > 0
    table["divergent"] = False if posterior.divergences is None else posterior.divergences[table.index] > 0
    table["time"] = [observed.time] * len(table)
    return table[table["varies"] | table["unconverged"]]


def _draw_convergence(axes: Axes, table: pd.DataFrame, column: str, axis: TimeAxis, reference: float) -> None:
    """Draw a point for each group, spread evenly over the width of the column of its release."""
    hide_frame(axes, "y")
    axes.axhline(reference, color="0.4", linestyle="--", linewidth=1, zorder=1)
    place = (1.0, reference)
    label = axes.annotate(f"{reference:g}", place, (2, 0), ("axes fraction", "data"), "offset points", va="center")
    label.set(color="0.4", fontsize=9)
    places = table["time"].map(axis.columns).to_numpy(dtype=float)
    rank = table.groupby("time", sort=False).cumcount().to_numpy(dtype=float)
    size = table.groupby("time", sort=False)["rhat"].transform("size").to_numpy(dtype=float)
    across = places + JITTER * np.where(size > 1, 2 * rank / np.maximum(size - 1, 1) - 1, 0.0)
    for wrong in (False, True):
        here = (table["unconverged"] == wrong).to_numpy()
        axes.plot(across[here], table[column][here], **_convergence_style(wrong))
    axes.set_xlim(-0.6, len(axis.labels) - 0.4)


def _convergence_style(unconverged: bool) -> dict[str, Any]:
    """Properties of the marks of groups."""
    marker, color = ("X", COLORS[1]) if unconverged else ("o", COLORS[0])
    return {"marker": marker, "color": color, "linestyle": "", "markersize": 4, "markeredgewidth": 0, "alpha": 0.75}


def _title(title: str, table: pd.DataFrame) -> str:
    wrong, divergent = int(table["unconverged"].sum()), int(table["divergent"].sum())
    found = f"{wrong} of {len(table)} sampled groups unconverged,\n{divergent} with divergent draws"
    return f"{title}\n{found}" if title else found
