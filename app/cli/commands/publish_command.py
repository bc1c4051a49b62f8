"""The command `foreknow publish`: group the records of each release, and write the published table and the key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer

from foreknow.app.cli import entry_points
from foreknow.app.cli.adversary_knowledge import assumed_adversary
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.next_step import next_lines, option_text, paths_of, typed_lines, unused_path
from foreknow.app.cli.defense_choices import (
    BUILT_IN,
    KNOWLEDGE_OPTIONS,
    DefenseChoice,
    DefenseOptions,
    defense_choice,
    defense_text,
    fresh_seed,
    least_values_of,
    seeded_generator,
    which_defense,
)
from foreknow.app.cli.files.atomic_output import atomic_output, check_output, formula_cells, output_suffix, write_table
from foreknow.app.cli.files.columns import Columns, possible_codes
from foreknow.app.cli.files.release_files import RELEASE, key_table, published_table, write_key, write_release
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.options import (
    OUTPUT_PANEL,
    Beta,
    Block,
    DiskOptions,
    FromDisk,
    KnowledgeOptions,
    Overwrite,
    T,
    TableOptions,
    corpus_file,
    given_options,
    least_records,
    least_values,
    output_folder,
    refuse_unread_options,
)
from foreknow.app.cli.pictures import GROUP_SIZES, PICTURES, Pictures, draw_publication
from foreknow.app.cli.printing.compilation_notice import notice_publication
from foreknow.app.cli.printing.printed_table import PrintedTable, definitions
from foreknow.app.cli.printing.terminal import error_console, notice, say, show, tracked
from foreknow.app.report.respondents import percent
from foreknow.defenses import Defense, publish
from foreknow.evaluation.checks.certificate import FAILED, NOT_VERIFIED, Certificate, certificate, checksums_of
from foreknow.evaluation.checks.manifest import BEGUN, CERTIFICATE, MANIFEST, settings
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.models import History, Release, Schema

Leftovers = StrEnum("Leftovers", ["suppress", "join", "relax", "counterfeit"])
Infeasible = StrEnum("Infeasible", ["raise", "suppress"])


def _check_defense(name: str) -> str:
    return entry_points.checked_name("defense", name, BUILT_IN)


Out = Annotated[
    Path,
    output_folder("Folder for public/published.csv and private/groups.csv."),
]
Corpus = Annotated[
    Path | None,
    corpus_file(
        "Records from which the assumed adversary learned; by default the records themselves. Read by defenses that "
        "assume an adversary: js-reduce, bkaa, uhra, k-primacy."
    ),
]
DefenseName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_check_defense,
        help=f"Defense that groups the records: {', '.join(entry_points.choice_names('defense', BUILT_IN))}.",
    ),
]
K = Annotated[int, least_records("Least number of records in a group.")]
L = Annotated[
    int | None,
    least_values(
        "Least number of distinct sensitive values in a group, 2 by default; for anatomy and mask, a value has at most "
        "1/l of a group. With js-reduce, bkaa and uhra, -l 1 requires no diversity."
    ),
]
J = Annotated[
    float | None,
    typer.Option(
        "-j",
        min=0,
        metavar="X",
        help="Greatest Jensen-Shannon divergence between the beliefs about members of a group; 0.6 by default.",
    ),
]
M = Annotated[
    int | None,
    typer.Option(
        "-m",
        min=1,
        metavar="N",
        help="m-invariance: number of distinct values in a group's signature; 2 by default.",
    ),
]
LeftoversRule = Annotated[
    Leftovers | None,
    typer.Option(
        metavar="RULE",
        help="js-reduce, bkaa: records that fit no group are suppressed (suppress, default of js-reduce), added to a group "
        "(join, default of bkaa), grouped with relaxed thresholds (relax), or completed by counterfeits (counterfeit).",
    ),
]
Patience = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="js-reduce, bkaa: greatest number of records of a group that does not satisfy yet; 0 means no limit, as printed "
        "in the papers.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Seed for repeatable experiments. A seed can be found by trial, and undoes the publication. By default, 128 "
        "bits of fresh entropy, which are kept beside the key.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="X",
        help="uhra, k-primacy: distance within which beliefs are clustered as one, for more than 30,000 distinct beliefs.",
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="anatomy, injector, m-invariance: group neighbours instead of drawing. Queries are answered more precisely, but "
        "an adversary who knows the rule and the value of one respondent infers most of the others.",
    ),
]
InfeasibleRule = Annotated[
    Infeasible,
    typer.Option(
        metavar="RULE",
        help="A release that cannot be published: stop with an error (raise), or suppress all its records (suppress).",
    ),
]
Bucketized = Annotated[
    bool,
    typer.Option(
        "--bucketized",
        rich_help_panel=OUTPUT_PANEL,
        help="Publish exact quasi-identifiers, whatever the default of the defense.",
    ),
]
Generalized = Annotated[
    bool,
    typer.Option(
        "--generalized",
        rich_help_panel=OUTPUT_PANEL,
        help="Publish generalized quasi-identifiers, whatever the default of the defense.",
    ),
]
NoVerify = Annotated[
    bool,
    typer.Option(
        "--no-verify",
        rich_help_panel=OUTPUT_PANEL,
        help="Do not recompute the requirements from what is published; certificate.json then says that nothing was verified.",
    ),
]
QuoteFormulas = Annotated[
    bool | None,
    typer.Option(
        "--quote-formulas/--keep-formulas",
        rich_help_panel=OUTPUT_PANEL,
        show_default=False,
        help="Write an apostrophe before published cells that a spreadsheet would run as formulas, those that begin with =, +, - "
        "or @, or write them unchanged. By default they get one in CSV files, and stay in Parquet files.",
    ),
]


@dataclass(frozen=True)
class ThresholdOptions:
    """Thresholds and rules that define a defense."""

    k: K = 3
    l: L = None  # noqa: E741 - the name of the option
    t: T = None
    beta: Beta = None
    j: J = None
    m: M = None
    leftovers: LeftoversRule = None
    patience: Patience = 50
    tolerance: Tolerance = 0.0
    deterministic: Deterministic = False

    def options(self, seed: int, given: frozenset[str]) -> DefenseOptions:
        """The options as a defense is made of them."""
        rule, limit = None if self.leftovers is None else self.leftovers.value, self.patience or None
        return DefenseOptions(
            self.k,
            self.l,
            self.t,
            self.j,
            self.beta,
            self.m,
            rule,
            limit,
            seed,
            self.deterministic,
            self.tolerance,
            given,
        )


PUBLIC, PRIVATE = "public", "private"
"""Folders of the output."""


@dataclass(frozen=True)
class Output:
    """Output folder of a publication.

    Attributes
    ----------
    records : Path
        The records that are published.
    folder : Path
    sources : list of Path
        Input files, which are not overwritten.
    overwrite : bool
    pictures : bool
        Whether pictures are drawn, beside the key.
    """

    records: Path
    folder: Path
    sources: list[Path]
    overwrite: bool
    pictures: bool = False

    @property
    def table(self) -> Path:
        """Name of the published table within the folder; its file format is that of the records."""
        return Path(PUBLIC, f"published{output_suffix(self.records)}")

    @property
    def key(self) -> Path:
        """Name of the key within the folder."""
        return Path(PRIVATE, f"groups{output_suffix(self.records)}")


def checked_output(records: Path, corpus: Path | None, out: Path, overwrite: bool, pictures: bool) -> Output:
    """Output folder, if the published table and the key may be written there.

    Raises
    ------
    ValueError
        As `check_output`; if the public folder holds a published table in the other file format, or the folder a publication from
        disk, which would remain there.
    """
    output = Output(records, out, [path for path in (records, corpus) if path is not None], overwrite, pictures)
    table, key = output.table, output.key
    names = [table, *(Path(PUBLIC, name) for name in (RELEASE, CERTIFICATE))]
    names += [key, *(Path(PRIVATE, name) for name in (MANIFEST, SETTINGS))]
    check_output(out, [*names, *([Path(PRIVATE, GROUP_SIZES)] if pictures else [])], output.sources, overwrite)
    if (out / PRIVATE / BEGUN).exists():
        raise ValueError(
            f"{out} holds a publication from disk, whose files would remain; name another folder, or --from-disk."
        )
    other = out / table.with_suffix(".csv" if table.suffix == ".parquet" else ".parquet")
    if other.exists():
        raise ValueError(
            f"{other} is there from another run, and would be published beside {table.name}; move it away, or name another folder."
        )
    return output


def quotes_formulas(output: Output, asked: bool | None) -> bool:
    """True if formulas of the published table get an apostrophe: as asked, or by default in a CSV file."""
    return output.table.suffix == ".csv" if asked is None else asked


def write_output(
    output: Output,
    releases: tuple[Release, ...],
    defense: Defense,
    columns: Columns,
    quote_formulas: bool | None,
    run: dict[str, Any],
    stated: Certificate,
) -> int:
    """Write the published table, its description, its certificate, the key and the settings of the run.

    Returns the number of cells that begin like formulas.
    """
    table = published_table(releases, columns.time)
    with atomic_output(output.folder, output.sources, output.overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(table, folder / output.table, formulas=not quotes_formulas(output, quote_formulas))
        write_release(folder / output.table, releases, defense, columns.published)
        public = [folder / output.table, folder / PUBLIC / RELEASE]
        replace(stated, files=checksums_of(public)).write(folder / PUBLIC / CERTIFICATE)
        write_table(key_table(releases, columns), folder / output.key, private=True)
        write_settings(folder / PRIVATE / SETTINGS, run)
        if output.pictures:
            draw_publication(folder / PRIVATE, releases, type(defense).__name__)
        write_key(folder / output.key, folder / output.table, output.records)
    return formula_cells(table)


SUPPRESSION_TO_REPORT, MOST = 0.2, 0.5
"""Shares of suppressed records above which the command prints advice, and a warning."""


COST_TERMS = {
    "records": "number of records before suppression",
    "share": "share of the records that are suppressed",
    "gcp": "generalization of a published record: 0 exact, 1 no information",
}
"""Meaning of the columns of the cost of a publication."""


def notice_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that are read as numbers and may be codes."""
    if names := possible_codes(schema, table):
        options = " ".join(f"--categorical {name}" for name in names)
        notice(f"Read as numbers, with few distinct values: {', '.join(names)}. If they are codes, add {options}.")


