"""R-U confidentiality map: disclosure risk of publications against their information loss."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from foreknow.evaluation.plots.style import (
    COLORS,
    Panels,
    check_table,
    check_text,
    check_titled,
    color_and_marker,
    hide_frame,
    legend,
    one_panel,
    small_multiples,
    without_mathtext,
)
from foreknow.models import Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns import check_columns

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


TITLE = "Disclosure risk against information loss (lower left is better)"


@overload
def risk_utility_map(
    table: pd.DataFrame,
    risk: str = ...,
    cost: str = ...,
    along: str | None = ...,
    curve: str = ...,
    panel: None = None,
    *,
    bound: str | None = ...,
    ax: Axes | None = None,
) -> Axes: ...


@overload
def risk_utility_map(
    table: pd.DataFrame,
    risk: str = ...,
    cost: str = ...,
    along: str | None = ...,
    curve: str = ...,
    *,
    panel: str,
    bound: str | None = ...,
    ax: Panels | None = None,
) -> Panels: ...


def risk_utility_map(
    table: pd.DataFrame,
    risk: str = "gain",
    cost: str = "gcp",
    along: str | None = None,
    curve: str = "defense",
    panel: str | None = None,
    *,
    bound: str | None = None,
    ax: Axes | Panels | None = None,
) -> Axes | Panels:
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
        Column with one panel per value, such as ``"attack"``. The panels of a new figure share their axes.
    bound : str, optional
        Numeric column of an upper bound on the risk, drawn as a dashed line of each curve; NaN where there is none.
    ax : Axes, or array of Axes, shape (p,), optional
        Where to draw, on p axes for the p values of ``panel``; by default a new figure.

    Returns
    -------
    Axes, or array of Axes, shape (p,)
        One Axes without ``panel``; otherwise one for each of its values, in the order of the table.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, a name of a column is not text, or ``ax`` is not Axes.
    ValueError
        If a column is missing or not numeric, or two rows are the same point of a curve; if ``ax`` has another number of
        panels.

    Notes
    -----
    G. Duncan, S. Keller-McNulty, S. L. Stokes, Disclosure risk vs. data utility: the R-U confidentiality map (2001); the map of
    BayFrame (Figures 3, 7 to 9) and UHRA (Figures 1 to 3) has ``record_linkage`` against ``gcp``.

    Examples
    --------
    >>> points = pd.DataFrame({"defense": ["Mondrian"] * 3, "k": [2, 4, 8], "gain": [0.3, 0.2, 0.1], "gcp": [0.1, 0.2, 0.4]})
    >>> risk_utility_map(points, along="k").get_xlabel()
    'cost: certainty penalty of a published record (gcp)'
    """
    roles: dict[str, Any] = {"curve": curve, "along": along, "panel": panel}
    named = {role: name for role, name in roles.items() if name is not None or role == "curve"}
    names = list(named.values())
    check_kind("risk_utility_map", "table", table, pd.DataFrame, "is a DataFrame, such as Comparison.summary()")
    measures = {"risk": risk, "cost": cost} | ({} if bound is None else {"bound": bound})
    check_text("risk_utility_map", **measures, **named)
    check_columns(table, [*names, *measures.values()])
    for name in measures.values():
        check_table("risk_utility_map", "table", table, (name,), "is a DataFrame")
    _check_points(table, names)
    styles = {name: _style(d, along is not None) for d, name in enumerate(table[curve].unique())}
    entries = [(str(name), style) for name, style in styles.items()]
    if panel is None:
        axes = one_panel("risk_utility_map", ax, 7.5, 4.8)
        _draw_map(axes, table, styles, (risk, cost, along, curve, bound))
        axes.set_title(TITLE, fontsize=11)
        legend(axes, entries)
        return axes

    def draw(axes: Axes, value: Any) -> None:
        _draw_map(axes, table[table[panel] == value], styles, (risk, cost, along, curve, bound))
        axes.set_title(without_mathtext(f"{panel}: {value}"))

    shown = list(table[panel].unique())
    return small_multiples("risk_utility_map", ax, shown, draw, entries, title=TITLE, sharex=True, fontsize=11)


