"""Measure the figures, each in a process of its own, and write them to benchmarks/results.md, in the section of this machine.

``python benchmarks/run.py`` measures all figures and keeps the best of each in benchmarks/kept.json; a run that was interrupted
goes on if it is started again from the same commit. With an argument it measures those whose name contains it, and prints them;
``--keep`` keeps them too. With ``--guard RATIO``, as ``make bench`` has it, nothing is kept, and the status is 1, if the cost or
the memory of a figure is over RATIO times that of the best kept run, or if a job of `paired` is slower than allowed; such a figure
is measured twice, since other programs may disturb a run. A cost is processor time over that of a reference kernel in the same
process.
"""

import argparse
import json
import math
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import paired
from figures import FIGURES
from rich.console import Console
from rich.progress import track
from subjects import MissingData, timed
from tables import hardware, keep_section, machine

RESULTS = Path(__file__).parent / "results.md"
BEGUN = Path(__file__).parent / "begun.json"
"""Figures of a run of everything that has not ended, and the commit that they are of."""

RUNS = 5
LONG, RUNS_OF_LONG = 15.0, 3
"""Seconds of a first run, including compilation, from which a figure has fewer runs."""

PEERS = {
    "Adult 45,222: Mondrian k=5": "k",
    "Adult 45,222: Mondrian k=5, l=2": "k, l",
    "Adult 45,222: Mondrian k=5, t=.5": "k, t",
}
"""Figures that anjana publishes too, from the same records for the same requirement: its call for each."""


