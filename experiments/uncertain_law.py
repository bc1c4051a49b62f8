"""Transitions known from a few respondents: what averaging over their posterior gives an adversary, and what it saves a publisher.

A row is an attack on ``exams(8, 500)`` by an adversary with one law, with draws of the posterior given a corpus, or with the true
law; or, in the rows "publisher", the sequential attack of an adversary who knows the true law, on releases of JS-reduce against one
of these beliefs.
"""

import pandas as pd

from experiments.presence import measured
from experiments.subjects import seeded
from foreknow.attacks import DataAugmentationAttack, JointAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.models import Adversary, Averaged, DirichletChain

DRAWS, VIEWS, RECORDS, CORPORA = 12, 8, 500, (10, 40, 160)


def uncertain(cell, _rng):
    """Attacks and publications with the law known from a corpus."""
    seed = cell["seed"]
    history, prior, law = exams(VIEWS, RECORDS, rng=seeded([29, seed]))
    others = exams(VIEWS, RECORDS, rng=seeded([30, seed])).history
    corpus = others.of(others.respondents[: cell["corpus"]])
    chain, rng = DirichletChain.fit(corpus, concentration=0.1), seeded([31, seed])
    draws, truth = [Adversary(prior, chain.sample(rng=rng)) for _ in range(DRAWS)], Adversary(prior, law)
    known = {
        "one law, the mean": Adversary(prior, chain.mean),
        "draws": Averaged(draws, updated=False),
        "true law": truth,
    }
    releases = publish(history, Mondrian(KAnonymity(2) & DistinctDiversity(2)), rng=seeded(1))
    moved = DataAugmentationAttack(Adversary(prior, chain), DRAWS, rng=seeded(1))
    attacks = {
        ("sequential", "draws, weighed by the releases"): SequentialAttack(Averaged(draws)),
        ("sequential", "draws, moved by the releases"): moved,
        ("joint", "draws, moved by the releases"): JointAttack(moved.learned(releases)),
    }
    for name, one in known.items():
        attacks |= {("sequential", name): SequentialAttack(one), ("joint", name): JointAttack(one)}
    rows = [
        {"part": part, "knowledge": name} | measured(attack(releases), history)
        for (part, name), attack in attacks.items()
    ]
    believed = known | {"draws, the worst": Averaged(draws, groups="worst", updated=False)}
    for name, defender in believed.items():
        made = publish(history, JSReduce(3, 0.8, 0.6, patience=50), defender, infeasible="suppress", rng=seeded(1))
        withheld, _ = price(suppressed(made))
        rows.append(
            {"part": "publisher", "knowledge": name, "withheld": withheld}
            | measured(SequentialAttack(truth)(made), history)
        )
    return pd.DataFrame(rows).round(4)


UNCERTAIN_LAW = Experiment(
    "uncertain_law", uncertain, [{"corpus": corpus, "seed": seed} for corpus in CORPORA for seed in range(10)]
)
