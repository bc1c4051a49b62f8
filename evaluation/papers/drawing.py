"""Means and intervals over the seeds of a figure, and its picture."""

from collections.abc import Iterable, Mapping, Sequence

import duckdb
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from scipy.stats import t

from foreknow.evaluation.papers.figures import Figure
from foreknow.evaluation.plots.style import color_and_marker, hide_frame, new_figure, without_mathtext

CONFIDENCE = 0.95
"""Level of the intervals over seeds: those of Student's t for the mean."""

IN_A_ROW = 3
"""Largest number of panels side by side."""


class Missing(Exception):  # noqa: N818 - the name says what is wrong
    """Raised if a query reads an experiment without rows; its text is the names of those."""


def tables_of(query: str, names: Iterable[str]) -> list[str]:
    """Those of some names that are words of a query."""
    words = set(query.translate(str.maketrans("(),.;", "     ")).split())
    return [name for name in names if name in words]


def answered(query: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of a query over the tables of experiments. Raise `Missing` if it reads an empty one."""
    read = tables_of(query, tables)
    if empty := [name for name in read if tables[name].empty]:
        raise Missing(", ".join(empty))
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for name in read:
            connection.register(name, tables[name])
        found: pd.DataFrame = connection.sql(query).df()
    return found


def interval(values: "pd.Series[float]") -> tuple[float, float]:
    """Mean of numbers, and half the width of its interval, NaN for a single number."""
    known = values.dropna()
    if len(known) < 2:
        return float(known.mean()), float("nan")
    half = t.ppf((1 + CONFIDENCE) / 2, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known))
    return float(known.mean()), float(half)


def with_interval(mean: float, half: float) -> str:
    """Text of a mean and half of its interval; NaN is left out."""
    if pd.isna(mean):
        return ""
    large = abs(mean) >= 1000
    text = f"{mean:,.0f}" if large else f"{mean:.3g}"
    return text if pd.isna(half) else f"{text} ± {half:,.0f}" if large else f"{text} ± {half:.1g}"


def means(figure: Figure, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Means over the seeds of a figure: ``panel``, ``line``, ``x``, ``y``, ``half`` the half width of the interval, ``seeds``.

    Rows stand in the order in which the query gives them. A map of points has the mean of x as well.
    """
    rows = answered(figure.query, tables)
    rows = rows.assign(**{name: "" for name in ("panel", "line") if name not in rows})
    by = ["panel", "line", "point" if figure.kind == "points" else "x"]
    found = []
    for key, group in rows.groupby(by, sort=False, dropna=False):
        mean, half = interval(group["y"])
        across = group["x"].mean() if figure.kind == "points" else key[2]
        found.append((key[0], key[1], across, mean, half, group["seed"].nunique()))
    return pd.DataFrame(found, columns=pd.Index(["panel", "line", "x", "y", "half", "seeds"]))


def draw(figure: Figure, rows: pd.DataFrame) -> Picture:
    """Picture of the `means` of a figure."""
    panels, lines = list(dict.fromkeys(rows["panel"])), list(dict.fromkeys(rows["line"]))
    width = min(len(panels), IN_A_ROW)
    height = -(-len(panels) // width)
    picture = new_figure(4.4 * width + (2.4 if width == 1 else 0), 3.2 * height + 0.24 * len(lines) / width)
    axes = picture.subplots(height, width, squeeze=False, sharey=True)
    for spare in axes.flat[len(panels) :]:
        spare.remove()
    for place, (panel, one) in enumerate(zip(panels, axes.flat, strict=False)):
        _draw_panel(figure, rows[rows["panel"] == panel], lines, one)
        one.set_title(without_mathtext(panel), fontsize=10)
        one.set_xlabel(figure.x_label)
        if place % width == 0:
            one.set_ylabel(figure.y_label)
        for drawn_line, x, y in [each[1:] for each in figure.printed if each[0] == panel]:
            one.plot(
                [x], [y], "x", color="black", markersize=7, label="printed" if drawn_line in ("", lines[0]) else None
            )
    handles, labels = [], []
    for one in axes.flat[: len(panels)]:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            if label and label not in labels:
                handles.append(handle)
                labels.append(label)
    if labels:
        picture.legend(
            handles, labels, loc="outside lower center", ncols=2 if width == 1 else 3, fontsize=8, frameon=False
        )
    return picture


def _draw_panel(figure: Figure, rows: pd.DataFrame, lines: Sequence[str], axes: Axes) -> None:
    hide_frame(axes)
    if figure.log:
        axes.set_yscale("log")
    places = {x: place for place, x in enumerate(dict.fromkeys(rows["x"]))}
    for number, line in enumerate(lines):
        own = rows[rows["line"] == line]
        if own.empty:
            continue
        style, label = color_and_marker(number, 3), without_mathtext(line)
        if figure.kind == "bars":
            step = 0.8 / len(lines)
            at = [places[x] + (number - (len(lines) - 1) / 2) * step for x in own["x"]]
            axes.bar(
                at, own["y"], step, yerr=own["half"].fillna(0), color=style["color"], label=label, error_kw={"lw": 0.8}
            )
        elif figure.kind == "points":
            axes.plot(own["x"], own["y"], linestyle="none", **style, label=label)
        else:
            axes.plot(own["x"], own["y"], **style, linewidth=1.2, label=label)
            low, high = own["y"] - own["half"], own["y"] + own["half"]
            axes.fill_between(own["x"], low, high, color=style["color"], alpha=0.15, linewidth=0)
    if figure.kind == "bars":
        axes.set_xticks(range(len(places)), [without_mathtext(x) for x in places], fontsize=8)
    for number, (label, height) in enumerate(figure.marks.items()):
        axes.axhline(
            height, color="0.35", linestyle=("--", ":", "-.")[number % 3], linewidth=1, label=without_mathtext(label)
        )
