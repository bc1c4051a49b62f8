"""A reproduction: cells of the experiments of papers in a folder, pictures of their figures, and a page of figures and claims."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from markdown_it import MarkdownIt

from foreknow.evaluation.cells import Experiment, keys, pack, read, run
from foreknow.evaluation.papers.claims import Verdict, all_claims, judged
from foreknow.evaluation.papers.drawing import Missing, draw, means, tables_of, with_interval
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper
from foreknow.models.progress import Progress
from foreknow.models.tables.atomic_file import atomic_file

CELLS, PAGE = "cells", "index"
"""Folder of the cells, and name of the page, within the folder of a reproduction."""

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}img{max-width:100%}"
    "table{border-collapse:collapse;font-size:.9rem}td,th{border:1px solid #ccc;padding:.3rem .5rem;vertical-align:top}"
)


def experiments_of(papers: Iterable[Paper], figure: Figure | None = None) -> list[Experiment]:
    """Experiments of papers, or those that one figure reads."""
    found = [experiment for paper in papers for experiment in paper.experiments]
    return found if figure is None else [each for each in found if tables_of(figure.query, [each.name])]


def measure(
    papers: Sequence[Paper],
    folder: Path,
    *,
    figure: Figure | None = None,
    full: bool = False,
    adult: bool = True,
    workers: int = 1,
    progress: Progress = iter,
) -> None:
    """Measure the cells of papers, or of one figure, that are missing or stale: those of ``fast``, or all.

    Parameters
    ----------
    folder : path
        Folder of the reproduction.
    adult : bool
        False leaves out the experiments on Adult.
    workers, progress
        As in `run`.
    """
    asked = []
    for paper in papers:
        for each in experiments_of([paper], figure):
            cells = [cell for cell in each.cells if full or paper.fast(cell)]
            if cells and (adult or each.data != ADULT):
                asked.append(replace(each, cells=cells))
    run(asked, folder / CELLS, workers=workers, progress=progress)
    pack(asked, folder / CELLS)


def tables(papers: Sequence[Paper], folder: Path) -> dict[str, pd.DataFrame]:
    """Rows of the kept cells by the name of the experiment, also those that other code measured; empty where there are none."""
    experiments = experiments_of(papers)
    rows = read(experiments, folder / CELLS)
    rows = rows[rows["key"].isin(keys(experiments))]
    return {each.name: rows[rows["experiment"] == each.name].dropna(axis=1, how="all") for each in experiments}


def write_pictures(papers: Iterable[Paper], found: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write a picture of each figure whose experiments have rows, as ``js-reduce-4c.png``."""
    for paper in papers:
        for figure in paper.figures:
            try:
                rows = means(figure, found)
            except Missing:
                continue
            if figure.kind != "table":
                picture = draw(figure, rows)
                with atomic_file(folder / f"{paper.name}-{figure.file}.png", private=False) as scratch:
                    picture.savefig(scratch, format="png", dpi=110)
                plt.close(picture)


def page(papers: Sequence[Paper], found: Mapping[str, pd.DataFrame]) -> str:
    """Page in Markdown: claims with their verdicts, and each figure with its setting and readings."""
    verdicts = verdicts_of(papers, found)
    lines = ["# Reproduction of the five papers" if len(papers) > 1 else f"# Reproduction: {papers[0].name}", ""]
    lines += ["## Claims", "", *_summary(verdicts), ""]
    for paper in papers:
        own = [each for each in verdicts if each.claim.paper == paper.name]
        lines += [f"### Claims of {paper.name}", "", f"{paper.citation}.", "", *_claim_lines(own), ""]
    for paper in papers:
        lines += [f"## Figures of {paper.name}", ""]
        for figure in paper.figures:
            lines += [*_figure_lines(paper, figure, found), ""]
    return "\n".join(lines).rstrip() + "\n"


