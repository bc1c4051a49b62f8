"""Settings that several comparisons share: data, adversaries, losses of releases, tables and pictures."""

import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from foreknow.evaluation import adult, exams, gcp, record_linkage, suppressed
from foreknow.evaluation.plots.style import Panels
from foreknow.models import Adversary, Auto, DirichletMultinomial, Estimator, Mixed, Omega, Release, Simulation, View

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS.parents[1] / "shared" / "data"
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
    )[0]


def knowing(simulation: Simulation, estimator: str = "Omega") -> Adversary:
    return Adversary(simulation.prior, simulation.transitions, estimator=ESTIMATORS[estimator])


def measured(releases: tuple[Release, ...]) -> Row:
    """Loss and linkage, over all releases."""
    lost, plain = suppressed(releases), gcp(releases)
    penalized, linkage = gcp(releases, penalize_suppressed=True), record_linkage(releases)
    records, published = lost["records"].sum(), plain["measured"].sum()
    whole = len(releases[0].view.schema.quasi_identifiers)
    return {
        "suppressed": lost["suppressed"].sum() / records,
        "size": published / max(sum(release.groups for release in releases), 1),
        "gcp": plain["gcp_total"].sum() / (whole * published) if published else math.nan,
        "penalized": penalized["gcp_total"].sum() / (whole * records),
        "linkage": linkage["linkage_sum"].sum() / records,
        "linked": linkage["linked"].sum() / max(published, 1),
    }


def draw(panels: Panels, name: str, scale: str = "log") -> None:
    """Save a map with a logarithmic cost axis, because the data sets differ by orders of magnitude."""
    for axes in panels:
        axes.set(xscale=scale, xlabel="cost: certainty penalty, suppressed records in full")
    panels[0].figure.savefig(DOCS / name, dpi=110)
    plt.close(panels[0].figure)
