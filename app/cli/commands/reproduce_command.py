"""The command `foreknow reproduce`: the experiments of a paper, its figures, and what becomes of its claims."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from joblib import cpu_count

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.options import OUTPUT_PANEL, one_of, option
from foreknow.app.cli.terminal import PrintedTable, notice, say, show, tracked
from foreknow.evaluation.papers import PAPERS, paper
from foreknow.evaluation.papers.figures import ADULT, FOLDER_OF_ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.papers.reproduction import (
    CELLS,
    PAGE,
    counted,
    experiments_of,
    measure,
    page,
    stale_cells,
    tables,
    verdicts_of,
    write_page,
    write_pictures,
)

ALL = "all"


@dataclass(frozen=True)
class ReproduceRun:
    """Options of `foreknow reproduce`."""

    context: typer.Context
    name: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            callback=one_of("a paper", [*PAPERS, ALL]),
            help=f"The paper: {', '.join(PAPERS)}, or {ALL}.",
        ),
    ]
    number: Annotated[
        str | None, typer.Argument(metavar="[FIGURE]", help="One figure or table, as 4c or 'Table 3'; by default each.")
    ] = None
    full: Annotated[
        bool,
        option(
            "--fast measures one seed in minutes, without verdicts. --full measures ten: two hours for all papers on two cores.",
            None,
            None,
            "--full/--fast",
        ),
    ] = False
    out: Annotated[
        Path,
        option(
            "Folder of cells, pictures and the page. A run goes on where an earlier one ended.", "FOLDER", OUTPUT_PANEL
        ),
    ] = Path("reproduction")
    adult: Annotated[
        Path | None,
        option(f"Folder of UCI Adult's adult.data and adult.test; by default that of {FOLDER_OF_ADULT}.", "FOLDER"),
    ] = None
    workers: Annotated[int, option("Number of processes.", "N", min=1)] = cpu_count()


def reproduce_command(run: ReproduceRun) -> Outcome:
    """Run `foreknow reproduce`; its help text has the paragraphs below.

    The figures are drawn as the paper draws them, with the printed values beside; each claim gets a verdict, with its interval over
    the seeds, and the verdict under the strongest adversary. What the paper leaves open is a reading, which the page names.


    For example:
      foreknow reproduce js-reduce 4c
    """
    papers = [paper(name) for name in (PAPERS if run.name == ALL else [run.name])]
    figure = None if run.number is None else _figure(papers, run.number)
    if run.out.exists() and any(run.out.iterdir()) and not (run.out / CELLS).is_dir():
        raise ValueError(f"--out {run.out} has files that are no reproduction; name another folder, or an empty one.")
    if run.adult is not None:
        os.environ[FOLDER_OF_ADULT] = str(run.adult.resolve())
    has_adult = _adult_is_there(papers, figure, run.adult is not None)
    asked = [
        (each, cell) for each in papers for experiment in experiments_of([each], figure) for cell in experiment.cells
    ]
    if not run.full and not any(each.fast(cell) for each, cell in asked):
        notice("--fast has no cells of this figure; --full measures them.")
    (run.out / CELLS).mkdir(parents=True, exist_ok=True)
    measure(
        papers,
        run.out,
        figure=figure,
        full=run.full,
        adult=has_adult,
        workers=run.workers,
        progress=lambda cells: tracked(cells, "measuring cells"),
    )
    found = tables(papers, run.out)
    if stale := stale_cells(found):
        texts = ", ".join(f"{text} cells of {name}" for name, text in stale.items())
        notice(
            f"other code measured {texts}, which this run does not ask for; the page marks them. --full measures them again."
        )
    write_pictures(papers, found, run.out)
    write_page(page(papers, found, stale), run.out)
    counts = Counter(name for _, name in counted(verdicts_of(papers, found)).elements())
    show(PrintedTable(pd.DataFrame(counts.most_common(), columns=pd.Index(["verdict", "claims"])), "Claims"))
    say(f"Figures and claims: {run.out / PAGE}.html")
    return Outcome({"claims": dict(counts), "stale": stale, "page": str(run.out / f"{PAGE}.html")})


def _figure(papers: list[Paper], number: str) -> Figure:
    """The figure of a name, in any letter case."""
    if len(papers) > 1:
        raise ValueError(f"a figure is one of a paper: foreknow reproduce PAPER {number}.")
    figures = {figure.name.lower(): figure for figure in papers[0].figures}
    if (found := figures.get(number.lower().removeprefix("figure ").removeprefix("fig. "))) is None:
        names = ", ".join(figure.name for figure in papers[0].figures)
        raise ValueError(f"{papers[0].name} has no figure {number!r}; there are {names}.")
    return found


def _adult_is_there(papers: list[Paper], figure: Figure | None, is_given: bool) -> bool:
    """True if the experiments on Adult can be run; a notice names those that are left out."""
    on_adult = [each.name for each in experiments_of(papers, figure) if each.data == ADULT]
    if not on_adult:
        return False
    if not is_given and not os.environ.get(FOLDER_OF_ADULT):
        text = f"UCI Adult (adult.data and adult.test of archive.ics.uci.edu/dataset/2/adult) is needed for {', '.join(on_adult)}"
        if figure is not None and len(on_adult) == len(experiments_of(papers, figure)):
            raise ValueError(f"{text}; name its folder by --adult.")
        notice(f"{text}; they are left out. To measure them, name its folder by --adult.")
        return False
    adult_folder()
    return True
