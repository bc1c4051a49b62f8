"""BayFrame, Figures 3b, 9 and 10: BKAA and JS-reduce published and attacked under several estimators."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from comparison_settings import ESTIMATORS, SHOWN, Row, draw, knowing, markdown, measured, seeded, simulated
from joint_adversary import all_attacks, assessments

from foreknow.attacks import SequentialAttack
from foreknow.defenses import BKAA, Defense, JSReduce, publish
from foreknow.evaluation import adversary_gain, gcp, record_linkage, risk_utility_map, suppressed
from foreknow.models import Adversary, MarkovChain, Mixed, Release, Simulation

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


def bayframe_joint(views: int = 12, records: int = 2000) -> Iterator[str]:
    """BayFrame, Figure 9, at another size: the publications of `bayframe` under sequential and joint attacks."""
    yield from markdown(_bayframe_joint(simulated(views, records)))


def _bayframe_joint(simulation: Simulation) -> Iterator[Row]:
    attacks = all_attacks(simulation.prior, simulation.transitions)
    for rule in ("Omega", "DirichletMultinomial", "Mixed"):
        for name, defense in PUBLISHED.items():
            releases = publish(simulation.history, defense, knowing(simulation, rule), rng=seeded(1))
            found = measured(releases)
            settings = {"published under": rule, "defense": name, "lost": found["suppressed"], "size": found["size"]}
            for row in assessments(releases, simulation.history, attacks):
                yield settings | row


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
        gcp(releases, width="table")["gcp_total"],
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
