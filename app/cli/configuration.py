"""The option --config: settings of a command from a TOML file, or from the settings.json of an earlier run."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

CONFIGURATION_PANEL = "Settings from a file"
"""Heading of the help text for --config."""


TABLE = (
    "records", "qi", "sensitive", "id_", "time", "hierarchy", "categorical", "encoding", "missing_value", "separator",
    "equal_values", "missing", "duplicates", "time_format", "number", "decimal",
)  # fmt: skip
"""Parameters that describe the user's table, which the commands have in common: the fields of `TableOptions`."""


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the settings of a file as defaults of the command; options on the command line override them."""
    if path is not None and not context.resilient_parsing:
        context.default_map = {**(context.default_map or {}), **settings_of(path, context)}
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_read_config,
        rich_help_panel=CONFIGURATION_PANEL,
        help="TOML file of options, as qi = ['age', 'sex'], in a table with the name of the command, or above all tables for all "
        "commands; or the settings.json of an earlier run; of another command, those of the table alone. Options given here "
        "override it.",
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
    content = _content(path, name, own)
    commands = _commands(context)
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    shared = {key: value for key, value in content.items() if not isinstance(value, dict)}
    for key in tables:
        if key not in commands:
            raise ValueError(f"--config {path}: [{key}] is no command; there are {', '.join(commands)}.")
    everywhere = set().union(*(parameters_by_key(each) for each in commands.values()))
    for key in shared:
        if key.replace("_", "-") not in everywhere:
            raise ValueError(f"--config {path}: {key!r} is no option of a command; see foreknow {name} --help.")
    for key in tables.get(name, {}):
        if key.replace("_", "-") not in own:
            raise ValueError(f"--config {path}: {key!r} in [{name}] is no option of it; see foreknow {name} --help.")
    chosen = {**shared, **tables.get(name, {})}
    chosen = {key.replace("_", "-"): value for key, value in chosen.items()}
    return {str(own[key].name): _value(path, key, value, own[key]) for key, value in chosen.items() if key in own}


def _commands(context: typer.Context) -> dict[str, Any]:
    """All commands of the program, with their parameters."""
    if context.parent is None:
        return {}
    program: Any = context.parent.command
    return {name: program.loaded(name) for name in program.commands}


def parameters_by_key(command: Any) -> dict[str, Any]:
    """Parameters of a command by their keys in a file: the name of the option without dashes; ``records`` for the argument."""
    return {
        key: parameter
        for parameter in command.params
        for key in (text.lstrip("-").replace("_", "-") for text in [max(parameter.opts, key=len)])
        if key not in ("config", "help", "json")
    }


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
    except OSError as error:
        raise ValueError(f"--config {path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"--config {path} is no file of settings: {error}.") from None


def _value(path: Path, key: str, value: Any, parameter: Any) -> Any:
    """The value of a parameter; one text is a list of one where the option can be repeated."""
    several = parameter.multiple or parameter.nargs == -1
    if isinstance(value, dict) or (isinstance(value, list) and not several):
        raise ValueError(f"--config {path}: {key} is {value!r}; it takes one value.")
    return [value] if several and not isinstance(value, list) else value
