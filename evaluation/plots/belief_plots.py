"""Heat map of the beliefs about one respondent over time."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, Rectangle

from foreknow.evaluation.arguments import check_history
from foreknow.evaluation.plots.style import (
    Panels,
    TimeAxis,
    as_titled,
    check_text,
    color_and_marker,
    given_panels,
    hide_frame,
    in_order,
    new_figure,
    one_panel,
    place_legend,
    time_axis,
    without_mathtext,
)
from foreknow.evaluation.risk.respondent_risk import interval_of
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import as_list, check_kind, is_number, shown
from foreknow.models.tables.columns import lookalike

MIN_WRITTEN_PROBABILITY = 0.005
"""Probability below which a cell of the heat map has no number."""

PANELS_PER_ROW = 2


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
        Where to draw: one for `Beliefs`, p for the p titles of a mapping; by default a new figure, with two panels in a row. The
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
    views = [view for view in history if view.time in axis.columns]
    truth = {view.time: int(view.sensitive[row]) for view in views for row in view.people.rows(respondent)}
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
                    column, value, f"{probability:.2f}{second}", ha="center", va="center", fontsize=9, color=color
                )
        corner = (column - 0.47, truth[time] - 0.46)
        axes.add_patch(Rectangle(corner, 0.94, 0.92, fill=False, edgecolor="black", linewidth=1.6, zorder=2))
    image = axes.imshow(
        np.ma.masked_invalid(shown), aspect="auto", cmap="Blues", vmin=0, vmax=1, origin="lower", zorder=1
    )
    absent = [column for time, column in axis.columns.items() if time not in table.index]
    axis._replace(gaps=tuple(sorted({*axis.gaps, *absent}))).draw_ticks(axes)
    return image


def _check_belief_arguments(history: object, respondent: object, time: object) -> None:
    owner = "belief_over_time"
    check_text(owner, time=time)
    check_history(owner, history)
    if respondent is None or not isinstance(respondent, Hashable):
        raise TypeError(f"{owner}: respondent is {shown(respondent)}; it is one of history.respondents.")


MAX_ROWS = 20
"""Number of respondents if none are given."""

INNER_MASS = 0.5
"""Mass of the inner interval, the thick line."""

HOLDER_COLOR = "0.91"
"""Background of the respondents who have the value."""

FOREST = "belief_forest"


class _Row(NamedTuple):
    """Belief in the value for a respondent, with the outer and the inner interval."""

    belief: float
    outer: tuple[float, float]
    inner: tuple[float, float]


def belief_forest(
    beliefs: Beliefs | Mapping[str, Beliefs],
    value: Hashable,
    respondents: Iterable[Hashable] | None = None,
    release: Any = None,
    history: History | None = None,
    mass: float = 0.9,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Forest plot of the beliefs in one value after a release: one row for each respondent, in decreasing order of belief.

    The thin line is a central interval, the thick line that of mass .5. Where the adversary's knowledge has draws (`Averaged`),
    they are weighted quantiles of the beliefs under each draw. Where an estimator samples, as `ProgramEstimator` and `SwapChain`,
    they are Monte Carlo intervals, from the standard error. Other beliefs are points. The legend names the kind.

    Parameters
    ----------
    beliefs : Beliefs, or mapping of title to Beliefs
        Beliefs of one attack, or of several to compare.
    value : hashable
        A value of the sensitive domain.
    respondents : iterable of hashable, optional
        Respondents to show; by default the 20 with the largest belief in the value, of the first attack.
    release : optional
        Time of the release; by default the last of the first attack.
    history : History, optional
        The original records. Respondents who have the value get a grey background.
    mass : float
        Mass of the outer interval, over .5 and below 1.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, no value is given, or an argument is of another kind, such as ``ax`` that is not Axes.
    ValueError
        If there are no beliefs, or the value, the release or a respondent is unknown.

    Notes
    -----
    ``arviz_plots.plot_forest(beliefs.to_datatree(), coords={"value": [value]})`` draws the interval between draws too. It does not
    know the Monte Carlo errors, and keeps the order of the respondents.
    """
    titled = as_titled(FOREST, beliefs)
    first = next(iter(titled.values()))
    check_kind(FOREST, "release", release, Hashable, "is the time of a release")
    time = first.times[-1] if release is None and len(first) else release
    _check(first, value, history, mass)
    tables = {title: _table(title, each, value, time, mass) for title, each in titled.items()}
    names = _names(next(iter(tables.values())), respondents)
    holders = set() if history is None else _holders(history, time, value)
    axes = one_panel(FOREST, ax, 7.5, 1.5 + (0.15 + 0.15 * len(tables)) * len(names))
    for row, respondent in enumerate(names):
        if respondent in holders:
            axes.axhspan(row - 0.5, row + 0.5, color=HOLDER_COLOR, linewidth=0, zorder=0)
    for number, (title, table) in enumerate(tables.items()):
        label = (
            f"{title}: {_interval_label(titled[title], time, mass)}"
            if title
            else _interval_label(titled[title], time, mass)
        )
        _draw_forest(axes, [table.get(one) for one in names], number, len(tables), without_mathtext(label))
    _finish(axes, names, first, value, time)
    handles = axes.get_legend_handles_labels()[0]
    if holders & set(names):
        handles.append(Patch(color=HOLDER_COLOR, label=without_mathtext(f"has {value}")))
    place_legend(axes, handles, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return axes


def _table(title: str, beliefs: Beliefs, value: Hashable, time: Any, mass: float) -> dict[Hashable, _Row]:
    """Row of each respondent of the release."""
    if time not in beliefs.times:
        raise ValueError(
            f"{FOREST}: {f'beliefs[{title!r}]' if title else 'the beliefs'} have no release at {time!r}; there are "
            f"{', '.join(map(repr, beliefs.times)) or 'none'}.{lookalike(time, beliefs.times)}"
        )
    t = beliefs.times.index(time)
    people = beliefs.releases[t].observation.people
    column = list(people.schema.values).index(value)
    belief = beliefs.releases[t].posterior.probabilities[:, column]
    outer, inner = (
        np.column_stack([end[:, column] for end in interval_of(beliefs, t, share)]) for share in (mass, INNER_MASS)
    )
    rows = zip(belief.tolist(), map(tuple, outer.tolist()), map(tuple, inner.tolist()), strict=True)
    return {respondent: _Row(*row) for respondent, row in zip(people.respondents, rows, strict=True)}


def _names(table: Mapping[Hashable, _Row], respondents: Iterable[Hashable] | None) -> list[Hashable]:
    """Respondents in increasing order of belief, the order of the vertical axis."""
    asked = list(table) if respondents is None else _labels(respondents)
    unknown = [respondent for respondent in asked if respondent not in table]
    if unknown or not asked:
        what = f"respondent {unknown[0]!r} is not in the release" if unknown else "there is no respondent to show"
        clue = lookalike(unknown[0], list(table)) if unknown else ""
        raise ValueError(f"{FOREST}: {what}; give respondents of beliefs.posterior(release).index.{clue}")
    falling = sorted(asked, key=lambda respondent: -table[respondent].belief)
    return (falling[:MAX_ROWS] if respondents is None else falling)[::-1]


def _labels(respondents: Iterable[Hashable]) -> list[Hashable]:
    """Respondents that are asked for, each one once."""
    takes = "is a list of respondents, of beliefs.posterior(release).index"
    asked = as_list(FOREST, "respondents", respondents, takes)
    for respondent in asked:
        check_kind(FOREST, "a respondent", respondent, Hashable, "is one of beliefs.posterior(release).index")
    return list(dict.fromkeys(asked))


def _draw_forest(axes: Axes, rows: list[_Row | None], number: int, of: int, label: str) -> None:
    """Draw the points and intervals of one attack; a respondent whom its release lacks has none."""
    style = color_and_marker(number)
    shift = 0.28 * ((of - 1) / 2 - number) / max(of - 1, 1) * min(of - 1, 2)
    places = [(place + shift, row) for place, row in enumerate(rows) if row is not None]
    heights = np.array([place for place, _ in places])
    for ends, width in (("outer", 1.1), ("inner", 3.0)):
        low, high = np.array([getattr(row, ends) for _, row in places]).reshape(-1, 2).T
        axes.hlines(heights, low, high, color=style["color"], linewidth=width, zorder=2)
    points = [row.belief for _, row in places]
    axes.plot(points, heights, linestyle="", markerfacecolor="white", zorder=3, label=label, **style)


def _finish(axes: Axes, names: list[Hashable], beliefs: Beliefs, value: Hashable, time: Any) -> None:
    schema = beliefs.releases[0].observation.people.schema
    hide_frame(axes, "x")
    axes.set_yticks(range(len(names)), [without_mathtext(respondent) for respondent in names], fontsize=9)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.4), ylabel=without_mathtext(schema.respondent))
    axes.set_xlabel(without_mathtext(f"belief in {schema.sensitive} = {value} after release {time}"))
    axes.tick_params(axis="y", length=0)


