"""Colours, markers, lines and labels that all plots share."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from numbers import Integral
from typing import Any, Literal, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from foreknow.models import Beliefs
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind, shown
from foreknow.models.tables.columns import check_columns

COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A3E9D", "#8C6D1F", "#8A8A8A",
)  # fmt: skip
"""Colours of series. The first seven are distinct for colour-blind readers (Okabe and Ito)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">", "p")
"""Markers of series, which distinguish them in grey. There is one more than colours, so that pairs repeat late."""
LINES = ("-", "--", ":")
"""Dashes of a second set of series in one panel, each with its own fill of `FILLS`."""
FILLS = ("full", "none", "left")
"""Fills of markers that go with `LINES`."""


def color_and_marker(number: int, size: float = 5) -> dict[str, Any]:
    """Colour and marker of a series by its number, the same in every plot."""
    return {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)], "markersize": size}


def hide_frame(axes: Axes, grid: str = "both", color: str = "0.92") -> None:
    """Hide the top and right edges of axes, and draw a light grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color=color)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def legend(axes: Axes, entries: list[tuple[str, dict[str, Any]]]) -> None:
    """Draw a legend to the right of the axes: pairs of a label and the properties of its line."""
    handles = [Line2D([], [], label=without_mathtext(name), **style) for name, style in entries]
    place_legend(axes, handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=3)


def place_legend(axes: Axes, handles: Sequence[Artist], **outside: Any) -> None:
    """Draw a legend outside the axes if the layout of the figure makes room for it, otherwise inside in one column."""
    makes_room = axes.figure.get_layout_engine() is not None
    inside = {} if makes_room else {"loc": "best", "bbox_to_anchor": None, "ncols": 1, "frameon": True}
    axes.legend(handles=list(handles), **({"fontsize": 9, "frameon": False} | outside | inside))


def without_mathtext(label: object) -> str:
    r"""A label from data with its dollar signs escaped; Matplotlib reads text between two of them as mathematics.

    Examples
    --------
    >>> without_mathtext("$5 to $10")
    '\\$5 to \\$10'
    """
    return str(label).replace("$", r"\$")


type Panels = NDArray[Any]
"""Array of matplotlib Axes."""


def new_figure(width: float, height: float) -> Figure:
    """Empty figure of pyplot, with constrained layout; sizes in inches. A notebook shows it below its cell."""
    return plt.figure(figsize=(width, height), layout="constrained")


def one_panel(owner: str, ax: Any, width: float, height: float) -> Axes:
    """Given axes, or those of a new figure. Raise TypeError unless ``ax`` is None or Axes."""
    if ax is None:
        return new_figure(width, height).subplots()
    return _checked(owner, ax, "is the matplotlib Axes to draw on")


def given_panels(owner: str, ax: Any, shape: tuple[int, ...]) -> Panels | None:
    """Array of the given axes, shape ``shape``; None if none are given.

    Axes in another arrangement, such as a grid of two rows, are taken row by row. One panel may be given as Axes.

    Raises
    ------
    TypeError
        If ``ax`` is neither None nor Axes.
    ValueError
        If there are more or fewer axes than panels, or an axes is given twice.
    """
    if ax is None:
        return None
    number = prod(shape)
    takes = f"is an array of {number} matplotlib Axes, shape {shape}, as matplotlib's subplots returns it"
    given = [_checked(owner, one, takes) for one in _in_rows(ax)]
    if len(given) != number or len(set(given)) != number:
        raise ValueError(
            f"{owner}: ax has {len(set(given))} different Axes, and the plot has {number} panels; give an array of shape {shape}."
        )
    panels = np.empty(number, dtype=object)
    panels[:] = given
    return panels.reshape(shape)


def new_or_given_panels(
    owner: str,
    ax: Any,
    shape: tuple[int, ...],
    size: tuple[float, float],
    title: str = "",
    *,
    sharex: bool = False,
    sharey: Literal["row"] | bool = False,
    **title_style: Any,
) -> Panels:
    """Panels of one or two rows: the given axes, as `given_panels`, or those of a new figure with a size in inches."""
    panels = given_panels(owner, ax, shape)
    if panels is not None:
        return panels
    figure = new_figure(*size)
    if title:
        figure.suptitle(title, **title_style)
    return figure.subplots(*(1, *shape)[-2:], sharex=sharex, sharey=sharey, squeeze=False).reshape(shape)


PANEL_SIZE, LINE_OF_LEGEND = (4.0, 3.1), 90
"""Size of one of several panels in inches, two of which fill the width of a page, and characters of a line of their legend."""


def small_multiples(
    owner: str,
    ax: Any,
    names: Sequence[Any],
    draw: Callable[[Axes, Any], None],
    entries: list[tuple[str, dict[str, Any]]],
    *,
    title: str,
    sharex: bool = False,
    **title_style: Any,
) -> Panels:
    """Panels with one vertical axis, each drawn by its name, and a legend; shape ``(len(names),)``.

    Those of a new figure stand in two columns, with the legend below all; on given axes it stands beside the last.
    """
    panels = given_panels(owner, ax, (len(names),))
    if panels is not None:
        for axes, name in zip(panels, names, strict=True):
            draw(axes, name)
        legend(panels[-1], entries)
        return panels
    columns, rows = min(len(names), 2), -(-len(names) // 2)
    figure = new_figure(2 * PANEL_SIZE[0], PANEL_SIZE[1] * rows + 0.9)
    figure.suptitle(title, **title_style)
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=True, squeeze=False).ravel()
    for rest in grid[len(names) :]:
        rest.remove()
    panels = grid[: len(names)]
    for axes, name in zip(panels, names, strict=True):
        draw(axes, name)
    keep_first_labels(panels)
    handles = [Line2D([], [], label=without_mathtext(name), **style) for name, style in entries]
    longest = max(len(name) for name, _ in entries) + 8
    columns = max(min(len(entries), LINE_OF_LEGEND // longest), 1)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9, frameon=False, handlelength=3)
    return panels


def keep_first_labels(panels: Panels) -> None:
    """Remove the label of the vertical axis from the panels of a new figure that stand right of others."""
    for axes in panels.flat:
        if not axes.get_subplotspec().is_first_col():
            axes.set_ylabel("")


def _in_rows(ax: Any) -> list[Any]:
    """Elements of an array or a nested list, row by row."""
    if isinstance(ax, np.ndarray):
        return list(ax.flat)
    return [one for row in ax for one in _in_rows(row)] if isinstance(ax, list | tuple) else [ax]


def _checked(owner: str, ax: Any, takes: str) -> Axes:
    if not isinstance(ax, Axes) or ax.name != "rectilinear":
        raise TypeError(f"{owner}: ax is {shown(ax)}; it {takes}, with straight axes.")
    return ax


MAX_RELATIVE_STEP = 1.5
"""Difference between two times, in units of the usual difference, above which a time is missing between them."""


class TimeAxis(NamedTuple):
    """Columns of a heat map over time."""

    labels: tuple[str, ...]  # label of each column
    columns: dict[Hashable, int]  # the column of each time
    gaps: tuple[int, ...]  # columns that stand for missing times

    def draw_ticks(self, axes: Axes) -> None:
        """Label the columns, and hatch those of missing times."""
        axes.set_xticks(range(len(self.labels)), list(self.labels))
        for gap in self.gaps:
            axes.axvspan(gap - 0.5, gap + 0.5, facecolor="0.96", edgecolor="0.75", hatch="///", linewidth=0, zorder=0.5)


def time_axis(times: Sequence[Any], breaks: Collection[int] = ()) -> TimeAxis:
    """One column for each time in increasing order, and one for each interval in which times are missing.

    Times are missing where two numbers or dates differ by more than 1.5 times the most common difference (the smallest, if several
    are as common). Nothing is missing between times that are text.

    Parameters
    ----------
    times : sequence
    breaks : collection of int
        Numbers of times after which there is a gap in any case.

    Examples
    --------
    >>> time_axis([1, 2, 5, 6]).labels
    ('1', '2', '3–4', '5', '6')
    """
    missing = set(breaks) | gaps_after(times)
    labels: list[str] = []
    columns: dict[Hashable, int] = {}
    gaps = []
    for number, time in enumerate(times):
        columns[time] = len(labels)
        labels.append(without_mathtext(time))
        if number in missing:
            gaps.append(len(labels))
            labels.append(_missing_label(time, times[number + 1], _usual_step(times)))
    return TimeAxis(tuple(labels), columns, tuple(gaps))


def in_order(times: list[Any]) -> list[Any]:
    """Sorted times; as they are if they have no order."""
    try:
        return sorted(times)
    except TypeError:
        return times


def gaps_after(times: Sequence[Any]) -> set[int]:
    """Numbers of the times after which a time is missing."""
    step = _usual_step(times)
    if step is None:
        return set()
    return {
        number for number, (before, after) in enumerate(pairwise(times)) if after - before > MAX_RELATIVE_STEP * step
    }


def with_gaps(times: Sequence[Any], heights: FloatArray) -> tuple[list[Any], FloatArray]:
    """Points of a line that is broken where times are missing: a NaN stands between the two times."""
    places = sorted(gaps_after(times))
    broken = list(times)
    for place in reversed(places):
        broken.insert(place + 1, times[place] + (times[place + 1] - times[place]) / 2)
    return broken, np.insert(heights, [place + 1 for place in places], np.nan)


def _usual_step(times: Sequence[Any]) -> Any:
    """The most common difference of consecutive times, the smallest of those as common; None for text or a single time."""
    if len(times) < 2 or any(isinstance(time, str) for time in times):
        return None
    try:
        counts = Counter(after - before for before, after in pairwise(times))
        return min(counts, key=lambda step: (-counts[step], step))
    except TypeError:
        return None


def _missing_label(before: Any, after: Any, step: Any) -> str:
    """Label of missing times: the whole numbers that are missing, or an ellipsis."""
    if not all(isinstance(value, Integral) for value in (before, after, step)) or after - before <= step:
        return "…"
    first, last = before + step, after - step
    return str(first) if first >= last else f"{first}–{last}"


def check_text(owner: str, **texts: Any) -> None:
    """Raise TypeError unless arguments are text."""
    for name, text in texts.items():
        check_kind(owner, name, text, str, "is text")


def check_titled(owner: str, name: str, titled: Any, kind: type, takes: str) -> None:
    """Raise TypeError unless an argument is a mapping from titles to objects of a type."""
    check_kind(owner, name, titled, Mapping, f'is a mapping of titles, as {{"a title": {name}}}')
    for title, value in titled.items():
        check_kind(owner, f"{name}[{title!r}]", value, kind, takes)


def as_titled(owner: str, beliefs: Any) -> dict[str, Beliefs]:
    """Return a mapping of title to beliefs; beliefs alone get an empty title. Raise TypeError or ValueError for anything else."""
    if isinstance(beliefs, Beliefs):
        return {"": beliefs}
    check_titled(owner, "beliefs", beliefs, Beliefs, "is a Beliefs, as an attack returns it")
    if not beliefs:
        raise ValueError(f"{owner}: beliefs is empty; give the beliefs of at least one attack.")
    return dict(beliefs)


def check_table(owner: str, name: str, table: Any, columns: Iterable[str], takes: str) -> None:
    """Raise TypeError or ValueError unless an argument is a DataFrame with some columns, the last of them numeric."""
    check_kind(owner, name, table, pd.DataFrame, takes)
    names = list(columns)
    check_columns(table, names)
    if not pd.api.types.is_numeric_dtype(table[names[-1]]):
        raise ValueError(
            f"{owner}: the column {names[-1]!r} holds {table[names[-1]].dtype} values; a plot shows numbers. Choose another column."
        )
