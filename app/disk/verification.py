"""Independent check of requirements on releases on disk, from their published parts."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foreknow.app.disk.block_adversary import check_large_adversary, revised_beliefs
from foreknow.app.disk.engine import Engine, as_engine, parquet_of, quoted, shared_folder
from foreknow.app.disk.parts import check_listed_parts, joined_releases, part_paths, part_ranges, people_of, read_block
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.published_block import check_block_requirement
from foreknow.defenses import Requirement
from foreknow.defenses.requirements.requirement import AllOf
from foreknow.evaluation.checks.definitions import CheckedTable, Group, holds, level_of
from foreknow.models import Adversary, Problem, Schema
from foreknow.models.arrays import IntArray
from foreknow.models.settings import check_kind


class VerifyTask(NamedTuple):
    """Published part to check.

    Attributes
    ----------
    shares : mapping of value to float
        Those of the whole release.
    joined : Path or None
        Records with earlier beliefs, of which the rows ``start`` to ``stop`` are those of the part; for requirements on beliefs.
    """

    part: Path
    schema: Schema
    shares: Mapping[Hashable, float]
    requirement: Requirement
    joined: Path | None
    start: int
    stop: int
    release: int
    time: Any
    adversary: Adversary | None


class Verdict(NamedTuple):
    """Verdict on one requirement in one part: number of groups, number of failing ones, smallest and largest level."""

    requirement: str
    groups: int
    failing: int
    lowest: float
    highest: float


def verify_large(
    published: LargeReleases,
    requirement: Requirement,
    adversary: Adversary | None = None,
    *,
    engine: Engine | None = None,
) -> pd.DataFrame:
    """Verdict on each release, with the levels recomputed from the published parts by the definitions of `verify`.

    Parameters
    ----------
    published : LargeReleases
    requirement : Requirement
        On sensitive values, or on the beliefs about the members: `JSimilarity`, `PosteriorBound`, and `BTPrivacy` without a
        bandwidth.
    adversary : Adversary, optional
        The one that `publish_large` assumed; needed for requirements on beliefs.
    engine : Engine, optional

    Returns
    -------
    DataFrame
        One row for each release and conjunct: ``time``, ``requirement``, ``bound``, ``groups``, ``failing``, and the ``lowest`` and
        ``highest`` level.

    Raises
    ------
    TypeError, ValueError
        If the checker has no definition of the requirement for releases on disk, the requirement is fitted to all records of a
        view, the adversary is missing, or a part is missing or was changed.

    Notes
    -----
    Each distinct multiset of values of a part is checked once, and beliefs group by group. The priors are revised from the
    beliefs that `publish_large` kept, whose checksums are compared. Cost: O(n) for reading, O(m) in plain Python for each distinct
    multiset, O(n m) in arrays for `JSimilarity`, and the estimator with O(n m) or O(n m^2) in plain Python for `PosteriorBound` and
    `BTPrivacy`. Memory: one part for each worker.
    """
    takes = "is the result of publish_large, or LargeReleases(folder)"
    check_kind("verify_large", "published", published, LargeReleases, takes)
    check_kind("verify_large", "requirement", requirement, Requirement, "is a requirement, as KAnonymity(3)")
    check_block_requirement("verify_large", requirement)
    engine, rows = as_engine("verify_large", engine), []
    conjuncts = _conjuncts(requirement)
    reads_beliefs = requirement.weighs_beliefs
    if reads_beliefs:
        check_large_adversary("verify_large", adversary)
    private, releases = published.folder / "private", len(published.releases)
    read = ("../release", "records", *(["beliefs"] if reads_beliefs else []))
    check_listed_parts("verify_large", private, *read)
    shared = shared_folder(engine, private) if reads_beliefs else nullcontext(private)
    with shared as work, engine.connection() as connection:
        files = (
            joined_releases(connection, private / "records", private / "beliefs", releases, work)
            if reads_beliefs
            else repeat(None, releases)
        )
        for number, (release, joined) in enumerate(zip(published.releases, files, strict=True)):
            parts = part_paths(published.folder / "release", number)
            shares = _shares(parts, published.schema, connection)
            ranges = part_ranges(private / "records", number)
            tasks = [
                VerifyTask(part, published.schema, shares, requirement, joined, *ends, number, release.time, adversary)
                for part, ends in zip(parts, ranges, strict=True)
            ]
            found = [verdict for of_part in engine.map(verify_part, tasks) for verdict in of_part]
            rows += [_summary(release.time, part, found) for part in conjuncts]
    return pd.DataFrame(rows, columns=["time", "requirement", "bound", "groups", "failing", "lowest", "highest"])


def verify_part(task: VerifyTask) -> list[Verdict]:
    """Verdicts on the groups of a published part."""
    values = task.schema.values
    table = pq.read_table(task.part, columns=["group", task.schema.sensitive], use_threads=False, partitioning=None)
    if not len(table):
        return []
    names, counts = _counts(table, task.schema)
    conjuncts = _conjuncts(task.requirement)
    problem = _problem(task, names, counts) if any(part.weighs_beliefs for part in conjuncts) else None
    groups = [] if problem is None else list(_groups(problem, values))
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    multisets = [Group(number, _listed(values, row), None) for number, row in enumerate(distinct.tolist())]
    published, verdicts = CheckedTable((), values, None, None, shares=task.shares, problem=problem), []
    for part in conjuncts:
        level = level_of(part, published)
        levels = [level(group) for group in (groups if part.weighs_beliefs else multisets)]
        numbers = np.ones(len(groups), dtype=np.int64) if part.weighs_beliefs else times
        failing = int(numbers[[not holds(part, one) for one in levels]].sum())
        verdicts.append(Verdict(repr(part), len(names), failing, min(levels), max(levels)))
    return verdicts


def _problem(task: VerifyTask, names: IntArray, counts: IntArray) -> Problem:
    """Revised priors of the records of a part, their groups, numbered as ``names``, and the published counts."""
    assert task.joined is not None
    assert task.adversary is not None
    block = read_block(task.joined, task.start, task.stop)
    prior = revised_beliefs(task.adversary, people_of(block, task.schema, task.time), block, task.release)
    label = block["group"].to_numpy()
    return Problem(prior, np.where(label >= 0, np.searchsorted(names, label), -1), counts)


def _groups(problem: Problem, values: Sequence[Hashable]) -> Iterator[Group]:
    """Groups of a part with their values and the priors of their members, in the order of their numbers."""
    order = np.argsort(problem.group, kind="stable")
    edges = np.searchsorted(problem.group[order], np.arange(len(problem.counts) + 1)).tolist()
    for number, (row, ends) in enumerate(zip(problem.counts.tolist(), pairwise(edges), strict=True)):
        yield Group(number, _listed(values, row), problem.prior[order[slice(*ends)]])


def _summary(time: Any, part: Requirement, found: list[Verdict]) -> tuple[Any, ...]:
    own = [verdict for verdict in found if verdict.requirement == repr(part)]
    groups, failing = sum(one.groups for one in own), sum(one.failing for one in own)
    lowest = min((one.lowest for one in own), default=np.nan)
    highest = max((one.highest for one in own), default=np.nan)
    return time, repr(part), part.bound, groups, failing, lowest, highest


def _conjuncts(requirement: Requirement) -> tuple[Requirement, ...]:
    return requirement.parts if isinstance(requirement, AllOf) else (requirement,)


def _listed(values: Sequence[Hashable], counts: list[int]) -> list[Hashable]:
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def _counts(table: pa.Table, schema: Schema) -> tuple[IntArray, IntArray]:
    """Labels of the groups of a part, and the number of records of each value in each: shapes ``(g,)`` and ``(g, m)``."""
    domain = pa.array(list(schema.values))
    code = pc.index_in(table[schema.sensitive].cast(domain.type), domain).to_numpy()
    names, number = np.unique(table["group"].to_numpy(), return_inverse=True)
    m = len(schema.values)
    return names, np.bincount(number * m + code, minlength=len(names) * m).reshape(len(names), m)


def _shares(parts: list[Path], schema: Schema, connection: duckdb.DuckDBPyConnection) -> dict[Hashable, float]:
    """Share of each value in a release."""
    column = quoted(schema.sensitive)
    query = f"SELECT {column}, count(*) FROM {parquet_of(*parts)} GROUP BY {column}"
    rows = connection.execute(query).fetchall()
    total = sum(count for _, count in rows)
    return {value: count / total for value, count in rows}
