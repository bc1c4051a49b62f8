"""Commands as Typer reads them: groups of options are expanded, and --config and --json are added."""

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import pandas as pd
import typer

from foreknow.app.cli.configuration import Config
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
