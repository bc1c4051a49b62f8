"""The command `foreknow check`: requirements recomputed from a published table alone."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.after_check import after_attack, after_files, after_folder, after_other_files
from foreknow.app.cli.commands.attack_folder import attack_at
from foreknow.app.cli.commands.check_attack import check_attack
from foreknow.app.cli.commands.check_folder import Publication, publication_at
from foreknow.app.cli.commands.checked_tables import Checked, check_files, check_publication
from foreknow.app.cli.defense_choices import DefenseOptions
from foreknow.app.cli.disk_options import DiskOptions
from foreknow.app.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.app.cli.files.column_checks import check_encoding_used
from foreknow.app.cli.files.input_files import InputFiles
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.input_options import (
    Duplicates,
    EqualValues,
    EqualValuesChoice,
    MissingCells,
    MissingChoice,
    Separator,
    TimeFormat,
    cleaning,
    separator_character,
)
from foreknow.app.cli.options import (
    Beta,
    Encoding,
    GroupColumn,
    Missing,
    Overwrite,
    T,
    least_records,
    least_values,
    output_folder,
)
from foreknow.app.cli.pictures import LEVELS as LEVELS_PICTURE
from foreknow.app.cli.pictures import Pictures, check_pictures, draw_levels
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import say, say_verdict, show
from foreknow.app.cli.published.tables import PublishedFiles
from foreknow.defenses import KAnonymity
from foreknow.models.settings import counted

LEVELS = "levels.csv"
"""File of the table in --out."""

Out = Annotated[Path | None, output_folder("Folder for levels.csv, the table that is printed, and settings.json.")]

Labels = Annotated[
    list[str],
    typer.Option(
        "--qi",
        metavar="COLUMN",
        help="Column of labels; without a column of the group, records with equal ones are a group.",
    ),
]

READ_FOR_FILES = (
    "sensitive", "qi", "group", "time", "encoding", "missing_value", "separator", "equal_values", "missing", "time_format",
)  # fmt: skip
"""Options that a folder of `foreknow publish` does not need: it names its columns, and its tables are clean."""

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


def check_command(
    context: typer.Context,
    published: Annotated[
        list[Path],
        typer.Argument(
            metavar="PUBLISHED...",
            help="Published tables: CSV or Parquet files, one row per published record; one file per release, or one with a column "
            "of the release. Or one folder that foreknow publish, or foreknow attack --from-disk, wrote.",
        ),
    ],
    disk: DiskOptions,
    sensitive: Annotated[
        str | None,
        typer.Option("--sensitive", metavar="COLUMN", help="Column of the sensitive value; needed for files."),
    ] = None,
    qi: Labels = [],  # noqa: B006 - Typer reads it, nothing writes it
    group: GroupColumn = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the release; by default 'week' or 'release' if there is one, otherwise each file is one release.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        least_records("Least number of records in a group; 3 if no other threshold is given."),
    ] = None,
    l: Annotated[  # noqa: E741
        int | None,
        least_values("Least number of distinct sensitive values in a group."),
    ] = None,
    t: T = None,
    beta: Beta = None,
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006 - Typer reads it, nothing writes it
    separator: Separator = None,
    equal_values: EqualValuesChoice = EqualValues["refuse"],
    missing: MissingChoice = MissingCells["refuse"],
    time_format: TimeFormat = [],  # noqa: B006 - Typer reads it, nothing writes it
    out: Out = None,
    pictures: Pictures = False,
    overwrite: Overwrite = False,
) -> Outcome:
    """Recompute requirements from a published table alone; the exit status is 1 if one fails.

    With the folder of a publication, its files are compared with its manifest first: changed, missing and extra files are named,
    and the exit status is 1. Without thresholds, the requirements are those of its certificate. With the folder of foreknow attack
    --from-disk, or its beliefs alone, the files are compared with their checksums, and nothing is recomputed.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.
    """
    folder = _folder(context, published, sensitive)
    attack = None if folder is None else attack_at(folder)
    if attack is not None:
        outcome = check_attack(context, attack)
        say(*after_attack(attack, outcome.content["files"]))
        return outcome
    check_pictures(pictures, out)
    if out is not None:
        check_output(out, [LEVELS, SETTINGS, *([LEVELS_PICTURE] if pictures else [])], published, overwrite)
    requirement = (
        None if (k, l, t, beta) == (None, None, None, None) else DefenseOptions(k or 1, l, t, beta=beta).requirement
    )
    publication = None if folder is None else publication_at(folder)
    checked: Checked | Outcome
    if publication is not None:
        checked = check_publication(publication, requirement, disk, pictures)
    else:
        assert sensitive is not None
        disk.refuse_given("check reads files in memory")
        check_encoding_used(encoding, published)
        rules = cleaning(equal_values, missing, Duplicates["refuse"], time_format, None)
        notation = InputFiles(encoding, separator_character(separator), tuple(missing_value))
        files = PublishedFiles(tuple(published), sensitive, tuple(qi), group, time, notation, rules)
        checked = check_files(files, KAnonymity(DEFAULT_K) if requirement is None else requirement)
    outcome = checked if isinstance(checked, Outcome) else _told(context, checked, published, out, pictures, overwrite)
    say(*_next(context, publication, outcome))
    return outcome


def _told(
    context: typer.Context, checked: Checked, published: list[Path], out: Path | None, pictures: bool, overwrite: bool
) -> Outcome:
    """The outcome of a check, printed and, with --out, written."""
    verdict = _verdict(checked.found)
    say_verdict(verdict)
    show(PrintedTable(checked.found, f"{checked.title}, recomputed", keys=2))
    say(verdict)
    if out is not None:
        with atomic_output(out, published, overwrite) as scratch:
            write_table(checked.found, scratch / LEVELS)
            write_settings(scratch / SETTINGS, run_settings(context, checked.inputs))
            if pictures:
                draw_levels(scratch, checked.by_group)
        say(f"The table: {out / LEVELS}. How it was made: {SETTINGS} beside it.")
    failed = bool((checked.found["failing"] > 0).any())
    return Outcome({"failed": failed, "verdict": verdict, "requirements": checked.found}, failed)


def _next(context: typer.Context, publication: Publication | None, outcome: Outcome) -> list[str]:
    """Lines that name the next command."""
    if publication is None:
        return after_files(context.params["published"], context.params)
    files = outcome.content.get("files")
    return after_other_files(publication, files) if files else after_folder(publication)


def _folder(context: typer.Context, published: list[Path], sensitive: str | None) -> Path | None:
    """The folder to check; None for files.

    Raises
    ------
    BadParameter
        If files are named without --sensitive.
    ValueError
        If a folder is named beside others, or with options that are read for files alone.
    """
    folder = next((path for path in published if path.is_dir()), None)
    if folder is None:
        if sensitive is None:
            raise typer.BadParameter(
                "missing; name the column of the sensitive value.", context, param_hint="--sensitive"
            )
        return None
    if len(published) > 1:
        raise ValueError(f"{folder} is a folder; check one folder at a time, or files alone.")
    # Those of a --config file may be for other commands.
    typed = {
        name for name in READ_FOR_FILES if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    for name in sorted(typed):
        raise ValueError(
            f"--{name.replace('_', '-')} is read for files; {folder} is a folder, which names its columns. Leave it out."
        )
    return folder


def _verdict(found: pd.DataFrame) -> str:
    """The verdict in one line."""
    failing = found[found["failing"] > 0]
    if failing.empty:
        return "Passed: every group satisfies the requirements."
    names = ", ".join(dict.fromkeys(failing["requirement"]))
    number = int(failing["failing"].sum())
    return f"FAILED: {counted(number, 'group')} {'does' if number == 1 else 'do'} not satisfy {names}."
