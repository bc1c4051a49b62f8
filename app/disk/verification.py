"""Independent check of requirements on releases on disk, from their published parts."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foreknow.app.disk.attack import joined_releases
from foreknow.app.disk.block_adversary import check_large_adversary, revised_beliefs
from foreknow.app.disk.engine import Engine, as_engine, parquet_of, quoted, shared_folder
from foreknow.app.disk.parts import Block, check_listed_parts, part_paths, table_folder
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.published_block import check_block_requirement
from foreknow.app.publication import KEY, PARTS, PRIVATE, PUBLIC, TABLE
from foreknow.defenses import Requirement
from foreknow.evaluation.checks.certificate import FINDINGS, conjuncts
from foreknow.evaluation.checks.definitions import CheckedTable, Group, holds, level_of
from foreknow.models import Adversary, Problem, Schema
from foreknow.models.arrays import IntArray
from foreknow.models.settings import check_kind


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
    check_kind("verify_large", "published", published, LargeReleases)
    check_kind("verify_large", "requirement", requirement, Requirement, "is a requirement, as KAnonymity(3)")
    check_block_requirement("verify_large", requirement)
    engine, found = as_engine("verify_large", engine), []
    reads_beliefs = requirement.weighs_beliefs
    if reads_beliefs:
        check_large_adversary("verify_large", adversary)
    private = published.private
    if reads_beliefs and not (private / "beliefs").exists():
        raise ValueError(
            f"verify_large: {published.folder} has no beliefs of an assumed adversary, which {requirement!r} reads; it was "
            "published without one, or with Cohorts. Verify it in memory."
        )
    read = (f"{PUBLIC}/{TABLE}{PARTS}", f"{PRIVATE}/{KEY}{PARTS}", *([f"{PRIVATE}/beliefs"] if reads_beliefs else []))
    check_listed_parts("verify_large", private, *read)
    shared = shared_folder(engine, private) if reads_beliefs else nullcontext(private)
    with shared as work, engine.connection() as connection:
        files: Iterable[Path | None] = repeat(None)
        if reads_beliefs:
            files = joined_releases(connection, published, private / "beliefs", work)
        for (number, release), joined in zip(enumerate(published.releases), files, strict=False):
            parts = part_paths(table_folder(published.folder), number)
            blocks = repeat(None) if joined is None else published.blocks(number, joined)
            shares = _shares(parts, published.schema, connection)
            of_part = partial(
                verify_part, schema=published.schema, shares=shares, requirement=requirement, adversary=adversary
            )
            verdicts = pd.concat(engine.map(of_part, zip(parts, blocks, strict=False)))
            found.append(verdicts.groupby(level="requirement", sort=False).agg(SUMMARY).assign(time=release.time))
    bounds = {repr(part): part.bound for part in conjuncts(requirement)}
    rows = pd.concat(found).reset_index()
    return rows.assign(bound=rows["requirement"].map(bounds))[FINDINGS]


SUMMARY = {"groups": "sum", "failing": "sum", "lowest": "min", "highest": "max"}
"""Columns of the verdicts on a part, and those on a release from them."""


def verify_part(
    task: tuple[Path, Block | None],
    schema: Schema,
    shares: Mapping[Hashable, float],
    requirement: Requirement,
    adversary: Adversary | None,
) -> pd.DataFrame:
    """Verdicts on the groups of a published part: one row for each conjunct, with the columns of `SUMMARY`.

    ``shares`` are those of the values of the whole release. For requirements on beliefs, the block has the records of the part
    with earlier beliefs.
    """
    (part, block), values = task, schema.values
    table = pq.read_table(part, columns=["group", schema.sensitive], use_threads=False, partitioning=None)
    names, counts = _counts(table, schema)
    problem = None if block is None or adversary is None else _problem(block, adversary, names, counts)
    groups = [] if problem is None else list(_groups(problem, values))
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    multisets = [Group(number, _listed(values, row), None) for number, row in enumerate(distinct.tolist())]
    published, rows = CheckedTable((), values, None, None, shares=shares, problem=problem), {}
    for one in conjuncts(requirement):
        level = level_of(one, published)
        levels = [level(group) for group in (groups if one.weighs_beliefs else multisets)]
        numbers = np.ones(len(groups), dtype=np.int64) if one.weighs_beliefs else times
        failing = int(numbers[[not holds(one, each) for each in levels]].sum())
        rows[repr(one)] = (len(names), failing, min(levels, default=np.nan), max(levels, default=np.nan))
    return pd.DataFrame.from_dict(rows, "index", columns=list(SUMMARY)).rename_axis("requirement")


def _problem(block: Block, adversary: Adversary, names: IntArray, counts: IntArray) -> Problem:
    """Revised priors of the records of a part, their groups, numbered as ``names``, and the published counts."""
    records = block.read()
    prior = revised_beliefs(adversary, block.people(records), records, block.release)
    label = records["group"].to_numpy()
    return Problem(prior, np.where(label >= 0, np.searchsorted(names, label), -1), counts)


def _groups(problem: Problem, values: Sequence[Hashable]) -> Iterator[Group]:
    """Groups of a part with their values and the priors of their members, in the order of their numbers."""
    order = np.argsort(problem.group, kind="stable")
    edges = np.searchsorted(problem.group[order], np.arange(len(problem.counts) + 1)).tolist()
    for number, (row, ends) in enumerate(zip(problem.counts.tolist(), pairwise(edges), strict=True)):
        yield Group(number, _listed(values, row), problem.prior[order[slice(*ends)]])


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
