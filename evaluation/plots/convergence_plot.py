"""R-hat and effective sample size of sampled beliefs, by release."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from foreknow.evaluation.plots.arguments import as_titled, check_text
from foreknow.evaluation.plots.belief_intervals import MIN_ERROR
from foreknow.evaluation.plots.panels import Panels, given_panels, keep_first_labels, new_figure
from foreknow.evaluation.plots.style import COLORS, hide_frame, place_legend, without_mathtext
from foreknow.evaluation.plots.time_axis import TimeAxis, time_axis
from foreknow.models import Beliefs, ReleaseBeliefs, Status
from foreknow.models.estimators.convergence import MAX_RHAT

OWNER = "convergence_plot"

SMALL_SIZE = 400
"""Effective sample size that Vehtari et al. (2021) recommend for four chains, 100 for each."""

JITTER = 0.32
"""Largest horizontal distance of a point from its release, in columns."""

WIDTH = 0.5
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
    that of the weighted mean of the estimates (`foreknow.attacks.over_draws.mixture`).

    Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Analysis 16 (2021). ArviZ computes R-hat from chains; `Beliefs` keep
    the R-hat and not the chains, so that ``arviz_plots.plot_convergence_dist`` has nothing to compute it from.
    """
    titled = as_titled(OWNER, beliefs)
    check_text(OWNER, time=time)
    tables = {title: _groups(title, each) for title, each in titled.items()}
    axis = time_axis(list(dict.fromkeys(one for each in titled.values() for one in each.times)))
    panels = given_panels(OWNER, ax, (2, len(tables)))
    if panels is None:
        width = max(3.6, WIDTH * len(axis.labels)) + 0.4
        figure = new_figure(0.9 + width * len(tables), 5.4)
        panels = figure.subplots(2, len(tables), sharex=True, sharey="row", squeeze=False)
    for (upper, lower), (title, table) in zip(panels.T, tables.items(), strict=True):
        _draw(upper, table, "rhat", axis, MAX_RHAT)
        _draw(lower, table, "ess", axis, SMALL_SIZE)
        lower.set_yscale("log")
        lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.yaxis.set_major_formatter("{x:,.0f}")
        lower.yaxis.set_minor_formatter(NullFormatter())
        for panel in (upper, lower):
            axis.draw_ticks(panel)
        upper.set_title(without_mathtext(_title(title, table)), fontsize=9)
        upper.set_ylabel("largest R-hat of a group")
        lower.set(xlabel=without_mathtext(time), ylabel="smallest effective sample size")
    marks = [Line2D([], [], label=name, **_style(name != "group")) for name in ("group", "unconverged group")]
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
        raise ValueError(f"{OWNER}: {owned} have no R-hat, because their estimator does not sample. {advice}")
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


def _draw(axes: Axes, table: pd.DataFrame, column: str, axis: TimeAxis, reference: float) -> None:
    """Draw a point for each group, spread evenly over the width of the column of its release."""
    hide_frame(axes, "y")
    axes.axhline(reference, color="0.4", linestyle="--", linewidth=1, zorder=1)
    place = (1.0, reference)
    label = axes.annotate(f"{reference:g}", place, (2, 0), ("axes fraction", "data"), "offset points", va="center")
    label.set(color="0.4", fontsize=8)
    places = table["time"].map(axis.columns).to_numpy(dtype=float)
    rank = table.groupby("time", sort=False).cumcount().to_numpy(dtype=float)
    size = table.groupby("time", sort=False)["rhat"].transform("size").to_numpy(dtype=float)
    across = places + JITTER * np.where(size > 1, 2 * rank / np.maximum(size - 1, 1) - 1, 0.0)
    for wrong in (False, True):
        here = (table["unconverged"] == wrong).to_numpy()
        axes.plot(across[here], table[column][here], **_style(wrong))
    axes.set_xlim(-0.6, len(axis.labels) - 0.4)


def _style(unconverged: bool) -> dict[str, Any]:
    """Properties of the marks of groups."""
    marker, color = ("X", COLORS[1]) if unconverged else ("o", COLORS[0])
    return {"marker": marker, "color": color, "linestyle": "", "markersize": 4, "markeredgewidth": 0, "alpha": 0.75}


def _title(title: str, table: pd.DataFrame) -> str:
    wrong, divergent = int(table["unconverged"].sum()), int(table["divergent"].sum())
    found = f"{wrong} of {len(table)} sampled groups unconverged,\n{divergent} with divergent draws"
    return f"{title}\n{found}" if title else found
