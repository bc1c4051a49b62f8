"""Knowledge learned from a table on disk: class frequencies, and transitions before each release."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow.parquet as pq

from foreknow.app.disk.engine import Engine, parquet_of
from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.parts import people_of, write_last
from foreknow.app.disk.sorted_records import BATCH, write_coded
from foreknow.models import ChainByRelease, ClassFrequencies, MarkovChain
from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts, frequencies_of_counts
from foreknow.models.knowledge.markov_chain import chain_of_followed
from foreknow.models.knowledge.sequences import GapRule


class LearnedFromDisk(NamedTuple):
    """Knowledge of an adversary who saw the records.

    Attributes
    ----------
    prior : ClassFrequencies
    transitions : MarkovChain or None
        Chain of all releases; None if no respondent has two records.
    before : ChainByRelease or None
        Chain of the releases before each one.
    """

    prior: ClassFrequencies
    transitions: MarkovChain | None
    before: ChainByRelease | None


def learn_from_disk(
    table: LargeTable, classes: Mapping[str, int | None], pseudo_count: float, gaps: GapRule, engine: Engine
) -> LearnedFromDisk:
    """Class frequencies and chains of order 1, as `ClassFrequencies.fit`, `MarkovChain.fit` and `ChainByRelease.extracted`.

    Cost: two readings of the table, and a join and a merge of the last values of all respondents for each release.
    """
    schema, m = table.schema, len(table.schema.values)
    cuts = class_cuts("ClassFrequencies", schema, classes)
    shape = (*(len(cut) + 1 for cut in cuts.values()), m)
    counts, pairs, seen_twice = np.zeros(int(np.prod(shape))), [], False
    with TemporaryDirectory(prefix="foreknow-", dir=engine.scratch) as work, engine.connection() as connection:
        last: Path | None = None
        for release, time in enumerate(table.times(connection)):
            now = Path(work) / "now.parquet"
            write_coded(table, connection, time, now, False)
            for batch in pq.ParquetFile(now).iter_batches(BATCH):
                cells = class_codes(dict(cuts), people_of(batch, schema, time)) * m + batch["value"].to_numpy()
                counts += np.bincount(cells, minlength=len(counts))
            found, several = _pairs(connection, now, last, release, m, gaps)
            pairs.append(found)
            seen_twice |= several
            rows = f"(SELECT respondent, value, {release} AS step FROM {parquet_of(now)})"
            last = write_last(connection, rows, last, Path(work, f"last-{release:04d}.parquet"))
    prior = ClassFrequencies(cuts, frequencies_of_counts(counts.reshape(shape), pseudo_count))
    if not seen_twice:
        return LearnedFromDisk(prior, None, None)
    total = np.cumsum(pairs, axis=0)
    chains = tuple(
        chain_of_followed([each.sum(axis=0), each], pseudo_count)
        if each.any()
        else MarkovChain(1, np.full((m, m), 1.0 / m))
        for each in total
    )
    return LearnedFromDisk(prior, chains[-1], ChainByRelease.of_views(chains))


def _pairs(
    connection: duckdb.DuckDBPyConnection, now: Path, last: Path | None, release: int, m: int, gaps: GapRule
) -> tuple[FloatArray, bool]:
    """Number of times that each value follows each value, shape ``(m, m)``; True if a respondent was seen before."""
    counts = np.zeros((m, m))
    if last is None:
        return counts, False
    rows = connection.execute(
        f"SELECT l.value, n.value, l.step, count(*) FROM {parquet_of(now)} n JOIN {parquet_of(last)} l USING (respondent) "
        "GROUP BY ALL"
    ).fetchall()
    for before, after, step, number in rows:
        if gaps == "ignore" or step == release - 1:
            counts[before, after] += number
    return counts, bool(rows)