def check_any_group(releases: Iterable[Any], defense: Defense, schema: Schema) -> None:
    """Raise ValueError if no release, in memory or on disk, has a group; with the cause, where all records have one value."""
    if any(release.groups for release in releases):
        return
    if len(schema.values) == 1 and (least := least_values_of(defense)) > 1:
        raise ValueError(
            f"{defense_text(defense)} needs {least:g} distinct values of {schema.sensitive!r} in each group, and all records have "
            f"one, {schema.values[0]!r}; any published table would tell it. Name another --sensitive column, or more records."
        )
    raise ValueError(
        f"{defense_text(defense)} finds no group of these records that satisfies its thresholds, so nothing would be "
        "published; choose weaker thresholds."
    )


def cost_per_release(releases: Sequence[Release]) -> pd.DataFrame:
    """Groups, suppressed records and generalization, one row per release."""
    cost = suppressed(releases).merge(gcp(releases)[["time", "gcp"]], on="time")
    cost.insert(1, "groups", [release.groups for release in releases])
    return cost


def suppressed_share(releases: Sequence[Release]) -> float:
    """Share of suppressed records of all releases; 0 without a record."""
    cost = suppressed(releases)
    return float(cost["suppressed"].sum() / max(cost["records"].sum(), 1))


def notice_suppression(releases: Sequence[Release]) -> None:
    """Print a warning if most records are suppressed."""
    cost = suppressed(releases)
    lost, records = int(cost["suppressed"].sum()), int(cost["records"].sum())
    if lost > MOST * records:
        notice(
            f"WARNING: {lost:,} of {records:,} records ({percent(lost / records)}) are suppressed. The table tells little, and a "
            "low risk is that of the few records that are left."
        )


