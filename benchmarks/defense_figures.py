"""Timed figures: defenses, requirements on beliefs, counting queries, record linkage."""

from collections.abc import Callable
from functools import partial

import numpy as np
from subjects import ADULT_QI, Figure, census, history

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
    PosteriorBound,
    Requirement,
    TCloseness,
    publish,
)
from foreknow.evaluation import Workload, exams, query_error, record_linkage
from foreknow.models import Adversary, ClassFrequencies, History, Memory, Omega, Release, UniformPrior


def mondrian(requirement: Requirement, rows: int | None = None) -> Callable[[], object]:
    view = census(rows)
    prior = UniformPrior()(view.people)
    return lambda: Mondrian(requirement)(view, prior, ())


def mask() -> Defense:
    """A random generator with the same draws in every run."""
    return MASK(3, 2, rng=np.random.default_rng(7))


def timed(anonymous: Requirement) -> dict[str, Callable[[], Defense]]:
    """Functions that make each timed defense; a function, because MASK holds its random generator."""
    return {
        "Anatomy(2)": lambda: Anatomy(2, rng=np.random.default_rng(7)),
        "BKAA(3, 5, .6)": lambda: BKAA(3, 5, 0.6),
        "BKAA(3, 5, .6, patience=50)": lambda: BKAA(3, 5, 0.6, patience=50),
        "FullDomain(k=3, l=2)": lambda: FullDomain(anonymous),
        "Injector(2)": lambda: Injector(2, rng=np.random.default_rng(7)),
        "JSReduce(3, .5, .6)": lambda: JSReduce(3, 0.5, 0.6),
        "JSReduce(3, .5, .6, patience=50)": lambda: JSReduce(3, 0.5, 0.6, patience=50),
        "KPrimacy(3, 5, .6)": lambda: KPrimacy(3, 5, 0.6),
        "MASK(3, 2)": mask,
        "MInvariance(2)": lambda: MInvariance(2, rng=np.random.default_rng(7)),
        "Mondrian(k=3, l=2)": lambda: Mondrian(anonymous),
        "UHRA(3, .5, .6)": lambda: UHRA(3, 0.5, 0.6),
    }


def on_a_view(make: Callable[[], Defense], later: bool = False) -> Callable[[], object]:
    """One view of 5,000 exams under the exact prior, or the fourth view under the prior revised by three releases."""
    simulation = history()
    views = list(simulation.history)
    if not later:
        prior = simulation.prior(views[0].people)
        return lambda: make()(views[0], prior, ())
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    past = publish(views[:3], make(), adversary, rng=np.random.default_rng(1))
    memory = Memory()
    for release in past:
        _, memory = adversary.observe(memory, release.observation)
    revised = adversary.revise(memory, views[3].people)
    return lambda: make()(views[3], revised, past)


def on_the_census(make: Callable[[], Defense], rows: int | None = None, classes: bool = True) -> Callable[[], object]:
    """Adult under class frequencies (three classes of age; sex, race, marital status, education in full) or uniform priors."""
    view = census(rows)
    known = ClassFrequencies.fit(History([view]), {**dict.fromkeys(ADULT_QI), "age": 3}, 0.1)
    prior = known(view.people) if classes else UniformPrior()(view.people)
    return lambda: make()(view, prior, ())


def on_many_exams(make: Callable[[], Defense], records: int) -> Callable[[], object]:
    """One view of exams with the given number of records, all of different respondents (a bootstrap repeats them)."""
    simulation = exams(views=1, records=records, rng=np.random.default_rng(2012))
    view = simulation.history.views[0]
    prior = simulation.prior(view.people)
    return lambda: make()(view, prior, ())


def queries(bucketized: bool) -> Callable[[], object]:
    view = census(None)
    prior = UniformPrior()(view.people)
    release = Release(view, (Anatomy(2, rng=np.random.default_rng(7)) if bucketized else Mondrian(K5))(view, prior, ()))
    workload = Workload.draw([view], rng=np.random.default_rng(1))
    return lambda: query_error([release], workload)


def linkage() -> Callable[[], object]:
    view = census(None)
    release = Release(view, Mondrian(K5)(view, UniformPrior()(view.people), ()))
    return lambda: record_linkage([release])


LIMITS = {"UHRA": 20.0, "KPrimacy": 20.0, "FullDomain": 20.0, "MASK": 20.0, "Injector": 20.0}
"""Limit on Adult in seconds, by defense; all others have a limit of one second."""

SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("UHRA", "KPrimacy"), (10_000, 20_000, 40_000, 100_000)),
    "BKAA(3, 5, .6)": (10_000, 20_000, 40_000),
    "Injector": (10_000, 20_000, 40_000, 100_000, 1_000_000),
    **dict.fromkeys(("MASK", "MInvariance"), (100_000, 1_000_000)),
}
"""Numbers of rows of Adult that defenses group, by the beginning of their name: for growth and memory."""

K5 = KAnonymity(5)
DEFENSE_FIGURES: dict[str, Figure] = {
    "Adult 45,222: Mondrian k=5": Figure(0.08, lambda: mondrian(K5)),
    "Adult 45,222: Mondrian k=5, l=2": Figure(0.12, lambda: mondrian(K5 & DistinctDiversity(2))),
    "Adult 45,222: Mondrian k=5, t=.5": Figure(0.15, lambda: mondrian(K5 & TCloseness(0.5))),
    "Adult 10,000 rows: Mondrian k=5": Figure(None, lambda: mondrian(K5, 10**4)),
    "Adult 100,000 rows: Mondrian k=5": Figure(None, lambda: mondrian(K5, 10**5)),
    "Adult 1,000,000 rows: Mondrian k=5": Figure(None, lambda: mondrian(K5, 10**6)),
    **{
        f"one view of 5,000 exams: {name}": Figure(1.0, partial(on_a_view, make))
        for name, make in timed(KAnonymity(3) & DistinctDiversity(2)).items()
    },
    **{
        f"the fourth view of 5,000 exams, priors revised: {name}": Figure(1.0, partial(on_a_view, make, later=True))
        for name, make in timed(KAnonymity(3) & DistinctDiversity(2)).items()
    },
    **{
        f"Adult 45,222: {name}": Figure(LIMITS.get(name.split("(")[0], 1.0), partial(on_the_census, make))
        for name, make in timed(KAnonymity(3) & DistinctDiversity(2)).items()
    },
    "Adult 45,222: Mondrian k=5, enhanced beta=2": Figure(1.0, lambda: mondrian(K5 & BetaLikeness(2))),
    "Adult 45,222: Mondrian k=5, (B,t)-privacy (.5, .8)": Figure(1.0, lambda: mondrian(K5 & BTPrivacy(0.5, 0.8))),
    "Adult 45,222: Mondrian k=5, skyline (.3, .8), (.5, .7)": Figure(
        1.0, lambda: mondrian(K5 & BTPrivacy.skyline([(0.3, 0.8), (0.5, 0.7)]))
    ),
    "Adult 45,222: Mondrian k=5, posterior bound .5": Figure(1.0, lambda: mondrian(K5 & PosteriorBound(0.5))),
    "Adult 45,222: 10,000 queries on Mondrian k=5": Figure(5.0, lambda: queries(False)),
    "Adult 45,222: 10,000 queries on Anatomy(2), bucketized": Figure(5.0, lambda: queries(True)),
    "Adult 45,222: record linkage on Mondrian k=5": Figure(None, linkage),
    "10^5 exams: JSReduce(3, .5, .6, patience=50)": Figure(
        None, partial(on_many_exams, lambda: JSReduce(3, 0.5, 0.6, patience=50), 10**5)
    ),
    "10^6 exams: JSReduce(3, .5, .6, patience=50)": Figure(
        20.0, partial(on_many_exams, lambda: JSReduce(3, 0.5, 0.6, patience=50), 10**6)
    ),
    "10^6 exams: Mondrian(k=3, l=2)": Figure(
        20.0, partial(on_many_exams, lambda: Mondrian(KAnonymity(3) & DistinctDiversity(2)), 10**6)
    ),
    "10^6 exams: Anatomy(2)": Figure(
        None, partial(on_many_exams, lambda: Anatomy(2, rng=np.random.default_rng(7)), 10**6)
    ),
    "Adult 100,000 rows: JSReduce(3, .5, .6, patience=50)": Figure(
        None, lambda: on_the_census(lambda: JSReduce(3, 0.5, 0.6, patience=50), 10**5, classes=False)
    ),
    "Adult 1,000,000 rows: JSReduce(3, .5, .6, patience=50)": Figure(
        20.0, lambda: on_the_census(lambda: JSReduce(3, 0.5, 0.6, patience=50), 10**6, classes=False)
    ),
    **{
        f"Adult {rows:,} rows: {name}": Figure(None, partial(on_the_census, make, rows))
        for prefix, sizes in SIZES.items()
        for name, make in timed(KAnonymity(3) & DistinctDiversity(2)).items()
        for rows in sizes
        if name.startswith(prefix)
    },
}
