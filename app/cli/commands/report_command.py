"""The command `foreknow report`: one page on the risk of a publication, for its publisher."""

import secrets
from functools import partial
from pathlib import Path

import typer

from foreknow.app.cli.adversary_knowledge import Learning, assumed_adversary
from foreknow.app.cli.attack_choices import ATTACK_OPTIONS, attack_options, estimator_choice, solver_choice
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_making import RECORDS, Attacked, AttackSettings, chosen_attack
from foreknow.app.cli.commands.attack_options import AttackOptions, Corpus
from foreknow.app.cli.commands.exposure_verdict import fail_over_lines
from foreknow.app.cli.commands.next_step import BOUNDS, SUPPRESSED_AS_TRIED, next_lines, unused_path
from foreknow.app.cli.commands.report_making import (
    Publication,
    informed_of,
    is_bucketized,
    learned_of,
    read_or_publish,
)
from foreknow.app.cli.commands.report_options import Details, Groups, Names, Page, Seed, Stricter
from foreknow.app.cli.commands.report_output import report_content, save_report, settings_path
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS, defense_choice
from foreknow.app.cli.defense_text import defense_options
from foreknow.app.cli.files.atomic_output import check_output
from foreknow.app.cli.files.checksums import check_key
from foreknow.app.cli.files.publication_settings import cleaned_as_published
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.statement_files import read_statements
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.app.cli.options import FailOver, Overwrite, Sure, check_sure, refuse_unread_options
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.terminal import notice, say, say_verdict
from foreknow.app.cli.printing.time_left import TimeLeft
from foreknow.app.report.adversaries import INFORMED, LEARNED
from foreknow.app.report.advice import best_settings
from foreknow.app.report.page import check_packages
from foreknow.app.report.report import Report, check_page_path, report
from foreknow.app.report.stricter import stricter_settings
from foreknow.attacks import Attack
from foreknow.defenses import Defense
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.models import History
from foreknow.models.joint.solver import with_progress


def report_command(
    context: typer.Context,
    table: TableOptions,
    out: Page,
    attacked: AttackOptions,
    known_by: KnowledgeOptions,
    groups: Groups = None,
    names: Names = False,
    sure: Sure = 0.9,
    fail_over: FailOver = None,
    stricter: Stricter = 3,
    seed: Seed = None,
    corpus: Corpus = None,
    knowledge: Details = None,
    overwrite: Overwrite = False,
) -> Outcome:
    """Write one page on the risk of a publication: a verdict, who is exposed and why, and what to change.

    The page is a file for your browser, and loads nothing from the network. It has true values: keep it as you keep the records.

    It shows two adversaries, by the joint attack: one who knows the prior and the transitions of the records or of a --corpus,
    and one who learned them from the releases alone. --attack adds another attack to the table of all attacks.

    With --groups of foreknow publish, three stricter settings of the same defense are tried, with their price.
    """
    # Options and output are refused before a file is read, files before anything is computed.
    check_sure(sure)
    _check_options(context, attacked.attack, attacked.statements)
    inputs = [path for path in (*table.files, groups, corpus, attacked.statements) if path is not None]
    _check_output(out, overwrite, inputs)
    check_packages()
    used = secrets.randbits(32) if seed is None else seed
    known, estimator = known_by.learning, estimator_choice(attacked.estimator)
    with cleaned_as_published(groups, context):
        made, read = _read(table, groups, corpus, known, used)
    stated = [] if attacked.statements is None else read_statements(attacked.statements, read.schema, table.encoding)
    also = _also(AttackSettings.of(attacked, False, RECORDS, known), read._replace(statements=stated))
    notice_compilation()
    with TimeLeft("attacking by two adversaries") as shown:
        found = report(
            made.releases,
            informed_of(made.history if read.corpus is None else read.corpus, known, estimator),
            partial(learned_of, learning=known, estimator=estimator, progress=shown.parts),
            also=also,
            defense=made.defense,
            assumed=made.assumed,
            defender=assumed_adversary(made.history, read.corpus, known),
            solver=with_progress(solver_choice(attacked.solver), shown.parts),
            sure=sure,
            details=None if knowledge is None else DETAILS[knowledge.value],
            names=names,
            stricter=stricter,
            notes=[*made.notes, _source(corpus)],
            rng=used,
            progress=shown.steps,
        )
        shown.update("drawing the page")
        save_report(found, out, run_settings(context, inputs, used), inputs, overwrite)
    share = max((each.exposed / max(each.respondents, 1) for each in found.contents.headlines.values()), default=0.0)
    _say(found, share, fail_over)
    say(f"The report, for you alone: {out}. Open it in a browser. Seed: {used}, kept in {settings_path(out).name}.")
    say(*_next(context, found, made))
    failed = fail_over is not None and share > fail_over
    content = report_content(found, out, used) | {"solver": attacked.solver, "fail_over": fail_over, "failed": failed}
    return Outcome(content, failed)


