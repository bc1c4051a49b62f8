"""UHRA, Figures 1 to 3: record linkage and information loss of UHRA, BKA-JS and k-primacy."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from comparison_settings import CLASSES, Row, census, draw, knowing, markdown, measured, seeded, simulated
from joint_adversary import FORWARD, HINDSIGHT, all_attacks, assessments

from foreknow.defenses import BKAA, UHRA, BetaLikeness, Defense, JSReduce, KPrimacy, TCloseness, publish
from foreknow.evaluation import risk_utility_map
from foreknow.models import Adversary, ClassFrequencies, History, Omega, View


def salaries() -> tuple[View, Adversary]:
    """Adult in the setting of UHRA; for one table, "the incremental method" is the frequencies of classes of people."""
    view = census("salary-class", "age", "sex", "education")
    return view, Adversary(ClassFrequencies.fit(History([view]), CLASSES), estimator=Omega())


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
    panels = risk_utility_map(table[~seen], "linkage", "gcp", along, panel="data")
    draw(panels, f"risk-utility-{along}.png")


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


def uhra_joint(records: int = 4000) -> Iterator[str]:
    """UHRA, Figures 1 to 3 on exams: the publications at k = 5, t = .5, J = .8 under sequential and joint attacks."""
    simulation, rows = simulated(6, records), []
    attacks = all_attacks(simulation.prior, simulation.transitions)
    for name, algorithm in (ALGORITHMS | {"UHRA, one cluster": OTHERS["UHRA, one cluster"]}).items():
        releases = publish(simulation.history, algorithm(5, 0.5, 0.8), knowing(simulation), rng=seeded(1))
        found = measured(releases)
        for row in assessments(releases, simulation.history, attacks):
            rows.append(
                {"defense": name, "penalized": found["penalized"], "RL": found["linkage"], "size": found["size"]} | row
            )
    yield from markdown(rows)


def uhra_joint_over(records: int = 2000) -> Iterator[str]:
    """UHRA, Figures 1 to 3 on exams, with the gain of adversaries for linkage: by k, J and t, as a table and pictures."""
    simulation, rows = simulated(6, records), []
    attacks = {
        name: attack for name, attack in all_attacks(simulation.prior, simulation.transitions).items() if name in PANELS
    }
    settings = {setting: None for along in SETTINGS.values() for setting in along}
    for (k, t, j), (name, algorithm) in itertools.product(settings, ALGORITHMS.items()):
        releases = publish(simulation.history, algorithm(k, t, j), knowing(simulation), rng=seeded(1))
        found = measured(releases)
        for row in assessments(releases, simulation.history, attacks):
            key: Row = {
                "defense": name,
                "k": k,
                "t": t,
                "j": j,
                "suppressed": found["suppressed"],
                "size": found["size"],
            }
            rows.append(key | {"RL": found["linkage"], "gcp": found["penalized"]} | row)
    yield from markdown(rows)
    table = pd.DataFrame(rows)
    for along, values in SETTINGS.items():
        kept = table[pd.MultiIndex.from_frame(table[["k", "t", "j"]]).isin(values)]
        kept = kept[~kept.round(4).duplicated(["defense", "adversary", "gcp", "gain"])]
        draw(risk_utility_map(kept, "gain", "gcp", along, panel="adversary"), f"risk-utility-joint-{along}.png")


PANELS = ("sequential, Auto", FORWARD, HINDSIGHT)
"""Adversaries of the pictures over k, J and t."""


def nearest(share: "np.ndarray[Any, np.dtype[np.float64]]", size: int) -> float:
    """Least distance from the table of a group of ``size`` records with distinct values."""
    return float(np.maximum(1 / size - share[:size], 0).sum())
