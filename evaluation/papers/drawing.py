"""Means and intervals over the seeds of a figure, and its picture."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from numbers import Real
from textwrap import fill
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator
from scipy.stats import t

from foreknow.evaluation.papers.figures import Figure
from foreknow.evaluation.plots.style import color_and_marker, hide_frame, new_figure, without_mathtext

CONFIDENCE = 0.95
"""Level of the intervals over seeds: those of Student's t for the mean."""

LEAST_SEEDS = 3
"""Smallest number of seeds from which a figure has an interval, and a claim a verdict."""

IN_A_ROW, WIDTH = 2, 7.2
"""Largest number of panels side by side, and inches of a picture, which a page of the documentation shows without scaling."""

ALIKE = 0.02
"""Fraction of the range of a panel, about a marker, within which two lines coincide."""

SMALL = 1.5
"""Size of the marker of a mean of fewer seeds than an interval needs, where others of the figure have enough."""

MOST_LABELS = 8
"""Largest number of points of a line of a map that are labelled each; of more, the first and the last one."""


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
    """Text of a mean and half of its interval: two digits of the half, at most four of the mean; NaN is left out.

    Examples
    --------
    >>> with_interval(9.71, 12.3), with_interval(0.0445, 7e-19), with_interval(0.25, float("nan"))
    ('10 ± 12', '0.0445 ± 0', '0.25')
    """
    if pd.isna(mean):
        return ""
    largest = max(abs(mean), 0 if pd.isna(half) else half)
    if pd.isna(half) or half <= 1e-9 * largest:
        return (f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.3g}") + ("" if pd.isna(half) else " ± 0")
    places = max(0, min(1 - math.floor(math.log10(half)), 3 - math.floor(math.log10(largest))))
    return f"{mean:z,.{places}f} ± {max(half, 10.0**-places):,.{places}f}"


def in_order(values: Iterable[Any]) -> list[Any]:
    """Different values, numbers in increasing order, others in the order given."""
    found = list(dict.fromkeys(values))
    return sorted(found) if all(isinstance(each, Real) for each in found) else found


