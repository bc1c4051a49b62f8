"""`foreknow attack --from-disk`: the joint, sequential or snapshot attack on a publication from disk, and its risk."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foreknow.app.cli.attack_choices import RECORDS
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_command import AttackRun
from foreknow.app.cli.commands.attack_findings import CORPUS, KNOWERS
from foreknow.app.cli.commands.check_folder import AT_RISK, BELIEFS, written_sums
from foreknow.app.cli.commands.exposure_verdict import exposure_content, fail_over_lines, is_over, verdict_line
from foreknow.app.cli.commands.next_step import check_lines, paths_of, typed_lines
from foreknow.app.cli.commands.publish_from_disk import learned_from
from foreknow.app.cli.files.atomic_output import atomic_output, check_output
from foreknow.app.cli.files.large_tables import large_tables, notice_interrupted, refuse_in_memory
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.printing.attack_tables import risk_columns
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import notice, say, say_sentences, show
from foreknow.app.exposure import Exposure
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST, PRIVATE, Listing, checksum, extra_files, read_json
from foreknow.evaluation.file_lock import locked
from foreknow.models import Adversary

if TYPE_CHECKING:
    from foreknow.app.disk.measures import LargeMeasures
    from foreknow.app.disk.publication import LargeReleases

FROM_DISK = ("joint", "sequential", "snapshot")
"""Attacks on a publication from disk."""

DISK_SOLVERS = ("group-messages", "max-entropy")
"""Solvers of the joint attack on a publication from disk."""

IN_MEMORY = (
    "later", "alone", "people", "group", "sensitive_set", "attribute_set", "support", "r", "statements", "k", "l", "seed",
    "pictures",
)  # fmt: skip
"""Options of `foreknow attack` that are read without --from-disk alone."""


def attack_from_disk(run: AttackRun) -> Outcome:
    """Attack a publication from disk, print its risk and, with --out, keep beliefs and exposed respondents.

    An interrupted run goes on.
    """
    from foreknow.app.disk.engine import shared_folder  # DuckDB is loaded where it is used

    published = _checked(run)
    joint = run.chosen.attack == "joint"
    notice_compilation(run.chosen.solver if joint else None, run.chosen.estimator, learns=False)
    adversary = _adversary(run, published)
    if run.out is None:
        with shared_folder(run.disk.engine("attacking"), published.folder / PRIVATE) as folder:
            told = _attack(run, published, adversary, folder / BELIEFS)
            found = _measured(run, published, adversary, folder / BELIEFS, folder)
    else:
        told = _attack(run, published, adversary, run.out / BELIEFS)
        with atomic_output(run.out, [run.table.records], run.overwrite) as folder:
            found = _measured(run, published, adversary, run.out / BELIEFS, folder)
            (folder / AT_RISK).chmod(0o600)
            settings = run_settings(run.context, [*run.table.files, run.corpus])
            write_settings(folder / SETTINGS, settings | written_sums(run.out, folder))
    releases = risk_columns(found.risk.rename(columns={"measured": "published"}))
    show(PrintedTable(releases, run.attack.title))
    for note in told["notes"]:
        notice(note)
    exposed = _exposure(run, found)
    say_sentences(verdict_line(exposed), *fail_over_lines(exposed.share, run.fail_over))
    if run.out is not None:
        say(
            f"Beliefs, for you alone: {run.out / BELIEFS}. Exposed respondents: {run.out / AT_RISK}.",
            f"Settings: {run.out / SETTINGS}.",
            "To compare these files with their checksums:",
            *typed_lines(f"check {paths_of([run.out])}"),
        )
    assert run.groups is not None
    say(*check_lines(run.groups))
    made = {"attack": run.chosen.attack, "solver": run.chosen.solver if joint else None, "releases": releases}
    files = [] if run.out is None else [str(run.out / each) for each in (BELIEFS, AT_RISK, SETTINGS)]
    doubts = {name: told[name] for name in ("doubtful_groups", "notes")}
    content: dict[str, Any] = exposure_content(exposed, run.fail_over) | made | doubts | {"files": files}
    return Outcome(content, is_over(exposed, run.fail_over))


def _exposure(run: AttackRun, found: "LargeMeasures") -> Exposure:
    """Exposed respondents, who are listed on disk."""
    numbers = found.published_respondents, found.exposed, found.known, found.first
    return Exposure(run.sure, *numbers, pd.DataFrame(), KNOWERS[RECORDS if run.corpus is None else CORPUS])


def _checked(run: AttackRun) -> "LargeReleases":
    """The publication, if all options are read from disk and belong together."""
    from foreknow.app.disk.publication import LargeReleases

    refuse_in_memory(run.context, *IN_MEMORY)
    name = run.chosen.attack
    if name not in FROM_DISK:
        raise ValueError(
            f"--attack {name} needs all releases in memory. From disk: {', '.join(FROM_DISK)}; or leave out --from-disk."
        )
    run.check_attack()
    if name == "joint" and run.chosen.solver not in DISK_SOLVERS:
        raise ValueError(
            f"--solver {run.chosen.solver} needs all releases in memory. From disk: {', '.join(DISK_SOLVERS)}; or leave out "
            "--from-disk."
        )
    if name == "joint" and "estimator" in given_options(run.context):
        raise ValueError(
            "--estimator is not read by the joint attack from disk; leave it out, or choose --attack sequential, snapshot."
        )
    if run.known.order != 1:
        raise ValueError(f"--order {run.known.order} is not read with --from-disk; the adversary has order 1.")
    if run.knowledge is not None and run.knowledge == "learned":
        raise ValueError(
            "--knowledge learned needs all releases in memory. From disk: --knowledge records, or --corpus FILE."
        )
    if run.groups is None or not run.groups.is_dir():
        raise ValueError("--from-disk needs --groups FOLDER, the folder of foreknow publish --from-disk.")
    if run.out is not None:
        check_output(run.out, [AT_RISK, SETTINGS], [run.table.records], run.overwrite)
    published = LargeReleases(run.groups)
    _check_records(run, published)
    return published


def _check_records(run: AttackRun, published: "LargeReleases") -> None:
    """Raise ValueError unless the records are those that were published, with the same roles of their columns."""
    from foreknow.app.disk.publication import input_checksums

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


def _adversary(run: AttackRun, published: "LargeReleases") -> Adversary:
    """The adversary, who knows the records or a corpus."""
    if run.corpus is None:
        notice("No --corpus: the adversary learns from the published records themselves, more than an outsider knows.")
    table, corpus = large_tables(run.table, run.corpus)
    source = replace_schema(table if corpus is None else corpus, published)
    learned = learned_from(source, run.known, run.disk.engine("learning, blocks of a release"))
    transitions = None if run.chosen.attack == "snapshot" else learned.transitions
    return run.known.adversary(learned.prior, transitions, run.attack.posterior)


def replace_schema(table: Any, published: "LargeReleases") -> Any:
    """A table on disk with the schema of a publication, whose codes the beliefs have."""
    return type(table)(table.files, published.schema, table.time)


def _remove_earlier(out: Path) -> None:
    """Remove the beliefs, the exposed respondents and the settings of an earlier run from disk, if no run holds a lock."""
    from foreknow.app.disk.begun_runs import remove_run

    if (out / BELIEFS / BEGUN).exists():
        with locked(out), locked(out / BELIEFS):
            _check_no_extra(out / BELIEFS)
            for name in (AT_RISK, SETTINGS):
                (out / name).unlink(missing_ok=True)
            remove_run(out / BELIEFS)


def _check_no_extra(beliefs: Path) -> None:
    """Raise ValueError if complete beliefs have a file beside them that would be removed, too."""
    if not (beliefs / MANIFEST).exists():
        return
    listing = Listing(beliefs / MANIFEST, read_json(beliefs / MANIFEST).get("sha256", {}))
    if extra := extra_files(beliefs, listing):
        raise ValueError(
            f"{beliefs / extra[0]} is not of the beliefs that would be replaced; move it, or name another folder."
        )


def _attack(run: AttackRun, published: "LargeReleases", adversary: Adversary, beliefs: Path) -> dict[str, Any]:
    """Write the beliefs, unless a run that was killed before their measures were written has done so; return their manifest.

    With --overwrite, those of an earlier run are removed, once the attack is known to be possible.
    """
    from foreknow.app.disk import attack_large
    from foreknow.app.disk.attack import checked_attack
    from foreknow.app.disk.begun_runs import AlreadyAttacked

    attack: SequentialAttack | JointAttack = SequentialAttack(adversary)
    blocks = "blocks of a release"
    if run.chosen.attack == "joint":
        attack = JointAttack(adversary, run.attack.joint_solver, hindsight=not run.forward)
        blocks = "partitions of the respondents"
    if run.out is not None and run.overwrite:
        checked_attack(published, attack)
        _remove_earlier(run.out)
    notice_interrupted(beliefs, beliefs / "work")
    with suppress(AlreadyAttacked):
        attack_large(published, attack, beliefs, engine=run.disk.engine(f"attacking, {blocks}"))
    return read_json(beliefs / MANIFEST)


def _measured(
    run: AttackRun, published: "LargeReleases", adversary: Adversary, beliefs: Path, folder: Path
) -> "LargeMeasures":
    """The measures; the exposed respondents are written."""
    from foreknow.app.disk import measure_large

    engine = run.disk.engine("measuring, blocks of a release")
    return measure_large(published, beliefs, adversary, sure=run.sure, at_risk=folder / AT_RISK, engine=engine)
