"""Held-out log scores of knowledge from PyMC programs on pbc: ``python benchmarks/richer_knowledge.py [section]``.

``prior``: `RegressionPrior` beside `ClassFrequencies` and `KernelPrior`, by size of corpus. ``compare``: LOO of regressions and
of class frequencies as programs, beside held-out scores. ``transitions``: partial pooling beside one chain and separate chains.
``attack_prior`` and ``attack_transitions``: the same knowledge by the log score of the attacks that it makes on a release of the
other patients.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import compare_knowledge, pbc
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    Exact,
    History,
    KernelPrior,
    MarkovChain,
    MaxEntropy,
    People,
    RegressionDesign,
    RegressionPrior,
    Release,
    TransitionsByClass,
    UniformPrior,
    hierarchical_markov_model,
    prior_model,
)
from foreknow.models.arrays import FloatArray

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
    """Corpus and held-out part, by respondent."""
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


def prior_table() -> pd.DataFrame:
    """Held-out log score in bits, mean over splits."""
    rows = {}
    for name, fit in PRIORS.items():
        rows[name] = [np.mean([score(fit(corpus), others) for corpus, others in splits(size)]) for size in SIZES]
    return pd.DataFrame(rows, index=pd.Index(SIZES, name="respondents")).T


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


def compare_table() -> pd.DataFrame:
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


def transitions_table() -> pd.DataFrame:
    """Held-out log score of the next value in bits, mean over splits."""
    rows = {}
    for name, fit in CHAINS.items():
        rows[name] = [np.mean([step_score(fit(corpus), others) for corpus, others in splits(size)]) for size in SIZES]
    return pd.DataFrame(rows, index=pd.Index(SIZES, name="respondents")).T


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


SECTIONS = {
    "prior": prior_table,
    "compare": compare_table,
    "transitions": transitions_table,
    "attack_prior": attack_prior,
    "attack_transitions": attack_transitions,
}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        start = time.process_time()
        print(
            f"\n{section}\n{SECTIONS[section]().round(4).to_string()}\n({time.process_time() - start:.0f} s of processor time)"
        )
