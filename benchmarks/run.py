"""Measure the figures, each in a process of its own, and write them to benchmarks/results.md, in the section of this machine.

``python benchmarks/run.py`` measures all figures. With an argument it measures those whose name contains it, and prints them.
"""

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
from rich.console import Console
from rich.progress import track
from subjects import MissingData

RESULTS = Path(__file__).parent / "results.md"
RUNS = 5
LONG, RUNS_OF_LONG = 15.0, 3
"""Seconds of a first run, including compilation, from which a figure has fewer runs."""


def timed(name: str) -> dict[str, object]:
    """Time one figure: one run that compiles, then `RUNS` runs; returns seconds and the peak memory of the process in MiB."""
    figure = FIGURES[name]
    try:
        work = figure.prepare()
    except MissingData as absent:
        return {"name": name, "skipped": str(absent)}
    start = time.perf_counter()
    work()
    long = time.perf_counter() - start > LONG
    seconds = []
    for _ in range(RUNS_OF_LONG if long else RUNS):
        start = time.perf_counter()
        found = work()
        seconds.append(found if figure.own_clock else time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "name": name,
        "median": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "peak": peak,
    }


def machine() -> str:
    """Description of the machine: processor, cores, memory, versions."""
    described = Path("/proc/cpuinfo").read_text().split("\n") if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in described if line.startswith("model name")), platform.machine()
    )
    cores = sum(line.startswith("processor") for line in described) or 1
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pandas"))
    return f"{model}, {cores} cores; Python {platform.python_version()}, {packages}"


def row(timing: dict[str, object]) -> str:
    """Row of the table."""
    name = timing["name"]
    if "skipped" in timing:
        return f"| {name} | skipped: {timing['skipped']} | | | |"
    limit = FIGURES[str(name)].limit
    asked = "" if limit is None else f"{limit:g}"
    median, least, most = (shown(timing[which]) for which in ("median", "least", "most"))
    return f"| {name} | {median} | {least}-{most} | {asked} | {timing['peak']:.0f} |"


def shown(seconds: float) -> str:
    """Seconds with four decimals, or six for small numbers."""
    return f"{seconds:.4f}" if seconds >= 0.001 else f"{seconds:.6f}"


def main() -> None:
    """Measure the figures named on the command line."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(timed(sys.argv[2])))
        return
    wanted = [name for name in FIGURES if not sys.argv[1:] or sys.argv[1] in name]
    rows = []
    for name in track(wanted, "measuring", console=Console(stderr=True), transient=True):
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, check=True)
        rows.append(row(json.loads(done.stdout)))
    lines = [
        f"## {machine()}",
        "",
        f"Taken {date.today().isoformat()}: seconds, median of {RUNS} runs ({RUNS_OF_LONG} of long ones) after one that",
        "compiles. Each figure has a process of its own; its peak memory includes imports and data. JSReduce as printed suppresses",
        "85 % of the exams (docs/findings.md); with patience it publishes half of them, and takes longer. A figure of the median",
        "group is the time for this group within the run.",
        "",
        "| figure | median | least-most | at most | MiB |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    print("\n".join(lines))
    if not sys.argv[1:]:
        keep("\n".join(lines))


def keep(section: str) -> None:
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
    main()
