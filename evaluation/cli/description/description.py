"""A description of a file: facts, proposed roles, a dry run of its cleaning, and the next command."""

import shlex
from pathlib import Path
from typing import NamedTuple

from foreknow.evaluation.cli.description.column_facts import NAMES, UNITS, ColumnFacts, column_facts
from foreknow.evaluation.cli.description.dry_run import DryRun, dry_run
from foreknow.evaluation.cli.description.proposed_roles import (
    QUASI_IDENTIFIER,
    RESPONDENT,
    SENSITIVE,
    TIME,
    Roles,
    proposed_roles,
)
from foreknow.evaluation.cli.files.input_files import ONE_RELEASE, InputFiles
from foreknow.models import ColumnRoles
from foreknow.models.tables.files.separators import SEPARATORS
from foreknow.models.tables.files.table_files import columns_of, file_notation, read_table
from foreknow.models.tables.files.text_encodings import likely_encoding


class Description(NamedTuple):
    """Everything that `foreknow describe` says about a file; ``run`` is None if no sensitive column is known."""

    path: Path
    records: int
    encoding: str | None
    separator: str | None
    facts: tuple[ColumnFacts, ...]
    roles: Roles
    run: DryRun | None
    missing: tuple[str, ...]

    @property
    def headline(self) -> str:
        """Number of records and columns, and the notation of the file."""
        text = (
            "" if self.separator is None else f", {SEPARATORS.get(self.separator, repr(self.separator))} between cells"
        )
        text += f", {self.encoding}" if self.encoding else ""
        return f"{self.path.name}: {self.records:,} records, {len(self.facts)} columns{text}"

    @property
    def roles_not_found(self) -> list[str]:
        """Names of the roles without a column, of those that a publication needs."""
        return [role for role in (RESPONDENT, QUASI_IDENTIFIER, SENSITIVE) if not self.roles.of(role)]


def described(path: Path, encoding: str, separator: str | None, missing: tuple[str, ...]) -> Description:
    """Describe a file. If it is not UTF-8 and no other encoding is named, the likely one is used.

    Raises
    ------
    ValueError
        If the file cannot be read, or has no record.
    """
    encoding = likely_encoding(path) if encoding == "utf-8" and path.is_file() else encoding
    codec, mark = file_notation(path, encoding, separator)
    names = columns_of(path, encoding, separator)
    # Read as they are written: types are those of the cells.
    table = read_table(path, names, encoding, ("", *missing), mark)
    table = table.rename(columns={name: str(name).strip() for name in table.columns})
    if table.empty:
        raise ValueError(f"{path} has no record.")
    facts = tuple(column_facts(table[name]) for name in table.columns)
    roles = proposed_roles(table, facts)
    marks = tuple(dict.fromkeys([*missing, *(text for fact in facts for text in fact.marks if _is_used(fact, roles))]))
    run = _tried(path, facts, roles, InputFiles(encoding, mark, marks))
    return Description(path, len(table), codec, mark, facts, roles, run, marks)


def next_command(description: Description) -> str:
    """The command that publishes a file with its proposed roles and the options that settle its faults."""
    roles, facts = description.roles, {fact.name: fact for fact in description.facts}
    parts = ["foreknow publish", shlex.quote(str(description.path))]
    parts += ["--id", shlex.quote(roles.one(RESPONDENT) or "COLUMN")]
    parts += ["--time", shlex.quote(time)] if (time := roles.one(TIME)) else []
    for name in roles.of(QUASI_IDENTIFIER) or ["COLUMN"]:
        parts += ["--qi", shlex.quote(name)]
    parts += ["--sensitive", shlex.quote(roles.one(SENSITIVE) or "COLUMN")]
    parts += ["--encoding", description.encoding] if description.encoding not in (None, "utf-8") else []
    for text in description.missing:
        parts += ["--missing-value", shlex.quote(text)]
    for name in roles.of(QUASI_IDENTIFIER):
        parts += ["--number", shlex.quote(name)] if facts[name].kind == UNITS else []
    parts += list(description.run.options) if description.run else []
    return " ".join([*(part for part in parts if part is not None), "--out release"])


def _is_used(fact: ColumnFacts, roles: Roles) -> bool:
    return roles.roles[fact.name] in (RESPONDENT, TIME, SENSITIVE, QUASI_IDENTIFIER)


def _tried(path: Path, facts: tuple[ColumnFacts, ...], roles: Roles, files: InputFiles) -> DryRun | None:
    """The dry run of cleaning, if there are columns for it."""
    sensitive, respondent, time = roles.one(SENSITIVE), roles.one(RESPONDENT), roles.one(TIME)
    traits = roles.of(QUASI_IDENTIFIER)
    if sensitive is None or respondent is None or not traits:
        return None
    when = time or ONE_RELEASE
    names = [fact.name for fact in facts if fact.name in traits and fact.kind == NAMES]
    (table,) = files.read([path], [respondent, when, sensitive], [respondent, sensitive, *traits], when)
    return dry_run(path, table, files, ColumnRoles(sensitive, tuple(traits), respondent, when, tuple(names)))