def report_cost(releases: tuple[Release, ...], defense: Defense) -> None:
    """Print the information loss of a publication, and the notes that its readers need."""
    cost = cost_per_release(releases)
    shown = cost.drop(columns=[name for name in ("distorted", "counterfeits") if not cost[name].any()])
    show(PrintedTable(shown.rename(columns={"suppressed_share": "share"}), defense_text(defense)))
    show(definitions(COST_TERMS))
    show("")
    share = cost["suppressed"].sum() / cost["records"].sum()
    if share > SUPPRESSION_TO_REPORT:
        notice(
            f"{percent(share)} of the records are suppressed; choose weaker thresholds, another defense, --patience or --leftovers."
        )
    notice_suppression(releases)
    if any(release.bucketized for release in releases):
        notice(
            "Within a group, quasi-identifiers and sensitive values are sorted separately: a common row means nothing. "
            "Tell the readers of the table."
        )
    for release in releases:
        for note in release.grouping.notes:
            notice(f"at {release.time}: {note}")


def notice_risks(formulas: int, quoted: bool, seed: int | None, of_config: bool) -> None:
    """Print the number of published cells that a spreadsheet would run, and the danger of a seed."""
    if formulas and quoted:
        notice(f"{formulas} published cells begin like formulas, and were written with an apostrophe before them.")
    elif formulas:
        notice(
            f"{formulas} published cells begin like formulas (= + - @), which a spreadsheet may run; --quote-formulas writes an "
            "apostrophe before them."
        )
    if seed is not None and of_config:
        notice(
            "The seed is that of --config, so equal records and options make the same groups. A seed that is found by trial undoes "
            "the publication: keep that file private; without 'seed' in it, a new one is drawn."
        )
    elif seed is not None:
        notice(
            "--seed is for experiments: a seed that is found by trial undoes the publication. Publish without --seed."
        )


