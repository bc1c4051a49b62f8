"""The command `foreknow simulate`: a simulated history as a table that the other commands take."""

import secrets
import shlex
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.next_step import unused_path
from foreknow.app.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.options import OUTPUT_PANEL, Overwrite
from foreknow.app.cli.printing.terminal import continued, error_console, say
from foreknow.evaluation.datasets.exams import exams

SIMULATIONS = {"exams": exams}
"""Simulations by name: functions of the number of releases, the number of records of each, and a seed."""


def _check_simulation(name: str) -> str:
    if name not in SIMULATIONS:
        raise typer.BadParameter(f"{name!r} is not a simulation; choose one of {', '.join(SIMULATIONS)}.")
    return name


def simulate_command(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", callback=_check_simulation, help=f"What is simulated: {', '.join(SIMULATIONS)}."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", rich_help_panel=OUTPUT_PANEL, help="File of the table: .csv or .parquet."
        ),
    ],
    releases: Annotated[int, typer.Option(min=1, metavar="N", help="Number of releases.")] = 12,
    records: Annotated[int, typer.Option(min=1, metavar="N", help="Number of records of each release.")] = 5000,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Seed of the simulation; by default a new one, which is printed and kept."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> Outcome:
    """Write a simulated history, to try the other commands.

    exams: medical exams of one institute, weekly: age, gender, weight and the stage of a disease, with a known Markov chain.
    """
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"--out {out} does not end with .csv or .parquet; name a file, as visits.csv.")
    kept = f"{out.stem}.{SETTINGS}"
    check_output(out.parent, [out.name, kept], (), overwrite)
    used = secrets.randbits(32) if seed is None else seed
    with error_console.status("simulating"):
        history = SIMULATIONS[name](releases, records, rng=used).history
    table = pd.concat([view.frame.assign(week=view.time) for view in history], ignore_index=True)
    schema = history.schema
    table = table[[schema.respondent, "week", *schema.quasi_identifiers, schema.sensitive]]
    with atomic_output(out.parent, (), overwrite) as folder:
        write_table(table, folder / out.name)
        write_settings(folder / kept, run_settings(context, [], used))
    people = len(history.respondents)
    say(
        f"{len(table):,} records of {people:,} respondents in {releases} releases: {out}. Seed: {used}, kept in {kept}."
    )
    traits = " ".join(f"--qi {trait}" for trait in schema.quasi_identifiers)
    say(
        "Next:",
        *continued(
            f"foreknow publish {shlex.quote(str(out))} {traits} --sensitive {schema.sensitive} --out {unused_path('release')}"
        ),
    )
    return Outcome({"records": len(table), "respondents": people, "releases": releases, "seed": used, "file": str(out)})
