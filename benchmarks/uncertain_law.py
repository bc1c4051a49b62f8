"""Attacks by an adversary with uncertain transition probabilities: ``python benchmarks/uncertain_law.py [seed ...]``.

For each seed, ``exams(12, 1000)`` published by Mondrian and by JSReduce, with a corpus of 10 and of 100 other respondents. Sections
of the table: ``sequential``, ``joint`` (in hindsight), and ``evidence``, the log-probability of the releases under the draws.
About a quarter of an hour for each seed.
"""

import sys
from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.attacks import DataAugmentationAttack, JointAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import disclosures, exams, log_score
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    DirichletChain,
    History,
    MaxEntropy,
    Prior,
    Release,
    joint_history,
    joint_log_evidence,
    log_evidence,
)

VIEWS, RECORDS, DRAWS = 12, 1000, 24
SEEDS = ("2012", "77")
"""The first seed decided on half of the draws as the effective number and on three sweeps; the second is the check."""


def sequences(history: History) -> list[list[int]]:
    """Values of each respondent in the order of time."""
    found: dict[object, list[int]] = {}
    for view in history:
        for respondent, value in zip(view.people.respondents, view.sensitive.tolist(), strict=True):
            found.setdefault(respondent, []).append(value)
    return [values for values in found.values() if len(values) > 1]


def scores(beliefs: Beliefs, history: History) -> dict[str, float]:
    """Log score, and beliefs of .9 and more: their number, the share that is right, and the share expected."""
    sure = disclosures(beliefs, history)[["sure", "right", "expected"]].sum()
    number = max(sure["sure"], 1)
    return {
        "log score": log_score(beliefs, history)["log_score"].mean(),
        "sure": sure["sure"],
        "right": sure["right"] / number,
        "expected": sure["expected"] / number,
    }


def spread(adversaries: list[Adversary], truth: Adversary, releases: tuple[Release, ...]) -> dict[str, float]:
    """Log-probability of all releases: standard deviation between draws, and the best draw less the law."""
    found = []
    for adversary in (*adversaries, truth):
        revised = SequentialAttack(adversary)(releases)
        forward = sum(float(log_evidence(one.observation.problem(one.revised)).sum()) for one in revised)
        problem = joint_history(adversary, [release.observation for release in releases]).problem
        found.append((forward, joint_log_evidence(MaxEntropy()(problem))))
    each = np.array(found[:-1])
    deviation, best = each.std(axis=0), each.max(axis=0) - np.array(found[-1])
    return {
        "sd, sequential": deviation[0],
        "sd, joint": deviation[1],
        "correlation": float(np.corrcoef(each.T)[0, 1]),
        "best draw less law, sequential": best[0],
        "best draw less law, joint": best[1],
    }


def measured(seed: int) -> Iterable[tuple[tuple[object, ...], dict[str, float]]]:
    """Rows of a table: key of seed, defense, size of the corpus, section and adversary."""
    history, prior, law = exams(VIEWS, RECORDS, rng=seed)
    others, truth = sequences(exams(VIEWS, RECORDS, rng=seed + 1).history), Adversary(prior, law)
    published = {
        "Mondrian": publish(history, Mondrian(KAnonymity(2) & DistinctDiversity(2)), rng=1),
        "JSReduce": publish(history, JSReduce(3, 0.8, 0.6, patience=50), truth, rng=1),
    }
    for defense, releases in published.items():
        for corpus in (10, 100):
            uncertain = DirichletChain.fit(others[:corpus], concentration=0.1, values=law.values)
            for (section, adversary), row in rows(prior, uncertain, truth, releases, history, seed):
                yield (seed, defense, corpus, section, adversary), row


def rows(
    prior: Prior,
    uncertain: DirichletChain,
    truth: Adversary,
    releases: tuple[Release, ...],
    history: History,
    seed: int,
) -> Iterable[tuple[tuple[str, str], dict[str, float]]]:
    """Rows of one publication and one corpus."""
    rng = np.random.default_rng(seed + 7)
    each = [Adversary(prior, uncertain.sample(rng=rng)) for _ in range(DRAWS)]
    learning = DataAugmentationAttack(Adversary(prior, uncertain), DRAWS, rng=1)
    adversaries = {
        "mean law": Adversary(prior, uncertain.mean),
        "equal weights": Averaged(each, updated=False),
        "weighed by the releases": Averaged(each),
        "tempered, half of the draws": Averaged(each, min_effective=0.5),
        "true law": truth,
    }
    yield ("evidence", ""), spread(each, truth, releases)
    for name, adversary in adversaries.items():
        yield ("sequential", name), scores(SequentialAttack(adversary)(releases), history)
        yield ("joint", name), scores(JointAttack(adversary, MaxEntropy())(releases), history)
    yield ("sequential", "moved draws"), scores(learning(releases), history)
    yield ("joint", "moved draws"), scores(JointAttack(learning.learned(releases), MaxEntropy())(releases), history)


if __name__ == "__main__":
    for seed in sys.argv[1:] or SEEDS:
        table = pd.DataFrame.from_dict(dict(measured(int(seed))), orient="index")
        table.index.names = ["seed", "defense", "corpus", "section", "adversary"]
        for section, part in table.groupby(level="section"):
            print(f"## {section}\n{part.dropna(axis=1).round(3).to_string()}")
