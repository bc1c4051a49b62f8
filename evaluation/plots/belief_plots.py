"""Heat map of the beliefs about one respondent over time."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, overload

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from foreknow.evaluation.plots.arguments import as_titled, check_text
from foreknow.evaluation.plots.belief_intervals import SPREADS, source_of, spread_of
from foreknow.evaluation.plots.panels import Panels, given_panels, new_figure, one_panel
from foreknow.evaluation.plots.style import COLORS, without_mathtext
from foreknow.evaluation.plots.time_axis import TimeAxis, in_order, time_axis
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind

__all__ = ["COLORS", "belief_over_time"]

MIN_WRITTEN_PROBABILITY = 0.005
"""Probability below which a cell of the heat map has no number."""

PANELS_PER_ROW = 4


@overload
def belief_over_time(
    beliefs: Beliefs,
    history: History | None = ...,
    respondent: Hashable | None = ...,
    time: str = ...,
    *,
    ax: Axes | None = None,
) -> Axes: ...


@overload
def belief_over_time(
    beliefs: Mapping[str, Beliefs],
    history: History | None = ...,
    respondent: Hashable | None = ...,
    time: str = ...,
    *,
    ax: Panels | None = None,
) -> Panels: ...


def belief_over_time(
    beliefs: Beliefs | Mapping[str, Beliefs],
    history: History | None = None,
    respondent: Hashable | None = None,
    time: str = "release",
    *,
    ax: Axes | Panels | None = None,
) -> Axes | Panels:
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
    ax : Axes, or array of Axes, shape (p,), optional
        Where to draw: one for `Beliefs`, p for the p titles of a mapping; by default a new figure, with four panels in a row. The
        colour bar takes room from these axes.

    Returns
    -------
    Axes, or array of Axes, shape (p,)
        One Axes for `Beliefs`; one for each title of a mapping, in its order.

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, the history or the respondent is left out, or ``ax`` is not Axes.
    ValueError
        If there are no beliefs, or the respondent is in no release or not in a view of a release's time; if ``ax`` has another
        number of panels.
    """
    titled = as_titled("belief_over_time", beliefs)
    _check_belief_arguments(history, respondent, time)
    assert isinstance(history, History)
    tables = {title: _posteriors(title, belief, respondent) for title, belief in titled.items()}
    axis = _common_axis(list(titled.values()), tables)
    truth = _true_codes(history, respondent, axis)
    spreads = {title: _spreads(belief, respondent) for title, belief in titled.items()}
    heading = _heading(respondent, axis, tables, list(titled.values()))
    step = 0.45 if any(map(len, spreads.values())) else 0.32
    size = max(3.2, 0.45 * len(axis.labels)) + 0.3, max(3.4, step * len(history.schema.values)) + 0.4
    if isinstance(beliefs, Beliefs):
        axes = one_panel("belief_over_time", ax, size[0] + 1.5, size[1] + 0.6)
        axes.set_title(heading, fontsize=11)
        panels = np.array([axes])
    else:
        given = given_panels("belief_over_time", ax, (len(titled),))
        panels = _new_panels(len(titled), size, heading) if given is None else given
        for panel, title in zip(panels, titled, strict=True):
            panel.set_title(without_mathtext(title))
    for panel, (title, table) in zip(panels, tables.items(), strict=True):
        image = _heat_map(panel, table, axis, truth, spreads[title])
        panel.set_yticks(
            range(len(history.schema.values)), [without_mathtext(value) for value in history.schema.values]
        )
        panel.set_xlabel(without_mathtext(time))
    rows = -(-len(panels) // PANELS_PER_ROW)
    panels[0].figure.colorbar(image, ax=list(panels), aspect=20 * rows, label="belief after the release")
    return panels[0] if isinstance(beliefs, Beliefs) else panels


def _new_panels(number: int, size: tuple[float, float], heading: str) -> Panels:
    """Panels of a new figure, in rows of at most `PANELS_PER_ROW`, under a common heading."""
    across = min(number, PANELS_PER_ROW)
    down = -(-number // across)
    figure = new_figure(1.5 + size[0] * across, size[1] * down + 0.6)
    figure.suptitle(heading)
    grid = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for axes in grid[number:]:
        axes.remove()
    return grid[:number]


def _heading(
    respondent: Hashable, axis: TimeAxis, tables: Mapping[str, pd.DataFrame], beliefs: Sequence[Beliefs]
) -> str:
    """Title: the respondent, and the meaning of frames, hatches and second numbers."""
    hatched = "; hatched: no record" if any(len(table) < len(axis.labels) for table in tables.values()) else ""
    sources = {source_of(belief, t) for belief in beliefs for t in range(len(belief))}
    meanings = [meaning for source, meaning in SPREADS.items() if source in sources]
    second = f"\n±: {', or '.join(meanings)}" if meanings else ""
    return without_mathtext(f"Beliefs about respondent {respondent}\n(framed: the true value{hatched}){second}")


def _posteriors(title: str, beliefs: Beliefs, respondent: Hashable) -> pd.DataFrame:
    """Posteriors of a respondent: one row for each release with a record."""
    try:
        evolution = beliefs.of(respondent)
    except ValueError as error:
        raise ValueError(f"belief_over_time: {f'beliefs[{title!r}]: ' if title else ''}{error}") from None
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


def _common_axis(beliefs: Sequence[Beliefs], tables: Mapping[str, pd.DataFrame]) -> TimeAxis:
    """The axis of all panels, from the first to the last release with a record."""
    present = {time for table in tables.values() for time in table.index}
    every = in_order(list(dict.fromkeys(time for belief in beliefs for time in belief.times)))
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
