"""Publication of tables larger than memory, release by release and block by block."""

import hashlib
import secrets
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.atomic_output import locked
from foreknow.app.disk.begun_runs import begin_run, make_folder, object_checksum
from foreknow.app.disk.block_adversary import check_large_adversary
from foreknow.app.disk.engine import Engine, as_engine, parquet_of
from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.parts import (
    BLOCK_RECORDS,
    MOST_BLOCKS,
    Block,
    block_ranges,
    forget_incomplete,
    key_folder,
    key_rows,
    part_paths,
    write_last,
)
from foreknow.app.disk.published_block import (
    BlockTask,
    PublishJob,
    check_block_requirement,
    publish_block,
    settled_blocks,
)
from foreknow.app.disk.sorted_records import (
    RecordOrder,
    SortedRecords,
    sort_records,
    whole_groups,
)
from foreknow.app.disk.whole_releases import publish_whole_releases
from foreknow.app.publication import BEGUN, MANIFEST, ONE_RELEASE, PRIVATE, read_json, sums_below, write_manifest
from foreknow.defenses import (
    BKAA,
    Anatomy,
    Cohorts,
    Defense,
    FullDomain,
    GroupPredicate,
    JSReduce,
    Mondrian,
    Requirement,
)
from foreknow.defenses.publish import READS, lag_of
from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.checks.program import settings as settings_text
from foreknow.models import Adversary, Schema
from foreknow.models.averaged import check_rule_reads
from foreknow.models.equality import set_fields
from foreknow.models.notes import Note, notes_of_blocks
from foreknow.models.program_version import program_version
from foreknow.models.settings import check_kind, check_whole, is_whole, shown
from foreknow.models.tables.view_files import NOTATION

WHOLE_DEFENSES = (Cohorts,)
"""Defenses that group all records of a release at once, and of the releases before read what is kept for each respondent."""

CURVE_DEFENSES = (JSReduce, Mondrian, BKAA)
"""Defenses whose groups are of near records: blocks are ranges along a Hilbert curve."""

RANDOM_DEFENSES = (Anatomy,)
"""Defenses that publish exact quasi-identifiers: blocks are random, so that each shows the values of the whole table."""

LEVEL_DEFENSES = (FullDomain,)
"""Defenses whose groups are known from the number of records of each combination of values: blocks are of whole groups."""

KIB_OF_A_RECORD = "0.7 to 1.8"
"""Memory of a record of a release that is published in memory, as measured (docs/reference/defenses.md)."""

MOST_RELEASES = 2**14
"""Largest number of releases, whose keys of groups have 63 bits."""


