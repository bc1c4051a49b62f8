"""Sections 12 to 19 of docs/findings.md, on defenses: ``python benchmarks/defenses.py [section ...]``, about half an hour.

The script also writes the risk-utility maps to docs/. It reads Adult from ../shared/data/adult and ARX's hierarchies from
../shared/data/adult-hierarchies.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from subjects import ADULT, HIERARCHIES, LOW, seeded, ten
from tables import (
    DOCS,
    FORWARD,
    HINDSIGHT,
    Row,
    all_attacks,
    attacked,
    joint_attacks,
    losses,
    print_sections,
    published,
    sequential_attacks,
)

from foreknow.attacks import Attack, SequentialAttack, SnapshotAttack
from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    BetaLikeness,
    Defense,
    FullDomain,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    TCloseness,
    grow,
    publish,
    summarize_records,
)
from foreknow.defenses.algorithms.clustering import prior_clusters
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.evaluation import Workload, adult, compare, exams, risk_utility_map
from foreknow.models import (
    Adversary,
    Auto,
    Categorical,
    ClassFrequencies,
    DirichletMultinomial,
    Estimator,
    History,
    MarkovChain,
    Mixed,
    Numeric,
    Omega,
    People,
    Release,
    Schema,
    Simulation,
    UniformPrior,
    View,
)
from foreknow.models.arrays import FloatArray

ESTIMATORS: dict[str, Estimator] = {
    "Omega": Omega(),
    "Auto": Auto(),
    "DirichletMultinomial": DirichletMultinomial(),
    "Mixed": Mixed(),
}
CLASSES = {"age": 3, "sex": None, "education": None}
SENSITIVE_COST = "cost: certainty penalty, suppressed records in full"


@cache
def simulated(views: int, records: int) -> Simulation:
    return exams(views, records, rng=seeded())


@cache
def census(sensitive: str, *quasi_identifiers: str) -> View:
    return adult(ADULT, sensitive, quasi_identifiers or None, HIERARCHIES)[0]


def knowing(simulation: Simulation, estimator: Estimator = ESTIMATORS["Omega"]) -> Adversary:
    return Adversary(simulation.prior, simulation.transitions, estimator=estimator)


def salaries() -> tuple[View, Adversary]:
    """Adult in the setting of UHRA; for one table, "the incremental method" is the frequencies of classes of people."""
    view = census("salary-class", "age", "sex", "education")
    return view, Adversary(ClassFrequencies.fit(History([view]), CLASSES), estimator=Omega())


def draw(panels: Any, name: str, scale: str = "log") -> None:
    """Save a map; the cost axis is logarithmic where the data sets differ by orders of magnitude."""
    for axes in panels:
        axes.set(xscale=scale, xlabel=SENSITIVE_COST)
    panels[0].figure.savefig(DOCS / name, dpi=110)
    plt.close(panels[0].figure)


SETTINGS_OF_TABLES = {
    "Table 3": [(k, 0.5, 0.8) for k in (3, 5, 10, 15, 20)],
    "Table 4": [(5, 0.5, j) for j in (0.2, 0.3, 0.4, 0.5, 0.6)],
    "Table 5": [(5, t, 0.8) for t in (0.5, 0.6, 0.7, 0.8)],
}
PRINTED = {
    ("Table 3", "UHRA"): (8, 9, 11, 17, 23),
    ("Table 3", "BKA-JS"): (8.8, 13, 14, 20, 25),
    ("Table 3", "k-primacy"): (8, 11, 14, 18, 24),
    ("Table 4", "UHRA"): (9, 9, 10, 11, 10),
    ("Table 4", "BKA-JS"): (11, 11.8, 13, 13, 13),
    ("Table 4", "k-primacy"): (10, 11, 12, 12, 12),
    ("Table 5", "UHRA"): (9, 10, 11, 11),
    ("Table 5", "BKA-JS"): (13, 13, 15, 17),
    ("Table 5", "k-primacy"): (11, 12, 12, 12.8),
}
"""Mean sizes of groups that UHRA's paper prints; every minimum that it prints is k."""