KEPT = Path(__file__).parent / "kept.json"
"""Best kept runs of each machine: seconds, and least cost and memory of each figure."""

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
        limit = limits.get(each.name)
        exponent = growth.get(each.method) if each.size == largest[each.method] else None
        peer = f"{each.seconds / peers[each.name][1]:.2g} of {peers[each.name][0]}" if each.name in peers else ""
        cells = [
            each.name,
            f"{each.size:,}" if each.size else "",
            f"{each.seconds:.4f}" if each.seconds >= 0.001 else f"{each.seconds:.6f}",
            "" if limit is None else f"{limit:g}" + " (over)" * (each.seconds > limit),
            f"{each.peak:.0f}",
            "" if exponent is None else f"{exponent:.2f}",
            f"{each.cost / kept[each.name]['cost']:.2f}" if each.name in kept else "",
            peer,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


HEAD = (
    "| figure | size | seconds | at most | MiB | growth | cost over the best kept run's | seconds over another program's |",
    "|---|---|---|---|---|---|---|---|",
)
"""First lines of the table."""


def regressions(figures: Iterable[Measured], kept: Mapping[str, Mapping[str, float]], ratio: float) -> list[str]:
    """Figures whose cost or peak memory is over ``ratio`` times that of the best kept run, one line each.

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
    return dict(json.loads(path.read_text())).get(machine, {}) if path.exists() else {}


def keep_run(machine: str, figures: Iterable[Measured], path: Path = KEPT) -> None:
    """Keep the least cost and memory of each figure of a machine, with the seconds of the least cost."""
    content = json.loads(path.read_text()) if path.exists() else {}
    best = content.setdefault(machine, {})
    for each in figures:
        if not each.skipped:
            now = {"seconds": each.seconds, "cost": round(each.cost, 6), "peak": round(each.peak)}
            before = best.get(each.name, now)
            best[each.name] = min(before, now, key=lambda one: one["cost"]) | {"peak": min(before["peak"], now["peak"])}
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def _integer(text: str) -> int:
    return int(text.replace(",", ""))


RECORDS, ROUNDS = 2**20, 8


@numba.njit
def _gather(values: np.ndarray, order: np.ndarray, rounds: int) -> float:
    """Sums of values in a random order: additions, multiplications and cache misses, as in the kernels of foreknow."""
    total = 0.0
    for _ in range(rounds):
        for place in order:
            total = 0.5 * total + values[place]
    return total


def reference_seconds(runs: int = 3) -> float:
    """Least processor time of some runs of the kernel, after one that compiles it."""
    rng = np.random.default_rng(1)
    values, order = rng.random(RECORDS), rng.permutation(RECORDS)
    _gather(values, order[:1], 1)
    return min(timed(partial(_gather, values, order, ROUNDS))[1] for _ in range(runs))


def measured(name: str) -> Measured:
    """Measure one figure: one run that compiles, then `RUNS` runs, beside the reference kernel."""
    figure = FIGURES[name]
    try:
        work = figure.prepare()
    except MissingData as absent:
        return Measured(name, skipped=str(absent))
    start = time.perf_counter()
    work()
    long = time.perf_counter() - start > LONG
    reference, seconds, processor = reference_seconds(), [], []
    for _ in range(RUNS_OF_LONG if long else RUNS):
        start, of_processor = time.perf_counter(), time.process_time()
        found = work()
        processor.append(time.process_time() - of_processor)
        seconds.append(found if figure.own_clock else time.perf_counter() - start)
    reference = min(reference, reference_seconds())
    users = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(user).ru_maxrss for user in users) / 1024
    spent = statistics.median(seconds if figure.own_clock else processor)
    return Measured(name, statistics.median(seconds), spent / reference, peak)


def peer_seconds(names: list[str]) -> dict[str, tuple[str, float]]:
    """Seconds of anjana on the figures that it publishes too; empty where its environment cannot be made."""
    if not set(names) & set(PEERS):
        return {}
    from peers import DATA, PROGRAMS, Unavailable, output_of, prepare, runner

    program = PROGRAMS["anjana"]
    try:
        prepare()
        command = [*runner(program), str(DATA)]
        found = {
            name: json.loads(output_of([*command, PEERS[name]]).splitlines()[-1]) for name in names if name in PEERS
        }
    except (Unavailable, OSError) as why:
        print(f"anjana is not run: {why}", file=sys.stderr)
        return {}
    return {name: (program.name, statistics.median(answer["seconds"])) for name, answer in found.items()}


def pairs(part: str) -> list[paired.Pair]:
    """Jobs whose name contains a text, beside an earlier commit; a slow one is measured twice. None without that commit."""
    try:
        found = paired.measured(wanted) if (wanted := [job for job in paired.JOBS if part in job]) else []
        return [
            min(each, *paired.measured([each.job]), key=lambda pair: pair.ratio) if each.ratio > paired.MOST else each
            for each in found
        ]
    except subprocess.CalledProcessError:
        print(f"{paired.COMMIT} is not in the history here: no job is compared with it", file=sys.stderr)
        return []


def section(figures: list[Measured], compared: list[paired.Pair]) -> str:
    limits = {name: figure.limit for name, figure in FIGURES.items()}
    peers = peer_seconds([each.name for each in figures])
    return "\n".join(
        [
            f"## {machine()}",
            "",
            f"Taken {date.today().isoformat()}: seconds, median of {RUNS} runs ({RUNS_OF_LONG} of long ones) after one that",
            "compiles; of starts and commands, which run in processes of their own, seconds of the processor. Each figure is taken",
            "in one process; its peak memory includes imports and data. Growth is the slope of log seconds on log records by least",
            "squares, over the sizes of the same method. The cost is processor time over that of a reference kernel in the same",
            "process; its ratio to the best kept run of this machine is shown, and guarded. Limits (*at most*) are goals.",
            "",
            *HEAD,
            *rows(figures, kept_run(hardware()), limits, peers),
            "",
            *(
                ["Least processor seconds of jobs in turn with an earlier commit:", "", *paired.table(compared), ""]
                * bool(compared)
            ),
        ]
    )


def main() -> int:
    """Measure the figures named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the figures.")
    parser.add_argument("name", nargs="?", default="", help="part of the names of the figures")
    parser.add_argument(
        "--guard", type=float, metavar="RATIO", help="fail over RATIO times the best kept cost or memory"
    )
    parser.add_argument("--keep", action="store_true", help="keep the figures of a part, too")
    parser.add_argument("--one", action="store_true", help="measure the one figure of this name, and print it as JSON")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.name)))
        return 0
    figures = measured_each([name for name in FIGURES if asked.name in name], resume=not asked.name)
    kept, found = kept_run(hardware()), []
    if asked.guard is not None:
        figures = [
            measured_again(each) if each.name in kept and regressions([each], kept, asked.guard) else each
            for each in figures
        ]
        # Figures that are measured for the first time are kept by a run of all.
        found = regressions([each for each in figures if asked.name or each.name in kept], kept, asked.guard)
    compared = pairs(asked.name)
    if asked.guard is not None:
        found += [f"{p.job}: {p.ratio:.3f} times {paired.COMMIT}" for p in compared if p.ratio > paired.MOST]
    print(written := section(figures, compared))
    print("\n".join(found), file=sys.stderr)
    if not asked.name:
        keep_section(written, RESULTS, "# Figures\n\nWritten by `make bench`, one section per machine.\n")
        BEGUN.unlink()
    if not found and (asked.keep or not asked.name):
        keep_run(hardware(), figures)
    return 1 if found else 0


def measured_each(names: list[str], resume: bool) -> list[Measured]:
    """Measure figures one after the other; with ``resume``, each is written to `BEGUN`, and those found there are not repeated."""
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    begun = json.loads(BEGUN.read_text()) if resume and BEGUN.exists() else {}
    found = begun["figures"] if begun.get("commit") == commit else {}
    if found:
        print(f"{len(found)} figures of an interrupted run of this commit are not repeated", file=sys.stderr)
    for name in track(names, "measuring", console=Console(stderr=True), transient=True):
        if name not in found:
            found[name] = measured_alone(name)
            if resume:
                BEGUN.write_text(json.dumps({"commit": commit, "figures": found}))
    return [Measured(*found[name]) for name in names]


def measured_alone(name: str) -> Measured:
    done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout))


def measured_again(first: Measured) -> Measured:
    """Figure with the smaller cost and the smaller peak of two runs."""
    second = measured_alone(first.name)
    return min(first, second, key=lambda each: each.cost)._replace(peak=min(first.peak, second.peak))


if __name__ == "__main__":
    sys.exit(main())
