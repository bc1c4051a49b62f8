"""Joint attack on releases on disk.

`MaxEntropy` and `GroupMessages` fit the tilts of the groups that partitions of the respondents share. `GroupGraph` has all records
in memory, and arrangements and messages in mapped files.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, to_parquet
from foreknow.app.disk.partition import (
    Partition,
    begin_partition,
    drop_state,
    exchange_tilts,
    partition_people,
    problem_of,
    published_records,
    release_of,
    write_beliefs,
    write_shared_beliefs,
)
from foreknow.app.disk.parts import BLOCK_RECORDS, belief_part, block_ranges, part_path, write_part
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import JointAttack
from foreknow.attacks.belief_notes import graph_shares
from foreknow.models import Adversary, GroupGraph, GroupMessages, MaxEntropy, Status
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint import JointProblem
from foreknow.models.joint.problem import JointPosterior


class SharedGroups(NamedTuple):
    """Groups with members in several partitions.

    Attributes
    ----------
    counts : float array, shape (h, m)
        Published counts.
    release : int array, shape (h,)
    met : int array, shape (h,)
        Largest number of shared groups in which a member of each is.
    parts : list of int array
        Shared groups of each partition.
    """

    counts: FloatArray
    release: IntArray
    met: IntArray
    parts: list[IntArray]


class TiltState(NamedTuple):
    """Tilts of the shared groups after some exchanges.

    Attributes
    ----------
    tilts : float array, shape (h, m)
    gap : float array, shape (h,)
        Total variation between expected and published counts, as a share of the members.
    latest : tuple of int
        Last exchange of each partition, which names the file of its messages.
    exchanges : int
    """

    tilts: FloatArray
    gap: FloatArray
    latest: tuple[int, ...]
    exchanges: int


def write_joint_beliefs(
    published: LargeReleases, attack: JointAttack, folder: Path, work: Path, engine: Engine
) -> dict[str, Any]:
    """Write the beliefs of `JointAttack`, in parts for each partition of the respondents.

    With `GroupMessages`, the members of groups that partitions share are in parts of their own.

    Returns
    -------
    dict
        ``doubtful_groups`` of each release; the numbers of ``partitions``, of ``shared_groups`` and of ``exchanges``.
    """
    releases, m, weights = len(published.releases), len(published.schema.values), work / "weights"
    assert isinstance(attack.adversary, Adversary)
    assert isinstance(attack.solver, MaxEntropy | GroupMessages)
    # Without the progress of the attack's own solver, which need not travel to workers.
    solver = MaxEntropy(attack.solver.tolerance, attack.solver.rounds)
    with engine.connection() as connection:
        found = partition_people(connection, published, work)
    times = tuple(one.time for one in published.releases)
    partitions = [
        Partition(found.path, *ends, number, found.shared, times, published.schema, attack.adversary, solver, work)
        for number, ends in enumerate(found.ranges)
    ]
    begun = list(engine.map(begin_partition, partitions))
    met = np.ones(len(found.counts), dtype=np.int64)
    for part, most in begun:
        met[part] = np.maximum(met[part], most)
    shared = SharedGroups(found.counts, release_of(np.load(found.shared)), met, [part for part, _ in begun])
    # Tilts are 1 before any exchange, and 0 for values that a group does not publish.
    tilts = (shared.counts > 0).astype(float)
    state, doubtful = TiltState(tilts, np.zeros(len(tilts)), (0,) * len(partitions), 0), [0] * releases
    of_weights = weights if isinstance(attack.solver, GroupMessages) else None
    for last in [releases] if attack.hindsight else range(1, releases + 1):
        state = fit_shared_tilts(state, shared, partitions, solver, engine, last)
        told = range(0 if attack.hindsight else last - 1, last)
        written = partial(write_beliefs, releases=told, folder=folder, weights=of_weights, hindsight=attack.hindsight)
        results = list(engine.map(written, zip(partitions, state.latest, strict=True)))
        failed = np.searchsorted(
            np.load(found.shared), write_shared_beliefs(weights, len(partitions), m, folder, engine)
        )
        doubtful[told.start : last] = _doubtful(results, shared, state.gap > solver.tolerance, failed, told)
    return {
        "doubtful_groups": doubtful,
        "partitions": len(partitions),
        "shared_groups": len(shared.met),
        "exchanges": state.exchanges,
    }


def _doubtful(
    results: list[tuple[IntArray, IntArray]],
    shared: SharedGroups,
    unconverged: BoolArray,
    failed: IntArray,
    releases: range,
) -> list[int]:
    """Number of groups of each release that contradict the knowledge or did not converge.

    ``unconverged``, shape ``(h,)``, and ``failed``, their places, are those of the shared groups.
    """
    doubtful = unconverged.copy()
    doubtful[failed] = True
    for part, (_, contradicted) in zip(shared.parts, results, strict=True):
        doubtful[part[contradicted]] = True
    of_release = shared.release[doubtful & np.isin(shared.release, releases)] - releases.start
    within = np.sum([np.zeros(len(releases), dtype=np.int64), *(number for number, _ in results)], axis=0)
    return list((within + np.bincount(of_release, minlength=len(releases))).tolist())


def fit_shared_tilts(
    state: TiltState,
    shared: SharedGroups,
    partitions: Sequence[Partition],
    solver: MaxEntropy,
    engine: Engine,
    releases: int,
) -> TiltState:
    """Fit the tilts of the groups of the first releases until all expected counts are within the tolerance.

    In each exchange a partition fits the tilts of its own groups, given those of the shared ones, and returns the expected counts
    of its members in these. Their sums over the partitions, in the order of the partitions, scale the tilts::

        tilt_gs *= (n_gs / expected_gs) ** (1 / damping_g)

    ``damping_g`` is 1 at first, and doubles, up to ``met_g``, in each exchange in which the gap of the group does not fall.

    Notes
    -----
    With the damping ``met_g``, generalized iterative scaling (Darroch, Ratcliff 1972) with an exponent for each group. A path that
    meets g meets at most ``met_g`` shared groups, so that the exponents of its groups sum to at most 1. By convexity the dual then
    rises in each exchange, although all groups are scaled at once. With the damping 1 alone, gaps may rise for ever. A partition
    none of whose shared groups was scaled is left out of an exchange.

    Memory: 8 m bytes for each shared group, 4 + 2 c times, if its members are in c partitions: the counts, the tilts before and
    now, the expected counts in all, and for each partition its tilts and its expected counts.
    """
    tilts, latest, exchange = state.tilts.copy(), list(state.latest), state.exchanges
    damping, gap = np.ones(len(shared.met)), np.full(len(shared.met), np.inf)
    size, inside = np.maximum(shared.counts.sum(axis=1), 1.0), shared.release < releases
    expected: list[FloatArray] = [np.zeros((len(part), tilts.shape[1])) for part in shared.parts]
    due = list(range(len(partitions)))
    for exchange in range(state.exchanges + 1, state.exchanges + 1 + solver.rounds):
        exchanged = partial(exchange_tilts, exchange=exchange, releases=releases)
        tasks = [(partitions[p], latest[p], tilts[shared.parts[p]]) for p in due]
        for p, found in zip(due, engine.map(exchanged, tasks), strict=True):
            drop_state(partitions[p], latest[p])
            expected[p], latest[p] = found, exchange
        del tasks  # They hold copies of the tilts.
        total = np.zeros(tilts.shape)
        for part, found in zip(shared.parts, expected, strict=True):
            total[part] += found
        apart = total - shared.counts
        before, gap = gap, np.where(inside, np.abs(apart, out=apart).sum(axis=1) / (2 * size), 0.0)
        del apart
        if gap.max(initial=0.0) <= solver.tolerance:
            break
        moved = gap > solver.tolerance / 2
        damping = np.where(moved & (gap >= before), np.minimum(2 * damping, shared.met), damping)
        _scale(tilts, shared.counts, total, damping, moved)
        due = [p for p, part in enumerate(shared.parts) if moved[part].any()]
    return TiltState(tilts, gap, tuple(latest), exchange)


def _scale(tilts: FloatArray, counts: FloatArray, expected: FloatArray, damping: FloatArray, moved: BoolArray) -> None:
    """Scale the tilts of some groups, in place and with two arrays of their size."""
    ratio = np.maximum(expected[moved], np.finfo(float).tiny)
    np.divide(counts[moved], ratio, out=ratio)
    np.power(ratio, 1.0 / damping[moved][:, None], out=ratio)
    ratio *= tilts[moved]
    ratio /= ratio.max(axis=1, keepdims=True)
    tilts[moved] = ratio


def write_graph_beliefs(
    published: LargeReleases, attack: JointAttack, folder: Path, work: Path, engine: Engine
) -> dict[str, Any]:
    """Write the beliefs of `JointAttack` with `GroupGraph`, in parts of each release.

    The records of a group are in the order of their respondents, by which ties between edges of equal size are broken. The beliefs
    are those in memory of views that are sorted by respondent.

    Returns
    -------
    dict
        ``doubtful_groups`` of each release, and ``graph_shares``: those of `graph_notes`.

    Notes
    -----
    Memory: O(S) for S states of all records, some 800 bytes for each record. Arrangements and messages, .1 to 5 KiB for each record
    as measured, are in files of ``work``. One process, with as many threads as the engine has workers.
    """
    assert isinstance(attack.solver, GroupGraph)
    problem, respondents = _whole_problem(published, attack, work, engine)
    solver = replace(attack.solver, scratch=work, workers=int(engine.workers))
    if (shown := engine.progress) is not None:
        solver = replace(solver, progress=lambda parts: shown(parts, len(parts)))
    posterior = solver(problem) if attack.hindsight else solver.forward(problem)
    doubtful = (posterior.status & (Status.CONTRADICTED | Status.UNCONVERGED)) > 0
    releases = len(published.releases)
    for release in range(releases):
        _write_release(posterior, respondents, release, folder)
    return {
        "doubtful_groups": np.bincount(problem.release[doubtful], minlength=releases).tolist(),
        "graph_shares": graph_shares(posterior.status[problem.group], solver.limit),
    }


def _whole_problem(
    published: LargeReleases, attack: JointAttack, work: Path, engine: Engine
) -> tuple[JointProblem, pa.ChunkedArray]:
    """Joint problem of all published records, and the respondents of its records."""
    path = work / "records.parquet"
    with engine.connection() as connection:
        records = f"SELECT * EXCLUDE (part) FROM ({published_records(published)}) ORDER BY key, respondent"
        connection.execute(f"COPY ({records}) {to_parquet(path)}")
    block, times = pq.read_table(path, use_threads=False), tuple(one.time for one in published.releases)
    assert isinstance(attack.adversary, Adversary)
    whole = Partition(path, 0, len(block), 0, path, times, published.schema, attack.adversary, MaxEntropy(), work)
    keys, group = np.unique(block["key"].to_numpy(), return_inverse=True)
    problem = problem_of(whole, block, keys, group.astype(np.int64), np.zeros(0, dtype=np.int64))
    return problem, block["respondent"]


def _write_release(posterior: JointPosterior, respondents: pa.ChunkedArray, release: int, folder: Path) -> None:
    """Write the parts of the beliefs about a release."""
    problem = posterior.problem
    first, last = np.searchsorted(problem.release[problem.group], [release, release + 1]).tolist()
    for part, (start, stop) in enumerate(block_ranges(last - first, BLOCK_RECORDS)):
        rows = posterior.rows(np.arange(first + start, first + stop))
        own = respondents.slice(first + start, stop - start)
        write_part(part_path(folder, release, part), belief_part(own, None, rows, release))
