"""Error of knowledge learned from releases, and the gain of attacks with it: ``python benchmarks/learned_knowledge.py [section]``.

Sections: ``law`` (error by history, groups, people and persistence), ``attacks`` (exams, three defenses), ``failures``, ``order``,
``speed``.
"""

import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from foreknow.attacks import SequentialAttack
from foreknow.attacks.joint import JointAttack
from foreknow.defenses import Anatomy, DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import adversary_gain, exams, log_score, success_rate
from foreknow.models import (
    Adversary,
    Beliefs,
    ClassFrequencies,
    History,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Numeric,
    Observation,
    Omega,
    Prior,
    Release,
    Schema,
    UniformPrior,
    joint_history,
)
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.people import People

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
CLASSES = {"age": 3, "gender": 2, "weight": 3}


def chain(stay: float) -> FloatArray:
    """Transitions over six values of which each stays with a probability."""
    return stay * np.eye(6) + (1 - stay) * LEAVING


def drawn(rows: FloatArray, rng: np.random.Generator) -> IntArray:
    """Random value of each row's distribution."""
    return np.asarray((rows.cumsum(axis=1)[:, :-1] <= rng.random(len(rows))[:, None]).sum(axis=1))


def simulated(
    people: int, releases: int, size: int, tables: Iterable[FloatArray], rng: np.random.Generator, fixed: bool = False
) -> tuple[list[Observation], IntArray]:
    """Observations of groups of a given size, drawn anew at each release unless ``fixed``; and the values, shape ``(t, n)``.

    ``tables`` has one transition matrix of shape ``(6, 6)`` for each class of respondents; class c has ages from 20 c on.
    """
    laws = np.stack(list(tables))
    kind = np.arange(people) % len(laws)
    names = np.arange(people).astype(object)
    everyone = People(names, (20.0 * kind + 5)[:, None], SCHEMA)
    values, observations = [drawn(np.tile(PRIOR, (people, 1)), rng)], []
    places = np.arange(people) // size
    group = places
    for t in range(releases):
        if t:
            values.append(drawn(laws[kind, values[-1]], rng))
        if t == 0 or not fixed:
            group = places[rng.permutation(people)]
        counts = np.zeros((group.max() + 1, 6), dtype=np.int64)
        np.add.at(counts, (group, values[-1]), 1)
        observations.append(Observation(everyone, group, counts, t))
    return observations, np.array(values)


def errors(found: FloatArray, true: FloatArray, values: IntArray) -> float:
    """Mean total variation between rows of transitions, weighted by the true number of transitions from each value."""
    weight = np.bincount(values[:-1].ravel(), minlength=len(true))
    return float((weight * np.abs(found - true).sum(axis=1) / 2).sum() / weight.sum())


def one_case(
    people: int, releases: int, size: int, stay: float, seeds: int = 2, **options: Any
) -> dict[str, float | int]:
    """Mean errors over some simulations: learned, and estimated from the true values of the same respondents."""
    rows = []
    for seed in range(seeds):
        true = chain(stay)
        observations, values = simulated(people, releases, size, [true], np.random.default_rng(seed), **options)
        begin = time.process_time()
        learned = LearnedKnowledge.fit(observations)
        seconds = time.process_time() - begin
        assert learned.transitions is not None
        table = learned.transitions.probabilities
        relaxed = LearnedKnowledge.fit(observations, counts="expected").transitions
        assert relaxed is not None
        known = MarkovChain.fit(values.T.tolist(), values=6, pseudo_count=0.1).probabilities
        share = np.bincount(values[:-1].ravel(), minlength=6) / values[:-1].size
        rows.append(
            {
                "prior": np.abs(learned.prior.probabilities - PRIOR).sum() / 2,
                "chain": errors(table, true, values),
                "expected counts": errors(relaxed.probabilities, true, values),
                "chain, values known": errors(known, true, values),
                "staying": (share * np.diag(table)).sum(),
                "rounds": learned.rounds,
                "seconds": seconds,
            }
        )
    return {"people": people, "releases": releases, "size": size, "stay": stay, **pd.DataFrame(rows).mean().to_dict()}


