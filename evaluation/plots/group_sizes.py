"""Plot of the sizes of published groups."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from foreknow.evaluation.plots.arguments import check_titled
from foreknow.evaluation.plots.panels import one_panel
from foreknow.evaluation.plots.style import COLORS, hide_frame, without_mathtext
from foreknow.models import Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_kind

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
    """Sizes of all groups."""
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
