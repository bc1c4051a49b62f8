"""Pictures of publish, attack and check: files beside the tables of --out. Matplotlib is imported when one is drawn."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow import evaluation
from foreknow.models import Beliefs, History, Release
from foreknow.models.arrays import FloatArray

PICTURES = Path("pictures")
"""Folder of the pictures within --out."""

GROUP_SIZES, GAIN, BELIEF, BELIEFS, LEVELS = (
    PICTURES / f"{name}.png" for name in ("groups", "gain", "belief", "beliefs", "levels")
)
"""Files of pictures within --out."""

DOTS_PER_INCH = 130
"""Resolution of a picture."""


def save_picture(drawn: Any, path: Path, private: bool = False) -> None:
    """Write what a plot returned, a figure or axes, as a PNG file; its folder is created."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    path.parent.mkdir(mode=0o700 if private else 0o755, exist_ok=True)
    if private:
        path.touch(mode=0o600)
    figure = drawn if isinstance(drawn, Figure) else np.ravel(drawn)[0].figure
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)


def draw_publication(folder: Path, releases: Sequence[Release], title: str) -> None:
    """Draw the sizes of the published groups."""
    from foreknow.evaluation.plots.risk_utility import group_sizes

    save_picture(group_sizes({title: releases}), folder / GROUP_SIZES, private=True)


def draw_attack(
    folder: Path, attacks: Mapping[str, Beliefs], history: History, person: Hashable | None, time: str
) -> None:
    """Draw the gain of attacks at each release and, of the first attack, the beliefs about the most exposed respondent."""
    tables = [
        evaluation.risk_table(beliefs, history).assign(defense="as published", attack=name)
        for name, beliefs in attacks.items()
    ]
    save_picture(evaluation.gain_over_time(pd.concat(tables, ignore_index=True), time), folder / GAIN, private=True)
    if person is not None:
        first = next(iter(attacks))
        save_picture(
            evaluation.belief_over_time({first: attacks[first]}, history, person, time), folder / BELIEF, private=True
        )


def draw_beliefs(folder: Path, beliefs: FloatArray, records: FloatArray, sure: float, what: str, of: str) -> None:
    """Draw a histogram of the highest beliefs of published tables alone: ``of`` are counted, ``what`` is believed."""
    from matplotlib.figure import Figure

    from foreknow.evaluation.plots.style import COLORS, hide_frame

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    hide_frame(axes, "y", "0.9")
    axes.hist(beliefs, np.linspace(0, 1, 21).tolist(), weights=records, color=COLORS[0], edgecolor="white")
    axes.axvline(sure, color="black", linestyle="--", linewidth=1)
    axes.text(
        sure, 1.01, f"--sure {sure:g}", transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=9
    )
    axes.set(xlabel=what, ylabel=f"number of {of}", xlim=(0, 1.01))
    save_picture(figure, folder / BELIEFS, private=True)


def draw_levels(folder: Path, levels: pd.DataFrame) -> None:
    """Draw the levels of the groups of each release, one panel for each requirement, with the threshold.

    Parameters
    ----------
    folder : Path
    levels : DataFrame
        Columns ``release``, ``requirement``, ``level``, ``bound`` and ``holds``, one row per group.
    """
    from matplotlib.figure import Figure

    from foreknow.evaluation.plots.style import COLORS, hide_frame, without_mathtext

    names, times = list(levels["requirement"].unique()), list(levels["release"].unique())
    figure = Figure(figsize=(max(4.0, 1.2 + 0.5 * len(times)) * len(names), 3.8), layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        hide_frame(axes, "y", "0.9")
        rows = levels[levels["requirement"] == name]
        place = rows["release"].map({time: number for number, time in enumerate(times)}).to_numpy(dtype=np.float64)
        # Groups of one level would hide one another: their points are spread over the width of their release.
        alike = rows.groupby(["release", "level"])["level"]
        spread = (alike.cumcount() + 0.5) / alike.transform("size")
        place = place + 0.6 * (spread.to_numpy() - 0.5)
        holds = rows["holds"].to_numpy(dtype=np.bool_)
        for kept, color, marker, label in ((holds, COLORS[0], "o", "satisfies"), (~holds, COLORS[1], "X", "fails")):
            if kept.any():
                axes.plot(place[kept], rows["level"][kept], marker, color=color, markersize=5, alpha=0.8, label=label)
        axes.axhline(rows["bound"].iloc[0], color="black", linestyle="--", linewidth=1, label="threshold")
        axes.set_xticks(range(len(times)), [without_mathtext(time) for time in times])
        axes.set(xlabel="release", title=without_mathtext(name), xlim=(-0.6, len(times) - 0.4))
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("level of a group")
    panels[-1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save_picture(figure, folder / LEVELS)
