"""The command `foreknow simulate`: a simulated history as a table that the other commands take."""

import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import OUTPUT_PANEL, Overwrite, one_of, option
from foreknow.app.cli.terminal import error_console, say
from foreknow.app.cli.typed_commands import typed_lines, unused_path
from foreknow.app.publication import SETTINGS
from foreknow.evaluation.datasets.exams import exams

SIMULATIONS = {"exams": exams}
"""Simulations by name: functions of the number of releases, the number of records of each, and a seed."""


@dataclass(frozen=True)
class SimulateRun:
    """Options of `foreknow simulate`."""

    context: typer.Context
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            callback=one_of("a simulation", SIMULATIONS),
            help=f"What is simulated: {', '.join(SIMULATIONS)}.",
        ),
    ]
    out: Annotated[Path, option("File of the table: .csv or .parquet.", "FILE", OUTPUT_PANEL)]
    releases: Annotated[int, option("Number of releases.", "N", min=1)] = 12
    records: Annotated[int, option("Number of records of each release.", "N", min=1)] = 5000
    seed: Annotated[
        int | None,
        option("Seed of the simulation; by default a new one, which is printed and kept.", "N", min=0),
    ] = None
    overwrite: Overwrite = False


def simulate_command(run: SimulateRun) -> Outcome:
    """Run `foreknow simulate`; its help text has the paragraphs below.

    exams: medical exams of one institute, weekly: age, gender, weight and the stage of a disease, with a known Markov chain.


    For example:
      foreknow simulate exams --releases 4 --records 500 --out visits.csv
    """
    out = run.out
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"--out {out} does not end with .csv or .parquet; name a file, as visits.csv.")
    kept = f"{out.stem}.{SETTINGS}"
    check_output(out.parent, [out.name, kept], (), run.overwrite)
    used = secrets.randbits(32) if run.seed is None else run.seed
    with error_console.status("simulating"):
        history = SIMULATIONS[run.name](run.releases, run.records, rng=used).history
    table = pd.concat([view.frame.assign(week=view.time) for view in history], ignore_index=True)
    schema = history.schema
    table = table[[schema.respondent, "week", *schema.quasi_identifiers, schema.sensitive]]
    with atomic_output(out.parent, (), run.overwrite) as folder:
        write_table(table, folder / out.name)
        write_json(folder / kept, run_settings(run.context, [], used))
    people = len(history.respondents)
    say(
        f"{len(table):,} records of {people:,} respondents in {run.releases} releases: {out}. Seed: {used}, kept in {kept}."
    )
    roles = " ".join([*(f"--qi {name}" for name in schema.quasi_identifiers), f"--sensitive {schema.sensitive}"])
    say("Next:", *typed_lines(f"publish {shlex.quote(str(out))} {roles} --out {unused_path('release')}"))
    found = {"records": len(table), "respondents": people, "releases": run.releases, "seed": used, "file": str(out)}
    return Outcome(found)
