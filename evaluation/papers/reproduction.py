"""A reproduction: cells of the experiments of papers in a folder, pictures of their figures, and a page of figures and claims."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import nan
from numbers import Real
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from markdown_it import MarkdownIt

from foreknow.evaluation.cells import Experiment, keys, pack, read, run
from foreknow.evaluation.papers.claims import Claim, Decision, Verdict, all_claims, judged
from foreknow.evaluation.papers.drawing import Missing, draw, in_order, means, tables_of, with_interval
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper
from foreknow.models.progress import Progress
from foreknow.models.tables.atomic_file import atomic_file

CELLS, PAGE = "cells", "index"
"""Folder of the cells, and name of the page, within the folder of a reproduction."""

HOW = (
    "A claim *holds* if the 95 % interval of its value over the seeds is inside what it asks, *does not hold* if it is outside, "
    "and *cannot be judged* if the bound is inside the interval, or with fewer than three seeds. *In part* names a weaker form "
    "that holds. *Joint adversary* is the same value under the joint law of all releases, without presence; *mined knowledge* "
    "takes its place in the foreground paper. *Further adversaries*, against whom three claims were measured, read presence, "
    "above a control that reads it without groups, or learn the law from the releases; *two-sided* is the gain of the joint "
    "adversary, and the bound over it. Readings are choices that a paper leaves open, and all are tried. After a mean stand half "
    "of its interval, the number of seeds, and the least and the greatest value of a seed. Figures have means over the seeds, "
    "with intervals from three seeds on, and small points for fewer; lines joined by ≈ coincide."
)
"""How to read the page."""

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
    own = {each.name: rows[rows["experiment"] == each.name] for each in experiments}
    return {name: of_one.dropna(axis=1, how="all").infer_objects() for name, of_one in own.items()}


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


def page(papers: Sequence[Paper], found: Mapping[str, pd.DataFrame], stale: Mapping[str, str] | None = None) -> str:
    """Page in Markdown: claims with their verdicts, then each figure with its setting and readings; ``stale`` are `stale_cells`."""
    others = stale or {}
    lines = [
        "# Reproduction of the five papers" if len(papers) > 1 else f"# Reproduction: {papers[0].name}",
        "",
        HOW,
        "",
    ]
    if others:
        lines += [
            f"Cells measured by other code: {', '.join(f'{text} of {name}' for name, text in others.items())}.",
            "",
        ]
    verdicts = verdicts_of(papers, found)
    lines += ["## Claims", "", *_summary(verdicts)] if verdicts else []
    for paper in papers:
        own = [each for each in verdicts if each.claim.paper == paper.name]
        experiments = [each for each in own if each.claim.kind == "experiment"]
        parts = {
            f"Claims of {paper.name}": _judged([each for each in experiments if each.claim.main]),
            "Details": _judged([each for each in experiments if not each.claim.main]),
            "Theory": _shown([each for each in own if each.claim.kind == "theory"]),
        }
        for title, table in parts.items():
            if table:
                lines += ["", f"{'###' if title.startswith('Claims') else '####'} {title}", "", *table]
    for paper in papers:
        lines += ["", f"## Figures of {paper.name}", "", f"{paper.citation}. {paper.setting}".strip(), ""]
        lines += [f"- {reading}" for reading in paper.readings]
        for figure in paper.figures:
            lines += ["", *_figure_lines(paper, figure, found, others)]
    return "\n".join(lines).rstrip() + "\n"


def verdicts_of(papers: Iterable[Paper], found: Mapping[str, pd.DataFrame]) -> list[Verdict]:
    """Verdicts of the claims of papers."""
    names = [paper.name for paper in papers]
    return judged([claim for claim in all_claims() if claim.paper in names], found)


def stale_cells(found: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Number of cells that other code measured, as ``3 of 10``, by the name of the experiment; without those that have none."""
    counts = {name: rows.drop_duplicates("key")["stale"] for name, rows in found.items() if not rows.empty}
    return {name: f"{int(each.sum())} of {len(each)}" for name, each in counts.items() if each.any()}


def counted(verdicts: Iterable[Verdict]) -> Counter[tuple[str, str]]:
    """Numbers of claims by paper and verdict, those of too few seeds with the side of the bounds."""
    names = ((each, f"provisionally: {each.own.side}" if each.own.side else each.short) for each in verdicts)
    return Counter((each.claim.paper, name) for each, name in names)


def _summary(verdicts: Sequence[Verdict]) -> list[str]:
    """Table of the number of claims by paper and verdict."""
    counts = counted(verdicts)
    papers, columns = (list(dict.fromkeys(key[place] for key in counts)) for place in (0, 1))
    return markdown_table(
        ["paper", *columns], [[paper, *(counts[paper, name] for name in columns)] for paper in papers]
    )


def _judged(verdicts: Sequence[Verdict]) -> list[str]:
    """Table of claims that cells decide."""
    rows = []
    for claim, own, under, _ in verdicts:
        within = f" ± {claim.tolerance:g}" if claim.tolerance else ""
        source = f" ({claim.tolerance_from})" if claim.tolerance_from else ""
        asked = f"{claim.value}: {claim.asked}{within}{source}" if claim.query else ""
        strongest = "none" if claim.not_applicable else _words(under, True)
        rows.append([claim.number, _cited(claim), asked, claim.printed, measured(own), _words(own), strongest])
    if not rows:
        return []
    heads = ["", "claim", "asked", "printed", "measured (seeds; ends)", "verdict", verdicts[0].claim.stronger]
    lines = markdown_table(heads, rows)
    reasons: dict[str, list[str]] = {}
    for claim, *_ in verdicts:
        reasons.setdefault(claim.not_applicable, []).append(str(claim.number))
    texts = [f"{reason} ({', '.join(numbers)})" for reason, numbers in reasons.items() if reason]
    lines += ["", f"No {heads[-1]}: {'; '.join(texts)}."] if texts else []
    for claim, own, _, further in verdicts:
        if own.tried:
            lines += ["", *_readings(claim, own)]
        if claim.further and (seeds := max(each.seeds for each in further.values())):
            found = "; ".join(f"{name}: {_words(each, True)}" for name, each in further.items())
            asked = f"mean signed gain at most {claim.further.at_most:g}, {seeds} seeds"
            lines += ["", f"Claim {claim.number} against further adversaries ({asked}): {found}."]
    return lines


