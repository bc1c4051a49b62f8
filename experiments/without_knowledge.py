"""Attacks on Adult without knowledge of the values: occupation, 14 values, by five quasi-identifiers, in buckets of two.

A row is an attack on one or three publications by Anatomy of 10,000 records drawn from Adult: the share of records whose most
likely value is the true one (ties count by their share), the log score in bits, and the mean largest belief less that share.
"""

import numpy as np
import pandas as pd

from experiments.subjects import seeded
from foreknow.attacks import (
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    LearnedAttack,
    PrivacyMaxEntAttack,
    SnapshotAttack,
)
from foreknow.defenses import Anatomy
from foreknow.evaluation import adult
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.papers.figures import ADULT, adult_folder
from foreknow.models import Adversary, RandomWorlds, Release, Sinkhorn, UniformPrior, View

QUASI = ("age", "sex", "race", "marital-status", "education")
RECORDS, BUCKETS = 10_000, 2


def attacked(cell, _rng):
    """Scores of each attack on one sample."""
    (view,) = adult(adult_folder(), "occupation", QUASI)
    rng = seeded(cell["seed"])
    rows = np.sort(rng.choice(len(view), RECORDS, replace=False))
    view = View(view.frame.iloc[rows].assign(id=np.arange(RECORDS)), view.schema)
    anatomy, prior = Anatomy(BUCKETS, rng=rng), np.full((RECORDS, len(view.schema.values)), 1 / len(view.schema.values))
    releases = [Release(View(view.frame, view.schema, t), anatomy(view, prior, ())) for t in (1, 2, 3)]
    shares = view.frame.groupby("education")["occupation"].value_counts(normalize=True)
    told = [ConditionalProbability(value, {"education": level}, float(p)) for (level, value), p in shares.items()]
    attacks = {
        "shares of the buckets": SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds())),
        "deFinetti": DeFinettiAttack("hard", estimator=Sinkhorn()),
        "learned, classes of education and sex": LearnedAttack({"education": None, "sex": None}),
        "true occupations by education": PrivacyMaxEntAttack(told),
        "three publications": CompositionAttack("product"),
    }
    rows, place, truth = [], np.arange(RECORDS), view.sensitive
    for name, attack in attacks.items():
        beliefs = (
            attack(releases if name == "three publications" else releases[:1]).releases[-1].posterior.probabilities
        )
        largest = beliefs.max(axis=1, keepdims=True)
        best = beliefs >= largest - 1e-9
        accuracy = (best[place, truth] / best.sum(axis=1)).mean()
        score = np.log2(np.maximum(beliefs[place, truth], 2.0**-20)).mean()
        rows.append({"attack": name, "accuracy": accuracy, "log_score": score, "over": largest.mean() - accuracy})
    return pd.DataFrame(rows).round(4)


WITHOUT_KNOWLEDGE = Experiment("without_knowledge", attacked, [{"seed": seed} for seed in range(10)], data=ADULT)
