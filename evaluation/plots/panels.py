"""Axes of a plot: those that the caller gives, or those of a new figure."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from foreknow.models.settings import shown

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
        found = f"{len(given)} Axes" if len(given) != number else "the same Axes twice"
        raise ValueError(f"{owner}: ax has {found}, and the plot has {number} panels; give an array of shape {shape}.")
    panels = np.empty(number, dtype=object)
    panels[:] = given
    return panels.reshape(shape)


def row_of_panels(
    owner: str,
    ax: Any,
    names: Sequence[Any],
    draw: Callable[[Axes, Any], None],
    *,
    size: tuple[float, float],
    title: str,
    sharex: bool = False,
    **title_style: Any,
) -> Panels:
    """Panels side by side with one vertical axis, each drawn by its name; shape ``(len(names),)``.

    They are the given axes, as `given_panels`, or those of a new figure with a size in inches and a title.
    """
    panels = given_panels(owner, ax, (len(names),))
    if panels is None:
        figure = new_figure(*size)
        figure.suptitle(title, **title_style)
        panels = figure.subplots(1, len(names), sharex=sharex, sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        draw(axes, name)
    if ax is None:
        keep_first_labels(panels)
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
        what = f"Axes of the projection {ax.name!r}" if isinstance(ax, Axes) else shown(ax)
        raise TypeError(f"{owner}: ax is {what}; it {takes}.")
    return ax
