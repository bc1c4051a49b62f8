"""Attacks on releases on disk: beliefs stream from file to file."""

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from foreknow.app.atomic_output import locked, write_json
from foreknow.app.disk.begun_runs import begin_run, make_folder, object_checksum
from foreknow.app.disk.block_adversary import block_adversary, check_large_adversary, revised_beliefs
from foreknow.app.disk.engine import Engine, as_engine, parquet_of
from foreknow.app.disk.joint_attack import write_graph_beliefs, write_joint_beliefs
from foreknow.app.disk.partition import published_records
from foreknow.app.disk.parts import (
    Block,
    belief_part,
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
from foreknow.attacks.belief_notes import approximation_notes, graph_notes, law_notes, overconfidence_notes
from foreknow.evaluation.checks.program import checksum, versions
from foreknow.models import Adversary, GroupGraph, GroupMessages, MaxEntropy, Observation
from foreknow.models.notes import Note
from foreknow.models.program_version import program_version
from foreknow.models.settings import check_kind

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
        `MaxEntropy`, and no ``signatures``. The adversary has transitions of order 1 or none, and no compromised records.
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
        If an argument is of another kind, the attack needs all records in memory, a part of the publication is missing, the
        folder holds something else or cannot be written to, or an interrupted run had other versions of Python or the packages.
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
        work.mkdir(exist_ok=True)
        if isinstance(attack, JointAttack):
            by_graph = isinstance(attack.solver, GroupGraph)
            write = write_graph_beliefs if by_graph else write_joint_beliefs
            manifest = write(published, attack, folder, work, engine)
        else:
            manifest = _write_sequential_beliefs(published, attack, folder, work, engine)
        shutil.rmtree(work)
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
    check_large_adversary("attack_large", made.adversary)
    if isinstance(made, JointAttack) and (made.signatures or not isinstance(made.solver, DISK_SOLVERS)):
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

    The parts of the beliefs of a release are read after its file was yielded. Files of ``work`` are replaced by those of the next.
    """
    last = None
    for release in range(len(published.releases)):
        if release:
            latest = parquet_of(*part_paths(beliefs, release - 1))
            last = write_last(connection, latest, last, work / f"beliefs-{release - 1:04d}.parquet")
        rows = published.key_rows(release)
        yield write_joined(connection, rows, [] if last is None else [last], work / "joined.parquet")


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
    write_part(made, belief_part(rows["respondent"], group, posterior.probabilities, block.release))
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
        "attack": object_checksum((type(attack).__name__, attack.adversary, *joint)),
    }


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
    return [*law, *repeated, *approximated, *doubts]


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
