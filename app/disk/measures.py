"""Measures of risk and loss of releases on disk, from the published groups, the beliefs of an attack and the true values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from foreknow.app.disk.attack import check_publication
from foreknow.app.disk.block_adversary import check_large_adversary
from foreknow.app.disk.engine import Engine, as_engine, parquet_of, shared_folder, write_rows
from foreknow.app.disk.parts import (
    Block,
    check_listed_parts,
    dense_beliefs,
    part_path,
    part_paths,
    write_joined,
    write_part,
)
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.exposure import TwoSides, adversary_class, is_exposing, is_known
from foreknow.app.publication import BEGUN, KEY, MANIFEST, PARTS, PRIVATE, differences, listed_in
from foreknow.evaluation.risk.adversary_gain import gains, hits, log_scores, sure_beliefs, with_certain
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth
from foreknow.models import Adversary
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_kind, check_range

LEAST = 2.0**-20
"""Smallest belief of the log score, as in `log_score`."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class LargeMeasures:
    """Measures of releases on disk.

    Attributes
    ----------
    risk : DataFrame
        One row for each release: ``time``, ``gain``, ``total_risk``, ``confidence``, ``success``, ``log_score``, ``brier_score``,
        ``sure``, ``right``, ``expected``, ``certain``, ``measured`` and ``suppressed``, as the measures with these columns have
        them. Means are NaN where no record is published.
    loss : DataFrame
        One row for each release: the columns of `discernibility`, `average_group_size` and `suppressed`.
    published_respondents : int
        Number of respondents with a published record.
    known : int
        Number of those who are not exposed, and whose prior belief in a true value is sure.
    exposed : int
        Number of them who are exposed, as `exposed` counts them in memory.
    first : object
        Time of the first release with an exposing record; None if no respondent is exposed.
    sides : TwoSides or None
        The verdict with two sides, as `exposed` has it in memory; None without bounds.
    """

    risk: pd.DataFrame
    loss: pd.DataFrame
    published_respondents: int
    known: int
    exposed: int
    first: Any
    sides: TwoSides | None = None


def measure_large(
    published: LargeReleases,
    beliefs: "Path | str",
    adversary: Adversary,
    *,
    sure: float = 0.9,
    at_risk: "Path | str | None" = None,
    bounds: "Path | str | None" = None,
    engine: Engine | None = None,
) -> LargeMeasures:
    """Measures of risk and loss of releases on disk.

    Parameters
    ----------
    published : LargeReleases
    beliefs : path
        Folder of beliefs that `attack_large` wrote.
    adversary : Adversary
        The one of the attack, whose prior tells what it believed before any release.
    sure : float
        Threshold from 0 to 1 of a sure belief.
    at_risk : path, optional
        Parquet file to make of the exposed respondents: ``respondent``; ``time``, the release of their exposing record of highest
        belief, the first of several; ``value``, the true value there; ``belief``; and ``prior``, the belief before any release.
        In decreasing order of the belief. Only its owner can read it.
    bounds : path, optional
        Folder of bounds that `bound_large` wrote, of this publication and this adversary, for the upper side of the verdict. They
        are on beliefs given all releases. A record without a bound is not decided.
    engine : Engine, optional
        Memory and processes. Results do not depend on them.

    Returns
    -------
    LargeMeasures

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind, the folder holds no belief about a published record, is that of an interrupted attack or
        of one on another publication, one of its files is not as its manifest lists it, a part of the publication is missing, or
        ``at_risk`` exists.

    Notes
    -----
    Equal to the measures of the same names in memory but for the order of sums, which is that of the blocks. Cost: O(n m), a
    join and a sort on disk for each release, and one aggregation by respondent. Memory: one block for each worker.
    """
    check_kind("measure_large", "published", published, LargeReleases)
    check_large_adversary("measure_large", adversary, joint=True)
    check_range("measure_large", "sure", sure, 0, 1, "the belief from which the adversary is sure")
    check_kind("measure_large", "beliefs", beliefs, (str, Path), "is the path of a folder that attack_large wrote")
    engine, beliefs, rows = as_engine("measure_large", engine), Path(beliefs), []
    if at_risk is not None:
        takes = "is the path of a file to make, as 'at-risk.parquet'"
        check_kind("measure_large", "at_risk", at_risk, (str, Path), takes)
        if Path(at_risk).exists():
            raise ValueError(f"measure_large: {at_risk} exists; name a file that does not.")
    if bounds is not None:
        check_kind("measure_large", "bounds", bounds, (str, Path), "is the path of a folder that bound_large wrote")
    _check_beliefs(beliefs, published)
    check_listed_parts("measure_large", published.private, f"{PRIVATE}/{KEY}{PARTS}")
    with shared_folder(engine, published.private) as work, engine.connection() as connection:
        for number, release in enumerate(published.releases):
            parts = part_paths(beliefs, number)
            if not parts and release.suppressed < release.records:
                raise ValueError(
                    f"measure_large: the folder of beliefs has none about the release at {release.time!r}; name the result of "
                    "attack_large."
                )
            joined = write_joined(connection, published.key_rows(number), parts, work / "joined.parquet")
            measured = partial(measure_block, adversary=adversary, sure=sure, folder=work)
            rows.append(_release_rows(release.time, list(engine.map(measured, published.blocks(number, joined)))))
        parts, listed = sorted(work.rglob("part-*.parquet")), None if at_risk is None else Path(at_risk)
        upper = [] if bounds is None else sorted(Path(bounds).rglob("part-*.parquet"))
        found = exposed_respondents(connection, parts, published, sure, listed, upper)
    respondents, known, exposed, first, at_most, unknown = found
    risk, loss = map(pd.DataFrame, zip(*rows, strict=True))
    sides = None
    if bounds is not None:
        sides = TwoSides.bounded(exposed, respondents, at_most, unknown, sure, adversary_class(adversary))
    return LargeMeasures(risk, loss, respondents, known, exposed, first, sides)


