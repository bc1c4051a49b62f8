"""The next command to type, with the options of the present one."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.app.cli.command_shape import TABLE, default_of, given_options, parameters_by_key
from foreknow.app.cli.files.run_settings import plain_option, published_options
from foreknow.app.cli.options import TableOptions
from foreknow.app.cli.printing.terminal import continued
from foreknow.app.publication import PRIVATE, SETTINGS

BOUNDS = ("sure", "fail_over")
"""Parameters that define the verdict of an attack."""

NOTATION = {"encoding": "utf-8", "separator": None, "equal_values": "refuse", "missing": "refuse", "time_format": None}
"""Parameters of the notation of published tables and of the rules by which they are cleaned, and their defaults."""

SUPPRESSED_AS_TRIED = "--infeasible suppress leaves out a release that the defense cannot publish, as the trial did."
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
        Parameters that are carried over, if they were given, besides those of the table.
    """
    given = given_options(context)
    parts = ["foreknow", command]
    for key, parameter in parameters_by_key(context.command).items():
        value = context.params.get(parameter.name)
        if parameter.name in (*TABLE, *also) and (parameter.name in given or parameter.required):
            parts += _argument(key, parameter, plain_option(value))
    return ["Next:", *continued(" ".join([*parts, *more]))]


def typed_lines(*commands: str) -> list[str]:
    """Lines of commands as they are typed, one after another."""
    return [line for command in commands for line in continued(f"foreknow {command}")]


def check_lines(out: Path) -> list[str]:
    """Lines that name the command that checks a publication."""
    return [
        "To check the files, and each enforced requirement that a published table shows:",
        *typed_lines(f"check {paths_of([out])}"),
    ]


def paths_of(paths: Iterable[Path]) -> str:
    """Paths as the shell reads them."""
    return " ".join(shlex.quote(str(path)) for path in paths)


def table_options(given: Mapping[str, Any]) -> str:
    """The options that describe a published table, as the shell reads them.

    Parameters
    ----------
    given : mapping
        Parameters of `foreknow check` or `foreknow attack` by their names in Python.
    """
    columns = {"qi": given.get("qi") or ["COLUMN"], "sensitive": [given["sensitive"]]}
    columns |= {name: [given[name]] for name in ("group", "time") if given.get(name)}
    rules = {name: plain_option(given.get(name)) for name in NOTATION}
    columns |= {name: [rule] for name, rule in rules.items() if rule not in (None, NOTATION[name])}
    columns |= {"missing_value": marks} if (marks := given.get("missing_value")) else {}
    return " ".join(option_text(name, each) for name, values in columns.items() for each in values)


def option_text(name: str, value: Any) -> str:
    """An option with one value as the shell reads it, from the name of its parameter."""
    return f"--{name.strip('_').replace('_', '-')} {shlex.quote(str(value))}"


def unused_path(wanted: str) -> str:
    """Name of a file or folder that does not exist, as the shell reads it: the one wanted, or with a number.

    >>> unused_path("no such release")
    "'no such release'"
    """
    path = Path(wanted)
    names = (path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 100)))
    return shlex.quote(str(next((each for each in names if not each.exists()), path)))


def _argument(key: str, parameter: Any, value: Any) -> list[str]:
    """A parameter as the shell reads it."""
    if parameter.param_type_name == "argument":
        return [shlex.quote(str(each)) for each in (value if isinstance(value, list) else [value])]
    flag = f"-{key}" if len(key) == 1 else f"--{key}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [f"{flag} {shlex.quote(str(each))}" for each in (value if isinstance(value, list) else [value])]


UNKNOWN = {"records": "RECORDS", "id": "COLUMN", "qi": ["COLUMN"], "sensitive": "COLUMN"}
"""Options of a publication without settings beside its key."""


def attack_of_key(key: Path) -> str:
    """The command that attacks with a key: the file of the groups, or the folder of a publication from disk.

    The options are those of ``settings.json`` beside the key; without it, they are placeholders.
    """
    from_disk = key.is_dir()
    options = published_options((key / PRIVATE if from_disk else key.parent) / SETTINGS) or UNKNOWN
    parts = [shlex.quote(str(options.get("records", UNKNOWN["records"]))), *_options(options)]
    disk = ["--from-disk"] if from_disk else []
    return " ".join(["foreknow attack", *parts, *disk, option_text("groups", key), f"--out {unused_path('risk')}"])


def _options(options: Mapping[str, Any]) -> Iterator[str]:
    """Options of the table and of the knowledge that are not the default, as the shell reads them."""
    settings = [each for each in fields(TableOptions) if each.name != "records"]
    for setting in (*settings, *fields(Learning)):
        value = options.get(setting.name.strip("_").replace("_", "-"))
        if value not in (None, plain_option(default_of(setting))):
            yield from (option_text(setting.name, each) for each in (value if isinstance(value, list) else [value]))
    if options.get("corpus") is not None:
        yield option_text("corpus", options["corpus"])
