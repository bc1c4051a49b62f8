"""Timed figures: publication, attack, measures and check from disk to disk, in one process."""

import atexit
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from large_tables import CHAIN, DEFENSES, QUASI_IDENTIFIERS, generate
from subjects import Figure

from foreknow.app.disk import (
    Engine,
    LargeReleases,
    LargeTable,
    attack_large,
    measure_large,
    publish_large,
    verify_large,
)
from foreknow.attacks import JointAttack
from foreknow.models import Adversary, Omega, UniformPrior

ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())
JS_REDUCE = DEFENSES["JSReduce"]


def scratch() -> Path:
    """Folder that is removed at the end of the process."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def publications(defense: str, records: int) -> tuple[Engine, Callable[[], LargeReleases]]:
    """Function that publishes two releases with that many records in all, each time into another folder."""
    folder, numbers = scratch(), count()
    generate(folder / "visits.parquet", records, 2)
    engine = Engine(scratch=folder)
    table = LargeTable.infer(folder / "visits.parquet", QUASI_IDENTIFIERS, time="week")
    assumed = ADVERSARY if defense == "JSReduce" else None

    def work() -> LargeReleases:
        return publish_large(table, DEFENSES[defense], folder / f"out-{next(numbers)}", assumed, seed=1, engine=engine)

    return engine, work


def publication(defense: str, records: int) -> Callable[[], object]:
    return publications(defense, records)[1]


def attack(joint: bool, records: int) -> Callable[[], object]:
    engine, publish = publications("JSReduce", records)
    published, folder, numbers = publish(), scratch(), count()
    by = JointAttack(ADVERSARY) if joint else ADVERSARY
    return lambda: attack_large(published, by, folder / f"beliefs-{next(numbers)}", engine=engine)


def measures(records: int) -> Callable[[], object]:
    engine, publish = publications("JSReduce", records)
    published = publish()
    beliefs = attack_large(published, ADVERSARY, scratch() / "beliefs", engine=engine)
    return lambda: measure_large(published, beliefs, ADVERSARY, engine=engine)


def check(records: int) -> Callable[[], object]:
    engine, publish = publications("JSReduce", records)
    published = publish()
    return lambda: verify_large(published, JS_REDUCE.requirement, ADVERSARY, engine=engine)


STEPS: dict[str, Callable[[int], Callable[[], object]]] = {
    "publish_large, Mondrian k=5": partial(publication, "Mondrian"),
    "publish_large, JSReduce(3, .5, .6, patience=50)": partial(publication, "JSReduce"),
    "attack_large, Omega": partial(attack, False),
    "attack_large, GroupMessages": partial(attack, True),
    "measure_large": measures,
    "verify_large, JSReduce": check,
}
DISK_FIGURES: dict[str, Figure] = {
    f"from disk, {records:,} records in two releases: {step}": Figure(None, partial(prepare, records))
    for step, prepare in STEPS.items()
    for records in (100_000, 1_000_000)
}
