"""Timed figures: each is a function that prepares the data and returns the work to be timed.

The name of a figure says what is done. Its limit in seconds is the project's target on two cores.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
from foreground import FOREGROUND_FIGURES
from large_tables import DISK_FIGURES
from programs import PROGRAM_FIGURES
from quasi_sensitive import QUASI_SENSITIVE_FIGURES
from subjects import ADULT_QI, Figure, Work, census, seeded, subject

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    Anatomy,
    BetaLikeness,
    BTPrivacy,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    NoisyCounts,
    PosteriorBound,
    Requirement,
    TCloseness,
    publish,
)
from foreknow.evaluation import Workload, exams, query_error, record_linkage
from foreknow.models import (
    Adversary,
    Auto,
    BeliefPropagation,
    ClassFrequencies,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    Exact,
    GroupMessages,
    History,
    LearnedKnowledge,
    MaxEntropy,
    Memory,
    Omega,
    PathSampler,
    PosteriorCascade,
    Presence,
    PriorCascade,
    Problem,
    Relations,
    Release,
    Simulation,
    Sinkhorn,
    SwapChain,
    UniformPrior,
    joint_history,
)
from foreknow.models.joint import JointSolver

ANONYMOUS = KAnonymity(3) & DistinctDiversity(2)
K5 = KAnonymity(5)
PERCENT = MaxEntropy(tolerance=1e-2)
"""Expected counts to one percent of a group's records."""
SWEEPS = PathSampler(sweeps=400, anneal=0, warmup=0, chains=1, rng=3)
"""Sampler of the figure on the speed of a sweep: no start, so that each sweep is counted."""
CONVERGED = PathSampler(sweeps=400, anneal=100, warmup=100, chains=4, rng=3)
"""Sampler of the figure on convergence; its chains run on all processors."""

PUBLISHED: dict[str, Defense] = {
    "Mondrian k=2, l=2": Mondrian(KAnonymity(2) & DistinctDiversity(2)),
    "JSReduce, patience=50": JSReduce(3, 0.5, 0.6, patience=50),
    "UHRA(3, .5, .6)": UHRA(3, 0.5, 0.6),
    "Anatomy(2)": Anatomy(2),
}


def published(name: str) -> tuple[Simulation, tuple[Release, ...]]:
    """Exams, and their releases by a defense that assumes an Omega adversary."""
    simulation, defender = subject()
    return simulation, publish(simulation.history, PUBLISHED[name], defender, rng=seeded(1))


def js_reduce(patience: int | None) -> Work:
    simulation, adversary = subject()
    defense = JSReduce(3, 0.5, 0.6, patience=patience)
    return lambda: SequentialAttack(adversary)(publish(simulation.history, defense, adversary, rng=seeded(1)))


def mondrian_of_exams() -> Work:
    views = subject()[0].history
    return lambda: publish(views, PUBLISHED["Mondrian k=2, l=2"], rng=seeded(1))


def attack(name: str, estimator: Estimator) -> Work:
    """Sequential attack; groups of JSReduce are larger, and `Exact` exceeds its limit in some of them."""
    simulation, releases = published(name)
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
    return lambda: SequentialAttack(adversary)(releases)


def joint(name: str, solver: JointSolver, hindsight: bool = True) -> Work:
    """Joint attack on all 24 releases of the exams."""
    simulation, releases = published(name)
    return lambda: JointAttack(Adversary(simulation.prior, simulation.transitions), solver, hindsight)(releases)


def knowing(part: str) -> Work:
    """Joint attack on Mondrian's releases by an adversary with one more part of knowledge: presence, couples, or none."""
    simulation, releases = published("Mondrian k=2, l=2")
    people, m = simulation.history.respondents, len(simulation.history.schema.values)
    parts: dict[str, dict[str, Presence | Relations]] = {
        "": {},
        "presence": {"presence": Presence.fit(simulation.history, pseudo_count=0.5)},
        "relations": {"relations": Relations(nx.Graph(zip(people[::2], people[1::2], strict=False)), 1 + np.eye(m))},
    }
    adversary = Adversary(simulation.prior, simulation.transitions, **parts[part])  # type: ignore[arg-type]
    return lambda: JointAttack(adversary)(releases)


