"""The command `foreknow check`: requirements recomputed from a published table alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from foreknow.defenses import AllOf, KAnonymity, Requirement
from foreknow.evaluation.checks.verify import verify_table
from foreknow.evaluation.cli.command_shape import Outcome
from foreknow.evaluation.cli.commands.check_folder import (
    Publication,
    certified_requirement,
    differing_files,
    files_line,
    large_findings,
    publication_at,
    threshold_text,
)
from foreknow.evaluation.cli.commands.next_step import paths_of, table_options
from foreknow.evaluation.cli.defense_choices import DefenseOptions
from foreknow.evaluation.cli.disk_options import DiskOptions
from foreknow.evaluation.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.evaluation.cli.files.checksums import RELEASE
from foreknow.evaluation.cli.files.column_checks import check_encoding_used
from foreknow.evaluation.cli.files.input_files import InputFiles
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
    GroupColumn,
    Missing,
    Overwrite,
    T,
    least_records,
    least_values,
    output_folder,
)
from foreknow.evaluation.cli.pictures import LEVELS as LEVELS_PICTURE
from foreknow.evaluation.cli.pictures import Pictures, check_pictures, draw_levels
from foreknow.evaluation.cli.printing.printed_table import PrintedTable
from foreknow.evaluation.cli.printing.terminal import continued, say, say_verdict, show
from foreknow.evaluation.cli.published.tables import GROUP, PublishedFiles

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

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


def check_command(
    context: typer.Context,
    published: Annotated[
        list[Path],
        typer.Argument(
            metavar="PUBLISHED...",
            help="Published tables: CSV or Parquet files, one row per published record; one file per release, or one with a column "
            "of the release. Or one folder that foreknow publish wrote.",
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
    and the exit status is 1. Without thresholds, the requirements are those of its certificate.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.
    """
    folder = _folder(context, published, sensitive)
    check_encoding_used(encoding, published)
    check_pictures(pictures, out)
    if out is not None:
        check_output(out, [LEVELS, SETTINGS, *([LEVELS_PICTURE] if pictures else [])], published, overwrite)
    requirement = (
        None if (k, l, t, beta) == (None, None, None, None) else DefenseOptions(k or 1, l, t, beta=beta).requirement
    )
    inputs = published
    if folder is not None:
        publication = publication_at(folder)
        if files := differing_files(publication):
            say(files_line(files))
            return Outcome(
                {"failed": True, "verdict": files_line(files), "files": [one._asdict() for one in files]}, True
            )
        requirement = certified_requirement(publication) if requirement is None else requirement
        if requirement is None:
            say("The certificate names no requirement that published tables show.")
            return Outcome({"failed": False, "files": []})
        if publication.on_disk:
            return _check_on_disk(publication, requirement, disk)
        inputs, sensitive, qi, time = _described(publication)
    assert sensitive is not None
    disk.refuse_given("check reads files in memory")
    rules = cleaning(equal_values, missing, Duplicates["refuse"], time_format, None)
    notation = InputFiles(encoding, separator_character(separator), tuple(missing_value))
    table, time = PublishedFiles(tuple(inputs), sensitive, tuple(qi), group, time, notation, rules).read()
    requirement = KAnonymity(DEFAULT_K) if requirement is None else requirement
    found, by_group = _findings(table, time, sensitive, requirement)
    say_verdict(_verdict(found))
    show(PrintedTable(found, f"{', '.join(path.name for path in inputs)}, recomputed", keys=2))
    failed = bool((found["failing"] > 0).any())
    say(_verdict(found))
    if out is not None:
        with atomic_output(out, published, overwrite) as scratch:
            write_table(found, scratch / LEVELS)
            write_settings(scratch / SETTINGS, run_settings(context, inputs))
            if pictures:
                draw_levels(scratch, by_group)
        say(f"The table: {out / LEVELS}. How it was made: {SETTINGS} beside it.")
    if folder is None:
        say(*_next(published, context.params))
    return Outcome({"failed": failed, "verdict": _verdict(found), "requirements": found}, failed)


