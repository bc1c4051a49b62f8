"""The command `foreknow report`: one page on the risk of a publication, for its publisher."""

import secrets
from functools import partial
from pathlib import Path

import typer

from foreknow.attacks import Attack
from foreknow.evaluation.cli.adversary_knowledge import assumed_adversary
from foreknow.evaluation.cli.attack_choices import ATTACK_OPTIONS, attack_options, estimator_choice, solver_choice
from foreknow.evaluation.cli.commands.attack_making import RECORDS, Attacked, AttackSettings, chosen_attack
from foreknow.evaluation.cli.commands.attack_options import (
    AttackName,
    AttributeSets,
    Corpus,
    EstimatorName,
    K,
    L,
    R,
    SensitiveSetValues,
    SolverName,
    Statements,
    Support,
)
from foreknow.evaluation.cli.commands.report_making import informed_of, learned_of, read_or_publish
from foreknow.evaluation.cli.commands.report_options import Details, Groups, Names, Page, Seed, Stricter, Sure
from foreknow.evaluation.cli.defense_choices import KNOWLEDGE_OPTIONS
from foreknow.evaluation.cli.files.checksums import KEY, check_key
from foreknow.evaluation.cli.files.columns import Columns
from foreknow.evaluation.cli.files.input_files import time_column
from foreknow.evaluation.cli.files.statement_files import read_statements
from foreknow.evaluation.cli.input_options import (
    Decimal,
    Duplicates,
    DuplicatesChoice,
    EqualValues,
    EqualValuesChoice,
    MissingCells,
    MissingChoice,
    Numbers,
    Separator,
    TimeFormat,
    cleaning,
    separator_character,
)
from foreknow.evaluation.cli.options import (
    Categorical,
    Classes,
    Encoding,
    Gaps,
    GapsChoice,
    Hierarchies,
    Missing,
    Order,
    Overwrite,
    PseudoCount,
    QuasiIdentifiers,
    Records,
    Respondent,
    Revision,
    RevisionChoice,
    Sensitive,
    Time,
    learning,
    refuse_unread_options,
)
from foreknow.evaluation.cli.printing.terminal import error_console, notice, say
from foreknow.evaluation.report.adversaries import INFORMED, LEARNED
from foreknow.evaluation.report.page import check_packages
from foreknow.evaluation.report.report import check_page_path, report
from foreknow.evaluation.report.sentences import best_settings
from foreknow.models import History