def joint_of_noise() -> Work:
    """Joint attack on noisy counts of 16 cells at each release of the exams."""
    simulation, _ = subject()
    releases = publish(simulation.history, NoisyCounts(16, 24, gain=0.1, rng=1))
    return lambda: JointAttack(Adversary(simulation.prior, simulation.transitions))(releases)


def noisy_counts(records: int) -> Work:
    """Noisy counts of one view of exams, in cells cut from it, with noise by OpenDP."""
    views = exams(views=1, records=records, rng=seeded()).history
    return lambda: publish(views, NoisyCounts(16, 24, gain=0.1))


def learned(name: str) -> Work:
    _, releases = published(name)
    return lambda: LearnedKnowledge.fit(releases)


def learned_of_many() -> Work:
    """Law learned from releases whose groups, of 55 respondents of equal quasi-identifiers, stay together."""
    simulation = exams(views=12, records=100_000, rng=seeded())
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    releases = publish(simulation.history, Mondrian(KAnonymity(5)), adversary)
    return lambda: LearnedKnowledge.fit(releases, classes={"age": 3, "gender": 2, "weight": 3})


def converged(name: str) -> Work:
    """Joint attack by four chains; raises RuntimeError if more than 1 % of the beliefs have an R-hat over 1.05."""
    simulation, releases = published(name)
    adversary = Adversary(simulation.prior, simulation.transitions)

    def work() -> object:
        posterior = CONVERGED(joint_history(adversary, [release.observation for release in releases]).problem)
        if posterior.unconverged_share > 0.01:
            raise RuntimeError(f"{posterior.unconverged_share:.2%} of the beliefs have an R-hat over 1.05.")
        return posterior

    return work


def respondents(number: int, solver: JointSolver) -> Work:
    """A solver on five releases of the given number of records each, in groups of five that are drawn anew at each."""
    simulation = exams(5, number, rng=seeded(1))
    observations = [release.observation for release in publish(simulation.history, Anatomy(5), rng=seeded(1))]
    problem = joint_history(Adversary(simulation.prior, simulation.transitions), observations).problem
    del simulation, observations
    return lambda: solver(problem)


def bayframe() -> Work:
    """Publish with JS-reduce under BayFrame's adversary, a tenth of the records compromised, and attack with both cascades."""
    simulation, _ = subject()
    records = CompromisedRecords.sample(simulation.history, 0.1, 0.9, rng=seeded(2019))
    known = CompromisedRecords(records.frame, contradicted="report")
    adversaries = [
        Adversary(simulation.prior, simulation.transitions, known, DirichletMultinomial(), cascade, revision="chain")
        for cascade in (PriorCascade(normalized=False), PosteriorCascade())
    ]
    defense = PUBLISHED["JSReduce, patience=50"]
    return lambda: [SequentialAttack(a)(publish(simulation.history, defense, a, rng=seeded(1))) for a in adversaries]


def one_group(estimator: Estimator) -> Work:
    rng = seeded(1)
    values = rng.integers(0, 19, 1000)
    prior, counts = rng.dirichlet(np.ones(19), 1000), np.bincount(values, minlength=19)[None]
    problem = Problem(prior, np.zeros(1000, dtype=np.int64), counts)
    return lambda: estimator(problem)


def mondrian(requirement: Requirement, rows: int | None = None) -> Work:
    view = census(rows)
    prior = UniformPrior()(view.people)
    return lambda: Mondrian(requirement)(view, prior, ())


DEFENSES: dict[str, Callable[[], Defense]] = {
    "Anatomy(2)": lambda: Anatomy(2, rng=seeded(7)),
    "BKAA(3, 5, .6)": lambda: BKAA(3, 5, 0.6),
    "BKAA(3, 5, .6, patience=50)": lambda: BKAA(3, 5, 0.6, patience=50),
    "FullDomain(k=3, l=2)": lambda: FullDomain(ANONYMOUS),
    "Injector(2)": lambda: Injector(2, rng=seeded(7)),
    "JSReduce(3, .5, .6)": lambda: JSReduce(3, 0.5, 0.6),
    "JSReduce(3, .5, .6, patience=50)": lambda: JSReduce(3, 0.5, 0.6, patience=50),
    "KPrimacy(3, 5, .6)": lambda: KPrimacy(3, 5, 0.6),
    "MASK(3, 2)": lambda: MASK(3, 2, rng=seeded(7)),
    "MInvariance(2)": lambda: MInvariance(2, rng=seeded(7)),
    "Mondrian(k=3, l=2)": lambda: Mondrian(ANONYMOUS),
    "UHRA(3, .5, .6)": lambda: UHRA(3, 0.5, 0.6),
}
"""Functions that make each timed defense, with the same random generator in every run."""


