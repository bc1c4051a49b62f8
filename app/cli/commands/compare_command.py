"""The command `foreknow compare`: the same records under several defenses or settings, with their risk and price."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from foreknow.app.cli.attack_choices import solver_choice
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_options import Corpus, SolverName
from foreknow.app.cli.commands.compare_making import INFEASIBLE, SHOWN, Trials, best_row, measured
from foreknow.app.cli.commands.compare_options import (
    Compared,
    Defenses,
    Out,
    Sweep,
    compared,
    stricter_settings,
    weaker_settings,
)
from foreknow.app.cli.commands.next_step import BOUNDS, SUPPRESSED_AS_TRIED, next_lines, unused_path
from foreknow.app.cli.commands.publish_options import ThresholdOptions
from foreknow.app.cli.commands.report_options import Seed
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS
from foreknow.app.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.app.cli.options import FailOver, Overwrite, Sure, check_sure, given_options
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.printed_table import PrintedTable, definitions
from foreknow.app.cli.printing.terminal import notice, say, say_verdict, show
from foreknow.models import History

COMPARISON = "comparison.csv"
"""File of the table in --out."""

TERMS = {
    "exposed": "number of respondents with a sure belief in their true value at a release, and not before any release, by the "
    "joint attack in hindsight; the larger of an adversary who knows the records' frequencies and of one who knows the "
    "releases alone",
    "share": "share of the respondents that is exposed",
    "suppressed": "share of the records that are suppressed",
    "gcp": "generalization of a published record: 0 exact, also for groups with exact quasi-identifiers, 1 no information",
    "size": "mean number of records of a group",
    "seconds": "time to publish, without the attacks",
}
"""Meaning of the columns."""


def compare_command(
    context: typer.Context,
    table: TableOptions,
    thresholds: ThresholdOptions,
    known: KnowledgeOptions,
    defense: Defenses = [],  # noqa: B006 - Typer reads it, nothing writes it
    sweep: Sweep = None,
    sure: Sure = 0.9,
    fail_over: FailOver = None,
    solver: SolverName = "group-messages",
    seed: Seed = None,
    corpus: Corpus = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Outcome:
    """Publish the same records by several defenses or settings, attack each, and compare risk and price.

    Each is a trial, which is not written. The attack is the joint one in hindsight, by the adversaries of foreknow report.

    The exit status is 1 if no setting publishes a record or, with --fail-over, brings the share of exposed respondents to it.
    """
    check_sure(sure)
    used = secrets.randbits(32) if seed is None else seed
    tried = compared(defense, sweep, thresholds.options(used, given_options(context)))
    inputs = [path for path in (*table.files, corpus) if path is not None]
    if out is not None:
        check_output(out, [COMPARISON, SETTINGS], inputs, overwrite)
    history, taught = _read(table, corpus)
    notice_compilation()
    found = measured(Trials(history, taught, known.learning, solver_choice(solver, used), sure, used), tried)
    best = best_row(found, fail_over)
    say_verdict(_verdict(found, best, fail_over))
    _show(found)
    if out is not None:
        _write(out, found, run_settings(context, inputs, used), inputs, overwrite)
    say(_verdict(found, best, fail_over), f"Seed: {used}.")
    say(*(_compare_next(context, tried, found) if best is None else _publish_next(context, tried[best])))
    content = {"sure": sure, "fail_over": fail_over, "solver": solver, "seed": used, "settings": found}
    return Outcome(content | {"best": None if best is None else tried[best].title}, best is None)


def _read(table: TableOptions, corpus: Path | None) -> tuple[History, History | None]:
    """Histories of the records and of the corpus, with one schema."""
    columns = table.columns
    tables = columns.read(*(path for path in (table.records, corpus) if path is not None))
    schema = columns.schema(*tables)
    history, *others = (History.read(each, schema, columns.time) for each in tables)
    return history, others[0] if others else None


def _show(found: pd.DataFrame) -> None:
    """Print risk and price of each setting, and the problems of those that publish nothing."""
    show(PrintedTable(found.dropna(subset=["exposed"])[list(SHOWN)].rename(columns=SHOWN), "Risk and price"))
    show(definitions(TERMS))
    for row in found[found["exposed"].isna()].itertuples():
        notice(f"{row.setting}: {row.problem}")


def _publish_next(context: typer.Context, best: Compared) -> list[str]:
    """Lines that name the publication of the trial that is the best, with all settings of the trial but its seed."""
    more = (best.arguments, f"--infeasible {INFEASIBLE}", f"--out {unused_path('release')}")
    lines = next_lines(
        context, "publish", *more, also=[name for name in KNOWLEDGE_OPTIONS if name in best.choice.options]
    )
    return [SUPPRESSED_AS_TRIED, *lines]


def _compare_next(context: typer.Context, tried: Sequence[Compared], found: pd.DataFrame) -> list[str]:
    """Lines that name the comparison of other settings, where none of these is to be published."""
    options = weaker_settings(tried) if found["exposed"].isna().all() else stricter_settings(tried)
    return next_lines(context, "compare", options, also=("solver", *BOUNDS, *KNOWLEDGE_OPTIONS))


def _verdict(found: pd.DataFrame, best: int | None, fail_over: float | None) -> str:
    """The verdict in one line."""
    if found["exposed"].isna().all():
        return "FAILED: no setting publishes a record. The next command tries weaker ones."
    if best is None:
        bound = f"brings the share of exposed respondents to {fail_over:g}"
        return f"FAILED: no setting {bound}. The next command tries stricter ones."
    name = found["setting"][best]
    if fail_over is None:
        return f"The least risk: {name}. Name a bound with --fail-over for the cheapest that meets it."
    under = found.loc[found["share"] <= fail_over, "setting"]
    return f"Not over {fail_over:g}: {', '.join(under)}. The cheapest: {name}."


def _write(out: Path, found: pd.DataFrame, settings: dict[str, Any], inputs: list[Path], overwrite: bool) -> None:
    with atomic_output(out, inputs, overwrite) as folder:
        write_table(found, folder / COMPARISON, private=True)
        write_settings(folder / SETTINGS, settings)
    say(f"The table, for you alone: {out / COMPARISON}. How it was made: {SETTINGS} beside it.")
