"""The command `foreknow publish`: group the records of each release, and write the published table and the key."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer

from foreknow.defenses import Defense, publish
from foreknow.evaluation.cli import entry_points
from foreknow.evaluation.cli.adversary_knowledge import assumed_adversary
from foreknow.evaluation.cli.atomic_output import atomic_output, check_output, write_table
from foreknow.evaluation.cli.checksums import KEY, RELEASE, settings, write_key, write_release
from foreknow.evaluation.cli.column_checks import possible_codes
from foreknow.evaluation.cli.columns import Columns
from foreknow.evaluation.cli.defense_choices import BUILT_IN, DefenseOptions, defense_choice, seeded_generator
from foreknow.evaluation.cli.formulas import formula_cells, without_formulas
from foreknow.evaluation.cli.options import (
    KNOWLEDGE_PANEL,
    OUTPUT_PANEL,
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
from foreknow.evaluation.cli.printed_table import PrintedTable
from foreknow.evaluation.cli.release_files import key_table, published_table
from foreknow.evaluation.cli.terminal import notice, say, show, tracked
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.models import History, Release, Schema

PUBLIC, PRIVATE = "public", "private"
"""Folders of the output."""

SUPPRESSION_TO_REPORT = 0.2
"""Share of suppressed records above which the command prints advice."""

Leftovers = StrEnum("Leftovers", ["suppress", "join", "relax", "counterfeit"])
Infeasible = StrEnum("Infeasible", ["raise", "suppress"])


def _check_defense(name: str) -> str:
    return entry_points.checked_name("defense", name, BUILT_IN)


def publish_command(
    context: typer.Context,
    records: Records,
    qi: QuasiIdentifiers,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            rich_help_panel=OUTPUT_PANEL,
            help="Folder for public/published.csv and private/groups.csv.",
        ),
    ],
    sensitive: Sensitive,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=KNOWLEDGE_PANEL,
            help="Records from which the assumed adversary learned; by default the records themselves. Read by defenses that "
            "assume an adversary: js-reduce, bkaa, uhra, k-primacy.",
        ),
    ] = None,
    id_: Respondent = "id",
    time: Time = "week",
    hierarchy: Hierarchies = [],  # noqa: B006 - Typer reads it, nothing writes it
    categorical: Categorical = [],  # noqa: B006
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
    defense: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            callback=_check_defense,
            help=f"Defense that groups the records: {', '.join(entry_points.choice_names('defense', BUILT_IN))}.",
        ),
    ] = "js-reduce",
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="Least number of records in a group.")] = 3,
    l: Annotated[  # noqa: E741
        int | None,
        typer.Option(
            "-l",
            min=1,
            metavar="N",
            help="Least number of distinct sensitive values in a group, 2 by default; for anatomy and mask, a value has at most "
            "1/l of a group. With js-reduce, bkaa and uhra, -l 1 requires no diversity.",
        ),
    ] = None,
    t: T = None,
    beta: Beta = None,
    j: Annotated[
        float | None,
        typer.Option(
            "-j",
            min=0,
            metavar="X",
            help="Greatest Jensen-Shannon divergence between the beliefs about members of a group; 0.6 by default.",
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option(
            "-m",
            min=1,
            metavar="N",
            help="m-invariance: number of distinct values in a group's signature; 2 by default.",
        ),
    ] = None,
    leftovers: Annotated[
        Leftovers | None,
        typer.Option(
            metavar="RULE",
            help="js-reduce, bkaa: records that fit no group are suppressed (suppress, default of js-reduce), added to a group "
            "(join, default of bkaa), grouped with relaxed thresholds (relax), or completed by counterfeits (counterfeit).",
        ),
    ] = None,
    patience: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="js-reduce, bkaa: greatest number of records of a group that does not satisfy yet; 0 means no limit, as printed "
            "in the papers.",
        ),
    ] = 50,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Seed for repeatable experiments. A seed can be found by trial, and undoes the publication. By default, 128 "
            "bits of fresh entropy.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="X",
            help="uhra, k-primacy: distance within which beliefs are clustered as one, for more than 30,000 distinct beliefs.",
        ),
    ] = 0.0,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="anatomy, injector, m-invariance: group neighbours instead of drawing. Queries are answered more precisely, but "
            "an adversary who knows the rule and the value of one respondent infers most of the others.",
        ),
    ] = False,
    infeasible: Annotated[
        Infeasible,
        typer.Option(
            metavar="RULE",
            help="A release that cannot be published: stop with an error (raise), or suppress all its records (suppress).",
        ),
    ] = Infeasible["raise"],
    bucketized: Annotated[
        bool,
        typer.Option(
            "--bucketized",
            rich_help_panel=OUTPUT_PANEL,
            help="Publish exact quasi-identifiers, whatever the default of the defense.",
        ),
    ] = False,
    generalized: Annotated[
        bool,
        typer.Option(
            "--generalized",
            rich_help_panel=OUTPUT_PANEL,
            help="Publish generalized quasi-identifiers, whatever the default of the defense.",
        ),
    ] = False,
    quote_formulas: Annotated[
        bool,
        typer.Option(
            "--quote-formulas",
            rich_help_panel=OUTPUT_PANEL,
            help="Write an apostrophe before published cells that a spreadsheet would run as formulas: those that begin with =, +, "
            "- or @.",
        ),
    ] = False,
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
    choice = defense_choice(defense)
    options = {name: built_in.options for name, built_in in BUILT_IN.items()} | {defense: choice.options}
    refuse_unread_options(context, "defense", defense, options)
    sources = [path for path in (records, corpus) if path is not None]
    table_path, key_path = _output_names(records, out, sources, overwrite)
    columns = Columns(
        id_, time, sensitive, tuple(qi), tuple(hierarchy), tuple(categorical), encoding, tuple(missing_value)
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
    table = published_table(releases, time)
    with atomic_output(out, sources, overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(without_formulas(table) if quote_formulas else table, folder / table_path)
        write_release(folder / table_path, releases, chosen)
        write_table(key_table(releases, columns), folder / key_path, private=True)
        write_key(folder / key_path, folder / table_path, records)
    _report_cost(releases, chosen)
    _notice_risks(formula_cells(table), quote_formulas, seed)
    say(
        f"For the public: {out / table_path}, and {RELEASE} beside it.",
        f"The key, for you alone: {out / key_path}. It names the group of each record and undoes the publication: keep it apart.",
    )


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


def _output_names(records: Path, out: Path, sources: list[Path], overwrite: bool) -> tuple[Path, Path]:
    """Names of the published table and of the key within the output folder, if they may be written there.

    Raises
    ------
    ValueError
        As `check_output`; if the public folder holds a published table in the other file format, which would remain there.
    """
    ending = records.suffix.lower()
    table, key = Path(PUBLIC, f"published{ending}"), Path(PRIVATE, f"groups{ending}")
    check_output(out, [table, Path(PUBLIC, RELEASE), key, Path(PRIVATE, KEY)], sources, overwrite)
    other = out / table.with_suffix(".csv" if table.suffix == ".parquet" else ".parquet")
    if other.exists():
        raise ValueError(
            f"{other} is there from another run, and would be published beside {table.name}; move it away, or name another folder."
        )
    return table, key


def notice_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that are read as numbers and may be codes."""
    if names := possible_codes(schema, table):
        options = " ".join(f"--categorical {name}" for name in names)
        notice(f"Read as numbers, with few distinct values: {', '.join(names)}. If they are codes, add {options}.")


