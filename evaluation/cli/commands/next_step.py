"""The next command to type, with the options of the present one."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from foreknow.evaluation.cli.configuration import TABLE, parameters_by_key
from foreknow.evaluation.cli.files.run_settings import plain_option
from foreknow.evaluation.cli.options import given_options
from foreknow.evaluation.cli.printing.terminal import continued


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
    rules = {name: plain_option(given.get(name)) for name in ("equal_values", "missing")}
    flags = {f"--{name.replace('_', '-')}": [rule] for name, rule in rules.items() if rule not in (None, "refuse")}
    columns = {"--qi": given.get("qi") or ["COLUMN"], "--sensitive": [given["sensitive"]]}
    columns |= {f"--{name}": [given[name]] for name in ("group", "time") if given.get(name)}
    return " ".join(f"{flag} {shlex.quote(str(each))}" for flag, values in (columns | flags).items() for each in values)


def unused_folder() -> str:
    """Name of a folder for a release that does not exist: ``release``, or with a number."""
    names = ("release", *(f"release-{number}" for number in range(2, 100)))
    return next((name for name in names if not Path(name).exists()), "release")


def _argument(key: str, parameter: Any, value: Any) -> list[str]:
    """A parameter as the shell reads it."""
    if parameter.param_type_name == "argument":
        return [shlex.quote(str(each)) for each in (value if isinstance(value, list) else [value])]
    flag = f"-{key}" if len(key) == 1 else f"--{key}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [f"{flag} {shlex.quote(str(each))}" for each in (value if isinstance(value, list) else [value])]
