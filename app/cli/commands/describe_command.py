"""The command `foreknow describe`: a first look at a file, with proposed roles and the next command."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.description import (
    CHOSEN_FORMAT,
    CODES,
    GROUP_ROLE,
    IDENTIFIER,
    QUASI_IDENTIFIER,
    RESPONDENT,
    SENSITIVE,
    TIME,
    UNITS,
    UNUSED,
    ColumnFacts,
    Description,
    described,
)
from foreknow.app.cli.commands.next_step import attack_of_key, option_text, unused_path
from foreknow.app.cli.files.columns import InputFiles
from foreknow.app.cli.options import Encoding, MissingValues, Separator, separator_character
from foreknow.app.cli.printing.error_messages import line_in_options
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import continued, error_console, paragraph, say, show
from foreknow.evaluation.checks.manifest import MANIFEST, read_json
from foreknow.models import Hierarchy

MAX_EXAMPLE = 20
"""Characters of the example of a column."""


EPILOG = """
For example:
  foreknow describe records.csv"""
"""Text below the options."""


@dataclass(frozen=True)
class DescribeRun:
    """Options of `foreknow describe`."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file, one row per record.")]
    encoding: Encoding = "utf-8"
    separator: Separator = None
    missing_value: MissingValues = field(default_factory=list)


def describe_command(run: DescribeRun) -> Outcome:
    """Run `foreknow describe`; its help text has the paragraphs below.

    The table has the type of each column, its numbers of distinct and of missing cells, and a proposed role. The faults that
    publishing would refuse follow, with the options that settle them, and the next command to type.

    Roles are proposed by the names and the contents of columns. They are guesses: check them. Nothing is written.

    Of a larger file the first million records are read, and the next command publishes it from disk.

    A published table, the private key of a publication and a generalization hierarchy are recognized; the next command checks and
    attacks the first, attacks with the second, or uses the third.
    """
    if (key := publication_key(run.file)) is not None:
        return _key(run.file, key)
    files = InputFiles(run.encoding, separator_character(run.separator), tuple(run.missing_value))
    if (hierarchy := hierarchy_in(run.file, files)) is not None:
        return _hierarchy(run.file, hierarchy)
    with error_console.status("reading"):
        description = described(run.file, files.encoding, files.separator, files.missing)
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
        notes += [f" {number}. {line_in_options(line)}" for number, line in enumerate(run.lines, 1)]
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
            {"column": fault.column, "records": fault.records, "message": line_in_options(line)}
            for fault, line in zip(run.faults, run.lines, strict=True)
        ],
        "unsettled": 0 if run is None else len(run.left),
        **dict(zip(("next", "then"), next_commands(description), strict=False)),
    }


SEPARATOR_NAMES = {"\t": "tab"}
"""Separators that a shell does not pass, and their names."""


def next_commands(description: Description) -> tuple[str, ...]:
    """The commands to type: publish records; check a published table, and attack it."""
    if description.published is None:
        return (_publish_command(description),)
    return tuple(_published_command(description, name) for name in ("check", "attack"))


def _published_command(description: Description, name: str) -> str:
    """The command that checks a published table, or attacks it, with its proposed roles."""
    roles = description.roles
    parts = ["foreknow", name, shlex.quote(str(description.path)), *(["--published"] if name == "attack" else [])]
    for column in roles.of(QUASI_IDENTIFIER) or ["COLUMN"]:
        parts += ["--qi", shlex.quote(column)]
    parts += ["--sensitive", shlex.quote(roles.one(SENSITIVE) or "COLUMN")]
    for role, flag in ((GROUP_ROLE, "--group"), (TIME, "--time")):
        parts += [text for named in roles.of(role) for text in (flag, shlex.quote(named))]
    return " ".join([*parts, *_notation_options(description)])


