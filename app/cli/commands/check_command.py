"""The command `foreknow check`: requirements recomputed from a published table alone."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import RenderableType

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.command_shape import Outcome, source_of
from foreknow.app.cli.commands.check_folder import (
    AttackFolder,
    Publication,
    attack_at,
    certified_requirement,
    check_certified,
    differing_files,
    files_line,
    large_findings,
    promise_checks,
    publication_at,
    requirement_row,
    sides_of_key,
)
from foreknow.app.cli.commands.noisy_runs import promise_table
from foreknow.app.cli.defense_choices import NOISY, DefenseOptions
from foreknow.app.cli.files.columns import DEFAULT_TIME, InputFiles, check_encoding_used
from foreknow.app.cli.files.published_tables import GROUP, PublishedFiles
from foreknow.app.cli.files.run_settings import published_options, run_settings
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
    check_pictures,
    count,
    flag_of,
    option,
    output_folder,
    separator_character,
)
from foreknow.app.cli.pictures import LEVELS as LEVELS_PICTURE
from foreknow.app.cli.pictures import draw_levels
from foreknow.app.cli.terminal import PrintedTable, continued, say, say_verdict, show
from foreknow.app.cli.typed_commands import attack_of_key, paths_of, table_options, typed_lines, unused_path
from foreknow.app.noisy_publication import NOT_FOR_RELEASE, NoisySeries, promise_record, refuse_counts, series_at
from foreknow.app.publication import ONE_RELEASE, PRIVATE, SETTINGS, read_json
from foreknow.defenses import KAnonymity, Requirement
from foreknow.evaluation.checks.verify import verify_table
from foreknow.models import Cleaning
from foreknow.models.settings import counted

LEVELS = "levels.csv"
"""File of the table in --out."""

READ_FOR_FILES = (
    "sensitive", "qi", "group", "time", "encoding", "missing_value", "separator", "equal_values", "missing", "time_format",
)  # fmt: skip
"""Options that a folder of `foreknow publish` does not need: it names its columns, and its tables are clean."""

DEFAULT_K = 3
"""The threshold of k-anonymity if no threshold is given."""


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
    --from-disk, or its beliefs alone, the files are compared with their checksums, and nothing is recomputed. With the folder of
    noisy counts, which have no groups, the promise is recomputed in the place of requirements.

    The levels are computed by code that is independent of the defenses. For each release and requirement, the table printed has
    the worst level of a group, the threshold, the number of failing groups and the first of them.


    For example:
      foreknow check release
      foreknow check release/public/published.csv --sensitive diagnosis -k 5 -l 2
    """
    folder = next((path for path in run.published if path.is_dir()), None)
    if folder is None and run.sensitive is None:
        if missing := [str(path) for path in run.published if not path.exists()]:
            raise ValueError(f"there is no file or folder {missing[0]}; name a published table, or a publication.")
        raise typer.BadParameter(
            "missing; name the column of the sensitive value.", run.context, param_hint="--sensitive"
        )
    if folder is not None:
        if len(run.published) > 1:
            raise ValueError(f"{folder} is a folder; check one folder at a time, or files alone.")
        _refuse_typed(run.context, READ_FOR_FILES, f"files; {folder} is a folder, which names its columns")
        if (attack := attack_at(folder)) is not None:
            return _check_attack(run.context, attack)
    check_pictures(run.pictures, run.out)
    if run.out is not None:
        written: list[str | Path] = [LEVELS, SETTINGS, *([LEVELS_PICTURE] if run.pictures else [])]
        check_output(run.out, written, run.published, run.overwrite)
    if folder is not None:
        return _check_publication(run, publication_at(folder))
    refuse_counts(run.published, "name the folder of the publication")
    requirement = run.requirement  # a requirement has no truth value
    outcome = _check_files(run, run.files, KAnonymity(DEFAULT_K) if requirement is None else requirement)
    say(*after_files(run.published, run.context.params))
    return outcome


