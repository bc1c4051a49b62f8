"""Risk of an attack on disk: gain of each release, and the respondents with a sure belief in their true value."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.evaluation.large.attack import groups_of
from foreknow.evaluation.large.blocks import people_of
from foreknow.evaluation.large.engine import Engine
from foreknow.evaluation.large.parts import part_path, part_paths, write_part
from foreknow.evaluation.large.publication import LargeReleases
from foreknow.models import Adversary, Schema
from foreknow.models.arrays import FloatArray, IntArray


class RiskTask(NamedTuple):
    """Block of a release to compare with the truth: its records, the beliefs about them, and the file of sure beliefs."""

    records: Path
    beliefs: Path
    sure_beliefs: Path
    schema: Schema
    adversary: Adversary
    time: Any
    release: int
    sure: float


class LargeExposure(NamedTuple):
    """Exposed respondents of an attack on disk, as `foreknow attack` counts them.

    Attributes
    ----------
    releases : DataFrame
        ``time``, ``gain``, ``confidence``, ``measured``, ``suppressed`` and ``certain`` of each release.
    respondents, known, exposed : int
        Numbers of published respondents, of those with a sure prior at some release, and of those with a sure belief who were
        not known at the release of their highest one.
    first : int or None
        Number of the first release with a sure belief about an exposed respondent.
    """

    releases: pd.DataFrame
    respondents: int
    known: int
    exposed: int
    first: int | None


def large_exposure(
    published: LargeReleases, beliefs: Path, adversary: Adversary, sure: float, at_risk: Path, engine: Engine
) -> LargeExposure:
    """Compare the beliefs of `attack_large` with the true values, and write the exposed respondents.

    Parameters
    ----------
    published : LargeReleases
    beliefs : Path
        Folder that `attack_large` made.
    adversary : Adversary
        That of the attack, for the prior before any release.
    sure : float
        Belief from which the adversary is sure.
    at_risk : Path
        Parquet file to write: ``respondent``, ``time``, ``value``, ``belief``, ``prior``; a folder beside it is used and removed.
    engine : Engine

    Notes
    -----
    Cost: one reading of records and beliefs. Memory: one block for each worker, and the distinct respondents on disk.
    """
    records, work = published.folder / "private" / "records", at_risk.with_suffix(".work")
    rows, schema = [], published.schema
    for release, one in enumerate(published.releases):
        tasks = [
            RiskTask(own, belief, part_path(work, release, block), schema, adversary, one.time, release, sure)
            for block, (own, belief) in enumerate(
                zip(part_paths(records, release), part_paths(beliefs, release), strict=True)
            )
        ]
        totals = np.sum(list(engine.map(measure_block, tasks)), axis=0)
        rows.append(_row(one.time, one.suppressed, *totals.tolist()))
    with engine.connection() as connection:
        every = [str(part) for release in range(len(published.releases)) for part in part_paths(records, release)]
        sure_parts = [str(part) for release in range(len(published.releases)) for part in part_paths(work, release)]
        times = pa.table({"step": pa.array(range(len(rows))), "time": pa.array([str(row["time"]) for row in rows])})
        values = pa.table(
            {"code": pa.array(range(len(schema.values))), "cell": pa.array(list(map(str, schema.values)))}
        )
        connection.register("times", times)
        connection.register("domain", values)
        connection.execute(
            "CREATE TABLE highest AS SELECT respondent, max(belief) AS belief, arg_max(prior, (belief, -step)) AS prior, "
            f"arg_max(step, (belief, -step)) AS step, arg_max(value, (belief, -step)) AS value, max(prior) AS most FROM "
            f"read_parquet({sure_parts}) GROUP BY respondent"
        )
        exposed = f"belief >= {sure!r} AND prior < {sure!r}"
        connection.execute(
            "COPY (SELECT respondent, time, cell AS value, belief, prior FROM highest JOIN times USING (step) JOIN domain "
            f"ON code = value WHERE {exposed} ORDER BY belief DESC, respondent) TO '{at_risk}' (FORMAT parquet)"
        )
        number, known = connection.execute(
            f"SELECT count(*) FILTER ({exposed}), count(*) FILTER (most >= {sure!r} AND NOT ({exposed})) FROM highest"
        ).fetchall()[0]
        first = connection.execute(
            f"SELECT min(s.step) FROM read_parquet({sure_parts}) s JOIN highest h USING (respondent) "
            f"WHERE s.belief >= {sure!r} AND h.belief >= {sure!r} AND h.prior < {sure!r}"
        ).fetchall()[0][0]
        respondents = connection.execute(
            f'SELECT count(DISTINCT respondent) FROM read_parquet({every}) WHERE "group" >= 0'
        ).fetchall()[0][0]
    shutil.rmtree(work)
    return LargeExposure(pd.DataFrame(rows), respondents, known, number, first)


def measure_block(task: RiskTask) -> FloatArray:
    """Write the sure beliefs and priors in true values of a block.

    Returns the sums of the gain and of the confidence, and the numbers of published, measured and certain records.
    """
    block = pq.read_table(task.records, use_threads=False)
    label, truth = block["group"].to_numpy(), block["value"].to_numpy().astype(np.int64)
    group, counts = groups_of(label, truth, len(task.schema.values))
    prior = task.adversary.prior_rows(people_of(block, task.schema, task.time))
    shown = np.flatnonzero(group >= 0)
    before = prior[shown, truth[shown]]
    belief = beliefs_in(pq.read_table(task.beliefs, use_threads=False), truth[shown])
    share = counts[group[shown], truth[shown]] / counts.sum(axis=1)[group[shown]]
    certain = share == 1
    gain = ((belief - share) / np.where(certain, 1.0, 1 - share))[~certain]
    kept = (belief >= task.sure) | (before >= task.sure)
    rows = shown[kept]
    step = np.full(len(rows), task.release, dtype=np.int32)
    table = {"respondent": block["respondent"].take(pa.array(rows)), "value": truth[rows].astype(np.int32)}
    write_part(task.sure_beliefs, pa.table(table | {"belief": belief[kept], "prior": before[kept], "step": step}))
    return np.array([gain.sum(), belief.sum(), len(shown), len(gain), certain.sum()], dtype=np.float64)


def beliefs_in(part: pa.Table, value: IntArray) -> FloatArray:
    """Belief of each row of a part in one value, shape ``(n,)``; 0 where the value is left out."""
    values, probabilities = part["values"].combine_chunks(), part["probabilities"].combine_chunks()
    sizes = values.value_lengths().to_numpy(zero_copy_only=False)
    row = np.repeat(np.arange(len(sizes)), sizes)
    is_asked = values.flatten().to_numpy() == value[row]
    found = np.zeros(len(sizes))
    found[row[is_asked]] = probabilities.flatten().to_numpy()[is_asked]
    return found


def _row(
    time: Any, suppressed: int, gain: float, confidence: float, published: float, measured: float, certain: float
) -> dict[str, Any]:
    return {
        "time": time,
        "gain": gain / measured if measured else np.nan,
        "confidence": confidence / published if published else np.nan,
        "measured": int(measured),
        "suppressed": suppressed,
        "certain": int(certain),
    }
