"""Twelve weeks of purchases of `households`, published by Mondrian and attacked with three kinds of knowledge.

A row is an attack: gain, right best guesses and sure beliefs. ``habits`` are each household's own purchases of later weeks.
"""

import pandas as pd

from experiments.subjects import seeded
from foreknow.attacks import JointAttack, LearnedAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import households, risk_table
from foreknow.evaluation.cells import Experiment
from foreknow.models import Adversary, ClassFrequencies, GivenPrior, History, MarkovChain

WEIGHT_OF_ALL = 10.0
"""Number of purchases with the frequencies of all households that each household's own are added to."""


def habits(later, people):
    """Smoothed frequencies of each household's own purchases in other weeks."""
    frame, values = pd.concat([view.frame for view in later]), list(later.schema.values)
    overall = frame["purchase"].value_counts(normalize=True).reindex(values, fill_value=0.0)
    counts = pd.crosstab(frame["id"], frame["purchase"]).reindex(index=list(people), columns=values, fill_value=0)
    smoothed = counts + WEIGHT_OF_ALL * overall
    return GivenPrior(smoothed.div(smoothed.sum(axis=1), axis=0))


def attacked(cell, _rng):
    """Risk of one publication by each attack."""
    year = households()
    weeks, later = History(year[week] for week in range(1, 13)), History(year[week] for week in range(13, 53))
    releases = publish(weeks, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=seeded(cell["seed"]))
    classes = ClassFrequencies.fit(later, {"age": 3, "income": 3, "members": 2}, 1.0)
    own = Adversary(habits(later, weeks.respondents))
    attacks = {
        "learned from the releases": LearnedAttack(),
        "classes and transitions of weeks 14 to 53": JointAttack(
            Adversary(classes, MarkovChain.fit(later, pseudo_count=1.0))
        ),
        "each household's own purchases of weeks 14 to 53": SnapshotAttack(own),
    }
    rows = []
    for name, attack in attacks.items():
        risk = risk_table(attack(releases), weeks)
        rows.append({"adversary": name, **risk[["gain", "success"]].mean(), **risk[["sure", "right"]].sum()})
    return pd.DataFrame(rows).round(4)


PURCHASES = Experiment("purchases", attacked, [{"seed": seed} for seed in range(10)])
