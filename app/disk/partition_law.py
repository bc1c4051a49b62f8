"""Law of minimum relative entropy of the respondents of one partition: tasks that read and write files alone."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foreknow.app.disk.blocks import people_of, read_block
from foreknow.app.disk.parts import read_pickle, write_pickle
from foreknow.app.disk.people_partitions import release_of
from foreknow.models import Adversary, JointProblem, MaxEntropy, Schema
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint.building import chain_steps
from foreknow.models.joint.group_visit import fit_tilts, scratch_of, tilted_counts
from foreknow.models.joint.max_entropy import with_doubt
from foreknow.models.joint.messages import Messages, factors_of, first_messages


class Partition(NamedTuple):
    """Partition of the respondents of all releases.

    Attributes
    ----------
    records : Path
        File of which the rows ``start`` to ``stop`` are those of the partition.
    number : int
    shared : Path
        File of the keys of the groups with members in several partitions.
    times : tuple
        Times of the releases.
    work : Path
        Folder of the law and of its messages.
    """

    records: Path
    start: int
    stop: int
    number: int
    shared: Path
    times: tuple[Any, ...]
    schema: Schema
    adversary: Adversary
    solver: MaxEntropy
    work: Path


class PartitionLaw(NamedTuple):
    """Joint problem of a partition, in which groups with members elsewhere publish nothing: their tilts are given.

    Attributes
    ----------
    problem : JointProblem
    law : JointProblem
        The same without zeros in its knowledge.
    impossible : bool array, shape (Q, m)
        Entries of the transition tables that were zero.
    groups : int array, shape (h,)
        Numbers of the shared groups in the problem.
    """

    problem: JointProblem
    law: JointProblem
    impossible: BoolArray
    groups: IntArray


class PartitionState(NamedTuple):
    """Messages of a partition after an exchange; ``pending`` and ``gap``, shape ``(G,)``, are those of `fit_tilts`."""

    messages: Messages
    pending: FloatArray
    gap: FloatArray


class ExchangeTask(NamedTuple):
    """Tilts of the shared groups of a partition, shape ``(h, m)``, for the first ``releases``.

    Attributes
    ----------
    before, exchange : int
        Numbers of the exchange that left the messages, and of this one.
    """

    partition: Partition
    before: int
    exchange: int
    releases: int
    tilts: FloatArray


def begin_partition(task: Partition) -> tuple[IntArray, IntArray]:
    """Write the law of a partition and its first messages.

    Returns
    -------
    shared : int array, shape (h,)
        Place of each shared group of the partition in the file of shared groups.
    met : int array, shape (h,)
        Largest number of shared groups in which a member of each is.
    """
    block = read_block(task.records, task.start, task.stop)
    keys, group = np.unique(block["key"].to_numpy(), return_inverse=True)
    place = np.searchsorted(everywhere := np.load(task.shared, mmap_mode="r"), keys)
    inside = np.flatnonzero(place < len(everywhere))
    groups = inside[everywhere[place[inside]] == keys[inside]]
    problem = _problem(task, block, keys, group.astype(np.int64), groups)
    law = PartitionLaw(problem, *with_doubt(problem), groups)
    messages = first_messages(law.law)
    write_pickle(_law_path(task), law)
    write_pickle(_state_path(task, 0), PartitionState(messages, np.full(len(keys), np.inf), np.zeros(len(keys))))
    return place[groups].astype(np.int64), _groups_met(problem, groups)


def exchange_tilts(task: ExchangeTask) -> FloatArray:
    """Fit the other tilts of a partition, given those of its shared groups.

    Returns
    -------
    float array, shape (h, m)
        Expected number of records of each value of the members in the partition of each shared group.
    """
    law, state = law_of(task.partition), state_of(task.partition, task.before)
    at, factors, scratch = law.law.layout, factors_of(law.law), scratch_of(law.law)
    messages, m, solver = state.messages, law.law.values, task.partition.solver
    groups = int(at.release_starts[min(task.releases, law.law.releases)])
    place = at.value_starts[law.groups][:, None] + np.arange(m)
    state.pending[law.groups[(messages.tilt[place] != task.tilts).any(axis=1)]] = np.inf
    messages.tilt[place] = task.tilts
    limit = float(solver.rounds) * max(groups, 1)
    fit_tilts(groups, at, factors, messages, scratch, state.pending, state.gap, float(solver.tolerance), limit)
    expected = np.zeros(task.tilts.shape)
    fitted = law.groups < groups
    expected[fitted] = tilted_counts(law.groups[fitted], m, at, factors, messages, scratch)
    write_pickle(_state_path(task.partition, task.exchange), state)
    return expected


def law_of(partition: Partition) -> PartitionLaw:
    """Law that `begin_partition` wrote."""
    law: PartitionLaw = read_pickle(_law_path(partition))
    return law


def state_of(partition: Partition, exchange: int) -> PartitionState:
    """Messages after an exchange; those of exchange 0 are the first ones."""
    state: PartitionState = read_pickle(_state_path(partition, exchange))
    return state


def drop_state(partition: Partition, exchange: int) -> None:
    """Remove the messages of an earlier exchange."""
    _state_path(partition, exchange).unlink(missing_ok=True)


def _problem(task: Partition, block: pa.Table, keys: IntArray, group: IntArray, shared: IntArray) -> JointProblem:
    """Joint problem of the records of a partition, sorted by group; the shared groups publish nothing."""
    m, release = len(task.schema.values), block["release"].to_numpy().astype(np.int64)
    shown = np.bincount(group * m + block["value"].to_numpy().astype(np.int64), minlength=len(keys) * m)
    counts = shown.reshape(len(keys), m).astype(np.int64)
    counts[shared] = 0
    person = pc.dictionary_encode(block["respondent"].combine_chunks()).indices.to_numpy().astype(np.int64)
    steps = chain_steps(task.adversary, release, person, m)
    prior = _priors(task, block, steps.path, release)
    return JointProblem(prior, steps.tables, steps.path, group, steps.chain, counts, release_of(keys))


def _priors(task: Partition, block: pa.Table, path: IntArray, release: IntArray) -> FloatArray:
    """Prior of the first value of each path, at the time of its first record."""
    _, first = np.unique(path, return_index=True)
    prior = np.zeros((len(first), len(task.schema.values)))
    for number in np.unique(release[first]).tolist():
        rows = first[release[first] == number]
        people = people_of(block.take(pa.array(rows)), task.schema, task.times[number])
        prior[path[rows]] = task.adversary.prior_rows(people)
    return prior


def _groups_met(problem: JointProblem, groups: IntArray) -> IntArray:
    """Largest number of shared groups on the path of a member of each shared group."""
    shared = np.isin(problem.group, groups)
    met = np.bincount(problem.path[shared], minlength=len(problem.prior))
    most = np.zeros(len(problem.counts), dtype=np.int64)
    np.maximum.at(most, problem.group[shared], met[problem.path[shared]])
    return most[groups]


def _law_path(partition: Partition) -> Path:
    return partition.work / f"law-{partition.number:05d}.pickle"


def _state_path(partition: Partition, exchange: int) -> Path:
    return partition.work / f"messages-{partition.number:05d}-{exchange:05d}.pickle"
