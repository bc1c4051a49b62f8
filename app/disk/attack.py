"""Attacks on releases on disk: beliefs stream from file to file.

`SequentialAttack` treats blocks. Of `JointAttack`, `MaxEntropy` and `GroupMessages` fit the tilts of the groups that partitions of
the respondents share; `GroupGraph` has all records in memory, and arrangements and messages in mapped files.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foreknow.app.atomic_output import write_json
from foreknow.app.disk.begun_runs import begin_run, make_folder, object_checksum
from foreknow.app.disk.block_adversary import block_adversary, check_large_adversary, revised_beliefs
from foreknow.app.disk.engine import Engine, as_engine, parquet_of, write_rows
from foreknow.app.disk.partition import (
    APART,
    IS_PUBLISHED,
    Partition,
    begin_partition,
    drop_state,
    evidence_from,
    exchange_tilts,
    law_records,
    listed_records,
    partition_people,
    problem_of,
    published_records,
    release_of,
    withheld,
    write_beliefs,
    write_shared_beliefs,
)
from foreknow.app.disk.parts import (
    BLOCK_RECORDS,
    Block,
    belief_part,
    block_ranges,
    check_listed_parts,
    part_path,
    part_paths,
    write_joined,
    write_last,
    write_part,
)
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.publication import BEGUN, KEY, MANIFEST, PARTS, PRIVATE, read_json, sums_below
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.attacks.belief_notes import (
    approximation_notes,
    graph_notes,
    graph_shares,
    law_notes,
    overconfidence_notes,
    returned_notes,
)
from foreknow.evaluation.checks.program import checksum, versions
from foreknow.models import Adversary, GroupGraph, GroupMessages, MaxEntropy, Observation, Status
from foreknow.models.adversary import check_knows_ghosts
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint import JointProblem
from foreknow.models.joint.building import with_pairs
from foreknow.models.joint.problem import JointPosterior, first_releases, solved
from foreknow.models.notes import Note
from foreknow.models.program_version import program_version
from foreknow.models.settings import check_kind
from foreknow.models.tables.atomic_file import locked, remove_torn

DISK_SOLVERS = (GroupGraph, GroupMessages, MaxEntropy)
"""Solvers of a joint attack from disk."""


def attack_large(
    published: LargeReleases,
    attack: SequentialAttack | JointAttack | Adversary,
    folder: "Path | str",
    *,
    engine: Engine | None = None,
) -> Path:
    """Attack releases on disk; write the beliefs about each release as Parquet files.

    Parameters
    ----------
    published : LargeReleases
    attack : SequentialAttack, JointAttack or Adversary
        An adversary alone stands for its `SequentialAttack`. A `JointAttack` has the solver `GroupGraph`, `GroupMessages` or
        `MaxEntropy`, and no ``signatures``. The adversary has transitions of order 1 or none, and no compromised records. Ghosts
        are read by its ``mechanism``. A `JointAttack` reads its presence, and with `GroupGraph` its relations.
    folder : path
        Folder to make, or that an interrupted run of the same attack left. It holds one part for each block of each release; with
        `MaxEntropy` and `GroupMessages` one for each partition of the respondents, and with `GroupMessages` one for each block of
        members of groups that partitions share: ``respondent``, ``step`` (number of the release), ``values`` (codes of the values
        with a positive belief) and ``probabilities``. Its ``manifest.json``, written last, has the number of groups of each release
        that contradict the adversary's knowledge or did not converge, ``notes`` as those of beliefs in memory, and the checksum of
        each file.
    engine : Engine, optional
        Memory and processes. Results do not depend on them. Its progress is shown, and not that of a solver.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind, the attack needs all records in memory, the releases have ghosts and the adversary no
        ``mechanism``, a part of the publication is missing, the folder holds something else or cannot be written to, or an
        interrupted run had other versions of Python or the packages.
    AlreadyComplete
        If the folder holds the beliefs of this attack.

    Notes
    -----
    An estimator that draws, as `SwapChain`, does so in each block by a generator of its own: of the state of the given one, the
    release and the block. The given one does not advance.

    A `SequentialAttack` that was interrupted goes on after its last whole block, a `JointAttack` begins again in the same folder.
    Reads quasi-identifiers and groups, and of the true values nothing but their numbers in each group.

    `SequentialAttack`: costs that of the estimator, and a join and a sort on disk for each release. Memory: one block for each
    worker, and half of ``engine.memory`` for DuckDB.

    `JointAttack` with `GroupGraph`: beliefs are those in memory of views that are sorted by respondent. Arrangements and messages
    are in files; memory is some 800 bytes for each record of all releases, in one process (`write_graph_beliefs`).

    Presence: a sort of all records by respondent, and 8 m bytes for each record; with ``hindsight=False`` each prefix of the
    history is solved anew, as in memory. Relations: one Python object for each respondent.

    `JointAttack` with another solver: the respondents are partitioned by the rank of their first published record, in as many
    partitions as the largest release has blocks. Groups within a partition are fitted there by the code that works in memory; the
    tilts of groups with members in several partitions are exchanged by sweep (`fit_shared_tilts`). Beliefs equal those in memory up
    to the tolerance of the solver: both laws meet all counts within it. With `GroupMessages` a partition then computes the
    posterior of its own groups with their exact counts (`exact_beliefs`). It writes the weights of the members of shared groups,
    which are sorted by group on disk and treated in blocks of whole groups. Memory: all records of one partition of respondents
    for each worker, and the tilts of the shared groups, m numbers each.
    """
    attack = checked_attack(published, attack)
    check_kind("attack_large", "folder", folder, (str, Path), "is the path of a folder to make, as 'beliefs'")
    engine, folder = as_engine("attack_large", engine), Path(folder).absolute()
    work = folder / "work"
    make_folder("attack_large", folder, 0o700)
    with locked(folder):
        begin_run("attack_large", folder, folder, _settings(published, attack), {})
        if isinstance(attack, JointAttack):
            shutil.rmtree(work, ignore_errors=True)
        work.mkdir(0o700, exist_ok=True)
        if isinstance(attack, JointAttack):
            by_graph = isinstance(attack.solver, GroupGraph)
            write = write_graph_beliefs if by_graph else write_joint_beliefs
            manifest = write(published, attack, folder, work, engine)
        else:
            manifest = _write_sequential_beliefs(published, attack, folder, work, engine)
        shutil.rmtree(work)
        remove_torn(folder)  # A worker that was killed left what it was writing.
        manifest |= {"notes": attack_notes(attack, manifest, sum(one.groups for one in published.releases))}
        sums = {BEGUN: checksum(folder / BEGUN)} | sums_below(folder, folder, "part-*.parquet")
        write_json(folder / MANIFEST, manifest | {"versions": versions(), "sha256": sums})
    return folder


def checked_attack(published: LargeReleases, attack: Any) -> SequentialAttack | JointAttack:
    """Attack on a publication without a missing part, of an adversary whose state on disk is known.

    Raises
    ------
    TypeError, ValueError
        As `attack_large`.
    """
    check_kind("attack_large", "published", published, LargeReleases)
    check_listed_parts("attack_large", published.private, f"{PRIVATE}/{KEY}{PARTS}")
    takes = "is an Adversary, or a SequentialAttack or JointAttack with one"
    check_kind("attack_large", "attack", attack, (Adversary, SequentialAttack, JointAttack), takes)
    made = SequentialAttack(attack) if isinstance(attack, Adversary) else attack
    adversary: Any = made.adversary
    owner = "attack_large" if isinstance(made, JointAttack) else f"attack_large: {type(made).__name__} from disk"
    check_large_adversary(owner, adversary, isinstance(made, JointAttack))
    for one in published.releases:
        check_knows_ghosts(adversary, one.time, one.ghosts)
    if not isinstance(made, JointAttack):
        return made
    if made.signatures or not isinstance(made.solver, DISK_SOLVERS):
        raise ValueError(
            f"attack_large: {made!r} needs all records in memory. From disk: JointAttack with the solver GroupGraph(), "
            "GroupMessages() or MaxEntropy(), and without signatures."
        )
    return made


def _write_sequential_beliefs(
    published: LargeReleases, attack: SequentialAttack, folder: Path, work: Path, engine: Engine
) -> dict[str, Any]:
    """Write the beliefs of `SequentialAttack`, one part for each block."""
    adversary, doubts = attack.adversary, []
    assert isinstance(adversary, Adversary)
    with engine.connection() as connection:
        for release, joined in enumerate(joined_releases(connection, published, folder, work)):
            attacked = partial(attack_block, adversary=adversary, folder=folder)
            blocks = engine.map(attacked, published.blocks(release, joined))
            doubts += [{"release": release, **one} for one in blocks]
        repeated = 0.0 if adversary.transitions is None else repeated_share(connection, published)
    table = pd.DataFrame(doubts)
    return {
        "doubtful_groups": table.groupby("release")["doubtful"].sum().tolist(),
        "approximated_groups": int(table["approximated"].sum()),
        "approximation_error": float(table["error"].max()),
        "repeated_pairs": repeated,
    }


def joined_releases(
    connection: duckdb.DuckDBPyConnection, published: LargeReleases, beliefs: Path, work: Path
) -> Iterator[Path]:
    """For each release, a file of its records in the order of their ranks, with the last beliefs about their respondents.

    The first ghost of a place has the last belief about the respondent, a later one that about the ghost before. The parts of the
    beliefs of a release are read after its file was yielded. Files of ``work`` are replaced by those of the next.
    """
    last = None
    for release in range(len(published.releases)):
        if release:
            latest = parquet_of(*part_paths(beliefs, release - 1))
            last = write_last(connection, latest, last, work / f"beliefs-{release - 1:04d}.parquet")
        rows = published.key_rows(release)
        ghosts = part_paths(work / "ghosts", release - 1)
        yield write_joined(connection, rows, [] if last is None else [last], work / "joined.parquet", ghosts)


def attack_block(block: Block, adversary: Adversary, folder: Path) -> dict[str, Any]:
    """Write the beliefs about the respondents of a block; return the numbers of groups in which there is doubt.

    They are ``doubtful``, the number of groups that contradict the knowledge or did not converge; ``approximated``, that of those
    which `Auto` approximates by `Sinkhorn`; and ``error``, the largest estimated error of a belief in these. They are kept, so that
    a block of an interrupted run is not attacked again.
    """
    done = part_path(folder / "work" / "done", block.release, block.number, "json")
    made = part_path(folder, block.release, block.number)
    if done.exists() and made.exists():
        return read_json(done)
    rows = block.read()
    people, (group, counts) = block.people(rows), block.groups(rows)
    revised = revised_beliefs(adversary, people, rows, block.release)
    of_block = block_adversary(adversary, block.release, block.number)
    posterior = of_block.posterior(revised, Observation(people, group, counts, block.time))
    ghost, found = rows["ghost"].to_numpy(), posterior.probabilities
    write_part(made, belief_part(rows["respondent"], np.where(ghost, -1, group), found, block.release))
    if ghost.any():
        carried = part_path(folder / "work" / "ghosts", block.release, block.number)
        write_part(carried, belief_part(rows["respondent"], np.where(ghost, group, -1), found, block.release))
    errors = np.zeros(0) if posterior.error is None else posterior.error[posterior.error > 0]
    doubts = {
        "doubtful": int((posterior.status != 0).sum()),
        "approximated": len(errors),
        "error": float(errors.max(initial=0.0)),
    }
    write_json(done, doubts)
    return doubts


def check_publication(folder: Path, published: LargeReleases) -> None:
    """Raise ValueError if the beliefs of a folder are about another publication than a given one, wherever this lies now."""
    if read_json(folder / BEGUN)["settings"]["publication"] != checksum(published.private / MANIFEST):
        raise ValueError(
            f"measure_large: the beliefs of {folder} are about another publication than {published.folder}; name the folder of an "
            "attack on it."
        )


def _settings(published: LargeReleases, attack: SequentialAttack | JointAttack) -> dict[str, Any]:
    """Settings on which the result depends."""
    joint = (attack.hindsight, repr(attack.solver)) if isinstance(attack, JointAttack) else ()
    return {
        "program": program_version(),
        "publication": checksum(published.private / MANIFEST),
        "attack": object_checksum((type(attack).__name__, _content(attack.adversary), *joint)),
    }


def _content(adversary: Any) -> Any:
    """Knowledge of an adversary, as an object whose pickled bytes do not depend on what was computed of a graph before."""
    relations = adversary.relations
    if relations is None:
        return adversary
    edges, nodes = [repr(edge) for edge in relations.graph.edges(data="kind")], [repr(node) for node in relations.graph]
    return adversary.without("relations"), edges, nodes, repr(relations.kinds), relations.tables


def attack_notes(attack: SequentialAttack | JointAttack, found: Mapping[str, Any], groups: int) -> list[Note]:
    """Sentences that name what the beliefs of an attack approximate, as the notes of the beliefs in memory.

    ``found`` are the numbers of the manifest, ``groups`` is the number of all groups.
    """
    law = law_notes(attack.solver, type(attack.solver).__name__) if isinstance(attack, JointAttack) else []
    law = law or graph_notes(found.get("graph_shares", {}))
    doubtful = sum(found["doubtful_groups"])
    kind = (
        "{doubtful:,} of {groups:,} {groups:group|groups} {doubtful:contradicts|contradict} the adversary's knowledge, or the "
        "beliefs in them did not converge. Transitions or priors of 0 are the usual reason of a contradiction; a pseudo-count "
        "avoids them."
    )
    doubts = [Note(kind, doubtful=doubtful, groups=groups)] if doubtful else []
    approximated = approximation_notes(found.get("approximated_groups", 0), found.get("approximation_error", 0.0))
    repeated = overconfidence_notes(found.get("repeated_pairs", 0.0))
    return [*law, *repeated, *approximated, *doubts, *returned_notes(found.get("returned", 0))]


def repeated_share(connection: duckdb.DuckDBPyConnection, published: LargeReleases) -> float:
    """Share of the pairs of group members that shared a group at their previous publication, as `repeated_pairs`.

    Exact: pairs are counted in whole numbers. Cost: a sort of all records by respondent, on disk.
    """
    if len(published.releases) < 2:
        return 0.0
    pairs, repeated = connection.execute(
        f"WITH published AS ({published_records(published)}), "
        "followed AS (SELECT key, lag(key) OVER (PARTITION BY respondent ORDER BY key) AS earlier FROM published), "
        "met AS (SELECT key, count(*)::HUGEINT AS number FROM followed WHERE earlier IS NOT NULL GROUP BY key, earlier), "
        "whole AS (SELECT sum(number) AS number FROM met GROUP BY key) "
        "SELECT (SELECT sum(number * (number - 1)) FROM whole), (SELECT sum(number * (number - 1)) FROM met)"
    ).fetchall()[0]
    return float(repeated / pairs) if pairs else 0.0


class SharedGroups(NamedTuple):
    """Groups with members in several partitions."""

    counts: FloatArray  # (h, m): published counts
    release: IntArray  # (h,)
    met: IntArray  # (h,): largest number of shared groups in which a member of each is
    parts: list[IntArray]  # shared groups of each partition


class TiltState(NamedTuple):
    """Tilts of the shared groups after some exchanges."""

    tilts: FloatArray  # (h, m)
    gap: FloatArray  # (h,): total variation between expected and published counts, as a share of the members
    latest: tuple[int, ...]  # last exchange of each partition, which names the file of its messages
    exchanges: int


def write_joint_beliefs(
    published: LargeReleases, attack: JointAttack, folder: Path, work: Path, engine: Engine
) -> dict[str, Any]:
    """Write the beliefs of `JointAttack`, in parts for each partition of the respondents.

    With `GroupMessages`, the members of groups that partitions share are in parts of their own.

    Returns
    -------
    dict
        ``doubtful_groups`` of each release; the numbers of ``partitions``, of ``shared_groups``, of ``exchanges``, and of the
        respondents who ``returned`` after ghosts.
    """
    releases, m, weights = len(published.releases), len(published.schema.values), work / "weights"
    assert isinstance(attack.adversary, Adversary)
    assert isinstance(attack.solver, MaxEntropy | GroupMessages)
    # Without the progress of the attack's own solver, which need not travel to workers.
    solver = MaxEntropy(attack.solver.tolerance, attack.solver.rounds)
    with engine.connection() as connection:
        found = partition_people(connection, published, attack.adversary, work)
    times = tuple(one.time for one in published.releases)
    partitions = [
        Partition(found.path, *ends, number, found.shared, times, published.schema, attack.adversary, solver, work)
        for number, ends in enumerate(found.ranges)
    ]
    prefixes = [releases] if attack.hindsight else list(range(1, releases + 1))
    begun = list(engine.map(partial(begin_partition, known=prefixes[0]), partitions))
    met = np.ones(len(found.counts), dtype=np.int64)
    for part, most in begun:
        met[part] = np.maximum(met[part], most)
    shared = SharedGroups(found.counts, release_of(np.load(found.shared)), met, [part for part, _ in begun])
    # Tilts are 1 before any exchange, and 0 for values that a group does not publish.
    tilts = (shared.counts > 0).astype(float)
    state, doubtful = TiltState(tilts, np.zeros(len(tilts)), (0,) * len(partitions), 0), [0] * releases
    of_weights = weights if isinstance(attack.solver, GroupMessages) else None
    for last in prefixes:
        if last > prefixes[0] and attack.adversary.witnesses:
            state = _begun_again(state, partitions, engine, last)
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
        "returned": _returned(found.path),
    }


def _returned(records: Path) -> int:
    """Number of respondents who are published again after ghosts."""
    back = pq.read_table(records, columns=["respondent"], filters=[("path", "=", APART)], use_threads=False)
    return int(pc.count_distinct(back["respondent"]).as_py())


def _begun_again(state: TiltState, partitions: Sequence[Partition], engine: Engine, known: int) -> TiltState:
    """First messages of all partitions, with the evidence that the first ``known`` releases give; shared tilts are kept."""
    for partition, exchange in zip(partitions, state.latest, strict=True):
        drop_state(partition, exchange)
    list(engine.map(partial(begin_partition, known=known), partitions))
    return state._replace(latest=(0,) * len(partitions))


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
        ``doubtful_groups`` of each release; ``graph_shares``, those of `graph_notes`; and the number of respondents who
        ``returned`` after ghosts.

    Notes
    -----
    Memory: O(S) for S states of all records, some 800 bytes for each record. Arrangements and messages, .1 to 5 KiB for each record
    as measured, are in files of ``work``. One process, with as many threads as the engine has workers.
    """
    assert isinstance(attack.solver, GroupGraph)
    whole, block = _whole(published, attack, work, engine)
    problem, releases = _whole_problem(whole, block, published, engine), len(published.releases)
    solver = replace(attack.solver, scratch=work, workers=int(engine.workers))
    if (shown := engine.progress) is not None:
        solver = replace(solver, progress=lambda parts: shown(parts, len(parts)))

    def known_after(problem: JointProblem, known: int) -> JointProblem:
        first = first_releases(problem, known)
        evidence, row = evidence_from(whole, block.slice(0, len(first.path)), known)
        return replace(first, evidence=evidence, evidence_row=row)

    posterior = solved(solver, problem, attack.hindsight, known_after if whole.adversary.witnesses else None)
    doubtful = (posterior.status & (Status.CONTRADICTED | Status.UNCONVERGED)) > 0
    doubtful &= problem.constrained  # not the records that are withheld
    for release in range(releases):
        _write_release(posterior, block, release, folder)
    return {
        "doubtful_groups": np.bincount(problem.release[doubtful], minlength=releases).tolist(),
        "graph_shares": graph_shares(posterior.status[problem.group[block["path"].to_numpy() <= APART]], solver.limit),
        "returned": _returned(whole.records),
    }


