"""Pictures of what was measured. Each function returns a matplotlib figure, and shows or writes nothing.

A notebook shows such a figure where it is the last value of a cell, after ``%matplotlib inline``.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from foreknow.models import Beliefs, History, Release

COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A3E9D", "#8C6D1F", "#8A8A8A",
)  # fmt: skip
"""The first seven are told apart by colour-blind readers as well (Okabe and Ito); the markers tell the others."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">", "p")
"""One more than there are colours, so that their pairs repeat late."""
LINES = ("-", "--", ":", "-.")
CROWD = 12
"""More lines than this do not share one panel."""


def gain_over_time(risk: pd.DataFrame, time: str = "release", measure: str = "gain") -> Figure:
    """A measure of risk at each release: a colour and a marker per defense, a kind of line per attack.

    Where more than `CROWD` lines would cross each other, each attack has a panel of its own.

    Parameters
    ----------
    risk : DataFrame
        As `Comparison.risk` gives it.
    time : str
        What the horizontal axis is called.
    measure : str
        The column shown.

    Raises
    ------
    ValueError
        If a column is missing, as in the table of one attack.
    """
    _check_risk(risk, measure)
    defenses, attacks = list(risk["defense"].unique()), list(risk["attack"].unique())
    apart = len(defenses) * len(attacks) > CROWD
    shown = [[attack] for attack in attacks] if apart else [attacks]
    figure = Figure(figsize=(2.4 + 5.6 * len(shown) ** 0.75, 4.8), layout="constrained")
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    title = f"What the releases gave away: {measure} per release"
    for axes, here in zip(panels, shown, strict=True):
        _bare(axes)
        for d, defense in enumerate(defenses):
            for attack in here:
                rows = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
                line = {"linestyle": "-" if apart else LINES[attacks.index(attack) % len(LINES)], **_mark(d)}
                times = [without_mathtext(when) if isinstance(when, str) else when for when in rows["time"]]
                axes.plot(times, rows[measure].to_numpy(), linewidth=1.8, **line)
        axes.axhline(0, color="black", linewidth=0.6)
        axes.set(xlabel=without_mathtext(time), title=without_mathtext(f"attack: {here[0]}" if apart else title))
    panels[0].set_ylabel(without_mathtext(f"adversary's {measure}"))
    figure.suptitle(without_mathtext(title if apart else ""))
    colours = [(str(name), {"linewidth": 1.8, **_mark(d), "markersize": 6}) for d, name in enumerate(defenses)]
    kinds = [(str(name), {"color": "black", "linestyle": LINES[a % len(LINES)]}) for a, name in enumerate(attacks)]
    legend(panels[-1], colours if apart else colours + kinds)
    return figure


