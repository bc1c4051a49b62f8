"""Joint solvers in redrawn worlds: ten defenses on `exams`, `pbc` and `households`, without true values.

A row is a publication and a solver: the sure beliefs in ten worlds that are redrawn from the adversary's law with the groups of the
publication, the number of these that are right and expected to be, and the log score beside the expected one
(`foreknow.evaluation.solver_calibration`). Both solvers meet the same worlds. MASK's groups are published without distortion.
"""

from dataclasses import asdict
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from experiments.subjects import seeded, subject, ten
from foreknow.attacks import JointAttack
from foreknow.defenses import publish
from foreknow.evaluation import households, pbc, solver_calibration
from foreknow.evaluation.cells import Experiment
from foreknow.models import JOINT_SOLVERS, Adversary, ClassFrequencies, History, MarkovChain, Omega, Release

WORLDS = 10

SIZES = {"exams": 5, "pbc": 2, "households": 3}
"""Records or values of a group under each defense: with larger ones, a defense publishes nothing of `pbc`."""

DEFENSES = {name: list(ten(1, size)) for name, size in SIZES.items()}

SOLVERS = ("group-messages", "group-graph")


def calibration(cell, _rng):
    """Calibration of one solver in redrawn worlds of one publication."""
    adversary, releases = publication(cell["history"], cell["defense"])
    attack = JointAttack(adversary, JOINT_SOLVERS[cell["solver"]]())
    worlds = seeded([list(SIZES).index(cell["history"]), DEFENSES[cell["history"]].index(cell["defense"])])
    found = solver_calibration(attack, releases, worlds=WORLDS, rng=worlds)
    suppressed = float(np.mean(np.concatenate([release.group < 0 for release in releases])))
    return pd.DataFrame([asdict(found) | {"difference": found.difference, "suppressed": suppressed}])


@cache
def publication(name, defense):
    """The adversary and the releases of a history under a defense, without distorted values."""
    history, adversary = HISTORIES[name]()
    rule = ten(1, SIZES[name])[defense]
    releases = publish(history, rule, adversary, infeasible="suppress", rng=seeded(1))
    if any(release.observation.distorted for release in releases):
        return adversary, [Release(release.view, release.group) for release in releases]
    return adversary, list(releases)


def on_exams():
    """Twelve views of 1,000, and an adversary who knows the law."""
    simulation, own = subject(12, 1000)
    return simulation.history, own


def on_pbc():
    """Two thirds of the patients, and an adversary who learned from the others."""
    patients = pbc()
    order = seeded(0).permutation(np.array(patients.respondents, dtype=object))
    corpus, rest = patients.of(order[: len(order) // 3]), patients.of(order[len(order) // 3 :])
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    own = Adversary(prior, MarkovChain.fit(corpus, pseudo_count=0.1), estimator=Omega())
    return History(view for view in rest if len(view) >= 20), own


def on_households():
    """Twelve weeks of purchases, and an adversary who learned from the later ones."""
    year = households()
    history, later = (History(year[week] for week in weeks) for weeks in (range(1, 13), range(13, 53)))
    prior = ClassFrequencies.fit(later, {"age": 3, "income": 3, "members": 2}, 1.0)
    return history, Adversary(prior, MarkovChain.fit(later, pseudo_count=1.0), estimator=Omega())


HISTORIES = {"exams": on_exams, "pbc": on_pbc, "households": on_households}

REDRAWN_WORLDS = Experiment(
    "redrawn_worlds",
    calibration,
    [
        {"history": name, "defense": defense, "solver": solver}
        for name in HISTORIES
        for defense, solver in product(DEFENSES[name], SOLVERS)
    ],
)