def report_command(
    context: typer.Context,
    records: Records,
    qi: QuasiIdentifiers,
    sensitive: Sensitive,
    out: Page,
    groups: Groups = None,
    names: Names = False,
    sure: Sure = 0.9,
    stricter: Stricter = 3,
    seed: Seed = None,
    corpus: Corpus = None,
    knowledge: Details = None,
    overwrite: Overwrite = False,
    id_: Respondent = "id",
    time: Time = None,
    hierarchy: Hierarchies = [],  # noqa: B006 - Typer reads it, nothing writes it
    categorical: Categorical = [],  # noqa: B006
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
    separator: Separator = None,
    equal_values: EqualValuesChoice = EqualValues["refuse"],
    missing: MissingChoice = MissingCells["refuse"],
    duplicates: DuplicatesChoice = Duplicates["refuse"],
    time_format: TimeFormat = None,
    number: Numbers = [],  # noqa: B006
    decimal: Decimal = None,
    attack: AttackName = "joint",
    solver: SolverName = "max-entropy",
    estimator: EstimatorName = "auto",
    sensitive_set: SensitiveSetValues = [],  # noqa: B006
    attribute_set: AttributeSets = [],  # noqa: B006
    support: Support = None,
    r: R = None,
    statements: Statements = None,
    k: K = None,
    l: L = None,  # noqa: E741 - the name of the option
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: PseudoCount = 0.1,
    revision: RevisionChoice = Revision["filter"],
    gaps: GapsChoice = Gaps["ignore"],
) -> None:
    """Write one page on the risk of a publication: a verdict, who is exposed and why, and what to change.

    The page is a file for your browser, and loads nothing from the network. It has true values: keep it as you keep the records.

    It shows two adversaries, by the joint attack: one who knows the prior and the transitions of the records or of a --corpus,
    and one who learned them from the releases alone. --attack adds another attack to the table of all attacks.

    With --groups of foreknow publish, three stricter settings of the same defense are tried, with their price.
    """
    # Options and output are refused before a file is read, files before anything is computed.
    _check_options(context, attack, statements, sure)
    inputs = [path for path in (records, groups, corpus, statements) if path is not None]
    _check_output(out, overwrite, inputs)
    check_packages()
    mark = separator_character(separator)
    columns = Columns(
        id_,
        time_column(time, records, encoding, mark),
        sensitive,
        tuple(qi),
        tuple(hierarchy),
        tuple(categorical),
        encoding,
        tuple(missing_value),
        mark,
        tuple(number),
        cleaning(equal_values, missing, duplicates, time_format, decimal),
    )
    tables = columns.read(*(path for path in (records, corpus) if path is not None))
    schema = columns.schema(*tables)
    taught = None if corpus is None else History.read(tables[1], schema, columns.time)
    if groups is not None and not check_key(groups, records):
        notice(f"No {KEY} beside {groups} lists it: it is not checked that it belongs to {records}.")
    known = learning(classes, order, pseudo_count, revision, gaps)
    used = secrets.randbits(32) if seed is None else seed
    made = read_or_publish(tables[0], groups, columns, schema, taught, known, used)
    stated = [] if statements is None else read_statements(statements, schema, columns.encoding)
    chosen = AttackSettings(
        attack, estimator, solver, False, sensitive_set, attribute_set, support, r, k, l, RECORDS, known
    )
    also = _also(chosen, Attacked(schema, made.history, made.releases, taught, stated))
    with error_console.status("attacking, and trying stricter settings"):
        found = report(
            made.releases,
            informed_of(made.history if taught is None else taught, known, estimator_choice(estimator)),
            partial(learned_of, learning=known, estimator=estimator_choice(estimator)),
            also=also,
            defense=made.defense,
            defender=assumed_adversary(made.history, taught, known),
            solver=solver_choice(solver),
            sure=sure,
            details=None if knowledge is None else DETAILS[knowledge.value],
            names=names,
            stricter=stricter,
            notes=[*made.notes, _source(corpus)],
            rng=used,
        )
        found.save(out, overwrite=overwrite)
    told = found.verdict
    say(f"{told.word}. {told.sentence}", *([f"What to change: {told.advice}"] if told.advice else []))
    say(f"The report, for you alone: {out}. Open it in a browser. Seed: {used}.")
    best, _ = best_settings(found.contents)
    if best is not None:
        name, _, value = str(best["setting"]).partition(" = ")
        say(f"Next: foreknow publish with -{name} {value}, and a report on that.")


DETAILS = {RECORDS: INFORMED, LEARNED: LEARNED}
"""Adversary of the tables of respondents, by the value of --knowledge."""


def _check_options(context: typer.Context, attack: str, statements: Path | None, sure: float) -> None:
    """Raise ValueError if an option is given that the attack does not read, or a number is out of range."""
    options = {name: (*read, *SHARED_OPTIONS) for name, read in ATTACK_OPTIONS.items()}
    refuse_unread_options(context, "attack", attack, {**options, attack: (*attack_options(attack), *SHARED_OPTIONS)})
    if attack == "maxent" and statements is None:
        raise ValueError("--attack maxent takes --statements, and none are given; name a file of statements.")
    if sure <= 0.5:
        raise ValueError(f"--sure {sure:g} is not over 0.5; a belief is sure of one value only from there on, as 0.9.")


SHARED_OPTIONS = (*KNOWLEDGE_OPTIONS, "knowledge", "solver")
"""Options of attacks that the two adversaries of the report read, whatever the other attack is."""


def _check_output(out: Path, overwrite: bool, inputs: list[Path]) -> None:
    """Raise ValueError, with the option in the message, unless the page may be written."""
    try:
        check_page_path(out, overwrite, inputs)
    except ValueError as error:
        raise ValueError(f"--out {str(error).replace('overwrite=True', '--overwrite')}") from None


def _also(chosen: AttackSettings, read: Attacked) -> dict[str, Attack]:
    """The attack of --attack, if it is another than the joint attack, with its name on the page."""
    return {} if chosen.name == "joint" else {f"--attack {chosen.name}": chosen_attack(chosen, read)}


def _source(corpus: Path | None) -> str:
    """Sentence on the source of the informed adversary's knowledge."""
    source = "the original records" if corpus is None else f"the records of {corpus.name}"
    return f"The informed adversary learned frequencies and changes of values from {source}."
