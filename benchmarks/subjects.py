"""Data sets, defenses and clocks that several scripts share: simulated exams, Adult, and ten defenses."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
)
from foreknow.evaluation import adult, exams
from foreknow.models import Adversary, Omega, Simulation, View

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
HIERARCHIES = ADULT.parent / "adult-hierarchies"
ADULT_QI = ("age", "sex", "race", "marital-status", "education")

LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
"""Sensitive set of Adult: education "before secondary", 3.46 % of the records."""


class MissingData(Exception):  # noqa: N818 - the name says what is wrong
    """Raised if the data of a figure is missing."""


type Work = Callable[[], object]
"""What a figure times."""


class Figure(NamedTuple):
    """A timed figure; with ``own_clock``, the work itself returns the seconds."""

    limit: float | None
    prepare: Callable[[], Work]
    own_clock: bool = False


def seeded(seed: int = 2012) -> np.random.Generator:
    return np.random.default_rng(seed)


def timed[T](work: Callable[[], T], clock: Callable[[], float] = time.process_time) -> tuple[T, float]:
    """Result of a work, and its seconds: of the processor, or of another clock."""
    start = clock()
    return work(), clock() - start


def subject(views: int = 24, records: int = 5000, weeks: int = 1) -> tuple[Simulation, Adversary]:
    """Exams, and the defender of JS-reduce: exact knowledge, and the Omega-estimate."""
    simulation = exams(views, records, weeks_per_step=weeks, rng=seeded())
    return simulation, Adversary(simulation.prior, simulation.transitions, estimator=Omega())


def check_adult() -> None:
    if not ADULT.exists():
        raise MissingData(f"{ADULT.name}: UCI Adult is not beside the project")


def census(rows: int | None) -> View:
    """View of Adult, or of a bootstrap with the given number of rows."""
    check_adult()
    (view,) = adult(ADULT, sensitive="occupation", quasi_identifiers=ADULT_QI)
    if rows is None:
        return view
    frame = view.frame.sample(rows, replace=True, random_state=1).reset_index(drop=True)
    return View(frame.assign(id=np.arange(rows)), view.schema)


def ten(drawn: int, size: int = 5) -> dict[str, Defense]:
    """Ten defenses with comparable settings: groups of ``size`` records or values; t, j and beta of the papers."""
    return {
        f"Mondrian k={size}, l={size}": Mondrian(KAnonymity(size) & DistinctDiversity(size)),
        f"FullDomain k={size}, l={size}": FullDomain(KAnonymity(size) & DistinctDiversity(size)),
        f"JSReduce({size}, .5, .6, patience=50)": JSReduce(size, 0.5, 0.6, patience=50),
        f"BKAA({size}, 5, .6, patience=50)": BKAA(size, 5, 0.6, patience=50),
        f"UHRA({size}, .5, .6)": UHRA(size, 0.5, 0.6),
        f"KPrimacy({size}, 5, .6)": KPrimacy(size, 5, 0.6),
        f"MASK({size}, {size})": MASK(size, size, rng=seeded(drawn)),
        f"MInvariance({size})": MInvariance(size, rng=seeded(1)),
        f"Anatomy({size})": Anatomy(size, rng=seeded(drawn)),
        f"Injector({size})": Injector(size, rng=seeded(drawn)),
    }
