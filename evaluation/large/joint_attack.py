"""Joint attack on releases on disk: laws of partitions of the respondents, and tilts of the groups that they share."""

from pathlib import Path
from typing import Any

import numpy as np

from foreknow.attacks import JointAttack
from foreknow.evaluation.large.engine import Engine
from foreknow.evaluation.large.partition_law import BeliefTask, Partition, begin_partition, write_beliefs
from foreknow.evaluation.large.people_partitions import GROUPS_OF_A_RELEASE, PeoplePartitions, partition_people
from foreknow.evaluation.large.publication import LargeReleases
from foreknow.evaluation.large.tilt_exchange import SharedGroups, TiltState, first_tilts, fit_shared_tilts
from foreknow.models import Adversary, MaxEntropy
from foreknow.models.arrays import IntArray


def write_joint_beliefs(
    published: LargeReleases, attack: JointAttack, folder: Path, work: Path, engine: Engine
) -> dict[str, Any]:
    """Write the beliefs of `JointAttack` with `MaxEntropy`, one part for each partition of the respondents.

    Returns
    -------
    dict
        ``doubtful_groups`` of each release; the numbers of ``partitions``, of ``shared_groups`` and of ``exchanges``.
    """
    releases, solver = len(published.releases), attack.solver
    assert isinstance(solver, MaxEntropy)
    records = published.folder / "private" / "records"
    with engine.connection() as connection:
        found = partition_people(connection, records, releases, len(published.schema.values), work)
    partitions = _partitions(published, attack, found, work)
    shared = _shared_groups(found, list(engine.map(begin_partition, partitions)))
    state, doubtful = first_tilts(shared), [0] * releases
    for last in [releases] if attack.hindsight else range(1, releases + 1):
        state = fit_shared_tilts(state, shared, partitions, solver, engine, last)
        first = 0 if attack.hindsight else last - 1
        tasks = [BeliefTask(one, at, first, last, folder) for one, at in zip(partitions, state.latest, strict=True)]
        doubtful[first:last] = _doubtful(list(engine.map(write_beliefs, tasks)), shared, state, solver, first, last)
    return {
        "doubtful_groups": doubtful,
        "partitions": len(partitions),
        "shared_groups": len(shared.met),
        "exchanges": state.exchanges,
    }


def _partitions(published: LargeReleases, attack: JointAttack, found: PeoplePartitions, work: Path) -> list[Partition]:
    adversary, solver, times = attack.adversary, attack.solver, tuple(one.time for one in published.releases)
    assert isinstance(adversary, Adversary)
    assert isinstance(solver, MaxEntropy)
    return [
        Partition(found.path, *ends, number, found.shared, times, published.schema, adversary, solver, work)
        for number, ends in enumerate(found.ranges)
    ]


def _shared_groups(found: PeoplePartitions, begun: list[tuple[IntArray, IntArray]]) -> SharedGroups:
    met = np.ones(len(found.counts), dtype=np.int64)
    for part, most in begun:
        met[part] = np.maximum(met[part], most)
    release = np.load(found.shared) // GROUPS_OF_A_RELEASE
    return SharedGroups(found.counts, release.astype(np.int64), met, [part for part, _ in begun])


def _doubtful(
    results: list[tuple[IntArray, IntArray]],
    shared: SharedGroups,
    state: TiltState,
    solver: MaxEntropy,
    first: int,
    last: int,
) -> list[int]:
    """Number of groups of each release that contradict the knowledge or did not converge."""
    doubtful = state.gap > solver.tolerance
    for part, (_, contradicted) in zip(shared.parts, results, strict=True):
        doubtful[part[contradicted]] = True
    of_release = shared.release[doubtful & (shared.release >= first) & (shared.release < last)]
    within = np.sum([number for number, _ in results], axis=0)
    return list((within + np.bincount(of_release - first, minlength=last - first)).tolist())