def _whole(published: LargeReleases, attack: JointAttack, work: Path, engine: Engine) -> tuple[Partition, pa.Table]:
    """All respondents as one partition, and the rows of their records."""
    path = work / "records.parquet"
    assert isinstance(attack.adversary, Adversary)
    with engine.connection() as connection:
        records = f"SELECT * EXCLUDE (part) FROM ({law_records(published, attack.adversary)})"
        write_rows(connection, f"{records} ORDER BY key, ghost, respondent", path)
    block, times = pq.read_table(path, use_threads=False), tuple(one.time for one in published.releases)
    return Partition(path, 0, len(block), 0, path, times, published.schema, attack.adversary, MaxEntropy(), work), block


def _whole_problem(whole: Partition, block: pa.Table, published: LargeReleases, engine: Engine) -> JointProblem:
    """Joint problem of all records, with the pairs of relatives."""
    keys, group = np.unique(block["key"].to_numpy(), return_inverse=True)
    none, last = np.zeros(0, dtype=np.int64), len(whole.times)
    problem = problem_of(whole, block, keys, group.astype(np.int64), none, last)
    if whole.adversary.relations is None:
        return problem
    return with_pairs(problem, whole.adversary.relations, *_relatives(whole, block, published, engine))


def _relatives(
    whole: Partition, block: pa.Table, published: LargeReleases, engine: Engine
) -> tuple[list[np.ndarray[Any, Any]], list[BoolArray], list[IntArray]]:
    """Listed respondents of the graph in each release, who of them is published, and the record of each; -1 for none.

    Cost: one text or number in Python for each respondent, and one for each record of a respondent of the graph.
    """
    assert whole.adversary.relations is not None
    path, graph = whole.work / "withheld.parquet", whole.adversary.relations.graph
    with engine.connection() as connection:
        absent = f"SELECT release, respondent FROM ({listed_records(published)}) WHERE NOT {IS_PUBLISHED}"
        write_rows(connection, absent, path)
    shown = np.flatnonzero(~withheld(block["key"].to_numpy()) & ~block["ghost"].to_numpy())
    hidden = pq.read_table(path, use_threads=False)
    listed = pa.concat_tables([block.select(hidden.column_names).take(pa.array(shown)), hidden])
    record = np.concatenate([shown, np.full(len(hidden), -1)])
    respondent = pc.dictionary_encode(listed["respondent"].combine_chunks())
    names = np.array([*respondent.dictionary.to_pylist(), None], dtype=object)[:-1]
    inside = np.array([name in graph for name in names], dtype=np.bool_)
    own, release = respondent.indices.to_numpy(), listed["release"].to_numpy()
    rows = [np.flatnonzero(inside[own] & (release == t)) for t in range(len(whole.times))]
    return [names[own[at]] for at in rows], [record[at] >= 0 for at in rows], [record[at] for at in rows]


def _write_release(posterior: JointPosterior, block: pa.Table, release: int, folder: Path) -> None:
    """Write the parts of the beliefs about the published records of a release, which stand before those that are withheld."""
    problem = posterior.problem
    first, last = np.searchsorted(problem.release[problem.group], [release, release + 1]).tolist()
    last = first + int(problem.constrained[problem.group[first:last]].sum())
    for part, (start, stop) in enumerate(block_ranges(last - first, BLOCK_RECORDS)):
        rows = posterior.rows(np.arange(first + start, first + stop))
        own = block.slice(first + start, stop - start)
        group = np.where(own["ghost"].to_numpy(), -1, 0)
        write_part(part_path(folder, release, part), belief_part(own["respondent"], group, rows, release))
