"""Commands as Typer reads them: the fields of a dataclass become options, with --json and --config; which options were given.

A command is a function of one frozen dataclass. A field with an annotation ``Annotated[kind, typer.Option(...)]`` is an option, a
field that is a dataclass is a group of them, and other fields are for the command itself.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints

import numpy as np
import pandas as pd
import typer

from foreknow.app.cli import terminal
from foreknow.app.cli.options import OUTPUT_PANEL, TableOptions, flag_of, option, switch

FAILED = 1
"""Exit status of a command whose check or --fail-over fails, or that finds no setting to publish."""

CONFIGURATION_PANEL = "Settings from a file"
"""Heading of the help text for --config."""

TABLE = tuple(each.name for each in fields(TableOptions))
"""Parameters that describe the user's table, which the commands have in common."""


class Outcome(NamedTuple):
    """Findings of a command: the content of its --json, and whether the exit status is `FAILED`."""

    content: dict[str, Any]
    failed: bool = False


def as_command(command: Callable[[Any], Outcome]) -> Callable[..., None]:
    """A function that Typer makes a command, from a function of a dataclass of options.

    With ``--json``, the content of the outcome is printed, and all other output goes to standard error.
    """
    (options,) = (hint for name, hint in get_type_hints(command).items() if name != "return")

    def run(**given: Any) -> None:
        before = terminal.console.stderr
        terminal.console.stderr = given["as_json"] or before
        try:
            outcome = command(_made(options, given))
        finally:
            terminal.console.stderr = before
        if given["as_json"]:
            print(json.dumps(plain(outcome.content), indent=2, allow_nan=False))
        if outcome.failed:
            raise typer.Exit(FAILED)

    parameters = [*_parameters(options), _parameter("as_json", AsJson, False), _parameter("config", Config, None)]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def paragraphs(docstring: str | None) -> str:
    """A docstring as help text: the lines of each paragraph are joined, so that the terminal wraps them."""
    return "\n\n".join(" ".join(part.split()) for part in (docstring or "").split("\n\n"))


def plain(cell: Any) -> Any:
    """A value as JSON has it: arrays and tables as lists, a number that is not finite as null, anything else as text."""
    if isinstance(cell, pd.DataFrame):
        return [plain(row) for row in cell.to_dict("records")]
    if isinstance(cell, dict):
        return {str(name): plain(each) for name, each in cell.items()}
    if isinstance(cell, list | tuple | np.ndarray):
        return [plain(each) for each in cell]
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or cell is pd.NaT or (isinstance(cell, float) and not np.isfinite(cell)):
        return None
    return cell if isinstance(cell, str | int | float) else str(cell)


def _parameters(options: Any) -> Iterator[Parameter]:
    """Parameters of a dataclass of options, with the fields of each group in its place."""
    hints = get_type_hints(options, include_extras=True)
    for each in fields(options):
        hint = hints[each.name]
        if is_dataclass(hint):
            yield from _parameters(hint)
        elif _is_read(hint):
            yield _parameter(each.name, hint, Parameter.empty if (default := default_of(each)) is MISSING else default)


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _made(options: Any, given: Mapping[str, Any]) -> Any:
    """The options, from the values of all parameters."""
    hints = get_type_hints(options, include_extras=True)
    groups = {name: _made(hint, given) for name, hint in hints.items() if is_dataclass(hint)}
    return options(**groups, **{name: given[name] for name, hint in hints.items() if _is_read(hint)})


def _is_read(hint: Any) -> bool:
    """True for a field that Typer reads: an option, an argument or the context."""
    return hint is typer.Context or get_origin(hint) is Annotated


def default_of(setting: "Field[Any]") -> Any:
    """The default of a field; `MISSING` if there is none."""
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def given_options(context: typer.Context) -> frozenset[str]:
    """Names of the options that were given on the command line, or in a file of --config with another value than the default."""

    def is_given(parameter: Any) -> bool:
        source = source_of(context, parameter.name)
        # get_default would return the value of the file.
        changed = source == "DEFAULT_MAP" and _differs(context.params.get(parameter.name), parameter.default)
        return source == "COMMANDLINE" or changed

    return frozenset(str(each.name) for each in context.command.params if is_given(each))


