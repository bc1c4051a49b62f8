"""Publication of releases that a defense groups as a whole: one of them in memory, and what is kept for each respondent."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.parts import Block, key_folder, part_path, part_paths, table_folder, write_part
from foreknow.app.disk.published_block import BlockTask, PublishJob, key_rows_of, published_rows
from foreknow.app.disk.sorted_records import read_release
from foreknow.app.publication import sums_below
from foreknow.defenses.cohorts import Cohorts, Course
from foreknow.defenses.publish import AssumedAdversary, grouped_at_random, lag_of
from foreknow.models import People, Release, View
from foreknow.models.arrays import IntArray, object_array

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
