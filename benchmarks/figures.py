"""Timed figures: each is a function that prepares the data and returns the work to be timed.

The name of a figure says what is done. Its limit in seconds is the project's target on two cores.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from defense_figures import DEFENSE_FIGURES
from disk_figures import DISK_FIGURES
from foreground_figures import FOREGROUND_FIGURES
from joint_figures import JOINT_FIGURES
from program_figures import PROGRAM_FIGURES
from quasi_sensitive_figures import QUASI_SENSITIVE_FIGURES
from start_figures import START_FIGURES
from subjects import Figure, history

from foreknow.attacks import SequentialAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
from foreknow.models import (
    Adversary,
    Auto,
    BeliefPropagation,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    Exact,
    Omega,
    PosteriorCascade,
    PriorCascade,
    Problem,
    Release,
    Simulation,
    Sinkhorn,
    SwapChain,
)


def js_reduce(patience: int | None) -> Callable[[], object]:
    simulation = history()
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Omega())

    def work() -> object:
        releases = publish(
            simulation.history, JSReduce(3, 0.5, 0.6, patience=patience), adversary, rng=np.random.default_rng(1)
        )
        return SequentialAttack(adversary)(releases)

    return work


def mondrian_releases(simulation: Simulation) -> tuple[Release, ...]:
    return publish(simulation.history, Mondrian(KAnonymity(2) & DistinctDiversity(2)), rng=np.random.default_rng(1))


def attack(estimator: Estimator) -> Callable[[], object]:
    simulation = history()
    releases = mondrian_releases(simulation)
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
    return lambda: SequentialAttack(adversary)(releases)


def attack_on_large_groups(estimator: Estimator) -> Callable[[], object]:
    """Attack on the releases of JSReduce, whose groups are larger; `Exact` exceeds its limit in some of them."""
    simulation = history()
    defender = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    releases = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), defender, rng=np.random.default_rng(1))
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
    return lambda: SequentialAttack(adversary)(releases)


def bayframe() -> Callable[[], object]:
    """Publish with JS-reduce under BayFrame's adversary, a tenth of the records compromised, and attack with both cascades."""
    simulation = history()
    records = CompromisedRecords.sample(simulation.history, 0.1, 0.9, rng=np.random.default_rng(2019))
    known = CompromisedRecords(records.frame, contradicted="report")

    def work() -> object:
        found = []
        for cascade in (PriorCascade(normalized=False), PosteriorCascade()):
            adversary = Adversary(
                simulation.prior, simulation.transitions, known, DirichletMultinomial(), cascade, revision="chain"
            )
            releases = publish(
                simulation.history, JSReduce(3, 0.5, 0.6, patience=50), adversary, rng=np.random.default_rng(1)
            )
            found.append(SequentialAttack(adversary)(releases))
        return found

    return work


def one_group(estimator: Estimator) -> Callable[[], object]:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 19, 1000)
    problem = Problem(
        rng.dirichlet(np.ones(19), 1000), np.zeros(1000, dtype=np.int64), np.bincount(values, minlength=19)[None]
    )
    return lambda: estimator(problem)


FIGURES: dict[str, Figure] = {
    "exams 24 x 5,000: JSReduce(3, .5, .6) as printed, and an Omega attack": Figure(1.0, lambda: js_reduce(None)),
    "exams 24 x 5,000: the same with patience=50": Figure(None, lambda: js_reduce(50)),
    "exams 24 x 5,000: Mondrian k=2, l=2": Figure(None, lambda: partial(mondrian_releases, history())),
    "exams 24 x 5,000: Exact attack on Mondrian k=2, l=2": Figure(5.0, lambda: attack(Exact())),
    "exams 24 x 5,000: Omega attack on Mondrian k=2, l=2": Figure(None, lambda: attack(Omega())),
    "exams 24 x 5,000: DirichletMultinomial attack on Mondrian k=2, l=2": Figure(
        3.0, lambda: attack(DirichletMultinomial())
    ),
    "exams 24 x 5,000: Sinkhorn attack on Mondrian k=2, l=2": Figure(5.0, lambda: attack(Sinkhorn())),
    "exams 24 x 5,000: BeliefPropagation attack on Mondrian k=2, l=2": Figure(
        10.0, lambda: attack(BeliefPropagation())
    ),
    "exams 24 x 5,000: SwapChain attack on Mondrian k=2, l=2": Figure(
        30.0, lambda: attack(SwapChain(rng=np.random.default_rng(3)))
    ),
    "exams 24 x 5,000: Auto attack on Mondrian k=2, l=2": Figure(20.0, lambda: attack(Auto())),
    "exams 24 x 5,000: DirichletMultinomial attack on JSReduce": Figure(
        3.0, lambda: attack_on_large_groups(DirichletMultinomial())
    ),
    "exams 24 x 5,000: Sinkhorn attack on JSReduce": Figure(5.0, lambda: attack_on_large_groups(Sinkhorn())),
    "exams 24 x 5,000: BeliefPropagation attack on JSReduce": Figure(
        10.0, lambda: attack_on_large_groups(BeliefPropagation())
    ),
    "exams 24 x 5,000: SwapChain attack on JSReduce": Figure(
        30.0, lambda: attack_on_large_groups(SwapChain(rng=np.random.default_rng(3)))
    ),
    "exams 24 x 5,000: Auto attack on JSReduce": Figure(20.0, lambda: attack_on_large_groups(Auto())),
    "exams 24 x 5,000: BayFrame, published and attacked with both cascades": Figure(15.0, bayframe),
    "ConfidenceSum on one group of 1,000": Figure(0.1, lambda: one_group(ConfidenceSum())),
    "DirichletMultinomial on one group of 1,000": Figure(0.5, lambda: one_group(DirichletMultinomial())),
    **DEFENSE_FIGURES,
    **DISK_FIGURES,
    **FOREGROUND_FIGURES,
    **JOINT_FIGURES,
    **PROGRAM_FIGURES,
    **QUASI_SENSITIVE_FIGURES,
    **START_FIGURES,
}
