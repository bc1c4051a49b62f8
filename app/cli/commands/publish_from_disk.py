"""`foreknow publish --from-disk`: publication of a table larger than memory, its verification and its certificate."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foreknow.app.cli.adversary_knowledge import KNOWLEDGE_OPTIONS, Learning, class_intervals
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.next_step import check_lines, next_lines, option_text, unused_path
from foreknow.app.cli.commands.publish_command import PublishRun, check_any_group, notice_kernel, verified_lines
from foreknow.app.cli.defense_choices import defense_text, fresh_seed
from foreknow.app.cli.files.atomic_output import check_output
from foreknow.app.cli.files.large_tables import large_tables, notice_interrupted, refuse_in_memory
from foreknow.app.cli.files.release_files import RELEASE
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.options import TableOptions
from foreknow.app.cli.printing.attack_tables import MOST
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import error_console, notice, say, show
from foreknow.defenses import Anatomy, Defense
from foreknow.evaluation.checks.certificate import (
    FAILED,
    Certificate,
    ReleaseNumbers,
    certificate_of,
    enforced_requirement,
)
from foreknow.evaluation.checks.manifest import BEGUN, CERTIFICATE, MANIFEST, PRIVATE, checksum, read_json, settings
from foreknow.evaluation.file_lock import locked
from foreknow.evaluation.program_version import program_version
from foreknow.models import Adversary, Omega

if TYPE_CHECKING:
    from foreknow.app.disk import Engine, LargeTable
    from foreknow.app.disk.publication import LargeReleases

PARTS = "release"
"""Folder of the published parts."""

IN_MEMORY = ("infeasible", "bucketized", "generalized", "quote_formulas", "pictures", "deterministic")
"""Options of `foreknow publish` that are read without --from-disk alone."""


CARRIED = (*KNOWLEDGE_OPTIONS, "memory", "workers", "scheduler", "scratch")
"""Parameters that `foreknow attack --from-disk` reads as well, besides those of the table."""


def publish_from_disk(run: PublishRun) -> Outcome:
    """Publish a table on disk, verify it, and write its certificate; an interrupted run goes on."""
    defense, engine = _checked_defense(run), run.disk.engine("publishing, blocks of a release")
    complete = run.out / PARTS / CERTIFICATE
    check_output(run.out, [complete.relative_to(run.out)], (), run.overwrite)
    with error_console.status("reading the domains of the columns"):
        table, corpus = large_tables(run.table, run.corpus)
        _check_times(table, engine)
    adversary = _assumed(run, table, corpus, engine) if run.choice.assumes_adversary else None
    with _earlier_set_aside(run, table, defense, adversary, engine):
        published, stated = _published(run, table, defense, adversary, engine)
    _report(published, defense)
    say(
        f"For the public: {run.out / PARTS}, with {RELEASE} and {CERTIFICATE}.",
        f"For you alone: {run.out / PRIVATE}. It names the group of each record and undoes the publication: keep it apart.",
        *verified_lines(stated, run.out / PARTS),
    )
    say(*check_lines(run.out))
    groups = f"--from-disk {option_text('groups', run.out)}"
    say(*next_lines(run.context, "attack", groups, f"--out {unused_path('risk')}", also=CARRIED))
    return Outcome(_content(published, defense, run.out, stated), stated.verdict == FAILED)


def _checked_defense(run: PublishRun) -> Defense:
    """The defense, if it and all options given are read from disk."""
    from foreknow.app.disk.publication import (
        CURVE_DEFENSES,
        KIB_OF_A_RECORD,
        LEVEL_DEFENSES,
        RANDOM_DEFENSES,
    )

    refuse_in_memory(run.context, *IN_MEMORY)
    defense: Any = run.choice.make(run.thresholds.of_run(run.context, fresh_seed()))
    known = (*CURVE_DEFENSES, *LEVEL_DEFENSES, *RANDOM_DEFENSES)
    if not isinstance(defense, known):
        names = ", ".join(sorted(kind.__name__ for kind in known))
        raise ValueError(
            f"{type(defense).__name__} needs all records of a release in memory, some {KIB_OF_A_RECORD} KiB each. From disk: "
            f"{names}; or leave out --from-disk."
        )
    if run.known.order != 1 and run.choice.assumes_adversary:
        raise ValueError(f"--order {run.known.order} is not read with --from-disk; the assumed adversary has order 1.")
    if run.thresholds.leftovers == "counterfeit":
        raise ValueError(
            "--leftovers counterfeit is not read with --from-disk; choose suppress, relax or, with --defense bkaa, join."
        )
    # The generator of each block is that of its place, not one for all.
    return replace(defense, rng=None) if isinstance(defense, Anatomy) else defense


@contextmanager
def _earlier_set_aside(
    run: PublishRun, table: "LargeTable", defense: Defense, adversary: Adversary | None, engine: "Engine"
) -> Iterator[None]:
    """Context manager in which, with --overwrite, an earlier publication is set aside, unless arguments or records are refused."""
    from foreknow.app.disk.begun_runs import earlier_set_aside, forget_earlier
    from foreknow.app.disk.large_table import check_records
    from foreknow.app.disk.parts import BLOCK_RECORDS, EARLIER
    from foreknow.app.disk.publication import check_arguments

    if not run.overwrite or not any((run.out / name / BEGUN).exists() for name in (PRIVATE, f"{EARLIER}/{PRIVATE}")):
        yield
        forget_earlier(run.out)
        return
    check_arguments(table, defense, adversary, run.block or BLOCK_RECORDS, run.seed)
    with error_console.status("checking the records"), engine.connection() as connection:
        check_records(table, connection)
    with earlier_set_aside(run.out):
        yield


def _published(
    run: PublishRun, table: "LargeTable", defense: Defense, adversary: Adversary | None, engine: "Engine"
) -> "tuple[LargeReleases, Certificate]":
    """The publication and its certificate."""
    from foreknow.app.disk import publish_large
    from foreknow.app.disk.begun_runs import AlreadyPublished
    from foreknow.app.disk.parts import BLOCK_RECORDS
    from foreknow.app.disk.publication import LargeReleases

    notice_kernel(run.choice)
    notice_interrupted(run.out, run.out / PRIVATE)
    try:
        published = publish_large(
            table, defense, run.out, adversary, block=run.block or BLOCK_RECORDS, seed=run.seed, engine=engine
        )
    except AlreadyPublished:  # The run was killed before its certificate was written.
        published = LargeReleases(run.out)
    check_any_group(published.releases, defense, table.schema)
    with locked(run.out):
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
    from foreknow.app.disk.parts import write_json

    requirement = enforced_requirement(defense)
    found: pd.DataFrame | None = None
    if not run.no_verify and requirement is not None:
        found = verify_large(
            published, requirement, adversary, engine=run.disk.engine("verifying, blocks of a release")
        )
    manifest_path, public = run.out / PRIVATE / MANIFEST, run.out / PARTS
    manifest = read_json(manifest_path)
    parts = {
        name.removeprefix(f"../{PARTS}/"): sum_
        for name, sum_ in manifest["sha256"].items()
        if name.startswith(f"../{PARTS}/") and name.endswith(".parquet")
    }
    _write_release(public / RELEASE, published, defense, run.table, parts)
    numbers = [ReleaseNumbers(one.time, one.records, one.groups, one.suppressed) for one in published.releases]
    files = parts | {RELEASE: checksum(public / RELEASE)}
    stated = certificate_of(defense, adversary, numbers, found, is_seeded(run.out), files)
    seed = int(read_json(run.out / PRIVATE / BEGUN)["settings"]["seed"])
    write_settings(run.out / PRIVATE / SETTINGS, run_settings(run.context, run.inputs, seed))
    unfinished = public / f".{CERTIFICATE}"
    stated.write(unfinished)
    sums = {SETTINGS: run.out / PRIVATE / SETTINGS, f"../{PARTS}/{RELEASE}": public / RELEASE}
    sums_of = {name: checksum(path) for name, path in sums.items()} | {
        f"../{PARTS}/{CERTIFICATE}": checksum(unfinished)
    }
    write_json(manifest_path, manifest | {"sha256": manifest["sha256"] | sums_of})
    os.replace(unfinished, public / CERTIFICATE)
    return stated


def _write_release(
    path: Path, published: "LargeReleases", defense: Defense, table: TableOptions, parts: dict[str, str]
) -> None:
    """Write ``release.json``: program, defense, times, roles of the columns, and the parts of each release."""
    from foreknow.app.disk.parts import write_json

    times = [str(one.time) for one in published.releases]
    folders = [f"release-{number:04d}" for number in range(len(times))]
    columns = {"time": table.time, "sensitive": table.sensitive, "quasi_identifiers": list(table.qi)}
    content = {"program": program_version(), "defense": settings(defense), "times": times, "columns": columns}
    write_json(path, content | {"parts": dict(zip(folders, times, strict=True)), "sha256": parts})


def _report(published: "LargeReleases", defense: Defense) -> None:
    """Print groups and suppressed records of each release, and the notes of the defense."""
    show(PrintedTable(pd.DataFrame(_cost(published)), defense_text(defense)))
    lost, records = (sum(getattr(one, name) for one in published.releases) for name in ("suppressed", "records"))
    if lost > MOST * records:
        notice(
            f"WARNING: {lost:,} of {records:,} records ({lost / records:.0%}) are suppressed; the table tells little."
        )
    for release in published.releases:
        for note in release.notes:
            notice(f"at {release.time}: {note}")


def _cost(published: "LargeReleases") -> list[dict[str, Any]]:
    return [
        {
            "time": one.time,
            "groups": one.groups,
            "records": one.records,
            "suppressed": one.suppressed,
            "share": one.suppressed / max(one.records, 1),
        }
        for one in published.releases
    ]


def _content(published: "LargeReleases", defense: Defense, out: Path, stated: Certificate) -> dict[str, Any]:
    """A publication as JSON has it."""
    records = sum(one.records for one in published.releases)
    return {
        "defense": settings(defense),
        "suppressed": sum(one.suppressed for one in published.releases) / max(records, 1),
        "releases": _cost(published),
        "notes": [f"at {one.time}: {note}" for one in published.releases for note in one.notes],
        "published": str(out / PARTS),
        "key": str(out / PRIVATE),
        "settings": str(out / PRIVATE / SETTINGS),
        "verdict": stated.verdict,
    }
