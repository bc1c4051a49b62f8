"""Ten defenses with comparable settings, on simulated exams and on Adult."""

from collections.abc import Iterator

from comparison_settings import CLASSES, DOCS, Row, census, knowing, markdown, measured, seeded, simulated
from joint_adversary import FORWARD, HINDSIGHT, all_attacks, assessments, joint_attacks

from foreknow.attacks import Attack, SequentialAttack
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
    publish,
)
from foreknow.evaluation import Comparison, Workload, compare, risk_utility_map
from foreknow.models import Adversary, ClassFrequencies, History, Omega, Simulation, UniformPrior


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
    """Ten defenses on 12 views of 2,000 exams, attacked by the same adversaries; 1,000 queries for all releases."""
    simulation = simulated(12, 2000)
    rules = ("Omega", "Auto", "DirichletMultinomial")
    attacks: dict[str, Attack] = {name: SequentialAttack(knowing(simulation, name)) for name in rules}
    attacks |= joint_attacks(Adversary(simulation.prior, simulation.transitions))
    comparison = compare(simulation.history, ten(1), attacks, knowing(simulation), rng=seeded(1))
    workload = Workload.draw(simulation.history, rng=seeded(1), queries=1000)
    yield from markdown(compared(comparison, workload))
    table = comparison.summary(workload)
    shown = table[table["attack"].isin(["Auto", FORWARD, HINDSIGHT])]
    panels = risk_utility_map(shown, "gain", "query", panel="attack")
    panels[0].figure.savefig(DOCS / "risk-utility-ten.png", dpi=110)


def ten_joint() -> Iterator[str]:
    """The releases of `ten_on_exams` under sequential and joint attacks."""
    yield from markdown(_ten_joint(simulated(12, 2000)))


def _ten_joint(simulation: Simulation) -> Iterator[Row]:
    attacks = all_attacks(simulation.prior, simulation.transitions)
    for name, defense in ten(1).items():
        releases = publish(simulation.history, defense, knowing(simulation), rng=seeded(1))
        for row in assessments(releases, simulation.history, attacks):
            yield {"defense": name} | row


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
