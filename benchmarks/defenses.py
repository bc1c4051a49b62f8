"""Comparisons of defenses from the papers: ``python benchmarks/defenses.py [section ...]``, about ten minutes on two cores.

The script prints the tables of docs/findings.md on defenses and writes the risk-utility maps to docs/. It reads Adult from
../shared/data/adult and ARX's hierarchies from ../shared/data/adult-hierarchies.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from foreknow.attacks import Attack, SequentialAttack, SignatureAttack, SnapshotAttack
from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    Anatomy,
    BetaLikeness,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    TCloseness,
    publish,
)
from foreknow.evaluation import (
    Comparison,
    Workload,
    adult,
    adversary_gain,
    compare,
    disclosures,
    exams,
    gcp,
    log_score,
    record_linkage,
    risk_utility_map,
    suppressed,
)
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
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

DOCS = Path(__file__).resolve().parents[1] / "docs"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
ESTIMATORS: dict[str, Estimator] = {
    "Omega": Omega(),
    "Auto": Auto(),
    "DirichletMultinomial": DirichletMultinomial(),
    "Mixed": Mixed(),
}
CLASSES = {"age": 3, "sex": None, "education": None}
SHOWN = [0, 1, 3, 6, 11, 23]

type Row = dict[str, Any]


def seeded(seed: int = 2012) -> np.random.Generator:
    return np.random.default_rng(seed)


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Markdown table of rows with the same columns; each line is printed as soon as it is computed."""
    for number, row in enumerate(rows):
        if not number:
            yield f"| {' | '.join(row)} |"
            yield f"|{'---|' * len(row)}"
        yield f"| {' | '.join(map(written, row.values()))} |"


def written(cell: object) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.3g}" if abs(cell) >= 1 else f"{cell:.4f}"


@cache
def simulated(views: int, records: int) -> Simulation:
    return exams(views, records, rng=seeded())


@cache
def census(sensitive: str, *quasi_identifiers: str, hierarchies: bool = True) -> View:
    return adult(
        DATA / "adult", sensitive, quasi_identifiers or None, DATA / "adult-hierarchies" if hierarchies else None
    )


def salaries() -> tuple[View, Adversary]:
    """Adult in the setting of UHRA; for one table, "the incremental method" is the frequencies of classes of people."""
    view = census("salary-class", "age", "sex", "education")
    return view, Adversary(ClassFrequencies.fit(History([view]), CLASSES), estimator=Omega())


def knowing(simulation: Simulation, estimator: str = "Omega") -> Adversary:
    return Adversary(simulation.prior, simulation.transitions, estimator=ESTIMATORS[estimator])


# UHRA's Figures 1 to 3.

UNREFINED = 10.0**9
"""A beta that never binds: with one cluster, BKAA then grows the groups of UHRA and does not refine them."""