@dataclass(frozen=True)
class LargeRelease:
    """Numbers of a release on disk.

    Attributes
    ----------
    time
        Time of the release.
    records, groups, suppressed : int
        Numbers of original records, of published groups, and of suppressed records.
    ghosts : int
        Number of invented records that carry on places.
    notes : tuple of str
        Notes of the defense on its blocks, each once, with the number of blocks that have it.
    """

    time: Any
    records: int
    groups: int
    suppressed: int
    ghosts: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class LargeReleases:
    """Folder that `publish_large` completed: the published table in ``public``, the key in ``private``.

    Parameters
    ----------
    folder : path

    Attributes
    ----------
    folder : Path
        Absolute, so that workers elsewhere find it.
    schema : Schema
    time : str
        Column of the time in its tables.
    releases : tuple of LargeRelease

    Raises
    ------
    ValueError
        If the folder is not complete, or is no publication from disk.
    """

    folder: Path
    schema: Schema
    time: str
    releases: tuple[LargeRelease, ...]

    def __init__(self, folder: "Path | str") -> None:
        check_kind(
            "LargeReleases", "folder", folder, (str, Path), "is the path of a folder that publish_large completed"
        )
        path = Path(folder).absolute()
        try:
            made = read_json(path / PRIVATE / MANIFEST)["releases"]
            settings = read_json(path / PRIVATE / BEGUN)["settings"]
            times, schema = NOTATION.value(settings["times"]), NOTATION.value(settings["schema"])
            releases = tuple(
                LargeRelease(
                    time, one["records"], one["groups"], one["suppressed"], one.get("ghosts", 0), tuple(one["notes"])
                )
                for time, one in zip(times, made, strict=True)
            )
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
            raise ValueError(
                f"{folder} is not a publication from disk; leave out --from-disk, or name a folder that publish_large "
                "completed."
            ) from None
        set_fields(self, folder=path, schema=schema, time=settings["time"], releases=releases)

    @property
    def private(self) -> Path:
        """Folder of the publisher."""
        return self.folder / PRIVATE

    def key_parts(self, release: int) -> list[Path]:
        """Parts of the key of a release, by its number."""
        return part_paths(key_folder(self.folder), release)

    def key_rows(self, release: int) -> str:
        """Records of a release, as a table of a query (`key_rows`)."""
        return key_rows(self.key_parts(release), self.schema)

    def ranges(self, release: int) -> list[tuple[int, int]]:
        """First row of each part of the key of a release and of the next one, if the parts are read one after the other."""
        edges = np.cumsum([0, *(pq.read_metadata(part).num_rows for part in self.key_parts(release))]).tolist()
        return list(pairwise(edges))

    def blocks(self, release: int, records: Path) -> list[Block]:
        """Blocks of a release, by a file of its records in the order of their ranks."""
        time, ranges = self.releases[release].time, self.ranges(release)
        return [Block(records, *ends, number, release, time, self.schema) for number, ends in enumerate(ranges)]


def publish_large(
    table: LargeTable,
    defense: Defense,
    folder: "Path | str",
    adversary: Adversary | None = None,
    *,
    block: int = BLOCK_RECORDS,
    seed: int | None = None,
    engine: Engine | None = None,
) -> LargeReleases:
    """Publish a table on disk as Parquet files, a release at a time and a block at a time.

    The records of a release are sorted on disk, and cut into blocks of at least ``block`` records at fixed ranks. The defense
    groups each block on its own. A run into the folder that an interrupted one left goes on after its last whole block. `Cohorts`
    groups whole releases, one in memory at a time (`publish_whole_releases`).

    Parameters
    ----------
    table : LargeTable
    defense : Mondrian, JSReduce, BKAA, Anatomy, FullDomain or Cohorts
        `Anatomy` and `Cohorts` draw by ``seed``, not by an ``rng`` of their own.
    folder : path
        Folder to make, or that an interrupted run with the same arguments left.
    adversary : Adversary, optional
        The adversary that the publisher assumes, as for `publish`; but for `Cohorts`, with transitions of order 1.
    block : int
        Least number of records of a block. Groups depend on it, but for those of `Cohorts`.
    seed : int, optional
        Source of the order of equal records, another one in each release, and of the numbers of groups. By default, 128 bits of
        fresh entropy, kept in ``private``.
    engine : Engine, optional
        Memory and processes. Results do not depend on them.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If the folder holds something else or cannot be written to, a defense needs all records in memory or changes values, its
        requirement is fitted to all records of a view, there are no more views than the ``lag`` of the defense, the seed is no
        whole number of at least 0, or a cell, a respondent or a time is missing or outside its domain. If an interrupted run had
        other versions of Python or the packages. If there are more than 16,384 releases, or a release has more than 100,000 blocks.
    ChildProcessError
        If a process was killed.
    Infeasible
        If no level vector of `FullDomain` satisfies, or `Cohorts` has no chain by which it needs to draw ghosts.

    Notes
    -----
    With one block the groups are those of `publish`, but for ties. Requirements on the distribution of the table, as t-closeness,
    compare with the values of the whole release. Where a block suppresses records, the groups of all blocks are compared again
    with the published table, and merged or suppressed until they satisfy (`settled_blocks`).

    `FullDomain` searches the level vectors on the distinct combinations of quasi-identifiers, which it keeps in memory with m
    counts each. Its groups are those of `publish`, and a block is extended to the end of its last group.

    An estimator of the adversary that draws does so in each block by a generator of its own, as in `attack_large`.

    The releases of `Cohorts` are those of `publish` on the records in the order of the files: with ``rng=default_rng([seed, 1])``,
    and ``rng=default_rng([seed, 0])`` of the defense, generators of NumPy. The last ``lag`` views are held back. An interrupted
    run begins again.

    Memory: one block for each worker, and half of ``engine.memory`` for DuckDB; with `Cohorts` in one process ``lag + 1`` releases,
    and what is kept for each respondent. Cost: an external sort and the cost of the defense on each block.

    A run that goes on compares each block that is complete with its own order of the records, so that no respondent is published
    twice or lost.
    """
    check_kind("publish_large", "folder", folder, (str, Path), "is the path of a folder to make, as 'published'")
    engine, folder = as_engine("publish_large", engine), Path(folder).absolute()
    _check_arguments(table, defense, adversary, block, seed)
    make_folder("publish_large", folder)
    with locked(folder), engine.connection() as connection:
        times = table.times(connection)
        _check_number("releases", len(times), MOST_RELEASES, "round the times, as to days")
        published = times[: len(times) - lag_of(defense, times)]
        if adversary is not None:
            adversary.check_claim_times(published)
        settings = _settings(table, defense, adversary, block, published)
        given = settings if seed is None else settings | {"seed": str(int(seed))}
        drawn = {"seed": str(secrets.randbits(128))}
        private = folder / PRIVATE
        settings = begin_run("publish_large", folder, private, given, drawn)
        forget_incomplete(private)
        columns = (table.time or ONE_RELEASE, pa.array(times).type)
        job = PublishJob(table.schema, *columns, defense, adversary, int(settings["seed"]), folder)
        job.work.mkdir(exist_ok=True)
        if isinstance(defense, WHOLE_DEFENSES):
            made, sums = publish_whole_releases(table, connection, times, job)
        else:
            made, sums = _publish_blocks(table, connection, times, job, block, engine)
        sums |= {BEGUN: checksum(private / BEGUN)}
        sums |= sums_below(private / "done", private)
        shutil.rmtree(job.work)
        write_manifest(private, settings["files"], sums, {"releases": made})
    return LargeReleases(folder)


