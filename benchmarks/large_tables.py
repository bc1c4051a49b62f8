"""Times and memory of tables on disk: publication, sequential and joint attack, check and measures of a generated history.

    python benchmarks/large_tables.py 1_000_000 --attack joint --defense JSReduce
    python benchmarks/large_tables.py 10_000_000 --workers 2 --memory 6
    python benchmarks/large_tables.py 100_000_000 --defense Mondrian --memory 8 --steps publish,attack
    python benchmarks/large_tables.py 10_000_000 --workers 2 --memory 6 --cluster
    python benchmarks/large_tables.py 100_000_000 --releases 12 --defense Cohorts --memory 8 --steps atoms,bounds

A publication by Cohorts is simulated: its key alone is written, without the defense.

The number is that of the records of all releases. Prints one JSON line for each step: seconds, processor seconds of this process
and its children, the peak memory of this process, and the peak of the memory of this process and its children together, in MiB.
The latter is sampled twice a second, as proportional set size: pages that processes share count once.
"""

import argparse
import atexit
import json
import resource
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import psutil
from subjects import Figure, Work

from foreknow.app.disk import (
    Engine,
    LargeTable,
    attack_large,
    bound_large,
    measure_large,
    publish_large,
    role_anonymity_large,
    verify_large,
)
from foreknow.app.disk.parts import key_folder
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.publication import MANIFEST, read_json, sums_below, write_manifest
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import BKAA, Anatomy, Cohorts, FullDomain, JSReduce, KAnonymity, Mondrian
from foreknow.models import (
    Adversary,
    GhostChain,
    GroupGraph,
    GroupMessages,
    MarkovChain,
    MaxEntropy,
    Omega,
    UniformPrior,
)

VALUES = 20
CHAIN = MarkovChain(1, 0.6 * np.eye(VALUES) + 0.4 / VALUES)
DEFENSES = {
    "Mondrian": Mondrian(KAnonymity(5)),
    "JSReduce": JSReduce(3, 0.5, 0.6, patience=50),
    "Anatomy": Anatomy(3),
    "FullDomain": FullDomain(KAnonymity(5)),
    "BKAA": BKAA(3, 5, 0.6, patience=50),
    "Cohorts": Cohorts(5, 20, transitions=CHAIN),
}
SOLVERS = {"GroupGraph": GroupGraph, "GroupMessages": GroupMessages, "MaxEntropy": MaxEntropy}
UNIFORM = "(hash(i * 64 + {0})::DOUBLE / 1.8446744073709552e19)"
"""Number from 0 to 1 of respondent i, in SQL."""
QUASI_IDENTIFIERS = ["age", "sex", "place", "work", "income"]


def generate(path: Path, records: int, releases: int) -> None:
    """Write a history: five quasi-identifiers, 20 values that stay from release to release with probability .62.

    A respondent has a record in 9 of 10 releases, and is a year older in each than in the one before.
    """
    people = round(records / releases / 0.9)
    query = f"""
        SELECT i AS id, week, 18 + week + (72 * {UNIFORM.format(2)})::INTEGER AS age,
               CASE WHEN {UNIFORM.format(3)} < 0.5 THEN 'f' ELSE 'm' END AS sex,
               (1000 * {UNIFORM.format(4)})::INTEGER AS place, (30 * pow({UNIFORM.format(5)}, 3))::INTEGER AS work,
               (100 * {UNIFORM.format(6)})::INTEGER AS income, {_value(releases)} AS result
        FROM range({people}) people(i), range({releases}) weeks(week) WHERE hash(i * 64 + 40 + week) % 10 > 0"""
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def _value(releases: int) -> str:
    """Value of respondent i in a week, in SQL."""
    value = f"(20 * pow({UNIFORM.format(1)}, 2))::INTEGER % 20"
    for week in range(1, releases):
        kept, other = UNIFORM.format(10 + 2 * week), UNIFORM.format(11 + 2 * week)
        value = f"CASE WHEN week < {week} OR {kept} < 0.6 THEN {value} ELSE (20 * {other})::INTEGER % 20 END"
    return value


