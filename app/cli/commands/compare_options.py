"""Options of `foreknow compare` alone, and the settings that they describe."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from foreknow.app.cli import entry_points
from foreknow.app.cli.defense_choices import BUILT_IN, FLAGS, DefenseChoice, DefenseOptions, defense_choice
from foreknow.app.cli.defense_text import flagged
from foreknow.app.cli.options import output_folder
from foreknow.app.report.stricter import FACTORS, SIZES
from foreknow.defenses import Defense

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
    """A defense that is compared.

    Attributes
    ----------
    title : str
        Its name, with the value of the swept option.
    name : str
    options : DefenseOptions
    choice : DefenseChoice
    """

    title: str
    name: str
    options: DefenseOptions
    choice: DefenseChoice

    @property
    def defense(self) -> Defense:
        """The defense; each call makes a new one, whose random generator is at its start."""
        return self.choice.make(self.options)

    @property
    def arguments(self) -> str:
        """The defense as `foreknow publish` takes it, with each option that was given and that it reads."""
        given = [name for name in FLAGS if name in self.options.given and name in self.choice.options]
        return " ".join([f"--defense {self.name}", *(flagged(name, getattr(self.options, name)) for name in given)])


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
    choice.make(used)  # A threshold out of its range is refused before anything is published.
    title = name if swept is None else f"{name} {swept}={value:g}"
    return Compared(title, name, used, choice)


def stricter_settings(tried: Sequence[Compared]) -> str:
    """Options of a comparison with larger groups, or with more distinct values, than those tried; other thresholds stay.

    The size is multiplied by 2, 4 and 8, a number of values raised by 1, 2 and 3, as in the report.
    """
    size, readers = _sized(tried)
    if not readers:
        return ""
    most = max(_value(each, size) for each in readers)
    values = [most * FACTORS[step] if size == "k" else most + step + 1 for step in range(len(FACTORS))]
    options = readers[0].options
    kept = [
        name for name in FLAGS if name in options.given - {size} and any(name in one.choice.options for one in readers)
    ]
    return _sweep(readers, size, values, [flagged(name, getattr(options, name)) for name in kept])


def weaker_settings(tried: Sequence[Compared]) -> str:
    """Options of a comparison with the smallest groups, or the fewest distinct values, and no other threshold."""
    size, readers = _sized(tried)
    return _sweep(readers, size, [2, 3]) if readers and min(_value(each, size) for each in readers) > 2 else ""


def _sized(tried: Sequence[Compared]) -> tuple[str, list[Compared]]:
    """The size that one of the defenses reads, and those that read it; none if no defense reads a size."""
    for name in SIZES:
        readers = [each for each in tried if name in each.choice.options]
        if readers:
            return name, readers
    return "", []


def _value(each: Compared, size: str) -> int:
    """The size of a setting; numbers of distinct values are 2 by default."""
    return int(getattr(each.options, size) or 2)


def _sweep(readers: Sequence[Compared], size: str, values: Sequence[int], more: Sequence[str] = ()) -> str:
    """Options of a comparison of some defenses with some sizes."""
    names = [f"--defense {name}" for name in dict.fromkeys(each.name for each in readers)]
    return " ".join([*names, *more, f"--sweep {size}={','.join(map(str, values))}"])


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
