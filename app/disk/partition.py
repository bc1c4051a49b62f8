"""Partitions of the respondents of all releases; law and beliefs of one, by tasks that read and write files alone."""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, parquet_of, write_rows
from foreknow.app.disk.parts import (
    belief_part,
    block_ranges,
    dense_beliefs,
    groups_of,
    part_path,
    people_of,
    read_block,
    read_pickle,
    write_part,
    write_pickle,
)
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.sorted_records import whole_groups
from foreknow.models import Adversary, MaxEntropy, Schema
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint import JointProblem
from foreknow.models.joint.building import branch_likelihoods, chain_steps, record_evidence
from foreknow.models.joint.group_messages import exact_beliefs, tilted_messages, weights_without_groups
from foreknow.models.joint.max_entropy import contradicted_groups, with_doubt
from foreknow.models.joint.messages import (
    Messages,
    expected_steps,
    first_messages,
    fit_tilts,
    scratch_of,
    tilted_counts,
    write_record_weights,
)
from foreknow.models.joint.problem import JointPosterior, belief_starts, record_beliefs
from foreknow.models.knowledge.parts import Visits

GROUPS_OF_A_RELEASE = 2**49
"""Upper limit of the labels of a release, at least `MOST_BLOCKS` times `GROUPS_OF_A_BLOCK`: the key of a group is release times
limit plus label."""

WITHHELD = GROUPS_OF_A_RELEASE - 1
"""Label of the records of a release that are not published: behind those of all groups, which are at most `MOST_BLOCKS` times
`GROUPS_OF_A_BLOCK`."""


