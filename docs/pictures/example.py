"""The small example of the pictures of members: people with two quasi-identifiers, four sensitive values, and several releases."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from foreknow.models import ExternalKnowledge, GivenPrior, History, Linking, MarkovChain, Numeric, Schema, View

VALUES = ("flu", "asthma", "diabetes", "HIV")
MARKERS = {"flu": "o", "asthma": "s", "diabetes": "^", "HIV": "D"}
STAYS = 0.8
"""Probability that a value stays the same from one release to the next."""

SYMPTOMS = {
    "flu": ["cough", "fever", "headache"],
    "asthma": ["cough", "wheezing", "fatigue"],
    "diabetes": ["thirst", "fatigue", "headache"],
    "HIV": ["fever", "fatigue", "weight loss"],
}


class Example(NamedTuple):
    """A history with the law that it is drawn from."""

    history: History
    prior: GivenPrior
    chain: MarkovChain


def example(people: int = 24, views: int = 4, seed: int = 27) -> Example:
    """People whose prior depends on age and weight; each value stays with the probability .8."""
    rng = np.random.default_rng(seed)
    age, weight = rng.integers(20, 80, people), rng.integers(50, 100, people)
    x, y = (age - 50) / 15, (weight - 75) / 12
    scores = np.column_stack([0.2 - 0.9 * x, 0.1 - 0.9 * y, 0.9 * x + 0.7 * y, -0.2 - 0.9 * x + 0.3 * y])
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    chain = MarkovChain(1, np.full((4, 4), (1 - STAYS) / 3) + np.eye(4) * (STAYS - (1 - STAYS) / 3))
    value = drawn(probabilities, rng)
    schema = Schema({"age": Numeric(20, 80), "weight": Numeric(50, 100)}, "diagnosis", VALUES, respondent="person")
    tables = []
    for time in range(1, views + 1):
        frame = pd.DataFrame({"person": range(1, people + 1), "age": age, "weight": weight})
        tables.append(View(frame.assign(diagnosis=np.array(VALUES)[value]), schema, time))
        value = drawn(chain.probabilities[value], rng)
    prior = GivenPrior(pd.DataFrame(probabilities, index=range(1, people + 1), columns=list(VALUES)))
    return Example(History(tables), prior, chain)


def drawn(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One value for each row of probabilities."""
    return (probabilities.cumsum(axis=1) < rng.random((len(probabilities), 1))).sum(axis=1)


def in_classes(history: History) -> History:
    """The same people with ages and weights in three classes each, as attacks with signatures of quasi-identifiers need."""
    tables = []
    for view in history:
        age, weight = view.frame["age"] // 20 * 20 + 10, (view.frame["weight"] - 50) // 17 * 17 + 58
        tables.append(View(view.frame.assign(age=age.clip(30, 70), weight=weight), view.schema, view.time))
    return History(tables)


def with_symptoms(view: View, seed: int = 2) -> tuple[View, Linking]:
    """The view with two symptoms of each person's diagnosis, and the knowledge that links symptoms to diagnoses."""
    rng = np.random.default_rng(seed)
    cells = [", ".join(rng.choice(SYMPTOMS[value], 2, replace=False)) for value in view.frame["diagnosis"]]
    return View(view.frame.assign(symptoms=cells), view.schema, view.time), Linking(
        ExternalKnowledge(SYMPTOMS), items="symptoms"
    )