def verdicts_of(papers: Iterable[Paper], found: Mapping[str, pd.DataFrame]) -> list[Verdict]:
    """Verdicts of the claims of papers."""
    names = [paper.name for paper in papers]
    return judged([claim for claim in all_claims() if claim.paper in names], found)


def _summary(verdicts: Sequence[Verdict]) -> list[str]:
    """Table of the number of claims by paper and verdict."""
    papers = list(dict.fromkeys(each.claim.paper for each in verdicts))
    counts = Counter((each.claim.paper, each.short) for each in verdicts)
    columns = list(dict.fromkeys(each.short for each in verdicts))
    rows = [[paper, *(counts[paper, column] for column in columns)] for paper in papers]
    return _markdown([["paper", *columns], *rows])


def _claim_lines(verdicts: Sequence[Verdict]) -> list[str]:
    rows = [["", "claim", "place", "value: asked", "measured (seeds)", "verdict", "under the strongest adversary"]]
    for claim, own, under in verdicts:
        place = claim.place + (f", {_of_figure(claim.figure)}" if claim.figure else "")
        asked = f"{claim.value}: {claim.asked}" if claim.query else ""
        measured = f"{with_interval(own.mean, own.half)} ({own.seeds})" if own.seeds else ""
        verdict = own.verdict + (f": {own.why}" if own.why else "")
        strongest = f"{under.verdict}: {with_interval(under.mean, under.half)}" if under.verdict else ""
        rows.append([str(claim.number), claim.says, place, asked, measured, verdict, strongest])
    return _markdown(rows)


def _of_figure(name: str) -> str:
    return name if name.startswith(("Table", "Section")) else f"Figure {name}"


def _figure_lines(paper: Paper, figure: Figure, found: Mapping[str, pd.DataFrame]) -> list[str]:
    lines = [f"### {_of_figure(figure.name)}: {figure.title}", ""]
    try:
        rows = means(figure, found)
    except Missing as missing:
        return [*lines, f"Not measured: there are no cells of {missing}."]
    if figure.kind == "table":
        lines += [*_table_of(figure, rows), ""]
    else:
        lines += [f"![{figure.title}]({paper.name}-{figure.file}.png)", ""]
    seeds = sorted(set(rows["seeds"]))
    number = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))
    many = "one seed, no interval" if seeds == [1] else f"mean and 95 % interval over {number} seeds"
    lines += [f"Setting of the paper: {figure.setting} Drawn: {many}.", ""]
    return [*lines, *(f"- {reading}" for reading in figure.readings)]


def _table_of(figure: Figure, rows: pd.DataFrame) -> list[str]:
    """Table of a figure: a row for each panel and line, a column for each x, and printed values in brackets."""
    printed = {(panel, line, str(x)): y for panel, line, x, y in figure.printed}
    columns = list(dict.fromkeys(rows["x"]))
    lines = [[figure.y_label, *(f"{figure.x_label} {x}" if figure.x_label else str(x) for x in columns)]]
    shown: dict[tuple[str, str], dict[object, str]] = {}
    for panel, line, x, y, half, _ in rows.itertuples(index=False, name=None):
        beside = f" (printed {printed[panel, line, str(x)]:g})" if (panel, line, str(x)) in printed else ""
        shown.setdefault((panel, line), {})[x] = with_interval(y, half) + beside
    lines += [[", ".join(filter(None, name)), *(texts.get(x, "") for x in columns)] for name, texts in shown.items()]
    return _markdown(lines)


def _markdown(rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(str(each).replace('|', chr(92) + '|') for each in row)} |" for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]


def write_page(text: str, folder: Path) -> None:
    """Write the page as Markdown and as HTML."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    title = escape(text.split("\n", 1)[0].lstrip("# "))
    whole = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>{html}</html>\n'
    for name, content in ((f"{PAGE}.md", text), (f"{PAGE}.html", whole)):
        with atomic_file(folder / name, private=False) as scratch:
            scratch.write_text(content, encoding="utf-8")
