"""A defense as the options of `foreknow publish` that make it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

from foreknow.app.cli.defense_choices import BUILT_IN, FLAGS, DefenseChoice, DefenseOptions
from foreknow.defenses import DEFENSES, Defense, Infeasible
from foreknow.evaluation.checks.program import settings
from foreknow.models.settings import is_number

THRESHOLDS = ("k", "l", "t", "j", "beta", "m")
"""Settings of defenses and requirements that are options with the same names; they are always written."""

OTHERS = ("leftovers", "patience", "tolerance", "deterministic")
"""Settings of defenses that are options with the same names, written where they differ from the default."""


def defense_text(defense: Defense) -> str:
    """The name and the options of a defense; its Python expression if no options of a built-in defense make it.

    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> defense_text(Mondrian(KAnonymity(3) & DistinctDiversity(2)))
    'mondrian -k 3 -l 2'
    >>> defense_text(Mondrian(KAnonymity(3))).startswith("Mondrian(requirement=KAnonymity(k=3)")
    True
    """
    return defense_options(defense) or settings(defense)


def defense_options(defense: Defense) -> str | None:
    """The name and the options of a built-in defense; None if no options make an equal one.

    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> defense_options(Mondrian(KAnonymity(6) & DistinctDiversity(2)))
    'mondrian -k 6 -l 2'
    """
    name = next((name for name, kind in DEFENSES.items() if type(defense) is kind and name in BUILT_IN), None)
    if name is None:
        return None
    found = _options(defense, BUILT_IN[name])
    if settings(BUILT_IN[name].make(replace(DefenseOptions(), **found))) != settings(defense):
        return None
    return " ".join([name, *(flagged(option, value) for option, value in found.items())])


def least_values_of(defense: Defense) -> float:
    """The number of distinct sensitive values that a defense requires in each group; 1 if it requires none.

    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> least_values_of(Mondrian(KAnonymity(6) & DistinctDiversity(2)))
    2
    """
    return max([1, *(value for name, value in _thresholds(defense) if name in ("l", "m"))])


@contextmanager
def defense_told_in_options(defense: Defense) -> Iterator[None]:
    """Errors of a publication that is infeasible name the defense by its options.

    Raises
    ------
    Infeasible
        That of the block, with `defense_text` in place of the expression in Python.
    """
    try:
        yield
    except Infeasible as error:
        raise Infeasible(str(error).replace(repr(defense), defense_text(defense))) from error


def _options(defense: Defense, choice: DefenseChoice) -> dict[str, Any]:
    """Values of the options that a defense reads: all thresholds, and the others where they are not the default."""
    thresholds, usual = {"l": 1, **dict(_thresholds(defense))}, choice.make(DefenseOptions())  # l = 1 requires nothing
    found = {name: thresholds[name] for name in THRESHOLDS if name in thresholds and name in choice.options}
    others = [name for name in OTHERS if name in choice.options and hasattr(defense, name)]
    return found | {name: getattr(defense, name) for name in others if getattr(defense, name) != getattr(usual, name)}


def flagged(option: str, value: Any) -> str:
    """An option of a defense as it is typed; a limit that is None is 0.

    >>> flagged("k", 5), flagged("patience", None), flagged("deterministic", True)
    ('-k 5', '--patience 0', '--deterministic')
    """
    return FLAGS[option] if value is True else f"{FLAGS[option]} {0 if value is None else value}"


def _thresholds(part: Any) -> Iterable[tuple[str, float]]:
    """Thresholds of a defense and of the requirements in it, by name; those of the defense last, so that they count."""
    if isinstance(part, tuple):
        for each in part:
            yield from _thresholds(each)
    elif is_dataclass(part) and not isinstance(part, type):
        values = {each.name: getattr(part, each.name) for each in fields(part)}
        for value in values.values():
            yield from _thresholds(value)
        yield from ((name, value) for name, value in values.items() if name in THRESHOLDS and is_number(value, 0))
