"""Joint attack on releases on disk by the graph of groups: arrangements and messages in files, records in memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, to_parquet
from foreknow.app.disk.partition import Partition, problem_of, published_records
from foreknow.app.disk.parts import BLOCK_RECORDS, belief_part, block_ranges, part_path, write_part
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import JointAttack
from foreknow.attacks.belief_notes import graph_shares
from foreknow.models import Adversary, GroupGraph, MaxEntropy, Status
from foreknow.models.joint import JointProblem
from foreknow.models.joint.problem import JointPosterior


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
    problem, respondents = _problem(published, attack, work, engine)
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


def _problem(
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
