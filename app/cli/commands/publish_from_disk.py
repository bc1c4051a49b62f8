"""`foreknow publish --from-disk`: publication of a table larger than memory, its verification and its certificate."""

import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foreknow.app.atomic_output import check_output, locked, write_json
from foreknow.app.cli.adversary_knowledge import Learning, class_intervals
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_findings import MOST
from foreknow.app.cli.commands.publish_command import (
    PublishRun,
    check_any_group,
    notice_kernel,
    publication_content,
    say_end,
)
from foreknow.app.cli.defense_choices import defense_text, fresh_seed
from foreknow.app.cli.files.large_tables import large_tables, notice_interrupted, refuse_in_memory
from foreknow.app.cli.files.run_settings import run_settings, write_settings
from foreknow.app.cli.terminal import PrintedTable, error_console, notice, show
from foreknow.app.publication import (
    BEGUN,
    MANIFEST,
    PARTS,
    PRIVATE,
    PUBLIC,
    RELEASE,
    SETTINGS,
    read_json,
    write_release,
)
from foreknow.defenses import Anatomy, Defense
from foreknow.evaluation.checks.certificate import (
    CERTIFICATE,
    FAILED,
    Certificate,
    ReleaseNumbers,
    certificate_of,
    enforced_requirement,
)
from foreknow.evaluation.checks.program import checksum
from foreknow.models import Adversary, Omega

if TYPE_CHECKING:
    from foreknow.app.disk import Engine, LargeTable
    from foreknow.app.disk.publication import LargeReleases

IN_MEMORY = ("infeasible", "bucketized", "generalized", "quote_formulas", "pictures", "deterministic")
"""Options of `foreknow publish` that are read without --from-disk alone."""


def publish_from_disk(run: PublishRun) -> Outcome:
    """Publish a table on disk, verify it, and write its certificate; an interrupted run goes on."""
    defense, engine = _checked_defense(run), run.disk.engine("publishing, blocks of a release")
    complete = run.out / PUBLIC / CERTIFICATE
    check_output(run.out, [complete.relative_to(run.out)], (), run.overwrite)
    with error_console.status("reading the domains of the columns"):
        table, corpus = large_tables(run.table, run.corpus)
        _check_times(table, engine)
    adversary = _assumed(run, table, corpus, engine) if run.choice.assumes_adversary else None
    published, stated = _published(run, table, defense, adversary, engine)
    columns = ["time", "groups", "records", "suppressed"]
    cost = pd.DataFrame([[getattr(one, name) for name in columns] for one in published.releases], columns=columns)
    cost["share"] = cost["suppressed"] / cost["records"].clip(lower=1)
    notes = [f"at {one.time}: {note}" for one in published.releases for note in one.notes]
    show(PrintedTable(cost, defense_text(defense)))
    lost, records = cost["suppressed"].sum(), cost["records"].sum()
    if lost > MOST * records:
        notice(
            f"WARNING: {lost:,} of {records:,} records ({lost / records:.0%}) are suppressed; the table tells little."
        )
    for note in notes:
        notice(note)
    say_end(run, stated)
    return Outcome(publication_content(run, defense, cost, notes, stated), stated.verdict == FAILED)


def _checked_defense(run: PublishRun) -> Defense:
    """The defense, if it and all options given are read from disk."""
    from foreknow.app.disk.publication import check_defense

    refuse_in_memory(run.context, *IN_MEMORY)
    defense: Any = run.choice.make(run.thresholds.of_run(run.context, fresh_seed()))
    check_defense(defense)
    if run.known.order != 1 and run.choice.assumes_adversary:
        raise ValueError(f"--order {run.known.order} is not read with --from-disk; the assumed adversary has order 1.")
    # The generator of each block is that of its place, not one for all.
    return replace(defense, rng=None) if isinstance(defense, Anatomy) else defense


def _published(
    run: PublishRun, table: "LargeTable", defense: Defense, adversary: Adversary | None, engine: "Engine"
) -> "tuple[LargeReleases, Certificate]":
    """The publication and its certificate; with --overwrite, in the place of an earlier publication once it is complete."""
    from foreknow.app.disk.begun_runs import NEXT, replaced_publication
    from foreknow.app.disk.publication import LargeReleases

    if not run.overwrite or not any((run.out / name / BEGUN).exists() for name in (PRIVATE, f"{NEXT}/{PRIVATE}")):
        return _made(run, run.out, table, defense, adversary, engine)
    with replaced_publication(run.out) as folder:
        _, stated = _made(run, folder, table, defense, adversary, engine)
    return LargeReleases(run.out), stated