def law() -> pd.DataFrame:
    """Errors by number of releases, size of groups, people and persistence, one at a time."""
    base = {"people": 1000, "releases": 8, "size": 3, "stay": 0.8}
    cases = [
        *({**base, "releases": releases} for releases in (2, 4, 8, 16)),
        *({**base, "size": size} for size in (2, 3, 5, 10)),
        *({**base, "people": people} for people in (200, 1000, 5000)),
        *({**base, "stay": stay} for stay in (0.2, 0.5, 0.8, 0.95, 0.99)),
    ]
    return pd.DataFrame([one_case(**case) for case in cases])  # type: ignore[arg-type]


def failures() -> pd.DataFrame:
    """Errors where learning is hard: constant histories, large groups, the same groups, classes with other laws."""
    cases = {
        "stay .8, groups of 3": one_case(1000, 8, 3, 0.8),
        "stay .999": one_case(1000, 8, 3, 0.999),
        "groups of 30": one_case(1000, 8, 30, 0.8),
        "groups of 100": one_case(1000, 8, 100, 0.8),
        "the same groups of 3": one_case(1000, 8, 3, 0.8, fixed=True),
        "the same groups of 10": one_case(1000, 8, 10, 0.8, fixed=True),
    }
    table = pd.DataFrame(cases).T
    rng = np.random.default_rng(1)
    tables = [chain(0.95), chain(0.3)]
    observations, values = simulated(1000, 8, 3, tables, rng)
    learned = LearnedKnowledge.fit(observations)
    assert learned.transitions is not None
    for number, true in enumerate(tables):
        own = values[:, number::2]
        table.loc[f"two classes, that with stay {(0.95, 0.3)[number]}", ["chain", "chain, values known"]] = [
            errors(learned.transitions.probabilities, true, own),
            errors(MarkovChain.fit(values.T.tolist(), values=6, pseudo_count=0.1).probabilities, true, own),
        ]
    return table


def scores(beliefs: Beliefs, history: History) -> dict[str, float]:
    """Means over all published records."""
    measured = {"gain": adversary_gain, "log score": log_score, "right": success_rate}
    rows = {}
    for name, measure in measured.items():
        frame = measure(beliefs, history)
        column = {"gain": "gain", "log score": "log_score", "right": "success"}[name]
        rows[name] = float(np.average(frame[column].fillna(0), weights=frame["measured"]))
    return rows


def attacks(views: int = 12, records: int = 2000) -> pd.DataFrame:
    """Scores of adversaries that know the law and of those that learned it, on exams published by three defenses."""
    history, prior, transitions = exams(views, records, rng=2012)
    exact = Adversary(prior, transitions, estimator=Omega())
    defenses = {
        "Mondrian l=2": Mondrian(KAnonymity(2) & DistinctDiversity(2)),
        "JSReduce": JSReduce(3, 0.5, 0.6, patience=50),
        "Anatomy l=3": Anatomy(3, rng=1),
    }
    rows = {}
    for name, defense in defenses.items():
        releases = publish(history, defense, exact, rng=1)
        rows |= {(name, known): row for known, row in _by_knowledge(releases, history, prior, transitions).items()}
    return pd.DataFrame(rows).T