def on_a_view(make: Callable[[], Defense], later: bool = False) -> Work:
    """One view of 5,000 exams under the exact prior, or the fourth view under the prior revised by three releases."""
    (simulation, adversary), memory = subject(), Memory()
    views = simulation.history.views
    past = publish(views[:3], make(), adversary, rng=seeded(1)) if later else ()
    for release in past:
        _, memory = adversary.observe(memory, release.observation)
    view = views[len(past)]
    prior = adversary.revise(memory, view.people) if later else simulation.prior(view.people)
    return lambda: make()(view, prior, past)


def on_the_census(make: Callable[[], Defense], rows: int | None = None, classes: bool = True) -> Work:
    """Adult under class frequencies (three classes of age; sex, race, marital status, education in full) or uniform priors."""
    view = census(rows)
    known = ClassFrequencies.fit(History([view]), {**dict.fromkeys(ADULT_QI), "age": 3}, 0.1)
    prior = known(view.people) if classes else UniformPrior()(view.people)
    return lambda: make()(view, prior, ())


def on_many_exams(name: str, records: int) -> Work:
    """One view of exams with the given number of records, all of different respondents (a bootstrap repeats them)."""
    simulation = exams(views=1, records=records, rng=seeded())
    view = simulation.history.views[0]
    prior = simulation.prior(view.people)
    return lambda: DEFENSES[name]()(view, prior, ())


def queries(make: Callable[[], Defense]) -> Work:
    (release,) = publish([census(None)], make(), rng=seeded(1))
    workload = Workload.draw([release.view], rng=seeded(1))
    return lambda: query_error([release], workload)


def linkage() -> Work:
    view = census(None)
    release = Release(view, Mondrian(K5)(view, UniformPrior()(view.people), ()))
    return lambda: record_linkage([release])


COMMAND = "import sys; from foreknow.app.cli.command_line import main; sys.argv = ['foreknow', *{}]; main()"


def spent(program: str) -> Work:
    """Processor time of a fresh Python process that runs a program."""

    def work() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return work


ROLES = ["--qi", "age", "--qi", "gender", "--qi", "weight", "--sensitive", "result", "--time", "week"]


@cache
def published_exams() -> "TemporaryDirectory[str]":
    """Folder of simulated exams, 8 releases of 3,000 records, and of their publication; it is removed at the end of the process."""
    folder = TemporaryDirectory()
    table, made = f"{folder.name}/exams.csv", f"{folder.name}/release"
    records = ["--records", "3000", "--releases", "8"]
    spent(COMMAND.format(["simulate", "exams", *records, "--seed", "1", "--out", table]))()
    spent(COMMAND.format(["publish", table, *ROLES, "--seed", "1", "--infeasible", "suppress", "--out", made]))()
    return folder


def command(name: str, *more: str) -> Work:
    """A command of the terminal on `published_exams`."""
    folder = published_exams().name
    groups, out = f"{folder}/release/private/groups.csv", f"{folder}/{'page.html' if name == 'report' else 'beliefs'}"
    return spent(
        COMMAND.format([name, f"{folder}/exams.csv", *ROLES, "--groups", groups, "--out", out, "--overwrite", *more])
    )


LIMITS = {"UHRA": 20.0, "KPrimacy": 20.0, "FullDomain": 20.0, "MASK": 20.0, "Injector": 20.0}
"""Limit on Adult in seconds, by defense; all others have a limit of one second."""

SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("UHRA", "KPrimacy"), (10_000, 20_000, 40_000, 100_000)),
    "BKAA(3, 5, .6)": (10_000, 20_000, 40_000),
    "Injector": (10_000, 20_000, 40_000, 100_000, 1_000_000),
    **dict.fromkeys(("MASK", "MInvariance"), (100_000, 1_000_000)),
}
"""Numbers of rows of Adult that defenses group, by the beginning of their name: for growth and memory."""

