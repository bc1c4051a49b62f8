"""The command `foreknow publish`: group the records of each release, and write the published table and the key."""

from pathlib import Path
from typing import Any, cast

import typer

from foreknow.defenses import Defense, publish
from foreknow.evaluation.cli.adversary_knowledge import assumed_adversary
from foreknow.evaluation.cli.commands.publish_options import (
    Bucketized,
    Corpus,
    DefenseName,
    Deterministic,
    Generalized,
    Infeasible,
    InfeasibleRule,
    J,
    K,
    L,
    LeftoversRule,
    M,
    Out,
    Patience,
    QuoteFormulas,
    Seed,
    Tolerance,
)
from foreknow.evaluation.cli.commands.publish_output import checked_output, write_output
from foreknow.evaluation.cli.commands.publish_report import notice_codes, notice_risks, report_cost, say_paths
from foreknow.evaluation.cli.defense_choices import (
    BUILT_IN,
    DefenseChoice,
    DefenseOptions,
    defense_choice,
    seeded_generator,
)
from foreknow.evaluation.cli.files.checksums import settings
from foreknow.evaluation.cli.files.columns import Columns
from foreknow.evaluation.cli.files.input_files import time_column
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
    Beta,
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
    T,
    Time,
    given_options,
    learning,
    refuse_unread_options,
)
from foreknow.evaluation.cli.printing.terminal import tracked
from foreknow.models import History, Release


def publish_command(
    context: typer.Context,
    records: Records,
    qi: QuasiIdentifiers,
    out: Out,
    sensitive: Sensitive,
    corpus: Corpus = None,
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
    defense: DefenseName = "js-reduce",
    k: K = 3,
    l: L = None,  # noqa: E741
    t: T = None,
    beta: Beta = None,
    j: J = None,
    m: M = None,
    leftovers: LeftoversRule = None,
    patience: Patience = 50,
    seed: Seed = None,
    tolerance: Tolerance = 0.0,
    deterministic: Deterministic = False,
    infeasible: InfeasibleRule = Infeasible["raise"],
    bucketized: Bucketized = False,
    generalized: Generalized = False,
    quote_formulas: QuoteFormulas = False,
    overwrite: Overwrite = False,
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: PseudoCount = 0.1,
    revision: RevisionChoice = Revision["filter"],
    gaps: GapsChoice = Gaps["ignore"],
) -> None:
    """Group the records of each release, and write the published table and the key.

    FOLDER/public holds published.csv, which is for the public, and release.json, which describes how it was made.

    FOLDER/private holds the key, readable by you only: groups.csv names the group of each record (-1: suppressed; a row without
    a respondent: a counterfeit). The key undoes the publication. foreknow attack reads it.

    Defaults of thresholds: -t 0.5 for js-reduce and uhra, --beta 5 for bkaa and k-primacy.

    The defenses js-reduce, bkaa, uhra and k-primacy assume an adversary who knows the class frequencies of the records, and the
    Markov chain of the records before each release. All records count, so publish each release once, and name a --corpus for the
    next.
    """
    # Options and output folders are refused before a file is read, files before anything is computed.
    choice = _checked_choice(context, defense)
    output = checked_output(records, corpus, out, overwrite)
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
    history, learned = _read(columns, records, corpus)
    rule, limit = None if leftovers is None else leftovers.value, patience or None
    given = given_options(context)
    chosen = choice.make(DefenseOptions(k, l, t, j, beta, m, rule, limit, seed, deterministic, tolerance, given))
    adversary = None
    if choice.assumes_adversary:
        adversary = assumed_adversary(history, learned, learning(classes, order, pseudo_count, revision, gaps))
    releases = publish(
        history,
        chosen,
        adversary,
        _bucketized(bucketized, generalized),
        infeasible=cast(Any, infeasible.value),
        rng=seeded_generator(seed, 1),
        progress=lambda views: tracked(views, "publishing"),
    )
    _check_any_group(releases, chosen)
    formulas = write_output(output, releases, chosen, columns, quote_formulas)
    report_cost(releases, chosen)
    notice_risks(formulas, quote_formulas, seed)
    say_paths(out / output.table, out / output.key)


def _checked_choice(context: typer.Context, defense: str) -> DefenseChoice:
    """The defense of a name, if every option given is one that it reads.

    Raises
    ------
    ValueError
        As `refuse_unread_options`.
    """
    choice = defense_choice(defense)
    options = {name: built_in.options for name, built_in in BUILT_IN.items()} | {defense: choice.options}
    refuse_unread_options(context, "defense", defense, options)
    return choice


def _read(columns: Columns, records: Path, corpus: Path | None) -> tuple[History, History | None]:
    """Histories of the records and of the corpus, with one schema."""
    tables = columns.read(*(path for path in (records, corpus) if path is not None))
    schema = columns.schema(*tables)
    history = History.read(tables[0], schema, columns.time)
    notice_codes(schema, tables[0])
    return history, None if corpus is None else History.read(tables[1], schema, columns.time)


def _check_any_group(releases: tuple[Release, ...], defense: Defense) -> None:
    """Raise ValueError if all records of all releases are suppressed."""
    if not any(release.groups for release in releases):
        raise ValueError(
            f"{settings(defense)} finds no group of these records that satisfies its thresholds, so nothing would be published; "
            "choose weaker thresholds."
        )


def _bucketized(bucketized: bool, generalized: bool) -> bool | None:
    """The argument ``bucketized`` of `publish`; None is the default of the defense."""
    if bucketized and generalized:
        raise ValueError("--bucketized and --generalized exclude each other; leave one out.")
    return bucketized if bucketized or generalized else None