SUMS = ("gain", "confidence", "success", "log_score", "brier_score", "certain", "sure", "right", "expected", "measured")
"""Sums over the published records of a block."""

SIZES = ("groups", "squares", "smallest", "largest", "suppressed")
"""Number of groups, sum of squared sizes, smallest and largest size, and number of suppressed records of a block."""


def measure_block(block: Block, adversary: Adversary, sure: float, folder: Path) -> dict[str, Any]:
    """Numbers of a block, `SUMS` and `SIZES`; also write the belief and the prior in the true value of each published record."""
    records = block.read()
    group, counts = block.groups(records)
    belief, rows = dense_beliefs(records, len(block.schema.values))
    if not np.array_equal(rows, np.flatnonzero((group >= 0) & ~records["ghost"].to_numpy())):
        raise ValueError(
            f"measure_large: the beliefs about the release at {block.time!r} are not those about its published records; name the "
            "folder of an attack on these releases."
        )
    true = records["value"].to_numpy()[rows].astype(np.int64)
    shares = (counts / counts.sum(axis=1, keepdims=True))[group[rows]]
    release = BeliefsAndTruth(block.time, belief, true, shares, group[rows], rows, int((group < 0).sum()))
    prior = adversary.prior_rows(block.people(records))[rows, true]
    columns = {
        "respondent": records["respondent"].take(pa.array(rows)),
        "step": pa.array(np.full(len(rows), block.release, dtype=np.int32)),
        "value": pa.array(true.astype(np.int32)),
        "belief": pa.array(release.confidence),
        "prior": pa.array(prior),
    }
    write_part(part_path(folder, block.release, block.number), pa.table(columns))
    size = np.bincount(group[rows], minlength=len(counts))
    sizes = (len(size), (size**2).sum(), size.min(initial=len(group)), size.max(initial=0), release.suppressed)
    return {**_record_sums(release, sure), **dict(zip(SIZES, sizes, strict=True))}


def _record_sums(release: BeliefsAndTruth, sure: float) -> dict[str, float]:
    if not len(release.true):
        return dict.fromkeys(SUMS, 0.0)
    gain, certain = gains(release)
    each: dict[str, FloatArray] = {
        "gain": gain[~certain],
        "confidence": release.confidence,
        "success": hits(release),
        "log_score": log_scores(release, LEAST),
        "brier_score": (release.belief**2).sum(axis=1) - 2 * release.confidence + 1,
        "certain": certain.astype(float),
    }
    held = sure_beliefs(release, sure)
    return {name: float(each[name].sum() if name in each else held[name]) for name in SUMS}