EXAMS = "exams 24 x 5,000"
ADULT_RECORDS = "Adult 45,222"
REDUCE_50 = "JSReduce(3, .5, .6, patience=50)"
STARTS = {
    "import foreknow.models": (0.5, "import foreknow.models"),
    "View and History": (None, "from foreknow.models import View, History"),
    "all names of foreknow.models": (None, "from foreknow.models import *"),
    "foreknow --help": (1.0, COMMAND.format(["--help"])),
    "foreknow publish --help": (None, COMMAND.format(["publish", "--help"])),
}
"""Limit, and program, of the figures of imports and help texts."""

ATTACKS: dict[str, tuple[float | None, Callable[[], Estimator]]] = {
    "DirichletMultinomial": (3.0, DirichletMultinomial),
    "Sinkhorn": (5.0, Sinkhorn),
    "BeliefPropagation": (10.0, BeliefPropagation),
    "SwapChain": (30.0, lambda: SwapChain(rng=seeded(3))),
    "Auto": (20.0, Auto),
}
"""Limit, and estimator, of the attacks on Mondrian and on JSReduce."""

JOINT: dict[str, tuple[float | None, Callable[[str], Work]]] = {
    "GroupMessages on": (None, lambda name: joint(name, GroupMessages())),
    "MaxEntropy to 1 % on": (6.0, lambda name: joint(name, PERCENT)),
    "MaxEntropy to 1 % on all prefixes of": (30.0, lambda name: joint(name, PERCENT, hindsight=False)),
    "PathSampler, 400 sweeps of one chain, on": (15.0, lambda name: joint(name, SWEEPS)),
    "PathSampler, 400 sweeps of one chain and the 300 of its start, on": (
        None,
        lambda name: joint(name, PathSampler(sweeps=400, chains=1, rng=3)),
    ),
    "LearnedKnowledge from": (60.0, learned),
}
"""Limit, and work on the releases of a defense."""

REQUIREMENTS: dict[str, tuple[float, Requirement]] = {
    "k=5": (0.08, K5),
    "k=5, l=2": (0.12, K5 & DistinctDiversity(2)),
    "k=5, t=.5": (0.15, K5 & TCloseness(0.5)),
    "k=5, enhanced beta=2": (1.0, K5 & BetaLikeness(2)),
    "k=5, (B,t)-privacy (.5, .8)": (1.0, K5 & BTPrivacy(0.5, 0.8)),
    "k=5, skyline (.3, .8), (.5, .7)": (1.0, K5 & BTPrivacy.skyline([(0.3, 0.8), (0.5, 0.7)])),
    "k=5, posterior bound .5": (1.0, K5 & PosteriorBound(0.5)),
}
"""Limit, and requirement of Mondrian on Adult."""

