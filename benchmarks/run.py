"""Measure the figures, each in a process of its own, and write them to benchmarks/results.md, in the section of this machine.

``python benchmarks/run.py`` measures all figures and keeps them in benchmarks/kept.json; a run that was interrupted goes on if it
is started again from the same commit. With an argument it measures those whose name contains it, and prints them; ``--keep`` keeps
them too. With ``--guard RATIO``, as ``make bench`` has it, nothing is kept, and the status is 1, if the cost or the memory of a
figure is over RATIO times that of the kept run; such a figure is measured twice, since other programs may disturb a run. A cost is
processor time over that of a reference kernel in the same process.
"""

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

from figures import FIGURES
from measured_figures import HEAD, Measured, keep_run, kept_run, regressions, rows
from reference_kernel import reference_seconds
from rich.console import Console
from rich.progress import track
from subjects import MissingData

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


def timed(name: str) -> Measured:
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = statistics.median(seconds if figure.own_clock else processor)
    return Measured(name, statistics.median(seconds), spent / reference, peak)


def machine() -> str:
    """Description of the machine: processor, cores, versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pandas"))
    return f"{hardware()}; Python {platform.python_version()}, {packages}"


def hardware() -> str:
    """Processor and cores of the machine: runs are compared whatever the versions of the programs."""
    described = Path("/proc/cpuinfo").read_text().split("\n") if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in described if line.startswith("model name")), platform.machine()
    )
    return f"{model}, {sum(line.startswith('processor') for line in described) or 1} cores"


def peer_seconds(names: list[str]) -> dict[str, tuple[str, float]]:
    """Seconds of anjana on the figures that it publishes too; empty where its environment cannot be made."""
    if not set(names) & set(PEERS):
        return {}
    from peers import DATA, HERE, PROGRAMS, Unavailable, output_of, prepare, python_of

    program = PROGRAMS["anjana"]
    try:
        prepare()
        runner = [python_of(program), str(HERE / "peers" / program.runner), str(DATA)]
        found = {
            name: json.loads(output_of([*runner, PEERS[name]]).splitlines()[-1]) for name in names if name in PEERS
        }
    except (Unavailable, OSError) as why:
        print(f"anjana is not run: {why}", file=sys.stderr)
        return {}
    return {name: (program.name, statistics.median(answer["seconds"])) for name, answer in found.items()}


def section(figures: list[Measured]) -> str:
    """Section of the results for this machine."""
    limits = {name: figure.limit for name, figure in FIGURES.items()}
    peers = peer_seconds([each.name for each in figures])
    return "\n".join(
        [
            f"## {machine()}",
            "",
            f"Taken {date.today().isoformat()}: seconds, median of {RUNS} runs ({RUNS_OF_LONG} of long ones) after one that",
            "compiles. Each figure has a process of its own; its peak memory includes imports and data. Growth is the slope of",
            "log seconds on log records by least squares, over the sizes of the same method. The cost is processor time over",
            "that of a reference kernel in the same process; its ratio to the last kept run of this machine is shown.",
            "",
            *HEAD,
            *rows(figures, kept_run(hardware()), limits, peers),
            "",
        ]
    )


def main() -> int:
    """Measure the figures named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the figures.")
    parser.add_argument("name", nargs="?", default="", help="part of the names of the figures")
    parser.add_argument("--guard", type=float, metavar="RATIO", help="fail over RATIO times the kept cost or memory")
    parser.add_argument("--keep", action="store_true", help="keep the figures of a part, too")
    parser.add_argument("--one", action="store_true", help="measure the one figure of this name, and print it as JSON")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(timed(asked.name)))
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
    print(written := section(figures))
    print("\n".join(found), file=sys.stderr)
    if not asked.name:
        write_results(written)
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
    """Figure of a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout))


def measured_again(first: Measured) -> Measured:
    """Figure with the smaller cost and the smaller peak of two runs."""
    second = measured_alone(first.name)
    return min(first, second, key=lambda each: each.cost)._replace(peak=min(first.peak, second.peak))


def write_results(section: str) -> None:
    """Write the section of a machine to the results, in place of its earlier one."""
    head = section.split("\n", 1)[0]
    old = (
        RESULTS.read_text()
        if RESULTS.exists()
        else "# Figures\n\nWritten by `make bench`, one section per machine.\n\n"
    )
    parts = old.split("\n## ")
    kept = [part for part in parts[1:] if f"## {part.split(chr(10), 1)[0]}" != head]
    RESULTS.write_text("\n## ".join([parts[0].rstrip() + "\n", *(part.rstrip() + "\n" for part in kept), section[3:]]))


if __name__ == "__main__":
    sys.exit(main())
