"""Labels beside markers, shown where there is room."""

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation

from foreknow.models.arrays import FloatArray

DISTANCE = 3.0
"""Distance of a label from the edge of its marker, in points."""


class MarkerLabels(Artist):
    """Invisible artist that shows each label of its axes right or left of its marker, or hides it.

    The room depends on the size of the figure and on the layout, so labels are placed at each drawing. A label is hidden where it
    would overlap a marker, an earlier label or the edge of the axes.

    Parameters
    ----------
    labels : sequence of Annotation
        Labels of the same axes, the most important first.
    radii : float array, shape (n,)
        Radii of their markers, in points.
    """

    def __init__(self, labels: Sequence[Annotation], radii: FloatArray) -> None:
        super().__init__()
        self.labels = labels
        self.radii = radii
        self.set_zorder(-1)  # drawn before the labels
        self.set_in_layout(False)
        for label in labels:
            label.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the labels one after the other; each is compared with all markers and the labels before it."""
        if not isinstance(self.axes, Axes) or not self.labels:
            return
        scale = float(np.asarray(renderer.points_to_pixels(1.0)))
        frame = self.axes.get_window_extent(renderer)
        places = self.axes.transData.transform([label.xy for label in self.labels])
        low, high = (places + sign * scale * self.radii[:, None] for sign in (-1, 1))  # corners of what is taken
        for label, (x, y), radius in zip(self.labels, places, self.radii, strict=True):
            label.set_visible(True)
            width, height = label.get_window_extent(renderer).size
            away = radius + DISTANCE
            for side, left in (("left", x + away * scale), ("right", x - away * scale - width)):
                start, end = np.array([left, y - height / 2]), np.array([left + width, y + height / 2])
                is_covered = ((start < high) & (low < end)).all(axis=1).any()
                if frame.x0 < start[0] and end[0] < frame.x1 and not is_covered:
                    label.set(position=(away if side == "left" else -away, 0), horizontalalignment=side)
                    low, high = np.vstack([low, start]), np.vstack([high, end])
                    break
            else:
                label.set_visible(False)
