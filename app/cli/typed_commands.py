"""Commands as they are typed: options with their values, the next command, and advice in Python worded as options."""

import errno
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.app.cli.command_shape import TABLE, default_of, given_options, parameters_by_key
from foreknow.app.cli.files.run_settings import plain_option, published_options
from foreknow.app.cli.options import TableOptions, flag_of, option_text, option_texts
from foreknow.app.cli.terminal import continued
from foreknow.app.publication import PRIVATE, SETTINGS, key_at
from foreknow.models import InputFaults
from foreknow.models.advice import Advice, Setting, Wording, message_of, settings_in

BOUNDS = ("sure", "fail_over")
"""Parameters that define the verdict of an attack."""

NOTATION: dict[str, Any] = {
    "encoding": "utf-8",
    "separator": None,
    "equal_values": "refuse",
    "missing": "refuse",
    "missing_value": [],
    "time_format": None,
}
"""Parameters of the notation of published tables and of the rules by which they are cleaned, and their defaults."""

SUPPRESSED_AS_TRIED = (
    "With --infeasible suppress, as in the trial, a release that the defense cannot publish would be left out."
)
"""Line on the option that a proposed publication has besides those of the present command."""


def next_lines(context: typer.Context, command: str, *more: str, also: Sequence[str] = ()) -> list[str]:
    """Lines that name the next command.

    Parameters
    ----------
    context : typer.Context
        That of the present command.
    command : str
    more : str
        Further options, as the shell reads them.
    also : sequence of str
        Parameters that are carried over, if they were given and are not the default, besides those of the table.
    """
    given = given_options(context)
    parts = ["foreknow", command]
    for key, parameter in parameters_by_key(context.command).items():
        value = plain_option(context.params.get(parameter.name))
        is_changed = parameter.name in given and value != plain_option(parameter.default)
        if parameter.name in (*TABLE, *also) and (is_changed or parameter.required):
            is_path = parameter.param_type_name == "argument"
            parts.append(
                paths_of(value if isinstance(value, list) else [value]) if is_path else option_text(key, value)
            )
    return ["Next:", *continued(" ".join([*filter(None, parts), *more]))]


def typed_lines(*commands: str) -> list[str]:
    """Lines of commands as they are typed, one after another."""
    return [line for command in commands for line in continued(f"foreknow {command}")]


def check_lines(out: Path, what: str = "each enforced requirement that a published table shows") -> list[str]:
    """Lines that name the command that checks a publication, and what is recomputed."""
    return [
        f"To check the files, and {what}:",
        *typed_lines(f"check {paths_of([out])}"),
    ]


def paths_of(paths: Iterable[Path | str]) -> str:
    """Paths as the shell reads them."""
    return " ".join(shlex.quote(str(path)) for path in paths)


def table_options(given: Mapping[str, Any]) -> str:
    """The options that describe a published table, as the shell reads them.

    Parameters
    ----------
    given : mapping
        Parameters of `foreknow check` or `foreknow attack` by their names in Python.
    """
    named = {"qi": given.get("qi") or "COLUMN"} | {name: given.get(name) for name in ("sensitive", "group", "time")}
    rules = {name: plain_option(given.get(name)) for name in NOTATION}
    return option_texts(**named, **{name: rule for name, rule in rules.items() if rule != NOTATION[name]})


def unused_path(wanted: str) -> str:
    """Name of a file or folder that does not exist, as the shell reads it: the one wanted, or with a number.

    >>> unused_path("no such release")
    "'no such release'"
    """
    path = Path(wanted)
    names = (path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 100)))
    return shlex.quote(str(next((each for each in names if not each.exists()), path)))


UNKNOWN = {"records": "RECORDS", "id": "COLUMN", "qi": ["COLUMN"], "sensitive": "COLUMN"}
"""Options of a publication without settings beside its key."""