def _made(
    run: PublishRun, out: Path, table: "LargeTable", defense: Defense, adversary: Adversary | None, engine: "Engine"
) -> "tuple[LargeReleases, Certificate]":
    """The publication in a folder and its certificate; an interrupted run goes on, unless it is one that --overwrite replaces."""
    from foreknow.app.disk import publish_large
    from foreknow.app.disk.begun_runs import AlreadyComplete, OfAnotherRun
    from foreknow.app.disk.parts import BLOCK_RECORDS
    from foreknow.app.disk.publication import LargeReleases

    notice_kernel(run.choice)
    notice_interrupted(out, out / PRIVATE)
    publication = partial(
        publish_large, table, defense, out, adversary, block=run.block or BLOCK_RECORDS, seed=run.seed, engine=engine
    )
    try:
        published = publication()
    except AlreadyComplete:  # The run was killed before its certificate was written.
        published = LargeReleases(out)
    except OfAnotherRun:
        if out == run.out:
            raise
        shutil.rmtree(out)
        published = publication()
    check_any_group(published.releases, defense, table.schema)
    with locked(out):
        return published, _certified(run, published, defense, adversary)


def _check_times(table: "LargeTable", engine: "Engine") -> None:
    """Raise ValueError if times are text, whose alphabetical order need not be that of time."""
    with engine.connection() as connection:
        text = [time for time in table.times(connection) if isinstance(time, str)]
    if text:
        raise ValueError(
            f"--time {table.time} holds {text[0]!r}, a text; write times as whole numbers or as dates (2026-01-31), whose order is "
            "that of time."
        )


def _assumed(run: PublishRun, table: "LargeTable", corpus: "LargeTable | None", engine: "Engine") -> Adversary:
    """The adversary that the defense assumes, as without --from-disk."""
    learned = learned_from(table if corpus is None else corpus, run.known, engine)
    return run.known.adversary(learned.prior, learned.before if corpus is None else learned.transitions, Omega())


def learned_from(table: "LargeTable", learning: Learning, engine: "Engine") -> Any:
    """Knowledge learned from a table on disk, with the classes of the command line."""
    from foreknow.app.disk.knowledge import learn_from_disk

    with error_console.status("learning what the adversary knows"):
        with engine.connection() as connection:
            records = int(table.relation(connection).aggregate("count(*)").fetchall()[0][0])
        classes = class_intervals(table.schema, learning, records)
        return learn_from_disk(table, classes, learning.pseudo_count, learning.gaps, engine)


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
    manifest_path, public = published.folder / PRIVATE / MANIFEST, published.folder / PUBLIC
    manifest = read_json(manifest_path)
    parts = {
        name.removeprefix(f"../{PUBLIC}/"): sum_
        for name, sum_ in manifest["sha256"].items()
        if name.startswith(f"../{PUBLIC}/") and name.endswith(PARTS)
    }
    columns = {"time": published.time, "sensitive": run.table.sensitive, "quasi_identifiers": list(run.table.qi)}
    write_release(public, parts, [one.time for one in published.releases], defense, columns)
    numbers = [ReleaseNumbers(one.time, one.records, one.groups, one.suppressed) for one in published.releases]
    files = parts | {RELEASE: checksum(public / RELEASE)}
    stated = certificate_of(defense, adversary, numbers, found, is_seeded(published.folder), files)
    seed = int(read_json(published.folder / PRIVATE / BEGUN)["settings"]["seed"])
    write_settings(published.folder / PRIVATE / SETTINGS, run_settings(run.context, run.inputs, seed))
    unfinished = public / f".{CERTIFICATE}"
    stated.write(unfinished)
    sums = {SETTINGS: published.folder / PRIVATE / SETTINGS, f"../{PUBLIC}/{RELEASE}": public / RELEASE}
    sums_of = {name: checksum(path) for name, path in sums.items()} | {
        f"../{PUBLIC}/{CERTIFICATE}": checksum(unfinished)
    }
    write_json(manifest_path, manifest | {"sha256": manifest["sha256"] | sums_of})
    os.replace(unfinished, public / CERTIFICATE)
    return stated
