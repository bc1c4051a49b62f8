"""The command `foreknow check`: requirements recomputed from a published table alone."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from foreknow.defenses import AllOf, Requirement
from foreknow.evaluation.checks.verify import verify_table
from foreknow.evaluation.cli.command_shape import Outcome
from foreknow.evaluation.cli.defense_choices import DefenseOptions
from foreknow.evaluation.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.evaluation.cli.files.column_checks import (
    check_encoding_used,
    check_roles,
    column_varying_within_groups,
)
from foreknow.evaluation.cli.files.input_files import DEFAULT_TIME, ONE_RELEASE, InputFiles
from foreknow.evaluation.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.evaluation.cli.input_options import (
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
from foreknow.evaluation.cli.options import (
    Beta,
    Encoding,
    Missing,
    Overwrite,
    Sensitive,
    T,
    least_records,
    least_values,
    output_folder,
)
from foreknow.evaluation.cli.printing.printed_table import PrintedTable
from foreknow.evaluation.cli.printing.terminal import notice, say, show
from foreknow.models import Cleaning, ColumnRoles
from foreknow.models.tables.files.table_files import columns_of

LEVELS = "levels.csv"
"""File of the table in --out."""

Out = Annotated[Path | None, output_folder("Folder for levels.csv, the table that is printed, and settings.json.")]

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


def check_command(
    context: typer.Context,
    published: Annotated[
        Path,
        typer.Argument(
            metavar="PUBLISHED", help="Published table: a CSV or Parquet file, one row per published record."
        ),
    ],
    sensitive: Sensitive,
    group: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the group.")] = "group",
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the release; by default 'week' if there is one, otherwise the table is one release.",
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
    time_format: TimeFormat = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Outcome:
    """Recompute requirements from a published table alone; the exit status is 1 if one fails.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.
    """
    check_encoding_used(encoding, [published])
    if out is not None:
        check_output(out, [LEVELS, SETTINGS], [published], overwrite)
    rules = cleaning(equal_values, missing, Duplicates["refuse"], time_format, None)
    files = InputFiles(encoding, separator_character(separator), tuple(missing_value))
    table, time = _read(published, files, rules, ColumnRoles(sensitive, (), None, time), group)
    requirement = _requirement(k, l, t, beta)
    values = tuple(sorted(table[sensitive].unique().tolist(), key=str))
    rows = []
    for when, release in [("all", table)] if time is None else list(table.groupby(time, sort=True)):
        groups = release[[group, sensitive]].set_axis(["group", "value"], axis=1)
        levels = verify_table(groups, "value", values, requirement)
        rows += [
            _requirement_row(when, name, part, requirement) for name, part in levels.groupby("requirement", sort=False)
        ]
    found = pd.DataFrame(rows)
    show(PrintedTable(found, f"{published.name}, recomputed", keys=2))
    failed = bool((found["failing"] > 0).any())
    say(_verdict(found))
    if out is not None:
        with atomic_output(out, [published], overwrite) as folder:
            write_table(found, folder / LEVELS)
            write_settings(folder / SETTINGS, run_settings(context, [published]))
        say(f"The table: {out / LEVELS}. How it was made: {SETTINGS} beside it.")
    say("Next: foreknow attack RECORDS --groups KEY, for what an adversary can infer.")
    return Outcome({"failed": failed, "verdict": _verdict(found), "requirements": found}, failed)


def _verdict(found: pd.DataFrame) -> str:
    """The verdict in one line."""
    failing = found[found["failing"] > 0]
    if failing.empty:
        return "Passed: every group satisfies the requirements."
    names = ", ".join(dict.fromkeys(failing["requirement"]))
    return f"FAILED: {int(failing['failing'].sum())} groups do not satisfy {names}."


def _requirement(k: int | None, l: int | None, t: float | None, beta: float | None) -> Requirement:  # noqa: E741
    """The requirement of the thresholds given; k-anonymity with k = 3 if there are none."""
    if (k, l, t, beta) == (None, None, None, None):
        k = DEFAULT_K
    return DefenseOptions(k or 1, l, t, beta=beta).requirement


def _read(
    path: Path, files: InputFiles, rules: Cleaning, roles: ColumnRoles, group: str
) -> tuple[pd.DataFrame, str | None]:
    """The cleaned table, and the column of its releases: the one named, else ``week`` or ``release`` if there is one."""
    named = [group, roles.sensitive, *([] if roles.time is None else [roles.time])]
    time = roles.time
    if time is None:
        columns = columns_of(path, files.encoding, files.separator)
        time = next((name for name in (DEFAULT_TIME, ONE_RELEASE) if name in columns and name not in named), None)
    (table,) = files.read([path], [roles.sensitive, *([] if time is None else [time])], named)
    check_roles(table, [group, roles.sensitive, *([] if time is None else [time])])
    known = ColumnRoles(roles.sensitive, (group,), None, time, categorical=(group,))
    (table,), changes = rules.together([table], known, files.places([path], [table]))
    for change in changes:
        notice(change.sentence)
    _check_one_release(table, group, roles.sensitive, time)
    return table, time


def _check_one_release(table: pd.DataFrame, group: str, sensitive: str, time: str | None) -> None:
    """Raise ValueError unless the groups belong to one release if there is no time."""
    if time is None and (varying := column_varying_within_groups(table, group, sensitive)):
        raise ValueError(
            f"{varying!r} differs within groups, so the table holds several releases, or different groups with the same number; "
            f"name the column of the release, as --time {varying}."
        )


def _requirement_row(time: Any, name: Any, groups: pd.DataFrame, requirement: Requirement) -> dict[str, object]:
    """One requirement over all groups of a release, from rows of `verify_table`."""
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    sense = next(part.sense for part in parts if repr(part) == name)
    failing = groups[~groups["holds"]]
    return {
        "release": time,
        "requirement": name,
        "groups": len(groups),
        "worst": groups["level"].min() if sense == "at least" else groups["level"].max(),
        "threshold": f"{sense} {groups['bound'].iloc[0]:g}",
        "failing": len(failing),
        "first failing": "" if failing.empty else failing["group"].iloc[0],
    }