def means(figure: Figure, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Means over the seeds of a figure.

    Returns
    -------
    DataFrame
        ``panel``, ``line``, ``point``, ``x`` and ``y``, their half widths ``across`` and ``half``, NaN for fewer than `LEAST_SEEDS`
        seeds, and the number ``seeds`` of those that have a value. ``point`` is x, but for a map, where x is a mean too. Panels and
        lines stand in the order of the query, and within them numbers x in increasing order.

    Raises
    ------
    Missing
        If no cells of the figure are kept.
    """
    rows = answered(figure.query, tables)
    if rows.empty:
        raise Missing(", ".join(tables_of(figure.query, tables)))
    rows = rows.assign(**{name: "" for name in ("panel", "line") if name not in rows})
    is_map = figure.kind == "points"
    rows = rows if is_map else rows.assign(point=rows["x"])
    found = []
    for key, group in rows.groupby(["panel", "line", "point"], sort=False, dropna=False):
        known = group[group["y"].notna()]
        seeds = known["seed"].nunique()
        y, half = interval(known["y"])
        x, across = interval(known["x"]) if is_map else (key[2], float("nan"))
        found.append((*key, x, y, *((across, half) if seeds >= LEAST_SEEDS else (float("nan"),) * 2), seeds))
    lines = {each: number for number, each in enumerate(dict.fromkeys(row[:2] for row in found))}
    points = {each: number for number, each in enumerate(in_order(row[2] for row in found))}
    found.sort(key=lambda row: (lines[row[:2]], points[row[2]]))
    return pd.DataFrame(found, columns=pd.Index(["panel", "line", "point", "x", "y", "across", "half", "seeds"]))


def coinciding(rows: pd.DataFrame, log: bool = False) -> dict[str, str]:
    """Names of the lines of a panel whose points are within `ALIKE` of those of an earlier line, and the name of that."""
    scaled = rows.assign(y=np.log10(rows["y"].where(rows["y"] > 0)) if log else rows["y"])
    names = [name for name in ("x", "y") if scaled[name].dtype.kind in "fi"]
    ranges = scaled[names].max() - scaled[names].min()
    points = {str(line): own.set_index("point")[names] for line, own in scaled.groupby("line", sort=False)}
    found: dict[str, str] = {}
    for (first, other), (line, own) in combinations(points.items(), 2):
        near = ((own - other.reindex(own.index)).abs() <= ALIKE * ranges).all(axis=1)
        if not {first, line} & {*found} and near.eq(own["y"].notna()).all() and near.any():
            found[line] = first
    return found


def draw(figure: Figure, rows: pd.DataFrame) -> Picture:
    """Picture of the `means` of a figure; a panel's title names the lines that coincide.

    Panels have one vertical scale, on a linear axis only if the range of each is at least a third of that of all.
    """
    panels, lines = list(dict.fromkeys(rows["panel"])), list(dict.fromkeys(rows["line"]))
    wide = min(len(panels), IN_A_ROW)
    high = -(-len(panels) // wide)
    picture = new_figure(WIDTH, 3.0 * high + 0.2 * (len(lines) + len(figure.marks)) / 2 + 0.3)
    axes = picture.subplots(high, wide, squeeze=False).flat
    for spare in axes[len(panels) :]:
        spare.remove()
    parts = [rows[rows["panel"] == panel] for panel in panels]
    limits, own = _limits(figure, rows), [_limits(figure, part) for part in parts]
    is_shared = figure.log or 3 * min(top - bottom for bottom, top in own) >= limits[1] - limits[0]
    for place, (panel, part, one) in enumerate(zip(panels, parts, axes, strict=False)):
        if figure.log:
            one.set_yscale("log")
            one.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            one.yaxis.set_major_formatter("{x:g}")
            one.yaxis.set_minor_formatter("")
        bottom, top = limits if is_shared else own[place]
        one.set_ylim(*((10**bottom, 10**top) if figure.log else (bottom, top)))
        _draw_panel(figure, part, lines, one)
        names: dict[str, list[str]] = {}
        for line, first in coinciding(part, figure.log).items() if figure.kind != "bars" else ():
            names.setdefault(first, []).append(line)
        alike = "; ".join(" ≈ ".join([first, *others]) for first, others in names.items())
        texts = [str(panel), *([fill(alike, 46 if wide > 1 else 90)] if alike else [])]
        one.set_title(without_mathtext("\n".join(filter(None, texts))), fontsize=9 if wide > 1 else 10)
        one.set_xlabel(figure.x_label)
        if place % wide == 0:
            one.set_ylabel(figure.y_label)
    entries: dict[str, Any] = {}
    for one in axes[: len(panels)]:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        title = f"numbers at points: {figure.point_label}" if figure.point_label else ""
        below = picture.legend(
            [*entries.values()], [*entries], loc="outside lower center", ncols=2, fontsize=9, frameon=False
        )
        below.set_title(title, FontProperties(size=9))
    return picture


def _limits(figure: Figure, rows: pd.DataFrame) -> tuple[float, float]:
    """Limits of the vertical axis, logarithms on a logarithmic one."""
    printed = [y for panel, _, _, y in figure.printed if panel in set(rows["panel"])]
    also = [*figure.marks.values(), *np.ravel(printed), *([0.0] if figure.kind == "bars" else [])]
    return _around(rows["y"], rows["half"], also, figure)


def _around(
    values: "pd.Series[float]", halves: "pd.Series[float]", also: Sequence[float], figure: Figure, vertical: bool = True
) -> tuple[float, float]:
    """Limits of an axis around means, their intervals, and other values."""
    ends = ((values + sign * halves).clip(*figure.within) for sign in (-1, 1))
    shown = np.concatenate([np.asarray(each, dtype=float) for each in (values, *ends, also)])
    if figure.log and vertical:
        shown = np.log10(np.where(shown > 0, shown, np.nan))
    shown = shown[np.isfinite(shown)] if np.isfinite(shown).any() else np.zeros(1)
    low, high = float(shown.min()), float(shown.max())
    margin = 0.04 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _draw_panel(figure: Figure, rows: pd.DataFrame, lines: Sequence[str], axes: Axes) -> None:
    hide_frame(axes)
    places, alike = {x: place for place, x in enumerate(in_order(rows["x"]))}, coinciding(rows, figure.log)
    labels: list[Any] = []
    if figure.kind == "points":
        ranges = [x for panel, _, x, _ in figure.printed if panel == rows["panel"].iloc[0]]
        axes.set_xlim(*_around(rows["x"], rows["across"], np.ravel(ranges).tolist(), figure, vertical=False))
    for number, line in enumerate(lines):
        own = rows[rows["line"] == line]
        if own.empty:
            continue
        style, label = color_and_marker(number, 3.5), without_mathtext(line)
        low, high = ((own["y"] + sign * own["half"]).clip(*figure.within) for sign in (-1, 1))
        if figure.kind == "bars":
            beside = [list(rows.loc[rows["x"] == x, "line"]) for x in own["x"]]
            at = [
                places[x] + (names.index(line) - (len(names) - 1) / 2) * 0.8 / len(lines)
                for x, names in zip(own["x"], beside, strict=True)
            ]
            errors = np.nan_to_num([own["y"] - low, high - own["y"]]).clip(0).tolist()
            axes.bar(
                at, own["y"], 0.8 / len(lines), yerr=errors, color=style["color"], label=label, error_kw={"lw": 0.8}
            )
        elif figure.kind == "points":
            left, right = ((own["x"] + sign * own["across"]).clip(*figure.within) for sign in (-1, 1))
            bars = {"color": style["color"], "linewidth": 0.7, "alpha": 0.3}
            axes.vlines(own["x"], low, high, **bars)
            axes.hlines(own["y"], left, right, **bars)
            axes.plot(own["x"], own["y"], linestyle="none", **style, label=label)
            _label_points(own, style["color"], axes, labels)
        else:
            if line in alike:
                style |= {"linestyle": "none", "markerfacecolor": "none"}
            few = (own["seeds"] < LEAST_SEEDS).to_numpy() & (rows["seeds"] >= LEAST_SEEDS).any()
            axes.plot(own["x"], own["y"], **style, linewidth=1.2, label=label, markevery=np.flatnonzero(~few).tolist())
            if few.any():
                axes.plot(own["x"][few], own["y"][few], **style | {"linestyle": "none", "markersize": SMALL})
            axes.fill_between(own["x"], low, high, color=style["color"], alpha=0.15, linewidth=0)
        for panel, of, x, y in figure.printed if figure.kind == "points" else ():
            if (panel, of) == (rows["panel"].iloc[0], line):
                frame = {"fill": False, "edgecolor": style["color"], "linestyle": "--"}
                axes.add_patch(
                    Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0], label=f"{label}, printed range", **frame)
                )
    if figure.kind == "bars":
        axes.set_xticks(range(len(places)), [without_mathtext(x) for x in places], fontsize=9)
        axes.set_ylim(bottom=0)
    elif figure.kind == "curves" and min(np.diff([*places]), default=1) > np.ptp([*places]) / 15:
        axes.set_xticks([*places], [f"{x:g}" for x in places])
    for number, (label, height) in enumerate(figure.marks.items()):
        axes.axhline(
            height, color="0.35", linestyle=("--", ":", "-.")[number % 3], linewidth=1, label=without_mathtext(label)
        )


def _label_points(rows: pd.DataFrame, color: str, axes: Axes, taken: list[Any]) -> None:
    """Write the parameter beside each point of a line, but not over a label that stands."""
    shown = rows.dropna(subset=["y"])
    shown = shown if len(shown) <= MOST_LABELS else shown.iloc[[0, -1]]
    for point, x, y in shown[["point", "x", "y"]].itertuples(index=False, name=None):
        place = axes.transData.transform((x, y))
        if all((abs(place - other) > (22, 9)).any() for other in taken):
            taken.append(place)
            axes.annotate(f"{point:g}", (x, y), (3, 2), textcoords="offset points", fontsize=8, color=color)
