"""Labels beside points, placed where they overlap neither each other nor the curves."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from foreknow.models.arrays import FloatArray

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