def _draw_map(
    axes: Axes,
    table: pd.DataFrame,
    styles: Mapping[Any, dict[str, Any]],
    columns: tuple[str, str, str | None, str, str | None],
) -> None:
    """Draw the curves of one panel, and the labels of their ends; the columns of risk, cost, parameter, curve and bound."""
    risk, cost, along, curve, bound = columns
    labels = [
        label
        for name, style in styles.items()
        for label in _draw_curve(axes, table[table[curve] == name], risk, cost, along, style)
    ]
    for name, style in styles.items() if bound is not None else ():
        rows = table[table[curve] == name].dropna(subset=[bound, cost]).sort_values(cost, kind="stable")
        dashes = {"color": style["color"], "linestyle": "--", "linewidth": 1.0, "marker": "_", "markersize": 9}
        axes.plot(rows[cost].to_numpy(dtype=float), rows[bound].to_numpy(dtype=float), **dashes)
    axes.add_artist(LabelPlacement(labels))
    hide_frame(axes)
    axes.margins(0.12)
    axes.set_xlabel(without_mathtext(f"cost: {AXIS_LABELS.get(cost, cost)}"))
    axes.set_ylabel(without_mathtext(f"risk: {AXIS_LABELS.get(risk, risk)}"))


def _draw_curve(
    axes: Axes, rows: pd.DataFrame, risk: str, cost: str, along: str | None, style: dict[str, Any]
) -> list[Annotation]:
    """Draw a curve, and write the labels of its ends in the direction away from the curve."""
    rows = rows.dropna(subset=[risk, cost])
    if along is not None:
        rows = rows.sort_values(along, kind="stable")
    x, y = rows[cost].to_numpy(dtype=float), rows[risk].to_numpy(dtype=float)
    axes.plot(x, y, **style)
    if along is None:
        return []
    values = rows[along].tolist()
    places = {len(x) - 1: _text(values[-1])} if len(x) > 1 else {}
    if len(x):
        places[0] = f"{along}={_text(values[0])}"
    return [
        axes.annotate(
            without_mathtext(text), (x[i], y[i]), (1 if x[i] >= x.mean() else -1, 1 if y[i] >= y.mean() else -1),
            textcoords="offset points", fontsize=9, color=style["color"],
        )
        for i, text in places.items()
    ]  # fmt: skip


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


DISTANCES = (7.0, 13.0, 20.0)
"""Distances of a label from its point that are tried, in points."""

SIDES = ("left", "center", "right"), ("bottom", "center", "top")
"""Horizontal and vertical alignment of a label right of, at and left of its point, and above, at and below it."""

SAME_PLACE = 8.0
"""Distance of two points, in points, within which equal labels are written once."""

SHARED_COLOR = "0.35"
"""Colour of a label that several points share."""

MARKER_RADIUS = 4.0
"""Half of the side of the square that a marker takes, and the least distance of two labels, in points."""

STEPS = 60
"""Points of a line between two markers at which it is compared with a label."""

OUTSIDE, ON_LABEL, ON_MARKER, ON_LINE, FARTHER, TURNED = 100.0, 20.0, 6.0, 2.0, 0.8, 0.3
"""Costs of a position: beyond the axes, for each label, marker and line covered, for each step in distance and in direction."""