def _folder(context: typer.Context, published: list[Path], sensitive: str | None) -> Path | None:
    """The folder to check; None for files.

    Raises
    ------
    BadParameter
        If files are named without --sensitive.
    ValueError
        If a folder is named beside others, or with --sensitive.
    """
    folders = [path for path in published if path.is_dir()]
    if folders and len(published) > 1:
        raise ValueError(f"{folders[0]} is a folder; check one folder at a time, or files alone.")
    if not folders and sensitive is None:
        raise typer.BadParameter("missing; name the column of the sensitive value.", context, param_hint="--sensitive")
    if folders and sensitive is not None:
        raise ValueError(
            f"--sensitive is read for files; {folders[0]} is a folder, which names its columns. Leave it out."
        )
    return folders[0] if folders else None


def _described(publication: Publication) -> tuple[list[Path], str, list[str], str | None]:
    """Published tables of a publication, its sensitive column, its quasi-identifiers and the column of its releases."""
    try:
        content = publication.described
        columns = content["columns"]
        tables = [publication.public / name for name in content["sha256"]]
        return tables, columns["sensitive"], columns["quasi_identifiers"], columns["time"]
    except (KeyError, TypeError):
        raise ValueError(
            f"{publication.public / RELEASE} names no columns; check its tables: foreknow check TABLE --sensitive COLUMN."
        ) from None


def _check_on_disk(publication: Publication, requirement: Requirement, disk: DiskOptions) -> Outcome:
    """Requirements recomputed from the parts of a publication from disk."""
    from foreknow.evaluation.large import LargeReleases, verify_large  # DuckDB is loaded where it is used

    if publication.public == publication.folder:
        raise ValueError(
            f"{publication.folder} is the public folder alone of a publication in parts; its files are as certified. To recompute "
            "requirements, check the parts of each release: foreknow check release-0000/*.parquet --sensitive COLUMN."
        )
    published = LargeReleases(publication.folder)
    found = large_findings(verify_large(published, requirement, engine=disk.engine("checking")), requirement)
    say_verdict(_verdict(found))
    show(PrintedTable(found, f"{publication.folder}, recomputed", keys=2))
    failed = bool((found["failing"] > 0).any())
    say(_verdict(found))
    return Outcome({"failed": failed, "verdict": _verdict(found), "requirements": found}, failed)


def _findings(
    table: pd.DataFrame, time: str | None, sensitive: str, requirement: Requirement
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row for each release and requirement, and the levels of all groups."""
    values = tuple(sorted(table[sensitive].unique().tolist(), key=str))
    rows, by_group = [], []
    for when, release in [("all", table)] if time is None else list(table.groupby(time, sort=True)):
        groups = release[[GROUP, sensitive]].set_axis(["group", "value"], axis=1)
        levels = verify_table(groups, "value", values, requirement)
        by_group.append(levels.assign(release=when))
        rows += [
            _requirement_row(when, name, part, requirement) for name, part in levels.groupby("requirement", sort=False)
        ]
    return pd.DataFrame(rows), pd.concat(by_group, ignore_index=True)


def _next(published: list[Path], given: Mapping[str, Any]) -> list[str]:
    """Lines that name the next command: what an adversary infers from the tables alone."""
    return [
        "Next, what an adversary infers from the tables alone (with the originals: foreknow attack RECORDS --groups KEY):",
        *continued(f"foreknow attack {paths_of(published)} --published {table_options(given)}"),
    ]


def _verdict(found: pd.DataFrame) -> str:
    """The verdict in one line."""
    failing = found[found["failing"] > 0]
    if failing.empty:
        return "Passed: every group satisfies the requirements."
    names = ", ".join(dict.fromkeys(failing["requirement"]))
    return f"FAILED: {int(failing['failing'].sum())} groups do not satisfy {names}."


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
        "threshold": threshold_text(sense, groups["bound"].iloc[0]),
        "failing": len(failing),
        "first failing": "" if failing.empty else failing["group"].iloc[0],
    }
