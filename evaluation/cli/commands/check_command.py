"""The command `foreknow check`: requirements recomputed from a published table alone."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from foreknow.defenses import AllOf, Requirement
from foreknow.evaluation.checks.verify import verify_table
from foreknow.evaluation.cli.defense_choices import DefenseOptions
from foreknow.evaluation.cli.files.column_checks import (
    check_complete,
    check_encoding_used,
    check_roles,
    column_varying_within_groups,
)
from foreknow.evaluation.cli.options import Beta, Encoding, Missing, Sensitive, T, least_records, least_values
from foreknow.evaluation.cli.printing.printed_table import PrintedTable
from foreknow.evaluation.cli.printing.terminal import show
from foreknow.models.tables.files.table_files import read_table

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


def check_command(
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
) -> None:
    """Recompute requirements from a published table alone; the exit status is 1 if one fails.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.
    """
    check_encoding_used(encoding, [published])
    table = read_table(published, [sensitive], encoding, ("", *missing_value))
    if time is None and "week" in table.columns and "week" not in (group, sensitive):
        time = "week"
    _check_table(table, group, sensitive, time)
    requirement = _requirement(k, l, t, beta)
    values = tuple(sorted(table[sensitive].unique().tolist(), key=str))
    rows = []
    for when, release in [("all", table)] if time is None else list(table.groupby(time, sort=True)):
        groups = release[[group, sensitive]].set_axis(["group", "value"], axis=1)
        levels = verify_table(groups, "value", values, requirement)
        rows += [
            _requirement_row(when, name, part, requirement) for name, part in levels.groupby("requirement", sort=False)
        ]
    show(PrintedTable(pd.DataFrame(rows), f"{published.name}, recomputed", keys=2))
    if any(row["failing"] for row in rows):
        raise typer.Exit(1)


def _requirement(k: int | None, l: int | None, t: float | None, beta: float | None) -> Requirement:  # noqa: E741
    """The requirement of the thresholds given; k-anonymity with k = 3 if there are none."""
    if (k, l, t, beta) == (None, None, None, None):
        k = DEFAULT_K
    return DefenseOptions(k or 1, l, t, beta=beta).requirement


def _check_table(table: pd.DataFrame, group: str, sensitive: str, time: str | None) -> None:
    """Raise ValueError unless the columns are there and complete, and the groups belong to one release if there is no time."""
    roles = [group, sensitive, *([] if time is None else [time])]
    check_roles(table, roles)
    check_complete(table, roles)
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
