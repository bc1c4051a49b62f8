"""The command `foreknow attack`: the beliefs of an adversary in published groups, and their risk."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

from foreknow.app.cli.attack_choices import (
    LEARNED,
    SAMPLER_SEED,
    Attacked,
    AttackOptions,
    AttackSettings,
    Corpus,
    Forward,
    Groups,
    Knowledge,
    KnowledgeSource,
    Out,
    PublishedOptions,
    Seed,
    check_attack_options,
)
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_findings import (
    Found,
    adversaries_content,
    at_risk,
    by_exposure,
    found_by,
    notice_others,
    report_attack,
    sources,
    tables_line,
    verdict_lines,
)
from foreknow.app.cli.commands.exposure_verdict import is_over
from foreknow.app.cli.commands.next_step import BOUNDS, next_lines, unused_path
from foreknow.app.cli.commands.publish_command import notice_codes, notice_suppression, suppressed_share
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS
from foreknow.app.cli.files.atomic_output import atomic_output, check_output, output_suffix, write_table
from foreknow.app.cli.files.release_files import check_key, read_releases
from foreknow.app.cli.files.run_settings import SETTINGS, cleaned_as_published, run_settings, write_settings
from foreknow.app.cli.files.statement_files import read_statements
from foreknow.app.cli.options import (
    DiskOptions,
    FailOver,
    FromDisk,
    KnowledgeOptions,
    Overwrite,
    Sure,
    TableOptions,
    check_sure,
)
from foreknow.app.cli.pictures import BELIEF, GAIN, PICTURES, Pictures, check_pictures, draw_attack
from foreknow.app.cli.printing.attack_tables import posterior_table, risk_per_release
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.terminal import error_console, notice, say, say_sentences, say_verdict, tracked
from foreknow.app.exposure import Exposure
from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.models import Beliefs, History, Release


class AttackRun(NamedTuple):
    """Options of `foreknow attack`."""

    context: typer.Context
    table: TableOptions
    tables: PublishedOptions
    chosen: AttackOptions
    known: KnowledgeOptions
    disk: DiskOptions
    groups: Path | None
    sure: float
    fail_over: float | None
    seed: int
    forward: bool
    corpus: Path | None
    knowledge: KnowledgeSource | None
    out: Path | None
    pictures: bool
    overwrite: bool

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        others = (self.tables.people, self.corpus, self.groups, self.chosen.statements)
        return [*self.table.files, *self.tables.later, *(path for path in others if path is not None)]

    @property
    def settings(self) -> AttackSettings:
        """The options that describe the attack."""
        source = None if self.knowledge is None else self.knowledge.value
        return AttackSettings.of(self.chosen, self.forward, source, self.known.learning, self.seed)


def attack_command(
    context: typer.Context,
    table: TableOptions,
    tables: PublishedOptions,
    chosen: AttackOptions,
    known: KnowledgeOptions,
    disk: DiskOptions,
    groups: Groups = None,
    sure: Sure = 0.9,
    fail_over: FailOver = None,
    seed: Seed = SAMPLER_SEED,
    forward: Forward = False,
    corpus: Corpus = None,
    knowledge: Knowledge = None,
    out: Out = None,
    pictures: Pictures = False,
    from_disk: FromDisk = False,
    overwrite: Overwrite = False,
) -> Outcome:
    """Tell who is at risk: the persons whose sensitive value a reader can infer from all that you published, when, and why.

    In technical terms: the posterior beliefs of an adversary with background knowledge about the members of the published groups,
    and the adversary's gain, confidence and success at each release.

    The attacks joint, sequential, snapshot, retrospective and signature have an adversary, who knows a prior and a Markov chain:
    learned from a --corpus or by --knowledge. Without these options there are two, as in foreknow report: one who learned from the
    releases alone, by expectation-maximization, and one who knows the statistics of the records. The verdict names both, and
    --fail-over counts the worst.

    The joint attack reasons over all respondents and all releases together, and in hindsight: later releases disclose what
    earlier ones hid. The sequential attack, release by release, is printed beside it.

    The foreground attack needs no prior knowledge: it learns global distributions from the published groups, and infers from
    them the values of the group members. With a --sensitive-set, breaches are printed as well. The definetti attack does so with
    all attributes at once, by naive Bayes.

    Composition assumes that values do not change. Maxent takes each release alone, with --statements. Minimality knows that the
    groups are those of foreknow publish --defense mondrian with -k and -l.

    A file of --groups that foreknow publish wrote must belong to the records and to the published table; the checksums beside the
    file are compared.

    With --from-disk, --groups is the folder of foreknow publish --from-disk. The attack is joint (--solver group-messages or
    max-entropy), sequential or snapshot, and the adversary learned from --corpus or from the records.

    With --published, RECORDS is a published table found elsewhere, and there are no originals: no truth to compare with. Beliefs
    are about the persons of a register (--people), who are linked to a group where the labels and the sizes of the groups
    determine it. Other records are those of unknown persons.
    """
    # Each kind of attack is imported where it is chosen.
    from foreknow.app.cli.commands.attack_from_disk import attack_from_disk
    from foreknow.app.cli.commands.published_attack import check_not_published, published_attack

    check_sure(sure)
    run = AttackRun(
        context, table, tables, chosen, known, disk, groups, sure, fail_over, seed, forward, corpus, knowledge, out, pictures,
        overwrite,
    )  # fmt: skip
    if from_disk:
        return attack_from_disk(run)
    disk.refuse_given("records are read into memory")
    if tables.alone:
        return published_attack(run)
    check_not_published(run)
    return attack_records(run)


REPORTED = (*(each.name for each in fields(AttackOptions)), *KNOWLEDGE_OPTIONS, "groups", "knowledge", *BOUNDS)
"""Parameters that `foreknow report` reads as `foreknow attack` does, besides those of the table."""


def attack_records(run: AttackRun) -> Outcome:
    """Attack the groups of original records, print the risk and, with --out, write beliefs and exposed respondents."""
    names = output_names(run.table.records)
    _check(run, names)
    with cleaned_as_published(run.groups, run.context):
        read = _read(run)
    found = _found(run.settings, read, run.sure)
    _, attack, beliefs, _ = found[0]
    sequential = _sequential_beside(attack, read.releases)
    verdict = verdict_lines(found, run.fail_over)
    say_verdict(*verdict, *tables_line(found))
    report_attack(run.settings, attack, beliefs, sequential, read.history, run.sure)
    notice_others(found)
    if run.out is not None:
        _write(run, run.out, names, read, found, sequential)
    notice_suppression(read.releases)
    say_sentences(*verdict)
    _say_end(run, names)
    return Outcome(_content(run, names, read, found), any(is_over(one.exposed, run.fail_over) for one in found))


def _check(run: AttackRun, names: tuple[str, ...]) -> None:
    """Refuse options and output folders, before a file is read."""
    check_pictures(run.pictures, run.out)
    check_attack_options(run.context, run.chosen.attack, run.chosen.statements, run.corpus, run.knowledge)
    if run.out is not None:
        check_output(run.out, [*names, *((GAIN, BELIEF) if run.pictures else ())], run.inputs, run.overwrite)


def _read(run: AttackRun) -> Attacked:
    """The records and their releases, the corpus and the statements, with one schema."""
    columns, records, statements = run.table.columns, run.table.records, run.chosen.statements
    tables = columns.read(*(path for path in (records, run.corpus) if path is not None))
    schema = columns.schema(*tables)
    history, releases = read_releases(tables[0], run.groups, columns, schema)
    _notice_unchecked_key(run.groups, records)
    notice_codes(schema, tables[0])
    taught = None if run.corpus is None else History.read(tables[1], schema, columns.time)
    stated = [] if statements is None else read_statements(statements, schema, columns.encoding)
    return Attacked(schema, history, releases, taught, stated)


def _notice_unchecked_key(groups: Path | None, records: Path) -> None:
    """Print a notice if no checksums beside the file of groups list it.

    Raises
    ------
    ValueError
        As `check_key`, if the checksums are those of other files.
    """
    if groups is not None and not check_key(groups, records):
        notice(f"No {MANIFEST} beside {groups} lists it: it is not checked that it belongs to {records}.")


def _found(settings: AttackSettings, read: Attacked, sure: float) -> list[Found]:
    """Findings of each adversary, before anything is printed but notices."""
    adversaries = sources(settings, read)
    if adversaries != (None,):
        solver = settings.solver if settings.name == "joint" else None
        notice_compilation(solver, settings.estimator, LEARNED in adversaries)
    return [found_by(source, settings, read, sure) for source in adversaries]


def _sequential_beside(attack: Attack, releases: tuple[Release, ...]) -> Beliefs | None:
    """Beliefs of the sequential attack of the same adversary, for comparison with the joint attack; None for other attacks."""
    if not isinstance(attack, JointAttack):
        return None
    return SequentialAttack(attack.adversary)(tracked(releases, "attacking release by release"))


def _write(
    run: AttackRun, out: Path, names: tuple[str, ...], read: Attacked, found: list[Found], sequential: Beliefs | None
) -> None:
    """Write beliefs, respondents at risk, settings and pictures."""
    _, _, beliefs, exposed = found[0]
    time = run.table.columns.time
    drawn = {run.chosen.attack: beliefs} | ({} if sequential is None else {"sequential": sequential})
    person = _most_exposed(exposed)
    draw = partial(draw_attack, attacks=drawn, history=read.history, person=person, time=time)
    risky = _at_risk(found, read)
    with error_console.status("writing"):
        used = run_settings(run.context, run.inputs, run.seed)
        tables = (posterior_table(beliefs, time), risky)
        write_attack(out, names, *tables, used, run.inputs, run.overwrite, draw if run.pictures else None)


def _at_risk(found: list[Found], read: Attacked) -> pd.DataFrame:
    """Respondents exposed to each adversary, the worst first, with the adversary in the last column."""
    tables = []
    for one in by_exposure(found):
        sequential = _sequential_beside(one.attack, read.releases)
        table = at_risk(one.exposed, one.attack, one.beliefs, sequential, read)
        tables.append(table.assign(adversary=one.source or ""))
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def _most_exposed(found: Exposure) -> Hashable | None:
    """The respondent with the highest belief in the true value: an exposed one, if there is any."""
    people = found.at_risk if found.exposed else found.people
    return people["respondent"].tolist()[0] if len(people) else None


def _say_end(run: AttackRun, names: tuple[str, ...]) -> None:
    """Print the seed of a sampler, where the files are, and the next command."""
    if run.chosen.solver == "path-sampler":
        say(f"Seed: {run.seed}.")
    if run.out is not None:
        say_files(run.out, names, run.pictures)
    say(*next_lines(run.context, "report", f"--out {unused_path('report.html')}", also=REPORTED))


def _content(run: AttackRun, names: tuple[str, ...], read: Attacked, found: list[Found]) -> dict[str, Any]:
    """The findings as JSON has them."""
    solver = run.chosen.solver if run.chosen.attack == "joint" else None
    return (
        adversaries_content(found, run.fail_over)
        | {"attack": run.chosen.attack, "solver": solver, "seed": run.seed}
        | {"suppressed": suppressed_share(read.releases)}
        | {"releases": risk_per_release(found[0].beliefs, read.history)}
        | files_content(run.out, names)
    )


def output_names(records: Path) -> tuple[str, str, str]:
    """Names of the output files, in the file format of the records."""
    suffix = output_suffix(records)
    return f"beliefs{suffix}", f"at-risk{suffix}", SETTINGS


def write_attack(
    out: Path,
    names: Sequence[str],
    beliefs: pd.DataFrame,
    risky: pd.DataFrame,
    settings: dict[str, Any],
    keep: Iterable[Path],
    overwrite: bool,
    draw: Callable[[Path], None] | None = None,
) -> None:
    """Write the files of an attack, each readable by its owner alone; ``draw`` writes pictures into a folder."""
    with atomic_output(out, keep, overwrite) as folder:
        write_table(beliefs, folder / names[0], private=True)
        write_table(risky, folder / names[1], private=True)
        write_settings(folder / names[2], settings)
        if draw is not None:
            draw(folder)


def say_files(out: Path, names: Sequence[str], pictures: bool = False) -> None:
    """Print where the files of an attack were written."""
    say(
        f"Posterior beliefs about each respondent, for you alone: {out / names[0]}.",
        f"Exposed respondents, and why, for you alone: {out / names[1]}. How it was made: {names[2]}.",
        *([f"Pictures, for you alone: {out / PICTURES}."] if pictures else []),
    )


def files_content(out: Path | None, names: Sequence[str]) -> dict[str, Any]:
    """The paths of the files as JSON has them."""
    return {} if out is None else {"files": [str(out / name) for name in names]}