def _interval_label(beliefs: Beliefs, time: Any, mass: float) -> str:
    source = source_of(beliefs, beliefs.times.index(time))
    return INTERVALS[source] if source == "none" else f"{mass:.0%} {INTERVALS[source]}"


def _holders(history: History, time: Any, value: Hashable) -> set[Hashable]:
    """Respondents who have the value in the view of a time."""
    code = list(history.schema.values).index(value)
    views = [view for view in history if view.time == time]
    if not views:
        times = [view.time for view in history]
        raise ValueError(
            f"{FOREST}: the history has no view at {time!r}; there are {', '.join(map(repr, times))}.{lookalike(time, times)}"
        )
    return {one for one, own in zip(views[0].people.respondents, views[0].sensitive, strict=True) if own == code}


def _check(beliefs: Beliefs, value: object, history: object, mass: object) -> None:
    if history is not None:
        check_kind(FOREST, "history", history, History, "is the History of the original records")
    if not is_number(mass, INNER_MASS, 1) or mass in (INNER_MASS, 1):
        raise ValueError(f"{FOREST}: mass is {mass!r}; it is the mass of the outer interval, over .5 and below 1.")
    if not len(beliefs):
        raise ValueError(f"{FOREST}: the beliefs are of no release; give those of an attack on at least one.")
    values = list(beliefs.releases[0].observation.people.schema.values)
    takes = f"is one of {', '.join(map(str, values))}"
    check_kind(FOREST, "value", value, Hashable, takes)
    if value not in values:
        raise ValueError(f"{FOREST}: value is {value!r}; it {takes}.{lookalike(value, values)}")


