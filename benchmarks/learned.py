"""Sections 27 and 28 of docs/findings.md, attacks that learn from the releases: ``python benchmarks/learned.py [section ...]``.

Sections: ``law`` (error of learned knowledge by history, groups, people and persistence), ``failures``, ``attacks`` (exams, three
defenses), ``order``, and ``on_adult``: attacks on Adult without knowledge, beside the shares of the groups.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from subjects import ADULT_QI, census, seeded, timed
from tables import Row, attacked, print_sections, published

from foreknow.attacks import (
    Attack,
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    ForegroundAttack,
    JointAttack,
    LearnedAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
    SequentialAttack,
    SnapshotAttack,
)
from foreknow.defenses import Anatomy, Defense, DistinctDiversity, JSReduce, KAnonymity, Mondrian
from foreknow.evaluation import exams
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    GroupMessages,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Numeric,
    Observation,
    Omega,
    RandomWorlds,
    Release,
    Schema,
    Sinkhorn,
    UniformPrior,
    View,
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
    return np.asarray((rows.cumsum(axis=1)[:, :-1] <= rng.random(len(rows))[:, None]).sum(axis=1))


def observed(
    values: Iterable[IntArray], ages: IntArray, size: int, rng: np.random.Generator, fixed: bool = False
) -> list[Observation]:
    """Observations of groups of a given size, drawn anew at each release unless ``fixed``."""
    places, observations = np.arange(len(ages)) // size, []
    everyone = People(np.arange(len(ages)).astype(object), ages[:, None].astype(float), SCHEMA)
    for t, own in enumerate(values):
        if t == 0 or not fixed:
            group = places[rng.permutation(len(ages))]
        counts = np.zeros((group.max() + 1, 6), dtype=np.int64)
        np.add.at(counts, (group, own), 1)
        observations.append(Observation(everyone, group, counts, t))
    return observations


def simulated(
    people: int, releases: int, size: int, tables: list[FloatArray], rng: np.random.Generator, fixed: bool = False
) -> tuple[list[Observation], IntArray]:
    """Observations, and the values, shape ``(t, n)``; each class c of respondents has a table, and ages from 20 c on."""
    laws, kind = np.stack(tables), np.arange(people) % len(tables)
    values: list[IntArray] = []

    def path() -> Iterator[IntArray]:
        for t in range(releases):
            values.append(drawn(laws[kind, values[-1]] if t else np.tile(PRIOR, (people, 1)), rng))
            yield values[-1]

    return observed(path(), 20 * kind + 5, size, rng, fixed), np.array(values)


def errors(found: MarkovChain | None, true: FloatArray, values: IntArray) -> float:
    """Mean total variation between rows of transitions, weighted by the true number of transitions from each value."""
    assert found is not None
    weight = np.bincount(values[:-1].ravel(), minlength=len(true))
    return float((weight * np.abs(found.probabilities - true).sum(axis=1) / 2).sum() / weight.sum())


def one_case(people: int = 1000, releases: int = 8, size: int = 3, stay: float = 0.8, **options: Any) -> Row:
    """Mean errors over two simulations: learned, and estimated from the true values of the same respondents."""
    rows, true = [], chain(stay)
    for seed in range(2):
        observations, values = simulated(people, releases, size, [true], seeded(seed), **options)
        learned, seconds = timed(partial(LearnedKnowledge.fit, observations))
        assert learned.transitions is not None
        share = np.bincount(values[:-1].ravel(), minlength=6) / values[:-1].size
        known = MarkovChain.fit(values.T.tolist(), values=6, pseudo_count=0.1)
        rows.append(
            {
                "prior": np.abs(learned.prior.probabilities - PRIOR).sum() / 2,
                "chain": errors(learned.transitions, true, values),
                "expected counts": errors(
                    LearnedKnowledge.fit(observations, counts="expected").transitions, true, values
                ),
                "chain, values known": errors(known, true, values),
                "staying": (share * np.diag(learned.transitions.probabilities)).sum(),
                "rounds": learned.rounds,
                "seconds": seconds,
            }
        )
    return {"people": people, "releases": releases, "size": size, "stay": stay, **pd.DataFrame(rows).mean()}


def law() -> Iterator[Row]:
    """Errors by number of releases, size of groups, people and persistence, one at a time."""
    yield from (one_case(releases=releases) for releases in (2, 4, 8, 16))
    yield from (one_case(size=size) for size in (2, 3, 5, 10))
    yield from (one_case(people=people) for people in (200, 1000, 5000))
    yield from (one_case(stay=stay) for stay in (0.2, 0.5, 0.8, 0.95, 0.99))


def failures() -> Iterator[Row]:
    """Errors where learning is hard: constant histories, large groups, the same groups, two classes with other laws."""
    cases: list[Row] = [{"stay": 0.8}, {"stay": 0.999}, {"size": 30}, {"size": 100}]
    for case in [*cases, {"size": 3, "fixed": True}, {"size": 10, "fixed": True}]:
        yield {"fixed": case.get("fixed", False)} | one_case(**case)
    observations, values = simulated(1000, 8, 3, [chain(0.95), chain(0.3)], seeded(1))
    for number, stay in enumerate((0.95, 0.3)):
        own, found = values[:, number::2], LearnedKnowledge.fit(observations).transitions
        known = MarkovChain.fit(values.T.tolist(), values=6, pseudo_count=0.1)
        yield {"class with stay": stay} | {
            "chain": errors(found, chain(stay), own),
            "chain, values known": errors(known, chain(stay), own),
        }


def attacks(views: int = 12, records: int = 2000) -> Iterator[Row]:
    """Adversaries that know the law and those that learned it, on exams published by three defenses."""
    history, prior, transitions = exams(views, records, rng=2012)
    defenses: dict[str, Defense] = {
        "Mondrian l=2": Mondrian(KAnonymity(2) & DistinctDiversity(2)),
        "JSReduce": JSReduce(3, 0.5, 0.6, patience=50),
        "Anatomy l=3": Anatomy(3, rng=1),
    }
    for name, releases in published(history, defenses, Adversary(prior, transitions, estimator=Omega())):
        learned, pooled = LearnedKnowledge.fit(releases, classes=CLASSES), LearnedKnowledge.fit(releases)
        exact, taught = Adversary(prior, transitions), Adversary(learned.prior, learned.transitions)
        adversaries: dict[str, Attack] = {
            "no knowledge, snapshot": JointAttack(Adversary(UniformPrior(), None), MaxEntropy()),
            "law known, sequential": SequentialAttack(exact),
            "law known, joint forward": JointAttack(exact, MaxEntropy(), hindsight=False),
            "law known, joint": JointAttack(exact, MaxEntropy()),
            "learned, sequential": SequentialAttack(taught),
            "learned, joint forward": JointAttack(taught, MaxEntropy(), hindsight=False),
            "learned, joint": JointAttack(taught, MaxEntropy()),
            "learned without classes, joint": JointAttack(Adversary(pooled.prior, pooled.transitions), MaxEntropy()),
        }
        yield from attacked(history, [(name, releases)], adversaries)
        values = np.concatenate([view.sensitive for view in history])
        for known, found in (("learned", learned), ("learned without classes", pooled)):
            yield {"knowledge": known, "chain error": errors(found.transitions, transitions.probabilities, values)}


def order(people: int = 900, releases: int = 8) -> Iterator[Row]:
    """Log score in hindsight, in bits, where the law has order 2: laws of order 1 and 2, true and learned.

    A value is the last one, the one before it, or another one.
    """
    returning = 0.4 * np.eye(6)[None, :, :] + 0.4 * np.eye(6)[:, None, :] + 0.2 * LEAVING[None, :, :]
    rng, true = np.random.default_rng(3), MarkovChain(2, returning)
    values = [drawn(np.tile(PRIOR, (people, 1)), rng)]
    values.append(drawn(true.tables[0][values[0]], rng))
    while len(values) < releases:
        values.append(drawn(true.probabilities[values[-2], values[-1]], rng))
    observations, prior = observed(values, np.full(people, 5), 3, rng), ClassFrequencies({}, PRIOR)
    adversaries = {
        "true law, order 2": Adversary(prior, true),
        "true law, cut to order 1": Adversary(prior, MarkovChain.fit(np.array(values).T.tolist(), values=6)),
    }
    for number in (1, 2):
        learned = LearnedKnowledge.fit(observations, order=number)
        adversaries[f"learned, order {number}"] = Adversary(learned.prior, learned.transitions)
    for name, adversary in adversaries.items():
        history = joint_history(adversary, observations)
        posterior = MaxEntropy()(history.problem)
        held = [
            posterior.rows(record)[np.arange(people), own] for record, own in zip(history.record, values, strict=True)
        ]
        yield {"law": name, "log score": float(np.log2(np.maximum(held, 2.0**-20)).mean())}


ADULT_CLASSES = {
    "classes by education and sex": {"education": None, "sex": None},
    "classes by all attributes": dict.fromkeys(ADULT_QI) | {"age": 4},
}
"""Classes of the learned prior on Adult."""


def statements(view: View, attribute: str) -> list[ConditionalProbability]:
    """True probabilities of each occupation given each value of an attribute."""
    table = view.frame.groupby(attribute)["occupation"].value_counts(normalize=True)
    return [ConditionalProbability(value, {attribute: level}, float(p)) for (level, value), p in table.items()]


def adult_attacks(view: View, defense: Defense) -> dict[str, Attack]:
    """Attacks of one release; the groups of Mondrian are too large for the exact posterior in all rounds."""
    found: dict[str, Attack] = {
        "shares of the groups": SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds())),
        "`DeFinettiAttack(estimator=Sinkhorn())`": DeFinettiAttack(estimator=Sinkhorn()),
        '`DeFinettiAttack("hard", estimator=Sinkhorn())`': DeFinettiAttack("hard", estimator=Sinkhorn()),
        "`PrivacyMaxEntAttack`: P(occupation given sex)": PrivacyMaxEntAttack(statements(view, "sex")),
        "`PrivacyMaxEntAttack`: P(occupation given education)": PrivacyMaxEntAttack(statements(view, "education")),
    }
    if isinstance(defense, Mondrian):
        minimality: Attack = MinimalityAttack(2, k=2, diversity="distinct")
        return found | {'`MinimalityAttack(2, k=2, diversity="distinct")`': minimality}
    found["`DeFinettiAttack()`"] = DeFinettiAttack()
    found["`ForegroundAttack`, single attributes"] = ForegroundAttack([[name] for name in ADULT_QI], support=500)
    for label, classes in ADULT_CLASSES.items():
        for solver in (MaxEntropy(), GroupMessages()):
            found[f"`LearnedAttack`, {label}, `{type(solver).__name__}`"] = LearnedAttack(classes, solver=solver)
    return found


COMPOSITIONS: dict[str, Attack] = {
    "`CompositionAttack()`": CompositionAttack(),
    '`CompositionAttack("product")`': CompositionAttack("product"),
    '`CompositionAttack("product", "table")`': CompositionAttack("product", "table"),
}


def adult_rows(view: View, defense: Defense) -> Iterator[Row]:
    """Accuracy (ties count by their share), log score in bits, largest belief less accuracy, and seconds of processor time."""
    prior = UniformPrior()(view.people)
    releases = [Release(View(view.frame, view.schema, t), defense(view, prior, ())) for t in (1, 2, 3)]
    several = COMPOSITIONS if isinstance(defense, Anatomy) else {}
    for label, attack in (adult_attacks(view, defense) | several).items():
        found, seconds = timed(partial(attack, releases if label in several else releases[:1]))
        row = np.arange(len(view))
        for number, release in list(enumerate(found.releases, 1))[1 if label in several else 0 :]:
            beliefs = release.posterior.probabilities
            largest = beliefs.max(axis=1, keepdims=True)
            best = beliefs >= largest - 1e-9
            accuracy = (best[row, view.sensitive] / best.sum(axis=1)).mean()
            score = np.log2(np.maximum(beliefs[row, view.sensitive], 2.0**-20)).mean()
            key = {"defense": f"`{defense}`", "attack": label, "releases": number, "accuracy": accuracy}
            yield key | {"log score, bits": score, "overconfidence": largest.mean() - accuracy, "s": seconds}


def on_adult() -> Iterator[Row]:
    """Attacks without knowledge on Adult: occupation (14 values) by age, sex, race, marital status and education."""
    for defense in (Anatomy(2, rng=seeded(1)), Mondrian(KAnonymity(2) & DistinctDiversity(2))):
        list(adult_rows(census(200), defense))
        yield from adult_rows(census(None), defense)


if __name__ == "__main__":
    print_sections((law, failures, attacks, order, on_adult))
