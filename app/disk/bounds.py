"""Sizes of atoms, and upper bounds on beliefs, of releases on disk."""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from foreknow.app.disk.begun_runs import make_folder
from foreknow.app.disk.engine import Engine, as_engine, parquet_of, shared_folder, write_rows
from foreknow.app.disk.parts import (
    BLOCK_RECORDS,
    belief_part,
    check_listed_parts,
    part_path,
    read_block,
    write_part,
)
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.exposure import ALIKE, COUNTED, TwoSides, alike
from foreknow.app.publication import KEY, PARTS, PRIVATE
from foreknow.evaluation.risk.bounds import READS, bound
from foreknow.models import Adversary, Observation, People, Schema
from foreknow.models.adversary import check_reads
from foreknow.models.arrays import BoolArray, IntArray, object_array
from foreknow.models.settings import check_kind, check_whole


def role_anonymity_large(published: LargeReleases, folder: "Path | str", *, engine: Engine | None = None) -> Path:
    """Write the number of places with the same published groups as each respondent's, after each release and after all.

    Parameters
    ----------
    published : LargeReleases
        With ghosts or without.
    folder : path
        Folder to make, which is absent or empty: one Parquet file for each release, with the columns of `role_anonymity`:
        ``respondent``, ``time``, ``ghost``, ``cell``, ``atom`` and ``atom_all``.
    engine : Engine, optional
        Memory and threads. Rows do not depend on them; their order does.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind, the folder holds something, or a part of the key is missing or was changed.

    Notes
    -----
    Rows are those of `role_anonymity`, by one grouping of each release and two joins with the labels of all places. Membership and
    groups alone are read. Memory: that of DuckDB, which spills to disk.
    """
    engine, folder = _checked("role_anonymity_large", published, folder, engine)
    time = pa.array([release.time for release in published.releases])
    with shared_folder(engine, published.private) as work, engine.connection() as connection:
        labels = _write_atoms(connection, published, work)
        connection.register("times", pa.table({"release": pa.array(range(len(time)), pa.int32()), "time": time}))
        write_rows(
            connection,
            f"SELECT label, count(*) AS atom_all FROM {parquet_of(labels)} GROUP BY label",
            work / "atoms.parquet",
        )
        for release in range(len(time)):
            write_rows(
                connection,
                "SELECT s.respondent, t.time, s.ghost, s.cell, s.atom, a.atom_all "
                f"FROM {parquet_of(_file(work, 'seen', release))} s JOIN {parquet_of(labels)} l USING (respondent, place) "
                f"JOIN {parquet_of(work / 'atoms.parquet')} a ON a.label = l.label JOIN times t USING (release)",
                folder / f"release-{release:04d}.parquet",
            )
    return folder


def bound_large(
    published: LargeReleases,
    adversary: Adversary,
    folder: "Path | str",
    *,
    block: int = BLOCK_RECORDS,
    engine: Engine | None = None,
) -> Path:
    """Write upper bounds on the beliefs about each respondent in each value, given all releases, as Parquet files.

    Parameters
    ----------
    published : LargeReleases
        With ghosts or without.
    adversary : Adversary
        Of the parts that `bound` reads, without compromised records and relations.
    folder : path
        Folder to make, which is absent or empty. Its files have the columns of the beliefs of `attack_large`: ``respondent``,
        ``step`` (number of the release), ``values`` (codes of the values that a bound over 0 allows) and ``probabilities`` (the
        bounds). They tell of the published records of respondents, not of ghosts.
    block : int
        Number of records that are treated in memory at once, but for those of the largest atom. Bounds do not depend on it.
    engine : Engine, optional
        Memory and processes. Bounds do not depend on them.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    TypeError, ValueError
        As `bound`; if the adversary has compromised records, or relations, which join respondents of different atoms; if an
        argument is of another kind, the folder holds something, or a part of the key is missing or was changed.

    Notes
    -----
    The bound on a belief depends on the members of the respondent's atom alone, on what they do at other places, and on the counts
    of their groups. Atoms are therefore divided into batches, each with all records of its respondents, and `bound` treats a batch
    as a history in which the others are counterfeits: results are those in memory. Groups and values are read from the key, of
    which `bound` sees the counts. Cost: that of `bound` on each batch, and sorts and joins on disk. Memory: one batch for each
    worker.
    """
    check_kind("bound_large", "adversary", adversary, Adversary, "is an Adversary, as Adversary(UniformPrior())")
    check_reads("bound_large", adversary, tuple(part for part in READS if part not in ("compromised", "relations")))
    bound((), adversary)
    check_whole("bound_large", "block", block, "records")
    engine, folder = _checked("bound_large", published, folder, engine)
    of_batch = partial(
        bound_batch,
        schema=published.schema,
        times=tuple(release.time for release in published.releases),
        adversary=adversary,
        folder=folder,
    )
    with shared_folder(engine, published.private) as work:
        with engine.connection() as connection:
            labels = _write_atoms(connection, published, work, adversary.known_transitions is not None)
            tasks = _write_batches(connection, published, labels, block, work)
        list(engine.map(of_batch, tasks))
    return folder