def _release_rows(time: Any, blocks: list[dict[str, Any]]) -> tuple[dict[str, object], dict[str, object]]:
    """Rows of the risk and of the loss of a release; means of no record are NaN."""
    table = pd.DataFrame(blocks)
    total = {name: table[name].sum() for name in table.columns}
    measured, certain, suppressed = (int(total[name]) for name in ("measured", "certain", "suppressed"))
    groups, squares, records = int(total["groups"]), int(total["squares"]), measured + suppressed
    gain = total["gain"] / (measured - certain) if measured > certain else float("nan")
    risk: dict[str, object] = {
        "time": time,
        "gain": gain,
        "total_risk": with_certain(gain, measured - certain, certain),
    }
    for name in ("confidence", "success", "log_score", "brier_score"):
        risk[name] = total[name] / measured if measured else float("nan")
    risk |= {"sure": int(total["sure"]), "right": int(total["right"]), "expected": total["expected"]}
    loss = {
        "time": time,
        "discernibility": squares + records * suppressed,
        "discernibility_published": squares,
        "group_size": measured / groups if groups else float("nan"),
        "smallest": int(table["smallest"][table["groups"] > 0].min()) if groups else 0,
        "largest": int(table["largest"].max()),
        "groups": groups,
        "records": records,
        "measured": measured,
        "suppressed": suppressed,
        "suppressed_share": suppressed / records,
    }
    return risk | {"certain": certain, "measured": measured, "suppressed": suppressed}, loss


def _check_beliefs(folder: Path, published: LargeReleases) -> None:
    """Raise ValueError unless beliefs are about a publication, and their files as the manifest lists them.

    A folder without the files of an attack is not checked.
    """
    if not (folder / MANIFEST).exists():
        if (folder / BEGUN).exists():
            raise ValueError(
                f"measure_large: the attack that began {folder} has not ended; run it again, and it goes on."
            )
        return
    if (folder / BEGUN).exists():
        check_publication(folder, published)
    for one in differences(folder, listed_in(folder / MANIFEST)):
        if one.state != "extra":
            raise ValueError(
                f"measure_large: {one.file} of {folder} is {one.state}; run the attack again, into another folder."
            )


def exposed_respondents(
    connection: duckdb.DuckDBPyConnection,
    beliefs: Sequence[Path],
    published: LargeReleases,
    sure: float,
    at_risk: Path | None,
    bounds: Sequence[Path] = (),
) -> tuple[int, int, int, Any, int, int]:
    """Fields of `LargeMeasures` on the respondents; the exposed ones are written to a Parquet file if its path is given.

    The last two numbers are of respondents who are exposed by the larger of belief and bound, and of those with a record whose
    prior is not sure. ``beliefs`` are the parts that `measure_block` wrote, ``bounds`` those of `bound_large`. The file, which only
    its owner can read, has ``respondent``, ``time``, ``value``, ``belief`` and ``prior``, in decreasing order of the belief. The
    record that is listed is the exposing one of highest belief, the first of several. Cost: one aggregation
    on disk, and a join with the bounds.
    """
    prior = duckdb.ColumnExpression("prior")
    exposing, most = (is_exposing(duckdb.ColumnExpression(name), prior, sure) for name in ("belief", "upper"))
    known, rows, upper = is_known(prior, sure), parquet_of(*beliefs), "1"
    if bounds:
        rows += f" b LEFT JOIN {parquet_of(*bounds)} u USING (respondent, step)"
        of_value = "probabilities[list_position(values, value::USMALLINT)]"
        upper = f"CASE WHEN values IS NULL THEN 1 ELSE greatest(belief, {of_value}) END"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE highest AS SELECT respondent, bool_or({known}) AS known, "
        + ", ".join(
            f"arg_max({name}, (exposing, belief, -step)) AS {name}" for name in ("belief", "prior", "step", "value")
        )
        + ", bool_or(exposing) AS exposed, min(step) FILTER (exposing) AS first, "
        f"bool_or({most}) AS at_most, bool_or(NOT {known}) AS unknown "
        f"FROM (SELECT *, {exposing} AS exposing, {upper} AS upper FROM {rows}) GROUP BY respondent"
    )
    numbers = connection.execute(
        "SELECT count(*), count(*) FILTER (known AND NOT exposed), count(*) FILTER (exposed), min(first), "
        "count(*) FILTER (at_most), count(*) FILTER (unknown) FROM highest"
    ).fetchall()[0]
    times = [release.time for release in published.releases]
    if at_risk is not None:
        connection.register("times", _numbered("step", "time", times))
        connection.register("domain", _numbered("value", "cell", list(published.schema.values)))
        listed = (
            "SELECT respondent, time, cell AS value, belief, prior FROM highest JOIN times USING (step) JOIN domain USING (value) "
            "WHERE exposed ORDER BY belief DESC, respondent"
        )
        write_rows(connection, listed, at_risk)
    connection.execute("DROP TABLE highest")
    return (*numbers[:3], None if numbers[3] is None else times[numbers[3]], *numbers[4:])


def _numbered(number: str, name: str, cells: list[Any]) -> pa.Table:
    return pa.table({number: pa.array(range(len(cells)), pa.int32()), name: pa.array(cells)})
