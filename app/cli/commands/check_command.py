"""The command `foreknow check`: requirements recomputed from a published table alone."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd
import typer

from foreknow.app.atomic_output import atomic_output, check_output
from foreknow.app.cli.command_shape import Outcome, parameters_by_key, source_of
from foreknow.app.cli.commands.check_folder import (
    AttackFolder,
    Publication,
    attack_at,
    certified_requirement,
    check_certified,
    differing_files,
    files_line,
    large_findings,
    publication_at,
    threshold_text,
)
from foreknow.app.cli.commands.next_step import attack_of_key, paths_of, table_options, typed_lines, unused_path
from foreknow.app.cli.defense_choices import DefenseOptions
from foreknow.app.cli.files.columns import DEFAULT_TIME, InputFiles, check_encoding_used
from foreknow.app.cli.files.published_tables import GROUP, PublishedFiles
from foreknow.app.cli.files.run_settings import run_settings, write_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import (
    Beta,
    DiskOptions,
    Encoding,
    EqualValues,
    GroupColumn,
    MissingCells,
    MissingValues,
    Overwrite,
    Pictures,
    Separator,
    T,
    TimeFormat,
    count,
    option,
    output_folder,
    separator_character,
)
from foreknow.app.cli.pictures import LEVELS as LEVELS_PICTURE
from foreknow.app.cli.pictures import check_pictures, draw_levels
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import continued, say, say_verdict, show
from foreknow.app.publication import ONE_RELEASE, PRIVATE, SETTINGS, read_json
from foreknow.defenses import KAnonymity, Requirement
from foreknow.defenses.requirements.requirement import AllOf
from foreknow.evaluation.checks.verify import verify_table
from foreknow.models import Cleaning
from foreknow.models.settings import counted

EPILOG = """
For example:
  foreknow check release
  foreknow check release/public/published.csv --sensitive diagnosis -k 5 -l 2"""
"""Text below the options."""

LEVELS = "levels.csv"
"""File of the table in --out."""

READ_FOR_FILES = (
    "sensitive", "qi", "group", "time", "encoding", "missing_value", "separator", "equal_values", "missing", "time_format",
)  # fmt: skip
"""Options that a folder of `foreknow publish` does not need: it names its columns, and its tables are clean."""

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


class Checked(NamedTuple):
    """Requirements recomputed from published tables.

    Attributes
    ----------
    found : DataFrame
        One row for each release and requirement.
    by_group : DataFrame
        Levels of all groups; without rows for tables on disk.
    title : str
        Name of the tables.
    inputs : list of Path
        Files whose checksums the settings record.
    """

    found: pd.DataFrame
    by_group: pd.DataFrame
    title: str
    inputs: list[Path]


@dataclass(frozen=True)
class CheckRun:
    """Options of `foreknow check`."""

    context: typer.Context
    published: Annotated[
        list[Path],
        typer.Argument(
            metavar="PUBLISHED...",
            help="Published tables: CSV or Parquet files, one row per published record; one file per release, or one with a column "
            "of the release. Or one folder that foreknow publish, or foreknow attack --from-disk, wrote.",
        ),
    ]
    disk: DiskOptions
    sensitive: Annotated[str | None, option("Column of the sensitive value; needed for files.", "COLUMN")] = None
    qi: Annotated[
        list[str],
        option("Column of labels; without a column of the group, records with equal ones are a group.", "COLUMN"),
    ] = field(default_factory=list)
    group: GroupColumn = None
    time: Annotated[
        str | None,
        option(
            "Column of the release; by default 'week' or 'release' if there is one, otherwise each file is one release.",
            "COLUMN",
        ),
    ] = None
    k: Annotated[int | None, count("-k", "Least number of records in a group; 3 if no other threshold is given.")] = (
        None
    )
    l: Annotated[  # noqa: E741 - the name of the option
        int | None, count("-l", "Least number of distinct sensitive values in a group.")
    ] = None
    t: T = None
    beta: Beta = None
    encoding: Encoding = "utf-8"
    missing_value: MissingValues = field(default_factory=list)
    separator: Separator = None
    equal_values: EqualValues = "refuse"
    missing: MissingCells = "refuse"
    time_format: TimeFormat = None
    out: Annotated[
        Path | None, output_folder("Folder for levels.csv, the table that is printed, and settings.json.")
    ] = None
    pictures: Pictures = False
    overwrite: Overwrite = False

    @property
    def requirement(self) -> Requirement | None:
        """The requirement of the thresholds given; None without one."""
        if (self.k, self.l, self.t, self.beta) == (None, None, None, None):
            return None
        return DefenseOptions(self.k or 1, self.l, self.t, self.beta).requirement

    @property
    def files(self) -> PublishedFiles:
        """The published tables as files."""
        assert self.sensitive is not None
        self.disk.refuse_given("check reads files in memory")
        check_encoding_used(self.encoding, self.published)
        rules = Cleaning(self.equal_values, self.missing, time_format=self.time_format)
        notation = InputFiles(self.encoding, separator_character(self.separator), tuple(self.missing_value))
        columns = tuple(self.qi)
        return PublishedFiles(tuple(self.published), self.sensitive, columns, self.group, self.time, notation, rules)


def check_command(run: CheckRun) -> Outcome:
    """Run `foreknow check`; its help text has the paragraphs below.

    With the folder of a publication, its files are compared with its manifest first: changed, missing and extra files are named,
    and the exit status is 1. Without thresholds, the requirements are those of its certificate. With the folder of foreknow attack
    --from-disk, or its beliefs alone, the files are compared with their checksums, and nothing is recomputed.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.
    """
    folder = _folder(run)
    attack = None if folder is None else attack_at(folder)
    if attack is not None:
        outcome = check_attack(run.context, attack)
        say(*after_attack(attack, outcome.content["files"]))
        return outcome
    check_pictures(run.pictures, run.out)
    if run.out is not None:
        written: list[str | Path] = [LEVELS, SETTINGS, *([LEVELS_PICTURE] if run.pictures else [])]
        check_output(run.out, written, run.published, run.overwrite)
    publication = None if folder is None else publication_at(folder)
    if publication is not None:
        checked = check_publication(publication, run.requirement, run.disk, run.pictures)
    else:
        requirement = run.requirement  # a requirement has no truth value
        checked = check_files(run.files, KAnonymity(DEFAULT_K) if requirement is None else requirement)
    outcome = checked if isinstance(checked, Outcome) else _told(run, checked)
    if publication is None:
        say(*after_files(run.published, run.context.params))
    elif files := outcome.content.get("files"):
        say(*after_other_files(publication, files))
    else:
        say(*after_folder(publication))
    return outcome


def _told(run: CheckRun, checked: Checked) -> Outcome:
    """The outcome of a check, printed and, with --out, written."""
    failing = checked.found[checked.found["failing"] > 0]
    verdict = _verdict(failing)
    say_verdict(verdict)
    show(PrintedTable(checked.found, f"{checked.title}, recomputed", keys=2))
    say(verdict)
    if run.out is not None:
        with atomic_output(run.out, run.published, run.overwrite) as scratch:
            write_table(checked.found, scratch / LEVELS)
            write_settings(scratch / SETTINGS, run_settings(run.context, checked.inputs))
            if run.pictures:
                draw_levels(scratch, checked.by_group)
        say(f"The table: {run.out / LEVELS}. How it was made: {SETTINGS} beside it.")
    failed = not failing.empty
    return Outcome({"failed": failed, "verdict": verdict, "requirements": checked.found}, failed)


def _folder(run: CheckRun) -> Path | None:
    """The folder to check; None for files.

    Raises
    ------
    BadParameter
        If files are named without --sensitive.
    ValueError
        If a folder is named beside others, or with options that are read for files alone.
    """
    folder = next((path for path in run.published if path.is_dir()), None)
    if folder is None:
        if run.sensitive is None:
            raise typer.BadParameter(
                "missing; name the column of the sensitive value.", run.context, param_hint="--sensitive"
            )
        return None
    if len(run.published) > 1:
        raise ValueError(f"{folder} is a folder; check one folder at a time, or files alone.")
    # Those of a --config file may be for other commands.
    for name in sorted(name for name in READ_FOR_FILES if source_of(run.context, name) == "COMMANDLINE"):
        raise ValueError(
            f"--{name.replace('_', '-')} is read for files; {folder} is a folder, which names its columns. Leave it out."
        )
    return folder


def _verdict(failing: pd.DataFrame) -> str:
    """The verdict in one line, from the rows of the requirements that fail."""
    if failing.empty:
        return "Passed: every group satisfies the requirements."
    names = ", ".join(dict.fromkeys(failing["requirement"]))
    number = int(failing["failing"].sum())
    return f"FAILED: {counted(number, 'group')} {'does' if number == 1 else 'do'} not satisfy {names}."


def check_files(files: PublishedFiles, requirement: Requirement) -> Checked:
    """Requirements recomputed from published tables in memory."""
    table, time = files.read()
    title = ", ".join(path.name for path in files.paths)
    return Checked(*_findings(table, time, files.sensitive, requirement), title, list(files.paths))


def check_publication(
    publication: Publication, requirement: Requirement | None, disk: DiskOptions, pictures: bool
) -> Checked | Outcome:
    """Requirements recomputed from a publication; the outcome alone where files differ or there is nothing to recompute."""
    if requirement is None:
        check_certified(publication)
    if files := differing_files(publication.folder, publication.listing):
        say(files_line(files))
        return Outcome({"failed": True, "verdict": files_line(files), "files": [one._asdict() for one in files]}, True)
    listed = publication.listing
    say(f"{len(listed.sums)} files are as {listed.path.relative_to(publication.folder)} lists them.")
    requirement = certified_requirement(publication) if requirement is None else requirement
    if requirement is None:
        say("The certificate names no requirement that published tables show.")
        return Outcome({"failed": False, "files": []})
    if publication.on_disk:
        return _check_on_disk(publication, requirement, disk, pictures)
    disk.refuse_given("check reads these tables in memory")
    tables, sensitive, quasi_identifiers, time = publication.columns
    notation = InputFiles("utf-8", None, ())
    files_of = PublishedFiles(tuple(tables), sensitive, tuple(quasi_identifiers), None, time, notation, Cleaning())
    return check_files(files_of, requirement)


def _check_on_disk(publication: Publication, requirement: Requirement, disk: DiskOptions, pictures: bool) -> Checked:
    """Requirements recomputed from the parts of a publication from disk."""
    from foreknow.app.disk import verify_large
    from foreknow.app.disk.publication import LargeReleases

    if pictures:
        raise ValueError(
            f"--pictures is read for tables in memory; {publication.folder} was published from disk. Leave it out."
        )
    published = LargeReleases(publication.folder)
    found = large_findings(
        verify_large(published, requirement, engine=disk.engine("checking, blocks of a release")), requirement
    )
    return Checked(found, pd.DataFrame(), str(publication.folder), [publication.listing.path])


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
    verdict = f"Passed: {len(attack.listing.sums)} files are as {attack.listing.path.name} lists them."
    if found := differing_files(attack.folder, attack.listing):
        verdict = files_line(found, "foreknow attack --from-disk" if attack.is_whole else "attack_large")
    say(verdict)
    files = [one._asdict() for one in found]
    return Outcome({"failed": bool(found), "verdict": verdict, "files": files}, bool(found))


def _refuse_read_for_tables(context: typer.Context, attack: AttackFolder) -> None:
    # Those of a --config file may be for other folders.
    for key, parameter in parameters_by_key(context.command).items():
        if parameter.name in READ_FOR_TABLES and source_of(context, parameter.name) == "COMMANDLINE":
            raise ValueError(
                f"{'-' if len(key) == 1 else '--'}{key} is read for published tables; {attack.folder} holds the beliefs of an "
                "attack, whose files alone are compared. Leave it out."
            )


MOVED = "Next: move the extra files out of the folder, and check it again."
"""Line on a folder in which all differing files are extra."""


def after_files(published: Sequence[Path], given: Mapping[str, Any]) -> list[str]:
    """Lines that name the attack on published tables, from the parameters of the check."""
    return [
        "Next, what an adversary infers from the tables alone (with the originals: foreknow attack RECORDS --groups KEY):",
        *typed_lines(f"attack {paths_of(published)} --published {table_options(given)}"),
    ]


def after_folder(publication: Publication) -> list[str]:
    """Lines that name the attack on a publication: with its key, or of its public folder alone, without the originals."""
    key = publication.key
    if key is not None:
        return ["Next, what an adversary infers from it:", *continued(attack_of_key(key))]
    columns = publication.columns
    time = None if columns.time in (DEFAULT_TIME, ONE_RELEASE) else columns.time
    return after_files(columns.tables, {"qi": columns.quasi_identifiers, "sensitive": columns.sensitive, "time": time})


def after_other_files(publication: Publication, files: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines that tell what to do about files that differ.

    Extra files are to be removed. For others, a new publication with the settings of this one; none where its settings differ.
    """
    if _all_extra(files):
        return [MOVED]
    kept = publication.folder / PRIVATE / SETTINGS
    if not kept.exists() or f"{PRIVATE}/{SETTINGS}" in {each["file"] for each in files}:
        return []
    command = f"publish --config {shlex.quote(str(kept))} --out {unused_path('release')}"
    return ["Next, the same publication again:", *typed_lines(command)]


def after_attack(attack: AttackFolder, files: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines on the folder of an attack from disk: what to do about files that differ, or what to check next."""
    if files:
        return [MOVED] if _all_extra(files) else _attack_again(attack)
    if attack.settings is None:
        return ["Next: measure_large of foreknow.app.disk has the risk of these beliefs."]
    if not attack.is_whole:
        return ["Next, the exposed respondents too:", *typed_lines(f"check {shlex.quote(str(attack.folder.parent))}")]
    groups = str(read_json(attack.settings).get("options", {}).get("groups", ""))
    return ["Next, the publication that was attacked:", *typed_lines(f"check {shlex.quote(groups)}")] if groups else []


def _attack_again(attack: AttackFolder) -> list[str]:
    """Lines that name the same attack into another folder, with the settings of the run if there are some."""
    if attack.settings is None:
        return ["Next: run the attack again, into another folder."]
    command = f"attack --config {shlex.quote(str(attack.settings))} --out {unused_path('risk')}"
    return ["Next, the same attack again:", *typed_lines(command)]


def _all_extra(files: Sequence[Mapping[str, str]]) -> bool:
    return all(each["state"] == "extra" for each in files)