def counted_sides_large(published: LargeReleases, sure: float = 0.9, *, engine: Engine | None = None) -> TwoSides:
    """The verdict with two sides of the groups in the key, as `counted_sides` in memory.

    Cost: that of `bound_large`, one grouping of all records, and a join with their bounds.
    """
    engine, adversary = as_engine("counted_sides_large", engine), alike(len(published.schema.values))
    records, bounds, upper = f'(SELECT * FROM ({_records(published)}) WHERE "group" >= 0)', "", "1"
    with shared_folder(engine, published.private) as work, engine.connection() as connection:
        parts = sorted(bound_large(published, adversary, work / "bounds", engine=engine).rglob("part-*.parquet"))
        if parts:
            bounds = f"LEFT JOIN (SELECT *, step AS release FROM {parquet_of(*parts)}) USING (respondent, release)"
            upper = "coalesce(list_max(probabilities), 1)"
        disclosed, everyone, at_most = connection.execute(
            "SELECT count(*) FILTER (disclosed), count(*), count(*) FILTER (disclosed OR upper >= ?) FROM "
            f"(SELECT respondent, bool_or(shows_one) AS disclosed, max({upper}) AS upper FROM {records} JOIN (SELECT release, "
            f'"group", min(value) = max(value) AS shows_one FROM {records} GROUP BY ALL) USING (release, "group") {bounds} '
            "WHERE NOT ghost GROUP BY respondent)",
            [sure],
        ).fetchall()[0]
    return TwoSides.bounded(disclosed, everyone, at_most, everyone, sure, ALIKE, COUNTED)


def _checked(owner: str, published: Any, folder: Any, engine: Engine | None) -> tuple[Engine, Path]:
    """Engine and folder, which is made; raise TypeError or ValueError unless the arguments are right."""
    check_kind(owner, "published", published, LargeReleases)
    check_kind(owner, "folder", folder, (str, Path), "is the path of a folder to make")
    check_listed_parts(owner, published.private, f"{PRIVATE}/{KEY}{PARTS}")
    made = Path(folder).absolute()
    make_folder(owner, made, 0o700)
    if any(made.iterdir()):
        raise ValueError(f"{owner}: {made} holds something else; name a folder that does not exist.")
    return as_engine(owner, engine), made


def _records(published: LargeReleases) -> str:
    """Query of all records and ghosts: `key_rows` and ``release``."""
    queries = [f"SELECT *, {t} AS release FROM {published.key_rows(t)}" for t, _ in enumerate(published.releases)]
    return " UNION ALL ".join(queries)


def _file(work: Path, name: str, release: int) -> Path:
    """File of a release: its published places, ``seen``, or its ``records`` or ``counts`` by batch."""
    return work / f"{name}-{release:04d}.parquet"