type Source = Literal["draws", "Monte Carlo", "none"]

MIN_ERROR = 1e-9
"""Standard error below which a belief does not depend on the draws, but for rounding."""

SPREADS: dict[Source, str] = {
    "draws": "standard deviation between draws",
    "Monte Carlo": "Monte Carlo standard error",
}
"""Meaning of the number of `spread_of`, by the source of the uncertainty."""

INTERVALS: dict[Source, str] = {
    "draws": "interval between draws",
    "Monte Carlo": "Monte Carlo interval",
    "none": "no interval",
}
"""Meaning of the ends of an interval, by the source of the uncertainty."""


def source_of(beliefs: Beliefs, t: int) -> Source:
    """Source of the uncertainty of the beliefs after release number t: draws of the knowledge come first.

    Beliefs whose standard errors are all below `MIN_ERROR` have none, as those of a program without unknown quantities.
    """
    if beliefs.draws is not None:
        return "draws"
    error = beliefs.releases[t].posterior.standard_error
    return "none" if error is None or not (error >= MIN_ERROR).any() else "Monte Carlo"


def spread_of(beliefs: Beliefs, t: int) -> FloatArray | None:
    """Standard deviation between draws, or Monte Carlo standard error: float array, shape ``(n, m)``; None without either."""
    if beliefs.draws is not None:
        return beliefs.draws.spread(t)
    return beliefs.releases[t].posterior.standard_error
