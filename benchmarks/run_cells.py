"""Measure the cells of benchmarks/experiments that are missing or stale, and print tables of them.

python benchmarks/run_cells.py [--workers N] [--show]

The cells are kept in benchmarks/cells, one Parquet file for each experiment, and are committed. With ``--show`` nothing is
measured.
"""

import argparse
from pathlib import Path

from experiments import EXPERIMENTS
from joblib import cpu_count
from rich.console import Console
from rich.progress import track

from foreknow.evaluation.cells import pack, read, run

CELLS = Path(__file__).parent / "cells"


def states(table):
    """Numbers of cells of each experiment: all, current, missing, and kept files of other code or of no cell."""
    lines = ["| experiment | cells | current | missing or stale | stale files |", "|---|---|---|---|---|"]
    for each in EXPERIMENTS:
        kept = table[table["experiment"] == each.name].drop_duplicates("key")
        current, stale = int((~kept["stale"]).sum()), int(kept["stale"].sum())
        lines.append(f"| {each.name} | {len(each.cells)} | {current} | {len(each.cells) - current} | {stale} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Measure the cells that are missing or stale.")
    parser.add_argument("--workers", type=int, default=cpu_count(), help="number of processes")
    parser.add_argument("--show", action="store_true", help="show what is stale, and measure nothing")
    asked = parser.parse_args()
    print(states(read(EXPERIMENTS, CELLS)), flush=True)
    if not asked.show:
        screen = Console(stderr=True)
        run(
            EXPERIMENTS,
            CELLS,
            workers=asked.workers,
            progress=lambda cells: track(cells, "measuring cells", console=screen),
        )
        pack(EXPERIMENTS, CELLS)
        print(states(read(EXPERIMENTS, CELLS)))


if __name__ == "__main__":
    main()