def _write_atoms(
    connection: duckdb.DuckDBPyConnection, published: LargeReleases, work: Path, one_place: bool = True
) -> Path:
    """Write the places of each release with the sizes of their cells and atoms; return the file of the last labels of all places.

    A place is a respondent and a number, which rises where a record follows one of a ghost, or, unless ``one_place``, at each
    record. A label is a role so far.
    """
    begins = "coalesce(l.ghost AND NOT r.ghost, false)" if one_place else "l.place IS NOT NULL"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE latest AS SELECT respondent, 0 AS place, 0::BIGINT AS label, ghost "
        f"FROM {published.key_rows(0)} LIMIT 0"
    )
    connection.execute("CREATE OR REPLACE TEMP TABLE earlier AS SELECT respondent, place, label FROM latest")
    number = 1
    for release, _ in enumerate(published.releases):
        connection.execute(
            f'CREATE OR REPLACE TEMP TABLE now AS SELECT respondent, r.ghost, "group", {begins} AS begins, '
            f"coalesce(l.place + begins::INTEGER, 0) AS place, if(begins, 0, coalesce(l.label, 0)) AS label "
            f'FROM {published.key_rows(release)} r LEFT JOIN latest l USING (respondent) WHERE "group" >= 0'
        )
        connection.execute(
            'CREATE OR REPLACE TEMP TABLE roles AS SELECT label, "group", count(*) AS atom, '
            f'{number} + row_number() OVER (ORDER BY "group", label) AS own FROM now GROUP BY label, "group"'
        )
        number += connection.execute("SELECT count(*) FROM roles").fetchall()[0][0]
        seen = parquet_of(_file(work, "seen", release))
        write_rows(
            connection,
            f'SELECT respondent, place, {release} AS release, "group", ghost, begins, own AS label, atom, cell FROM now '
            'JOIN roles USING (label, "group") JOIN (SELECT "group", count(*) AS cell FROM now GROUP BY "group") USING ("group")',
            _file(work, "seen", release),
        )
        connection.execute(
            "INSERT INTO earlier SELECT l.respondent, l.place, l.label FROM latest l "
            f"SEMI JOIN (SELECT respondent FROM {seen} WHERE begins) USING (respondent)"
        )
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE latest AS SELECT respondent, place, label, ghost FROM {seen} "
            f"UNION ALL SELECT * FROM latest ANTI JOIN {seen} USING (respondent)"
        )
    write_rows(
        connection,
        "SELECT respondent, place, label FROM latest UNION ALL SELECT * FROM earlier",
        work / "labels.parquet",
    )
    connection.execute("DROP TABLE now; DROP TABLE roles; DROP TABLE latest; DROP TABLE earlier")
    return work / "labels.parquet"


class Batch(NamedTuple):
    """Whole atoms, and all records of their respondents: rows of a file of records, and of a file of the counts of their groups."""

    number: int
    records: Path
    rows: tuple[int, int]
    counts: Path
    groups: tuple[int, int]