def simulate_cohorts(folder: Path, records: int, releases: int, engine: Engine) -> LargeReleases:
    """Write the key of a publication with cells of 20, of which batches of 5 leave; without its public part.

    Four cells in five begin in the first release, the others in each later one, a release after their members are listed and
    withheld. A respondent leaves after a release with probability .03, and ghosts carry on the place until all of a batch have
    left. Some of those who left have a place in a later cell.
    """
    generate(folder / "small.parquet", 400 * releases, releases)
    small = LargeTable.infer(folder / "small.parquet", QUASI_IDENTIFIERS, time="week")
    published = publish_large(small, DEFENSES["Cohorts"], folder / "out", Adversary(UniformPrior(), CHAIN), seed=1)
    people, places = round(records / 10.3 / 100) * 100, folder / "places.parquet"
    first = people * 4 // 5
    query = f"""
        WITH drawn AS (
            SELECT i, i // 20 AS cell, if(i < {first}, 0, 1 + i // 20 % {releases - 1}) AS start,
                   start + floor(ln({UNIFORM.format(7)}) / ln(0.97))::INTEGER + 1 AS leaves FROM range({people}) people(i)
        ), batches AS (
            SELECT *, (row_number() OVER (PARTITION BY cell ORDER BY leaves, i) - 1) // 5 AS batch FROM drawn
        ), ended AS MATERIALIZED (
            SELECT *, max(leaves) OVER (PARTITION BY cell, batch) AS gone FROM batches
        )
        SELECT p.*, if(earlier.gone < p.start, earlier.i, p.i) AS id
        FROM ended p LEFT JOIN ended earlier ON earlier.i = p.i - {first}"""
    with engine.connection() as connection:
        connection.execute(f"COPY ({query}) TO '{places}' (FORMAT parquet)")
        codes = ", ".join(f"({UNIFORM.format(2 + a)} < 0.5)::DOUBLE AS _q{a}" for a in range(len(QUASI_IDENTIFIERS)))
        for week in range(releases):
            query = f"""
                SELECT id, week, if(week < start, -1, (cell * 7919 + week) % {people // 20}) AS "group",
                       i + if(ghost IS NULL, 0, {people}) AS _rank, {codes}, {_value(week + 1)} AS _value,
                       if(ghost IS NULL, NULL, _value)::BIGINT AS published, ghost
                FROM (SELECT *, {week} AS week, if({week} < leaves, NULL, 1) AS ghost FROM '{places}')
                WHERE week >= start - 1 AND week < gone"""
            part = key_folder(folder / "out") / f"release-{week:04d}" / "part-00000.parquet"
            connection.execute(f"COPY ({query}) TO '{part}' (FORMAT parquet)")
    manifest = read_json(published.private / MANIFEST)
    sums = manifest["sha256"] | sums_below(key_folder(folder / "out"), published.private)
    write_manifest(published.private, manifest["records"], sums, {"releases": manifest["releases"]})
    places.unlink()
    return published


def measured(step: str, call: Callable[[], Any]) -> Any:
    """Result of a call; prints its cost."""
    began, before = time.perf_counter(), _processor()
    with _sampled() as sizes:
        result = call()
    seconds, processor = time.perf_counter() - began, _processor() - before
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cost = {"seconds": seconds, "processor": processor, "peak_mib": own, "peak_of_all_mib": max(sizes)}
    print(json.dumps({"step": step} | cost), flush=True)
    return result


def _processor() -> float:
    """Processor seconds of this process, its children that ended, and its living descendants."""
    own, living = (
        psutil.Process().cpu_times(),
        [child.cpu_times() for child in psutil.Process().children(recursive=True)],
    )
    return sum(own[:4]) + sum(sum(times[:2]) for times in living)


@contextmanager
def _sampled() -> Iterator[list[float]]:
    """List of the MiB of this process and its descendants, to which a thread appends twice a second."""
    sizes, ended = [_mebibytes()], threading.Event()

    def sample() -> None:
        while not ended.wait(0.5):
            sizes.append(_mebibytes())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield sizes
    finally:
        ended.set()
        thread.join()


def _mebibytes() -> float:
    """Proportional set size of this process and its descendants; a process that ends meanwhile counts 0."""
    size = 0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with suppress(psutil.Error):
            size += process.memory_full_info().pss
    return size / 2**20


