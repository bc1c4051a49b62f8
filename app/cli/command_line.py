"""The command `foreknow`: describe a file, publish a history, attack and check what was published, report on it, run the demo."""

import os
import signal
import sys
import threading
import warnings
from functools import cache
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from foreknow.app.cli.terminal import notice, say, show_error, show_hanging
from foreknow.models.program_version import program_version

FOLDER = "foreknow.app.cli.commands"
"""Package of the commands: the command NAME is the function ``NAME_command`` of the module ``NAME_command``."""

COMMANDS = {
    "describe": "Start here: look at a file, and get the command that publishes it.",
    "demo": "Publish a medical follow-up by Mondrian with l-diversity and by JS-reduce, and attack the releases.",
    "simulate": "Write a simulated history, to try the other commands.",
    "publish": "Group the records of each release, or count them with noise, and write the published table.",
    "attack": "Tell who is at risk: the persons whose sensitive value a reader can infer from all that you published, when, "
    "and why.",
    "check": "Recompute requirements from a published table alone; the exit status is 1 if one fails.",
    "compare": "Publish the same records by several defenses or settings, attack each, and compare risk and price.",
    "run": "Measure a grid of defenses, scenarios and seeds that a file describes, and write one table.",
    "report": "Write one page on the risk of a publication: a verdict, who is exposed and why, and what to change.",
    "reproduce": "Run the experiments of a paper again, draw its figures, and judge its claims.",
}
"""The commands with the first sentence of their help texts, in order; the docstring of a command, after its first line, follows.

What stands in it after two empty lines is printed below the options, as it is written."""

STANDARD_ERROR = 2
"""Number of the file to which libraries in C print."""

WRITER = "QueueFeederThread"
"""Name of the thread by which a pool of processes sends tasks."""


class Commands(TyperGroup):
    """The commands: each is a name and a line of help until it is run or completed; its module is imported then."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, text in COMMANDS.items():
            self.add_command(TyperCommand(name, help=text))

    def loaded(self, name: str) -> Any:
        """The command of a name with its parameters."""
        self.add_command(_made(name))
        return self.commands[name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, loaded, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self.loaded(name), rest


@cache
def _made(name: str) -> Any:
    """The command of a function."""
    from foreknow.app.cli.command_shape import as_command, paragraphs  # it imports pandas

    function = getattr(import_module(f"{FOLDER}.{name}_command"), f"{name}_command")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    about, _, below = cleandoc(function.__doc__).partition("\n\n\n")
    _, _, more = paragraphs(about).partition("\n\n")
    alone.command(name, help=f"{COMMANDS[name]}\n\n{more}".strip(), epilog=f"\n{below}")(as_command(function))
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(asked: bool) -> None:
    if asked:
        say(program_version())
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Start here: foreknow describe FILE. It names the next command, as each command does. Without a file: foreknow demo.

    foreknow measures what an adversary with background knowledge can infer from published tables, and publishes safer tables.

    Exit status: 0 done; 1 publish, check or --fail-over failed, or compare found nothing to publish; 2 wrong input or options.
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    notice(f"warning: {message}")


TERMINATED = 128 + signal.SIGTERM
"""Exit status of a program that the signal ended."""


def _terminate(*_: Any) -> None:
    """End the program as an error does, so that its scratch files are removed."""
    sys.exit(TERMINATED)


def main() -> None:
    """Run the command; wrong input ends it with exit status 2 and one sentence."""
    warnings.showwarning = _show_warning
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
        return
    except (ValueError, OSError, ModuleNotFoundError, MemoryError, OverflowError) as error:
        _show_failure(error)
    # Outside of the handler, so that the error and the arrays of its frames are freed before libraries are unloaded.
    _silence_libraries()
    sys.exit(2)


def _silence_libraries() -> None:
    """Close standard error if a thread still writes to a worker, which may be dead: the libraries that it keeps print warnings."""
    if any(thread.name == WRITER for thread in threading.enumerate()):
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), STANDARD_ERROR)


def _show_failure(error: Exception) -> None:
    """Print the message of an error, and its notes."""
    # Imported here: the help of the program needs no tables.
    from foreknow.app.cli.typed_commands import error_lines

    *others, last = error_lines(error)
    for line in others:
        show_hanging(line)
    show_error(last)
    for note in getattr(error, "__notes__", ()):
        show_hanging(note)
