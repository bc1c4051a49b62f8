"""Settings of cleaning of a publication, compared with those of a command that reads its key."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from foreknow.app.cli.command_shape import parameters_by_key
from foreknow.app.cli.files.run_settings import SETTINGS, plain_option
from foreknow.app.cli.printing.terminal import notice

CLEANING = ("missing", "missing-value", "equal-values", "duplicates", "time-format", "number")
"""Options by which the records of a file, and the spelling of its cells, are changed."""


@contextmanager
def cleaned_as_published(groups: Path | None, context: typer.Context) -> Iterator[None]:
    """Context manager that names the settings of cleaning in which a command differs from the publication of a key.

    The settings are those of ``settings.json`` beside the key. An error gets them as a note; without one, a notice is printed.
    """
    told = None if groups is None else other_cleaning(groups, context)
    try:
        yield
    except ValueError as error:
        if told:
            error.add_note(told)
        raise
    if told:
        notice(told)


def other_cleaning(groups: Path, context: typer.Context) -> str | None:
    """A sentence on the settings in which the publication of a key differs from a command; None if there is none."""
    kept = groups.parent / SETTINGS
    published = published_options(kept)
    if published is None:
        return None
    own = parameters_by_key(context.command)
    present = {key: plain_option(context.params.get(own[key].name)) for key in CLEANING if key in own}
    other = {key: value for key, value in present.items() if _as_list(published.get(key)) != _as_list(value)}
    if not other:
        return None
    there = " ".join(_option(key, published.get(key)) for key in other)
    here = " ".join(_option(key, value) for key, value in other.items())
    return (
        f"{groups} was published with {there}, and this command has {here}: other records or values. Give the same options, or "
        f"all of them by --config {kept}."
    )


def published_options(path: Path) -> dict[str, Any] | None:
    """Options of `foreknow publish` in a file of settings; None if it is no such file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return dict(content["options"]) if content["command"] == "publish" else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _as_list(value: Any) -> list[str]:
    """Values of an option as sorted texts, one or several."""
    return sorted(str(each) for each in (value if isinstance(value, list) else [] if value is None else [value]))


def _option(key: str, value: Any) -> str:
    values = _as_list(value)
    return " ".join(f"--{key} {each!r}" if " " in each else f"--{key} {each}" for each in values) or f"no --{key}"
