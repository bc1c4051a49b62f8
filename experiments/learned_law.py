"""Law learned from releases alone, against the law of a simulation and against the true values of the same respondents.

A row is a history of six values, of 1,000 respondents and 8 releases in groups that are drawn anew unless a cell says otherwise:
the mean total variation between rows of the learned and of the true transitions, weighted by the true number of transitions from
each value, by rounds with exact and with expected counts; the error of relative frequencies of the true values; and the learned
probability of staying.
"""

import numpy as np
import pandas as pd

from foreknow.evaluation.cells import Experiment
from foreknow.models import LearnedKnowledge, MarkovChain, Numeric, Observation, People, Schema

PRIOR = np.array([0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
LEAVING = np.array(
    [
        [0.0, 0.6, 0.2, 0.1, 0.1, 0.0],
        [0.1, 0.0, 0.6, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.0, 0.6, 0.1, 0.1],
        [0.1, 0.1, 0.1, 0.0, 0.6, 0.1],
        [0.2, 0.1, 0.0, 0.1, 0.0, 0.6],
        [0.7, 0.1, 0.1, 0.1, 0.0, 0.0],
    ]
)
"""Law of the simulation: a value stays with a given probability, and is followed by another one according to these rows."""

SCHEMA = Schema({"age": Numeric(0, 99)}, "value", tuple("abcdef"))

USUAL = {"people": 1000, "releases": 8, "size": 3, "stay": 0.8, "fixed": False}

SETTINGS = [
    *({"size": size} for size in (2, 3, 5, 10, 30)),
    *({"releases": releases} for releases in (2, 16)),
    *({"people": people} for people in (200, 5000)),
    *({"stay": stay} for stay in (0.5, 0.95)),
    {"fixed": True},
    {"fixed": True, "size": 10},
]


def errors(cell, rng):
    """Errors of learned transitions on one history."""
    people, releases, size, stay, fixed = (cell[name] for name in USUAL)
    true = stay * np.eye(6) + (1 - stay) * LEAVING
    everyone = People(np.arange(people).astype(object), np.full((people, 1), 5.0), SCHEMA)
    values, group, seen = [], np.arange(people) // size, []
    for t in range(releases):
        rows = true[values[-1]] if t else np.tile(PRIOR, (people, 1))
        values.append((rows.cumsum(axis=1)[:, :-1] <= rng.random(people)[:, None]).sum(axis=1))
        group = group if fixed and t else rng.permutation(group)
        counts = np.zeros((group.max() + 1, 6), dtype=np.int64)
        np.add.at(counts, (group, values[-1]), 1)
        seen.append(Observation(everyone, group, counts, t))
    path = np.array(values)
    weight = np.bincount(path[:-1].ravel(), minlength=6)
    found = {
        "exact": LearnedKnowledge.fit(seen).transitions,
        "expected": LearnedKnowledge.fit(seen, counts="expected").transitions,
        "known": MarkovChain.fit(path.T.tolist(), values=6, pseudo_count=0.1),
    }
    off = {
        name: np.average(abs(one.probabilities - true).sum(axis=1) / 2, weights=weight) for name, one in found.items()
    }
    return pd.DataFrame([off | {"staying": np.average(np.diag(found["exact"].probabilities), weights=weight)}]).round(4)


LEARNED_LAW = Experiment(
    "learned_law", errors, [USUAL | setting | {"seed": seed} for setting in SETTINGS for seed in range(10)]
)