def _check_publication(run: CheckRun, publication: Publication) -> Outcome:
    """Compare the files of a publication with its manifest, and recompute requirements where all are as listed."""
    requirement = run.requirement
    if requirement is None:
        check_certified(publication)
    if found := differing_files(publication.folder, publication.listing):
        files = [one._asdict() for one in found]
        kept = publication.folder / PRIVATE / SETTINGS
        is_kept = kept.exists() and f"{PRIVATE}/{SETTINGS}" not in {each["file"] for each in files}
        is_noisy = (published_options(kept) or {}).get("defense") == NOISY
        lines = after_other_files(
            files, "publish", "publication", kept if is_kept and not is_noisy else None, "release"
        )
        say(files_line(found), *(lines or [DRAWN_ANEW] * is_noisy))
        return Outcome({"failed": True, "verdict": files_line(found), "files": files}, True)
    listed = publication.listing
    say(f"{len(listed.sums)} files are as {listed.path.relative_to(publication.folder)} lists them.")
    if (noisy := series_at(publication.folder)) is not None:
        return _check_noisy(run, noisy)
    requirement = certified_requirement(publication) if requirement is None else requirement
    if requirement is None:
        verdict = (
            "Not checked, but the files are as listed: the certificate names no requirement that published tables show. Give "
            "thresholds to recompute, as -k 3."
        )
        say(verdict)
        outcome = Outcome({"failed": False, "verdict": verdict, "files": [], "requirements": []})
    elif publication.on_disk:
        outcome = _check_on_disk(run, publication, requirement)
    else:
        run.disk.refuse_given("check reads these tables in memory")
        tables, sensitive, quasi_identifiers, time = publication.columns
        names = tuple(quasi_identifiers)
        files_of = PublishedFiles(tuple(tables), sensitive, names, None, time, InputFiles(), Cleaning())
        outcome = _check_files(run, files_of, requirement)
    if sides := sides_of_key(publication, run.disk):
        say(" ".join([sides.numbers, *sides.adversaries]))
        outcome = outcome._replace(content=outcome.content | {"exposed": sides.exposed} | sides.content)
    if publication.key is not None:
        say("Next, what an adversary infers from it:", *continued(attack_of_key(publication.key)))
    else:  # the public folder alone, without the originals
        tables, sensitive, quasi_identifiers, time = publication.columns
        named = None if time in (DEFAULT_TIME, ONE_RELEASE) else time
        say(*after_files(tables, {"qi": quasi_identifiers, "sensitive": sensitive, "time": named}))
    return outcome


DRAWN_ANEW = "Restore the files from a backup. Publishing again draws other noise, and two draws of one release break the promise."
"""Advice where files of noisy counts are not as they were written."""

NONE_OF_GROUPS = "noisy counts have no groups, so no requirement of groups applies"
"""Reason for which thresholds are refused, and said by a check."""

PROMISE_HOLDS = "Checked: the files are as listed, and the table and the promise are those of the settings."


def _check_noisy(run: CheckRun, series: NoisySeries) -> Outcome:
    """Recompute the promise of noisy counts from their settings, and check the published table against it."""
    if given := [name for name in ("k", "l", "t", "beta", "pictures") if getattr(run, name) not in (None, False)]:
        raise ValueError(f"{', '.join(map(flag_of, given))}: {NONE_OF_GROUPS}. Leave them out; the promise is checked.")
    run.disk.refuse_given("check reads these tables in memory")
    found = pd.DataFrame(promise_checks(series), columns=pd.Index(["check", "holds", "found"]))
    failing = found[~found["holds"]]
    verdict = f"FAILED: {failing['check'].iloc[0]} ({failing['found'].iloc[0]})." if len(failing) else PROMISE_HOLDS
    verdict = verdict if series.for_release else f"{NOT_FOR_RELEASE} {verdict}"
    shown = found.assign(holds=found["holds"].map({True: "yes", False: "NO"}))
    promise = promise_table(series.promise)
    below: list[RenderableType] = [PrintedTable(promise.frame, promise.title), f"{NONE_OF_GROUPS.capitalize()}."]
    outcome = _told(run, str(series.public), [series.table_path], shown, verdict, bool(len(failing)), below=below)
    more = {"requirements": [], "checks": found, "promise": promise_record(series.promise)}
    return outcome._replace(content=outcome.content | more | {"files": [], "for_release": series.for_release})


def _grouped(run: CheckRun, title: str, inputs: list[Path], found: pd.DataFrame, by_group: pd.DataFrame) -> Outcome:
    """The outcome of a check of groups.

    ``found`` has a row for each release and requirement, ``by_group`` the levels of all groups, and no row for tables on disk.
    """
    failing = found[found["failing"] > 0]
    failed, number = not failing.empty, int(failing["failing"].sum())
    verdict = "Checked, each release alone: every group satisfies the requirements."
    if failed:
        names = ", ".join(dict.fromkeys(failing["requirement"]))
        verdict = f"FAILED: {counted(number, 'group')} {'does' if number == 1 else 'do'} not satisfy {names}."
    return _told(run, title, inputs, found, verdict, failed, by_group)


def _told(
    run: CheckRun,
    title: str,
    inputs: list[Path],
    found: pd.DataFrame,
    verdict: str,
    failed: bool,
    by_group: pd.DataFrame | None = None,
    below: Sequence[RenderableType] = (),
) -> Outcome:
    """The outcome of a check, printed and, with --out, written."""
    say_verdict(verdict)
    show(PrintedTable(found, f"{title}, recomputed", keys=2))
    for part in below:
        show(part)
    say(verdict)
    if run.out is not None:
        with atomic_output(run.out, run.published, run.overwrite) as scratch:
            write_table(found, scratch / LEVELS)
            write_json(scratch / SETTINGS, run_settings(run.context, inputs))
            if by_group is not None and run.pictures:
                draw_levels(scratch, by_group)
        say(f"The table: {run.out / LEVELS}. How it was made: {SETTINGS} beside it.")
    return Outcome({"failed": failed, "verdict": verdict, "requirements": found}, failed)