def _report_cost(releases: tuple[Release, ...], defense: Defense) -> None:
    """Print the information loss of a publication, and the notes that its readers need."""
    cost = suppressed(releases).merge(gcp(releases)[["time", "normalized"]], on="time")
    cost = cost.drop(columns=[name for name in ("distorted", "counterfeits") if not cost[name].any()])
    cost.insert(1, "groups", [release.groups for release in releases])
    show(PrintedTable(cost.rename(columns={"normalized": "gcp", "suppressed_share": "share"}), settings(defense)))
    share = cost["suppressed"].sum() / cost["records"].sum()
    if share > SUPPRESSION_TO_REPORT:
        notice(
            f"{share:.0%} of the records are suppressed; choose weaker thresholds, another defense, --patience or --leftovers."
        )
    if any(release.bucketized for release in releases):
        notice(
            "Within a group, quasi-identifiers and sensitive values are sorted separately: a common row means nothing. "
            "Tell the readers of the table."
        )
    for release in releases:
        for note in release.grouping.notes:
            notice(f"at {release.time}: {note}")


def _notice_risks(formulas: int, quoted: bool, seed: int | None) -> None:
    """Print the number of published cells that a spreadsheet would run, and the danger of a seed."""
    if formulas and quoted:
        notice(f"{formulas} published cells begin like formulas, and were written with an apostrophe before them.")
    elif formulas:
        notice(
            f"{formulas} published cells begin like formulas (= + - @), which a spreadsheet may run; --quote-formulas writes an "
            "apostrophe before them."
        )
    if seed is not None:
        notice(
            "--seed is for experiments: a seed that is found by trial undoes the publication. Publish without --seed."
        )
