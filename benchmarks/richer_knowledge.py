"""Knowledge from programs and uncertain knowledge: ``python benchmarks/richer_knowledge.py [section ...]``.

On pbc: ``prior``, `RegressionPrior` beside `ClassFrequencies` and `KernelPrior`, by size of corpus; ``compare``, LOO of regressions
and of class frequencies as programs, beside held-out scores; ``transitions``; ``attack_prior`` and ``attack_transitions``, the same
knowledge by the log score of the attacks that it makes on a release of the other patients. ``uncertain``: ``exams(12, 1000)``,
with a corpus of 10 and of 100 other respondents, half an hour.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
from subjects import seeded
from tables import Row, assessed, print_sections

from foreknow.attacks import DataAugmentationAttack, JointAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import compare_knowledge, exams, pbc
from foreknow.models import (
    Adversary,
    Averaged,
    ClassFrequencies,
    DirichletChain,
    Exact,
    History,
    KernelPrior,
    MarkovChain,
    MaxEntropy,
    People,
    Prior,
    RegressionDesign,
    RegressionPrior,
    Release,
    TransitionsByClass,
    UniformPrior,
    hierarchical_markov_model,
    joint_history,
    prior_model,
)
from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.exact import log_evidence
from foreknow.models.joint import joint_log_evidence

logging.getLogger("pymc").setLevel(logging.ERROR)
CLASSES = {"age": 3, "sex": None}
SIZES = (30, 60, 150)
"""Respondents of the corpus; the last 150 of 312 are held out."""
SPLITS = 4
SAMPLING: dict[str, Any] = {
    "draws": 500,
    "chains": 2,
    "cores": 1,
    "progressbar": False,
    "random_seed": 2026,
    "nuts_sampler": "pymc",
}


def splits(size: int) -> Iterator[tuple[History, History]]:
    history = pbc()
    for seed in range(SPLITS):
        people = np.random.default_rng(seed).permutation(np.array(history.respondents, dtype=object))
        yield history.of(people[:size]), history.of(people[-150:])


def score(prior: Callable[[People], FloatArray], history: History) -> float:
    """Mean log2 probability of the true values of all records."""
    parts = [np.log2(prior(view.people)[np.arange(len(view)), view.sensitive]) for view in history]
    return float(np.concatenate(parts).mean())


def regression(corpus: History) -> RegressionPrior:
    trace = pm.sample(model=prior_model(corpus), target_accept=0.95, **SAMPLING)
    return RegressionPrior.from_posterior(trace, RegressionDesign.fit(corpus))


def smoothed_kernel(bandwidth: float, corpus: History) -> Callable[[People], FloatArray]:
    """Kernel prior with a share of one pseudo-record per value, since it has rows with zeros."""
    prior, count = KernelPrior.fit(corpus, bandwidth), sum(map(len, corpus))
    m = len(corpus.schema.values)
    return lambda people: (count * prior(people) + 1.0) / (count + m)


PRIORS: dict[str, Callable[[History], Callable[[People], FloatArray]]] = {
    "frequencies of all": lambda corpus: ClassFrequencies.fit(corpus, {}, 1.0),
    "ClassFrequencies, 3 ages x 2 sexes": lambda corpus: ClassFrequencies.fit(corpus, CLASSES, 1.0),
    "ClassFrequencies, 8 ages x 2 sexes": lambda corpus: ClassFrequencies.fit(corpus, {"age": 8, "sex": None}, 1.0),
    "KernelPrior, bandwidth 0.2, mixed with one pseudo-record per value": partial(smoothed_kernel, 0.2),
    "KernelPrior, bandwidth 0.5, mixed with one pseudo-record per value": partial(smoothed_kernel, 0.5),
    "RegressionPrior": regression,
}


def over_splits(fits: Mapping[str, Callable[[History], Any]], scored: Callable[[Any, History], float]) -> pd.DataFrame:
    """Held-out score in bits, mean over splits, by size of the corpus."""
    rows = {
        name: [np.mean([scored(fit(corpus), others) for corpus, others in splits(size)]) for size in SIZES]
        for name, fit in fits.items()
    }
    return pd.DataFrame(rows, index=pd.Index(SIZES, name="respondents")).T


def prior() -> pd.DataFrame:
    """Held-out log score of priors, by size of the corpus."""
    return over_splits(PRIORS, score)


def class_model(history: History, classes: dict[str, int | None]) -> pm.Model:
    """Class frequencies as a program with one log-likelihood per record."""
    prior = ClassFrequencies.fit(history, classes, 1.0)
    of_record = np.concatenate([prior.classes(view.people) for view in history])
    recorded = np.concatenate([view.sensitive for view in history])
    with pm.Model() as model:
        frequencies = pm.Dirichlet("frequencies", np.ones((of_record.max() + 1, len(history.schema.values))))
        pm.Categorical("recorded", frequencies[of_record], observed=recorded)
    return model


COMPARED: dict[str, tuple[str, ...] | dict[str, int | None]] = {
    "`prior_model`, age and sex": ("age", "sex"),
    "`prior_model`, age": ("age",),
    "`prior_model`, sex": ("sex",),
    "class frequencies, no classes": {},
    "class frequencies, 3 ages and 2 sexes": CLASSES,
}
"""Attributes of a regression, or classes."""


def compare() -> pd.DataFrame:
    """`arviz.compare` of programs on the first records of 162 patients, beside the log score at those of the other 150.

    Columns ``loo`` and ``held out`` are bits per record; kernel priors are no programs and have the second alone.
    """
    corpus, others = next(splits(len(pbc().respondents) - 150))
    first, held_out = History([corpus[0]]), History([others[0]])
    traces, scores = {}, {}
    for name, by in COMPARED.items():
        model = class_model(first, by) if isinstance(by, dict) else prior_model(first, by)
        traces[name] = pm.sample(model=model, target_accept=0.95, **SAMPLING)
        pm.compute_log_likelihood(traces[name], model=model, progressbar=False)
        prior = (
            ClassFrequencies.fit(first, by, 1.0)
            if isinstance(by, dict)
            else RegressionPrior.from_posterior(traces[name], RegressionDesign.fit(first, by))
        )
        scores[name] = score(prior, held_out)
    kernels = {name: score(fit(first), held_out) for name, fit in PRIORS.items() if name.startswith("KernelPrior")}
    table = az.compare(traces, round_to="none")
    table["loo"] = table["elpd"] / len(first[0]) / np.log(2)
    return pd.concat([table, pd.DataFrame(index=list(kernels))]).assign(**{"held out": pd.Series(scores | kernels)})


def step_score(transitions: Any, history: History) -> float:
    """Mean log2 probability of the value after each last one, for records of consecutive views."""
    logs: list[float] = []
    for before, view in zip(history, history.views[1:], strict=False):
        last = dict(zip(before.people.respondents.tolist(), before.sensitive.tolist(), strict=True))
        classes = (
            transitions.class_of(view.people)
            if isinstance(transitions, TransitionsByClass)
            else np.zeros(len(view), int)
        )
        chains = transitions.chains_at(0) if isinstance(transitions, TransitionsByClass) else (transitions,)
        for respondent, own, value in zip(view.people.respondents, classes, view.sensitive, strict=True):
            if respondent in last:
                logs.append(float(np.log2(chains[own].probabilities[last[respondent], value])))
    return float(np.mean(logs))


def partially_pooled(corpus: History) -> TransitionsByClass:
    model = hierarchical_markov_model(corpus, CLASSES, pooled_concentration=0.2)
    trace = pm.sample(model=model, var_names=["pooled", "transitions"], target_accept=0.95, **SAMPLING)
    cuts = ClassFrequencies.fit(corpus, CLASSES).cuts
    return TransitionsByClass.from_posterior(trace, cuts, values=corpus.schema.values)


CHAINS: dict[str, Callable[[History], Any]] = {
    "one chain": lambda corpus: MarkovChain.fit(corpus, pseudo_count=0.2, gaps="power"),
    "separate chains": lambda corpus: TransitionsByClass.fit(corpus, CLASSES, pseudo_count=0.2, gaps="power"),
    "hierarchical_markov_model": partially_pooled,
}


def transitions() -> pd.DataFrame:
    """Held-out log score of the next value: partial pooling beside one chain and separate chains."""
    return over_splits(CHAINS, step_score)


ATTACKED = (30, 104)
"""Respondents of the corpus; 104 are a third. The last 208 are published."""
YEARS = 8


def third(size: int) -> tuple[History, History, tuple[Release, ...]]:
    """Corpus, the other patients, and their yearly releases: groups of at least 3 with 2 stages."""
    history = pbc()
    people = np.random.default_rng(0).permutation(np.array(history.respondents, dtype=object))
    others = History(history.of(people[-208:]).views[:YEARS])
    return history.of(people[:size]), others, publish(others, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=1)


def attack_table(
    fits: dict[str, Callable[[History], Any]],
    adversary: Callable[[Any, History], Adversary],
    held_out: Callable[[Any, History], float],
) -> pd.DataFrame:
    """Held-out score of knowledge, and of its joint attack in hindsight, with intervals, and its sequential attack."""
    tables = {}
    for size in ATTACKED:
        corpus, others, releases = third(size)
        known = {name: fit(corpus) for name, fit in fits.items()}
        adversaries = {name: adversary(knowledge, corpus) for name, knowledge in known.items()}
        adversaries["no knowledge"] = Adversary(UniformPrior(), estimator=Exact())
        joint = compare_knowledge(releases, adversaries, partial(JointAttack, solver=MaxEntropy()), rng=1).set_index(
            "adversary"
        )
        sequential = compare_knowledge(releases, adversaries, SequentialAttack, draws=0).set_index("adversary")
        scores = pd.Series({name: held_out(knowledge, others) for name, knowledge in known.items()})
        tables[size] = joint.assign(sequential=sequential["log_score"], held_out=scores)
    return pd.concat(tables, names=["respondents"])


def attack_prior() -> pd.DataFrame:
    """Priors with the chain of the corpus."""

    def adversary(prior: Any, corpus: History) -> Adversary:
        chain = MarkovChain.fit(corpus, pseudo_count=0.2, gaps="power")
        return Adversary(prior, chain, estimator=Exact())

    uniform = {"uniform prior": lambda _: UniformPrior()}
    return attack_table(uniform | PRIORS, adversary, score)


def attack_transitions() -> pd.DataFrame:
    """Transitions with class frequencies as prior; order 0 has the prior alone."""

    def adversary(transitions: Any, corpus: History) -> Adversary:
        return Adversary(ClassFrequencies.fit(corpus, CLASSES, 1.0), transitions, estimator=Exact())

    def held_out(transitions: Any, others: History) -> float:
        is_first_order = isinstance(transitions, TransitionsByClass) or (transitions and transitions.order == 1)
        return step_score(transitions, others) if is_first_order else np.nan

    orders: dict[str, Callable[[History], Any]] = {
        "order 0": lambda _: None,
        "order 2": lambda corpus: MarkovChain.fit(corpus, order=2, pseudo_count=0.2, gaps="power"),
    }
    return attack_table(orders | CHAINS, adversary, held_out)


VIEWS, RECORDS, DRAWS = 12, 1000, 24
SEEDS = (2012, 77)
"""The first seed decided on half of the draws as the effective number and on three sweeps; the second is the check."""


def sequences(history: History) -> list[list[int]]:
    found: dict[object, list[int]] = {}
    for view in history:
        for respondent, value in zip(view.people.respondents, view.sensitive.tolist(), strict=True):
            found.setdefault(respondent, []).append(value)
    return [values for values in found.values() if len(values) > 1]


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


def uncertain() -> Iterator[Row]:
    """Section 29: an adversary with uncertain transition probabilities, by defense and size of the corpus.

    Parts: ``sequential``, ``joint`` (in hindsight), and ``evidence``, the log-probability of the releases under the draws.
    """
    for seed in SEEDS:
        history, prior, law = exams(VIEWS, RECORDS, rng=seed)
        others, truth = sequences(exams(VIEWS, RECORDS, rng=seed + 1).history), Adversary(prior, law)
        releases = {
            "Mondrian": publish(history, Mondrian(KAnonymity(2) & DistinctDiversity(2)), rng=1),
            "JSReduce": publish(history, JSReduce(3, 0.8, 0.6, patience=50), truth, rng=1),
        }
        for (defense, published), corpus in product(releases.items(), (10, 100)):
            chain = DirichletChain.fit(others[:corpus], concentration=0.1, values=law.values)
            for row in uncertain_rows(prior, chain, truth, published, history, seed):
                yield {"seed": seed, "defense": defense, "corpus": corpus} | row


def uncertain_rows(
    prior: Prior, chain: DirichletChain, truth: Adversary, releases: tuple[Release, ...], history: History, seed: int
) -> Iterator[Row]:
    rng = seeded(seed + 7)
    each = [Adversary(prior, chain.sample(rng=rng)) for _ in range(DRAWS)]
    learning = DataAugmentationAttack(Adversary(prior, chain), DRAWS, rng=1)
    adversaries = {
        "mean law": Adversary(prior, chain.mean),
        "equal weights": Averaged(each, updated=False),
        "weighed by the releases": Averaged(each),
        "tempered, half of the draws": Averaged(each, min_effective=0.5),
        "true law": truth,
    }
    yield {"part": "evidence"} | spread(each, truth, releases)
    for name, adversary in adversaries.items():
        for part, attack in (
            ("sequential", SequentialAttack(adversary)),
            ("joint", JointAttack(adversary, MaxEntropy())),
        ):
            yield {"part": part, "adversary": name} | assessed(attack(releases), history)
    learned = JointAttack(learning.learned(releases), MaxEntropy())
    for part, attack in (("sequential", learning), ("joint", learned)):
        yield {"part": part, "adversary": "moved draws"} | assessed(attack(releases), history)


if __name__ == "__main__":
    print_sections((prior, compare, transitions, attack_prior, attack_transitions, uncertain))
