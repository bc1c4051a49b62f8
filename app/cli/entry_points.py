"""Defenses, attacks and estimators of other packages, which declare them as entry points.

A package offers a defense to the command line by an entry point of the group ``foreknow.defenses``, an attack by one of
``foreknow.attacks``, an estimator by one of ``foreknow.estimators``::

    [project.entry-points."foreknow.defenses"]
    my-defense = "my_package:MyDefense"

An entry point is loaded only when its name is chosen.
"""

from collections import Counter
from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

import typer

Kind = Literal["defense", "attack", "estimator"]


def installed(kind: Kind) -> tuple[EntryPoint, ...]:
    """Entry points of the installed packages for one kind of object, in the order of their names."""
    return tuple(sorted(entry_points(group=f"foreknow.{kind}s"), key=lambda entry: (entry.name, entry.value)))


def choice_names(kind: Kind, built_in: Collection[str]) -> tuple[str, ...]:
    """Names that an option of the command line accepts: the built-in ones, then those of other packages."""
    return (*built_in, *dict.fromkeys(entry.name for entry in installed(kind) if entry.name not in built_in))


def checked_name(kind: Kind, name: str, built_in: Collection[str]) -> str:
    """Return a name if it denotes one object.

    Raises
    ------
    ValueError
        If an installed package uses a built-in name, or two packages use the same name.
    typer.BadParameter
        If nothing has this name.
    """
    for entry in installed(kind):
        if entry.name in built_in:
            raise ValueError(
                f"the package {_package(entry)} names {_article(kind)} {kind} {entry.name!r}, which is {_article(kind)} {kind} of "
                "foreknow; rename its entry point, or uninstall the package."
            )
    counts = Counter(entry.name for entry in installed(kind))
    if counts[name] > 1:
        packages = " and ".join(_package(entry) for entry in installed(kind) if entry.name == name)
        raise ValueError(f"the packages {packages} both name {_article(kind)} {kind} {name!r}; uninstall one of them.")
    if name not in built_in and name not in counts:
        names = ", ".join(choice_names(kind, built_in))
        raise typer.BadParameter(f"{name!r} is not {_article(kind)} {kind}; choose one of {names}.")
    return name


def name_check(kind: Kind, built_in: Collection[str]) -> Callable[[str], str]:
    """`checked_name` as the callback of an option."""
    return lambda name: checked_name(kind, name, built_in)


def load(kind: Kind, name: str) -> Callable[..., Any]:
    """Load the class or function that another package names.

    Raises
    ------
    ValueError
        If it cannot be loaded, or cannot be called.
    """
    (entry,) = (entry for entry in installed(kind) if entry.name == name)
    try:
        factory = entry.load()
    except Exception as error:
        raise ValueError(
            f"the {kind} {name!r} of the package {_package(entry)} cannot be loaded from {entry.value!r}: {error}."
        ) from error
    if not callable(factory):
        raise ValueError(
            f"the {kind} {name!r} of the package {_package(entry)} is {entry.value!r}, which is not a class or a function; name "
            "one in its entry point."
        )
    return factory  # type: ignore[no-any-return]


def make(kind: Kind, name: str, *arguments: Any, **options: Any) -> Any:
    """Make the object that another package names.

    Raises
    ------
    ValueError
        If its class or function does not take these arguments, or makes something that cannot be called.
    """
    factory = load(kind, name)
    try:
        made = factory(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"the {kind} {name!r} cannot be made: {error}.") from error
    if not callable(made):
        raise ValueError(
            f"the {kind} {name!r} is a {type(made).__name__}, which cannot be called; see CONTRIBUTING.md for its protocol."
        )
    return made


def _package(entry: EntryPoint) -> str:
    return "(unknown)" if entry.dist is None else entry.dist.name


def _article(kind: Kind) -> str:
    return "a" if kind == "defense" else "an"