def uhra_tables() -> Iterator[Row]:
    """UHRA, Tables 3 to 5 on Adult: sizes of groups by k, J and t; beta of k-primacy, which the paper does not give, is 1."""
    view, knowledge = salaries()
    prior = knowledge.prior(view.people)
    for (table, name), means in PRINTED.items():
        for (k, t, j), printed in zip(SETTINGS_OF_TABLES[table], means, strict=True):
            algorithm = {"UHRA": UHRA(k, t, j), "k-primacy": KPrimacy(k, 1.0, j)}
            size, lost = sizes(algorithm.get(name, JSReduce(k, t, j, patience=50)), view, prior)
            row = {"table": table, "algorithm": name, "k": k, "t": t, "J": j, "min": size.min(), "mean": size.mean()}
            yield row | {"paper": printed, "suppressed": lost, "groups of k": (size == k).mean()}


def sizes(defense: Defense, view: View, prior: FloatArray) -> tuple[Any, int]:
    labels = defense(view, prior, ()).labels
    return np.unique(labels[labels >= 0], return_counts=True)[1], int((labels < 0).sum())


def uhra_tables_why() -> Iterator[str]:
    """UHRA, Tables 3 to 5: the groups for which t and J bind, and the t at which means are as in the paper."""
    view, knowledge = salaries()
    prior, share = knowledge.prior(view.people), np.bincount(view.sensitive) / len(view)
    far = (1 - share).round(3).tolist()
    yield f"shares of {view.schema.values}: {share.round(3).tolist()}; largest distances, of groups of one value: {far}"
    for j in (0.2, 0.3, 0.4, 0.5, 0.6, 0.8):
        yield f"J = {j}: clusters of {sorted(np.bincount(prior_clusters(prior, j)).tolist(), reverse=True)}"
    order, records = nearest_point_order(view.people), summarize_records(view, prior)
    runs = order[: len(view) // 5 * 5].reshape(-1, 5)
    counts = np.array([np.bincount(view.sensitive[run], minlength=2) for run in runs])
    for t in (0.1, 0.2, 0.25, 0.3, 0.5, 0.8):
        failing = (np.abs(counts / 5 - share).sum(axis=1) / 2 > t).mean()
        grown = np.mean([len(group) for group in grow(records, order, TCloseness(t)).groups])
        size, lost = sizes(UHRA(5, t, 0.8), view, prior)
        yield (
            f"t = {t}: {failing:.3f} of runs of 5 fail; grown by t alone {grown:.2f}; UHRA min {size.min()}, mean "
            f"{size.mean():.2f}, suppressed {lost}"
        )


ALGORITHMS: dict[str, Callable[[int, float, float], Defense]] = {
    "UHRA": UHRA,
    "BKA-JS, patience=50": lambda k, t, j: JSReduce(k, t, j, patience=50),
    "BKA-JS, as printed": JSReduce,
    "k-primacy, beta=5": lambda k, _, j: KPrimacy(k, 5, j),
}
OTHERS: dict[str, Callable[[int, float, float], Defense]] = {
    "UHRA, one sweep": lambda k, t, j: UHRA(k, t, j, sweeps=1),
    # With one cluster, BKAA without beta grows the groups of UHRA and does not refine them.
    "UHRA, not refined": lambda k, t, j: BKAA(k, None, j, also=TCloseness(t)),
    "UHRA, one cluster": lambda k, t, _: UHRA(k, t, 1.0),
    "k-primacy, beta=1": lambda k, _, j: KPrimacy(k, 1, j),
    "UHRA, beta=5 for t": lambda k, _, j: UHRA(k, 1.0, j, also=BetaLikeness(5)),
    "UHRA, beta=5 for t, not refined": lambda k, _, j: BKAA(k, 5, j),
    "BKA-JS, beta=5 for t": lambda k, _, j: JSReduce(k, 1.0, j, also=BetaLikeness(5), patience=50),
}
SETTINGS = {
    "k": [(k, 0.5, 0.8) for k in (3, 5, 10, 15, 20)],
    "j": [(5, 0.5, j) for j in (0.2, 0.4, 0.6, 0.8)],
    "t": [(5, t, 0.8) for t in (0.5, 0.6, 0.7, 0.8)],
}


def uhra_points(settings: list[tuple[int, float, float]], algorithms: Mapping[str, Any]) -> list[Row]:
    """Rows of each algorithm at each setting: on Adult, on the first of six views of exams, on the five later views."""
    (view, knowledge), simulation, rows = salaries(), simulated(6, 4000), []
    for (k, t, j), (name, algorithm) in itertools.product(settings, algorithms.items()):
        releases = publish(simulation.history, algorithm(k, t, j), knowing(simulation), rng=seeded(1))
        parts = {"exams, view 1": releases[:1], "exams, views 2 to 6": releases[1:]}
        parts["Adult"] = publish([view], algorithm(k, t, j), knowledge, rng=seeded(1))
        rows += [{"data": data, "k": k, "t": t, "j": j, "defense": name} | losses(part) for data, part in parts.items()]
    return sorted(rows, key=lambda row: str(row["data"]))


def uhra_maps() -> Iterator[Row]:
    """UHRA, Figures 1 to 3: record linkage against GCP by k, J and t; pictures show equal points once, with the smallest value."""
    for along, settings in SETTINGS.items():
        points = uhra_points(settings, ALGORITHMS)
        yield from points
        table = pd.DataFrame(points).rename(columns={"gcp": "of the published", "penalized": "gcp"})
        seen = table.round(4).duplicated(["data", "defense", "gcp", "linkage"])
        draw(risk_utility_map(table[~seen], "linkage", "gcp", along, panel="data"), f"risk-utility-{along}.png")


def uhra_why() -> Iterator[Row | str]:
    """Effect of refinement and of the requirement at k = 5, t = .5, J = .8; largest shares that the requirements allow."""
    yield from uhra_points([(5, 0.5, 0.8)], ALGORITHMS | OTHERS)
    for name, view in (("Adult", salaries()[0]), ("exams", simulated(6, 4000).history[0])):
        share = np.sort(np.bincount(view.sensitive) / len(view))[::-1]
        most = share * (1 + np.minimum(5, -np.log(share)))
        yield f"{name}: beta=5 bounds the shares {share.round(3).tolist()} by {most.round(3).tolist()}"
    best = {size: round(float(np.maximum(1 / size - share[:size], 0).sum()), 3) for size in (3, 4, 5, 8, 10, 12)}
    yield f"exams: least distance from the table of a group of distinct values, by its size: {best}"


def uhra_joint(records: int = 4000) -> Iterator[Row]:
    """UHRA, Figures 1 to 3 on exams: the publications at k = 5, t = .5, J = .8 under sequential and joint attacks."""
    simulation = simulated(6, records)
    algorithms = ALGORITHMS | {"UHRA, one cluster": OTHERS["UHRA, one cluster"]}
    defenses = {name: algorithm(5, 0.5, 0.8) for name, algorithm in algorithms.items()}
    releases = published(simulation.history, defenses, knowing(simulation))
    return attacked(simulation.history, releases, all_attacks(simulation.prior, simulation.transitions))


def uhra_joint_over(records: int = 2000) -> Iterator[Row]:
    """UHRA, Figures 1 to 3 on exams, with the gain of adversaries for linkage: by k, J and t, as a table and pictures."""
    simulation, rows = simulated(6, records), []
    attacks = all_attacks(simulation.prior, simulation.transitions)
    attacks = {name: attacks[name] for name in ("sequential, Auto", FORWARD, HINDSIGHT)}
    for k, t, j in {setting: None for along in SETTINGS.values() for setting in along}:
        defenses = {name: algorithm(k, t, j) for name, algorithm in ALGORITHMS.items()}
        releases = published(simulation.history, defenses, knowing(simulation))
        rows += [{"k": k, "t": t, "j": j} | row for row in attacked(simulation.history, releases, attacks)]
    table = pd.DataFrame(rows).drop(columns="gcp").rename(columns={"penalized": "gcp"})
    for along, values in SETTINGS.items():
        kept = table[pd.MultiIndex.from_frame(table[["k", "t", "j"]]).isin(values)]
        kept = kept[~kept[["defense", "adversary", "gcp", "gain"]].round(4).duplicated()]
        draw(risk_utility_map(kept, "gain", "gcp", along, panel="adversary"), f"risk-utility-joint-{along}.png")
    return iter(rows)


PUBLISHED: dict[str, Defense] = {
    "JSReduce, patience=50": JSReduce(3, 0.5, 0.6, patience=50),
    "JSReduce, as printed": JSReduce(3, 0.5, 0.6),
    "BKAA, patience=50": BKAA(3, 5, 0.6, patience=50),
    "BKAA, as printed": BKAA(3, 5, 0.6),
}


def published_under(
    rules: Mapping[str, Estimator], simulation: Simulation, attacks: Mapping[str, Attack], transitions: Any = None
) -> Iterator[Row]:
    """One row per estimator of the defender, defense and attack; the defender's own estimator attacks too."""
    for rule, estimator in rules.items():
        known = knowing(simulation, estimator)
        own = {f"sequential, {rule}": SequentialAttack(known)}
        defender = known if transitions is None else replace(known, transitions=transitions, revision="chain")
        for row in attacked(simulation.history, published(simulation.history, PUBLISHED, defender), attacks | own):
            yield {"published under": rule} | row


RULES = {name: ESTIMATORS[name] for name in ("Omega", "DirichletMultinomial", "Mixed")}


def bayframe() -> Iterator[Row]:
    """BayFrame, Figures 9 and 10: BKAA and JSReduce published under each estimator, attacked by the same adversaries."""
    simulation = simulated(24, 4000)
    attacks = sequential_attacks(simulation.prior, simulation.transitions, ESTIMATORS)
    rows = list(published_under(RULES, simulation, attacks))
    table = pd.DataFrame(rows).query("adversary == 'sequential, Auto'")
    table = table.assign(gain=table["gain, largest"], gcp=table["penalized"]).drop(columns="suppressed")
    draw(risk_utility_map(table, "gain", "gcp", panel="published under"), "risk-utility-bayframe.png", "linear")
    return iter(rows)


def bayframe_joint(views: int = 12, records: int = 2000) -> Iterator[Row]:
    """BayFrame, Figure 9, at another size: the publications of `bayframe` under sequential and joint attacks."""
    simulation = simulated(views, records)
    return published_under(RULES, simulation, all_attacks(simulation.prior, simulation.transitions))


def bayframe_sizes() -> Iterator[Row]:
    """BayFrame, Figure 9, for `Mixed` with sizes 4, 8, 16, 32; attacked by the same estimator and by `Auto`."""
    simulation = simulated(24, 4000)
    auto = sequential_attacks(simulation.prior, simulation.transitions, {"Auto": Auto()})
    return published_under({f"Mixed({size})": Mixed(size=size) for size in (4, 8, 16, 32)}, simulation, auto)


def two_steps() -> Iterator[Row]:
    """BayFrame, Figures 3b and 9, "SDTMM": the defender revises the beliefs of two releases before (Equation 4)."""
    simulation = simulated(24, 4000)
    once = simulation.transitions.probabilities
    twice = MarkovChain(2, np.broadcast_to(once, (len(once), *once.shape)).copy(), shorter=(once,))
    omega = sequential_attacks(simulation.prior, simulation.transitions, {"Omega": Omega()})
    return published_under(dict(list(RULES.items())[:2]), simulation, omega, twice)


def ten_on_exams() -> Iterator[str]:
    """Ten defenses on 12 views of 2,000 exams, attacked by the same adversaries; 1,000 queries for all releases."""
    simulation = simulated(12, 2000)
    attacks: dict[str, Attack] = {
        name: SequentialAttack(knowing(simulation, ESTIMATORS[name]))
        for name in ("Omega", "Auto", "DirichletMultinomial")
    }
    attacks |= joint_attacks(Adversary(simulation.prior, simulation.transitions))
    comparison = compare(simulation.history, ten(1), attacks, knowing(simulation), rng=seeded(1))
    table = comparison.summary(Workload.draw(simulation.history, rng=seeded(1), queries=1000))
    yield table.round(4).to_string()
    yield pd.DataFrame({name: losses(releases) for name, releases in comparison.releases.items()}).T.to_string()
    shown = table[table["attack"].isin(["Auto", FORWARD, HINDSIGHT])]
    risk_utility_map(shown, "gain", "query", panel="attack")[0].figure.savefig(DOCS / "risk-utility-ten.png", dpi=110)


def ten_joint() -> Iterator[Row]:
    """The releases of `ten_on_exams` under sequential and joint attacks."""
    simulation = simulated(12, 2000)
    releases = published(simulation.history, ten(1), knowing(simulation))
    return attacked(simulation.history, releases, all_attacks(simulation.prior, simulation.transitions))


def ten_on_adult() -> Iterator[str]:
    """Ten defenses on Adult: 45,222 records; quasi-identifiers age, sex, education; sensitive occupation; 10,000 queries."""
    history = History([census("occupation", "age", "sex", "education")])
    knowledge = Adversary(ClassFrequencies.fit(history, CLASSES), estimator=Omega())
    uniform = {"none": SequentialAttack(Adversary(UniformPrior(), estimator=Omega()))}
    comparison = compare(history, ten(1), uniform, knowledge, rng=seeded(1))
    yield comparison.cost(Workload.draw(history[0], rng=seeded(1))).round(4).to_string()
    yield pd.DataFrame({name: losses(releases) for name, releases in comparison.releases.items()}).T.to_string()


STATES = np.array([0.09, 0.19, 0.49, 0.12, 0.085, 0.01, 0.006, 0.004, 0.003, 0.002])
"""Stationary distribution of the payment states -2 to 7 of `accounts`."""


def accounts(number: int, months: int) -> Simulation:
    """Simulated credit accounts by month: ten ordered payment states, about 82 % unchanged; exact priors by account.

    The states follow a Metropolis chain with the stationary shares `STATES`; the first ones depend on sex, education
    and age, which do not change.
    """
    rng, m = seeded(), len(STATES)
    apart = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    step = 0.25 * 0.5**apart * np.minimum(1, STATES / STATES[:, None]) * (apart > 0)
    step += np.diag(1 - step.sum(axis=1))
    sexes, educations, marriages = (rng.integers(0, size, number) for size in (2, 4, 3))
    age = rng.integers(21, 70, number)
    tilt = 0.5 * sexes + 0.3 * educations - 0.02 * (age - 45)
    prior = STATES * np.exp(0.35 * (tilt - tilt.mean())[:, None] * (np.arange(m) - 2) / 3)
    prior /= prior.sum(axis=1, keepdims=True)
    traits = {
        "sex": sexes.astype(str),
        "education": educations.astype(str),
        "marriage": marriages.astype(str),
        "age": age,
    }
    domains = {
        name: Categorical(tuple(digits)) for name, digits in (("sex", "01"), ("education", "0123"), ("marriage", "012"))
    }
    schema = Schema({**domains, "age": Numeric(21, 69)}, "status", tuple(range(-2, m - 2)), "id")
    views, law = [], prior
    for month in range(1, months + 1):
        state = (law.cumsum(axis=1) > rng.random(number)[:, None]).argmax(axis=1)
        views.append(View(pd.DataFrame({"id": np.arange(number), **traits, "status": state - 2}), schema, month))
        law = step[state]

    def known(people: People) -> FloatArray:
        return prior[people.respondents.astype(int)]

    return Simulation(History(views), known, MarkovChain(1, step))


def laws() -> Iterator[Row]:
    """Attacks with exact knowledge on counterfeits, distorted values and signatures, with and without their laws.

    "Naive" gives counterfeits a uniform prior and takes all published values for true.
    """
    weekly = [MInvariance(5, rng=seeded(1)), MInvariance(2, rng=seeded(1)), MASK(5, 5, rng=seeded(1))]
    monthly = [MInvariance(3, rng=seeded(1)), MInvariance(2, rng=seeded(1)), MASK(5, 2, rng=seeded(1))]
    for data, simulation, defenses in (
        ("exams", simulated(12, 2000), weekly),
        ("accounts", accounts(30_000, 6), monthly),
    ):
        naive, knows = (
            Adversary(simulation.prior, simulation.transitions, estimator=Auto(), **settings)
            for settings in ({"counterfeits": "uniform", "distortion": "ignored"}, {})
        )
        attacks: dict[str, Attack] = {
            "snapshot, naive": SnapshotAttack(naive),
            "snapshot": SnapshotAttack(knows),
            "sequential, naive": SequentialAttack(naive),
            "sequential": SequentialAttack(knows),
        } | joint_attacks(knows)
        releases = published(simulation.history, {repr(defense): defense for defense in defenses})
        for row in attacked(simulation.history, releases, attacks, knows):
            yield {"data": data} | row


def claims() -> Iterator[str]:
    """MASK's groups in the setting of the foreground-knowledge paper, eligibility for Anatomy, full-domain levels."""
    view = census("education", "age", "workclass", "marital-status", "occupation", "race")
    prior, codes = UniformPrior()(view.people), [view.schema.values.index(value) for value in LOW]
    for k in (2, 10):
        for name, defense in (("Mondrian", Mondrian(KAnonymity(k))), ("MASK", MASK(k, k, LOW, rng=seeded(1)))):
            release = Release(view, defense(view, prior, ()))
            size, low = release.counts.sum(axis=1), release.counts[:, codes].sum(axis=1)
            most = np.lexsort((size, low))[-1]
            worlds = [math.comb(int(n), int(x)) for n, x in zip(size, low, strict=True)]
            yield (
                f"{name}, k = l = {k}: {release.groups} groups; at most {low[most]} of the set in a group, of {size[most]}: "
                f"{worlds[most]:,} assignments; the most of any group: {max(worlds):,}"
            )
    counts = np.bincount(view.sensitive)
    worst = int(counts.argmax())
    yield f"{view.schema.values[worst]} is {counts[worst]:,} of {len(view):,}: l at most {len(view) // counts[worst]}"
    table = census("occupation")
    for widths in (None, {"age": (5, 10, 20)}):
        grouping = FullDomain(KAnonymity(5), widths=widths)(table, UniformPrior()(table.people), ())
        yield f"FullDomain k=5, widths {widths}: {grouping.labels.max() + 1} groups; {' '.join(map(str, grouping.notes))}"


SECTIONS = (
    uhra_tables, uhra_tables_why, uhra_maps, uhra_why, uhra_joint, uhra_joint_over, bayframe, bayframe_joint,
    bayframe_sizes, two_steps, ten_on_exams, ten_joint, ten_on_adult, laws, claims,
)  # fmt: skip

if __name__ == "__main__":
    print_sections(SECTIONS)
