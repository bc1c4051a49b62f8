"""Tables of the benchmarks, printed as Markdown, and the machine that measured them."""

import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

DOCS = Path(__file__).resolve().parents[1] / "docs"
type Row = dict[str, Any]


def markdown(found: Iterable[Row | str]) -> Iterator[str]:
    """Lines as they are, and rows as lines of Markdown; a row with other columns than the one before begins a table."""
    columns: list[str] = []
    for each in found:
        if isinstance(each, dict):
            if list(each) != columns:
                columns = list(each)
                yield f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
            yield f"| {' | '.join(map(cell, each.values()))} |"
        else:
            yield each


def cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 1 else f"{value:.4f}"


def print_sections(sections: Iterable[Callable[[], Any]]) -> None:
    """Print the sections named on the command line, or all; each returns rows and lines, or a table of pandas."""
    of_name = {section.__name__: section for section in sections}
    if unknown := set(sys.argv[1:]) - set(of_name):
        raise SystemExit(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(of_name)}.")
    for name in sys.argv[1:] or of_name:
        print(f"\n## {name}: {of_name[name].__doc__}", flush=True)
        found = of_name[name]()
        for line in markdown([found.round(4).to_string()] if isinstance(found, pd.DataFrame) else found):
            print(line, flush=True)


def machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pandas"))
    return f"{hardware()}; Python {platform.python_version()}, {packages}"


def hardware() -> str:
    """Processor and cores of the machine: runs are compared whatever the versions of the programs."""
    described = Path("/proc/cpuinfo").read_text().split("\n") if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":")[1].strip() for line in described if line.startswith("model name")]
    return f"{[*models, platform.machine()][0]}, {len(models) or 1} cores"


def fill(page: Path, mark: str, lines: Iterable[str]) -> None:
    """Write lines between a mark of a page and the end of its part."""
    before, _, rest = page.read_text().partition(f"<!-- measured: {mark} -->")
    _, _, after = rest.partition("<!-- end -->")
    page.write_text("\n".join([f"{before}<!-- measured: {mark} -->", "", *lines, "", f"<!-- end -->{after}"]))


def keep_section(section: str, page: Path, title: str) -> None:
    """Write the section of a machine to a page, in place of its earlier one."""
    head, *parts = (page.read_text() if page.exists() else title).split("\n## ")
    name = section.split("\n", 1)[0]
    kept = [f"## {part.rstrip()}" for part in parts if f"## {part.split(chr(10), 1)[0]}" != name]
    page.write_text("\n\n".join([head.rstrip(), *kept, section.rstrip()]) + "\n")
