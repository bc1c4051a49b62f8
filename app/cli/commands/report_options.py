"""Options of `foreknow report` alone: their flags, help texts and choices."""

from pathlib import Path
from typing import Annotated

import typer

from foreknow.app.cli.commands.attack_options import KnowledgeSource
from foreknow.app.cli.options import INPUT_PANEL, KNOWLEDGE_PANEL, OUTPUT_PANEL
from foreknow.app.report.report import MAX_STRICTER

REPORT_PANEL = "Report"
"""Heading of the help text for the options of the report."""

Groups = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=INPUT_PANEL,
        help="Group of each record; by default the column 'group' of the records. Without either, the records are published "
        "with the default defense first, for this report alone.",
    ),
]
Page = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FILE",
        rich_help_panel=OUTPUT_PANEL,
        help="File of the report, as report.html; readable by you only.",
    ),
]
Names = Annotated[
    bool,
    typer.Option(
        "--names",
        rich_help_panel=REPORT_PANEL,
        help="Show the identifiers of respondents; by default they have numbers in the order of exposure.",
    ),
]
Stricter = Annotated[
    int,
    typer.Option(
        "--stricter",
        min=0,
        max=MAX_STRICTER,
        metavar="N",
        rich_help_panel=REPORT_PANEL,
        help="Number of stricter settings to try; each is published and attacked anew. 0 saves the time.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        rich_help_panel=REPORT_PANEL,
        help="Seed of intervals, samples and trial publications; by default a new one, which the report names.",
    ),
]
Details = Annotated[
    KnowledgeSource | None,
    typer.Option(
        metavar="SOURCE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Adversary of the tables of respondents and groups: learned (from the releases alone) or records (who knows the "
        "original records, or the --corpus). By default the one who exposes more respondents.",
    ),
]