@contextmanager
def _scheduler(workers: int) -> Iterator[str | None]:
    """Address of the scheduler of a local cluster of processes; None without workers."""
    if not workers:
        yield None
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=int)
    parser.add_argument("--releases", type=int, default=2)
    parser.add_argument("--defense", choices=DEFENSES, default="JSReduce")
    parser.add_argument("--attack", choices=["sequential", "joint"], default="sequential")
    parser.add_argument("--solver", choices=SOLVERS, default="GroupMessages")
    parser.add_argument("--tolerance", type=float, default=1e-2)
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--cluster", action="store_true", help="as many workers of a local Dask cluster instead of processes"
    )
    parser.add_argument("--memory", type=float, default=4)
    parser.add_argument("--block", type=int, default=2**17)
    parser.add_argument("--steps", default="publish,attack,measure,verify")
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    adversary, defense = Adversary(UniformPrior(), CHAIN, estimator=Omega()), DEFENSES[given.defense]
    attack = (
        SequentialAttack(adversary)
        if given.attack == "sequential"
        else JointAttack(adversary, SOLVERS[given.solver](tolerance=given.tolerance), hindsight=not given.forward)
    )
    with TemporaryDirectory(dir=given.scratch) as name, _scheduler(given.workers if given.cluster else 0) as scheduler:
        folder = Path(name)
        engine = Engine(given.memory, given.workers, scratch=folder, scheduler=scheduler)
        assumed = adversary if isinstance(defense, (BKAA, JSReduce)) else None
        if isinstance(defense, Cohorts):
            published = simulate_cohorts(folder, given.records, given.releases, engine)
            adversary = replace(adversary, mechanism=GhostChain())
        else:
            file = folder / "visits.parquet"
            generate(file, given.records, given.releases)
            table = LargeTable.infer(file, QUASI_IDENTIFIERS, time="week")
            published = measured(
                "publish",
                lambda: publish_large(
                    table, defense, folder / "out", assumed, block=given.block, seed=1, engine=engine
                ),
            )
        steps = {
            "attack": lambda: attack_large(published, attack, folder / "beliefs", engine=engine),
            "measure": lambda: measure_large(published, folder / "beliefs", adversary, engine=engine),
            "verify": lambda: verify_large(published, defense.requirement, assumed, engine=engine),
            "atoms": lambda: role_anonymity_large(published, folder / "atoms", engine=engine),
            "bounds": lambda: bound_large(published, adversary, folder / "bounds", block=given.block, engine=engine),
        }
        for step in given.steps.split(","):
            if step in steps and not (step == "verify" and isinstance(defense, Anatomy)):
                measured(step, steps[step])
        manifest = folder / "beliefs" / "manifest.json"
        if manifest.exists():
            print(json.dumps(json.loads(manifest.read_text())))
        shutil.rmtree(folder / "out")


ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())


def from_disk(step: str, defense: str, records: int) -> Work:
    """A step on two releases with that many records in all; each run writes into another folder."""
    temporary = TemporaryDirectory()
    atexit.register(temporary.cleanup)
    folder, numbers = Path(temporary.name), count()
    generate(folder / "visits.parquet", records, 2)
    engine = Engine(scratch=folder)
    table = LargeTable.infer(folder / "visits.parquet", QUASI_IDENTIFIERS, time="week")
    assumed = ADVERSARY if defense == "JSReduce" else None

    def publish() -> LargeReleases:
        return publish_large(table, DEFENSES[defense], folder / f"out-{next(numbers)}", assumed, seed=1, engine=engine)

    def attack(by: Any) -> Any:
        return attack_large(published, by, folder / f"beliefs-{next(numbers)}", engine=engine)

    published = publish() if step != "publish" else None
    beliefs = attack(ADVERSARY) if step == "measure" else None
    works: dict[str, Work] = {
        "publish": publish,
        "attack": lambda: attack(ADVERSARY),
        "joint attack": lambda: attack(JointAttack(ADVERSARY, GroupMessages())),
        "measure": lambda: measure_large(published, beliefs, ADVERSARY, engine=engine),
        "verify": lambda: verify_large(published, DEFENSES[defense].requirement, ADVERSARY, engine=engine),
    }
    return works[step]


STEPS = {
    "publish_large, Mondrian k=5": ("publish", "Mondrian"),
    "publish_large, JSReduce(3, .5, .6, patience=50)": ("publish", "JSReduce"),
    "attack_large, Omega": ("attack", "JSReduce"),
    "attack_large, GroupMessages": ("joint attack", "JSReduce"),
    "measure_large": ("measure", "JSReduce"),
    "verify_large, JSReduce": ("verify", "JSReduce"),
}
"""Step, and defense, of each figure."""

DISK_FIGURES: dict[str, Figure] = {
    f"from disk, {records:,} records in two releases: {name}": Figure(None, partial(from_disk, *step, records))
    for name, step in STEPS.items()
    for records in (100_000, 1_000_000)
}


if __name__ == "__main__":
    main()
