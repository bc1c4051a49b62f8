"""Measure the cells of the experiments that are missing or stale, and write the tables of the documentation.

python -m experiments.run_cells [--workers N] [--missing] [--show] [NAME ...]

The cells are kept in experiments/cells, one Parquet file for each experiment, and are committed. With ``--missing`` those of
other code stay. With ``--show`` nothing is measured and no table is written. FOREKNOW_ADULT names the folder of UCI Adult; without
it the experiments on Adult are left out.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from joblib import cpu_count
from rich.console import Console
from rich.progress import track

from experiments import EXPERIMENTS, measurable
from experiments.pages import CELLS, filled, pictures, tables
from foreknow.evaluation.cells import keys, pack, read, run
from foreknow.evaluation.papers.reproduction import markdown_table

DOCS = Path(__file__).resolve().parents[1] / "docs"


def states(table):
    """Numbers of cells of each experiment: all, kept, missing, kept of other code; and files of no cell of it."""
    rows = []
    for each in EXPERIMENTS:
        of_name = table[table["experiment"] == each.name].drop_duplicates("key")
        kept = of_name[of_name["key"].isin(keys([each]))]
        numbers = len(kept), len(each.cells) - len(kept), int(kept["stale"].sum()), len(of_name) - len(kept)
        rows.append([each.name, len(each.cells), *numbers])
    return "\n".join(
        markdown_table(["experiment", "cells", "kept", "missing", "kept of other code", "files of no cell"], rows)
    )


def main():
    parser = argparse.ArgumentParser(description="Measure the cells that are missing or stale.")
    parser.add_argument("--workers", type=int, default=cpu_count(), help="number of processes")
    parser.add_argument("--show", action="store_true", help="show what is stale, and measure nothing")
    parser.add_argument("names", nargs="*", help="experiments to measure; all by default")
    parser.add_argument("--missing", action="store_true", help="leave the cells that other code measured")
    asked = parser.parse_args()
    kept = read(EXPERIMENTS, CELLS)
    print(states(kept), flush=True)
    if not asked.show:
        screen, done = Console(stderr=True), set(kept["key"]) if asked.missing else set()
        run(
            [
                replace(
                    each, cells=[cell for key, cell in zip(keys([each]), each.cells, strict=True) if key not in done]
                )
                for each in measurable()
                if not asked.names or each.name in asked.names
            ],
            CELLS,
            workers=asked.workers,
            progress=lambda cells: track(cells, "measuring cells", console=screen),
        )
        pack(EXPERIMENTS, CELLS)
        print(states(read(EXPERIMENTS, CELLS)))
        write_tables()


def write_tables():
    """Write the marked tables of the pages of the documentation, and pictures of the kept cells."""
    found = tables()
    for name, picture in pictures(found).items():
        picture().savefig(DOCS / name, dpi=110)
    for page in DOCS.rglob("*.md"):
        before = page.read_text(encoding="utf-8")
        if (after := filled(before, found)) != before:
            page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
