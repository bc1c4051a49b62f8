"""Forest plot: belief in one value for several respondents, with intervals."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from foreknow.evaluation.plots.arguments import as_titled, check_label
from foreknow.evaluation.plots.belief_intervals import INTERVALS, source_of
from foreknow.evaluation.plots.panels import one_panel
from foreknow.evaluation.plots.style import color_and_marker, hide_frame, place_legend, without_mathtext
from foreknow.evaluation.risk.respondent_risk import interval_of
from foreknow.models import Beliefs, History
from foreknow.models.settings import check_kind, is_number, shown
from foreknow.models.tables.columns.lookalikes import lookalike

MAX_ROWS = 20
"""Number of respondents if none are given."""

INNER_MASS = 0.5
"""Mass of the inner interval, the thick line."""

HOLDER_COLOR = "0.91"
"""Background of the respondents who have the value."""

OWNER = "belief_forest"


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
    titled = as_titled(OWNER, beliefs)
    first = next(iter(titled.values()))
    check_label(OWNER, "release", release, "is the time of a release")
    time = first.times[-1] if release is None and len(first) else release
    _check(first, value, history, mass)
    tables = {title: _table(title, each, value, time, mass) for title, each in titled.items()}
    names = _names(next(iter(tables.values())), respondents)
    holders = set() if history is None else _holders(history, time, value)
    axes = one_panel(OWNER, ax, 7.5, 1.5 + (0.15 + 0.15 * len(tables)) * len(names))
    for row, respondent in enumerate(names):
        if respondent in holders:
            axes.axhspan(row - 0.5, row + 0.5, color=HOLDER_COLOR, linewidth=0, zorder=0)
    for number, (title, table) in enumerate(tables.items()):
        label = f"{title}: {_label(titled[title], time, mass)}" if title else _label(titled[title], time, mass)
        _draw(axes, [table.get(one) for one in names], number, len(tables), without_mathtext(label))
    _finish(axes, names, first, value, time)
    handles = axes.get_legend_handles_labels()[0]
    if holders & set(names):
        handles.append(Patch(color=HOLDER_COLOR, label=without_mathtext(f"has {value}")))
    place_legend(axes, handles, fontsize=8.5, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return axes


def _table(title: str, beliefs: Beliefs, value: Hashable, time: Any, mass: float) -> dict[Hashable, _Row]:
    """Row of each respondent of the release."""
    if time not in beliefs.times:
        raise ValueError(
            f"{OWNER}: {f'beliefs[{title!r}]' if title else 'the beliefs'} have no release at {time!r}; there are "
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
        raise ValueError(f"{OWNER}: {what}; give respondents of beliefs.posterior(release).index.{clue}")
    falling = sorted(asked, key=lambda respondent: -table[respondent].belief)
    return (falling[:MAX_ROWS] if respondents is None else falling)[::-1]


def _labels(respondents: Iterable[Hashable]) -> list[Hashable]:
    """Respondents that are asked for, each one once."""
    takes = "is a list of respondents, of beliefs.posterior(release).index"
    if isinstance(respondents, str) or not isinstance(respondents, Iterable):
        raise TypeError(f"{OWNER}: respondents is {shown(respondents)}; it {takes}.")
    asked = list(respondents)
    for respondent in asked:
        check_label(OWNER, "a respondent", respondent, "is one of beliefs.posterior(release).index")
    return list(dict.fromkeys(asked))


def _draw(axes: Axes, rows: list[_Row | None], number: int, of: int, label: str) -> None:
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
    axes.set_yticks(range(len(names)), [without_mathtext(respondent) for respondent in names], fontsize=8.5)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.4), ylabel=without_mathtext(schema.respondent))
    axes.set_xlabel(without_mathtext(f"belief in {schema.sensitive} = {value} after release {time}"))
    axes.tick_params(axis="y", length=0)


def _label(beliefs: Beliefs, time: Any, mass: float) -> str:
    source = source_of(beliefs, beliefs.times.index(time))
    return INTERVALS[source] if source == "none" else f"{mass:.0%} {INTERVALS[source]}"


def _holders(history: History, time: Any, value: Hashable) -> set[Hashable]:
    """Respondents who have the value in the view of a time."""
    code = list(history.schema.values).index(value)
    views = [view for view in history if view.time == time]
    if not views:
        times = [view.time for view in history]
        raise ValueError(
            f"{OWNER}: the history has no view at {time!r}; there are {', '.join(map(repr, times))}.{lookalike(time, times)}"
        )
    return {one for one, own in zip(views[0].people.respondents, views[0].sensitive, strict=True) if own == code}


def _check(beliefs: Beliefs, value: object, history: object, mass: object) -> None:
    if history is not None:
        check_kind(OWNER, "history", history, History, "is the History of the original records")
    if not is_number(mass, INNER_MASS, 1) or mass in (INNER_MASS, 1):
        raise ValueError(f"{OWNER}: mass is {mass!r}; it is the mass of the outer interval, over .5 and below 1.")
    if not len(beliefs):
        raise ValueError(f"{OWNER}: the beliefs are of no release; give those of an attack on at least one.")
    values = list(beliefs.releases[0].observation.people.schema.values)
    given = ", ".join(map(str, values))
    if value is None:
        raise TypeError(
            f"{OWNER} takes beliefs and a value, as {OWNER}(beliefs, {values[0]!r}); the values are {given}."
        )
    check_label(OWNER, "value", value, f"is one of {given}")
    if value not in values:
        raise ValueError(f"{OWNER}: {value!r} is no value; the values are {given}.{lookalike(value, values)}")
