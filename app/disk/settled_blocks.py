"""Further passes over the blocks of a release whose published table differs from the one that a block compared with."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine
from foreknow.app.disk.parts import part_path, read_json
from foreknow.app.disk.published_block import (
    BlockTask,
    generator_of,
    publish_block,
    view_and_prior,
    write_release,
)
from foreknow.defenses import BKAA, JSReduce, Mondrian
from foreknow.defenses.algorithms.ordered_growth import enforce_on_published
from foreknow.defenses.requirements.summary import TableCounts, summarize_groups, summarize_records
from foreknow.evaluation.checks.program import checksum
from foreknow.models import Grouping, Release
from foreknow.models.arrays import IntArray
from foreknow.models.notes import Note


class SettleTask(NamedTuple):
    """Block to compare with the published tables after each pass, ``tables``: int arrays, shape ``(m,)``."""

    block: BlockTask
    tables: tuple[IntArray, ...]


def settled_blocks(tasks: Sequence[BlockTask], made: list[dict[str, Any]], engine: Engine) -> list[dict[str, Any]]:
    """Records of the blocks of a release after as many passes as change the published table.

    A block compares its groups with the whole release less the records that it suppresses itself. In a pass, each block compares
    its groups with what all blocks publish, and merges or suppresses those that fail (`enforce_on_published`). The passes end when
    no block has suppressed another record: all groups then satisfy the requirement against the published table. Merging does not
    change that table. Cost: that of an evaluation of the requirement for each pass; none if no record is suppressed.
    """
    job, counts = tasks[0].job, tasks[0].records.counts
    if len(tasks) == 1 or not _compares_with_published(job.defense):
        return made
    tables: tuple[IntArray, ...] = ()
    left_out = np.sum([one["left_out"][0] for one in made], axis=0)
    while left_out.any() and (not tables or (tables[-1] != counts - left_out).any()):
        tables = (*tables, counts - left_out)
        made = list(engine.map(settle_block, [SettleTask(task, tables) for task in tasks]))
        left_out = np.sum([one["left_out"][len(tables)] for one in made], axis=0)
    return made


def settle_block(task: SettleTask) -> dict[str, Any]:
    """Record of a block after a pass for each table.

    The parts of a pass that was interrupted are made again from the first one.
    """
    private = task.block.job.folder / "private"
    done = part_path(private / "done", task.block.release, task.block.block, "json")
    records = part_path(private / "records", task.block.release, task.block.block)
    made = dict(read_json(done))
    if made["sha256"][records.relative_to(private).as_posix()] != checksum(records):
        done.unlink()
        made = publish_block(task.block)
    for table in task.tables[len(made["left_out"]) - 1 :]:
        made = _settled(task.block, made, table)
    return made


def _settled(task: BlockTask, made: dict[str, Any], table: IntArray) -> dict[str, Any]:
    """Record of a block whose groups satisfy the requirement in a published table, with its parts written if they changed."""
    block, view, prior = view_and_prior(task)
    requirement = task.job.defense.requirement.bind(view, prior)  # type: ignore[attr-defined]
    records = summarize_records(view, prior, requirement.reads_members)
    own = part_path(task.job.folder / "private" / "records", task.release, task.block)
    label = pq.read_table(own, columns=["group"], use_threads=False, partitioning=None)["group"].to_numpy()
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
    grouping = Grouping(labels, notes=(*(Note(kind, **of) for kind, of in made["notes"]), *notes)).renumbered(
        generator_of(task)
    )
    return write_release(task, block, prior, Release(view, grouping), made["left_out"])


def _compares_with_published(defense: object) -> bool:
    """True if a defense promises its requirement in the published table."""
    if isinstance(defense, (BKAA, JSReduce)):
        return defense.judged == "published" and defense.leftovers != "relax"
    return isinstance(defense, Mondrian)
