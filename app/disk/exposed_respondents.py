"""Exposed respondents of releases on disk, by one aggregation of the beliefs in true values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from foreknow.app.disk.parts import atomic_file
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.sql_files import parquet_of, to_parquet
from foreknow.app.exposure import is_exposing


class ExposedRespondents(NamedTuple):
    """Numbers of respondents, as `exposed` counts them in memory.

    Attributes
    ----------
    published : int
        Number of respondents with a published record.
    known : int
        Number of those who are not exposed, and whose prior belief in a true value is sure.
    exposed : int
        Number of them with a record that `is_exposing`.
    first : object
        Time of the first release with such a record; None if no respondent is exposed.
    """

    published: int
    known: int
    exposed: int
    first: Any


def exposed_respondents(
    connection: duckdb.DuckDBPyConnection,
    beliefs: Sequence[Path],
    published: LargeReleases,
    sure: float,
    at_risk: Path | None,
) -> ExposedRespondents:
    """Count the exposed respondents, and write them to a Parquet file if its path is given.

    Parameters
    ----------
    connection : DuckDBPyConnection
    beliefs : sequence of Path
        Parquet files with ``respondent``, ``step`` (number of the release), ``value``, ``belief`` and ``prior``: code of
        the true value of each published record, and the beliefs in it after and before all releases.
    published : LargeReleases
    sure : float
        Threshold of a sure belief.
    at_risk : Path or None
        File of ``respondent``, ``time``, ``value``, ``belief`` and ``prior``, in decreasing order of the belief. Only its
        owner can read it.

    Notes
    -----
    The record that is listed is the exposing one of highest belief, the first of several. Cost: one aggregation on disk.
    """
    exposing = is_exposing(duckdb.ColumnExpression("belief"), duckdb.ColumnExpression("prior"), sure)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE highest AS SELECT respondent, bool_or(prior >= {float(sure)!r}) AS known, "
        + ", ".join(
            f"arg_max({name}, (exposing, belief, -step)) AS {name}" for name in ("belief", "prior", "step", "value")
        )
        + ", bool_or(exposing) AS exposed, min(step) FILTER (exposing) AS first "
        f"FROM (SELECT *, {exposing} AS exposing FROM {parquet_of(*beliefs)}) GROUP BY respondent"
    )
    numbers = connection.execute(
        "SELECT count(*), count(*) FILTER (known AND NOT exposed), count(*) FILTER (exposed), min(first) FROM highest"
    ).fetchall()[0]
    times = [release.time for release in published.releases]
    if at_risk is not None:
        connection.register("times", _numbered("step", "time", times))
        connection.register("domain", _numbered("value", "cell", list(published.schema.values)))
        listed = (
            "SELECT respondent, time, cell AS value, belief, prior FROM highest JOIN times USING (step) JOIN domain USING (value) "
            "WHERE exposed ORDER BY belief DESC, respondent"
        )
        with atomic_file(at_risk) as scratch:
            # A file that exists keeps its mode, unless DuckDB writes a temporary one in its place.
            scratch.touch(0o600)
            connection.execute(f"COPY ({listed}) {to_parquet(scratch, in_place=True)}")
    connection.execute("DROP TABLE highest")
    people, already, found, first = numbers
    return ExposedRespondents(people, already, found, None if first is None else times[first])


def _numbered(number: str, name: str, cells: list[Any]) -> pa.Table:
    return pa.table({number: pa.array(range(len(cells)), pa.int32()), name: pa.array(cells)})
