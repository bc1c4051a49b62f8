"""Table of docs/reference/data-sets.md: twelve weeks of purchases, published and attacked with three kinds of knowledge.

python benchmarks/households.py
"""

from collections.abc import Iterator
from functools import partial

import pandas as pd
from subjects import timed
from tables import Row, print_sections

from foreknow.attacks import Attack, JointAttack, LearnedAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import households, risk_table
from foreknow.models import Adversary, ClassFrequencies, GivenPrior, History, MarkovChain, MaxEntropy

WEIGHT_OF_ALL = 10.0
"""Number of purchases with the frequencies of all households that each household's own are added to."""


def habits(later: History, people: tuple[object, ...]) -> GivenPrior:
    """Smoothed frequencies of each household's own purchases in other weeks."""
    frame = pd.concat([view.frame for view in later])
    values = list(later.schema.values)
    overall = frame["purchase"].value_counts(normalize=True).reindex(values, fill_value=0.0)
    counts = pd.crosstab(frame["id"], frame["purchase"]).reindex(index=list(people), columns=values, fill_value=0)
    smoothed = counts + WEIGHT_OF_ALL * overall
    return GivenPrior(smoothed.div(smoothed.sum(axis=1), axis=0))


def attacks(later: History, people: tuple[object, ...]) -> Iterator[tuple[str, Attack]]:
    classes = ClassFrequencies.fit(later, {"age": 3, "income": 3, "members": 2}, 1.0)
    own = Adversary(habits(later, people))
    yield "learned from the releases", LearnedAttack()
    yield "classes and transitions", JointAttack(Adversary(classes, MarkovChain.fit(later, pseudo_count=1.0)))
    yield "habits, snapshot", SnapshotAttack(own)
    yield "habits, joint", JointAttack(own)
    yield "habits, joint by maximum entropy", JointAttack(own, MaxEntropy())


def purchases() -> Iterator[Row]:
    """Twelve weeks of purchases, published by Mondrian (k=3, l=2) and attacked with three kinds of knowledge."""
    year = households()
    weeks, later = History(year[week] for week in range(1, 13)), History(year[week] for week in range(13, 53))
    releases = publish(weeks, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=1)
    for name, attack in attacks(later, weeks.respondents):
        attack(releases)
        beliefs, seconds = timed(partial(attack, releases))
        risk = risk_table(beliefs, weeks)
        yield {"attack": name, **risk[["gain", "success"]].mean(), **risk[["sure", "right"]].sum(), "s": seconds}


if __name__ == "__main__":
    print_sections([purchases])
