"""Figures of the report on large data: seconds to compute and to render, size of the page, seconds until a browser shows it.

``python benchmarks/report_page.py [RECORDS RELEASES]`` publishes simulated exams by Mondrian, 100,000 records in each of 12
releases by default, and prints a table. Chromium opens the page from disk, without a network: it is usable when all charts are
drawn and a person is shown. ``python benchmarks/report_page.py PAGE.html`` measures a page that was written before.
"""

import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams, report

RECORDS, RELEASES = 100_000, 12
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


def made(records: int, releases: int, page: Path) -> tuple[float, float]:
    """Write the page of a report on simulated exams; processor seconds of its contents and of its rendering."""
    history = exams(views=releases, records=records, rng=1).history
    published = publish(history, Mondrian(KAnonymity(10) & DistinctDiversity(2)), rng=1)
    start = time.process_time()
    found = report(published, stricter=0, rng=1)
    computed = time.process_time()
    found.save(page)
    return computed - start, time.process_time() - computed


def main() -> None:
    """Print the table."""
    arguments = sys.argv[1:]
    print("| records | contents, processor s | rendering, processor s | page, MB | usable, s | a person chosen, s |")
    print("|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        if arguments and arguments[0].endswith(".html"):
            page, name, figures = Path(arguments[0]), arguments[0], "| "
        else:
            records, releases = map(int, arguments) if arguments else (RECORDS, RELEASES)
            page, name = Path(folder) / "report.html", f"{records:,} x {releases}"
            contents, rendering = made(records, releases, page)
            figures = f"{contents:.1f} | {rendering:.1f}"
        usable, chosen = opening(page)
        print(f"| {name} | {figures} | {page.stat().st_size / 1e6:.2f} | {usable:.2f} | {chosen:.3f} |")


if __name__ == "__main__":
    main()