def _refuse_typed(context: typer.Context, names: Sequence[str], reason: str) -> None:
    """Raise ValueError if an option was typed that is read for something else; those of --config may be for other commands."""
    for name in sorted(names):
        if source_of(context, name) == "COMMANDLINE":
            raise ValueError(f"{flag_of(name)} is read for {reason}. Leave it out.")


def _check_files(run: CheckRun, files: PublishedFiles, requirement: Requirement) -> Outcome:
    """Recompute requirements from published tables in memory."""
    table, time = files.read()
    values = tuple(sorted(table[files.sensitive].unique().tolist(), key=str))
    rows, by_group = [], []
    for when, release in [("all", table)] if time is None else list(table.groupby(time, sort=True)):
        groups = release[[GROUP, files.sensitive]].set_axis(["group", "value"], axis=1)
        levels = verify_table(groups, "value", values, requirement)
        by_group.append(levels.assign(release=when))
        rows += [
            requirement_row(when, name, part, requirement) for name, part in levels.groupby("requirement", sort=False)
        ]
    title = ", ".join(path.name for path in files.paths)
    return _grouped(run, title, list(files.paths), pd.DataFrame(rows), pd.concat(by_group, ignore_index=True))


def _check_on_disk(run: CheckRun, publication: Publication, requirement: Requirement) -> Outcome:
    """Recompute requirements from the parts of a publication from disk."""
    from foreknow.app.disk import verify_large
    from foreknow.app.disk.publication import LargeReleases

    if run.pictures:
        raise ValueError(
            f"--pictures is read for tables in memory; {publication.folder} was published from disk. Leave it out."
        )
    engine = run.disk.engine("checking, blocks of a release")
    found = verify_large(LargeReleases(publication.folder), requirement, engine=engine)
    inputs = [publication.listing.path]
    return _grouped(run, str(publication.folder), inputs, large_findings(found, requirement), pd.DataFrame())


READ_FOR_TABLES = ("k", "l", "t", "beta", "out", "pictures", *(each.name for each in fields(DiskOptions)))
"""Options that a folder of an attack does not need: nothing is recomputed, and no table is written."""


def _check_attack(context: typer.Context, attack: AttackFolder) -> Outcome:
    """Compare the files of an attack with their checksums."""
    reason = f"published tables; {attack.folder} holds the beliefs of an attack, whose files alone are compared"
    _refuse_typed(context, READ_FOR_TABLES, reason)
    verdict = f"Checked: {len(attack.listing.sums)} files are as {attack.listing.path.name} lists them."
    if found := differing_files(attack.folder, attack.listing):
        verdict = files_line(found, "foreknow attack --from-disk" if attack.is_whole else "attack_large")
    files = [one._asdict() for one in found]
    say(verdict, *after_attack(attack, files))
    return Outcome({"failed": bool(found), "verdict": verdict, "files": files}, bool(found))


def after_files(published: Sequence[Path], given: Mapping[str, Any]) -> list[str]:
    """Lines that name the attack on published tables, from the parameters of the check."""
    return [
        "Next, what an adversary infers from the tables alone (with the originals: foreknow attack RECORDS --groups KEY):",
        *typed_lines(f"attack {paths_of(published)} --published {table_options(given)}"),
    ]


def after_other_files(
    files: Sequence[Mapping[str, str]], command: str, made: str, kept: Path | None, out: str
) -> list[str]:
    """Lines that tell what to do about files that differ: remove extra ones, or make all again with the settings kept."""
    if all(each["state"] == "extra" for each in files):
        return ["Next: move the extra files out of the folder, and check it again."]
    if kept is None:
        return []
    again = f"{command} --config {shlex.quote(str(kept))} --out {unused_path(out)}"
    return [f"Next, the same {made} again:", *typed_lines(again)]


def after_attack(attack: AttackFolder, files: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines on the folder of an attack from disk: what to do about files that differ, or what to check next."""
    if files:
        lines = after_other_files(files, "attack", "attack", attack.settings, "risk")
        return lines or ["Next: run the attack again, into another folder."]
    if attack.settings is None:
        return ["Next: measure_large of foreknow.app.disk has the risk of these beliefs."]
    if not attack.is_whole:
        return ["Next, the exposed respondents too:", *typed_lines(f"check {shlex.quote(str(attack.folder.parent))}")]
    groups = str(read_json(attack.settings).get("options", {}).get("groups", ""))
    return ["Next, the publication that was attacked:", *typed_lines(f"check {shlex.quote(groups)}")] if groups else []
