"""Parts of knowledge by the attack that they make on `pbc`, over ten splits of the patients.

A row is an adversary: priors and transitions are fitted to 30 or 104 patients; of 208 others eight yearly views are published by
Mondrian. The log score is that of the joint attack in hindsight, in bits.
"""

from functools import partial

import numpy as np
import pandas as pd

from experiments.subjects import seeded
from foreknow.attacks import JointAttack
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import log_score, pbc
from foreknow.evaluation.cells import Experiment
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    History,
    KernelPrior,
    MarkovChain,
    TransitionsByClass,
    UniformPrior,
)

CLASSES, YEARS, CORPORA = {"age": 3, "sex": None}, 8, (30, 104)

one_chain = partial(MarkovChain.fit, pseudo_count=0.2, gaps="power")
frequencies = partial(ClassFrequencies.fit, classes=CLASSES, pseudo_count=1.0)


def smoothed_kernel(corpus):
    """Kernel prior with one pseudo-record per value, since it has rows with zeros."""
    prior, count, m = KernelPrior.fit(corpus, 0.2), sum(map(len, corpus)), len(corpus.schema.values)
    return lambda people: (count * prior(people) + 1.0) / (count + m)


KNOWLEDGE = {
    "nothing": lambda _: Adversary(UniformPrior()),
    "prior by class, no transitions": lambda corpus: Adversary(frequencies(corpus)),
    "prior by class, one chain": lambda corpus: Adversary(frequencies(corpus), one_chain(corpus)),
    "uniform prior, one chain": lambda corpus: Adversary(UniformPrior(), one_chain(corpus)),
    "narrow kernel prior, one chain": lambda corpus: Adversary(smoothed_kernel(corpus), one_chain(corpus)),
    "prior by class, chains by class": lambda corpus: Adversary(
        frequencies(corpus), TransitionsByClass.fit(corpus, CLASSES, pseudo_count=0.2, gaps="power")
    ),
    "prior by class, chain of order 2": lambda corpus: Adversary(
        frequencies(corpus), MarkovChain.fit(corpus, order=2, pseudo_count=0.2, gaps="power")
    ),
}


def scores(cell, _rng):
    """Log score of each adversary on one split."""
    history = pbc()
    people = seeded(cell["seed"]).permutation(np.array(history.respondents, dtype=object))
    corpus, others = history.of(people[: cell["corpus"]]), History(history.of(people[-208:]).views[:YEARS])
    releases = publish(others, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=seeded(1))
    rows = []
    for name, known in KNOWLEDGE.items():
        table = log_score(JointAttack(known(corpus))(releases), others)
        rows.append({"knowledge": name, "log_score": np.average(table["log_score"], weights=table["measured"])})
    return pd.DataFrame(rows).round(4)


KNOWLEDGE_OF_PBC = Experiment(
    "knowledge_of_pbc", scores, [{"corpus": corpus, "seed": seed} for corpus in CORPORA for seed in range(10)]
)
