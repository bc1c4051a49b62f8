"""`foreknow attack --from-disk`: the sequential attack on a publication from disk, and its risk."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import typer

from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.cli.adversary_knowledge import Learning
from foreknow.evaluation.cli.attack_choices import estimator_choice
from foreknow.evaluation.cli.command_shape import Outcome
from foreknow.evaluation.cli.commands.attack_adversaries import CORPUS, KNOWERS
from foreknow.evaluation.cli.commands.attack_making import RECORDS
from foreknow.evaluation.cli.commands.attack_options import AttackOptions, KnowledgeSource
from foreknow.evaluation.cli.commands.exposure_verdict import (
    Exposure,
    exposure_content,
    fail_over_lines,
    is_over,
    verdict_line,
)
from foreknow.evaluation.cli.commands.publish_from_disk import learned_from
from foreknow.evaluation.cli.disk_options import DiskOptions
from foreknow.evaluation.cli.files.atomic_output import atomic_output, check_output
from foreknow.evaluation.cli.files.large_tables import large_tables, refuse_in_memory
from foreknow.evaluation.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.evaluation.cli.option_groups import TableOptions
from foreknow.evaluation.cli.options import given_options
from foreknow.evaluation.cli.printing.printed_table import PrintedTable
from foreknow.evaluation.cli.printing.terminal import notice, say, say_sentences, show
from foreknow.models import Adversary

if TYPE_CHECKING:
    from foreknow.evaluation.large import LargeReleases
    from foreknow.evaluation.large.exposure import LargeExposure

BELIEFS, AT_RISK = "beliefs", "at-risk.parquet"
"""Folder of the beliefs and file of the exposed respondents in --out."""

FROM_DISK = ("sequential", "snapshot")
"""Attacks on a publication from disk."""

IN_MEMORY = (
    "later", "alone", "people", "group", "solver", "forward", "sensitive_set", "attribute_set", "support", "r", "statements", "k",
    "l", "seed", "pictures",
)  # fmt: skip
"""Options of `foreknow attack` that are read without --from-disk alone."""


class DiskAttack(NamedTuple):
    """Options of `foreknow attack --from-disk`."""

    context: typer.Context
    table: TableOptions
    chosen: AttackOptions
    learning: Learning
    groups: Path | None
    sure: float
    fail_over: float | None
    corpus: Path | None
    knowledge: KnowledgeSource | None
    out: Path | None
    disk: DiskOptions
    overwrite: bool


def attack_from_disk(run: DiskAttack) -> Outcome:
    """Attack a publication from disk, print its risk and, with --out, keep beliefs and exposed respondents."""
    name, published = _checked(run)
    adversary = _adversary(run, name, published)
    if run.out is None:
        with TemporaryDirectory(prefix="foreknow-", dir=run.disk.scratch) as folder:
            found = _attacked(run, published, adversary, Path(folder))
    else:
        with atomic_output(run.out, [run.table.records], run.overwrite) as folder:
            found = _attacked(run, published, adversary, folder)
            (folder / BELIEFS).chmod(0o700)
            (folder / AT_RISK).chmod(0o600)
            write_settings(folder / SETTINGS, run_settings(run.context, [*run.table.files, run.corpus]))
    show(PrintedTable(found.releases, f"{name} attack, {run.chosen.estimator} posterior"))
    first = None if found.first is None else published.releases[found.first].time
    # Only the number of rows is read.
    people = pd.DataFrame(index=range(found.exposed))
    exposed = Exposure(
        run.sure, found.respondents, found.known, people, first, KNOWERS[RECORDS if run.corpus is None else CORPUS]
    )
    say_sentences(verdict_line(exposed), *fail_over_lines(exposed.share, run.fail_over))
    if run.out is not None:
        say(
            f"Beliefs, for you alone: {run.out / BELIEFS}. Exposed respondents: {run.out / AT_RISK}. Settings: {SETTINGS}."
        )
    content: dict[str, Any] = exposure_content(exposed, run.fail_over) | {"attack": name, "releases": found.releases}
    files = [] if run.out is None else [str(run.out / each) for each in (BELIEFS, AT_RISK, SETTINGS)]
    return Outcome(content | {"files": files}, is_over(exposed, run.fail_over))


def _checked(run: DiskAttack) -> tuple[str, "LargeReleases"]:
    """The attack and the publication, if all options are read from disk and belong together."""
    from foreknow.evaluation.large import LargeReleases

    refuse_in_memory(run.context, *IN_MEMORY)
    name = run.chosen.attack if "attack" in given_options(run.context) else FROM_DISK[0]
    if name not in FROM_DISK:
        raise ValueError(
            f"--attack {name} needs all releases in memory. From disk: {', '.join(FROM_DISK)}; or leave out --from-disk."
        )
    if run.learning.order != 1:
        raise ValueError(f"--order {run.learning.order} is not read with --from-disk; the adversary has order 1.")
    if run.knowledge is not None and run.knowledge.value == "learned":
        raise ValueError(
            "--knowledge learned needs all releases in memory. From disk: --knowledge records, or --corpus FILE."
        )
    if run.corpus is not None and run.knowledge is not None:
        raise ValueError(
            "--corpus and --knowledge records exclude each other: with a corpus, the adversary learned from it."
        )
    if run.groups is None or not run.groups.is_dir():
        raise ValueError("--from-disk needs --groups FOLDER, the folder of foreknow publish --from-disk.")
    if run.out is not None:
        check_output(run.out, [AT_RISK, SETTINGS], [run.table.records], run.overwrite)
        if (run.out / BELIEFS).exists():
            raise ValueError(f"{run.out / BELIEFS} is there from another run; move it away, or name another folder.")
    published = LargeReleases(run.groups)
    _check_records(run, published)
    return name, published


def _check_records(run: DiskAttack, published: "LargeReleases") -> None:
    """Raise ValueError unless the records are those that were published, with the same roles of their columns."""
    from foreknow.evaluation.large.publication import input_checksums

    schema = published.schema
    if (set(run.table.qi), run.table.sensitive, run.table.id_) != (
        set(schema.quasi_identifiers), schema.sensitive, schema.respondent,
    ):  # fmt: skip
        raise ValueError(
            f"{run.groups} was published with --qi {' --qi '.join(map(str, schema.quasi_identifiers))} --sensitive "
            f"{schema.sensitive} --id {schema.respondent}; give the same."
        )
    if checksum(run.table.records) not in input_checksums(published):
        raise ValueError(
            f"{run.table.records} is not the file that {run.groups} was made from: its checksum is another. Give that file, or "
            "publish again."
        )


def _adversary(run: DiskAttack, name: str, published: "LargeReleases") -> Adversary:
    """The adversary, who knows the records or a corpus."""
    if run.corpus is None:
        notice("No --corpus: the adversary learns from the published records themselves, the strongest knowledge.")
    table, corpus = large_tables(run.table, run.corpus)
    source = replace_schema(table if corpus is None else corpus, published)
    learned = learned_from(source, run.learning, run.disk.engine("learning"))
    transitions = learned.transitions if name == "sequential" else None
    return run.learning.adversary(learned.prior, transitions, estimator_choice(run.chosen.estimator))


def replace_schema(table: Any, published: "LargeReleases") -> Any:
    """A table on disk with the schema of a publication, whose codes the beliefs have."""
    return type(table)(table.files, published.schema, table.time)


def _attacked(run: DiskAttack, published: "LargeReleases", adversary: Adversary, folder: Path) -> "LargeExposure":
    from foreknow.evaluation.large import attack_large
    from foreknow.evaluation.large.exposure import large_exposure

    engine = run.disk.engine("attacking")
    beliefs = attack_large(published, adversary, folder / BELIEFS, engine=engine)
    measured = run.disk.engine("measuring")
    return large_exposure(published, beliefs, adversary, run.sure, folder / AT_RISK, measured)
