"""Held-out log scores of knowledge from PyMC programs on pbc: ``python benchmarks/richer_knowledge.py [section]``.

``prior``: `RegressionPrior` beside `ClassFrequencies` and `KernelPrior`, by size of corpus. ``compare``: LOO of the regression and
of class frequencies as a program. ``transitions``: partial pooling beside one chain and separate chains.
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

from foreknow.evaluation import pbc
from foreknow.models import (
    ClassFrequencies,
    History,
    KernelPrior,
    MarkovChain,
    People,
    RegressionDesign,
    RegressionPrior,
    TransitionsByClass,
    hierarchical_markov_model,
    prior_model,
)
from foreknow.models.arrays import FloatArray

logging.getLogger("pymc").setLevel(logging.ERROR)
CLASSES = {"age": 3, "sex": None}
SIZES = (30, 60, 150)
"""Respondents of the corpus; the last 150 of 312 are held out."""
SPLITS = 4
SAMPLING: dict[str, Any] = {"draws": 500, "chains": 2, "cores": 1, "progressbar": False, "random_seed": 2026}


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
    "KernelPrior, bandwidth 0.2": partial(smoothed_kernel, 0.2),
    "KernelPrior, bandwidth 0.5": partial(smoothed_kernel, 0.5),
    "RegressionPrior": regression,
}


def prior_table() -> pd.DataFrame:
    """Held-out log score in bits, mean over splits."""
    rows = {}
    for name, fit in PRIORS.items():
        rows[name] = [np.mean([score(fit(corpus), others) for corpus, others in splits(size)]) for size in SIZES]
    return pd.DataFrame(rows, index=pd.Index(SIZES, name="respondents")).T


def class_model(history: History) -> pm.Model:
    """Class frequencies as a program with one log-likelihood per record."""
    prior = ClassFrequencies.fit(history, CLASSES, 1.0)
    classes = np.concatenate([prior.classes(view.people) for view in history])
    recorded = np.concatenate([view.sensitive for view in history])
    with pm.Model() as model:
        frequencies = pm.Dirichlet("frequencies", np.ones((6, len(history.schema.values))))
        pm.Categorical("recorded", frequencies[classes], observed=recorded)
    return model


def compare_table() -> pd.DataFrame:
    """`arviz.compare` of both programs on the first record of each respondent."""
    first = History([pbc()[0]])
    traces = {}
    for name, model in {"regression": prior_model(first), "class frequencies": class_model(first)}.items():
        traces[name] = pm.sample(model=model, target_accept=0.95, **SAMPLING)
        pm.compute_log_likelihood(traces[name], model=model, progressbar=False)
    return az.compare(traces)


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


SECTIONS = {"prior": prior_table, "compare": compare_table, "transitions": transitions_table}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        start = time.process_time()
        print(
            f"\n{section}\n{SECTIONS[section]().round(4).to_string()}\n({time.process_time() - start:.0f} s of processor time)"
        )