def _notation_options(description: Description) -> list[str]:
    """Options that name the encoding, the separator where it was given, and the marks of missing cells."""
    parts = ["--encoding", description.encoding] if description.encoding not in (None, "utf-8") else []
    if description.given_separator is not None:
        parts.append(
            option_text("separator", SEPARATOR_NAMES.get(description.given_separator, description.given_separator))
        )
    for text in description.missing:
        parts += ["--missing-value", shlex.quote(text)]
    return [part for part in parts if part is not None]


def _publish_command(description: Description) -> str:
    """The command that publishes a file with its proposed roles and the options that settle its faults."""
    roles = description.roles
    parts = ["foreknow publish", shlex.quote(str(description.path))]
    parts += ["--id", shlex.quote(roles.one(RESPONDENT) or "COLUMN")]
    parts += ["--time", shlex.quote(time)] if (time := roles.one(TIME)) else []
    for name in roles.of(QUASI_IDENTIFIER) or ["COLUMN"]:
        parts += ["--qi", shlex.quote(name)]
    parts += ["--sensitive", shlex.quote(roles.one(SENSITIVE) or "COLUMN")]
    parts += _cleaning_options(description) if description.whole else ["--from-disk", "--workers 2"]
    return " ".join([*parts, f"--out {unused_path('release')}"])


def _cleaning_options(description: Description) -> list[str]:
    """Options that name the notation and settle the faults of a file. With --from-disk there are none."""
    facts = {fact.name: fact for fact in description.facts}
    parts = _notation_options(description)
    for name in description.roles.of(QUASI_IDENTIFIER):
        parts += ["--number", shlex.quote(name)] if facts[name].kind == UNITS else []
    return [*parts, *(description.run.options if description.run else ())]


def hierarchy_command(path: Path) -> str:
    """The command that publishes records with a hierarchy."""
    roles = "--id COLUMN --qi COLUMN --sensitive COLUMN"
    return (
        f"foreknow publish RECORDS {roles} --hierarchy COLUMN={shlex.quote(str(path))} --out {unused_path('release')}"
    )


MIN_VALUES = 2
"""Number of values from which a file is recognized as a hierarchy."""


def hierarchy_in(path: Path, files: InputFiles) -> Hierarchy | None:
    """The hierarchy of a file, as `Hierarchy.read` reads it; None if it is none.

    A table of records has a header, which would be a second root. Cost: the first two lines for most tables.
    """
    if not _may_have_one_root(path, files.encoding):
        return None
    try:
        found = Hierarchy.read(path, files.separator, files.encoding)
    except ValueError:
        return None
    return found if len(found.leaves) >= MIN_VALUES else None


def _may_have_one_root(path: Path, encoding: str) -> bool:
    """Return whether the first two lines of a file of text end with the same characters."""
    try:
        with path.open(encoding=encoding) as file:
            first, second = (file.readline().strip() for _ in range(2))
    except (OSError, UnicodeError, LookupError):
        return False
    return bool(first) and first[-1:] == second[-1:]


MAX_DEPTH = 3
"""Number of folders above a file in which a manifest is sought: a key in parts is in ``private/records/release-0000``."""

TABLES = (".csv", ".parquet")
"""Endings of the names of tables."""


def publication_key(path: Path) -> Path | None:
    """The key to which a file belongs, as ``--groups`` names it: the file, or the folder of a publication from disk.

    None if no manifest above the file lists it, or it is not in the private folder.
    """
    if path.suffix.lower() not in TABLES:
        return None
    for folder in list(path.parents)[:MAX_DEPTH]:
        if (folder / MANIFEST).is_file():
            return (path if path.parent == folder else folder.parent) if _lists(folder, path) else None
    return None


def _lists(folder: Path, path: Path) -> bool:
    """Return whether the manifest in a folder lists a file within the folder."""
    try:
        return path.relative_to(folder).as_posix() in read_json(folder / MANIFEST)["sha256"]
    except (ValueError, KeyError, TypeError):
        return False
