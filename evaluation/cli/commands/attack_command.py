"""The command `foreknow attack`: the beliefs of an adversary in published groups, and their risk."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from foreknow.attacks import ATTACKS, Attack, ForegroundAttack, ForegroundBeliefs, JointAttack, SequentialAttack
from foreknow.evaluation.cli import entry_points
from foreknow.evaluation.cli.adversary_knowledge import learn_knowledge
from foreknow.evaluation.cli.attack_choices import (
    ATTACK_OPTIONS,
    DEFAULT_R,
    READS_NO_ESTIMATOR,
    WITHOUT_ADVERSARY,
    adversary_attack,
    attack_of_releases,
    attack_options,
    estimator_choice,
    foreground_attack,
    solver_choice,
)
from foreknow.evaluation.cli.commands.publish_report import notice_codes
from foreknow.evaluation.cli.files.atomic_output import atomic_output, check_output, write_table
from foreknow.evaluation.cli.files.checksums import KEY, check_key
from foreknow.evaluation.cli.files.columns import Columns
from foreknow.evaluation.cli.files.release_files import read_releases
from foreknow.evaluation.cli.files.statement_files import read_statements
from foreknow.evaluation.cli.options import (
    INPUT_PANEL,
    KNOWLEDGE_PANEL,
    OUTPUT_PANEL,
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
from foreknow.evaluation.cli.printing.attack_tables import (
    foreground_tables,
    joint_and_sequential,
    posterior_table,
    risk_tables,
)
from foreknow.evaluation.cli.printing.terminal import error_console, notice, say, show, tracked
from foreknow.models import ESTIMATORS, JOINT_SOLVERS, Beliefs, History, Release

JOINT_PANEL = "Joint attack"
"""Heading of the help text for the options that the joint attack alone reads."""

FOREGROUND_PANEL = "Foreground attack"
"""Heading of the help text for the options that the foreground attack alone reads."""


RULE_PANEL = "Maximum-entropy and minimality attack"
"""Heading of the help text for the options that one of these attacks reads."""


def _check_attack(name: str) -> str:
    return entry_points.checked_name("attack", name, ATTACKS)


def _check_estimator(name: str) -> str:
    return entry_points.checked_name("estimator", name, ESTIMATORS)


def _check_solver(name: str) -> str:
    if name not in JOINT_SOLVERS:
        raise typer.BadParameter(f"{name!r} is not a joint solver; choose one of {', '.join(JOINT_SOLVERS)}.")
    return name


def attack_command(
    context: typer.Context,
    records: Records,
    qi: QuasiIdentifiers,
    sensitive: Sensitive,
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=INPUT_PANEL,
            help="Group of each record; by default the column 'group' of the records.",
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=KNOWLEDGE_PANEL,
            help="Records from which the adversary learned; by default the published records themselves, the strongest knowledge.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            rich_help_panel=OUTPUT_PANEL,
            help="Folder for beliefs.csv, the posterior of each respondent at every release, readable by you only.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    id_: Respondent = "id",
    time: Time = "week",
    hierarchy: Hierarchies = [],  # noqa: B006 - Typer reads it, nothing writes it
    categorical: Categorical = [],  # noqa: B006
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
    attack: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=_check_attack,
            help=f"Attack: {', '.join(entry_points.choice_names('attack', ATTACKS))}. joint reads all releases together, "
            "sequential remembers earlier releases, snapshot reads each release alone, retrospective smooths the beliefs about "
            "each respondent, signature knows m-invariance, "
            "foreground and definetti learn from the groups themselves, composition intersects the groups of a respondent, maxent "
            "uses --statements, minimality knows the rule of mondrian.",
        ),
    ] = "joint",
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=_check_solver,
            rich_help_panel=JOINT_PANEL,
            help=f"Solver of the joint law: {', '.join(JOINT_SOLVERS)}.",
        ),
    ] = "max-entropy",
    forward: Annotated[
        bool,
        typer.Option(
            "--forward",
            rich_help_panel=JOINT_PANEL,
            help="Beliefs about each release given the releases up to it; by default given all releases, in hindsight.",
        ),
    ] = False,
    estimator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=_check_estimator,
            help=f"Posterior estimator: {', '.join(entry_points.choice_names('estimator', ESTIMATORS))}. The joint attack has "
            "none; the sequential attack beside it reads this option.",
        ),
    ] = "auto",
    sensitive_set: Annotated[
        list[str],
        typer.Option(
            metavar="VALUE",
            rich_help_panel=FOREGROUND_PANEL,
            help="Sensitive value to protect. Repeatable; by default every value is a set of its own.",
        ),
    ] = [],  # noqa: B006
    attribute_set: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMNS",
            rich_help_panel=FOREGROUND_PANEL,
            help="Attribute set, such as age,sex. Repeatable; by default all subsets of the quasi-identifiers.",
        ),
    ] = [],  # noqa: B006
    support: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=FOREGROUND_PANEL,
            help="Least number of respondents with an attribute signature; 3993 by default.",
        ),
    ] = None,
    r: Annotated[
        float | None,
        typer.Option(
            "-r",
            min=1,
            metavar="X",
            rich_help_panel=FOREGROUND_PANEL,
            help="A belief in the sensitive set over 1/r is a breach; 2 by default.",
        ),
    ] = None,
    statements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=RULE_PANEL,
            help="For maxent: a table of statements P(value | attributes), with the columns value, low, high and attributes.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            min=1,
            metavar="N",
            rich_help_panel=RULE_PANEL,
            help="For minimality: least number of records of a group; 1 by default.",
        ),
    ] = None,
    l: Annotated[  # noqa: E741 - the name of the option
        int | None,
        typer.Option(
            "-l",
            min=1,
            metavar="N",
            rich_help_panel=RULE_PANEL,
            help="For minimality: least number of distinct values in a group; 2 by default.",
        ),
    ] = None,
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: PseudoCount = 0.1,
    revision: RevisionChoice = Revision["filter"],
    gaps: GapsChoice = Gaps["ignore"],
) -> None:
    """Attack published groups, and print the risk at each release: the adversary's gain, confidence and success.

    The attacks joint, sequential, snapshot and signature have an adversary, who learned a prior and a Markov chain from a corpus.

    The joint attack reasons over all respondents and all releases together, and in hindsight: later releases disclose what
    earlier ones hid. The sequential attack, release by release, is printed beside it.

    The foreground attack needs no prior knowledge: it learns global distributions from the published groups, and infers from
    them the values of the group members. With a --sensitive-set, breaches are printed as well. The definetti attack does so with
    all attributes at once, by naive Bayes.

    Composition assumes that values do not change. Maxent takes each release alone, with --statements. Minimality knows that the
    groups are those of foreknow publish --defense mondrian with -k and -l.

    A file of --groups that foreknow publish wrote must belong to the records and to the published table; the checksums beside the
    file are compared.
    """
    # Options and output folders are refused before a file is read, files before anything is computed.
    refuse_unread_options(context, "attack", attack, {**ATTACK_OPTIONS, attack: attack_options(attack)})
    sources = [path for path in (records, corpus) if path is not None]
    if attack == "maxent" and statements is None:
        raise ValueError(
            "maxent takes --statements, and none are given; without them, beliefs are the shares of each group."
        )
    beliefs_name = f"beliefs{records.suffix.lower()}"
    keep = [*sources, *(path for path in (groups, statements) if path is not None)]
    if out is not None:
        check_output(out, [beliefs_name], keep, overwrite)
    columns = Columns(
        id_, time, sensitive, tuple(qi), tuple(hierarchy), tuple(categorical), encoding, tuple(missing_value)
    )
    tables = columns.read(*sources)
    schema = columns.schema(*tables)
    history, releases = read_releases(tables[0], groups, columns, schema)
    _notice_unchecked_key(groups, records)
    notice_codes(schema, tables[0])
    attacker: Attack
    if attack == "foreground":
        attacker = foreground_attack(schema, sensitive_set, attribute_set, support, r, estimator_choice(estimator))
    elif attack in WITHOUT_ADVERSARY:
        stated = [] if statements is None else read_statements(statements, schema, encoding)
        attacker = attack_of_releases(attack, estimator_choice(estimator), stated, k, l)
    else:
        if corpus is None:
            notice("No --corpus: the adversary learns from the published records themselves.")
        known = learning(classes, order, pseudo_count, revision, gaps)
        knowledge = learn_knowledge(History.read(tables[-1], schema, time), known)
        adversary = known.adversary(knowledge.prior, knowledge.transitions, estimator_choice(estimator))
        attacker = adversary_attack(attack, adversary, solver_choice(solver), forward)
    beliefs = _beliefs(attack, attacker, releases)
    sequential = _sequential_beside(attacker, releases)
    if out is not None:
        with atomic_output(out, keep, overwrite) as folder:
            write_table(posterior_table(beliefs, time), folder / beliefs_name, private=True)
    if sequential is not None:
        _show_all(joint_and_sequential(beliefs, sequential, history, forward))
    _report(beliefs, history, attacker, r or DEFAULT_R, _title(attack, estimator, solver, forward))
    for note in () if sequential is None else sequential.notes:
        notice(f"Sequential attack: {note}")
    if out is not None:
        say(f"Posterior beliefs about each respondent, for you alone: {out / beliefs_name}.")


def _notice_unchecked_key(groups: Path | None, records: Path) -> None:
    """Print a notice if no checksums beside the file of groups list it.

    Raises
    ------
    ValueError
        As `check_key`, if the checksums are those of other files.
    """
    if groups is not None and not check_key(groups, records):
        notice(f"No {KEY} beside {groups} lists it: it is not checked that it belongs to {records}.")


def _beliefs(name: str, attack: Attack, releases: tuple[Release, ...]) -> Beliefs:
    """The beliefs of an attack.

    Raises
    ------
    ValueError
        If an attack of another package returns something else.
    """
    if isinstance(attack, JointAttack):
        with error_console.status("computing the joint law of all releases"):
            return attack(releases)
    beliefs = attack(tracked(releases, "attacking"))
    if not isinstance(beliefs, Beliefs):
        raise ValueError(f"the attack {name!r} returned a {type(beliefs).__name__}; an attack returns Beliefs.")
    return beliefs


def _sequential_beside(attack: Attack, releases: tuple[Release, ...]) -> Beliefs | None:
    """Beliefs of the sequential attack of the same adversary, for comparison with the joint attack; None for other attacks."""
    if not isinstance(attack, JointAttack):
        return None
    return SequentialAttack(attack.adversary)(tracked(releases, "attacking release by release"))


def _title(attack: str, estimator: str, solver: str, forward: bool) -> str:
    if attack == "joint":
        return f"joint attack, {solver} solver, {'forward' if forward else 'in hindsight'}"
    return f"{attack} attack" if attack in READS_NO_ESTIMATOR else f"{attack} attack, {estimator} posterior"


def _report(beliefs: Beliefs, history: History, attack: Attack, r: float, title: str) -> None:
    """Print the breaches of a foreground attack, the risk at each release, and the notes of the attack."""
    if isinstance(attack, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
        _show_all(foreground_tables(beliefs, history, attack.sensitive_set, r))
    _show_all(risk_tables(beliefs, history, title))
    for note in beliefs.notes:
        notice(note)


def _show_all(parts: Iterable[RenderableType]) -> None:
    for part in parts:
        show(part)