def belief_over_time(
    beliefs: Mapping[str, Beliefs],
    history: History | None = None,
    respondent: Hashable | None = None,
    time: str = "release",
) -> Figure:
    """One person's evolution: what is believed after each release, one panel per publication, four in a row, the truth framed.

    Only releases with a record of that person are shown; where it was suppressed, the belief is the revised prior.

    Parameters
    ----------
    beliefs : mapping of title to Beliefs
        What an attack returned on each publication.
    history : History
        The original records, for the true values.
    respondent : hashable
        Who.
    time : str
        What the horizontal axis is called.

    Raises
    ------
    TypeError
        If the beliefs have no titles, or the history or the respondent is left out.
    """
    _check_titles("belief_over_time", beliefs, "beliefs")
    if not isinstance(history, History) or respondent is None:
        got = "no respondent" if isinstance(history, History) else f"{history!r} in place of the history"
        raise TypeError(
            f"belief_over_time takes titled beliefs, the original records and a respondent, and got {got}; write "
            "belief_over_time(beliefs, history, respondent)."
        )
    tables = {title: belief.of(respondent).xs("posterior", level="stage") for title, belief in beliefs.items()}
    releases, values = max(map(len, tables.values())), history.schema.values
    width, height = max(3.2, 0.45 * releases), max(3.4, 0.32 * len(values))
    across = min(len(tables), 4)
    down = -(-len(tables) // across)
    figure = Figure(figsize=(1.5 + (width + 0.3) * across, (height + 0.4) * down + 0.6), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    truth = _truth(history, respondent)
    for axes in panels[len(tables) :]:
        axes.remove()
    panels = panels[: len(tables)]
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        image = axes.imshow(table.to_numpy().T, aspect="auto", cmap="Blues", vmin=0, vmax=1, origin="lower")
        for column, when in enumerate(table.index):
            for row, probability in enumerate(table.loc[when].to_numpy()):
                if probability >= 0.005:
                    colour = "white" if probability > 0.6 else "black"
                    axes.text(column, row, f"{probability:.2f}", ha="center", va="center", fontsize=8, color=colour)
            frame = Rectangle(
                (column - 0.47, truth[when] - 0.46), 0.94, 0.92, fill=False, edgecolor="black", linewidth=1.6
            )
            axes.add_patch(frame)
        axes.set_xticks(range(len(table)), [without_mathtext(when) for when in table.index])
        axes.set_yticks(range(len(values)), [without_mathtext(value) for value in values])
        axes.set(xlabel=without_mathtext(time), title=without_mathtext(title))
    figure.colorbar(image, ax=list(panels), aspect=20 * down, label="belief after the release")
    figure.suptitle(without_mathtext(f"What is believed of respondent {respondent} (framed: the truth)"))
    return figure


def group_sizes(releases: Mapping[str, Sequence[Release]]) -> Figure:
    """Numbers of published records in groups of each size, over all releases, and of suppressed records.

    Bars of up to four publications stand side by side; more have a panel each, one below the other.

    Raises
    ------
    TypeError
        If the releases have no titles.
    """
    _check_titles("group_sizes", releases, "releases")
    found = {
        name: np.concatenate([np.bincount(release.group[release.group >= 0]) for release in published]).astype(int)
        for name, published in releases.items()
    }
    largest = int(max((sizes.max(initial=0) for sizes in found.values()), default=0))
    lost = {name: sum(int((release.group < 0).sum()) for release in published) for name, published in releases.items()}
    total = {name: max(sum(len(release.view) for release in published), 1) for name, published in releases.items()}
    edge, apart = min(largest, 30), len(found) > 4
    figure = Figure(figsize=(8, 1.2 + 0.9 * len(found) if apart else 4.2), layout="constrained")
    panels = figure.subplots(len(found) if apart else 1, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    width = 0.8 / (1 if apart else max(len(found), 1))
    places = np.concatenate([[-2], np.arange(1, edge + 1)])
    for axes in panels:
        _bare(axes)
    for d, (name, sizes) in enumerate(found.items()):
        records = np.bincount(np.minimum(sizes, edge), weights=sizes, minlength=edge + 1)
        share = np.concatenate([[lost[name]], records[1:]]) / total[name]
        offset = 0.0 if apart else (d - (len(found) - 1) / 2) * width
        axes = panels[d if apart else 0]
        axes.bar(places + offset, share, width, label=without_mathtext(name), color=COLORS[d % len(COLORS)])
        if apart:
            axes.text(0.995, 0.9, without_mathtext(name), transform=axes.transAxes, ha="right", va="top", fontsize=9)
    ticks = [-2, *range(edge, 0, -max(1, edge // 15))]
    labels = ["suppressed", *(f"{t}+" if t == edge and largest > edge else str(t) for t in ticks[1:])]
    panels[-1].set_xticks(ticks, labels)
    panels[-1].set_xlabel("size of the group")
    figure.supylabel("share of the records", fontsize=10)
    figure.suptitle("How large the groups are that records stand in")
    if not apart:
        panels[0].legend(frameon=False)
    return figure


def without_mathtext(label: object) -> str:
    r"""A label from data, with its dollar signs escaped: matplotlib reads what stands between two of them as mathematics.

    Examples
    --------
    >>> without_mathtext("$5 to $10")
    '\\$5 to \\$10'
    """
    return str(label).replace("$", r"\$")


def _check_risk(risk: pd.DataFrame, measure: str) -> None:
    for name in ("defense", "attack", "time", measure):
        if name not in risk.columns:
            raise ValueError(
                f"gain_over_time: the table has no column {name!r}; it has {', '.join(map(repr, risk.columns))}. Give the table of "
                'Comparison.risk, or add the columns, as table.assign(defense="JS-reduce", attack="snapshot").'
            )


def _check_titles(owner: str, titled: object, of: str) -> None:
    if not isinstance(titled, Mapping):
        raise TypeError(
            f'{owner} takes a mapping of titles to {of}, and got {type(titled).__name__}; write {{"a title": {of}}}.'
        )


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)


def _mark(d: int) -> dict[str, Any]:
    """Marker and colour of the d-th defense in every picture."""
    return {"color": COLORS[d % len(COLORS)], "marker": MARKERS[d % len(MARKERS)], "markersize": 4}


def legend(axes: Axes, entries: list[tuple[str, dict[str, Any]]]) -> None:
    """Names and what they look like, to the right of the axes."""
    handles = [Line2D([], [], label=without_mathtext(name), **style) for name, style in entries]
    axes.legend(handles=handles, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _truth(history: History, respondent: Hashable) -> dict[Any, int]:
    """The person's true codes by time."""
    return {view.time: int(view.sensitive[row]) for view in history for row in view.people.rows(respondent)}