ALGORITHMS: dict[str, Callable[[int, float, float], Defense]] = {
    "UHRA": UHRA,
    "BKA-JS, patience=50": lambda k, t, j: JSReduce(k, t, j, patience=50),
    "BKA-JS, as printed": JSReduce,
    "k-primacy, beta=5": lambda k, _, j: KPrimacy(k, 5, j),
}
OTHERS: dict[str, Callable[[int, float, float], Defense]] = {
    "UHRA, one sweep": lambda k, t, j: UHRA(k, t, j, sweeps=1),
    "UHRA, not refined": lambda k, t, j: BKAA(k, UNREFINED, j, enhanced=False, also=TCloseness(t)),
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


def measured(releases: tuple[Release, ...]) -> Row:
    """Loss and linkage, over all releases."""
    lost, plain = suppressed(releases), gcp(releases)
    penalized, linkage = gcp(releases, penalize_suppressed=True), record_linkage(releases)
    records, published = lost["records"].sum(), plain["measured"].sum()
    whole = len(releases[0].view.schema.quasi_identifiers)
    return {
        "suppressed": lost["suppressed"].sum() / records,
        "size": published / max(sum(release.groups for release in releases), 1),
        "gcp": plain["total"].sum() / (whole * published) if published else math.nan,
        "penalized": penalized["total"].sum() / (whole * records),
        "linkage": linkage["linkage_sum"].sum() / records,
        "linked": linkage["linked"].sum() / max(published, 1),
    }


def uhra_points(settings: Iterable[tuple[int, float, float]], algorithms: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of each algorithm at each setting: on Adult, on the first of six views of exams, on the five later views."""
    (view, knowledge), simulation = salaries(), simulated(6, 4000)
    for k, t, j in settings:
        for name, algorithm in algorithms.items():
            defense = algorithm(k, t, j)
            releases = publish(simulation.history, defense, knowing(simulation), rng=seeded(1))
            parts = {"exams, view 1": releases[:1], "exams, views 2 to 6": releases[1:]}
            parts["Adult"] = publish([view], defense, knowledge, rng=seeded(1))
            for data, part in parts.items():
                yield {"data": data, "k": k, "t": t, "j": j, "defense": name} | measured(part)


def risk_utility_over(along: str) -> Iterator[str]:
    """Table and picture over one parameter; the picture shows equal points once, with the smallest value."""
    points = list(uhra_points(SETTINGS[along], ALGORITHMS))
    yield from markdown(sorted(points, key=lambda row: (str(row["data"]), list(ALGORITHMS).index(row["defense"]))))
    table = pd.DataFrame(points).rename(columns={"gcp": "of the published", "penalized": "gcp"})
    seen = table.round(4).duplicated(["data", "defense", "gcp", "linkage"])
    figure = risk_utility_map(table[~seen], "linkage", "gcp", along, panel="data")
    draw(figure, f"risk-utility-{along}.png")


def draw(figure: Figure, name: str, scale: str = "log") -> None:
    """Save a map with a logarithmic cost axis, because the data sets differ by orders of magnitude."""
    for axes in figure.axes:
        axes.set(xscale=scale, xlabel="cost: certainty penalty, suppressed records in full")
    figure.savefig(DOCS / name, dpi=110)


def uhra_k() -> Iterator[str]:
    """UHRA, Figure 1: record linkage against GCP by k, at t = .5 and J = .8."""
    yield from risk_utility_over("k")


def uhra_j() -> Iterator[str]:
    """UHRA, Figure 2: record linkage against GCP by J, at t = .5 and k = 5."""
    yield from risk_utility_over("j")


def uhra_t() -> Iterator[str]:
    """UHRA, Figure 3: record linkage against GCP by t, at J = .8 and k = 5; k-primacy has no t."""
    yield from risk_utility_over("t")


def uhra_why() -> Iterator[str]:
    """Effect of refinement and of the requirement at k = 5, t = .5, J = .8; largest shares that the requirements allow."""
    points = uhra_points([(5, 0.5, 0.8)], ALGORITHMS | OTHERS)
    yield from markdown(sorted(points, key=lambda row: str(row["data"])))
    for name, view in (("Adult", salaries()[0]), ("exams", simulated(6, 4000).history[0])):
        share = np.sort(np.bincount(view.sensitive) / len(view))[::-1]
        most = share * (1 + np.minimum(5, -np.log(share)))
        yield f"{name}: beta=5 bounds the shares {share.round(3).tolist()} by {most.round(3).tolist()}"
    best = {size: round(nearest(share, size), 3) for size in (3, 4, 5, 8, 10, 12)}
    yield f"exams: least distance from the table of a group of distinct values, by its size: {best}"


def nearest(share: "np.ndarray[Any, np.dtype[np.float64]]", size: int) -> float:
    """Least distance from the table of a group of ``size`` records with distinct values."""
    return float(np.maximum(1 / size - share[:size], 0).sum())


# BayFrame's Figures 3b, 9 and 10.

PUBLISHED: dict[str, Defense] = {
    "JSReduce, patience=50": JSReduce(3, 0.5, 0.6, patience=50),
    "JSReduce, as printed": JSReduce(3, 0.5, 0.6),
    "BKAA, patience=50": BKAA(3, 5, 0.6, patience=50),
    "BKAA, as printed": BKAA(3, 5, 0.6),
}


def bayframe() -> Iterator[str]:
    """BayFrame, Figures 9 and 10: BKAA and JSReduce published under each estimator, attacked by the same adversaries."""
    simulation, rows = simulated(24, 4000), []
    for rule in ("Omega", "DirichletMultinomial", "Mixed"):
        for name, defense in PUBLISHED.items():
            releases = publish(simulation.history, defense, knowing(simulation, rule), rng=seeded(1))
            rows.append({"published under": rule, "defense": name} | cost(releases))
            for other in ESTIMATORS:
                beliefs = SequentialAttack(knowing(simulation, other))(releases)
                gain = adversary_gain(beliefs, simulation.history)["gain"]
                absolute = adversary_gain(beliefs, simulation.history, absolute=True)["gain"]
                rows[-1][f"{other}: most"] = gain.max()
                rows[-1][f"{other}: end"] = gain.iloc[-1]
                rows[-1][f"{other}: Equation 8"] = absolute.mean()
                if other != "DirichletMultinomial":
                    shown = gain.iloc[SHOWN].round(3).tolist()
                    yield f"{name}, published under {rule}, gain under {other}: {shown}"
    yield from markdown(rows)
    table = pd.DataFrame(rows).drop(columns="suppressed")
    table = table.assign(gain=table["Auto: most"], gcp=table["penalized"])
    draw(risk_utility_map(table, "gain", "gcp", panel="published under"), "risk-utility-bayframe.png", "linear")


def bayframe_sizes() -> Iterator[str]:
    """BayFrame, Figure 9, for `Mixed` with sizes 4, 8, 16, 32; attacked by the same estimator and by `Auto`."""
    simulation, rows = simulated(24, 4000), []
    for size in (4, 8, 16, 32):
        own = Adversary(simulation.prior, simulation.transitions, estimator=Mixed(size=size))
        for name, defense in PUBLISHED.items():
            releases = publish(simulation.history, defense, own, rng=seeded(1))
            rows.append({"size": size, "defense": name} | cost(releases))
            for rule, adversary in (("own", own), ("Auto", knowing(simulation, "Auto"))):
                beliefs = SequentialAttack(adversary)(releases)
                rows[-1][f"{rule}: most"] = adversary_gain(beliefs, simulation.history)["gain"].max()
                rows[-1][f"{rule}: Equation 8"] = adversary_gain(beliefs, simulation.history, absolute=True)[
                    "gain"
                ].mean()
    yield from markdown(rows)


def cost(releases: tuple[Release, ...]) -> Row:
    """The papers' sums of GCP and RL (smallest and largest of a release), and the share of suppressed records."""
    lost, total, linkage = (
        suppressed(releases),
        gcp(releases, width="table")["total"],
        record_linkage(releases)["linkage_sum"],
    )
    found = measured(releases)
    return {
        "most suppressed": int(lost["suppressed"].max()),
        "suppressed": found["suppressed"],
        "size": found["size"],
        "GCP, sums": f"{total.min():.0f}-{total.max():.0f}",
        "GCP": found["gcp"],
        "penalized": found["penalized"],
        "RL, sums": f"{linkage.min():.0f}-{linkage.max():.0f}",
    }


def two_steps() -> Iterator[str]:
    """BayFrame, Figures 3b and 9, "SDTMM": the defender revises the beliefs of two releases before (Equation 4)."""
    simulation, rows = simulated(24, 4000), []
    once = simulation.transitions.probabilities
    twice = MarkovChain(2, np.broadcast_to(once, (len(once), *once.shape)).copy(), shorter=(once,))
    for rule in ("Omega", "DirichletMultinomial"):
        for name in ("JSReduce, patience=50", "BKAA, patience=50", "BKAA, as printed"):
            defender = Adversary(simulation.prior, twice, estimator=ESTIMATORS[rule], revision="chain")
            releases = publish(simulation.history, PUBLISHED[name], defender, rng=seeded(1))
            gain = adversary_gain(SequentialAttack(knowing(simulation))(releases), simulation.history)["gain"]
            rows.append({"published under": rule, "defense": name} | cost(releases) | {"Omega: most": gain.max()})
    yield from markdown(rows)


# Ten defenses.


def ten(drawn: int) -> dict[str, Defense]:
    """Ten defenses with comparable settings: groups of 5 records or of 5 values; t, j and beta of the papers."""
    return {
        "Mondrian k=5, l=5": Mondrian(KAnonymity(5) & DistinctDiversity(5)),
        "FullDomain k=5, l=5": FullDomain(KAnonymity(5) & DistinctDiversity(5)),
        "JSReduce(5, .5, .6, patience=50)": JSReduce(5, 0.5, 0.6, patience=50),
        "BKAA(5, 5, .6, patience=50)": BKAA(5, 5, 0.6, patience=50),
        "UHRA(5, .5, .6)": UHRA(5, 0.5, 0.6),
        "KPrimacy(5, 5, .6)": KPrimacy(5, 5, 0.6),
        "MASK(5, 5)": MASK(5, 5, rng=seeded(drawn)),
        "MInvariance(5)": MInvariance(5, rng=seeded(1)),
        "Anatomy(5)": Anatomy(5, rng=seeded(drawn)),
        "Injector(5)": Injector(5, rng=seeded(drawn)),
    }


def ten_on_exams() -> Iterator[str]:
    """Ten defenses on 12 views of 2,000 exams, attacked by the same three adversaries; 1,000 queries for all releases."""
    simulation = simulated(12, 2000)
    attacks = {name: SequentialAttack(knowing(simulation, name)) for name in ("Omega", "Auto", "DirichletMultinomial")}
    comparison = compare(simulation.history, ten(1), attacks, knowing(simulation), rng=seeded(1))
    workload = Workload.draw(simulation.history, rng=seeded(1), queries=1000)
    yield from markdown(compared(comparison, workload))
    table = comparison.summary(workload)
    shown = table[table["attack"] != "DirichletMultinomial"]
    risk_utility_map(shown, "gain", "query", panel="attack").savefig(DOCS / "risk-utility-ten.png", dpi=110)


def ten_on_adult() -> Iterator[str]:
    """Ten defenses on Adult: 45,222 records; quasi-identifiers age, sex, education; sensitive occupation; 10,000 queries."""
    view = census("occupation", "age", "sex", "education")
    history = History([view])
    knowledge = Adversary(ClassFrequencies.fit(history, CLASSES), estimator=Omega())
    comparison = compare(
        history,
        ten(1),
        {"none": SequentialAttack(Adversary(UniformPrior(), estimator=Omega()))},
        knowledge,
        rng=seeded(1),
    )
    yield from markdown(compared(comparison, Workload.draw(view, rng=seeded(1))))


def compared(comparison: Comparison, workload: Workload) -> Iterator[Row]:
    """One row per defense: its costs, and the gain of each attack, as a mean over all records and at the last release."""
    summary, costs = comparison.summary(), comparison.cost(workload)
    for name, releases in comparison.releases.items():
        table, attacked = costs[costs["defense"] == name], summary[summary["defense"] == name]
        records, found = table["records"].sum(), measured(releases)
        yield {
            "defense": name,
            "groups": f"{table['groups'].mean():.0f}",
            "size": found["size"],
            "suppressed": f"{found['suppressed']:.1%}",
            "distorted": f"{table['distorted'].sum() / records:.1%}",
            "counterfeits": f"{table['counterfeits'].sum() / records:.1%}",
            "GCP": found["gcp"],
            "penalized": found["penalized"],
            "linkage": found["linkage"],
            "discernibility": table["discernibility"].sum() / records,
            "query mean": table["query_mean"].mean(),
            "median": table["query_median"].mean(),
        } | {
            f"gain, {row.attack}": f"{row.gain:.3f} ({row.last_gain:.3f})"
            for row in attacked.itertuples()
            if row.attack != "none"
        }


# Laws of counterfeits, of distorted values and of signatures.

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
    schema = Schema(
        {
            "sex": Categorical(("0", "1")),
            "education": Categorical(tuple("0123")),
            "marriage": Categorical(tuple("012")),
            "age": Numeric(21, 69),
        },
        "status",
        tuple(range(-2, m - 2)),
        "id",
    )
    views, law = [], prior
    for month in range(1, months + 1):
        state = (law.cumsum(axis=1) > rng.random(number)[:, None]).argmax(axis=1)
        frame = pd.DataFrame({"id": np.arange(number), **traits, "status": state - 2})
        views.append(View(frame, schema, month))
        law = step[state]

    def known(people: People) -> "np.ndarray[Any, np.dtype[np.float64]]":
        return prior[people.respondents.astype(int)]

    return Simulation(History(views), known, MarkovChain(1, step))


def laws() -> Iterator[str]:
    """Attacks with exact knowledge on counterfeits, distorted values and signatures, with and without their laws."""
    weekly, monthly = simulated(12, 2000), accounts(30_000, 6)
    settings: tuple[tuple[str, Simulation, str, Defense], ...] = (
        ("exams", weekly, "MInvariance(5)", MInvariance(5, rng=seeded(1))),
        ("exams", weekly, "MInvariance(2)", MInvariance(2, rng=seeded(1))),
        ("exams", weekly, "MASK(5, 5)", MASK(5, 5, rng=seeded(1))),
        ("accounts", monthly, "MInvariance(3)", MInvariance(3, rng=seeded(1))),
        ("accounts", monthly, "MInvariance(2)", MInvariance(2, rng=seeded(1))),
        ("accounts", monthly, "MASK(5, 2)", MASK(5, 2, rng=seeded(1))),
    )
    yield from markdown(row for setting in settings for row in by_law(*setting))


def by_law(data: str, simulation: Simulation, name: str, defense: Defense) -> Iterator[Row]:
    """One row per attack on a defense; "naive" gives counterfeits a uniform prior and takes all published values for true."""
    naive = Adversary(
        simulation.prior, simulation.transitions, estimator=Auto(), counterfeits="uniform", distortion="ignored"
    )
    knows = Adversary(simulation.prior, simulation.transitions, estimator=Auto())
    attacks: dict[str, Attack] = {
        "snapshot, naive": SnapshotAttack(naive),
        "snapshot": SnapshotAttack(knows),
        "sequential, naive": SequentialAttack(naive),
        "sequential": SequentialAttack(knows),
    }
    if isinstance(defense, MInvariance):
        attacks["signature"] = SignatureAttack(knows)
    releases = publish(simulation.history, defense, rng=seeded(1))
    for attack, carried_out in attacks.items():
        beliefs = carried_out(releases)
        yield {"data": data, "defense": name, "attack": attack} | surety(beliefs, simulation.history)


def surety(beliefs: Beliefs, history: History) -> Row:
    """Gain over all records, of the first and of the last release; sure beliefs; log score in bits."""
    gain, sure, score = (measure(beliefs, history) for measure in (adversary_gain, disclosures, log_score))
    return {
        "gain": whole_and_ends(gain, "gain"),
        "sure": int(sure["sure"].sum()),
        "expected": f"{sure['expected'].sum():.0f}",
        "right": int(sure["right"].sum()),
        "log score": whole_and_ends(score, "log_score"),
    }


def whole_and_ends(measured: pd.DataFrame, column: str) -> str:
    """Mean over all records; in parentheses, the first and the last release."""
    first, last = measured[column].iloc[[0, -1]]
    return f"{np.average(measured[column], weights=measured['measured']):.3f} ({first:.3f}, {last:.3f})"


# Statements of docs/findings.md about Adult.


def claims() -> Iterator[str]:
    """MASK's groups in the setting of the foreground-knowledge paper, eligibility for Anatomy, full-domain levels."""
    view = census("education", "age", "workclass", "marital-status", "occupation", "race")
    prior, codes = UniformPrior()(view.people), [view.schema.values.index(value) for value in LOW]
    for k in (2, 10):
        for name, defense in (("Mondrian", Mondrian(KAnonymity(k))), ("MASK", MASK(k, k, LOW, rng=seeded(1)))):
            release = Release(view, defense(view, prior, ()))
            sizes, low = release.counts.sum(axis=1), release.counts[:, codes].sum(axis=1)
            most = np.lexsort((sizes, low))[-1]
            worlds = max(math.comb(int(n), int(x)) for n, x in zip(sizes, low, strict=True))
            yield (
                f"{name}, k = l = {k}: {release.groups} groups; at most {low[most]} of the set in a group, of {sizes[most]}: "
                f"{math.comb(int(sizes[most]), int(low[most])):,} assignments; the most of any group: {worlds:,}"
            )
    counts = np.bincount(view.sensitive)
    worst = int(counts.argmax())
    yield f"{view.schema.values[worst]} is {counts[worst]:,} of {len(view):,}: l at most {len(view) // counts[worst]}"
    table = census("occupation")
    for widths in (None, {"age": (5, 10, 20)}):
        grouping = FullDomain(KAnonymity(5), widths=widths)(table, UniformPrior()(table.people), ())
        yield f"FullDomain k=5, widths {widths}: {grouping.labels.max() + 1} groups; {' '.join(grouping.notes)}"


SECTIONS = (
    uhra_k, uhra_j, uhra_t, uhra_why, bayframe, bayframe_sizes, two_steps, ten_on_exams, ten_on_adult, laws, claims,
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
