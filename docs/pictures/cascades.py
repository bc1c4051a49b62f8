"""Bits of log score that each cascade loses, from the kept cells of `experiments/cascades.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

CELLS = Path(__file__).resolve().parents[2] / "experiments" / "cells"

CASCADES = ["removal", "none", "posterior", "prior, as printed", "prior", "evidence"]
"""From the bottom to the top."""

READINGS = {"mixture": "o", "likelihood": "s", "Jeffrey": "^"}
COLOURS = ["#0072B2", "#D55E00", "#009E73"]


def cascades() -> Figure:
    """Two panels: claimed records and all others; a marker for each reading, a mean over small histories of all cells."""
    rows = pd.read_parquet(CELLS / "cascades_small.parquet")
    mean = rows.groupby(["about", "cascade", "reading"])["bits_lost"].mean()
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for axes, about in zip(panels, ("claimed record", "others"), strict=True):
        for (reading, marker), colour in zip(READINGS.items(), COLOURS, strict=True):
            bits = [mean[about, cascade, reading] for cascade in CASCADES]
            axes.plot(bits, range(len(CASCADES)), marker, color=colour, label=reading, alpha=0.8, clip_on=False)
        axes.set_xscale("symlog", linthresh=1e-3)
        axes.set(
            xlim=(0, None), xlabel="bits of log score lost per record", title=f"{about}s" if about[0] == "c" else about
        )
        axes.set_yticks(range(len(CASCADES)), CASCADES)
        axes.grid(axis="y", color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *panels[0].get_legend_handles_labels(), title="confidence read as", loc="outside right center", frameon=False
    )
    return figure
