"""Results as Markdown, with one section per machine."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from agreement import ComparedMeasure, agree, explained

MEASURED = (
    "program",
    "call",
    "seconds",
    "MiB",
    "groups",
    "distinct by labels",
    "suppressed",
    "discernibility, 10^6",
    "GCP of groups",
    "suppressed as 1",
    "as published",
    "k, l, t",
    "satisfied",
)
LEAKAGES = ("program", "case", "measure", "numbers", "program's mean", "foreknow's mean", "largest difference")
COUNTED = ("measure", "groups by", "numbers", "agree", "differ by a rule of pycanon", "differ otherwise")
LISTED = (
    "release",
    "groups by",
    "measure",
    "pycanon",
    "`verify`",
    "level of the requirement",
    "rule of pycanon",
)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Markdown table; short rows are filled with empty cells."""
    lines = [f"| {' | '.join(map(str, row))} |" + " |" * (len(heads) - len(row)) for row in rows]
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *lines]


def agreed(found: list[ComparedMeasure], failures: list[str]) -> list[str]:
    """Numbers of agreeing measures of pycanon and foreknow, and each measure that differs."""
    flags = pd.DataFrame(found).assign(agrees=list(map(agree, found)), explained=list(map(explained, found)))
    counted = []
    for (measure, by), rows in flags.groupby(["measure", "by"], sort=False):
        apart = rows[~rows["agrees"]]
        by_rule = int(apart["explained"].sum())
        counted.append((measure, by, len(rows), len(rows) - len(apart), by_rule, len(apart) - by_rule))
    listed = [(*one[:3], *(f"{number:.6g}" for number in one[3:])) for one in found if not agree(one)]
    return [*table(COUNTED, counted), "", *table(LISTED, listed), "", *failures]


def keep(section: str, results: Path) -> None:
    """Write the section of this machine to the results, in place of its earlier one."""
    old = (
        results.read_text()
        if results.exists()
        else "# Comparison with other programs\n\nWritten by `python benchmarks/peers.py`.\n"
    )
    title, *parts = old.split("\n## ")
    head = section.split("\n", 1)[0]
    kept = [f"## {part.rstrip()}" for part in parts if f"## {part.split(chr(10), 1)[0]}" != head]
    results.write_text("\n\n".join([title.rstrip(), *kept, section.rstrip()]) + "\n")
