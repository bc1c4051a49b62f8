"""Beliefs with the exact counts of each group, from the weights of its members without the group."""

from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.belief_columns import belief_part, dense_beliefs
from foreknow.app.disk.blocks import block_ranges, groups_of, read_block
from foreknow.app.disk.engine import Engine
from foreknow.app.disk.level_groups import whole_groups
from foreknow.app.disk.parts import part_path, write_part
from foreknow.app.disk.people_partitions import release_of
from foreknow.app.disk.sql_files import parquet_of, to_parquet
from foreknow.models import JointProblem
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.group_messages import exact_beliefs
from foreknow.models.joint.posterior import belief_starts


class WeightBlock(NamedTuple):
    """Members of some shared groups: rows ``start`` to ``stop`` of a file of weights, whose beliefs are part ``number``."""

    weights: Path
    start: int
    stop: int
    number: int
    values: int
    folder: Path


def exact_rows(key: IntArray, value: IntArray, weights: FloatArray) -> tuple[FloatArray, IntArray]:
    """Posterior of each record in its group with exact counts, and the keys of the groups whose status is not fine.

    Parameters
    ----------
    key : int array, shape (n,)
        Group of each record, not decreasing.
    value : int array, shape (n,)
        True values, of which the number in each group alone is read.
    weights : float array, shape (n, m)
        Weight of each value of each record by all other releases; those of values that the group does not show are not read.

    Returns
    -------
    beliefs : float array, shape (n, m)
    doubtful : int array

    Notes
    -----
    The records are independent given the weights, so that each is a path of its own. Cost: as `exact_beliefs`.
    """
    if not len(key):
        return weights, key
    (n, m), (group, counts) = weights.shape, groups_of(key, value, weights.shape[1])
    alone = JointProblem(
        np.full((n, m), 1.0 / m), (), np.arange(n), group, np.zeros(n, int), counts, np.zeros(len(counts), int)
    )
    shown, width = counts[group] > 0, np.diff(belief_starts(alone))
    own = np.where(shown, weights, 0.0)
    totals = own.sum(axis=1, keepdims=True)
    own = np.where(totals > 0, own / np.maximum(totals, np.finfo(float).tiny), 1.0 / width[:, None])
    beliefs = np.zeros((n, m))
    beliefs[shown], status = exact_beliefs(alone, own[shown])
    return beliefs, np.unique(key)[status != 0]


def write_weights_part(path: Path, block: pa.Table, weights: FloatArray, release: int) -> None:
    """Write the weights of members of shared groups: ``label`` and ``value``, and the columns of `belief_part`."""
    part = belief_part(block["respondent"], np.zeros(len(block), dtype=np.int64), weights, release)
    write_part(path, part.append_column("label", block["key"]).append_column("value", block["value"]))


def write_shared_beliefs(weights: Path, partitions: int, m: int, folder: Path, engine: Engine) -> IntArray:
    """Write the beliefs about members of shared groups, from the parts of the weights that the partitions wrote.

    The members are sorted by group, and cut into at most as many blocks as partitions, at the ends of groups.

    Parameters
    ----------
    weights : Path
        Folder of the parts of the weights; removed parts are not read.
    partitions : int
        Number of partitions, after which the parts of the beliefs are numbered.
    m : int
        Number of sensitive values.
    folder : Path
        Folder of the beliefs.
    engine : Engine

    Returns
    -------
    int array
        Keys of the groups whose status is not fine.
    """
    parts = sorted(weights.rglob("part-*.parquet"))
    if not parts:
        return np.zeros(0, dtype=np.int64)
    path = weights / "by-group.parquet"
    with engine.connection() as connection:
        _sort_by_group(connection, parts, path)
        members = pq.read_metadata(path).num_rows
        ranges = whole_groups(connection, path, block_ranges(members, max(1, members // partitions)))
    tasks = [WeightBlock(path, *ends, partitions + place, m, folder) for place, ends in enumerate(ranges)]
    return np.concatenate(list(engine.map(write_block_beliefs, tasks)))


def write_block_beliefs(task: WeightBlock) -> IntArray:
    """Write the beliefs about the members of some shared groups; return the keys of those whose status is not fine."""
    block = read_block(task.weights, task.start, task.stop)
    key = block["label"].to_numpy()
    weights, _ = dense_beliefs(block, task.values)
    beliefs, doubtful = exact_rows(key, block["value"].to_numpy(), weights)
    release = release_of(key)
    for number in np.unique(release).tolist():
        rows = slice(*np.searchsorted(release, [number, number + 1]).tolist())
        respondent = block["respondent"].slice(rows.start, rows.stop - rows.start)
        part = belief_part(respondent, np.zeros(len(respondent), dtype=np.int64), beliefs[rows], number)
        write_part(part_path(task.folder, number, task.number), part)
    return doubtful


def _sort_by_group(connection: duckdb.DuckDBPyConnection, parts: list[Path], path: Path) -> None:
    rows = f"SELECT * FROM {parquet_of(*parts)} ORDER BY label, respondent"
    connection.execute(f"COPY ({rows}) {to_parquet(path)}")
    for part in parts:
        part.unlink()