def say_paths(table: Path, key: Path) -> None:
    """Print where the published table and the key were written."""
    say(
        f"For the public: {table}, and {RELEASE} beside it.",
        f"The key, for you alone: {key}. It names the group of each record and undoes the publication: keep it apart.",
        f"The settings and the seed of this run, which undo it too: {key.parent / SETTINGS}.",
    )


def check_lines(out: Path) -> list[str]:
    """Lines that name the command that checks a publication."""
    return [
        "To check the files, and each enforced requirement that a published table shows:",
        *typed_lines(f"check {paths_of([out])}"),
    ]


def verified_lines(stated: Certificate, folder: Path) -> list[str]:
    """Lines on what the independent check of a publication found; a failing one names the files that are marked."""
    path = folder / CERTIFICATE
    if stated.verdict == NOT_VERIFIED:
        return [f"Not verified: {path} says so."]
    kept = f" The files are kept, and marked as failed in {path}." if stated.verdict == FAILED else f" See {path}."
    return [*(f"Not recomputed: {promise}" for promise in stated.enforced["unchecked"]), stated.sentence + kept]


def publication_content(
    releases: tuple[Release, ...], defense: Defense, out: Path, output: Output
) -> dict[str, object]:
    """A publication as JSON has it; the seed is in the file of settings alone."""
    return {
        "defense": settings(defense),
        "suppressed": suppressed_share(releases),
        "releases": cost_per_release(releases),
        "notes": [f"at {release.time}: {note}" for release in releases for note in release.grouping.notes],
        "published": str(out / output.table),
        "key": str(out / output.key),
        "settings": str(out / output.key.parent / SETTINGS),
    }


EPILOG = which_defense()
"""Text below the options."""


