"""``settings.json``: the settings of a run, the versions of the programs, the seed, and the checksums of its input.

With it, a run can be repeated: ``foreknow COMMAND --config settings.json``. It may hold a seed, which undoes a publication, and
checksums of records, which confirm a guess: it is readable by its owner alone, and never beside a published table.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from foreknow.app.cli.command_shape import parameters_by_key
from foreknow.app.cli.options import option_text
from foreknow.app.cli.terminal import notice
from foreknow.app.publication import MANIFEST, SETTINGS, check_key
from foreknow.evaluation.checks.program import checksum, versions
from foreknow.models.tables.table_files import files_of


def run_settings(context: typer.Context, inputs: Iterable[Path | None], seed: int | None = None) -> dict[str, Any]:
    """Settings of a run as JSON has them.

    Parameters
    ----------
    context : typer.Context
    inputs : iterable of Path
        Input files; None is left out.
    seed : int, optional
        The seed that was used, if something was drawn. It replaces that of the options.
    """
    options = {
        key: plain_option(context.params[parameter.name])
        for key, parameter in parameters_by_key(context.command).items()
        if context.params.get(parameter.name) not in (None, [], ())
    }
    drawn = {} if seed is None else {"seed": seed}
    return {
        "command": context.info_name,
        "options": options | drawn,
        "versions": versions(),
        "sha256": {str(file): checksum(file) for path in inputs if path is not None for file in files_of(path)},
    }


def plain_option(value: Any) -> Any:
    """The value of an option as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return [plain_option(each) for each in value] if isinstance(value, list | tuple) else value


def notice_unchecked_key(groups: Path | None, records: Path) -> None:
    """Print a notice if no checksums beside the file of groups list it.

    Raises
    ------
    ValueError
        As `check_key`, if the checksums are those of other files.
    """
    if groups is not None and not check_key(groups, records):
        notice(f"No {MANIFEST} beside {groups} lists it: it is not checked that it belongs to {records}.")


CLEANING = (
    "missing",
    "missing-value",
    "equal-values",
    "duplicates",
    "repeated",
    "worst",
    "per",
    "ids",
    "merge",
    "time-format",
    "number",
)
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
    return option_text(key, _as_list(value)) or f"no --{key}"
