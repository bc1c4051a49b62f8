"""Knowledge learned from a table on disk: class frequencies, and transitions before each release."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, parquet_of
from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.parts import people_of, write_last
from foreknow.app.disk.sorted_records import BATCH, write_coded
from foreknow.models import ChainByRelease, ClassFrequencies, MarkovChain, Presence
from foreknow.models.arrays import IntArray
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts, frequencies_of_counts
from foreknow.models.knowledge.markov_chain import chain_of_followed
from foreknow.models.knowledge.presence import presence_of_followed
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.tables.atomic_file import scratch_folder


class LearnedFromDisk(NamedTuple):
    """Knowledge of an adversary who saw the records."""

    prior: ClassFrequencies
    transitions: MarkovChain | None  # chain of all releases; None if no respondent has two records
    before: ChainByRelease | None  # chain of the releases before each one
    presence: Presence | None  # chances of leaving and pausing, where they were asked for


def learn_from_disk(
    table: LargeTable,
    classes: Mapping[str, int | None],
    pseudo_count: float,
    gaps: GapRule,
    engine: Engine,
    presence: bool = False,
) -> LearnedFromDisk:
    """Class frequencies and chains of order 1, as `ClassFrequencies.fit`, `MarkovChain.fit` and `ChainByRelease.extracted`.

    With ``presence`` also the chances of one class, as `Presence.fit`. Cost: two readings of the table, and a join and a merge of
    the last values of all respondents for each release.
    """
    schema, m = table.schema, len(table.schema.values)
    cuts = class_cuts("ClassFrequencies", schema, classes)
    shape = (*(len(cut) + 1 for cut in cuts.values()), m)
    counts, pairs, followed = np.zeros(int(np.prod(shape))), [], [np.zeros((0, 4), dtype=np.int64)]
    with scratch_folder(engine.scratch) as work, engine.connection() as connection:
        last: Path | None = None
        release = -1
        for release, time in enumerate(table.times(connection)):
            now = work / "now.parquet"
            write_coded(table, connection, time, now, False)
            for batch in pq.ParquetFile(now).iter_batches(BATCH):
                cells = class_codes(dict(cuts), people_of(batch, schema, time)) * m + batch["value"].to_numpy()
                counts += np.bincount(cells, minlength=len(counts))
            rows = _followed(connection, now, last)
            continued = rows if gaps == "ignore" else rows[rows[:, 2] == release - 1]
            found = np.zeros((m, m))
            np.add.at(found, (continued[:, 0], continued[:, 1]), continued[:, 3])
            pairs.append(found)
            followed.append(_with_next(rows, release))
            latest = f"(SELECT respondent, value, {release} AS step FROM {parquet_of(now)})"
            last = write_last(connection, latest, last, Path(work, f"last-{release:04d}.parquet"))
        seen_twice = any(map(len, followed))
        if presence and last is not None:
            query = f"SELECT value, value, step, count(*) FROM {parquet_of(last)} GROUP BY ALL"
            followed.append(_with_next(_counted(connection, query), -1))
    learned = presence_of_followed(np.vstack(followed), release, schema.values, pseudo_count) if presence else None
    prior = ClassFrequencies(cuts, frequencies_of_counts(counts.reshape(shape), pseudo_count))
    if not seen_twice:
        return LearnedFromDisk(prior, None, None, learned)
    total = np.cumsum(pairs, axis=0)
    chains = tuple(
        chain_of_followed([each.sum(axis=0), each], pseudo_count)
        if each.any()
        else MarkovChain(1, np.full((m, m), 1.0 / m))
        for each in total
    )
    return LearnedFromDisk(prior, chains[-1], ChainByRelease.of_views(chains), learned)


def _followed(connection: duckdb.DuckDBPyConnection, now: Path, last: Path | None) -> IntArray:
    """Value before, value now, release of the value before, and number of such respondents: int array, shape ``(k, 4)``."""
    if last is None:
        return np.zeros((0, 4), dtype=np.int64)
    query = (
        f"SELECT l.value, n.value, l.step, count(*) FROM {parquet_of(now)} n JOIN {parquet_of(last)} l USING (respondent) "
        "GROUP BY ALL"
    )
    return _counted(connection, query)


def _counted(connection: duckdb.DuckDBPyConnection, query: str) -> IntArray:
    """Rows of a query of four numbers, in ascending order."""
    return np.array(sorted(connection.execute(query).fetchall()), dtype=np.int64).reshape(-1, 4)


def _with_next(rows: IntArray, following: int) -> IntArray:
    """Value, release and number of the records of `_followed`, with the next release as third column."""
    return np.column_stack([rows[:, 0], rows[:, 2], np.full(len(rows), following), rows[:, 3]])