def publish_command(
    context: typer.Context,
    table: TableOptions,
    out: Out,
    thresholds: ThresholdOptions,
    known: KnowledgeOptions,
    disk: DiskOptions,
    defense: DefenseName = "js-reduce",
    seed: Seed = None,
    infeasible: InfeasibleRule = Infeasible["raise"],
    bucketized: Bucketized = False,
    generalized: Generalized = False,
    quote_formulas: QuoteFormulas = None,
    no_verify: NoVerify = False,
    corpus: Corpus = None,
    pictures: Pictures = False,
    from_disk: FromDisk = False,
    block: Block = None,
    overwrite: Overwrite = False,
) -> Outcome:
    """Group the records of each release, and write the published table and the key.

    FOLDER/public holds published.csv, which is for the public, release.json, which describes how it was made, and certificate.json:
    what the defense enforced, what an independent check of every group found, and what is assumed. If the check fails, the exit
    status is 1.

    FOLDER/private holds the key, readable by you only: groups.csv names the group of each record (-1: suppressed; a row without
    a respondent: a counterfeit). The key undoes the publication. foreknow attack reads it.

    With --from-disk, FOLDER/release holds Parquet files of at least --block records each, and FOLDER/private the key in parts. The
    defenses are mondrian, js-reduce, bkaa, anatomy and full-domain. The same command goes on with a run that was interrupted.

    Defaults of thresholds: -t 0.5 for js-reduce and uhra, --beta 5 for bkaa and k-primacy.

    The defenses js-reduce, bkaa, uhra and k-primacy assume an adversary who knows the class frequencies of the records, and the
    Markov chain of the records before each release. All records count, so publish each release once, and name a --corpus for the
    next.
    """
    # Options and output folders are refused before a file is read, files before anything is computed.
    choice = _checked_choice(context, defense)
    if from_disk:
        from foreknow.app.cli.commands.publish_from_disk import DiskRun, publish_from_disk

        run = DiskRun(
            context, table, out, thresholds, known.learning, choice, seed, corpus, disk, block, not no_verify, overwrite
        )
        return publish_from_disk(run)
    disk.refuse_given("records are read into memory", block)
    output = checked_output(table.records, corpus, out, overwrite, pictures)
    columns = table.columns
    history, learned = _read(columns, table.records, corpus)
    used = fresh_seed() if seed is None else seed
    chosen = choice.make(thresholds.options(used, given_options(context)))
    with error_console.status("learning what the adversary knows"):
        adversary = assumed_adversary(history, learned, known.learning) if choice.assumes_adversary else None
    notice_publication(chosen)
    releases = publish(
        history,
        chosen,
        adversary,
        _bucketized(bucketized, generalized),
        infeasible=cast(Any, infeasible.value),
        rng=seeded_generator(used, 1),
        progress=lambda views: tracked(views, "publishing"),
    )
    check_any_group(releases, chosen, history.schema)
    settings = run_settings(context, [*table.files, corpus], used)
    stated = certificate(
        releases,
        chosen,
        adversary,
        verified=not no_verify,
        seeded=seed is not None,
        progress=lambda published: tracked(published, "verifying"),
    )
    with error_console.status("writing"):
        formulas = write_output(output, releases, chosen, columns, quote_formulas, settings, stated)
    report_cost(releases, chosen)
    source = context.get_parameter_source("seed")
    of_config = source is not None and source.name == "DEFAULT_MAP"
    notice_risks(formulas, quotes_formulas(output, quote_formulas), seed, of_config)
    _say_end(context, output, stated)
    content = publication_content(releases, chosen, out, output) | {"verdict": stated.verdict}
    return Outcome(content, stated.verdict == FAILED)


def _say_end(context: typer.Context, output: Output, stated: Certificate) -> None:
    """Print where the files are, what the check found, and the next commands."""
    out = output.folder
    say_paths(out / output.table, out / output.key)
    say(*verified_lines(stated, out / output.table.parent))
    if output.pictures:
        say(f"Pictures: {out / output.key.parent / PICTURES}.")
    say(*check_lines(out))
    key = option_text("groups", out / output.key)
    say(*next_lines(context, "attack", key, f"--out {unused_path('risk')}", also=KNOWLEDGE_OPTIONS))


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
    with error_console.status("reading the histories"):
        schema = columns.schema(*tables)
        histories = [History.read(table, schema, columns.time) for table in tables]
    notice_codes(schema, tables[0])
    return histories[0], None if corpus is None else histories[1]


def _bucketized(bucketized: bool, generalized: bool) -> bool | None:
    """The argument ``bucketized`` of `publish`; None is the default of the defense."""
    if bucketized and generalized:
        raise ValueError("--bucketized and --generalized exclude each other; leave one out.")
    return bucketized if bucketized or generalized else None
