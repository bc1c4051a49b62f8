"""Plot of the sizes of published groups."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from foreknow.evaluation.plots.arguments import check_titled
from foreknow.evaluation.plots.style import COLORS, hide_frame, without_mathtext
from foreknow.models import Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_kind

MAX_BAR_SIZE = 30
"""Size from which groups share one bar."""

MAX_SIDE_BY_SIDE = 4
"""Number of publications above which each has a panel of its own."""

SUPPRESSED_PLACE = -2
"""Place of the bar of suppressed records on the axis of sizes."""


def group_sizes(releases: Mapping[str, Sequence[Release]]) -> Figure:
    """Share of the records in groups of each size, over all releases, and of suppressed records.

    The bars of at most four publications stand side by side; more publications have one panel each.

    Parameters
    ----------
    releases : mapping of title to sequence of Release

    Raises
    ------
    TypeError
        If the releases have no titles, or are not releases.
    """
    check_titled("group_sizes", "releases", releases, Sequence, "is a sequence of releases, as publish returns it")
    for title, published in releases.items():
        for release in published:
            check_kind("group_sizes", f"releases[{title!r}]", release, Release, "holds releases")
    sizes = {title: _sizes(published) for title, published in releases.items()}
    largest = int(max((found.max(initial=0) for found in sizes.values()), default=0))
    last, is_split = min(largest, MAX_BAR_SIZE), len(sizes) > MAX_SIDE_BY_SIDE
    figure = Figure(figsize=(8, 1.2 + 0.9 * len(sizes) if is_split else 4.2), layout="constrained")
    panels = figure.subplots(len(sizes) if is_split else 1, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    width = 0.8 / (1 if is_split else max(len(sizes), 1))
    for axes in panels:
        hide_frame(axes, "y", "0.9")
    for number, (title, published) in enumerate(releases.items()):
        offset = 0.0 if is_split else (number - (len(sizes) - 1) / 2) * width
        axes = panels[number if is_split else 0]
        places = np.concatenate([[SUPPRESSED_PLACE], np.arange(1, last + 1)]) + offset
        shares = _shares(published, sizes[title], last)
        axes.bar(places, shares, width, label=without_mathtext(title), color=COLORS[number % len(COLORS)])
        if is_split:
            axes.text(0.995, 0.9, without_mathtext(title), transform=axes.transAxes, ha="right", va="top", fontsize=9)
    _label_sizes(panels[-1], last, largest)
    figure.supylabel("share of the records", fontsize=10)
    figure.suptitle("Records by the size of their group")
    if not is_split and sizes:
        panels[0].legend(frameon=False)
    return figure


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