def source_of(context: typer.Context, name: str) -> str:
    """Source of the value of a parameter: ``COMMANDLINE``, ``DEFAULT_MAP`` for a file of --config, or another."""
    return getattr(context.get_parameter_source(name), "name", "")


def _differs(value: Any, default: Any) -> bool:
    default = default() if callable(default) else default
    return bool(value != default and [value] != [default] and (value or default))


def refuse_unread_options(context: typer.Context, kind: str, chosen: str, options: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError if an option was given that the chosen defense or attack does not read.

    Parameters
    ----------
    context : typer.Context
    kind : {"defense", "attack"}
        The option that chooses.
    chosen : str
        The chosen name.
    options : mapping of name to sequence of str
        The options that each choice reads; an option that none of them reads is read by the command itself.
    """
    specific = {name for names in options.values() for name in names}
    for name in sorted((specific - set(options[chosen])) & given_options(context)):
        readers = ", ".join(other for other, names in options.items() if name in names)
        raise ValueError(f"{chosen} does not read {flag_of(name)}; leave it out, or choose --{kind} {readers}.")


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the settings of a file as defaults of the command; options on the command line override them."""
    if path is not None and not context.resilient_parsing:
        context.default_map = {**(context.default_map or {}), **settings_of(path, context)}
    return path


AsJson = Annotated[
    bool,
    switch(
        "--json",
        "Print one JSON object on standard output, for programs; everything else goes to standard error.",
        OUTPUT_PANEL,
    ),
]
Config = Annotated[
    Path | None,
    option(
        "TOML file of options, as qi = ['age', 'sex'], in a table with the name of the command, or above all tables for all "
        "commands; or the settings.json of an earlier run; of another command, those of the table alone. Options given here "
        "override it.",
        "FILE",
        CONFIGURATION_PANEL,
        is_eager=True,
        callback=_read_config,
    ),
]


def settings_of(path: Path, context: typer.Context) -> dict[str, Any]:
    """Values of a command's parameters, by their names in Python, from a file.

    Raises
    ------
    ValueError
        If the file cannot be read, or has a key that is no option, or a value of the wrong kind.
    """
    name, own = str(context.info_name), parameters_by_key(context.command)
    program: Any = context.parent.command if context.parent else None
    commands = {} if program is None else {each: program.loaded(each) for each in program.commands}
    content = _content(path, name, own)
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    shared = {key: value for key, value in content.items() if key not in tables}
    for key in tables:
        if key not in commands:
            raise ValueError(f"--config {path}: [{key}] is no command; there are {', '.join(commands)}.")
    everywhere = set().union(*map(parameters_by_key, commands.values()))
    table = tables.get(name, {})
    for keys, known, where in (
        (shared, everywhere, "is no option of a command"),
        (table, own, f"in [{name}] is no option of it"),
    ):
        for key in keys:
            if key.replace("_", "-") not in known:
                raise ValueError(f"--config {path}: {key!r} {where}; see foreknow {name} --help.")
    chosen = {key.replace("_", "-"): value for key, value in {**shared, **table}.items()}
    return {str(own[key].name): _value(path, key, value, own[key]) for key, value in chosen.items() if key in own}


def parameters_by_key(command: Any) -> dict[str, Any]:
    """Parameters of a command by their keys in a file: the name of the option without dashes; ``records`` for the argument."""
    keys = {max(each.opts, key=len).lstrip("-").replace("_", "-"): each for each in command.params}
    return {key: each for key, each in keys.items() if key not in ("config", "help", "json")}


def _content(path: Path, command: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Content of a file; of the settings of another command, those that describe the table of records."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() != ".json":
            return tomllib.loads(text)
        settings = json.loads(text)
        if settings["command"] == command:
            return {command: settings["options"]}
        return {key: value for key, value in settings["options"].items() if key in own and own[key].name in TABLE}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"--config {path} is no file of settings: {error}.") from None


def _value(path: Path, key: str, value: Any, parameter: Any) -> Any:
    """The value of a parameter; one text is a list of one where the option can be repeated."""
    several = parameter.multiple or parameter.nargs == -1
    if isinstance(value, dict) or (isinstance(value, list) and not several):
        raise ValueError(f"--config {path}: {key} is {value!r}; it takes one value.")
    return [value] if several and not isinstance(value, list) else value
