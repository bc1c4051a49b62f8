"""Attacks without background knowledge on Adult, beside the shares of the groups: ``python benchmarks/learned_attacks.py``.

The sensitive attribute is the occupation (14 values); the quasi-identifiers are age, sex, race, marital status and education. The
script prints a table for each defense: the share of the records whose most likely value is the true one (ties count by their
share), the log score in bits, the mean of the largest belief less this accuracy (overconfidence), and seconds of processor time.
"""

import time
from collections.abc import Iterator, Mapping

import numpy as np
from subjects import ADULT_QI, census

from foreknow.attacks import (
    Attack,
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    ForegroundAttack,
    LearnedAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
    SnapshotAttack,
)
from foreknow.defenses import Anatomy, Defense, DistinctDiversity, KAnonymity, Mondrian
from foreknow.models import (
    Adversary,
    Beliefs,
    GroupMessages,
    MaxEntropy,
    RandomWorlds,
    Release,
    Sinkhorn,
    UniformPrior,
    View,
)
from foreknow.models.arrays import FloatArray, IntArray

CLASSES = {
    "classes by education and sex": {"education": None, "sex": None},
    "classes by all attributes": dict.fromkeys(ADULT_QI) | {"age": 4},
}
"""Classes of the learned prior."""

LEAST = 2.0**-20
"""Smallest belief in the log score, as in `foreknow.evaluation.log_score`."""


def releases(view: View, defense: Defense, number: int) -> list[Release]:
    """Releases of one view at the times 1 to ``number``, each made anew."""
    prior = np.full((len(view), len(view.schema.values)), 1 / len(view.schema.values))
    return [Release(View(view.frame, view.schema, t), defense(view, prior, ())) for t in range(1, number + 1)]


def statements(view: View, attribute: str) -> list[ConditionalProbability]:
    """True probabilities of each occupation given each value of an attribute."""
    table = view.frame.groupby(attribute)["occupation"].value_counts(normalize=True)
    return [ConditionalProbability(value, {attribute: level}, float(p)) for (level, value), p in table.items()]


def attacks(view: View) -> Mapping[str, Attack]:
    """Attacks of each release alone."""
    return {
        "shares of the groups": SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds())),
        "`DeFinettiAttack(estimator=Sinkhorn())`": DeFinettiAttack(estimator=Sinkhorn()),
        '`DeFinettiAttack("hard", estimator=Sinkhorn())`': DeFinettiAttack("hard", estimator=Sinkhorn()),
        "`PrivacyMaxEntAttack`: P(occupation given sex)": PrivacyMaxEntAttack(statements(view, "sex")),
        "`PrivacyMaxEntAttack`: P(occupation given education)": PrivacyMaxEntAttack(statements(view, "education")),
    }


def row(name: str, beliefs: FloatArray, truth: IntArray, seconds: float) -> str:
    """A row of the table."""
    largest = beliefs.max(axis=1, keepdims=True)
    best = beliefs >= largest - 1e-9
    accuracy = (best[np.arange(len(truth)), truth] / best.sum(axis=1)).mean()
    score = np.log2(np.maximum(beliefs[np.arange(len(truth)), truth], LEAST)).mean()
    return f"| {name} | {accuracy:.3f} | {score:.3f} | {largest.mean() - accuracy:+.3f} | {seconds:.1f} |"


def timed(attack: Attack, published: list[Release]) -> tuple[Beliefs, float]:
    """Beliefs, and seconds of processor time."""
    start = time.process_time()
    beliefs = attack(published)
    return beliefs, time.process_time() - start


def rows(view: View, name: str, defense: Defense) -> Iterator[str]:
    """Rows of one defense."""
    yield f"\n{name}\n\n| attack | accuracy | log score, bits | overconfidence | s |\n|---|---|---|---|---|"
    published = releases(view, defense, 3)
    extra: dict[str, Attack] = {}
    if isinstance(defense, Mondrian):
        extra['`MinimalityAttack(2, k=2, diversity="distinct")`'] = MinimalityAttack(2, k=2, diversity="distinct")
    else:
        # The groups of Mondrian are too large for the exact posterior in all rounds.
        extra["`DeFinettiAttack()`"] = DeFinettiAttack()
        single = ForegroundAttack([[name] for name in ADULT_QI], support=500)
        extra["`ForegroundAttack`, single attributes"] = single
        for label, classes in CLASSES.items():
            for solver in (MaxEntropy(), GroupMessages()):
                extra[f"`LearnedAttack`, {label}, `{type(solver).__name__}`"] = LearnedAttack(classes, solver=solver)
    for label, attack in {**attacks(view), **extra}.items():
        beliefs, seconds = timed(attack, published[:1])
        yield row(label, beliefs.releases[0].posterior.probabilities, view.sensitive, seconds)
        for note in beliefs.notes:
            yield f"<!-- {note} -->"
    if isinstance(defense, Anatomy):
        several: dict[str, Attack] = {
            "`CompositionAttack()`": CompositionAttack(),
            '`CompositionAttack("product")`': CompositionAttack("product"),
            '`CompositionAttack("product", "table")`': CompositionAttack("product", "table"),
        }
        for label, attack in several.items():
            beliefs, seconds = timed(attack, published)
            for number in (2, 3):
                found = beliefs.releases[number - 1].posterior.probabilities
                yield row(f"{label}, {number} releases", found, view.sensitive, seconds)


def main() -> None:
    """Print the tables."""
    view = census(None)
    assert tuple(view.schema.quasi_identifiers) == ADULT_QI
    warm = census(200)
    for attack in attacks(warm).values():
        attack(releases(warm, Anatomy(2, rng=np.random.default_rng(0)), 1))
    for name, defense in (
        ("`Anatomy(2)`", Anatomy(2, rng=np.random.default_rng(1))),
        ("`Mondrian(KAnonymity(2) & DistinctDiversity(2))`", Mondrian(KAnonymity(2) & DistinctDiversity(2))),
    ):
        for line in rows(view, name, defense):
            print(line, flush=True)


if __name__ == "__main__":
    main()