FIGURES: dict[str, Figure] = {
    f"{EXAMS}: JSReduce(3, .5, .6) as printed, and an Omega attack": Figure(1.0, partial(js_reduce, None)),
    f"{EXAMS}: the same with patience=50": Figure(None, partial(js_reduce, 50)),
    f"{EXAMS}: Mondrian k=2, l=2": Figure(None, mondrian_of_exams),
    f"{EXAMS}: Exact attack on Mondrian k=2, l=2": Figure(5.0, partial(attack, "Mondrian k=2, l=2", Exact())),
    f"{EXAMS}: Omega attack on Mondrian k=2, l=2": Figure(None, partial(attack, "Mondrian k=2, l=2", Omega())),
    **{
        f"{EXAMS}: {rule} attack on {shown}": Figure(limit, partial(attack, name, make()))
        for shown, name in (("Mondrian k=2, l=2", "Mondrian k=2, l=2"), ("JSReduce", "JSReduce, patience=50"))
        for rule, (limit, make) in ATTACKS.items()
    },
    f"{EXAMS}: BayFrame, published and attacked with both cascades": Figure(15.0, bayframe),
    "ConfidenceSum on one group of 1,000": Figure(0.1, partial(one_group, ConfidenceSum())),
    "DirichletMultinomial on one group of 1,000": Figure(0.5, partial(one_group, DirichletMultinomial())),
    **{
        f"{ADULT_RECORDS}: Mondrian {name}": Figure(limit, partial(mondrian, requirement))
        for name, (limit, requirement) in REQUIREMENTS.items()
    },
    **{
        f"Adult {rows:,} rows: Mondrian k=5": Figure(None, partial(mondrian, K5, rows))
        for rows in (10_000, 100_000, 1_000_000)
    },
    **{f"one view of 5,000 exams: {name}": Figure(1.0, partial(on_a_view, make)) for name, make in DEFENSES.items()},
    **{
        f"the fourth view of 5,000 exams, priors revised: {name}": Figure(1.0, partial(on_a_view, make, later=True))
        for name, make in DEFENSES.items()
    },
    **{
        f"{ADULT_RECORDS}: {name}": Figure(LIMITS.get(name.split("(")[0], 1.0), partial(on_the_census, make))
        for name, make in DEFENSES.items()
    },
    f"{ADULT_RECORDS}: 10,000 queries on Mondrian k=5": Figure(5.0, partial(queries, lambda: Mondrian(K5))),
    f"{ADULT_RECORDS}: 10,000 queries on Anatomy(2), bucketized": Figure(5.0, partial(queries, DEFENSES["Anatomy(2)"])),
    f"{ADULT_RECORDS}: record linkage on Mondrian k=5": Figure(None, linkage),
    **{
        f"10^{power} exams: {name}": Figure(limit, partial(on_many_exams, name, 10**power))
        for power, name, limit in (
            (5, REDUCE_50, None),
            (6, REDUCE_50, 20.0),
            (6, "Mondrian(k=3, l=2)", 20.0),
            (6, "Anatomy(2)", None),
        )
    },
    **{
        f"Adult {rows:,} rows: {REDUCE_50}": Figure(limit, partial(on_the_census, DEFENSES[REDUCE_50], rows, False))
        for rows, limit in ((100_000, None), (1_000_000, 20.0))
    },
    **{
        f"Adult {rows:,} rows: {name}": Figure(None, partial(on_the_census, make, rows))
        for prefix, sizes in SIZES.items()
        for name, make in DEFENSES.items()
        for rows in sizes
        if name.startswith(prefix)
    },
    **DISK_FIGURES,
    **FOREGROUND_FIGURES,
    **{
        f"{EXAMS}: {step} {name}": Figure(limit, partial(make, name))
        for step, (limit, make) in JOINT.items()
        for name in PUBLISHED
    },
    **{
        f"{EXAMS}: GroupGraph{title} on Mondrian k=2, l=2": Figure(None, partial(knowing, part))
        for part, title in (("", ""), ("presence", " with presence"), ("relations", " with relations of couples"))
    },
    f"{EXAMS}: GroupGraph on NoisyCounts of 16 cells": Figure(None, joint_of_noise),
    "100,000 x 12 exams: LearnedKnowledge from Mondrian k=5": Figure(60.0, learned_of_many),
    "10^6 exams: NoisyCounts of 16 cells, by OpenDP": Figure(2.0, partial(noisy_counts, 10**6)),
    f"{EXAMS}: PathSampler, four chains to an R-hat under 1.05 for 99 % of beliefs, on Mondrian k=2, l=2": Figure(
        60.0, partial(converged, "Mondrian k=2, l=2")
    ),
    **{
        f"5 releases of {number:,} records in groups of 5: {name}": Figure(limit, partial(respondents, number, solver))
        for name, solver, largest in (("GroupMessages", GroupMessages(), None), ("MaxEntropy to 1 %", PERCENT, 300.0))
        for number, limit in ((10_000, None), (100_000, None), (1_000_000, largest))
    },
    **PROGRAM_FIGURES,
    **QUASI_SENSITIVE_FIGURES,
    **{
        f"exams 8 x 3,000: foreknow {' '.join(words)}, in processes of their own": Figure(
            None, partial(command, *words), True
        )
        for words in (("attack",), ("report",), ("report", "--stricter", "0"))
    },
    **{f"start: {name}": Figure(limit, partial(spent, program), True) for name, (limit, program) in STARTS.items()},
}
