"""The command `foreknow attack`: the beliefs of an adversary in published groups, and their risk."""

from pathlib import Path

import typer

from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.evaluation.cli.attack_choices import ATTACK_OPTIONS, attack_options
from foreknow.evaluation.cli.commands.attack_making import Attacked, AttackSettings, chosen_attack
from foreknow.evaluation.cli.commands.attack_options import (
    AttackName,
    AttributeSets,
    Corpus,
    EstimatorName,
    Forward,
    Groups,
    K,
    Knowledge,
    KnowledgeSource,
    L,
    Out,
    R,
    SensitiveSetValues,
    SolverName,
    Statements,
    Support,
)
from foreknow.evaluation.cli.commands.attack_report import report_attack
from foreknow.evaluation.cli.commands.publish_report import notice_codes
from foreknow.evaluation.cli.files.atomic_output import atomic_output, check_output, output_suffix, write_table
from foreknow.evaluation.cli.files.checksums import KEY, check_key
from foreknow.evaluation.cli.files.columns import Columns
from foreknow.evaluation.cli.files.input_files import time_column
from foreknow.evaluation.cli.files.release_files import read_releases
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
from foreknow.evaluation.cli.printing.attack_tables import posterior_table
from foreknow.evaluation.cli.printing.terminal import error_console, notice, say, tracked
from foreknow.models import Beliefs, History, Release


def attack_command(
    context: typer.Context,
    records: Records,
    qi: QuasiIdentifiers,
    sensitive: Sensitive,
    groups: Groups = None,
    corpus: Corpus = None,
    knowledge: Knowledge = None,
    out: Out = None,
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
    forward: Forward = False,
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
    """Attack published groups, and print the risk at each release: the adversary's gain, confidence and success.

    The attacks joint, sequential, snapshot, retrospective and signature have an adversary, who knows a prior and a Markov chain:
    learned from a --corpus or, without one, from the releases alone, by expectation-maximization (--knowledge).

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
    _check_options(context, attack, statements, corpus, knowledge)
    keep = [path for path in (records, corpus, groups, statements) if path is not None]
    beliefs_name = f"beliefs{output_suffix(records)}"
    if out is not None:
        check_output(out, [beliefs_name], keep, overwrite)
    mark = separator_character(separator)
    rules = cleaning(equal_values, missing, duplicates, time_format, decimal)
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
        rules,
    )
    read = _read(columns, records, groups, corpus, statements)
    known = learning(classes, order, pseudo_count, revision, gaps)
    source = None if knowledge is None else knowledge.value
    chosen = AttackSettings(
        attack, estimator, solver, forward, sensitive_set, attribute_set, support, r, k, l, source, known
    )
    attacker = chosen_attack(chosen, read)
    beliefs = _beliefs(attack, attacker, read.releases)
    sequential = _sequential_beside(attacker, read.releases)
    if out is not None:
        with atomic_output(out, keep, overwrite) as folder:
            write_table(posterior_table(beliefs, columns.time), folder / beliefs_name, private=True)
    report_attack(chosen, attacker, beliefs, sequential, read.history)
    if out is not None:
        say(f"Posterior beliefs about each respondent, for you alone: {out / beliefs_name}.")


def _check_options(
    context: typer.Context,
    attack: str,
    statements: Path | None,
    corpus: Path | None,
    knowledge: KnowledgeSource | None,
) -> None:
    """Raise ValueError if an option is given that the attack does not read, or options do not fit together."""
    refuse_unread_options(context, "attack", attack, {**ATTACK_OPTIONS, attack: attack_options(attack)})
    if attack == "maxent" and statements is None:
        raise ValueError(
            "maxent takes --statements, and none are given; without them, beliefs are the shares of each group."
        )
    if corpus is not None and knowledge is not None:
        raise ValueError(
            f"--corpus and --knowledge {knowledge.value} exclude each other: with a corpus, the adversary learned from it."
        )


def _read(
    columns: Columns, records: Path, groups: Path | None, corpus: Path | None, statements: Path | None
) -> Attacked:
    """The records and their releases, the corpus and the statements, with one schema."""
    tables = columns.read(*(path for path in (records, corpus) if path is not None))
    schema = columns.schema(*tables)
    history, releases = read_releases(tables[0], groups, columns, schema)
    _notice_unchecked_key(groups, records)
    notice_codes(schema, tables[0])
    taught = None if corpus is None else History.read(tables[1], schema, columns.time)
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
