"""Four defenses that receive the joint beliefs instead of those revised release by release, against the joint adversary.

A row is the publication of a defense by one defender, ten times on each of two panels of `presence`: the share of suppressed
records, and what the joint adversary in hindsight finds, who reads no presence. Defender and adversary have the same knowledge.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from experiments.presence import SEEDS, defense, learned, measured
from experiments.subjects import seeded
from foreknow.attacks import JointAttack
from foreknow.defenses import publish
from foreknow.evaluation.cells import Experiment
from foreknow.models import Omega

DEFENSES = {
    "exams": (
        "JSReduce(5, .5, .6, patience=50)",
        "BKAA(5, 5, .6, patience=50)",
        "UHRA(5, .5, .6)",
        "KPrimacy(5, 5, .6)",
    ),
    "pbc": ("JSReduce(2, .5, .6, patience=50)", "BKAA(2, 5, .6, patience=50)", "UHRA(2, .5, .6)", "KPrimacy(2, 5, .6)"),
}
"""Defenses that read beliefs."""


def exposure(cell, _rng):
    """Risk of the publications of one defense under the two defenders."""
    history, adversary = learned(cell["panel"], cell["seed"])
    known = adversary.without("presence")
    attack = JointAttack(known)
    defenders = {"release by release": {"adversary": replace(known, estimator=Omega())}, "joint": {"believes": attack}}
    rows = []
    for name, believer in defenders.items():
        rule = defense(cell["panel"], cell["defense"])
        releases = publish(history, rule, **believer, infeasible="suppress", rng=seeded(1))
        suppressed = float(np.mean(np.concatenate([release.group < 0 for release in releases])))
        rows.append({"defender": name, "withheld": suppressed} | measured(attack(releases), history))
    return pd.DataFrame(rows).round(4)


DEFENDERS = Experiment(
    "defenders",
    exposure,
    [
        {"panel": panel, "defense": name, "seed": seed}
        for panel, names in DEFENSES.items()
        for name in names
        for seed in range(SEEDS)
    ],
)
