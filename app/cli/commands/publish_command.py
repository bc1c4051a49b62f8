"""The command `foreknow publish`: group the records of each release, and write the published table and the key."""

from pathlib import Path
from typing import Any, cast

import typer

from foreknow.app.cli.adversary_knowledge import assumed_adversary
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.next_step import next_lines, option_text, unused_path
from foreknow.app.cli.commands.publish_from_disk import DiskRun, publish_from_disk
from foreknow.app.cli.commands.publish_options import (
    Bucketized,
    Corpus,
    DefenseName,
    Generalized,
    Infeasible,
    InfeasibleRule,
    NoVerify,
    Out,
    QuoteFormulas,
    Seed,
    ThresholdOptions,
)
from foreknow.app.cli.commands.publish_output import Output, checked_output, quotes_formulas, write_output
from foreknow.app.cli.commands.publish_report import (
    check_any_group,
    check_lines,
    notice_codes,
    notice_risks,
    publication_content,
    report_cost,
    say_paths,
    verified_lines,
)
from foreknow.app.cli.defense_choices import (
    BUILT_IN,
    KNOWLEDGE_OPTIONS,
    DefenseChoice,
    defense_choice,
    fresh_seed,
    seeded_generator,
    which_defense,
)
from foreknow.app.cli.defense_text import defense_told_in_options
from foreknow.app.cli.disk_options import Block, DiskOptions, FromDisk
from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.app.cli.options import Overwrite, given_options, refuse_unread_options
from foreknow.app.cli.pictures import PICTURES, Pictures
from foreknow.app.cli.printing.compilation_notice import notice_publication
from foreknow.app.cli.printing.terminal import error_console, say, tracked
from foreknow.defenses import publish
from foreknow.evaluation.checks.certificate import FAILED, Certificate, certificate
from foreknow.models import History

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
    with defense_told_in_options(chosen):
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
