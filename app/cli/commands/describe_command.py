"""The command `foreknow describe`: a first look at a file, with proposed roles and the next command."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_of_key import attack_of_key
from foreknow.app.cli.description.column_facts import CODES, UNITS, ColumnFacts
from foreknow.app.cli.description.description import Description, described
from foreknow.app.cli.description.dry_run import CHOSEN_FORMAT
from foreknow.app.cli.description.hierarchy_file import hierarchy_in
from foreknow.app.cli.description.proposed_commands import hierarchy_command, next_commands
from foreknow.app.cli.description.proposed_roles import IDENTIFIER, QUASI_IDENTIFIER, UNUSED
from foreknow.app.cli.description.publication_key import publication_key
from foreknow.app.cli.files.input_files import InputFiles
from foreknow.app.cli.input_options import Separator, separator_character
from foreknow.app.cli.options import Encoding, Missing
from foreknow.app.cli.printing.error_messages import message_in_options
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import continued, error_console, paragraph, say, show
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.models import Hierarchy

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

    Of a larger file the first million records are read, and the next command publishes it from disk.

    A published table, the private key of a publication and a generalization hierarchy are recognized; the next command checks and
    attacks the first, attacks with the second, or uses the third.
    """
    if (key := publication_key(file)) is not None:
        return _key(file, key)
    files = InputFiles(encoding, separator_character(separator), tuple(missing_value))
    if (hierarchy := hierarchy_in(file, files)) is not None:
        return _hierarchy(file, hierarchy)
    with error_console.status("reading"):
        description = described(file, files.encoding, files.separator, files.missing)
    show(PrintedTable(_columns(description), description.headline))
    for text in _notes(description):
        paragraph(text)
    first, *others = next_commands(description)
    say(_before_next(description), *continued(first))
    for command in others:
        say(ATTACK_NEXT, *continued(command))
    return Outcome(_as_json(description))


def _key(path: Path, key: Path) -> Outcome:
    """Print that a file is a private key, and the attack that reads it."""
    warning = (
        f"{path.name} is the key of a publication, as its {MANIFEST} says. WARNING: it is private. It names the group of each "
        "respondent and undoes the publication: do not publish it, and keep it apart from the published table."
    )
    paragraph(warning)
    command = attack_of_key(key)
    say("Next, what an adversary infers from the publication:", *continued(command))
    return Outcome({"file": str(path), "looks like": "key", "warning": warning, "next": command})


def _hierarchy(path: Path, hierarchy: Hierarchy) -> Outcome:
    """Print the levels of a hierarchy, and the option with which it is used."""
    levels = pd.DataFrame(
        [
            {"level": level, "labels": len(set(labels)), "example": labels[0]}
            for level, labels in enumerate(zip(*hierarchy.rows, strict=True))
        ]
    )
    show(PrintedTable(levels, f"{path.name}: {len(hierarchy.leaves):,} values, {len(levels)} levels"))
    paragraph(
        f"This looks like a generalization hierarchy in ARX format, not like records: no header, and each row ends with the root "
        f"{hierarchy.rows[0][-1]!r}. It is used with records, for the column that has its values of level 0: --hierarchy "
        f"COLUMN={path}. foreknow describe RECORDS proposes the other options."
    )
    command = hierarchy_command(path)
    say("Next:", *continued(command))
    content = {"file": str(path), "looks like": "hierarchy", "values": len(hierarchy.leaves)}
    return Outcome(content | {"levels": levels, "next": command})


ATTACK_NEXT = "Then, what an adversary infers from it (with a register of persons: --id COLUMN --people FILE):"
"""Line before the attack on a published table."""


def _before_next(description: Description) -> str:
    """Line before the first command."""
    if description.published is not None:
        return "Next, the requirements that it satisfies:"
    return "Next:" if description.run and not description.run.left else "Then:"


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
    if not description.whole:
        notes.append("Records further on, and their faults, were not read.")
    if not description.whole and description.published is None:
        notes.append(
            "A table of this size is published --from-disk, which cleans nothing: faults are corrected in the file."
        )
    if description.published is not None:
        notes.append(
            f"This looks like a published table, not like records: {description.published.signs}; no respondent."
        )
    if names := roles.of(IDENTIFIER):
        notes.append(f"Identifiers are not published: {', '.join(names)}.")
    if names := roles.of(UNUSED):
        notes.append(f"Not used: {', '.join(names)}. Add --qi COLUMN for each that an adversary may know.")
    for fact in description.facts:
        if fact.marks:
            notes.append(f"{fact.name}: {', '.join(map(repr, fact.marks))} probably means a missing value.")
        if fact.kind == UNITS and description.published is None:
            notes.append(f"{fact.name}: numbers with a unit, as {fact.example!r}.")
    if names := [
        fact.name for fact in description.facts if fact.kind == CODES and fact.name in roles.of(QUASI_IDENTIFIER)
    ]:
        notes.append(
            f"Codes with leading zeros are published as intervals of numbers: {', '.join(names)}. Add --categorical COLUMN for "
            "each that is kept as written."
        )
    if missing := description.roles_not_found:
        notes.append(f"No column was recognized as {' or '.join(missing)}; name one in the command below.")
    if run is not None and run.lines:
        notes.append(f"{len(run.lines)} {'fault' if len(run.lines) == 1 else 'faults'} would be refused:")
        notes += [f" {number}. {message_in_options(ValueError(line))}" for number, line in enumerate(run.lines, 1)]
    if run is not None and run.to_choose and description.whole:
        columns = ", ".join(run.to_choose)
        notes.append(
            f"Choose one of the two formats of {columns}, and write it in place of {CHOSEN_FORMAT} in the command below."
        )
    if run is not None and run.left:
        columns = ", ".join(fault.column or "repeated records" for fault in run.left)
        notes.append(f"No option settles the faults of {columns}; correct the file first, and describe it again.")
    return notes


def _as_json(description: Description) -> dict[str, object]:
    run = description.run
    return {
        "file": str(description.path),
        "looks like": "records" if description.published is None else "published table",
        "records": description.records,
        "whole": description.whole,
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
        **dict(zip(("next", "then"), next_commands(description), strict=False)),
    }
