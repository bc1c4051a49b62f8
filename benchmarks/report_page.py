"""Figures of the report on large data: seconds to compute and to render, size of the page, seconds until a browser shows it.

``python benchmarks/report_page.py [RECORDS RELEASES [STRICTER [SOLVER]]]`` publishes simulated exams by Mondrian, 100,000 records
in each of 12 releases by default, makes the report with STRICTER stricter settings (0 by default) and a joint solver (by default
that of the report, else a name in ``JOINT_SOLVERS``), and prints two tables: processor seconds and peak memory after each step, and
figures of the page. Chromium opens the page from disk, without a network: it is usable when all charts are drawn and a person is
shown. ``python benchmarks/report_page.py PAGE.html`` measures a page that was written before.
"""

import resource
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from subjects import timed
from tables import markdown

from foreknow.app import report
from foreknow.app.report.report import Step
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.models import JOINT_SOLVERS

RECORDS, RELEASES = 100_000, 12
STEPS = ("contents, processor s", "rendering, processor s")
OPENINGS = 5
"""Number of times that a page is opened; the median is taken."""

USABLE = "[...document.querySelectorAll('.chart')].every((one) => one.querySelector('svg'))"
"""Condition of the page: every chart is drawn."""

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def opening(page: Path) -> tuple[float, float]:
    """Median seconds from opening the page to its charts, and from choosing a person to the table of beliefs."""
    from playwright.sync_api import sync_playwright

    path = next(found for name in CHROMIUM if (found := shutil.which(name)))
    opened, chosen = [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        for _ in range(OPENINGS):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.resolve().as_uri())
            tab.wait_for_function(f"{USABLE} && document.querySelector('#beliefs tbody tr')", timeout=120_000)
            opened.append(time.perf_counter() - start)
            chosen.append(tab.evaluate(CHOOSE) / 1000)
            tab.close()
        browser.close()
    return sorted(opened)[OPENINGS // 2], sorted(chosen)[OPENINGS // 2]


CHOOSE = """() => {
    const select = document.querySelector('#person');
    const start = performance.now();
    select.selectedIndex = select.options.length - 1;
    select.dispatchEvent(new Event('change', {bubbles: true}));
    document.querySelector('#beliefs').getBoundingClientRect();
    return performance.now() - start;
}"""
"""Choose the last person of the list, and return the milliseconds until the table is laid out."""


def followed(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps of a report, and print processor seconds and peak memory after each."""
    print("| step | processor s | peak MiB |\n|---|---|---|")
    for step in steps:
        start = time.process_time()
        yield step
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {step} | {time.process_time() - start:.1f} | {peak:,.0f} |", flush=True)


def made(records: int, releases: int, stricter: int, solver: str | None, page: Path) -> tuple[float, float]:
    """Write the page of a report on simulated exams; processor seconds of its contents and of its rendering."""
    history = exams(views=releases, records=records, rng=1).history
    defense = Mondrian(KAnonymity(10) & DistinctDiversity(2))
    published = publish(history, defense, rng=1)
    rule = None if solver is None else JOINT_SOLVERS[solver]()
    make = partial(report, published, defense=defense, stricter=stricter, solver=rule, rng=1, progress=followed)
    found, computed = timed(make)
    return computed, timed(partial(found.save, page))[1]


def main() -> None:
    """Print the tables."""
    arguments = sys.argv[1:]
    with TemporaryDirectory() as folder:
        if arguments and arguments[0].endswith(".html"):
            page, row = Path(arguments[0]), {"records": arguments[0]} | dict.fromkeys(STEPS, "")
        else:
            records, releases = map(int, arguments[:2]) if arguments else (RECORDS, RELEASES)
            stricter, solver = int(next(iter(arguments[2:]), 0)), next(iter(arguments[3:]), None)
            page = Path(folder) / "report.html"
            seconds = (f"{one:.1f}" for one in made(records, releases, stricter, solver, page))
            row = {"records": f"{records:,} x {releases}"} | dict(zip(STEPS, seconds, strict=True))
        usable, chosen = opening(page)
        row |= {"page, MB": f"{page.stat().st_size / 1e6:.2f}", "usable, s": f"{usable:.2f}"}
        print("\n".join(markdown([row | {"a person chosen, s": f"{chosen:.3f}"}])))


if __name__ == "__main__":
    main()