def release_of(keys: IntArray) -> IntArray:
    """Release of each group, by its key."""
    return np.asarray(keys // GROUPS_OF_A_RELEASE, dtype=np.int64)


def withheld(keys: IntArray) -> BoolArray:
    """True for the groups of records that are not published, by their keys."""
    return np.asarray(keys % GROUPS_OF_A_RELEASE == WITHHELD, dtype=np.bool_)


class PeoplePartitions(NamedTuple):
    """Published records of all releases by partition of the respondents, and the groups with members in several partitions."""

    # Parquet file with ``part``, ``release``, ``key`` of the group, ``ghost``, ``respondent``, ``value`` and ``q0`` to ``qd``,
    # sorted by the first five; and ``path`` and ``following``, as of `law_records`
    path: Path
    ranges: list[tuple[int, int]]  # first row of each partition and of the next one
    shared: Path  # file of the keys of the shared groups, increasing: int array, shape ``(h,)``
    counts: FloatArray  # (h, m): published number of records of each value in the shared groups


def partition_people(
    connection: duckdb.DuckDBPyConnection, published: LargeReleases, adversary: Adversary, work: Path
) -> PeoplePartitions:
    """Partition the respondents by the rank of their first published record.

    There are as many partitions as blocks of the largest release, and each holds as many ranks of a release as the others. The
    groups of a defense are of near ranks, so that most groups lie in one partition. Cost: two joins and a sort on disk.
    """
    path, shared = work / "partitions.parquet", work / "shared.npy"
    connection.execute(f"CREATE OR REPLACE VIEW published AS {law_records(published, adversary)}")
    people = work / "people.parquet"
    write_rows(
        connection, "SELECT respondent, arg_min(part, release) AS part FROM published GROUP BY respondent", people
    )
    write_rows(
        connection,
        f"SELECT p.part, r.* EXCLUDE (part) FROM published r JOIN {parquet_of(people)} p USING (respondent) "
        f"ORDER BY p.part, r.key, r.ghost, r.respondent",
        path,
    )
    people.unlink()
    keys, counts = _shared_groups(connection, path, len(published.schema.values))
    np.save(shared, keys)
    sizes = connection.execute(f"SELECT count(*) FROM {parquet_of(path)} GROUP BY part ORDER BY part").fetchall()
    edges = np.cumsum([0, *(size for (size,) in sizes)]).tolist()
    return PeoplePartitions(path, list(pairwise(edges)), shared, counts)


def listed_records(published: LargeReleases) -> str:
    """Query of the records and ghosts of all releases: key of the group, and partition to which the rank leads."""
    ends = [published.ranges(release) for release in range(len(published.releases))]
    parts = max(map(len, ends))
    return " UNION ALL ".join(
        f'SELECT * EXCLUDE (rank, "group"), {release} AS release, rank * {parts} // {ranges[-1][1]} AS part, '
        f'{release} * {GROUPS_OF_A_RELEASE} + CASE WHEN "group" < 0 THEN {WITHHELD} ELSE "group" END AS key '
        f"FROM {published.key_rows(release)}"
        for release, ranges in enumerate(ends)
    )


APART = 1
"""Number of the path of the ghosts of a respondent who is published again."""

IS_PUBLISHED = f"key % {GROUPS_OF_A_RELEASE} < {WITHHELD}"
"""Condition of a query on `listed_records`."""


def published_records(published: LargeReleases) -> str:
    """Query of the published records without ghosts, as `listed_records`."""
    return f"SELECT * FROM ({listed_records(published)}) WHERE {IS_PUBLISHED} AND NOT ghost"


def law_records(published: LargeReleases, adversary: Adversary) -> str:
    """Query of the records that enter the joint law of an adversary, as `listed_records`.

    They are the published ones, and those that are withheld where the chain takes a step at each release, as in `joint_history`.
    With presence, ``following`` is the number of the next release that lists the respondent, -1 for none.

    ``path`` distinguishes the paths of a respondent: 0 for the first one, `APART` for the ghosts of a respondent who is published
    again, and larger numbers for records that are withheld beside or after ghosts. These are in the law for the evidence of
    presence alone, each as a path of its own that meets no group.
    """
    records, own, path = listed_records(published), "OVER (PARTITION BY respondent", "0"
    if adversary.witnesses:
        records = f"SELECT *, coalesce(lead(release) {own}, ghost ORDER BY release), -1) AS following FROM ({records})"
    if any(one.ghosts for one in published.releases):
        began, last = (
            f"min(release) FILTER (ghost) {own})",
            f"max(release) FILTER ({IS_PUBLISHED} AND NOT ghost) {own})",
        )
        beside = f"WHEN NOT {IS_PUBLISHED} AND release >= {began} THEN {APART + 1} + release"
        path = f"CASE WHEN ghost AND {last} > {began} THEN {APART} {beside} ELSE 0 END"
    records = f"SELECT *, {path} AS path FROM ({records})"
    if adversary.gaps != "power" or adversary.transitions is None:
        return f"SELECT * FROM ({records}) WHERE {IS_PUBLISHED}"
    later = f"(path = 0 AND min(release) FILTER ({IS_PUBLISHED}) {own}) < release)"
    beside = f" OR path > {APART}" if adversary.witnesses else ""
    return f"SELECT * FROM ({records}) QUALIFY {IS_PUBLISHED} OR {later}{beside}"


def _shared_groups(connection: duckdb.DuckDBPyConnection, path: Path, m: int) -> tuple[IntArray, FloatArray]:
    """Keys and counts of the groups with members in several partitions."""
    rows = connection.execute(
        f"SELECT key, value, count(*) AS number FROM {parquet_of(path)} SEMI JOIN (SELECT key FROM {parquet_of(path)} "
        f"WHERE {IS_PUBLISHED} GROUP BY key HAVING min(part) < max(part)) USING (key) GROUP BY key, value"
    ).fetchnumpy()
    keys, group = np.unique(rows["key"], return_inverse=True)
    counts = np.zeros((len(keys), m))
    counts[group, rows["value"]] = rows["number"]
    return keys, counts


class Partition(NamedTuple):
    """Partition of the respondents of all releases."""

    records: Path  # file of which the rows ``start`` to ``stop`` are those of the partition
    start: int
    stop: int
    number: int
    shared: Path  # file of the keys of the groups with members in several partitions
    times: tuple[Any, ...]  # times of the releases
    schema: Schema
    adversary: Adversary
    solver: MaxEntropy
    work: Path  # folder of the law and of its messages


class PartitionLaw(NamedTuple):
    """Joint problem of a partition, in which groups with members elsewhere publish nothing: their tilts are given."""

    problem: JointProblem
    law: JointProblem  # the same without zeros in its knowledge
    impossible: BoolArray  # (Q, m): entries of the transition tables that were zero
    groups: IntArray  # (h,): numbers of the shared groups in the problem
    withheld: BoolArray  # (G,): groups of records that are not published


class PartitionState(NamedTuple):
    """Messages of a partition after an exchange; ``pending`` and ``gap``, shape ``(G,)``, are those of `fit_tilts`."""

    messages: Messages
    pending: FloatArray
    gap: FloatArray


def begin_partition(task: Partition, known: int) -> tuple[IntArray, IntArray]:
    """Write the law of a partition and its first messages.

    Parameters
    ----------
    task : Partition
    known : int
        Number of the first releases that give the evidence of presence.

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
    problem = problem_of(task, block, keys, group.astype(np.int64), groups, known)
    law = PartitionLaw(problem, *with_doubt(problem), groups, withheld(keys))
    messages = first_messages(law.law)
    write_pickle(_law_path(task), law)
    write_pickle(_state_path(task, 0), PartitionState(messages, np.full(len(keys), np.inf), np.zeros(len(keys))))
    return place[groups].astype(np.int64), _groups_met(problem, groups)


def exchange_tilts(task: tuple[Partition, int, FloatArray], exchange: int, releases: int) -> FloatArray:
    """Fit the other tilts of a partition, given those of its shared groups.

    Parameters
    ----------
    task : tuple
        The partition, the number of the exchange that left its messages, and the tilts of its shared groups, shape ``(h, m)``.
    exchange : int
        Number of this exchange.
    releases : int
        Number of the first releases, whose groups are fitted.

    Returns
    -------
    float array, shape (h, m)
        Expected number of records of each value of the members in the partition of each shared group.
    """
    partition, before, tilts = task
    law: PartitionLaw = read_pickle(_law_path(partition))
    state: PartitionState = read_pickle(_state_path(partition, before))
    at, scratch = law.law.layout, scratch_of(law.law)
    messages, m, solver = state.messages, law.law.values, partition.solver
    groups = int(at.release_starts[min(releases, law.law.releases)])
    place = at.value_starts[law.groups][:, None] + np.arange(m)
    state.pending[law.groups[(messages.tilt[place] != tilts).any(axis=1)]] = np.inf
    messages.tilt[place] = tilts
    limit = float(solver.rounds) * max(groups, 1)
    fit_tilts(groups, at, messages, scratch, state.pending, state.gap, float(solver.tolerance), limit)
    expected = np.zeros(tilts.shape)
    fitted = law.groups < groups
    expected[fitted] = tilted_counts(law.groups[fitted], m, at, messages, scratch)
    write_pickle(_state_path(partition, exchange), state)
    return expected


def drop_state(partition: Partition, exchange: int) -> None:
    """Remove the messages of an earlier exchange."""
    _state_path(partition, exchange).unlink(missing_ok=True)


def problem_of(
    task: Partition, block: pa.Table, keys: IntArray, group: IntArray, shared: IntArray, known: int
) -> JointProblem:
    """Joint problem of the records of a partition, sorted by group; the groups with numbers ``shared`` publish nothing.

    The evidence is that which the first ``known`` releases give.
    """
    m, release = len(task.schema.values), block["release"].to_numpy().astype(np.int64)
    shown = np.bincount(group * m + block["value"].to_numpy().astype(np.int64), minlength=len(keys) * m)
    counts = shown.reshape(len(keys), m).astype(np.int64)
    counts[shared], counts[withheld(keys)] = 0, 0
    person = _numbers(block) + len(block) * block["path"].to_numpy().astype(np.int64)
    steps = chain_steps(task.adversary, release, person, m, ghost=block["ghost"].to_numpy())
    prior = _priors(task, block, steps.path, release)
    evidence, row = evidence_from(task, block, known)
    return JointProblem(
        prior,
        steps.tables,
        steps.path,
        group,
        steps.chain,
        counts,
        release_of(keys),
        evidence=evidence,
        evidence_row=row,
    )


def evidence_from(task: Partition, block: pa.Table, known: int) -> tuple[FloatArray, IntArray]:
    """Evidence of presence about the records of a partition given the first ``known`` releases, as `record_evidence`."""
    none = np.zeros((0, len(task.schema.values))), np.full(len(block), -1, dtype=np.int64)
    if not task.adversary.witnesses:
        return none
    ends = list(pairwise(np.searchsorted(block["release"].to_numpy(), np.arange(known + 1)).tolist()))
    ghost, beside, visits = block["ghost"].to_numpy(), block["path"].to_numpy() > APART, []
    rows, carried = ([start + np.flatnonzero(one[start:stop]) for start, stop in ends] for one in (~ghost, ghost))
    for t, own in enumerate(rows):
        listed = block.take(pa.array(own))
        following = listed["following"].to_numpy().astype(np.int64)
        people = people_of(listed, task.schema, task.times[t])
        visits.append(Visits(people, t, known - 1, np.where(following < known, following, -1)))
    record = [np.where(beside[own], -1, own) for own in rows]
    if not beside.any():
        return record_evidence(task.adversary.witnesses, visits, record, none)
    person, claimed = _numbers(block), [(np.zeros(0, dtype=np.int64), none[0])] * known
    of_rows, of_carried = ([person[own] for own in each] for each in (rows, carried))
    more = branch_likelihoods(task.adversary, visits, of_rows, of_carried, record, claimed)
    return record_evidence(task.adversary.witnesses, visits, record, none, more)


def _numbers(block: pa.Table) -> IntArray:
    """Number of the respondent of each row."""
    return np.asarray(pc.dictionary_encode(block["respondent"].combine_chunks()).indices.to_numpy(), dtype=np.int64)


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


def write_beliefs(
    task: tuple[Partition, int], releases: range, folder: Path, weights: Path | None, hindsight: bool
) -> tuple[IntArray, IntArray]:
    """Write the beliefs of a fitted partition about some releases.

    Parameters
    ----------
    task : tuple
        The partition, and the number of its last exchange.
    releases : range
        Numbers of the releases.
    folder : Path
    weights : Path or None
        Folder of the weights of the members of shared groups. The beliefs are then those of `GroupMessages`: the groups within
        the partition have their exact counts, and the weights of these members are written instead of their beliefs.
    hindsight : bool
        True if the beliefs are given all releases.

    Returns
    -------
    doubtful : int array, shape (number of releases,)
        Number of groups of each release within the partition that contradict the knowledge or did not converge.
    contradicted : int array
        Places among the shared groups of the partition of those that contradict the knowledge.
    """
    own, exchange = task
    law: PartitionLaw = read_pickle(_law_path(own))
    state: PartitionState = read_pickle(_state_path(own, exchange))
    at, messages = law.law.layout, state.messages
    beliefs = record_beliefs(law.law, messages.forward * messages.backward)
    release = law.law.release
    edges = np.searchsorted(release[law.law.group], [releases.start, releases.stop]).tolist()
    ruled_out = expected_steps(at, messages, law.impossible, (edges[0], edges[1]))[1]
    doubtful = contradicted_groups(law.problem, law.law, ruled_out, beliefs) > 0
    inside = np.isin(release, releases)
    contradicted = np.flatnonzero((doubtful & inside)[law.groups])
    doubtful |= state.gap > own.solver.tolerance
    if weights is not None:
        beliefs = _weights(law, messages, releases, hindsight)
    doubtful |= _write_parts(own, law, beliefs, releases, folder, weights)
    doubtful[law.groups], doubtful[law.withheld] = False, False
    return np.bincount(release[doubtful & inside] - releases.start, minlength=len(releases)), contradicted


def _weights(law: PartitionLaw, messages: Messages, releases: range, hindsight: bool) -> FloatArray:
    """Weight of each possible value of each record of the releases without its group, as of `GroupMessages`: shape ``(B,)``."""
    if hindsight:
        return weights_without_groups(law.law, tilted_messages(law.law, messages).likelihoods)
    at, starts, last = law.law.layout, belief_starts(law.law), law.law.releases
    weights = np.zeros(int(starts[-1]))
    # The law of a partition ends with the last release of its own respondents.
    groups = (int(at.release_starts[min(releases.start, last)]), int(at.release_starts[min(releases.stop, last)]))
    write_record_weights(weights, groups, starts, at, messages, scratch_of(law.law))
    return weights


def _write_parts(
    own: Partition, law: PartitionLaw, numbers: FloatArray, releases: range, folder: Path, weights: Path | None
) -> BoolArray:
    """Write the parts of the releases; return the groups whose exact posterior is doubtful, bool array of shape ``(G,)``.

    ``numbers``, shape ``(B,)``, are the beliefs, or the weights where the counts are exact.
    """
    group, release = law.law.group, law.law.release
    groups = len(release)
    posterior = JointPosterior(law.law, numbers, np.zeros(groups, dtype=np.int64), np.zeros(groups))
    block, doubtful = read_block(own.records, own.start, own.stop), np.zeros(groups, dtype=np.bool_)
    is_shared, ghost = np.isin(group, law.groups), block["ghost"].to_numpy()
    for number in releases:
        records = np.arange(*np.searchsorted(release[group], [number, number + 1]))
        records = records[~law.withheld[group[records]]]
        rows = posterior.rows(records)
        if weights is not None:
            shared = is_shared[records]
            if shared.any():
                members, path = block.take(pa.array(records[shared])), part_path(weights, number, own.number)
                part = belief_part(members["respondent"], None, rows[shared], number)
                for name, column in {"label": "key", "value": "value", "ghost": "ghost"}.items():
                    part = part.append_column(name, members[column])
                write_part(path, part)
            records = records[~shared]
            value = block["value"].to_numpy()[records].astype(np.int64)
            rows, failed = exact_rows(group[records], value, rows[~shared])
            doubtful[failed] = True
        part = belief_part(block["respondent"].take(pa.array(records)), np.where(ghost[records], -1, 0), rows, number)
        write_part(part_path(folder, number, own.number), part)
    return doubtful


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


def write_shared_beliefs(weights: Path, partitions: int, m: int, folder: Path, engine: Engine) -> IntArray:
    """Write the beliefs about members of shared groups, from the parts of the weights that the partitions wrote.

    The members are sorted by group, and cut into at most as many blocks as partitions, at the ends of groups. The parts of the
    beliefs are numbered after the partitions. Returns the keys of the groups whose status is not fine, int array.
    """
    parts = sorted(weights.rglob("part-*.parquet"))
    if not parts:
        return np.zeros(0, dtype=np.int64)
    path = weights / "by-group.parquet"
    with engine.connection() as connection:
        rows = f"SELECT * FROM {parquet_of(*parts)} ORDER BY label, respondent"
        write_rows(connection, rows, path)
        for part in parts:
            part.unlink()
        members = pq.read_metadata(path).num_rows
        ranges = whole_groups(connection, path, block_ranges(members, max(1, members // partitions)))
    written = partial(write_block_beliefs, path=path, m=m, folder=folder)
    return np.concatenate(list(engine.map(written, enumerate(ranges, partitions))))


def write_block_beliefs(task: tuple[int, tuple[int, int]], path: Path, m: int, folder: Path) -> IntArray:
    """Write the beliefs about the members of some shared groups; return the keys of those whose status is not fine.

    ``task`` is the number of the part and the range of its rows in the file of the weights.
    """
    part, ends = task
    block = read_block(path, *ends)
    key = block["label"].to_numpy()
    weights, _ = dense_beliefs(block, m)
    beliefs, doubtful = exact_rows(key, block["value"].to_numpy(), weights)
    release, shown = release_of(key), np.where(block["ghost"].to_numpy(), -1, 0)
    for number in np.unique(release).tolist():
        rows = slice(*np.searchsorted(release, [number, number + 1]).tolist())
        respondent = block["respondent"].slice(rows.start, rows.stop - rows.start)
        write_part(part_path(folder, number, part), belief_part(respondent, shown[rows], beliefs[rows], number))
    return doubtful
