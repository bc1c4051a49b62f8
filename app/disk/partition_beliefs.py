"""Beliefs about the respondents of one partition: a task that reads and writes files alone."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from foreknow.app.disk.belief_columns import belief_part
from foreknow.app.disk.blocks import read_block
from foreknow.app.disk.exact_counts import exact_rows, write_weights_part
from foreknow.app.disk.partition_law import Partition, PartitionLaw, law_of, state_of
from foreknow.app.disk.parts import part_path, write_part
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint.group_messages import tilted_messages, weights_without_groups
from foreknow.models.joint.group_visit import scratch_of, write_record_weights
from foreknow.models.joint.max_entropy import contradicted_groups
from foreknow.models.joint.messages import Messages, expected_steps, factors_of
from foreknow.models.joint.posterior import JointPosterior, belief_starts, record_beliefs


class BeliefTask(NamedTuple):
    """Fitted partition whose beliefs about the releases ``first`` to ``last`` are to be written to ``folder``.

    Attributes
    ----------
    partition : Partition
    exchange : int
        Number of the last exchange of the partition.
    first, last : int
    folder : Path
    weights : Path or None
        Folder of the weights of the members of shared groups, if the beliefs keep the exact counts of each group; else None.
    hindsight : bool
        True if the beliefs are given all releases.
    """

    partition: Partition
    exchange: int
    first: int
    last: int
    folder: Path
    weights: Path | None
    hindsight: bool


def write_beliefs(task: BeliefTask) -> tuple[IntArray, IntArray]:
    """Write the beliefs of a partition about some releases.

    With ``weights``, the beliefs are those of `GroupMessages`: the groups within the partition have their exact counts, and the
    weights of the members of shared groups are written instead of their beliefs.

    Returns
    -------
    doubtful : int array, shape (last - first,)
        Number of groups of each release within the partition that contradict the knowledge or did not converge.
    contradicted : int array
        Places among the shared groups of the partition of those that contradict the knowledge.
    """
    own = task.partition
    law, state = law_of(own), state_of(own, task.exchange)
    at, messages = law.law.layout, state.messages
    beliefs = record_beliefs(law.law, messages.forward * messages.backward)
    release = law.law.release
    edges = np.searchsorted(release[law.law.group], [task.first, task.last]).tolist()
    ruled_out = expected_steps(at, factors_of(law.law), messages, law.impossible, (edges[0], edges[1]))[1]
    doubtful = contradicted_groups(law.problem, law.law, ruled_out, beliefs) > 0
    contradicted = np.flatnonzero(doubtful[law.groups] & _within(release[law.groups], task))
    doubtful |= state.gap > own.solver.tolerance
    if task.weights is not None:
        beliefs = _weights(law, messages, task)
    doubtful |= _write_parts(task, law, beliefs)
    doubtful[law.groups] = False
    mine = np.flatnonzero(doubtful & _within(release, task))
    return np.bincount(release[mine] - task.first, minlength=task.last - task.first), contradicted


def _within(release: IntArray, task: BeliefTask) -> BoolArray:
    return np.asarray((release >= task.first) & (release < task.last))


def _weights(law: PartitionLaw, messages: Messages, task: BeliefTask) -> FloatArray:
    """Weight of each possible value of each record of the releases without its group, as of `GroupMessages`: shape ``(B,)``."""
    if task.hindsight:
        return weights_without_groups(law.law, tilted_messages(law.law, messages).likelihoods)
    at, starts, releases = law.law.layout, belief_starts(law.law), law.law.releases
    weights = np.zeros(int(starts[-1]))
    # The law of a partition ends with the last release of its own respondents.
    groups = (int(at.release_starts[min(task.first, releases)]), int(at.release_starts[min(task.last, releases)]))
    write_record_weights(weights, groups, starts, at, factors_of(law.law), messages, scratch_of(law.law))
    return weights


def _write_parts(task: BeliefTask, law: PartitionLaw, numbers: FloatArray) -> BoolArray:
    """Write the parts of all releases; return the groups whose exact posterior is doubtful, bool array of shape ``(G,)``.

    ``numbers``, shape ``(B,)``, are the beliefs, or the weights where the counts are exact.
    """
    own, group, release = task.partition, law.law.group, law.law.release
    groups = len(release)
    posterior = JointPosterior(law.law, numbers, np.zeros(groups, dtype=np.int64), np.zeros(groups))
    block, doubtful = read_block(own.records, own.start, own.stop), np.zeros(groups, dtype=np.bool_)
    is_shared = np.isin(group, law.groups)
    for number in range(task.first, task.last):
        records = np.arange(*np.searchsorted(release[group], [number, number + 1]))
        rows = posterior.rows(records)
        if task.weights is not None:
            shared = is_shared[records]
            _write_shared(task, block.take(pa.array(records[shared])), rows[shared], number)
            records = records[~shared]
            value = block["value"].to_numpy()[records].astype(np.int64)
            rows, failed = exact_rows(group[records], value, rows[~shared])
            doubtful[failed] = True
        respondent = block["respondent"].take(pa.array(records))
        part = belief_part(respondent, np.zeros(len(records), dtype=np.int64), rows, number)
        write_part(part_path(task.folder, number, own.number), part)
    return doubtful


def _write_shared(task: BeliefTask, members: pa.Table, weights: FloatArray, release: int) -> None:
    """Write the weights of the members of shared groups of a release, if there are any."""
    if len(members):
        assert task.weights is not None
        write_weights_part(part_path(task.weights, release, task.partition.number), members, weights, release)
