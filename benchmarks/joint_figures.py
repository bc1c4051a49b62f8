"""Timed figures of the joint law: its solvers on the same exams under four defenses, and on a million respondents."""

from collections.abc import Callable

import numpy as np
from subjects import Figure, history

from foreknow.attacks import JointAttack
from foreknow.defenses import (
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    JSReduce,
    KAnonymity,
    Mondrian,
    publish,
)
from foreknow.evaluation import exams
from foreknow.models import (
    Adversary,
    GroupMessages,
    JointSolver,
    LearnedKnowledge,
    MaxEntropy,
    Omega,
    PathSampler,
    Release,
    Simulation,
    joint_history,
)

DEFENSES: dict[str, Defense] = {
    "Mondrian k=2, l=2": Mondrian(KAnonymity(2) & DistinctDiversity(2)),
    "JSReduce, patience=50": JSReduce(3, 0.5, 0.6, patience=50),
    "UHRA(3, .5, .6)": UHRA(3, 0.5, 0.6),
    "Anatomy(2)": Anatomy(2),
}

PERCENT = MaxEntropy(tolerance=1e-2)
"""Expected counts to one percent of a group's records."""

FIVES = Anatomy(5)
"""Defense of the million respondents: groups of five records, drawn anew at each release."""


def published(simulation: Simulation, defense: Defense) -> tuple[Release, ...]:
    defender = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    return publish(simulation.history, defense, defender, rng=np.random.default_rng(1))


def whole(name: str, solver: JointSolver, hindsight: bool = True) -> Callable[[], object]:
    """Joint attack on all 24 releases of the exams."""
    simulation = history()
    releases = published(simulation, DEFENSES[name])
    return lambda: JointAttack(Adversary(simulation.prior, simulation.transitions), solver, hindsight)(releases)


def learned(name: str) -> Callable[[], object]:
    releases = published(history(), DEFENSES[name])
    return lambda: LearnedKnowledge.fit(releases)


def respondents(number: int, solver: JointSolver) -> Callable[[], object]:
    """A solver on five releases of the given number of records each."""
    simulation = exams(5, number, rng=np.random.default_rng(1))
    observations = [release.observation for release in publish(simulation.history, FIVES, rng=np.random.default_rng(1))]
    problem = joint_history(Adversary(simulation.prior, simulation.transitions), observations).problem
    del simulation, observations
    return lambda: solver(problem)


CONVERGED = PathSampler(sweeps=400, anneal=100, warmup=100, chains=4, rng=3)
"""Sampler of the figure on convergence; its chains run on all processors."""


SWEEPS = PathSampler(sweeps=400, anneal=0, warmup=0, chains=1, rng=3)
"""Sampler of the figure on the speed of a sweep: no start, so that each sweep is counted."""


def sampler(chains: int) -> PathSampler:
    return PathSampler(sweeps=400, chains=chains, rng=3)


def converged(name: str) -> Callable[[], object]:
    """Joint attack by four chains; raises RuntimeError if more than 1 % of the beliefs have an R-hat over 1.05."""
    simulation = history()
    observations = [release.observation for release in published(simulation, DEFENSES[name])]
    adversary = Adversary(simulation.prior, simulation.transitions)

    def work() -> object:
        posterior = CONVERGED(joint_history(adversary, observations).problem)
        if posterior.unconverged_share > 0.01:
            raise RuntimeError(f"{posterior.unconverged_share:.2%} of the beliefs have an R-hat over 1.05.")
        return posterior

    return work


JOINT_FIGURES: dict[str, Figure] = {
    **{
        f"exams 24 x 5,000: GroupMessages on {name}": Figure(None, lambda name=name: whole(name, GroupMessages()))
        for name in DEFENSES
    },
    **{
        f"exams 24 x 5,000: MaxEntropy to 1 % on {name}": Figure(6.0, lambda name=name: whole(name, PERCENT))
        for name in DEFENSES
    },
    **{
        f"exams 24 x 5,000: MaxEntropy to 1 % on all prefixes of {name}": Figure(
            30.0, lambda name=name: whole(name, PERCENT, hindsight=False)
        )
        for name in DEFENSES
    },
    **{
        f"exams 24 x 5,000: PathSampler, 400 sweeps of one chain, on {name}": Figure(
            15.0, lambda name=name: whole(name, SWEEPS)
        )
        for name in DEFENSES
    },
    **{
        f"exams 24 x 5,000: PathSampler, 400 sweeps of one chain and the 300 of its start, on {name}": Figure(
            None, lambda name=name: whole(name, sampler(1))
        )
        for name in DEFENSES
    },
    "exams 24 x 5,000: PathSampler, four chains to an R-hat under 1.05 for 99 % of beliefs, on Mondrian k=2, l=2": Figure(
        60.0, lambda: converged("Mondrian k=2, l=2")
    ),
    **{
        f"exams 24 x 5,000: LearnedKnowledge from {name}": Figure(60.0, lambda name=name: learned(name))
        for name in DEFENSES
    },
    **{
        f"5 releases of {number:,} records in groups of 5: GroupMessages": Figure(
            None, lambda number=number: respondents(number, GroupMessages())
        )
        for number in (10_000, 100_000, 1_000_000)
    },
    **{
        f"5 releases of {number:,} records in groups of 5: MaxEntropy to 1 %": Figure(
            limit, lambda number=number: respondents(number, PERCENT)
        )
        for number, limit in ((10_000, None), (100_000, None), (1_000_000, 300.0))
    },
}