def _read(
    table: TableOptions, groups: Path | None, corpus: Path | None, known: Learning, seed: int
) -> tuple[Publication, Attacked]:
    """The publication, read or made, and the same as an attack reads it, without statements."""
    columns = table.columns
    tables = columns.read(*(path for path in (table.records, corpus) if path is not None))
    schema = columns.schema(*tables)
    taught = None if corpus is None else History.read(tables[1], schema, columns.time)
    if groups is not None and not check_key(groups, table.records):
        notice(f"No {MANIFEST} beside {groups} lists it: it is not checked that it belongs to {table.records}.")
    made = read_or_publish(tables[0], groups, columns, schema, taught, known, seed)
    return made, Attacked(schema, made.history, made.releases, taught, [])


def _say(found: Report, share: float, fail_over: float | None) -> None:
    """Print the verdict, the line on --fail-over for the share that is exposed, and the advice."""
    told = found.verdict
    advice = [f"What to change: {told.advice}"] if told.advice else []
    say_verdict(f"{told.word}. {told.sentence}", *fail_over_lines(share, fail_over), *advice)


def _next(context: typer.Context, found: Report, made: Publication) -> list[str]:
    """Lines that name the next command: publish with the setting that exposes the fewest, else compare defenses."""
    defense, steps = found.contents.changed, found.contents.settings.stricter
    best, _ = best_settings(found.contents.stricter.to_dict("records"))
    tried = {} if defense is None else {each.title: each.defense for each in stricter_settings(defense, steps)}
    options = None if best is None else defense_options(tried[best["setting"]])
    if defense is None or options is None:
        return next_lines(context, "compare", also=("solver", *BOUNDS, *KNOWLEDGE_OPTIONS))
    read = defense_choice(options.split()[0]).options
    more = (f"--defense {options}", *_notation(made, defense), "--infeasible suppress", f"--out {unused_path('safer')}")
    lines = next_lines(context, "publish", *more, also=[name for name in KNOWLEDGE_OPTIONS if name in read])
    return [SUPPRESSED_AS_TRIED, *lines]


def _notation(made: Publication, defense: Defense) -> list[str]:
    """The option of the quasi-identifiers, which a trial publishes as they were, where the default of the defense differs."""
    bucketized = made.releases[0].bucketized
    if bucketized == is_bucketized(defense):
        return []
    return ["--bucketized" if bucketized else "--generalized"]


DETAILS = {RECORDS: INFORMED, LEARNED: LEARNED}
"""Adversary of the tables of respondents, by the value of --knowledge."""


def _check_options(context: typer.Context, attack: str, statements: Path | None) -> None:
    """Raise ValueError if an option is given that the attack does not read."""
    options = {name: (*read, *SHARED_OPTIONS) for name, read in ATTACK_OPTIONS.items()}
    refuse_unread_options(context, "attack", attack, {**options, attack: (*attack_options(attack), *SHARED_OPTIONS)})
    if attack == "maxent" and statements is None:
        raise ValueError("--attack maxent takes --statements, and none are given; name a file of statements.")


SHARED_OPTIONS = (*KNOWLEDGE_OPTIONS, "knowledge", "solver")
"""Options of attacks that the two adversaries of the report read, whatever the other attack is."""


def _check_output(out: Path, overwrite: bool, inputs: list[Path]) -> None:
    """Raise ValueError, with the option in the message, unless the page may be written."""
    try:
        check_page_path(out, overwrite, inputs)
        check_output(out.parent, [settings_path(out).name], inputs, overwrite)
    except ValueError as error:
        raise ValueError(f"--out {str(error).replace('overwrite=True', '--overwrite')}") from None


def _also(chosen: AttackSettings, read: Attacked) -> dict[str, Attack]:
    """The attack of --attack, if it is another than the joint attack, with its name on the page."""
    return {} if chosen.name == "joint" else {f"--attack {chosen.name}": chosen_attack(chosen, read)}


def _source(corpus: Path | None) -> str:
    """Sentence on the source of the informed adversary's knowledge."""
    source = "the original records" if corpus is None else f"the records of {corpus.name}"
    return f"The informed adversary learned frequencies and changes of values from {source}."
