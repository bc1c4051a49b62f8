"""Joint solvers against enumeration on random tiny histories, by family of history.

A row is a history: the total variation between the beliefs of a solver and the exact ones, mean and largest over its records, and
the gain and the share of sure beliefs of both. All solvers meet the same histories.
"""

from dataclasses import fields
from itertools import product

import numpy as np
import pandas as pd

from foreknow.attacks import JointAttack
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import JOINT_SOLVERS, Adversary, GivenPrior, History, MarkovChain, Numeric, Release, Schema, View

HISTORIES, SEEDS, SURE = 20, 2, 0.9

FAMILIES = ("closed", "exchanged", "drawn anew", "gaps", "sticky", "zeros")
"""Groups that never change; that exchange two members at each release; drawn anew at each. The last three are drawn anew, too: with
respondents who are absent from some releases, with a chain that keeps the value with probability .8 and more, and with a chain of
which .4 of the entries are 0."""

SOLVERS = sorted(
    name
    for name, solver in JOINT_SOLVERS.items()
    if name != "enumeration" and "rng" not in {setting.name for setting in fields(solver)}
)
"""Names of the solvers that draw nothing."""


def accuracy(cell, _rng):
    """Accuracy of one solver on some histories of a family."""
    of_histories = np.random.default_rng([cell["seed"], FAMILIES.index(cell["family"])])
    solver, exact = JOINT_SOLVERS[cell["solver"]](), JOINT_SOLVERS["enumeration"]()
    rows = []
    for number in range(HISTORIES):
        releases, adversary = random_publication(cell["family"], of_histories)
        history = History(release.view for release in releases)
        found, truth = (JointAttack(adversary, each)(releases) for each in (solver, exact))
        away = np.concatenate(
            [
                np.abs(one.beliefs("posterior") - other.beliefs("posterior")).sum(axis=1) / 2
                for one, other in zip(found.releases, truth.releases, strict=True)
            ]
        )
        row = {"number": number, "records": len(away), "distance": away.mean(), "largest_distance": away.max()}
        for prefix, beliefs in (("", found), ("exact_", truth)):
            total = total_of_risk(risk_table(beliefs, history, sure=SURE))
            row |= {f"{prefix}gain": total["gain"], f"{prefix}sure": total["sure"] / len(away)}
        rows.append(row)
    return pd.DataFrame(rows)


def random_publication(family, rng):
    """Releases of a random history of 3 to 6 respondents, 2 to 4 releases and 2 to 4 values, and an adversary who knows its law."""
    people, times, m = int(rng.integers(3, 7)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    prior, chain = rng.dirichlet(np.ones(m), size=people), rng.dirichlet(np.ones(m), size=m)
    if family == "sticky":
        chain = 0.2 * chain + 0.8 * np.eye(m)
    if family == "zeros":
        chain = np.where((rng.random((m, m)) < 0.4) & ~np.eye(m, dtype=bool), 0.0, chain)
        chain /= chain.sum(axis=1, keepdims=True)
    values = np.array([rng.choice(m, p=row) for row in prior])
    labels = random_groups(people, rng)
    schema = Schema({"age": Numeric(0, people - 1)}, "result", tuple(range(m)))
    releases = []
    for time in range(times):
        if time:
            values = np.array([rng.choice(m, p=chain[value]) for value in values])
            if family == "exchanged":
                one, other = rng.choice(people, 2, replace=False)
                labels[[one, other]] = labels[[other, one]]
            elif family != "closed":
                labels = random_groups(people, rng)
        here = rng.random(people) < (0.7 if family == "gaps" else 1.0)
        here[rng.integers(people)] = True
        frame = pd.DataFrame({"id": np.arange(people), "age": np.arange(people), "result": values})[here]
        releases.append(Release(View(frame, schema, time), labels[here]))
    by_person = GivenPrior(pd.DataFrame(prior))
    return releases, Adversary(by_person, MarkovChain(1, chain))


def random_groups(people, rng):
    """Groups of 2 or 3 respondents, as labels; a group of 1 if one is left over."""
    return rng.permutation(np.arange(people) // int(rng.integers(2, 4)))


JOINT_SOLVER_ACCURACY = Experiment(
    "joint_solvers",
    accuracy,
    [
        {"family": family, "solver": solver, "seed": seed}
        for family, solver, seed in product(FAMILIES, SOLVERS, range(SEEDS))
    ],
)
