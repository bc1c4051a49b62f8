"""Picture of the page on cohorts: places, the groups that publish them, and the atoms that are left."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

COLOURS = {"g": "#0072B2", "h": "#D55E00"}

PLACES = {
    "Ann": "ggg",
    "Ben": "ggg",
    "Cora": "ggG",
    "Dan": "gg-",
    "Eve": "gG-",
    "Fay": "hhg",
    "Gus": "hhg",
    "Hal": "hhg",
}
"""Group of each place in each release; a capital for a ghost, - for none."""

ATOMS = ("Ann, Ben, Cora", "Dan, Eve", "Fay, Gus, Hal")


def roles() -> Figure:
    """Eight places in three releases, two cells that are published as one group at the end, and three atoms."""
    figure, axes = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
    rows = {name: -row for row, name in enumerate(PLACES)}
    for name, role in PLACES.items():
        axes.text(0.6, rows[name], name, ha="right", va="center")
        for release, group in enumerate(role, 1):
            if group != "-":
                colour = COLOURS[group.lower()]
                face = "white" if group.isupper() else colour
                axes.plot(release, rows[name], "o", markersize=12, color=colour, markerfacecolor=face)
    for members in ATOMS:
        names = members.split(", ")
        top, bottom = rows[names[0]] + 0.3, rows[names[-1]] - 0.3
        axes.plot([3.35, 3.45, 3.45, 3.35], [top, top, bottom, bottom], color="#777777")
        axes.text(3.55, (top + bottom) / 2, f"atom of {len(names)}", va="center")
    for release in (1, 2, 3):
        axes.text(release, 0.8, f"release {release}", ha="center")
    axes.set(xlim=(0.1, 4.3), ylim=(-7.6, 1.1))
    axes.set_axis_off()
    return figure