def attack_of_key(key: Path) -> str:
    """The command that attacks with a key: the file of the groups, or the folder of a publication from disk.

    The options are those of ``settings.json`` beside the key; without it, they are placeholders.
    """
    from_disk = key.is_dir()
    options = published_options((key / PRIVATE if from_disk else key.parent) / SETTINGS) or UNKNOWN
    records = shlex.quote(str(options.get("records", UNKNOWN["records"])))
    in_memory = options.get("terminal")  # The rule of terminal values is not read from disk.
    named = {"groups": key_at(key)} if in_memory else {"from_disk": from_disk, "groups": key}
    return f"foreknow attack {records} {option_texts(**_given(options), **named)} --out {unused_path('risk')}"


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the table and of the knowledge that are not the default, of those by their keys in a file of settings."""
    settings = (*(each for each in fields(TableOptions) if each.name != "records"), *fields(Learning))
    values = {each: options.get(each.name.strip("_").replace("_", "-")) for each in settings}
    given = {each.name: value for each, value in values.items() if value != plain_option(default_of(each))}
    return given | {"corpus": options.get("corpus")}


OPTIONS = {"missing_texts": "missing_value", "numbers": "number", "period": "per"}
"""Options whose names differ from those of the settings."""

IN_QUOTES = ("separator", "decimal", "time_format")
"""Settings whose values are written in quotes: they hold characters that a shell reads."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an error message that are printed; a cell in a message may have any length."""


NO_SPACE = (
    "No space left on the disk of the output or of temporary files (with --from-disk, --scratch names their folder). Free some, "
    "and run the command again; with --from-disk it goes on after the last whole block."
)
"""Message where a disk is full, whatever wrote to it."""


def error_lines(error: Exception) -> list[str]:
    """The message of an error, with settings of Python objects written as options; the faults of a file, one line each."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return [NO_SPACE]
    if not isinstance(error, InputFaults):
        return [line_in_options(message_of(error))]
    lines = [line_in_options(line) for line in error.lines]
    if len(lines) == 1:
        return lines
    settling = [[setting for setting in settings_in(line) if setting.settles] for line in error.lines]
    options = " ".join(dict.fromkeys(_words(settings[0]) for settings in settling if settings))
    left = [str(number) for number, settings in enumerate(settling, 1) if not settings]
    open_ones = f"; {' and '.join(left)} {'stays' if len(left) == 1 else 'stay'} open" if left else ""
    together = f" {'Some are settled by' if left else 'In one step'}: {options}{open_ones}" if options else ""
    return [
        *(f"{number}. {line}" for number, line in enumerate(lines, 1)),
        f"{len(lines)} faults in the file.{together} (foreknow describe FILE shows each column.)",
    ]


def line_in_options(text: str) -> str:
    """A text for a reader in Python, with its settings written as options of the command, and without the name of a function."""
    text = (text.worded(_words) if isinstance(text, Advice) else text).strip()
    owner, _, rest = text.partition(": ")
    text = rest if rest and owner.partition(".")[0] in _names() else text
    if len(text) > MAX_MESSAGE_LENGTH:
        text = f"{text[: MAX_MESSAGE_LENGTH // 2]} [...] {text[-MAX_MESSAGE_LENGTH // 2 :]}"
    return text


@cache
def _names() -> frozenset[str]:
    """Public names of the packages in Python."""
    packages = ("models", "attacks", "defenses", "evaluation", "app", "app.disk")
    modules = [import_module(f"foreknow.{name}") for name in packages]
    return frozenset(name for module in modules for name in module.__all__)


def _words(part: Any) -> str:
    """A part of advice in the words of the command line."""
    if isinstance(part, Setting):
        name = OPTIONS.get(part.name, part.name)
        values = part.value if isinstance(part.value, list) else [part.value]
        in_quotes = " ".join(f"{flag_of(name)} {each!r}" for each in values)
        return in_quotes if part.name in IN_QUOTES else option_text(name, part.value)
    if isinstance(part, Wording):
        return part.command
    from foreknow.app.cli.defense_choices import defense_text

    return defense_text(part.object)
