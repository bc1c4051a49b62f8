"""Files of `foreknow attack`: beliefs, respondents at risk, and the settings of the run."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from foreknow.app.cli.files.atomic_output import atomic_output, output_suffix, write_table
from foreknow.app.cli.files.run_settings import SETTINGS, write_settings
from foreknow.app.cli.pictures import PICTURES
from foreknow.app.cli.printing.terminal import say


def output_names(records: Path) -> tuple[str, str, str]:
    """Names of the output files, in the file format of the records."""
    suffix = output_suffix(records)
    return f"beliefs{suffix}", f"at-risk{suffix}", SETTINGS


def write_attack(
    out: Path,
    names: Sequence[str],
    beliefs: pd.DataFrame,
    risky: pd.DataFrame,
    settings: dict[str, Any],
    keep: Iterable[Path],
    overwrite: bool,
    draw: Callable[[Path], None] | None = None,
) -> None:
    """Write the files of an attack, each readable by its owner alone; ``draw`` writes pictures into a folder."""
    with atomic_output(out, keep, overwrite) as folder:
        write_table(beliefs, folder / names[0], private=True)
        write_table(risky, folder / names[1], private=True)
        write_settings(folder / names[2], settings)
        if draw is not None:
            draw(folder)


def say_files(out: Path, names: Sequence[str], pictures: bool = False) -> None:
    """Print where the files of an attack were written."""
    say(
        f"Posterior beliefs about each respondent, for you alone: {out / names[0]}.",
        f"Exposed respondents, and why, for you alone: {out / names[1]}. How it was made: {names[2]}.",
        *([f"Pictures, for you alone: {out / PICTURES}."] if pictures else []),
    )


def files_content(out: Path | None, names: Sequence[str]) -> dict[str, Any]:
    """The paths of the files as JSON has them."""
    return {} if out is None else {"files": [str(out / name) for name in names]}
