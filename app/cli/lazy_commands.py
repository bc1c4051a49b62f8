"""Commands whose modules are imported when they are run: the help of the program needs their first lines alone."""

import ast
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

FOLDER = "foreknow.app.cli.commands"
"""Package of the commands: the command NAME is the function ``NAME_command`` of the module ``NAME_command``."""


class LazyCommands(TyperGroup):
    """Group whose commands are a name and a line of help until one of them is run or completed."""

    def offer(self, names: Sequence[str]) -> None:
        """Add commands, in the order of the help text."""
        for name in names:
            self.add_command(TyperCommand(name, help=_first_paragraph(name)))

    def loaded(self, name: str) -> Any:
        """The command of a name with its parameters; its module is imported."""
        if isinstance(self.commands[name], _Whole):
            return self.commands[name]
        self.add_command(_made(name))
        return self.commands[name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, loaded, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self.loaded(name), rest


class _Whole(TyperCommand):
    """Command with its parameters."""


def _made(name: str) -> Any:
    """The command of a function."""
    from foreknow.app.cli.command_shape import as_command, paragraphs
    from foreknow.app.cli.help_examples import example_text

    module = import_module(f"{FOLDER}.{name}_command")
    function = getattr(module, f"{name}_command")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    epilog = "\n\n".join([*([module.EPILOG] if hasattr(module, "EPILOG") else []), example_text(name)])
    alone.command(name, cls=_Whole, help=paragraphs(function.__doc__), epilog=epilog)(as_command(function))
    return typer.main.get_command(alone)


def _first_paragraph(name: str) -> str:
    """First paragraph of the docstring of a command, read from its source."""
    spec = find_spec(f"{FOLDER}.{name}_command")
    source = spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == f"{name}_command":
            return " ".join((ast.get_docstring(statement) or "").split("\n\n")[0].split())
    raise AttributeError(f"{FOLDER}.{name}_command has no function of its name.")
