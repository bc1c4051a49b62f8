"""Calibration of attacks on real panels, and of the joint adversary by the size of the corpus that it learned from.

`CALIBRATION`: the panels and the publications of `presence`, with its adversary, who learned from a third of the people. A row is
an attack on a publication, or ``solver``: the joint attack in worlds redrawn from its adversary's law (errors of the solver).
The rows ``averaged`` are mixtures over draws of the knowledge from its posterior given the corpus.

`CORPUS_SIZE`: on `exams`, whose law is known, the joint adversary with point estimates and with draws, from corpora of
other people.
"""

import numpy as np
import pandas as pd

from experiments.presence import PANELS, corpus_and_rest, measured, publishable, published
from experiments.subjects import seeded, ten
from foreknow.attacks import JointAttack, LearnedAttack, SequentialAttack
from foreknow.defenses import publish
from foreknow.evaluation import exams, solver_calibration
from foreknow.evaluation.cells import Experiment
from foreknow.models import (
    Adversary,
    Averaged,
    ClassFrequencies,
    DirichletChain,
    DirichletFrequencies,
    MarkovChain,
    Presence,
)

DRAWS = 10

WORLDS = 5

REAL = ("pbc", "transplants", "women", "men")

ATTACKS = ("sequential", "joint, forward", "joint", "joint, averaged", "learned", "solver")

SIZES = (50, 100, 200, 400, 800, 1600)
"""Number of people of a corpus of `exams`."""

RED = 4.0
"""Absolute z from which a row is marked."""


def averaged(corpus, classes):
    """An adversary of draws from the posterior of its knowledge given a corpus."""
    rng = seeded(3)
    prior = DirichletFrequencies.fit(corpus, classes, 0.5)
    chain = DirichletChain.fit(corpus, order=1, concentration=0.1)
    leaving = Presence.draws(corpus, DRAWS, pseudo_count=0.5, rng=rng)
    each = [Adversary(prior.sample(rng=rng), chain.sample(rng=rng), presence=one) for one in leaving]
    return Averaged(each, min_effective=0.5)


def calibration(cell, _rng):
    """Calibration of each attack on one publication, and of the joint solver in redrawn worlds."""
    history, adversary, releases = published(cell["panel"], cell["defense"])
    if not any((release.group >= 0).any() for release in releases):
        return pd.DataFrame({"attack": ATTACKS, "records": 0} | dict.fromkeys(("log_score", "deviation"), np.nan))
    corpus, _ = corpus_and_rest(cell["panel"])
    many = averaged(corpus, PANELS[cell["panel"]][1])
    joint = JointAttack(adversary)
    attacks = {
        "sequential": SequentialAttack(adversary),
        "joint, forward": JointAttack(adversary, hindsight=False),
        "joint": joint,
        "joint, averaged": JointAttack(many),
        "learned": LearnedAttack(presence=True),
    }
    rows = [{"attack": name} | measured(attack(releases), history) for name, attack in attacks.items()]
    if not any(release.observation.distorted for release in releases):
        found = solver_calibration(joint, releases, worlds=WORLDS, rng=seeded(4))
        deviation = abs((found.right - found.expected) / found.z) if found.z else 0.0
        numbers = {"records": found.beliefs, "sure": found.sure, "right": found.right, "expected": found.expected}
        scores = {"log_score": found.log_score, "expected_score": found.expected_log_score}
        rows.append({"attack": "solver"} | numbers | scores | {"deviation": deviation})
    return pd.DataFrame(rows)


def by_corpus(cell, _rng):
    """Calibration of the joint adversary who learned from a corpus of one size, with estimates and with draws."""
    whole = exams(12, 3000, rng=seeded()).history
    order = seeded(cell["seed"]).permutation(np.array(whole.respondents, dtype=object))
    people, size = order[:600], cell["people"]
    history, corpus = publishable(whole.of(people)), whole.of(order[600 : 600 + size])
    releases = publish(history, ten(1)[cell["defense"]], infeasible="suppress", rng=seeded(1))
    prior, chain = ClassFrequencies.fit(corpus, {"age": 3}, pseudo_count=0.5), MarkovChain.fit(corpus, pseudo_count=0.1)
    point = Adversary(prior, chain, presence=Presence.fit(corpus, pseudo_count=0.5))
    attacks = {"estimates": point, "draws": averaged(corpus, {"age": 3})}
    return pd.DataFrame(
        [{"attack": name} | measured(JointAttack(one)(releases), history) for name, one in attacks.items()]
    )


CALIBRATION = Experiment(
    "calibration",
    calibration,
    [{"panel": panel, "defense": defense} for panel in REAL for defense in ten(1, PANELS[panel][2])],
)

CORPUS_SIZE = Experiment(
    "corpus_size",
    by_corpus,
    [
        {"defense": defense, "people": people, "seed": seed}
        for defense in ("Mondrian k=5, l=5", "Anatomy(5)")
        for people in SIZES
        for seed in range(3)
    ],
)


def calibration_table(rows, panel):
    """Lines of Markdown of one panel, as in docs/calibration.md; ``rows`` are those of `cells.read`."""
    lines = [f"| defense | {' | '.join(ATTACKS)} |", "|---" * (len(ATTACKS) + 1) + "|"]
    for defense in ten(1, PANELS[panel][2]):
        own = rows[(rows["panel"] == panel) & (rows["defense"] == defense)].set_index("attack")
        each = [_calibrated(own.loc[name]) if name in own.index else "" for name in ATTACKS]
        lines.append(f"| `{defense}` | {' | '.join(each)} |")
    return lines


def corpus_table(rows):
    """Lines of Markdown of the corpora, pooled over seeds, as in docs/calibration.md."""
    lines = ["| defense | people | estimates: z; log score (expected) | draws |", "|---" * 4 + "|"]
    for (defense, people), own in rows.groupby(["defense", "people"], sort=False):
        pooled = own.groupby("attack").agg(
            right=("right", "sum"),
            expected=("expected", "sum"),
            sure=("sure", "sum"),
            deviation=("deviation", lambda each: float(np.sqrt((each**2).sum()))),
            log_score=("log_score", "mean"),
            expected_score=("expected_score", "mean"),
        )
        both = " | ".join(_calibrated(pooled.loc[name]) for name in ("estimates", "draws"))
        lines.append(f"| `{defense}` | {people:,.0f} | {both} |")
    return lines


def _calibrated(one):
    """The z of the sure beliefs, clustered by person, bold where it is over `RED`; the log score, and the expected one."""
    if np.isnan(one["log_score"]):
        return "nothing published"
    z = (one["right"] - one["expected"]) / one["deviation"] if one["deviation"] > 0 else 0.0
    text = f"**{z:+.1f}**" if abs(z) > RED else f"{z:+.1f}"
    scores = (f"{one[name]:.2f}".replace("0.", ".") for name in ("log_score", "expected_score"))
    return "{}; {} ({})".format(text, *scores)
