"""Positions on an axis of time, with gaps for missing times."""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from foreknow.evaluation.plots.style import without_mathtext
from foreknow.models.arrays import FloatArray

MAX_RELATIVE_STEP = 1.5
"""Difference between two times, in units of the usual difference, above which a time is missing between them."""


class TimeAxis(NamedTuple):
    """Columns of a heat map over time.

    Attributes
    ----------
    labels : tuple of str
        Label of each column.
    columns : dict of time to int
        The column of each time.
    gaps : tuple of int
        Columns that stand for missing times.
    """

    labels: tuple[str, ...]
    columns: dict[Hashable, int]
    gaps: tuple[int, ...]

    def draw_ticks(self, axes: Axes) -> None:
        """Label the columns, and hatch those of missing times."""
        axes.set_xticks(range(len(self.labels)), list(self.labels))
        hatch_columns(axes, self.gaps)


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


def hatch_columns(axes: Axes, columns: Collection[int]) -> None:
    """Hatch the columns of a heat map in which there is nothing to show."""
    for column in columns:
        axes.axvspan(
            column - 0.5, column + 0.5, facecolor="0.96", edgecolor="0.75", hatch="///", linewidth=0, zorder=0.5
        )


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
