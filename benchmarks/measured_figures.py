"""Measured figures as a table: size, seconds, memory, growth, and ratios to the kept run and to another program."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

KEPT = Path(__file__).parent / "kept.json"
"""Last kept run of each machine: seconds, cost and memory of each figure."""

SIZE = re.compile(
    r"(?P<views>\d+) x (?P<each>\d[\d,]*)|10\^(?P<power>\d+)|(?P<one>\d{1,3}(?:,\d{3})+)(?: rows)?(?! draws)"
)
"""First size in the name of a figure; draws of a posterior are none."""


class Measured(NamedTuple):
    """Figure that was measured.

    Attributes
    ----------
    name : str
    seconds : float
        Median of the runs.
    cost : float
        Processor time of a run over that of the reference kernel in the same process.
    peak : float
        Peak memory of the process, in MiB.
    skipped : str
        Reason for which there is no measurement.
    """

    name: str
    seconds: float = math.nan
    cost: float = math.nan
    peak: float = math.nan
    skipped: str = ""

    @property
    def size(self) -> int | None:
        """Number of records, as the name says it."""
        match = SIZE.search(self.name)
        if match is None:
            return None
        if match["views"]:
            return int(match["views"]) * _integer(match["each"])
        return 10 ** int(match["power"]) if match["power"] else _integer(match["one"])

    @property
    def method(self) -> str:
        """Name without the size: figures of one method differ in their size alone."""
        return " ".join(SIZE.sub("", self.name, count=1).replace(" :", ":").split())


def growth_exponents(figures: Iterable[Measured]) -> dict[str, float]:
    """Slope of log seconds on log size by least squares, for each method of at least two sizes."""
    points: dict[str, dict[int, float]] = {}
    for each in figures:
        if each.size and each.seconds > 0:
            points.setdefault(each.method, {})[each.size] = each.seconds
    return {
        method: float(np.polyfit(np.log(list(sizes)), np.log(list(sizes.values())), 1)[0])
        for method, sizes in points.items()
        if len(sizes) > 1
    }


def rows(
    figures: Sequence[Measured],
    kept: Mapping[str, Mapping[str, float]],
    limits: Mapping[str, float | None],
    peers: Mapping[str, tuple[str, float]],
) -> list[str]:
    """Rows of the table; the growth exponent stands at the largest size of its method."""
    growth = growth_exponents(figures)
    largest = {each.method: each.size for each in sorted(figures, key=lambda each: each.size or 0)}
    lines = []
    for each in figures:
        if each.skipped:
            lines.append(f"| {each.name} | | skipped: {each.skipped} | | | | | |")
            continue
        exponent = growth.get(each.method) if each.size == largest[each.method] else None
        peer = f"{each.seconds / peers[each.name][1]:.2g} of {peers[each.name][0]}" if each.name in peers else ""
        cells = [
            each.name,
            f"{each.size:,}" if each.size else "",
            f"{each.seconds:.4f}" if each.seconds >= 0.001 else f"{each.seconds:.6f}",
            "" if limits.get(each.name) is None else f"{limits[each.name]:g}",
            f"{each.peak:.0f}",
            "" if exponent is None else f"{exponent:.2f}",
            f"{each.cost / kept[each.name]['cost']:.2f}" if each.name in kept else "",
            peer,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


HEAD = (
    "| figure | size | seconds | at most | MiB | growth | cost over the kept run's | seconds over another program's |",
    "|---|---|---|---|---|---|---|---|",
)
"""First lines of the table."""


def regressions(figures: Iterable[Measured], kept: Mapping[str, Mapping[str, float]], ratio: float) -> list[str]:
    """Figures whose cost or peak memory is over ``ratio`` times that of the kept run, one line each.

    A figure that the kept run does not have is not compared, and has a line too.
    """
    lines = []
    for each in figures:
        before = kept.get(each.name)
        if each.skipped:
            continue
        if before is None:
            lines.append(f"{each.name}: not in the kept run of this machine; keep it with --keep, or all by make bench")
            continue
        for what, now, then in (("cost", each.cost, before["cost"]), ("memory", each.peak, before["peak"])):
            if now > ratio * then:
                lines.append(f"{each.name}: {what} {now:.4g}, {now / then:.2f} times the kept {then:.4g}")
    return lines


def kept_run(machine: str, path: Path = KEPT) -> dict[str, dict[str, float]]:
    """Figures of the last kept run of a machine, by name."""
    return dict(json.loads(path.read_text())).get(machine, {}) if path.exists() else {}


def keep_run(machine: str, figures: Iterable[Measured], path: Path = KEPT) -> None:
    """Keep figures of a machine, in place of earlier ones with their names."""
    content = json.loads(path.read_text()) if path.exists() else {}
    measured = {
        each.name: {"seconds": each.seconds, "cost": round(each.cost, 6), "peak": round(each.peak)}
        for each in figures
        if not each.skipped
    }
    content[machine] = content.get(machine, {}) | measured
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def _integer(text: str) -> int:
    return int(text.replace(",", ""))
