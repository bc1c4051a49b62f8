"""The command `foreknow publish`: group the records of each release, and write the published table and the key; also from disk."""

import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
import typer

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.adversary_knowledge import (
    KNOWLEDGE_OPTIONS,
    Learning,
    assumed_adversary,
    ghost_chain,
    learned_from,
)
from foreknow.app.cli.attack_choices import notice_if_compiled
from foreknow.app.cli.command_shape import Outcome, refuse_unread_options, source_of
from foreknow.app.cli.commands.attack_findings import notice_suppression
from foreknow.app.cli.commands.noisy_runs import (
    counts_table,
    domain_of,
    kept_by_publisher,
    ledger_of,
    promise_table,
    releases_table,
    series_defense,
    series_of,
)
from foreknow.app.cli.defense_choices import (
    CHOICES,
    NOISY,
    DefenseChoice,
    DefenseOptions,
    defense_choice,
    defense_text,
    fresh_seed,
    seeded_generator,
    stated_requirement,
)
from foreknow.app.cli.files.columns import Columns, notice_codes
from foreknow.app.cli.files.large_tables import large_tables, notice_interrupted, refuse_in_memory
from foreknow.app.cli.files.release_files import key_table, published_table
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import formula_cells, output_suffix, write_table
from foreknow.app.cli.options import (
    DISK_PANEL,
    NOISY_PANEL,
    OUTPUT_PANEL,
    DiskOptions,
    FromDisk,
    Overwrite,
    Pictures,
    TableOptions,
    checked_name,
    choice_names,
    corpus_file,
    option,
    option_text,
    output_folder,
    refuse_first,
    switch,
)
from foreknow.app.cli.pictures import GROUP_SIZES, PICTURES, draw_publication
from foreknow.app.cli.terminal import (
    PrintedTable,
    definitions,
    error_console,
    notice,
    say,
    show,
    show_explained,
    tracked,
)
from foreknow.app.cli.typed_commands import check_lines, next_lines, unused_path
from foreknow.app.noisy_publication import noise_record, noisy_certificate
from foreknow.app.publication import (
    BEGUN,
    EXPERIMENT,
    KEY,
    MANIFEST,
    PARTS,
    PRIVATE,
    PUBLIC,
    REACHED,
    RELEASE,
    SETTINGS,
    TABLE,
    read_json,
    sums_below,
    write_defense,
    write_manifest,
    write_release,
)
from foreknow.app.report.respondents import percent
from foreknow.defenses import Anatomy, Cohorts, Defense, NoisyCounts, Promise, publish
from foreknow.defenses.noisy_counts import opendp
from foreknow.evaluation.checks.certificate import (
    CERTIFICATE,
    FAILED,
    NOT_VERIFIED,
    Certificate,
    ReleaseNumbers,
    certificate,
    certificate_of,
    checksums_of,
    enforced_requirement,
)
from foreknow.evaluation.checks.program import checksum, settings
from foreknow.evaluation.loss.generalization_loss import gcp, price, suppressed
from foreknow.evaluation.risk.bounds import leaving_shift
from foreknow.models import Adversary, MarkovChain, NoisyRelease, Omega, Presence, Release, Schema
from foreknow.models.settings import counted
from foreknow.models.tables.atomic_file import locked
from foreknow.models.tables.cell_types import text_out_of_order

if TYPE_CHECKING:
    from foreknow.app.disk import Engine, LargeTable
    from foreknow.app.disk.publication import LargeReleases

READ_FROM_DISK = tuple(each.name for each in fields(DiskOptions))
"""Parameters that `foreknow attack --from-disk` reads as well."""

OF_GROUPS = ("bucketized", "generalized", "infeasible", "no_verify", "pictures")
"""Options that are read by all defenses that group records, and by them alone."""

SUPPRESSION_TO_REPORT = 0.2
"""Share of suppressed records above which the command prints advice."""

COST_TERMS = {
    "records": "number of records before suppression",
    "share": "share of the records that are suppressed",
    "gcp": "generalization of a published record: 0 exact, 1 no information",
}
"""Meaning of the columns of the cost of a publication."""


