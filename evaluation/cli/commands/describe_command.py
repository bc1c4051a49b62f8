"""The command `foreknow describe`: a first look at a file, with proposed roles and the next command."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.evaluation.cli.command_shape import Outcome
from foreknow.evaluation.cli.description.column_facts import UNITS, ColumnFacts
from foreknow.evaluation.cli.description.description import Description, described, next_command
from foreknow.evaluation.cli.description.proposed_roles import IDENTIFIER, UNUSED
from foreknow.evaluation.cli.input_options import Separator, separator_character
from foreknow.evaluation.cli.options import Encoding, Missing
from foreknow.evaluation.cli.printing.error_messages import message_in_options
from foreknow.evaluation.cli.printing.printed_table import PrintedTable
from foreknow.evaluation.cli.printing.terminal import continued, paragraph, say, show

MAX_EXAMPLE = 20
"""Characters of the example of a column."""


def describe_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file, one row per record.")],
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    missing_value: Missing = [],  # noqa: B006 - Typer reads it, nothing writes it
) -> Outcome:
    """Start here: look at a file, and get the command that publishes it.

    The table has the type of each column, its numbers of distinct and of missing cells, and a proposed role. The faults that
    publishing would refuse follow, with the options that settle them, and the next command to type.

    Roles are proposed by the names and the contents of columns. They are guesses: check them. Nothing is written.
    """
    description = described(file, encoding, separator_character(separator), tuple(missing_value))
    show(PrintedTable(_columns(description), description.headline))
    for text in _notes(description):
        paragraph(text)
    say("Next:" if description.run and not description.run.left else "Then:", *continued(next_command(description)))
    return Outcome(_as_json(description))


def _columns(description: Description) -> pd.DataFrame:
    """One row per column of the file."""
    return pd.DataFrame([_row(fact, description.roles.roles[fact.name]) for fact in description.facts])


def _row(fact: ColumnFacts, role: str) -> dict[str, object]:
    example = fact.example if len(fact.example) <= MAX_EXAMPLE else f"{fact.example[: MAX_EXAMPLE - 3]}..."
    return {
        "column": fact.name,
        "type": fact.kind,
        "distinct": fact.distinct,
        "missing": fact.missing,
        "example": example,
        "proposed role": role,
    }


def _notes(description: Description) -> list[str]:
    """Paragraphs below the table: identifiers, unused columns, marks of missing cells, faults."""
    roles, run = description.roles, description.run
    notes = []
    if names := roles.of(IDENTIFIER):
        notes.append(f"Identifiers are not published: {', '.join(names)}.")
    if names := roles.of(UNUSED):
        notes.append(f"Not used: {', '.join(names)}. Add --qi COLUMN for each that an adversary may know.")
    for fact in description.facts:
        if fact.marks:
            notes.append(f"{fact.name}: {', '.join(map(repr, fact.marks))} probably means a missing value.")
        if fact.kind == UNITS:
            notes.append(f"{fact.name}: numbers with a unit, as {fact.example!r}.")
    if missing := description.roles_not_found:
        notes.append(f"No column was recognized as {' or '.join(missing)}; name one in the command below.")
    if run is not None and run.lines:
        notes.append(f"{len(run.lines)} {'fault' if len(run.lines) == 1 else 'faults'} would be refused:")
        notes += [f" {number}. {message_in_options(ValueError(line))}" for number, line in enumerate(run.lines, 1)]
    if run is not None and run.left:
        columns = ", ".join(fault.column or "repeated records" for fault in run.left)
        notes.append(f"No option settles the faults of {columns}; correct the file first, and describe it again.")
    return notes


def _as_json(description: Description) -> dict[str, object]:
    run = description.run
    return {
        "file": str(description.path),
        "records": description.records,
        "encoding": description.encoding,
        "separator": description.separator,
        "columns": [
            {
                "name": fact.name,
                "type": fact.kind,
                "role": description.roles.roles[fact.name],
                "distinct": fact.distinct,
                "missing": fact.missing,
                "marks of missing cells": list(fact.marks),
                "example": fact.example,
            }
            for fact in description.facts
        ],
        "faults": []
        if run is None
        else [
            {"column": fault.column, "records": fault.records, "message": message_in_options(ValueError(line))}
            for fault, line in zip(run.faults, run.lines, strict=True)
        ],
        "unsettled": 0 if run is None else len(run.left),
        "next": next_command(description),
    }