def _write_batches(
    connection: duckdb.DuckDBPyConnection, published: LargeReleases, labels: Path, block: int, work: Path
) -> list[Batch]:
    """Divide the atoms into batches, and write their records by batch, release and rank, and the counts of the groups they meet."""
    home, records, counts = (work / f"{name}.parquet" for name in ("home", "records", "counts"))
    releases = len(published.releases)
    # A respondent with two places may be in two batches.
    write_rows(
        connection,
        f"SELECT respondent, place, batch FROM {parquet_of(labels)} l JOIN (SELECT label, "
        f"((sum(size) OVER (ORDER BY label) - size) * {releases} // {block})::BIGINT AS batch "
        f"FROM (SELECT label, count(*) AS size FROM {parquet_of(labels)} GROUP BY label)) b USING (label)",
        home,
    )
    owners = f"(SELECT DISTINCT respondent, batch FROM {parquet_of(home)})"
    several = f"(SELECT respondent FROM {parquet_of(home)} GROUP BY respondent HAVING min(batch) < max(batch))"
    # The joins of a release at a time, and one sort after them: DuckDB does not keep within its memory by both at once.
    for release in range(releases):
        rows, of_batches = published.key_rows(release), _file(work, "records", release)
        write_rows(
            connection,
            f'SELECT o.batch, {release} AS release, r.* EXCLUDE (value), coalesce(h.batch = o.batch, "group" >= 0) AS own '
            f"FROM {rows} r JOIN {owners} o USING (respondent) LEFT JOIN (SELECT respondent, ghost, batch FROM "
            f"{parquet_of(_file(work, 'seen', release))} s SEMI JOIN {several} USING (respondent) JOIN {parquet_of(home)} p "
            f"USING (respondent, place)) h USING (respondent, ghost)",
            of_batches,
        )
        write_rows(
            connection,
            f'SELECT batch, {release} AS release, "group", value, number FROM (SELECT DISTINCT batch, "group" FROM '
            f'{parquet_of(of_batches)} WHERE "group" >= 0) JOIN (SELECT "group", value, count(*) AS number FROM {rows} '
            f'WHERE "group" >= 0 GROUP BY ALL) USING ("group")',
            _file(work, "counts", release),
        )
    for path, order in ((records, "ghost, rank"), (counts, '"group", value')):
        parts = [_file(work, path.stem, release) for release in range(releases)]
        write_rows(connection, f"FROM {parquet_of(*parts)} ORDER BY batch, release, {order}", path)
        for part in parts:
            part.unlink()
    ranges = [_ranges(connection, path) for path in (records, counts)]
    return [Batch(number, records, ranges[0][number], counts, ranges[1][number]) for number in ranges[0]]


def _ranges(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[int, tuple[int, int]]:
    """First row of each batch in a file, and of the next one."""
    query = f"SELECT batch, count(*) FROM {parquet_of(path)} GROUP BY batch ORDER BY batch"
    sizes = connection.execute(query).fetchall()
    edges = np.cumsum([0, *(size for _, size in sizes)]).tolist()
    return dict(zip((number for number, _ in sizes), pairwise(edges), strict=True))


def bound_batch(task: Batch, schema: Schema, times: tuple[Any, ...], adversary: Adversary, folder: Path) -> None:
    """Write the bounds on the beliefs about the members of the atoms of a batch, one part for each release that has some."""
    records, counts = read_block(task.records, *task.rows), read_block(task.counts, *task.groups)
    ends, of_groups = (
        np.searchsorted(rows["release"].to_numpy(), np.arange(len(times) + 1)) for rows in (records, counts)
    )
    observations, listed = [], []
    for t, time in enumerate(times):
        rows = records.slice(ends[t], ends[t + 1] - ends[t])
        shown = counts.slice(of_groups[t], of_groups[t + 1] - of_groups[t])
        ghost = rows["ghost"].to_numpy()
        observations.append(_observation(rows, ghost, shown, schema, time))
        listed.append(rows.filter(pa.array(~ghost)))
    for t, upper in enumerate(bound(observations, adversary).upper):
        own: BoolArray = listed[t]["own"].to_numpy()
        if own.any():
            part = belief_part(listed[t]["respondent"], np.where(own, 0, -1), upper, t)
            write_part(part_path(folder, t, task.number), part)


def _observation(rows: pa.Table, ghost: BoolArray, shown: pa.Table, schema: Schema, time: Any) -> Observation:
    """Release as it is seen of some respondents: their groups with all counts, in which the others are counterfeits."""
    names, row = np.unique(shown["group"].to_numpy(), return_inverse=True)
    counts = np.zeros((len(names), len(schema.values)), dtype=np.int64)
    counts[row, shown["value"].to_numpy()] = shown["number"].to_numpy()
    label: IntArray = rows["group"].to_numpy()
    group = np.where(label >= 0, np.searchsorted(names, label), -1)
    codes = np.column_stack([rows[f"q{a}"].to_numpy() for a in range(len(schema.quasi_identifiers))])
    people = People(object_array(rows["respondent"].to_pylist()), codes, schema, time)
    return Observation(people[~ghost], group[~ghost], counts, time, ghosts=people[ghost], ghost_group=group[ghost])
