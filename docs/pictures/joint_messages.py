"""Pictures of the page on the joint adversary: chains and groups, the graph of groups, the loop that it removes, and a ring."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"
PEOPLE = ("Ann", "Ben", "Cora", "Dan", "Eve")


class Group(NamedTuple):
    """Published group: its release, its members, the values that it shows, and the number of their arrangements."""

    release: int
    members: tuple[str, ...]
    values: str
    arrangements: int


GROUPS = (
    Group(1, ("Ann", "Ben", "Cora"), "a a b", 3),
    Group(1, ("Dan", "Eve"), "a b", 2),
    Group(2, ("Ann", "Ben"), "a b", 2),
    Group(2, ("Cora", "Dan", "Eve"), "a a b", 3),
    Group(3, ("Ann", "Ben"), "a b", 2),
    Group(3, ("Cora", "Dan"), "a b", 2),
)
EDGES = ((1, 3, "Ann, Ben"), (1, 4, "Cora"), (2, 4, "Dan, Eve"), (3, 5, "Ann, Ben"), (4, 6, "Cora, Dan"))
"""Numbers of two groups, and the members who go from one to the other."""


def chains() -> Figure:
    """Records of five people, joined by their chains, in the groups of three releases."""
    figure, axes = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
    place = {name: -row for row, name in enumerate(PEOPLE)}
    for name, y in place.items():
        times = [group.release for group in GROUPS if name in group.members]
        axes.plot(times, [y] * len(times), color=BLUE, linewidth=2.5, zorder=1)
        axes.plot(times, [y] * len(times), "o", color=BLUE, markersize=11, zorder=3)
        axes.text(0.5, y, name, ha="right", va="center")
    for number, group in enumerate(GROUPS, 1):
        top, bottom = place[group.members[0]], place[group.members[-1]]
        _box(axes, group.release, (top + bottom) / 2, 0.26, top - bottom + 0.6, zorder=0)
        label = f"group {number}: {group.values}"
        axes.text(group.release + 0.18, top - 0.5, label, va="center", color=ORANGE, fontsize=9)
    for release in (1, 2, 3):
        axes.text(release, 0.75, f"release {release}", ha="center")
    _frame(axes, (0.1, 3.8), (-4.5, 1))
    return figure


def graph() -> Figure:
    """The same history as a graph: groups with the number of their arrangements, joined by the members who move together."""
    figure, axes = plt.subplots(figsize=(6.6, 3.1), layout="constrained")
    place = {number: (2.0 * group.release, 1.0 if number % 2 else -1.0) for number, group in enumerate(GROUPS, 1)}
    for start, end, members in EDGES:
        (x, y), (u, v) = place[start], place[end]
        axes.plot([x, u], [y, v], color=BLUE, linewidth=2.5 * (1 + members.count(",")), zorder=1)
        beside = 0.0 if y == v else 0.3
        axes.text((x + u) / 2 + beside, (y + v) / 2 + 0.12, members, ha="center", va="bottom", color=BLUE, fontsize=9)
    for number, group in enumerate(GROUPS, 1):
        x, y = place[number]
        _box(axes, x, y, 1.05, 1.1, zorder=2)
        label = f"group {number}: {group.values}\n{', '.join(group.members)}\n{group.arrangements} arrangements"
        axes.text(x, y, label, ha="center", va="center", fontsize=9)
    for release in (1, 2, 3):
        axes.text(2.0 * release, 1.8, f"release {release}", ha="center")
    _frame(axes, (1.3, 6.7), (-1.8, 2.1))
    return figure


def double_counting() -> Figure:
    """Two people who stay together: a loop of messages between persons and groups, and one edge between groups."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.6, 2.7), layout="constrained")
    for axes in (left, right):
        for x, number in ((-1.8, 1), (1.8, 2)):
            _box(axes, x, 0, 0.9, 0.9, zorder=2)
            axes.text(x, 0, f"group {number}\na b", ha="center", va="center", fontsize=9)
    for y, name in ((1, "Ann"), (-1, "Ben")):
        for x in (-1.8, 1.8):
            left.plot([0, x], [y, 0], color=BLUE, linewidth=2.5, zorder=1)
        circle = {"boxstyle": "circle,pad=0.3", "edgecolor": BLUE, "facecolor": "white"}
        left.text(0, y, name, ha="center", va="center", color=BLUE, fontsize=9, bbox=circle)
    angle = np.linspace(1.2, -4.4, 60)
    x, y = 0.45 * np.cos(angle), 0.45 * np.sin(angle)
    left.plot(x, y, color=GREY, linewidth=1.5)
    left.annotate("", (x[-1], y[-1]), (x[-4], y[-4]), arrowprops={"arrowstyle": "-|>", "color": GREY})
    right.plot([-1.8, 1.8], [0, 0], color=BLUE, linewidth=5, zorder=1)
    right.text(0, 0.15, "Ann, Ben", ha="center", va="bottom", color=BLUE)
    right.text(0, -0.2, "2 arrangements: a b, b a", ha="center", va="top", color=GREY, fontsize=9)
    left.set_title("person by person: a loop", fontsize=10)
    right.set_title("group by group: one edge", fontsize=10)
    for axes in (left, right):
        _frame(axes, (-2.5, 2.5), (-1.4, 1.4))
    return figure


def ring() -> Figure:
    """Four groups of two people in two releases, a cycle of four edges of one member each."""
    figure, axes = plt.subplots(figsize=(6.6, 2.4), layout="constrained")
    groups = {(0, 1): "Ann, Ben", (0, -1): "Cora, Dan", (4, 1): "Ben, Cora", (4, -1): "Ann, Dan"}
    for start, end, name, x, y in (
        ((0, 1), (4, 1), "Ben", 2.0, 1.0),
        ((0, 1), (4, -1), "Ann", 1.2, 0.4),
        ((0, -1), (4, 1), "Cora", 1.2, -0.4),
        ((0, -1), (4, -1), "Dan", 2.0, -1.0),
    ):
        axes.plot(*zip(start, end, strict=True), color=BLUE, linewidth=2.5, zorder=1)
        axes.text(x, y, name, ha="center", va="center", color=BLUE, fontsize=9, backgroundcolor="white")
    for (x, y), members in groups.items():
        _box(axes, x, y, 1.2, 0.9, zorder=2)
        axes.text(x, y, f"{members}\na b", ha="center", va="center", fontsize=9)
    for x, release in ((0, 1), (4, 2)):
        axes.text(x, 1.65, f"release {release}", ha="center")
    _frame(axes, (-1.6, 5.6), (-1.6, 1.9))
    return figure


def _box(axes: Axes, x: float, y: float, width: float, height: float, zorder: int) -> None:
    """Rounded white box around a centre."""
    corner = (x - width / 2, y - height / 2)
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle=style, edgecolor=ORANGE, facecolor="white", zorder=zorder)
    )


def _frame(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Limits of a picture without axes."""
    axes.set(xlim=x, ylim=y)
    axes.set_axis_off()