def _by_knowledge(
    releases: tuple[Release, ...], history: History, prior: ClassFrequencies, transitions: MarkovChain
) -> dict[str, dict[str, float]]:
    exact = Adversary(prior, transitions)
    learned = LearnedKnowledge.fit(releases, classes=CLASSES)
    pooled = LearnedKnowledge.fit(releases)
    flat, taught = Adversary(UniformPrior(), None), Adversary(learned.prior, learned.transitions)
    adversaries = {
        "no knowledge, snapshot": JointAttack(flat, MaxEntropy()),
        "law known, sequential": SequentialAttack(exact),
        "law known, joint forward": JointAttack(exact, MaxEntropy(), hindsight=False),
        "law known, joint": JointAttack(exact, MaxEntropy()),
        "learned, sequential": SequentialAttack(taught),
        "learned, joint forward": JointAttack(taught, MaxEntropy(), hindsight=False),
        "learned, joint": JointAttack(taught, MaxEntropy()),
        "learned without classes, joint": JointAttack(Adversary(pooled.prior, pooled.transitions), MaxEntropy()),
    }
    found = {}
    for name, attack in adversaries.items():
        found[name] = scores(attack(releases), history)
        used = learned if name.startswith("learned,") else pooled if name.startswith("learned") else None
        if used is not None and used.transitions is not None:
            found[name]["chain error"] = errors(
                used.transitions.probabilities,
                transitions.probabilities,
                np.concatenate([v.sensitive for v in history]),
            )
    return found


def speed(views: int = 24, records: int = 5000) -> pd.DataFrame:
    """Seconds of `LearnedKnowledge.fit` on the releases of exams by Mondrian, after compilation."""
    history = exams(views, records, rng=2012).history
    releases = publish(history, Mondrian(KAnonymity(2) & DistinctDiversity(2)), rng=1)
    LearnedKnowledge.fit(releases[:2], rounds=2)
    rows = {}
    for name, classes in {"one prior": None, "18 classes": CLASSES}.items():
        begin = time.process_time()
        learned = LearnedKnowledge.fit(releases, classes=classes)
        rows[name] = {"seconds": time.process_time() - begin, "rounds": learned.rounds}
    return pd.DataFrame(rows).T


def returning() -> FloatArray:
    """Transitions of order 2 over six values: the last value, the one before it, or another one."""
    last, before = np.eye(6)[None, :, :], np.eye(6)[:, None, :]
    return np.asarray(0.4 * last + 0.4 * before + 0.2 * LEAVING[None, :, :])


def wrong_order(people: int = 900, releases: int = 8, size: int = 3) -> pd.DataFrame:
    """Log score in hindsight, in bits, where the law has order 2: laws of order 1 and 2, true and learned."""
    rng, true = np.random.default_rng(3), MarkovChain(2, returning())
    everyone = People(np.arange(people).astype(object), np.full((people, 1), 5.0), SCHEMA)
    values = [drawn(np.tile(PRIOR, (people, 1)), rng)]
    values.append(drawn(true.tables[0][values[0]], rng))
    while len(values) < releases:
        values.append(drawn(true.probabilities[values[-2], values[-1]], rng))
    observations = []
    for t, own in enumerate(values):
        group = (np.arange(people) // size)[rng.permutation(people)]
        counts = np.zeros((group.max() + 1, 6), dtype=np.int64)
        np.add.at(counts, (group, own), 1)
        observations.append(Observation(everyone, group, counts, t))
    prior = ClassFrequencies({}, PRIOR)
    laws: dict[str, tuple[Prior, MarkovChain | None]] = {
        "true law, order 2": (prior, true),
        "true law, cut to order 1": (prior, MarkovChain.fit(np.array(values).T.tolist(), values=6)),
    }
    for order in (1, 2):
        learned = LearnedKnowledge.fit(observations, order=order)
        laws[f"learned, order {order}"] = (learned.prior, learned.transitions)
    rows = {}
    for name, (law_prior, law_chain) in laws.items():
        history = joint_history(Adversary(law_prior, law_chain), observations)
        posterior, held = MaxEntropy()(history.problem), []
        for record, own in zip(history.record, values, strict=True):
            held.append(posterior.rows(record)[np.arange(people), own])
        rows[name] = {"log score": float(np.log2(np.maximum(held, 2.0**-20)).mean())}
    return pd.DataFrame(rows).T


SECTIONS = {"law": law, "attacks": attacks, "failures": failures, "order": wrong_order, "speed": speed}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        print(f"## {section}")
        print(SECTIONS[section]().round(4).to_string())  # type: ignore[operator]
