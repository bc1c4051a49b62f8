"""`foreknow check FOLDER` of an attack from disk: its files against their checksums."""

import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_folder import AttackFolder
from foreknow.app.cli.commands.check_folder import files_line, show_differences
from foreknow.app.cli.configuration import parameters_by_key
from foreknow.app.cli.printing.terminal import error_console, say

READ_FOR_TABLES = ("k", "l", "t", "beta", "out", "pictures", "memory", "workers", "scheduler", "scratch")
"""Options that a folder of an attack does not need: nothing is recomputed, and no table is written."""


def check_attack(context: typer.Context, attack: AttackFolder) -> Outcome:
    """Compare the files of an attack with their checksums.

    Raises
    ------
    ValueError
        If an option was typed that is read for published tables alone.
    """
    _refuse_read_for_tables(context, attack)
    with error_console.status("comparing checksums"):
        found = attack.differences()
    if found:
        show_differences(attack.folder, found)
        verdict = files_line(found, "foreknow attack --from-disk" if attack.is_whole else "attack_large")
    else:
        verdict = f"Passed: {len(attack.listing.sums)} files are as {attack.listings} them."
    say(verdict)
    files = [one._asdict() for one in found]
    return Outcome({"failed": bool(found), "verdict": verdict, "files": files}, bool(found))


def _refuse_read_for_tables(context: typer.Context, attack: AttackFolder) -> None:
    # Those of a --config file may be for other folders.
    for key, parameter in parameters_by_key(context.command).items():
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in READ_FOR_TABLES and getattr(source, "name", "") == "COMMANDLINE":
            raise ValueError(
                f"{'-' if len(key) == 1 else '--'}{key} is read for published tables; {attack.folder} holds the beliefs of an "
                "attack, whose files alone are compared. Leave it out."
            )