def _readings(claim: Claim, own: Decision) -> list[str]:
    """Values under the other readings of a claim; those of two axes as a table, where the claim as it stands is the first cell."""
    values = {(*each.words,): with_interval(found.mean, found.half) for each, found in own.tried if each.words}
    if not values:
        tried = "; ".join(f"{each.reading}: {with_interval(found.mean, found.half)}" for each, found in own.tried)
        return [f"Other readings of claim {claim.number}: {tried}."]
    rows = dict.fromkeys(one for one, _ in values)
    columns = [other for one, other in values if one == [*rows][-1]]
    first = {(next(iter(rows)), columns[0]): with_interval(own.mean, own.half)}
    cells = [[one, *((first | values)[one, other] for other in columns)] for one in rows]
    heads = [f"readings of claim {claim.number}", *(other or "as it stands" for other in columns)]
    return markdown_table(heads, cells)


def measured(decision: Decision) -> str:
    """Mean with half of its interval, and in parentheses the number of seeds and, where they differ, the ends of their values."""
    if not decision.seeds:
        return ""
    low, high = (with_interval(end, nan) for end in decision.ends)
    ends = f"; {low} to {high}" if low != high else ""
    return f"{with_interval(decision.mean, decision.half)} ({decision.seeds}{ends})"


def _words(decision: Decision, with_mean: bool = False) -> str:
    mean = with_interval(decision.mean, decision.half) if with_mean else ""
    return ": ".join(filter(None, (decision.verdict, decision.why, mean)))


def _shown(verdicts: Sequence[Verdict]) -> list[str]:
    """Table of theorems and examples."""
    rows = []
    for claim, own, *_ in verdicts:
        places = (each.partition("::") for each in claim.shown_by)
        shown = "; ".join(f"`{test}` in `{file}`" if test else file for file, _, test in places)
        rows.append([claim.number, _cited(claim), _words(own), shown])
    return markdown_table(["", "claim", "verdict", "shown by"], rows) if rows else []


def _cited(claim: Claim) -> str:
    return f"{claim.says} ({claim.place}{f', {_of_figure(claim.figure)}' if claim.figure else ''})"


def _of_figure(name: str) -> str:
    return name if name.startswith(("Table", "Section")) else f"Figure {name}"


def _figure_lines(
    paper: Paper, figure: Figure, found: Mapping[str, pd.DataFrame], stale: Mapping[str, str]
) -> list[str]:
    lines = [f"### {_of_figure(figure.name)}: {figure.title}", ""]
    try:
        rows = means(figure, found)
    except Missing as missing:
        return [*lines, f"Not measured: there are no cells of {missing}."]
    if figure.kind == "table":
        lines += [*_table_of(figure, rows), ""]
    else:
        lines += [f"![{_of_figure(figure.name)}]({paper.name}-{figure.file}.png)", ""]
    seeds = sorted({*rows["seeds"]} - {0}) or [0]
    number = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))
    plural = " seed" if number == "1" else " seeds"
    other = ", some cells of other code" if tables_of(figure.query, stale) else ""
    return [*lines, " ".join(filter(None, (figure.setting, *figure.readings, f"{number}{plural}{other}.")))]


def _table_of(figure: Figure, rows: pd.DataFrame) -> list[str]:
    """Table of a figure: a row for each panel and line, a column for each x, with the printed values."""
    printed = {(panel, line, x): f"{y:g}" for panel, line, x, y in figure.printed}
    measured = {
        (panel, line, x): with_interval(y, half)
        + (f" (printed {printed[panel, line, x]})" if (panel, line, x) in printed else "")
        for panel, line, x, y, half in rows[["panel", "line", "point", "y", "half"]].itertuples(index=False, name=None)
    }
    texts = printed | measured
    columns = in_order(key[2] for key in (*measured, *printed))
    heads = [f"{figure.x_label} {f'{x:g}' if isinstance(x, Real) else x}".strip() for x in columns]
    own = [key[:2] for key in measured]
    names = dict.fromkeys([*(key[:2] for key in printed if key[:2] not in own), *own])
    lines = [[", ".join(filter(None, name)), *(texts.get((*name, x), "") for x in columns)] for name in names]
    return markdown_table([figure.y_label, *heads], lines)


def markdown_table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lines of a table in Markdown."""
    texts = [[str(each).replace("|", chr(92) + "|") for each in row] for row in (heads, *rows)]
    return [f"| {' | '.join(row)} |" for row in (texts[0], ["---"] * len(heads), *texts[1:])]


def write_page(text: str, folder: Path) -> None:
    """Write the page as Markdown and as HTML."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    title = escape(text.split("\n", 1)[0].lstrip("# "))
    whole = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>{html}</html>\n'
    for name, content in ((f"{PAGE}.md", text), (f"{PAGE}.html", whole)):
        with atomic_file(folder / name, private=False) as scratch:
            scratch.write_text(content, encoding="utf-8")
