"""Public names of foreknow as text: packages, parameters and their defaults, commands and their options.

``python tests/public_api.py`` writes the text to tests/public_api.txt, where a change is visible in a diff.
"""

import enum
import inspect
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import get_args

import numpy as np
from typer.models import ArgumentInfo

from foreknow.app.cli.command_line import COMMANDS, FOLDER
from foreknow.app.cli.command_shape import as_command

FILE = Path(__file__).with_name("public_api.txt")

PACKAGES = (
    "foreknow",
    "foreknow.models",
    "foreknow.attacks",
    "foreknow.defenses",
    "foreknow.evaluation",
    "foreknow.app",
    "foreknow.app.disk",
    "foreknow.testing",
)
NO_DEFAULT = inspect.Parameter.empty


def public_api():
    """The whole text, one name or option a line."""
    lines = [line for package in PACKAGES for line in package_lines(package)]
    return "\n".join([*lines, *command_lines(), ""])


def package_lines(package):
    """Lines of the names in ``__all__`` of a package, in alphabetical order."""
    module = import_module(package)
    yield f"[{package}]"
    for name in sorted(module.__all__):
        yield from name_lines(name, getattr(module, name))
    yield ""


def name_lines(name, target):
    """Lines of a public name: a class with its members, a function, a dict with its keys, or another constant."""
    if inspect.isclass(target):
        yield from class_lines(name, target)
    elif callable(target):
        yield f"{name}{parameters(target)}"
    elif isinstance(target, dict):
        yield f"dict {name}"
        yield from (f"    {name}[{key!r}]" for key in target)
    else:
        yield name if inspect.ismodule(target) or name == "__version__" else f"{name} = {target!r}"


def class_lines(name, target):
    """Lines of a class: how it is made, its fields, members and methods."""
    if issubclass(target, enum.Enum):
        yield f"class {name}: {', '.join(f'{each.name} = {each.value!r}' for each in target)}"
    elif issubclass(target, Exception) or getattr(target, "_is_protocol", False) or inspect.isabstract(target):
        yield f"class {name}: {', '.join(base.__name__ for base in target.__mro__[1:-1])}"
    else:
        yield f"class {name}{parameters(target)}"
    for member in sorted(members_of(target)):
        found = inspect.getattr_static(target, member, None)
        found = getattr(found, "__func__", found)
        yield f"    {name}.{member}{parameters(found) if inspect.isfunction(found) else ''}"


def members_of(target):
    """Methods and attributes that this project defines and that are no parameters of the class, and ``__call__``."""
    own = [each for each in target.__mro__ if each.__module__.startswith("foreknow")]
    held = {name for each in own for name in vars(each) if not name.startswith("_") or name == "__call__"}
    made = {each.name: each.init for each in fields(target)} if is_dataclass(target) else {}
    hidden = {name for name, is_given in made.items() if is_given or name.startswith("_")}
    return (held | set(made)) - hidden - (set(target.__members__) if issubclass(target, enum.Enum) else set())


def parameters(target):
    """Parameters of a callable in parentheses, with defaults and without annotations."""
    signature = inspect.signature(target)
    made = {each.name: each.default_factory for each in fields(target)} if is_dataclass(target) else {}
    shown = [
        each.replace(
            annotation=NO_DEFAULT,
            default=Default(made[each.name]() if repr(each.default) == "<factory>" else each.default),
        )
        if each.default is not NO_DEFAULT
        else each.replace(annotation=NO_DEFAULT)
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=shown, return_annotation=NO_DEFAULT))


class Default:
    """A default, with a representation that is the same under each version of Python and NumPy."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        """Name of a function or class, value of a member of an Enum, ``array`` for an array."""
        if isinstance(self.value, np.ndarray):
            return "array"
        return getattr(self.value, "__name__", None) or repr(getattr(self.value, "value", self.value))


def command_lines():
    """Lines of the commands, with their arguments and options."""
    yield "[command line]"
    for name in COMMANDS:
        yield f"foreknow {name}"
        function = getattr(import_module(f"{FOLDER}.{name}_command"), f"{name}_command")
        options = inspect.signature(as_command(function)).parameters.values()
        yield from (f"    {option_line(each)}" for each in options if get_args(each.annotation))


def option_line(parameter):
    """Names of an option or argument, the word for its value, and its default."""
    kind, about = get_args(parameter.annotation)[:2]
    flags = [each for each in (about.default, *(about.param_decls or ())) if isinstance(each, str)]
    derived = parameter.name.upper() if isinstance(about, ArgumentInfo) else f"--{parameter.name.replace('_', '-')}"
    word = about.metavar or (kind.__name__ if isinstance(kind, type) else kind)
    needed = "required" if parameter.default is NO_DEFAULT else f"= {Default(parameter.default)!r}"
    return f"{'/'.join(flags) or derived} {word} {needed}"


if __name__ == "__main__":
    FILE.write_text(public_api(), encoding="utf-8")
    sys.stdout.write(f"{FILE}\n")
