"""Joint attack on releases on disk: laws of partitions of the respondents, and tilts of the groups that they share."""

from pathlib import Path
from typing import Any

import numpy as np

from foreknow.app.disk.engine import Engine
from foreknow.app.disk.exact_counts import write_shared_beliefs
from foreknow.app.disk.partition_beliefs import BeliefTask, write_beliefs
from foreknow.app.disk.partition_law import Partition, begin_partition
from foreknow.app.disk.people_partitions import PeoplePartitions, partition_people, release_of
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.tilt_exchange import SharedGroups, first_tilts, fit_shared_tilts
from foreknow.attacks import JointAttack
from foreknow.models import Adversary, GroupMessages, MaxEntropy
from foreknow.models.arrays import BoolArray, IntArray


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
    releases, m, solver = len(published.releases), len(published.schema.values), law_solver(attack)
    records, weights = published.folder / "private" / "records", work / "weights"
    with engine.connection() as connection:
        found = partition_people(connection, records, releases, m, work)
    partitions = _partitions(published, attack, found, work)
    shared = _shared_groups(found, list(engine.map(begin_partition, partitions)))
    state, doubtful = first_tilts(shared), [0] * releases
    of_weights = weights if isinstance(attack.solver, GroupMessages) else None
    for last in [releases] if attack.hindsight else range(1, releases + 1):
        state = fit_shared_tilts(state, shared, partitions, solver, engine, last)
        first = 0 if attack.hindsight else last - 1
        tasks = [
            BeliefTask(one, at, first, last, folder, of_weights, attack.hindsight)
            for one, at in zip(partitions, state.latest, strict=True)
        ]
        results = list(engine.map(write_beliefs, tasks))
        failed = np.searchsorted(
            np.load(found.shared), write_shared_beliefs(weights, len(partitions), m, folder, engine)
        )
        doubtful[first:last] = _doubtful(results, shared, state.gap > solver.tolerance, failed, first, last)
    return {
        "doubtful_groups": doubtful,
        "partitions": len(partitions),
        "shared_groups": len(shared.met),
        "exchanges": state.exchanges,
    }


def law_solver(attack: JointAttack) -> MaxEntropy:
    """Solver of the tilts of a joint attack: without the progress of its own solver, which need not travel to workers."""
    assert isinstance(attack.solver, MaxEntropy | GroupMessages)
    return MaxEntropy(attack.solver.tolerance, attack.solver.rounds)


def _partitions(published: LargeReleases, attack: JointAttack, found: PeoplePartitions, work: Path) -> list[Partition]:
    adversary, times = attack.adversary, tuple(one.time for one in published.releases)
    assert isinstance(adversary, Adversary)
    solver = law_solver(attack)
    return [
        Partition(found.path, *ends, number, found.shared, times, published.schema, adversary, solver, work)
        for number, ends in enumerate(found.ranges)
    ]


def _shared_groups(found: PeoplePartitions, begun: list[tuple[IntArray, IntArray]]) -> SharedGroups:
    met = np.ones(len(found.counts), dtype=np.int64)
    for part, most in begun:
        met[part] = np.maximum(met[part], most)
    return SharedGroups(found.counts, release_of(np.load(found.shared)), met, [part for part, _ in begun])


def _doubtful(
    results: list[tuple[IntArray, IntArray]],
    shared: SharedGroups,
    unconverged: BoolArray,
    failed: IntArray,
    first: int,
    last: int,
) -> list[int]:
    """Number of groups of each release that contradict the knowledge or did not converge.

    ``unconverged``, shape ``(h,)``, and ``failed``, their places, are those of the shared groups.
    """
    doubtful = unconverged.copy()
    doubtful[failed] = True
    for part, (_, contradicted) in zip(shared.parts, results, strict=True):
        doubtful[part[contradicted]] = True
    of_release = shared.release[doubtful & (shared.release >= first) & (shared.release < last)]
    within = np.sum([np.zeros(last - first, dtype=np.int64), *(number for number, _ in results)], axis=0)
    return list((within + np.bincount(of_release - first, minlength=last - first)).tolist())