def _publish_blocks(
    table: LargeTable,
    connection: duckdb.DuckDBPyConnection,
    times: list[Any],
    job: PublishJob,
    block: int,
    engine: Engine,
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Publish releases by sorted blocks; numbers of each release, and the checksums of the files."""
    made: list[dict[str, Any]] = []
    sums: dict[str, str] = {}
    beliefs: Path | None = None
    for release, time in enumerate(times):
        records = sort_records(table, connection, time, order_of(job, release), beliefs, job.work)
        # Blocks have fixed ranks; those of a level vector end with their last group.
        ranges = block_ranges(int(records.counts.sum()), block)
        if isinstance(job.defense, LEVEL_DEFENSES):
            ranges = whole_groups(connection, records.path, ranges)
        _check_number("blocks", len(ranges), MOST_BLOCKS, "give a larger block=")
        places = enumerate(ranges)
        blocks = [Block(records.path, *ends, place, release, time, job.schema) for place, ends in places]
        tasks = [BlockTask(job, one, records.counts) for one in blocks]
        done = settled_blocks(tasks, list(engine.map(publish_block, tasks)), engine)
        made.append(_numbers(records, done))
        sums |= {name: sum_ for one in done for name, sum_ in one["sha256"].items()}
        if job.adversary is not None and release + 1 < len(times):
            latest = parquet_of(*part_paths(job.private / "beliefs", release))
            beliefs = write_last(connection, latest, beliefs, job.work / f"beliefs-{release:04d}.parquet")
    return made, sums


def input_checksums(published: LargeReleases) -> set[str]:
    """Checksums of the files that a publication was made from."""
    return set(map(str, read_json(published.private / MANIFEST)["records"].values()))


def order_of(job: PublishJob, release: int) -> RecordOrder:
    """Order of the records that a defense needs: along the curve, by the groups of a level vector, or by the hash alone.

    The secret is another one in each release, so that equal records of two releases are in independent orders.
    """
    secret = hashlib.sha256(f"{job.seed} {release}".encode()).hexdigest()[:32]
    levels = job.defense if isinstance(job.defense, LEVEL_DEFENSES) else None
    return RecordOrder(secret, isinstance(job.defense, CURVE_DEFENSES), levels)


def _check_number(what: str, number: int, most: int, way: str) -> None:
    """Raise ValueError if there are more blocks or releases than labels tell apart."""
    if number > most:
        raise ValueError(f"publish_large: the table has {number:,} {what}; it has {most:,} at most: {way}.")


def _numbers(records: SortedRecords, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Numbers of a release, and the notes of its blocks."""
    notes = notes_of_blocks([[Note(kind, **of) for kind, of in one["notes"]] for one in blocks])
    totals = {name: sum(one[name] for one in blocks) for name in ("groups", "suppressed")}
    return {"records": int(records.counts.sum()), **totals, "notes": [*records.notes, *notes]}


def _check_arguments(table: object, defense: object, adversary: Adversary | None, block: object, seed: object) -> None:
    """Raise TypeError or ValueError for arguments of `publish_large` that it refuses whatever the records are."""
    check_kind(
        "publish_large", "table", table, LargeTable, "is a LargeTable, as LargeTable.infer('visits.parquet', ['age'])"
    )
    check_defense(defense)
    check_whole("publish_large", "block", block, "records")
    if seed is not None and not is_whole(seed, 0):
        raise ValueError(
            f"publish_large: seed is {shown(seed)}; it is a whole number of at least 0, or None for fresh entropy."
        )
    if isinstance(defense, WHOLE_DEFENSES) and adversary is not None:
        check_kind("publish_large", "adversary", adversary, Adversary, "is an Adversary")
        check_rule_reads(defense, adversary, otherwise=READS)
    elif adversary is not None:
        check_large_adversary("publish_large", adversary)
    elif getattr(defense, "reads", None):
        raise ValueError(f"{defense!r} groups by the beliefs of an adversary; give adversary=.")


def check_defense(defense: object) -> None:
    """Raise ValueError unless a defense groups the blocks of a release by what each of them holds."""
    known = CURVE_DEFENSES + RANDOM_DEFENSES + LEVEL_DEFENSES + WHOLE_DEFENSES
    if not isinstance(defense, known):
        raise ValueError(
            f"{type(defense).__name__} needs all records of a release in memory, some {KIB_OF_A_RECORD} KiB each; publish without "
            f"--from-disk, or choose {', '.join(kind.__name__ for kind in known)}."
        )
    if getattr(defense, "leftovers", None) == "counterfeit":
        raise ValueError(
            f"{type(defense).__name__} with leftovers counterfeit changes values, which are not published from disk; choose "
            "suppress, relax or, of BKAA, join."
        )
    requirement = getattr(defense, "requirement", None)
    if isinstance(requirement, Requirement):
        check_block_requirement("publish_large", requirement)
    if isinstance(defense, LEVEL_DEFENSES) and (
        defense.requirement.weighs_beliefs or (isinstance(requirement, GroupPredicate) and requirement.reads_members)
    ):
        raise ValueError(
            f"publish_large: {defense!r} reads beliefs or single members, and groups from disk are chosen by their counts; use "
            "publish, in memory."
        )


def _settings(
    table: LargeTable, defense: Defense, adversary: Adversary | None, block: int, times: list[Any]
) -> dict[str, Any]:
    """Settings on which the result depends, but for the seed."""
    return {
        "program": program_version(),
        "files": {str(path): checksum(path) for path in table.files},
        "schema": NOTATION.text(table.schema),
        "time": table.time or ONE_RELEASE,
        "times": NOTATION.text(times),
        "defense": settings_text(defense),
        **({"chain": object_checksum(defense.transitions)} if isinstance(defense, WHOLE_DEFENSES) else {}),
        "adversary": None if adversary is None else object_checksum(adversary),
        "block": block,
    }
