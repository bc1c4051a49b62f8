"""Publication of one block of a release: tasks that read and write files alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.atomic_output import write_json
from foreknow.app.disk.block_adversary import block_adversary, place_generator, revised_beliefs
from foreknow.app.disk.engine import Engine
from foreknow.app.disk.parts import (
    GROUPS_OF_A_BLOCK,
    Block,
    belief_part,
    key_columns,
    key_folder,
    part_path,
    table_folder,
    write_part,
)
from foreknow.app.publication import PRIVATE, published_cell, read_json
from foreknow.defenses import (
    BKAA,
    Anatomy,
    BTPrivacy,
    Defense,
    GroupPredicate,
    Infeasible,
    JSReduce,
    Mondrian,
    Requirement,
)
from foreknow.defenses.algorithms.ordered_growth import enforce_on_published
from foreknow.defenses.requirements.requirement import Combination, MemberPredicate
from foreknow.defenses.requirements.summary import TableCounts, summarize_groups, summarize_records
from foreknow.evaluation.checks.program import checksum
from foreknow.models import Adversary, Grouping, Release, Schema, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.notes import Note, as_note


class PublishJob(NamedTuple):
    """Settings that all blocks of a publication share; ``time`` is the column of the times, ``folder`` the output."""

    schema: Schema
    time: str
    time_type: pa.DataType
    defense: Defense
    adversary: Adversary | None
    seed: int
    folder: Path

    @property
    def private(self) -> Path:
        """Folder of the publisher."""
        return self.folder / PRIVATE

    @property
    def work(self) -> Path:
        """Folder of files that are removed at the end."""
        return self.private / "work"


class BlockTask(NamedTuple):
    """Block of a release to publish; ``counts``, shape ``(m,)``, are the numbers of records of each value in the release."""

    job: PublishJob
    block: Block
    counts: IntArray

    @property
    def done(self) -> Path:
        """Record of the block."""
        return part_path(self.job.private / "done", self.block.release, self.block.number, "json")

    @property
    def key(self) -> Path:
        """Part of the key."""
        return part_path(key_folder(self.job.folder), self.block.release, self.block.number)

    @property
    def first_label(self) -> int:
        """Label of the first group, which depends on the number of the block alone: ranks would tell of suppressed records."""
        return self.block.number * GROUPS_OF_A_BLOCK


def publish_block(task: BlockTask) -> dict[str, Any]:
    """Group the records of a block and write its parts; return what was made.

    The record in ``private/done`` is written last; a block that has one is not published again. The beliefs of the assumed
    adversary are in ``private/beliefs``.

    Raises
    ------
    ValueError
        If an earlier run published other records in the block.
    """
    if task.done.exists():
        _check_published_records(task)
        return dict(read_json(task.done))
    block, view, prior = view_and_prior(task)
    label = block["label"].to_numpy() if "label" in block.column_names else None
    release = _release(task, view, prior, label)
    return write_release(task, block, prior, release, [])


def write_release(
    task: BlockTask, block: pa.Table, prior: FloatArray, release: Release, earlier: list[list[int]]
) -> dict[str, Any]:
    """Write the parts of a block and its record, and return the record.

    ``earlier`` holds the numbers of suppressed records of each value after each earlier pass over the block. The part of the
    records is written after the others: its checksum tells which pass the parts are of.
    """
    private = task.job.private
    public = part_path(table_folder(task.job.folder), task.block.release, task.block.number)
    write_part(public, published_rows(release, task), private=False)
    written = [public, task.key]
    if task.job.adversary is not None:
        adversary = block_adversary(task.job.adversary, task.block.release, task.block.number)
        posterior = adversary.posterior(prior, release.observation).probabilities
        beliefs = part_path(private / "beliefs", task.block.release, task.block.number)
        write_part(beliefs, belief_part(block["respondent"], release.group, posterior, task.block.release))
        written.append(beliefs)
    write_part(task.key, key_rows_of(block, release.group, task))
    left_out = np.bincount(release.view.sensitive[release.group < 0], minlength=len(task.job.schema.values))
    made = {
        "groups": release.groups,
        "suppressed": int((release.group < 0).sum()),
        "left_out": [*earlier, left_out.tolist()],
        "notes": [(note.kind, note.of) for note in map(as_note, release.grouping.notes)],
        "sha256": {path.relative_to(private, walk_up=True).as_posix(): checksum(path) for path in written},
    }
    write_json(task.done, made)
    return made


def view_and_prior(task: BlockTask) -> tuple[pa.Table, View, FloatArray]:
    """Rows of a block, its view, and the prior of its records, shape ``(n, m)``."""
    rows, m = task.block.read(), len(task.counts)
    people = task.block.people(rows)
    view = View.from_codes(people, rows["value"].to_numpy().astype(np.int64), task.counts)
    if task.job.adversary is None:
        return rows, view, np.full((len(rows), m), 1.0 / m)
    return rows, view, revised_beliefs(task.job.adversary, people, rows, task.block.release)


def _release(task: BlockTask, view: View, prior: FloatArray, label: IntArray | None) -> Release:
    """Release of a block, with its groups in random order; all records of a block that cannot be published are suppressed.

    ``label`` holds the groups where they are known before, None where the defense groups the block.

    The generator of `Anatomy` is that of the block, so that the order in which blocks are published does not matter.
    """
    rng = place_generator(task.job.seed, task.block.release, task.block.number)
    defense = task.job.defense
    if isinstance(defense, Anatomy) and not defense.deterministic:
        defense = replace(defense, rng=rng)
    try:
        grouping = defense(view, prior, ()) if label is None else Grouping(np.unique(label, return_inverse=True)[1])
    except Infeasible as reason:
        kind = "{records:,} records of {blocks:a block|these blocks} are suppressed: {reason}"
        note = Note(kind, records=len(view), blocks=1, reason=str(reason))
        return Release(view, Grouping(np.full(len(view), -1), notes=(note,)))
    return Release(view, grouping.renumbered(rng))


def published_rows(release: Release, task: BlockTask) -> pa.Table:
    """Published rows of a block, with types that are the same in all blocks; its groups are numbered from `first_label`."""
    table, schema = release.table, release.view.schema
    group = {"group": pa.array(table["group"] + task.first_label, pa.int64())}
    columns = {name: _texts(table[name]) for name in schema.quasi_identifiers}
    values = {schema.sensitive: pa.array(table[schema.sensitive], pa.array(list(schema.values)).type)}
    return pa.table({task.job.time: _times(task, len(table))} | group | columns | values)


def _times(task: BlockTask, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(task.block.time, task.job.time_type), rows)


def _texts(column: "pd.Series[Any]") -> pa.Array:
    """Published quasi-identifiers as text, which is made once for each distinct cell."""
    number, cells = pd.factorize(column)
    return pa.array(list(map(published_cell, cells)), pa.string()).take(pa.array(number))


def _check_published_records(task: BlockTask) -> None:
    """Raise ValueError unless a block that an earlier run published has its ranks in the order of this run.

    In another order blocks of two runs would hold a respondent twice. Cost: one reading of the block.
    """
    block = task.block.read()
    columns = {name: own for name, own in key_columns(task.job.schema).items() if name in block.column_names}
    found = pq.read_table(task.key, columns=[*columns.values()], use_threads=False, partitioning=None)
    if not all(found[own].equals(block[name]) for name, own in columns.items()):
        raise ValueError(
            f"publish_large: {task.key} of an interrupted run holds other records than block {task.block.number} of the release at "
            f"{task.block.time!r} has in this run; all parts are of one order. Name a folder that does not exist."
        )


def key_rows_of(block: pa.Table, group: IntArray, task: BlockTask) -> pa.Table:
    """Rows of the key: ``group``, -1 if suppressed, ``rank``, and the codes of the record."""
    made = {
        "group": np.where(group >= 0, group + task.first_label, -1),
        "rank": np.arange(task.block.start, task.block.stop),
    }
    names = key_columns(task.job.schema)
    columns = {own: pa.array(made[name]) if name in made else block[name] for name, own in names.items()}
    times = {task.job.time: _times(task, len(block))}
    return pa.table({task.job.schema.respondent: columns.pop(task.job.schema.respondent)} | times | columns)


def settled_blocks(tasks: Sequence[BlockTask], made: list[dict[str, Any]], engine: Engine) -> list[dict[str, Any]]:
    """Records of the blocks of a release after as many passes as change the published table.

    A block compares its groups with the whole release less the records that it suppresses itself. In a pass, each block compares
    its groups with what all blocks publish, and merges or suppresses those that fail (`enforce_on_published`). The passes end when
    no block has suppressed another record: all groups then satisfy the requirement against the published table. Merging does not
    change that table. Cost: that of an evaluation of the requirement for each pass; none if no record is suppressed.
    """
    job, counts = tasks[0].job, tasks[0].counts
    if len(tasks) == 1 or not _compares_with_published(job.defense):
        return made
    tables: tuple[IntArray, ...] = ()
    left_out = np.sum([one["left_out"][0] for one in made], axis=0)
    while left_out.any() and (not tables or (tables[-1] != counts - left_out).any()):
        tables = (*tables, counts - left_out)
        made = list(engine.map(partial(settle_block, tables=tables), tasks))
        left_out = np.sum([one["left_out"][len(tables)] for one in made], axis=0)
    return made


def settle_block(task: BlockTask, tables: tuple[IntArray, ...]) -> dict[str, Any]:
    """Record of a block after a pass for each published table, shape ``(m,)``.

    The parts of a pass that was interrupted are made again from the first one.
    """
    made = dict(read_json(task.done))
    if made["sha256"][task.key.relative_to(task.job.private).as_posix()] != checksum(task.key):
        task.done.unlink()
        made = publish_block(task)
    for table in tables[len(made["left_out"]) - 1 :]:
        made = _settled(task, made, table)
    return made


def _settled(task: BlockTask, made: dict[str, Any], table: IntArray) -> dict[str, Any]:
    """Record of a block whose groups satisfy the requirement in a published table, with its parts written if they changed."""
    block, view, prior = view_and_prior(task)
    requirement = task.job.defense.requirement.bind(view, prior)  # type: ignore[attr-defined]
    records = summarize_records(view, prior, requirement.reads_members)
    label = pq.read_table(task.key, columns=["group"], use_threads=False, partitioning=None)["group"].to_numpy()
    labels = np.where(label >= 0, np.unique(label, return_inverse=True)[1], 0) - int((label < 0).any())
    published = TableCounts(view.schema.values, table)
    groups = summarize_groups(records, labels, published)
    if requirement(groups).all():
        return made | {"left_out": [*made["left_out"], made["left_out"][-1]]}
    # The records that this block suppresses are taken from the table by `enforce_on_published`.
    elsewhere = TableCounts(view.schema.values, table + np.array(made["left_out"][-1]))
    several = isinstance(task.job.defense, BKAA)  # as BKAA does itself, within a block
    rank = np.arange(len(view))
    labels, notes = enforce_on_published(replace(records, table=elsewhere), labels, rank, requirement, several)
    grouping = Grouping(labels, notes=(*(Note(kind, **of) for kind, of in made["notes"]), *notes))
    rng = place_generator(task.job.seed, task.block.release, task.block.number)
    return write_release(task, block, prior, Release(view, grouping.renumbered(rng)), made["left_out"])


def _compares_with_published(defense: object) -> bool:
    """True if a defense promises its requirement in the published table."""
    if isinstance(defense, (BKAA, JSReduce)):
        return defense.judged == "published" and defense.leftovers != "relax"
    return isinstance(defense, Mondrian)


def check_block_requirement(owner: str, requirement: Requirement) -> None:
    """Raise ValueError if a requirement, or a part of it, is fitted to all records of a view.

    A block knows the groups, the counts of the whole table and the priors of its records. A requirement that extends neither
    `GroupPredicate` nor weighs the prior given to the defense reads more of the view, as `BTPrivacy` with a bandwidth.
    """
    if isinstance(requirement, Combination):
        for part in requirement.parts:
            check_block_requirement(owner, part)
    elif isinstance(requirement, MemberPredicate) or not (
        isinstance(requirement, GroupPredicate) or requirement.weighs_beliefs
    ):
        instead = ", or give the prior to adversary= and take bandwidth=None" * isinstance(requirement, BTPrivacy)
        raise ValueError(
            f"{owner}: {requirement!r} is fitted to all records of a view, and from disk a block has its own alone; publish and "
            f"verify in memory{instead}."
        )
