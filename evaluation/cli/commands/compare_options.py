"""Options of `foreknow compare` alone, and the settings that they describe."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from foreknow.defenses import Defense
from foreknow.evaluation.cli import entry_points
from foreknow.evaluation.cli.defense_choices import BUILT_IN, FLAGS, DefenseOptions, defense_choice
from foreknow.evaluation.cli.options import output_folder

COMPARED = ("js-reduce", "mondrian", "anatomy")
"""Defenses that are compared if none is named: one that assumes an adversary, one that generalizes, one that does not."""

SWEPT = ("k", "l", "t", "beta", "j", "m")
"""Options that --sweep can vary."""


def _check_defenses(names: list[str]) -> list[str]:
    return [entry_points.checked_name("defense", name, BUILT_IN) for name in names]


Defenses = Annotated[
    list[str],
    typer.Option(
        "--defense",
        metavar="NAME",
        callback=_check_defenses,
        help=f"Defense to compare. Repeatable; by default {', '.join(COMPARED)}. "
        f"There are {', '.join(entry_points.choice_names('defense', BUILT_IN))}.",
    ),
]
Sweep = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        metavar="NAME=X,X",
        help="Values of one threshold to try with each defense: k=3,5,10. js-reduce alone, if no --defense is named.",
    ),
]
Out = Annotated[Path | None, output_folder("Folder for comparison.csv, the table that is printed, and settings.json.")]


class Compared(NamedTuple):
    """A defense that is compared: its title, its options as `foreknow publish` takes them, whether it assumes an adversary."""

    title: str
    arguments: str
    assumes_adversary: bool
    defense: Defense


def compared(names: Sequence[str], sweep: str | None, options: DefenseOptions) -> list[Compared]:
    """The defenses to compare, each with the options that it reads.

    Raises
    ------
    ValueError
        If an option was given that none of the defenses reads, or a sweep is not written as ``k=3,5,10``.
    """
    chosen = list(dict.fromkeys(names)) or list(COMPARED if sweep is None else COMPARED[:1])
    swept, values = (None, [None]) if sweep is None else _swept(sweep, chosen)
    read = {name for each in chosen for name in defense_choice(each).options}
    for name in sorted((options.given & set(FLAGS)) - read - {"seed"}):
        raise ValueError(f"{', '.join(chosen)}: none reads {FLAGS[name]}; leave it out.")
    return [_one(name, swept, value, options) for name in chosen for value in values]


def _one(name: str, swept: str | None, value: float | None, options: DefenseOptions) -> Compared:
    """One defense with one value of the swept option."""
    choice = defense_choice(name)
    changed: dict[str, Any] = {} if swept is None else {swept: value, "given": options.given | {swept}}
    used = replace(options, **changed)
    given = [
        f"{FLAGS[each]} {getattr(used, each):g}" for each in SWEPT if each in used.given and each in choice.options
    ]
    title = name if swept is None else f"{name} {swept}={value:g}"
    return Compared(title, " ".join([f"--defense {name}", *given]), choice.assumes_adversary, choice.make(used))


def _swept(sweep: str, names: Sequence[str]) -> tuple[str, list[float]]:
    """Name and values of a sweep."""
    name, _, listed = sweep.partition("=")
    name = name.strip().lstrip("-")
    try:
        values = [int(text) if name in ("k", "l", "m") else float(text) for text in listed.split(",")]
    except ValueError:
        values = []
    if name not in SWEPT or not values or min(values) <= 0:
        raise ValueError(f"--sweep {sweep!r} is not one of {', '.join(SWEPT)} with its values; write --sweep k=3,5,10.")
    for each in names:
        if name not in defense_choice(each).options:
            raise ValueError(f"{each} does not read {FLAGS[name]}, which --sweep varies; leave one of them out.")
    return name, [float(value) if isinstance(value, float) else value for value in values]
