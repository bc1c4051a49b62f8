"""`foreknow attack` on original records and their groups: findings of each adversary, printed and written."""

from collections.abc import Hashable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.at_risk import at_risk
from foreknow.app.cli.commands.attack_adversaries import (
    Found,
    adversaries_content,
    by_exposure,
    found_by,
    notice_others,
    sources,
    tables_line,
    verdict_lines,
)
from foreknow.app.cli.commands.attack_making import LEARNED, Attacked, AttackSettings, check_attack_options
from foreknow.app.cli.commands.attack_options import AttackOptions
from foreknow.app.cli.commands.attack_output import files_content, output_names, say_files, write_attack
from foreknow.app.cli.commands.attack_report import report_attack
from foreknow.app.cli.commands.attack_run import AttackRun
from foreknow.app.cli.commands.exposure_verdict import Exposure, is_over
from foreknow.app.cli.commands.next_step import BOUNDS, next_lines, unused_path
from foreknow.app.cli.commands.publish_report import notice_codes, notice_suppression, suppressed_share
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS
from foreknow.app.cli.files.atomic_output import check_output
from foreknow.app.cli.files.checksums import check_key
from foreknow.app.cli.files.publication_settings import cleaned_as_published
from foreknow.app.cli.files.release_files import read_releases
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.statement_files import read_statements
from foreknow.app.cli.pictures import BELIEF, GAIN, check_pictures, draw_attack
from foreknow.app.cli.printing.attack_tables import posterior_table, risk_per_release
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.terminal import error_console, notice, say, say_sentences, say_verdict, tracked
from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.risk.respondent_risk import respondent_risk
from foreknow.models import Beliefs, History, Release

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
    person = _most_exposed(exposed, beliefs, read.history)
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


def _most_exposed(found: Exposure, beliefs: Beliefs, history: History) -> Hashable | None:
    """The respondent with the highest belief in the true value: an exposed one, if there is any."""
    people = found.people if len(found.people) else respondent_risk(beliefs, history, most=1)
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
