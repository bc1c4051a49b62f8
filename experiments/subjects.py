"""Generators, the simulated exams and ten defenses that the experiments share."""

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
from foreknow.evaluation import exams
from foreknow.models import Adversary, Omega, Simulation


def seeded(seed: int = 2012) -> np.random.Generator:
    return np.random.default_rng(seed)


def subject(views: int = 24, records: int = 5000, weeks: int = 1) -> tuple[Simulation, Adversary]:
    """Exams, and the defender of JS-reduce: exact knowledge, and the Omega-estimate."""
    simulation = exams(views, records, weeks_per_step=weeks, rng=seeded())
    return simulation, Adversary(simulation.prior, simulation.transitions, estimator=Omega())


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
