"""Colours, markers, lines and labels that all plots share."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

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
    color = COLORS[number % len(COLORS)]
    return {"color": color, "marker": MARKERS[number % len(MARKERS)], "markersize": size}


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
