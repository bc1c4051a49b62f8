"""The commands that a description proposes: to publish records, to check and attack a published table, to use a hierarchy."""

import shlex
from pathlib import Path

from foreknow.app.cli.commands.next_step import option_text, unused_path
from foreknow.app.cli.description.column_facts import UNITS
from foreknow.app.cli.description.description import Description
from foreknow.app.cli.description.proposed_roles import (
    GROUP_ROLE,
    QUASI_IDENTIFIER,
    RESPONDENT,
    SENSITIVE,
    TIME,
)

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
