"""Publication of tables larger than memory, release by release: block by block, or with `Cohorts` a whole release at a time."""

import hashlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

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
    part_path,
    part_paths,
    table_folder,
    write_last,
    write_part,
)
from foreknow.app.disk.published_block import (
    BlockTask,
    PublishJob,
    check_block_requirement,
    key_rows_of,
    publish_block,
    published_rows,
    settled_blocks,
)
from foreknow.app.disk.sorted_records import (
    RecordOrder,
    SortedRecords,
    read_release,
    sort_records,
    whole_groups,
)
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
from foreknow.defenses.cohorts import Course
from foreknow.defenses.publish import READS, AssumedAdversary, grouped_at_random, lag_of
from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.checks.program import settings as settings_text
from foreknow.models import Adversary, People, Release, Schema, View
from foreknow.models.arrays import IntArray, object_array
from foreknow.models.averaged import check_rule_reads
from foreknow.models.equality import set_fields
from foreknow.models.notes import Note, notes_of_blocks
from foreknow.models.program_version import program_version
from foreknow.models.settings import check_kind, check_whole, is_whole, shown
from foreknow.models.tables.atomic_file import locked, remove_torn
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

    def reached_terminal(self, defense: Cohorts, engine: Engine) -> int:
        """`Cohorts.reached_terminal` of these releases."""
        parts = [part for release in range(len(self.releases)) for part in self.key_parts(release)]
        codes = ", ".join(str(code) for code, value in enumerate(self.schema.values) if value in defense.terminal)
        with engine.connection() as connection:
            where = f"{key_rows(parts, self.schema)} WHERE NOT ghost AND value IN ({codes})"
            return int(connection.execute(f"SELECT count(DISTINCT respondent) FROM {where}").fetchall()[0][0])

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
        job.work.mkdir(0o700, exist_ok=True)
        if isinstance(defense, WHOLE_DEFENSES):
            made, sums = publish_whole_releases(table, connection, times, job)
        else:
            made, sums = _publish_blocks(table, connection, times, job, block, engine)
        shutil.rmtree(job.work)
        remove_torn(folder)  # A worker that was killed left what it was writing.
        sums |= {BEGUN: checksum(private / BEGUN)} | sums_below(private / "done", private)
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
        "files": {str(path): checksum(path) for path in table.source or table.files},
        **({"cleaned": [checksum(path) for path in table.files]} if table.source else {}),
        "schema": NOTATION.text(table.schema),
        "time": table.time or ONE_RELEASE,
        "times": NOTATION.text(times),
        "defense": settings_text(defense),
        **({"chain": object_checksum(defense.transitions)} if isinstance(defense, WHOLE_DEFENSES) else {}),
        "adversary": None if adversary is None else object_checksum(adversary),
        "block": block,
    }


OF_GHOSTS = ("published", "ghost", "ghosts")
"""Columns of ghosts in the key and in the published table; in neither if no release has a ghost, as in memory."""


class Everyone(NamedTuple):
    """Respondents of all releases, in the order of first appearance: as an index, and as a column of files."""

    names: "pd.Index[Any]"
    column: pa.ChunkedArray

    def cells(self, people: People) -> pa.ChunkedArray:
        """Cells of some respondents in the column."""
        return self.column.take(pa.array(self.names.get_indexer(_index(people.respondents))))


class Listed(NamedTuple):
    """Records of a release, with the respondents as they are named in memory."""

    task: BlockTask
    rows: pa.Table
    people: People

    @classmethod
    def of(cls, job: PublishJob, path: Path, release: int, time: Any) -> "Listed":
        """Records of a file of codes."""
        rows = pq.read_table(path, use_threads=False, partitioning=None)
        codes = np.column_stack([rows[f"q{a}"].to_numpy() for a in range(len(job.schema.quasi_identifiers))])
        people = People(object_array(rows["respondent"].to_pylist()), codes, job.schema, time)
        counts = np.bincount(rows["value"].to_numpy(), minlength=len(job.schema.values))
        return cls(BlockTask(job, Block(path, 0, len(rows), 0, release, time, job.schema), counts), rows, people)

    @property
    def view(self) -> View:
        """The view in memory."""
        return View.from_codes(self.people, self.rows["value"].to_numpy().astype(np.int64))


