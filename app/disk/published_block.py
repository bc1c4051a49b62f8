"""Publication of one block of a release: a task that reads and writes files alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.belief_columns import belief_part
from foreknow.app.disk.block_generators import block_adversary, place_generator
from foreknow.app.disk.blocks import GROUPS_OF_A_BLOCK, people_of, read_block
from foreknow.app.disk.parts import part_path, read_json, write_json, write_part
from foreknow.app.disk.revised_beliefs import revised_beliefs
from foreknow.app.disk.sorted_records import SortedRecords
from foreknow.defenses import Anatomy, Defense, Infeasible
from foreknow.evaluation.checks.program import checksum
from foreknow.models import Adversary, Grouping, Numeric, People, Release, Schema, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.notes import Note, as_note


class PublishJob(NamedTuple):
    """Settings that all blocks of a publication share; ``folder`` is the output."""

    schema: Schema
    defense: Defense
    adversary: Adversary | None
    seed: int
    folder: Path

    @property
    def work(self) -> Path:
        """Folder of files that are removed at the end."""
        return self.folder / "private" / "work"


class BlockTask(NamedTuple):
    """Block of a release to publish.

    Attributes
    ----------
    job : PublishJob
    records : SortedRecords
        Records of the release, of which ``start`` and ``stop`` are the ranks of the block.
    release, block : int
        Numbers of the release and of the block.
    """

    job: PublishJob
    records: SortedRecords
    time: Any
    release: int
    block: int
    start: int
    stop: int

    @property
    def first_label(self) -> int:
        """Label of the first group, which depends on the number of the block alone: ranks would tell of suppressed records."""
        return self.block * GROUPS_OF_A_BLOCK


def publish_block(task: BlockTask) -> dict[str, Any]:
    """Group the records of a block and write its parts; return what was made.

    The published part is in ``release``, that of the publisher in ``private/records``, the beliefs of the assumed adversary in
    ``private/beliefs``. The record in ``private/done`` is written last; a block that has one is not published again.

    Raises
    ------
    ValueError
        If an earlier run published other records in the block.
    """
    done = part_path(task.job.folder / "private" / "done", task.release, task.block, "json")
    if done.exists():
        _check_published_records(task)
        return dict(read_json(done))
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
    private = task.job.folder / "private"
    public = part_path(task.job.folder / "release", task.release, task.block)
    own = part_path(private / "records", task.release, task.block)
    write_part(public, _published(release, task.first_label))
    written = [public, own]
    if task.job.adversary is not None:
        adversary = block_adversary(task.job.adversary, task.release, task.block)
        posterior = adversary.posterior(prior, release.observation).probabilities
        beliefs = part_path(private / "beliefs", task.release, task.block)
        write_part(beliefs, belief_part(block["respondent"], release.group, posterior, task.release))
        written.append(beliefs)
    write_part(own, _records(block, release.group, task))
    left_out = np.bincount(release.view.sensitive[release.group < 0], minlength=len(task.job.schema.values))
    made = {
        "groups": release.groups,
        "suppressed": int((release.group < 0).sum()),
        "left_out": [*earlier, left_out.tolist()],
        "notes": [(note.kind, note.of) for note in map(as_note, release.grouping.notes)],
        "sha256": {path.relative_to(private, walk_up=True).as_posix(): checksum(path) for path in written},
    }
    write_json(part_path(private / "done", task.release, task.block, "json"), made)
    return made


def view_and_prior(task: BlockTask) -> tuple[pa.Table, View, FloatArray]:
    """Rows of a block, its view, and the prior of its records, shape ``(n, m)``."""
    block = read_block(task.records.path, task.start, task.stop)
    people = people_of(block, task.job.schema, task.time)
    view = View.from_codes(people, block["value"].to_numpy().astype(np.int64), task.records.counts)
    return block, view, _prior(task, people, block)


def _prior(task: BlockTask, people: People, block: pa.Table) -> FloatArray:
    m = len(task.job.schema.values)
    if task.job.adversary is None:
        return np.full((len(people), m), 1.0 / m)
    return revised_beliefs(task.job.adversary, people, block, task.release)


def _release(task: BlockTask, view: View, prior: FloatArray, label: IntArray | None) -> Release:
    """Release of a block, with its groups in random order; all records of a block that cannot be published are suppressed.

    ``label`` holds the groups where they are known before, None where the defense groups the block.

    The generator of `Anatomy` is that of the block, so that the order in which blocks are published does not matter.
    """
    rng = generator_of(task)
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


def generator_of(task: BlockTask) -> np.random.Generator:
    """Generator of the order of the groups of a block."""
    return place_generator(task.job.seed, task.release, task.block)


def _published(release: Release, first: int) -> pa.Table:
    """Published rows of a block, with types that are the same in all blocks; its groups are numbered from ``first``."""
    table, schema = release.table, release.view.schema
    columns = {"group": pa.array(table["group"] + first, pa.int64())}
    for name, kind in schema.quasi_identifiers.items():
        exact = pa.float64() if isinstance(kind, Numeric) else pa.array(list(kind.values)).type
        columns[name] = _column(table[name], exact if release.bucketized else pa.string())
    columns[schema.sensitive] = _column(table[schema.sensitive], pa.array(list(schema.values)).type)
    return pa.table(columns)


def _column(column: "pd.Series[Any]", kind: pa.DataType) -> pa.Array:
    """Published cells of a type; a text is made once for each distinct cell."""
    if not pa.types.is_string(kind):
        return pa.array(column, kind)
    number, cells = pd.factorize(column)
    return pa.array(list(map(str, cells)), kind).take(pa.array(number))


def _check_published_records(task: BlockTask) -> None:
    """Raise ValueError unless a block that an earlier run published has its ranks in the order of this run.

    In another order blocks of two runs would hold a respondent twice. Cost: one reading of the block.
    """
    own = part_path(task.job.folder / "private" / "records", task.release, task.block)
    columns = _record_columns(task.job.schema)
    found = pq.read_table(own, columns=columns, use_threads=False, partitioning=None)
    if not found.equals(read_block(task.records.path, task.start, task.stop).select(columns)):
        raise ValueError(
            f"publish_large: {own} of an interrupted run holds other records than block {task.block} of the release at "
            f"{task.time!r} has in this run; all parts are of one order. Name a folder that does not exist."
        )


def _record_columns(schema: Schema) -> list[str]:
    return ["respondent", *(f"q{a}" for a in range(len(schema.quasi_identifiers))), "value"]


def _records(block: pa.Table, group: IntArray, task: BlockTask) -> pa.Table:
    """Records of a block with their ``group``, -1 if suppressed, and their ``rank``."""
    label = pa.array(np.where(group >= 0, group + task.first_label, -1))
    rank = pa.array(np.arange(task.start, task.stop))
    return block.select(_record_columns(task.job.schema)).append_column("group", label).append_column("rank", rank)