@dataclass(frozen=True)
class PublishRun:
    """Options of `foreknow publish`."""

    context: typer.Context
    table: TableOptions
    out: Annotated[Path, output_folder("Folder for public/published.csv and private/groups.csv.")]
    thresholds: DefenseOptions
    known: Learning
    disk: DiskOptions
    defense: Annotated[
        str,
        option(
            f"Defense that groups the records, or counts them with noise: {', '.join(choice_names('defense', CHOICES))}.",
            "NAME",
            callback=lambda name: checked_name("defense", name, CHOICES),
        ),
    ] = "js-reduce"
    seed: Annotated[
        int | None,
        option(
            "Seed for repeatable experiments. A seed can be found by trial, and undoes the publication. By default, 128 "
            "bits of fresh entropy, which are kept beside the key.",
            "N",
            min=0,
        ),
    ] = None
    infeasible: Annotated[
        Literal["raise", "suppress"],
        option(
            "A release that cannot be published: stop with an error (raise), or suppress all its records (suppress).",
            "RULE",
        ),
    ] = "raise"
    bucketized: Annotated[
        bool,
        switch("--bucketized", "Publish exact quasi-identifiers, whatever the default of the defense.", OUTPUT_PANEL),
    ] = False
    generalized: Annotated[
        bool,
        switch(
            "--generalized", "Publish generalized quasi-identifiers, whatever the default of the defense.", OUTPUT_PANEL
        ),
    ] = False
    quote_formulas: Annotated[
        bool | None,
        option(
            "Write an apostrophe before published cells that a spreadsheet would run as formulas, those that begin with =, +, - "
            "or @, or write them unchanged. By default they get one in CSV files, and stay in Parquet files.",
            None,
            OUTPUT_PANEL,
            "--quote-formulas/--keep-formulas",
            show_default=False,
        ),
    ] = None
    no_verify: Annotated[
        bool,
        switch(
            "--no-verify",
            "Do not recompute the requirements from what is published; certificate.json then says that nothing was verified.",
            OUTPUT_PANEL,
        ),
    ] = False
    corpus: Annotated[
        Path | None,
        corpus_file(
            "Records from which the assumed adversary learned; by default the records themselves. Read by defenses that "
            "assume an adversary: js-reduce, bkaa, uhra, k-primacy; and by cohorts."
        ),
    ] = None
    terminal_over: Annotated[
        float | None,
        option(
            "cohorts: also the values after which more than this share leave in the --corpus end a course, as with --terminal.",
            "CHANCE",
            min=0,
            max=1,
        ),
    ] = None
    pictures: Pictures = False
    from_disk: FromDisk = False
    block: Annotated[
        int | None,
        option(
            "Least number of records that are grouped together; 131072 by default. Groups depend on it.",
            "N",
            DISK_PANEL,
            min=1,
        ),
    ] = None
    overwrite: Overwrite = False
    values: Annotated[
        Path | None,
        option(
            "The domain of the sensitive value, a text file with one value a line. It is public, and fixed before "
            "the first release.",
            "FILE",
            NOISY_PANEL,
        ),
    ] = None
    public_values: Annotated[
        bool,
        switch(
            "--public-values",
            "Take the values of the records for the domain, as it is public which of them occur.",
            NOISY_PANEL,
        ),
    ] = False
    series: Annotated[
        Path | None,
        option(
            "Folder of an earlier publication of the same records without the new releases. Its releases stay as "
            "they are, and the new ones have its cells, its domain and its noise.",
            "FOLDER",
            NOISY_PANEL,
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        option(
            "Private file, as ledger.parquet, in which what each release spends is kept for each respondent, over all publications "
            "of the series. Nothing is published where it cannot be written. A new one is made if there is none.",
            "FILE",
            NOISY_PANEL,
        ),
    ] = None
    budget: Annotated[
        float | None,
        option(
            "Largest amount of one respondent in a new ledger, in rho, or with --epsilon in epsilon; by default that of all "
            "releases.",
            "X",
            NOISY_PANEL,
            min=0,
        ),
    ] = None
    again: Annotated[
        bool,
        switch(
            "--again",
            "Spend once more on releases that the ledger has, as those of a run that was interrupted: their noise is drawn anew.",
            NOISY_PANEL,
        ),
    ] = False
    for_experiment: Annotated[
        bool,
        switch(
            "--for-experiment",
            "Draw the noise by NumPy, which takes a --seed. The output says that it is not for release.",
            NOISY_PANEL,
        ),
    ] = False

    @property
    def choice(self) -> DefenseChoice:
        """The row of the defense."""
        return defense_choice(self.defense)

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        return [path for path in (*self.table.files, self.corpus, self.values) if path is not None]

    @property
    def published(self) -> Path:
        """Name of the published table within the folder."""
        return Path(PUBLIC, f"{EXPERIMENT if self.for_experiment else TABLE}{self._ending}")

    @property
    def key(self) -> Path:
        """Name of the key within the folder."""
        return Path(PRIVATE, f"{KEY}{self._ending}")

    @property
    def _ending(self) -> str:
        """Ending of the table and of the key: that of a folder of parts, or that of the file format of the records."""
        return PARTS if self.from_disk else output_suffix(self.table.records)

    @property
    def quotes_formulas(self) -> bool:
        """True if formulas of the published table get an apostrophe: as asked, or by default in a CSV file."""
        return self.published.suffix == ".csv" if self.quote_formulas is None else self.quote_formulas

    @property
    def is_bucketized(self) -> bool | None:
        """The argument ``bucketized`` of `foreknow.defenses.publish`; None is the default of the defense."""
        if self.bucketized and self.generalized:
            raise ValueError("--bucketized and --generalized exclude each other; leave one out.")
        return self.bucketized if self.bucketized or self.generalized else None


def publish_command(run: PublishRun) -> Outcome:
    r"""Run `foreknow publish`; its help text has the paragraphs below.

    FOLDER/public holds published.csv, which is for the public, release.json, which describes how it was made, and certificate.json:
    what the defense enforced, what an independent check of every group found, and what is assumed. If the check fails, the exit
    status is 1.

    With --defense noisy-counts there are no groups and no key: FOLDER/public holds counts with noise, and their promise to each
    respondent over all --releases. A --ledger counts what each has spent.

    FOLDER/private holds the key, readable by you only: groups.csv names the group of each record (-1: suppressed; a row without
    a respondent: a counterfeit). The key undoes the publication. foreknow attack reads it.

    With --from-disk, published.parquet and groups.parquet are folders of parts of at least --block records each. The defenses are
    mondrian, js-reduce, bkaa, anatomy, full-domain and cohorts, which is one part for each release. The same command goes on with a
    run that was interrupted.

    Defaults of thresholds: -t 0.5 for js-reduce and uhra, --beta 5 for bkaa and k-primacy.

    The defenses js-reduce, bkaa, uhra and k-primacy assume an adversary who knows the class frequencies of the records, and the
    Markov chain of the records before each release. All records count, so publish each release once, and name a --corpus for the
    next. cohorts publishes a series: run it again on all records with the same --corpus, --seed and options, and the releases
    before stay as they were, if no value occurs that the corpus has not.


    Which defense for what:
    Data or threat                                 --defense
    one release, any requirement; large tables     mondrian
    one release, all records coarsened alike       full-domain
    one release, exact quasi-identifiers wanted    anatomy
    ... and facts, as: men have no ovarian cancer  injector
    the reader knows the rule of the defense       mask (changes values)
    several releases, values that change seldom    m-invariance (adds records)
    several releases, values that change           js-reduce, uhra
    ... against all releases read together         cohorts (adds records)
    ... by the rules of other papers               bkaa, k-primacy
    ... counts alone, whatever an adversary knows  noisy-counts
    foreknow compare tries several on your records.


    For example:
    records.csv has the columns id, week, age, city and diagnosis:
      foreknow publish records.csv --qi age --qi city --sensitive diagnosis \
        --defense mondrian -k 5 -l 2 --out release
    """
    # Options and output folders are refused before a file is read, files before anything is computed.
    rows = {name: defense_choice(name).options for name in (*CHOICES, run.defense)}
    rows = {name: options if name == NOISY else (*options, *OF_GROUPS) for name, options in rows.items()}
    refuse_unread_options(run.context, "defense", run.defense, rows)
    if run.terminal_over is not None and run.corpus is None:
        raise ValueError(
            "--terminal-over reads how often respondents leave in a --corpus, so that later releases have the same terminal "
            "values; name a --corpus, or declare the values with --terminal."
        )
    if run.defense == NOISY:
        return _publish_noisy(run)
    if run.from_disk:
        return _publish_from_disk(run)
    run.disk.refuse_given("records are read into memory", run.block)
    _check_folder(run, run.key, *([Path(PRIVATE, GROUP_SIZES)] if run.pictures else []))
    records = run.table.read(run.corpus)
    with error_console.status("reading the histories"):
        history = records.history
    notice_codes(records.schema, records.table)
    used = fresh_seed() if run.seed is None else run.seed
    asked = run.thresholds.of_run(run.context, used)
    defense, promises = run.choice.make(asked), stated_requirement(run.defense, asked)
    with error_console.status("learning what the adversary knows"):
        assumes = run.choice.assumes_adversary
        adversary = assumed_adversary(history, records.corpus, run.known) if assumes else None
    if isinstance(defense, Cohorts) and (defense.departures == "ghosts" or run.terminal_over is not None):
        known = history if records.corpus is None else records.corpus
        presence = Presence.fit(known, pseudo_count=run.known.pseudo_count)
        defense = _with_terminal(defense, presence, history.schema, run.terminal_over)
        if defense.departures == "ghosts":
            chain = ghost_chain(known, run.known)
            defense = _with_chain(defense, chain, presence, history.schema, records.corpus is None)
    _notice_kernel(run.choice)
    releases = publish(
        history,
        defense,
        adversary,
        run.is_bucketized,
        infeasible=run.infeasible,
        rng=seeded_generator(used, 1),
        progress=lambda views: tracked(views, "publishing"),
    )
    _check_any_group(releases, defense, history.schema)
    stated = certificate(
        releases,
        defense,
        adversary,
        verified=not run.no_verify,
        seeded=run.seed is not None,
        progress=lambda published: tracked(published, "verifying"),
        promises=promises,
    )
    key = key_table(releases, records.columns)
    if getattr(defense, "lag", 0) and "ghost" not in key.columns:
        key["ghost"] = None  # views after those of a key with this column were held back
    table = published_table(releases, records.columns.time)
    more = {}
    if isinstance(defense, Cohorts) and defense.terminal:
        more[REACHED] = defense.reached_terminal(releases)
    with (
        error_console.status("writing"),
        _written(run, used, records.columns, releases, defense, table, stated, more) as folder,
    ):
        write_table(key, folder / run.key, private=True)
        if run.pictures:
            draw_publication(folder / PRIVATE, releases, type(defense).__name__)
    cost = suppressed(releases).merge(gcp(releases)[["time", "gcp"]], on="time")
    cost.insert(1, "groups", [release.groups for release in releases])
    notes = [f"at {release.time}: {note}" for release in releases for note in release.grouping.notes]
    _report_cost(cost, defense, any(release.bucketized for release in releases))
    _notice_held_back(history.times[len(releases) :], defense)
    for note in notes:
        notice(note)
    _notice_formulas(table, run.quotes_formulas)
    _notice_seed(run.seed, source_of(run.context, "seed") == "DEFAULT_MAP")
    return _grouped(run, defense, cost, notes, stated)


def _publish_noisy(run: PublishRun) -> Outcome:
    """Publish noisy counts of the views of a table, or of those that are new in a series, and print the promise."""
    series = series_of(run)
    defense = run.choice.make(run.thresholds) if series is None else series_defense(series)
    assert isinstance(defense, NoisyCounts)
    if not run.for_experiment:
        opendp()
    _check_folder(run)
    read = run.table.read(run.corpus, domain_of(run, series))
    notice_codes(read.schema, read.table)
    history = read.history
    before = () if series is None else series.releases(history)
    views = history.views[len(before) :]
    refuse_first(
        {
            f"All {len(history)} releases of the records are published in {run.series} already.": not views,
            f"The records have {len(history)} releases, and the noise is set for {defense.releases}: more would pass the promise. "
            "Publish fewer, or begin a series of its own with more --releases.": len(history) > defense.releases,
            "--overwrite would draw the noise anew, and both draws tell of the same records; give another --out, or a --ledger, "
            "which counts both.": run.overwrite and run.out.exists() and not run.for_experiment and run.ledger is None,
        }
    )
    seed = (fresh_seed() if run.seed is None else run.seed) if run.for_experiment else None
    if seed is not None:
        defense = replace(defense, rng=seeded_generator(seed, 2 + len(before)))
    releases, ledger = [*before], ledger_of(run, defense, history.schema, [one.time for one in before])
    people = {view.time: view.people.respondents for view in views}
    # What is spent is on disk before noise is drawn: a run that is killed has spent it.
    spent = (
        nullcontext()
        if ledger is None
        else ledger.spend(people, float(getattr(Promise(defense.law, 1), ledger.unit)), run.again)
    )
    with spent:
        for view in tracked(views, "publishing"):
            prior = np.full((len(view), len(view.schema.values)), np.nan)  # not read
            releases.append(NoisyRelease(view, defense(view, prior, tuple(releases))))
        table, stated = counts_table(releases, read.columns.time), noisy_certificate(releases, defense)
        noise = noise_record(releases, defense.promise)
        with (
            error_console.status("writing"),
            _written(run, seed, read.columns, releases, defense, table, stated, {"noise": noise}),
        ):
            pass
    chain = None if read.corpus is None else MarkovChain.fit(read.corpus, 1, run.known.pseudo_count)
    rows = releases_table(defense_text(defense), releases)
    show_explained(rows, promise_table(defense.promise, chain))
    if before:
        notice(
            f"{counted(len(before), 'release')} of {run.series} are as they were; {counted(len(views), 'release')} new."
        )
    _notice_formulas(table, run.quotes_formulas)
    lines, content = kept_by_publisher(run, defense, len(releases), ledger)
    return _outcome(
        run, defense, stated, lines, option_text("groups", run.out), ("corpus",), content | {"releases": rows.frame}
    )


def _with_chain(
    defense: Cohorts, chain: MarkovChain | None, presence: Presence | None, schema: Schema, is_own: bool
) -> Cohorts:
    """The defense with the chain of its ghosts, and notices of it and of what leaving still tells by the chances of leaving."""
    if chain is None or presence is None:
        return replace(defense, transitions=chain)
    made = replace(defense, transitions=chain)
    # Terminal values that are none, and a chain that cannot go on, are refused before anything is said.
    made.mechanism(schema)
    codes = [schema.values.index(each) for each in made.terminal]
    row = leaving_shift(chain, presence, made.ends, codes).iloc[0]
    if is_own:
        notice(
            "The chain by which ghosts are drawn is learned from the records themselves. An adversary is assumed to know it, but "
            "no public file has it; name a --corpus for one that no published record enters. To publish later releases name one "
            "with all values that may occur, and the same --seed: otherwise the releases before change with the records, and are "
            "published twice."
        )
    notice(
        f"By leaving, an adversary who reads presence shifts the log odds between one who left and one who stayed by at most "
        f"{row['leaving_step']:.2f}, and {row['ghost_step']:.2f} for each ghost; of two who left, both add (nats; --ends "
        f"{made.ends}; docs/methods/cohorts.md)."
    )
    often = [value for value in presence.terminal(schema.values) if value not in made.terminal]
    if often:
        leave = presence.leave[schema.values.index(often[0])]
        notice(
            f"Of those with the value {often[0]!r}, {percent(leave)} leave, which tells most of this; --terminal with this "
            "value would count it as a departure."
        )
    return made


def _with_terminal(defense: Cohorts, presence: Presence | None, schema: Schema, over: float | None) -> Cohorts:
    """The defense whose terminal values include those with a chance of leaving over a bound, if there is one; a notice of them."""
    if presence is None or over is None:
        return defense
    found = presence.terminal(schema.values, over)
    if set(found) | set(defense.terminal) >= set(schema.values):
        raise ValueError(
            f"--terminal-over {over:g}: after each value more respondents of the --corpus leave, so that none would be published; "
            "raise it, or declare some values with --terminal."
        )
    shares = (f"{value!r} ({percent(presence.leave[schema.values.index(value)])} leave)" for value in found)
    notice(f"Terminal by --terminal-over {over:g} and the --corpus: {', '.join(shares) or 'no value'}.")
    return replace(defense, terminal=(*defense.terminal, *found))


def _notice_held_back(times: Sequence[Any], defense: Defense) -> None:
    """Print the times of the views at the end that are not published, as the defense reads who is listed there."""
    if times:
        notice(
            f"The records at {', '.join(map(str, times))} are held back: who is listed there decides which records before are "
            f"withheld ({defense_text(defense)})."
        )


def _notice_kernel(choice: DefenseChoice) -> None:
    """Print a notice if a publication will compile its kernels; those of some defenses take two seconds or none."""
    if choice.kernel is not None:
        notice_if_compiled(choice.kernel, "some 20 seconds")


def _check_folder(run: PublishRun, *more: Path) -> None:
    """Raise ValueError unless the files of a publication, and more that are named, may be written into the output folder.

    It may hold neither another published table or key nor a publication from disk, which would remain there.
    """
    out, table = run.out, run.published
    public = [table, *(Path(PUBLIC, name) for name in (RELEASE, CERTIFICATE))]
    written = [*public, *(Path(PRIVATE, name) for name in (MANIFEST, SETTINGS)), *more]
    if run.overwrite and (out / PRIVATE / BEGUN).exists():
        raise ValueError(
            f"{out} holds a publication from disk, whose files would remain; name another folder, or --from-disk."
        )
    check_output(out, written, run.inputs, run.overwrite)
    names = itertools.product((Path(PUBLIC, TABLE), Path(PUBLIC, EXPERIMENT), Path(PRIVATE, KEY)), (".csv", PARTS))
    for other in (name.with_suffix(ending) for name, ending in names):
        if other not in written and (out / other).exists():
            raise ValueError(
                f"{out / other} is there from another run, and would remain beside {table.name}; move it away, or name another "
                "folder."
            )


@contextmanager
def _written(
    run: PublishRun,
    seed: int | None,
    columns: Columns,
    releases: Sequence[Release] | Sequence[NoisyRelease],
    defense: Defense | NoisyCounts,
    table: pd.DataFrame,
    stated: Certificate,
    more: Mapping[str, Any],
) -> Iterator[Path]:
    """Context manager that writes the published table, its description with ``more``, its certificate and the settings.

    The block writes other files into the folder that it yields; the checksums of all are written last.
    """
    used = run_settings(run.context, run.inputs, seed)
    used |= {} if "noise" not in more else {"repeatable": more["noise"]["repeatable"]}
    with atomic_output(run.out, run.inputs, run.overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(table, folder / run.published, formulas=not run.quotes_formulas)
        sums = {run.published.name: checksum(folder / run.published)}
        write_release(folder / PUBLIC, sums, [one.time for one in releases], defense, columns.published, more)
        public = [folder / run.published, folder / PUBLIC / RELEASE]
        replace(stated, files=checksums_of(public)).write(folder / PUBLIC / CERTIFICATE)
        write_json(folder / PRIVATE / SETTINGS, used)
        write_defense(folder / PRIVATE, defense)
        yield folder
        sums = sums_below(folder / PRIVATE, folder / PRIVATE) | sums_below(folder / PUBLIC, folder / PRIVATE)
        write_manifest(folder / PRIVATE, {str(run.table.records): checksum(run.table.records)}, sums)


def _check_any_group(releases: Iterable[Any], defense: Defense, schema: Schema) -> None:
    """Raise ValueError if no release, in memory or on disk, has a group."""
    if not any(release.groups for release in releases):
        values = counted(len(schema.values), "distinct value")
        weaker = _weaker(defense) if isinstance(defense, Cohorts) else "weaker thresholds or another --sensitive column"
        raise ValueError(
            f"{defense_text(defense)} finds no group of these records that satisfies its thresholds, so nothing would be "
            f"published; {schema.sensitive!r} has {values}. Choose {weaker}."
        )


def _weaker(defense: Cohorts) -> str:
    """Settings of cohorts by which fewer records are suppressed."""
    # Neither is less than 2.
    smaller = "a smaller -a and --size, " if defense.a > 2 else "a smaller --size, " if defense.size > 2 else ""
    return f"{smaller}--wait 0, fewer --ends, or fewer --qi, by which people have equal priors"


def _report_cost(cost: pd.DataFrame, defense: Defense, bucketized: bool) -> None:
    """Print the information loss of each release, and what the publisher and the readers of the table must know."""
    shown = cost.drop(columns=[name for name in ("distorted", "counterfeits") if not cost[name].any()])
    show(PrintedTable(shown.rename(columns={"suppressed_share": "share"}), defense_text(defense)))
    show(definitions(COST_TERMS))
    show("")
    if (share := price(cost).withheld) > SUPPRESSION_TO_REPORT:
        others = "weaker thresholds, another defense, --patience or --leftovers"
        weaker = _weaker(defense) if isinstance(defense, Cohorts) else others
        notice(f"{percent(share)} of the records are suppressed; choose {weaker}.")
    notice_suppression(cost)
    if bucketized:
        notice(
            "Within a group, quasi-identifiers and sensitive values are sorted separately: a common row means nothing. "
            "Tell the readers of the table."
        )


def _notice_formulas(table: pd.DataFrame, quoted: bool) -> None:
    """Print the number of published cells that a spreadsheet would run."""
    formulas = formula_cells(table)
    if formulas and quoted:
        notice(f"{formulas} published cells begin like formulas, and were written with an apostrophe before them.")
    elif formulas:
        notice(
            f"{formulas} published cells begin like formulas (= + - @), which a spreadsheet may run; --quote-formulas writes an "
            "apostrophe before them."
        )


FOUND_BY_TRIAL = 2**64
"""Seeds below are found by trying all of them; one of 128 bits, as this program draws and proposes, is not."""


def _notice_seed(seed: int | None, of_config: bool) -> None:
    """Print the danger of a seed."""
    if seed is None or (seed >= FOUND_BY_TRIAL and not of_config):
        return
    if of_config:
        notice(
            "The seed is that of --config, so equal records and options make the same groups. A seed that is found by trial undoes "
            "the publication: keep that file private; without 'seed' in it, a new one is drawn."
        )
    else:
        notice(
            "--seed is for experiments: a seed that is found by trial undoes the publication. Publish without --seed, or with one "
            "of 128 bits, as foreknow report and compare propose it."
        )


def _grouped(
    run: PublishRun, defense: Defense, cost: pd.DataFrame, notes: Sequence[str], stated: Certificate
) -> Outcome:
    """The outcome of a publication of groups; the seed is in the file of settings alone."""
    key, reached = run.out / run.key, read_json(run.out / PUBLIC / RELEASE).get(REACHED)
    lines = [
        f"The key, for you alone: {key}. It names the group of each record and undoes the publication: keep it apart.",
        f"The settings and the seed of this run, which undo it too: {key.parent / SETTINGS}.",
        *([f"Pictures: {key.parent / PICTURES}."] if run.pictures else []),
    ]
    if reached is not None:
        lines.insert(
            0, f"Respondents who reached a terminal value: {reached:,} over all releases, as {RELEASE} tells, too."
        )
    # The rule of terminal values is read in memory alone.
    on_disk = run.from_disk and not getattr(defense, "terminal", ())
    groups = f"--from-disk {option_text('groups', run.out)}" if on_disk else option_text("groups", key)
    also = (*KNOWLEDGE_OPTIONS, *READ_FROM_DISK) if on_disk else KNOWLEDGE_OPTIONS
    content = {"suppressed": price(cost).withheld, "releases": cost, "notes": notes, "key": str(key)}
    content |= {} if reached is None else {REACHED: reached}
    return _outcome(run, defense, stated, lines, groups, also, content)


def _outcome(
    run: PublishRun,
    defense: Defense | NoisyCounts,
    stated: Certificate,
    lines: Sequence[str],
    groups: str,
    also: Sequence[str],
    content: Mapping[str, Any],
) -> Outcome:
    """Print where the files are, with ``lines`` on the private ones, what the check found, and the next commands."""
    table, path = run.out / run.published, run.out / PUBLIC / CERTIFICATE
    kept = f"The files are kept, and marked as failed in {path}." if stated.verdict == FAILED else f"See {path}."
    # The sentence on a publication that is not verified says why, with what was not recomputed.
    told = () if stated.verdict == NOT_VERIFIED else stated.enforced["unchecked"]
    say(
        f"{'NOT FOR RELEASE' if run.for_experiment else 'For the public'}: {table}, with {RELEASE} and {CERTIFICATE} beside it.",
        *lines,
        *(f"Not recomputed: {promise}" for promise in told),
        f"{stated.sentence} {kept}",
        *check_lines(run.out, *["the promise"] * (run.defense == NOISY)),
        *next_lines(run.context, "attack", groups, f"--out {unused_path('risk')}", also=also),
    )
    files = {"published": str(table), "settings": str(run.out / PRIVATE / SETTINGS)}
    return Outcome(
        {"defense": settings(defense), **files, "verdict": stated.verdict, **content}, stated.verdict == FAILED
    )


IN_MEMORY = ("infeasible", "bucketized", "generalized", "quote_formulas", "pictures", "deterministic", "presence")
"""Options of `foreknow publish` that are read without --from-disk alone."""


def _publish_from_disk(run: PublishRun) -> Outcome:
    """Publish a table on disk, verify it, and write its certificate; an interrupted run goes on.

    With --overwrite, the publication takes the place of an earlier one once it is complete.
    """
    from foreknow.app.disk.begun_runs import NEXT, replaced_publication
    from foreknow.app.disk.publication import LargeReleases

    defense, engine = _checked_defense(run), run.disk.engine("publishing, blocks of a release")
    check_output(run.out, [Path(PUBLIC, CERTIFICATE)], (), run.overwrite)
    with error_console.status("reading the domains of the columns"):
        table, corpus = large_tables(run.table, run.context, engine, run.corpus)
        times = _checked_times(table, engine)
    adversary = None
    if run.choice.assumes_adversary:
        known = replace(run.known, presence=isinstance(defense, Cohorts))
        learned = learned_from(table if corpus is None else corpus, known, engine)
        transitions = learned.before if corpus is None else learned.transitions
        adversary = run.known.adversary(learned.prior, transitions, Omega())
        if isinstance(defense, Cohorts):
            defense = _with_terminal(defense, learned.presence, table.schema, run.terminal_over)
        if isinstance(defense, Cohorts) and defense.departures == "ghosts":
            defense = _with_chain(defense, learned.transitions, learned.presence, table.schema, corpus is None)
    begun = any((run.out / name / BEGUN).exists() for name in (PRIVATE, f"{NEXT}/{PRIVATE}"))
    with replaced_publication(run.out) if run.overwrite and begun else nullcontext(run.out) as folder:
        stated = _made(run, folder, table, defense, adversary, engine)
    releases = LargeReleases(run.out).releases
    columns = ["time", "groups", "records", "suppressed"]
    cost = pd.DataFrame([[getattr(one, name) for name in columns] for one in releases], columns=columns)
    cost["share"] = cost["suppressed"] / cost["records"].clip(lower=1)
    notes = [f"at {one.time}: {note}" for one in releases for note in one.notes]
    show(PrintedTable(cost, defense_text(defense)))
    notice_suppression(cost)
    _notice_held_back(times[len(releases) :], defense)
    for note in notes:
        notice(note)
    return _grouped(run, defense, cost, notes, stated)


def _checked_defense(run: PublishRun) -> Defense:
    """The defense, if it and all options given are read from disk."""
    from foreknow.app.disk.publication import check_defense

    refuse_in_memory(run.context, *IN_MEMORY)
    defense: Any = run.choice.make(run.thresholds.of_run(run.context, fresh_seed()))
    check_defense(defense)
    if run.block is not None and isinstance(defense, Cohorts):
        raise ValueError(
            "--block is not read by --defense cohorts, which groups all records of a release; leave it out."
        )
    if run.known.order != 1 and run.choice.assumes_adversary:
        raise ValueError(f"--order {run.known.order} is not read with --from-disk; the assumed adversary has order 1.")
    # Generators are those of the seed of the publication, which an interrupted run has kept, and of the place of each block.
    return replace(defense, rng=None) if isinstance(defense, Anatomy | Cohorts) else defense


def _made(
    run: PublishRun, out: Path, table: "LargeTable", defense: Defense, adversary: Adversary | None, engine: "Engine"
) -> Certificate:
    """The certificate of a publication in a folder; an interrupted run goes on, unless it is one that --overwrite replaces."""
    from foreknow.app.disk import publish_large
    from foreknow.app.disk.begun_runs import AlreadyComplete, OfAnotherRun
    from foreknow.app.disk.parts import BLOCK_RECORDS
    from foreknow.app.disk.publication import LargeReleases

    _notice_kernel(run.choice)
    notice_interrupted(out, out / PRIVATE)
    publication = partial(
        publish_large, table, defense, out, adversary, block=run.block or BLOCK_RECORDS, seed=run.seed, engine=engine
    )
    try:
        publication()
    except AlreadyComplete:
        pass  # The run was killed before its certificate was written.
    except OfAnotherRun:
        if out == run.out:
            raise
        shutil.rmtree(out)
        publication()
    published = LargeReleases(out)
    _check_any_group(published.releases, defense, table.schema)
    with locked(out):
        return _certified(run, published, defense, adversary)


def _checked_times(table: "LargeTable", engine: "Engine") -> list[Any]:
    """Times of the releases; raise ValueError if they are text whose alphabetical order need not be that of time."""
    with engine.connection() as connection:
        times = table.times(connection)
    text = [time for time in times if isinstance(time, str)]
    if text and (other := text_out_of_order(text)) is not None:
        raise ValueError(
            f"--time {table.time} holds {other!r}, a text; write times as whole numbers or as dates with the year first (2026-01, "
            "2026-01-31), whose order is that of time."
        )
    return times


def _certified(
    run: PublishRun, published: "LargeReleases", defense: Defense, adversary: Adversary | None
) -> Certificate:
    """Verify the parts; write their description, the settings of the run and, last, the certificate.

    The manifest of a run that was killed here may list these files already.
    """
    from foreknow.app.disk import verify_large
    from foreknow.app.disk.begun_runs import is_seeded

    requirement = enforced_requirement(defense)
    found: pd.DataFrame | None = None
    if not run.no_verify and requirement is not None:
        found = verify_large(
            published, requirement, adversary, engine=run.disk.engine("verifying, blocks of a release")
        )
    private, public = published.folder / PRIVATE, published.folder / PUBLIC
    manifest = read_json(private / MANIFEST)
    parts = {
        name.removeprefix(f"../{PUBLIC}/"): sum_
        for name, sum_ in manifest["sha256"].items()
        if name.startswith(f"../{PUBLIC}/") and name.endswith(PARTS)
    }
    columns = {"time": published.time, "sensitive": run.table.sensitive, "quasi_identifiers": list(run.table.qi)}
    more = {}
    if isinstance(defense, Cohorts) and defense.terminal:
        more[REACHED] = published.reached_terminal(defense, run.disk.engine("counting terminal values"))
    write_release(public, parts, [one.time for one in published.releases], defense, columns, more)
    numbers = [ReleaseNumbers(one.time, one.records, one.groups, one.suppressed) for one in published.releases]
    files = parts | {RELEASE: checksum(public / RELEASE)}
    stated = certificate_of(defense, adversary, numbers, found, is_seeded(published.folder), files)
    seed = int(read_json(private / BEGUN)["settings"]["seed"])
    write_json(private / SETTINGS, run_settings(run.context, run.inputs, seed))
    unfinished = public / f".{CERTIFICATE}"
    stated.write(unfinished)
    written = {
        **{path.name: path for path in write_defense(private, defense)},
        SETTINGS: private / SETTINGS,
        f"../{PUBLIC}/{RELEASE}": public / RELEASE,
        f"../{PUBLIC}/{CERTIFICATE}": unfinished,
    }
    sums = {name: checksum(path) for name, path in written.items()}
    write_json(private / MANIFEST, manifest | {"sha256": manifest["sha256"] | sums})
    os.replace(unfinished, public / CERTIFICATE)
    return stated
