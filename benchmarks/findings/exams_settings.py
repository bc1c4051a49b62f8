"""Settings that several sections share: generators, publications, estimators, gains."""

import numpy as np
import pandas as pd

from foreknow.attacks import SequentialAttack
from foreknow.defenses import BKAA, Defense, DistinctDiversity, JSReduce, KAnonymity, Mondrian
from foreknow.evaluation import adversary_gain, log_score
from foreknow.models import (
    Adversary,
    Auto,
    BeliefPropagation,
    Beliefs,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    History,
    Omega,
    Release,
    Sinkhorn,
    SwapChain,
)

SAFE = Mondrian(KAnonymity(2) & DistinctDiversity(2))
CLASSES = {"age": 3, "gender": 2, "weight": 3}
SHOWN = [0, 1, 3, 6, 11, 23]


def seeded(seed: int = 2012) -> np.random.Generator:
    return np.random.default_rng(seed)


def gains(adversary: Adversary, releases: tuple[Release, ...], history: History) -> "pd.Series[float]":
    return adversary_gain(SequentialAttack(adversary)(releases), history)["gain"]


RULES: dict[str, Estimator] = {
    "ConfidenceSum": ConfidenceSum(),
    "DirichletMultinomial": DirichletMultinomial(),
    "Omega": Omega(),
    "Sinkhorn": Sinkhorn(),
    "BeliefPropagation": BeliefPropagation(),
    "SwapChain": SwapChain(rng=seeded(3)),
    "Auto": Auto(),
}


def mean_score(beliefs: Beliefs, history: History) -> float:
    table = log_score(beliefs, history)
    return float(np.average(table["log_score"], weights=table["measured"]))


MIXED_SIZES = (4, 8, 16, 32)
"""Sizes of `Mixed`: the paper gives no number."""


def bayframe_defenses() -> dict[str, Defense]:
    return {
        "JSReduce": JSReduce(3, 0.5, 0.6, patience=50),
        "BKAA": BKAA(3, 5, 0.6),
        "BKAA, patience": BKAA(3, 5, 0.6, patience=50),
    }
