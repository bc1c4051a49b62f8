"""``settings.json``: the settings of a run, the versions of the programs, the seed, and the checksums of its input.

With it, a run can be repeated: ``foreknow COMMAND --config settings.json``. It may hold a seed, which undoes a publication, and
checksums of records, which confirm a guess: it is readable by its owner alone, and never beside a published table.
"""

import json
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from foreknow.app.cli.command_shape import parameters_by_key
from foreknow.evaluation.checks.program import checksum, versions

SETTINGS = "settings.json"


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
        "sha256": {str(path): checksum(path) for path in inputs if path is not None},
    }


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a run, readable by their owner alone."""
    path.touch(mode=0o600)
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")


def plain_option(value: Any) -> Any:
    """The value of an option as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return [plain_option(each) for each in value] if isinstance(value, list | tuple) else value
