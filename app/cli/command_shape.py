"""Commands as Typer reads them: groups of options are expanded, and --config and --json are added."""

import inspect
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import pandas as pd
import typer

from foreknow.app.cli.options import AsJson
from foreknow.app.cli.printing import terminal

FAILED = 1
"""Exit status of a command whose check or --fail-over fails, or that finds no setting to publish."""


class Outcome(NamedTuple):
    """Findings of a command: the content of its --json, and whether the exit status is `FAILED`."""

    content: dict[str, Any]
    failed: bool = False


def as_command(command: Callable[..., Outcome | None]) -> Callable[..., None]:
    """A function that Typer makes a command.

    A parameter whose annotation is a dataclass becomes the options that are its fields. ``--config`` is added to every command,
    ``--json`` to those that return an `Outcome`; with it, all other output goes to standard error.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    has_outcome = inspect.signature(command).return_annotation is Outcome

    def run(**given: Any) -> None:
        as_json = given.pop("as_json", False)
        given.pop("config", None)
        made = {
            name: group(**{each.name: given.pop(each.name) for each in fields(group)}) for name, group in groups.items()
        }
        with _on_standard_error(as_json):
            outcome = command(**made, **given)
        if outcome is None:
            return
        if as_json:
            print(json.dumps(plain(outcome.content), indent=2, allow_nan=False))
        if outcome.failed:
            raise typer.Exit(FAILED)

    parameters = list(_parameters(command, hints))
    parameters += [_parameter("as_json", AsJson, False)] if has_outcome else []
    run.__signature__ = inspect.Signature([*parameters, _parameter("config", Config, None)])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = command.__doc__
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


@contextmanager
def _on_standard_error(asked: bool) -> Iterator[None]:
    """Context manager in which everything that a command prints goes to standard error, if asked."""
    before = terminal.console.stderr
    terminal.console.stderr = asked or before
    try:
        yield
    finally:
        terminal.console.stderr = before


def _parameters(command: Callable[..., Any], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    """Parameters of a command, with the fields of each group in its place."""
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        if is_dataclass(hint):
            for each in fields(hint):
                kinds = get_type_hints(hint, include_extras=True)
                yield _parameter(each.name, kinds[each.name], _default(each))
        else:
            yield _parameter(parameter.name, hint, parameter.default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _default(each: "Field[Any]") -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return inspect.Parameter.empty if each.default is MISSING else each.default


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


COLUMNS = "records.csv has the columns id, week, age, city and diagnosis:"
"""Line above examples that read records."""

EXAMPLES = {
    "describe": ("  foreknow describe records.csv",),
    "demo": ("  foreknow demo --out demo-output",),
    "simulate": ("  foreknow simulate exams --releases 4 --records 500 --out visits.csv",),
    "publish": (
        COLUMNS,
        "  foreknow publish records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --defense mondrian -k 5 -l 2 --out release",
    ),
    "attack": (
        COLUMNS,
        "  foreknow attack records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --groups release/private/groups.csv --out risk",
        "  foreknow attack release/public/published.csv --published \\",
        "    --qi age --qi city --sensitive diagnosis",
    ),
    "check": (
        "  foreknow check release",
        "  foreknow check release/public/published.csv --sensitive diagnosis -k 5 -l 2",
    ),
    "compare": (
        COLUMNS,
        "  foreknow compare records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --defense mondrian --sweep k=3,6,12",
    ),
    "report": (
        COLUMNS,
        "  foreknow report records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --groups release/private/groups.csv --out report.html",
    ),
}
"""Lines of the examples of each command, at most 78 characters wide."""


def example_text(command: str) -> str:
    """The examples of a command, with their heading after an empty line, without which Typer removes the common indentation."""
    return "\n".join(("", "For example:", *EXAMPLES[command]))
