"""A description of a table: facts, proposed roles, signs of a published table, and a dry run of its cleaning."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from foreknow.app.cli.description.column_facts import NAMES, ColumnFacts, column_facts
from foreknow.app.cli.description.dry_run import DryRun, dry_run
from foreknow.app.cli.description.first_records import MOST_RECORDS, first_records
from foreknow.app.cli.description.proposed_roles import (
    GROUP_ROLE,
    QUASI_IDENTIFIER,
    RESPONDENT,
    SENSITIVE,
    TIME,
    Roles,
    proposed_roles,
)
from foreknow.app.cli.description.published_shape import PublishedShape, group_column, published_shape
from foreknow.app.cli.files.input_files import ONE_RELEASE, InputFiles
from foreknow.models import ColumnRoles
from foreknow.models.tables.files.separators import SEPARATORS
from foreknow.models.tables.files.table_files import columns_of, file_notation, read_table
from foreknow.models.tables.files.text_encodings import likely_encoding


class Description(NamedTuple):
    """Everything that `foreknow describe` says about a table.

    ``run`` is None if no sensitive column is known; ``published`` holds the signs of a published table, or is None. ``whole`` is
    False if the first records of a larger file are described. ``separator`` is that of the file, ``given_separator`` the one
    that the user named, if any.
    """

    path: Path
    records: int
    encoding: str | None
    separator: str | None
    facts: tuple[ColumnFacts, ...]
    roles: Roles
    run: DryRun | None
    missing: tuple[str, ...]
    published: PublishedShape | None
    whole: bool
    given_separator: str | None

    @property
    def headline(self) -> str:
        """Number of records and columns, and the notation of the file."""
        text = (
            "" if self.separator is None else f", {SEPARATORS.get(self.separator, repr(self.separator))} between cells"
        )
        text += f", {self.encoding}" if self.encoding else ""
        first = "" if self.whole else "the first "
        return f"{self.path.name}: {first}{self.records:,} records, {len(self.facts)} columns{text}"

    @property
    def roles_not_found(self) -> list[str]:
        """Names of the roles without a column, of those that a publication needs."""
        needed = (QUASI_IDENTIFIER, SENSITIVE) if self.published else (RESPONDENT, QUASI_IDENTIFIER, SENSITIVE)
        return [role for role in needed if not self.roles.of(role)]


def described(path: Path, encoding: str, separator: str | None, missing: tuple[str, ...]) -> Description:
    """Describe a file, a large one by its `first_records`.

    If it is not UTF-8 and no other encoding is named, the likely one is used.

    Raises
    ------
    ValueError
        If the file cannot be read, or has no record.
    """
    with first_records(path, MOST_RECORDS) as read:
        found = _described(read, encoding, separator, missing)
        return found._replace(path=path, whole=read == path)


def _described(path: Path, encoding: str, separator: str | None, missing: tuple[str, ...]) -> Description:
    """Describe a file that fits into memory."""
    encoding = likely_encoding(path) if encoding == "utf-8" and path.is_file() else encoding
    codec, mark = file_notation(path, encoding, separator)
    names = columns_of(path, encoding, separator)
    # Read as they are written: types are those of the cells.
    table = read_table(path, names, encoding, ("", *missing), mark)
    table = table.rename(columns={name: str(name).strip() for name in table.columns})
    if table.empty:
        raise ValueError(f"{path} has no record.")
    facts = tuple(column_facts(table[name]) for name in table.columns)
    roles, published = _roles(table, facts)
    marks = tuple(dict.fromkeys([*missing, *(text for fact in facts for text in fact.marks if _is_used(fact, roles))]))
    run = _tried(path, facts, roles, InputFiles(encoding, mark, marks))
    return Description(path, len(table), codec, mark, facts, roles, run, marks, published, True, separator)


def _roles(table: pd.DataFrame, facts: tuple[ColumnFacts, ...]) -> tuple[Roles, PublishedShape | None]:
    """The proposed roles, and the signs of a published table: of one without a respondent."""
    group = group_column(facts)
    roles = proposed_roles(table, [fact for fact in facts if fact.name != group])
    published = None if roles.one(RESPONDENT) else published_shape(table, facts, group)
    if published is None:
        return proposed_roles(table, facts), None
    named = roles.roles | ({} if group is None else {group: GROUP_ROLE})
    return Roles({fact.name: named[fact.name] for fact in facts}), published


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