class LabelPlacement(Artist):
    """Invisible artist that moves the labels of its axes before they are drawn.

    A position depends on the size of the figure and on the scales of the axes. Both may change after the plot is made, so
    labels are placed at each drawing. Equal labels of points that almost coincide are written once, in grey.

    Parameters
    ----------
    labels : sequence of Annotation
        Labels of the same axes, with the direction preferred for each as the signs of its offset.
    """

    def __init__(self, labels: Sequence[Annotation]) -> None:
        super().__init__()
        self.labels = labels
        self.preferred = [np.sign(label.get_position()) for label in labels]
        self.colors = [label.get_color() for label in labels]
        self.set_zorder(-1)  # drawn before the labels
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the labels one after the other, each at the position of the least cost."""
        if not isinstance(self.axes, Axes):
            return
        self._hide_repeated(_pixels(renderer, SAME_PLACE))
        obstacles, taken = _obstacles(self.axes, renderer), list[Bbox]()
        for label, preferred in zip(self.labels, self.preferred, strict=True):
            if label.get_visible():
                positions = _positions(label, preferred, renderer)
                best = min(positions, key=lambda position: position.cost + obstacles.cost(position.box, taken))
                label.set(position=best.offset, horizontalalignment=best.across, verticalalignment=best.along)
                taken.append(best.box)

    def _hide_repeated(self, distance: float) -> None:
        """Hide each label that has an equal one within a distance in pixels, and draw the other in grey."""
        written: list[tuple[FloatArray, Annotation]] = []
        for label, color in zip(self.labels, self.colors, strict=True):
            label.set(visible=True, color=color)
            place = _place(label)
            for at, other in written:
                if other.get_text() == label.get_text() and np.hypot(*(at - place)) < distance:
                    label.set_visible(False)
                    other.set_color(SHARED_COLOR)
                    break
            else:
                written.append((place, label))


class _Position(NamedTuple):
    """Position of a label: offset in points, alignment, box in pixels, and cost without obstacles."""

    offset: tuple[float, float]
    across: str
    along: str
    box: Bbox
    cost: float


class _Obstacles(NamedTuple):
    """Axes, markers and lines in pixels: corner points of markers, and points of each line."""

    frame: Bbox
    markers: FloatArray
    lines: Sequence[FloatArray]
    radius: float

    def cost(self, box: Bbox, taken: Sequence[Bbox]) -> float:
        """Cost of what a label at this box would cover."""
        inside = (
            self.frame.x0 <= box.x0 and box.x1 <= self.frame.x1 and self.frame.y0 <= box.y0 and box.y1 <= self.frame.y1
        )
        return (
            OUTSIDE * (not inside)
            + ON_LABEL * sum(bool(box.padded(self.radius).overlaps(other)) for other in taken)
            + ON_MARKER * int(_within(self.markers, box.padded(self.radius)).sum())
            + ON_LINE * sum(bool(_within(line, box).any()) for line in self.lines)
        )


def _obstacles(axes: Axes, renderer: RendererBase) -> _Obstacles:
    """Markers and lines of the axes at their present size and scale."""
    curves = [axes.transData.transform(np.column_stack(line.get_data()).astype(float)) for line in axes.lines]
    curves = [curve[np.isfinite(curve).all(axis=1)] for curve in curves]
    steps = np.linspace(0, 1, STEPS)[:, None]
    lines = [(1 - steps) * start + steps * end for curve in curves for start, end in pairwise(curve)]
    markers = np.concatenate([np.zeros((0, 2)), *curves])
    return _Obstacles(axes.get_window_extent(renderer), markers, lines, _pixels(renderer, MARKER_RADIUS))


def _positions(label: Annotation, preferred: FloatArray, renderer: RendererBase) -> Iterator[_Position]:
    """Positions in eight directions, at each distance."""
    width, height = label.get_window_extent(renderer).size
    x, y = _place(label)
    for step, distance in enumerate(DISTANCES):
        for right in (1, 0, -1):
            for up in (1, 0, -1):
                if right or up:
                    offset = (distance * right, distance * up)
                    left = x + _pixels(renderer, offset[0]) - width * (1 - right) / 2
                    low = y + _pixels(renderer, offset[1]) - height * (1 - up) / 2
                    turned = abs(right - preferred[0]) + abs(up - preferred[1])
                    yield _Position(
                        offset, SIDES[0][1 - right], SIDES[1][1 - up], Bbox.from_bounds(left, low, width, height),
                        FARTHER * step + TURNED * turned,
                    )  # fmt: skip


def _place(label: Annotation) -> FloatArray:
    """Point of a label in pixels."""
    return np.asarray(label.axes.transData.transform(label.xy))  # type: ignore[union-attr]


def _within(points: FloatArray, box: Bbox) -> FloatArray:
    """Flag of each point, True inside the box."""
    return np.asarray(((points > box.min) & (points < box.max)).all(axis=1))


def _pixels(renderer: RendererBase, points: float) -> float:
    return float(np.asarray(renderer.points_to_pixels(points)))


MAX_BAR_SIZE = 30
"""Size from which groups share one bar."""

MAX_SIDE_BY_SIDE = 4
"""Number of publications above which each has a row of its own."""

ROW_STEP = 1.15
"""Distance between two rows, in units of the highest bar."""

SUPPRESSED_PLACE = -2
"""Place of the bar of suppressed records on the axis of sizes."""


def group_sizes(releases: Mapping[str, Sequence[Release]], *, ax: Axes | None = None) -> Axes:
    """Share of the records in groups of each size, over all releases, and of suppressed records.

    The bars of at most four publications stand side by side. More publications have one row each, on a common scale.

    Parameters
    ----------
    releases : mapping of title to sequence of Release
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If the releases have no titles, or are not releases; if ``ax`` is not Axes.
    """
    check_titled("group_sizes", "releases", releases, Sequence, "is a sequence of releases, as publish returns it")
    for title, published in releases.items():
        for release in published:
            check_kind("group_sizes", f"releases[{title!r}]", release, Release, "holds releases")
    sizes = {title: _sizes(published) for title, published in releases.items()}
    largest = int(max((found.max(initial=0) for found in sizes.values()), default=0))
    last, in_rows = min(largest, MAX_BAR_SIZE), len(sizes) > MAX_SIDE_BY_SIDE
    shares = {title: _shares(published, sizes[title], last) for title, published in releases.items()}
    axes = one_panel("group_sizes", ax, 8, 1.2 + 0.9 * len(sizes) if in_rows else 4.2)
    hide_frame(axes, "y", "0.9")
    (_draw_rows if in_rows else _draw_side_by_side)(axes, shares, last)
    _label_sizes(axes, last, largest)
    axes.set_title("Records by the size of their group")
    return axes


def _draw_side_by_side(axes: Axes, shares: Mapping[str, FloatArray], last: int) -> None:
    """Draw the bars of each publication beside those of the others."""
    width = 0.8 / max(len(shares), 1)
    for number, (title, heights) in enumerate(shares.items()):
        places = _places(last) + (number - (len(shares) - 1) / 2) * width
        axes.bar(places, heights, width, label=without_mathtext(title), color=COLORS[number % len(COLORS)])
    axes.set_ylabel("share of the records")
    if shares:
        axes.legend(frameon=False)


def _draw_rows(axes: Axes, shares: Mapping[str, FloatArray], last: int) -> None:
    """Draw the bars of each publication on a line of its own, the first one on top."""
    step = ROW_STEP * max(float(heights.max()) for heights in shares.values()) or 1.0
    bottoms = step * np.arange(len(shares))[::-1]
    for number, (heights, bottom) in enumerate(zip(shares.values(), bottoms, strict=True)):
        axes.bar(_places(last), heights, 0.8, bottom, color=COLORS[number % len(COLORS)])
    axes.set_yticks(bottoms, [without_mathtext(title) for title in shares])
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(0, step * len(shares)), ylabel=f"share of the records; {step:.1%} from line to line")


def _places(last: int) -> FloatArray:
    """Places of the bars: suppressed records, then groups of 1, 2, ..., ``last`` members."""
    return np.concatenate([[SUPPRESSED_PLACE], np.arange(1.0, last + 1)])


def _sizes(published: Sequence[Release]) -> IntArray:
    counts = [np.bincount(release.group[release.group >= 0]) for release in published]
    return np.concatenate([np.zeros(0), *counts]).astype(np.int64)


def _shares(published: Sequence[Release], sizes: IntArray, last: int) -> FloatArray:
    """Share of suppressed records, then of records in groups of 1, 2, ..., ``last`` or more members."""
    suppressed = sum(int((release.group < 0).sum()) for release in published)
    records = np.bincount(np.minimum(sizes, last), weights=sizes, minlength=last + 1)
    total = max(sum(len(release.view) for release in published), 1)
    return np.concatenate([[suppressed], records[1:]]) / total


def _label_sizes(axes: Axes, last: int, largest: int) -> None:
    sizes = list(range(last, 0, -max(1, last // 15)))
    labels = [f"{size}+" if size == last and largest > last else str(size) for size in sizes]
    axes.set_xticks([SUPPRESSED_PLACE, *sizes], ["suppressed", *labels])
    axes.set_xlabel("size of the group")