def publish_whole_releases(
    table: LargeTable, connection: duckdb.DuckDBPyConnection, times: list[Any], job: PublishJob
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Publish the releases of a table with `Cohorts`, as `publish` does; numbers of each release, and the checksums of the files.

    The releases are those of ``publish(history, defense, adversary, rng=numpy.random.default_rng([seed, 1]))`` with a defense whose
    ``rng`` is ``numpy.random.default_rng([seed, 0])``: by the same code, with the records in the order of the files. A run that
    goes on begins again. Each release is one part. Memory: the records of ``lag + 1`` releases, and for each respondent a few
    hundred bytes and the beliefs of the assumed adversary. One process. Cost: two readings of the table, and that of the defense.
    """
    defense = job.defense
    assert isinstance(defense, Cohorts)
    for folder in (table_folder(job.folder), key_folder(job.folder)):
        shutil.rmtree(folder, ignore_errors=True)
    connection.execute("SET preserve_insertion_order = true")
    files, everyone = _coded(table, connection, times, job)
    rng, generator = (np.random.default_rng([job.seed, stream]) for stream in (0, 1))
    defense, lag = replace(defense, rng=rng), lag_of(defense, times)
    ranks = dict(zip(everyone.names, generator.permutation(len(everyone.names)).tolist(), strict=True))
    assumed, course = AssumedAdversary(job.adversary), Course.empty(len(job.schema.quasi_identifiers))
    made: list[dict[str, Any]] = []
    for listed, coming in _with_coming((Listed.of(job, *each) for each in files), lag):
        view = listed.view
        prior = assumed.prior(view)
        grouped = partial(_after_course, defense, course)
        release = Release(view, grouped_at_random(grouped, view, prior, (), ranks, generator, coming))
        _write(listed, release, everyone)
        made.append(
            {
                "records": len(view),
                "groups": release.groups,
                "suppressed": int((release.group < 0).sum()),
                "ghosts": len(release.ghosts[1]),
                "notes": list(map(str, release.grouping.notes)),
            }
        )
        if len(made) + lag < len(times):
            course = defense.with_release(course, release)
            assumed.observe(release.observation)
    if not any(one["ghosts"] for one in made):
        _drop_columns_of_ghosts(job, len(made))
    sums = [sums_below(folder(job.folder), job.private) for folder in (table_folder, key_folder)]
    return made, sums[0] | sums[1]


def _after_course(defense: Cohorts, course: Course, view: View, prior: Any, _: Any, **more: Any) -> Any:
    """Grouping of a view after a course, which stands for the past."""
    return defense.after_course(course, view, prior, **more)


def _index(respondents: Any) -> "pd.Index[Any]":
    return pd.Index(respondents, dtype=object, tupleize_cols=False)


def _coded(
    table: LargeTable, connection: duckdb.DuckDBPyConnection, times: list[Any], job: PublishJob
) -> tuple[list[tuple[Path, int, Any]], Everyone]:
    """Files of the codes of each release with its number and its time, and the respondents of all."""
    files, index, chunks = [], _index([]), []
    for release, time in enumerate(times):
        rows = read_release(table, connection, time)
        listed = _index(rows["respondent"].to_pylist())
        new: IntArray = np.flatnonzero(index.get_indexer(listed) < 0)
        index = index.append(listed[new])
        chunks.append(rows["respondent"].combine_chunks().take(pa.array(new)))
        files.append((part_path(job.work / "coded", release, 0), release, time))
        write_part(files[-1][0], rows)
    return files, Everyone(index, pa.chunked_array(chunks))


def _with_coming(releases: Iterator[Listed], lag: int) -> Iterator[tuple[Listed, tuple[People, ...]]]:
    """Each release but the last ``lag`` ones, and the people of the next ``lag``; one more is read at a time."""
    held: list[Listed] = []
    for listed in releases:
        held.append(listed)
        if len(held) > lag:
            yield held.pop(0), tuple(each.people for each in held) if lag else ()


def _write(listed: Listed, release: Release, everyone: Everyone) -> None:
    """Write the parts of a release, with the columns of ghosts."""
    task, schema = listed.task, listed.people.schema
    public = published_rows(release, task)
    shown = release.ghost_counts[public["group"].to_numpy()] if len(public) else np.zeros(0, dtype=np.int64)
    write_part(
        part_path(table_folder(task.job.folder), task.block.release, 0),
        public.append_column("ghosts", pa.array(shown, pa.int64())),
        private=False,
    )
    key = key_rows_of(listed.rows, release.group, task)
    domain = pa.array(list(schema.values))
    nothing = {"published": pa.nulls(len(key), domain.type), "ghost": pa.nulls(len(key), pa.int64())}
    parts = [_with_columns(key, nothing)]
    grouping = release.grouping
    if grouping.places is not None and grouping.counterfeits is not None:
        # In the order of the counterfeits, as the key in memory.
        label, value, place = grouping.counterfeits.T
        people, group = grouping.places[place], np.searchsorted(grouping.names, label)
        codes = {f"q{a}": pa.array(column) for a, column in enumerate(people.quasi_identifiers.T)}
        values = pa.array(value, listed.rows.schema.field("value").type)
        rows = pa.table({"respondent": everyone.cells(people)} | codes | {"value": values})
        block = task.block._replace(start=len(key), stop=len(key) + len(value))
        cells = {"published": domain.take(pa.array(value)), "ghost": pa.array(np.ones(len(value), dtype=np.int64))}
        parts.append(_with_columns(key_rows_of(rows, group, task._replace(block=block)), cells))
    write_part(part_path(key_folder(task.job.folder), task.block.release, 0), pa.concat_tables(parts))


def _with_columns(table: pa.Table, columns: dict[str, pa.Array]) -> pa.Table:
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


def _drop_columns_of_ghosts(job: PublishJob, releases: int) -> None:
    """Write the parts again without the columns of ghosts."""
    for folder, private in ((table_folder(job.folder), False), (key_folder(job.folder), True)):
        for path in [part for release in range(releases) for part in part_paths(folder, release)]:
            rows = pq.read_table(path, use_threads=False, partitioning=None)
            write_part(path, rows.drop_columns([name for name in OF_GHOSTS if name in rows.column_names]), private)
