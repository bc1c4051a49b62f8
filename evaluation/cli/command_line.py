"""The command `foreknow`: describe a file, publish a history, attack and check what was published, report on it, run the demo."""

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from foreknow.evaluation.checks.program import program_version
from foreknow.evaluation.cli.command_shape import Outcome, as_command
from foreknow.evaluation.cli.commands.attack_command import attack_command
from foreknow.evaluation.cli.commands.check_command import check_command
from foreknow.evaluation.cli.commands.compare_command import compare_command
from foreknow.evaluation.cli.commands.demo_command import demo_command
from foreknow.evaluation.cli.commands.describe_command import describe_command
from foreknow.evaluation.cli.commands.publish_command import publish_command
from foreknow.evaluation.cli.commands.report_command import report_command
from foreknow.evaluation.cli.commands.simulate_command import simulate_command
from foreknow.evaluation.cli.defense_choices import which_defense
from foreknow.evaluation.cli.options import paragraphs
from foreknow.evaluation.cli.printing.error_messages import fault_lines, message_in_options
from foreknow.evaluation.cli.printing.terminal import notice, say, show_error, show_hanging
from foreknow.models import InputFaults

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

COMMANDS: dict[str, Callable[..., Outcome | None]] = {
    "describe": describe_command,
    "demo": demo_command,
    "simulate": simulate_command,
    "publish": publish_command,
    "attack": attack_command,
    "check": check_command,
    "compare": compare_command,
    "report": report_command,
}
"""The commands, in the order of the help text."""

EPILOGS = {"publish": which_defense()}
"""Texts below the options of a command."""

for _name, _command in COMMANDS.items():
    app.command(_name, help=paragraphs(_command.__doc__), epilog=EPILOGS.get(_name))(as_command(_command))


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

    Exit status: 0 done; 1 a requirement of check, or --fail-over, failed; 2 wrong input or options.
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    notice(f"warning: {message}")


def main() -> None:
    """Run the command; wrong input ends it with exit status 2 and one sentence."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError, MemoryError, OverflowError) as error:
        *others, last = fault_lines(error) if isinstance(error, InputFaults) else [message_in_options(error)]
        for line in others:
            show_hanging(line)
        show_error(last)
        sys.exit(2)
