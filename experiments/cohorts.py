"""Cohorts: what the joint adversary gains, the bound, the price, and what a reader of the releases can count.

A row of `cohorts` is an attack on a publication of `exams` (24 x 5,000): gain over the share in the group, sure beliefs with those
right and expected; the shares of respondents whose upper bound stays below .9 and .5; the shares of ghosts among the published
records and of withheld records; the error of 10,000 queries; and the total variation of the law that an analyst learns from the
releases. The adversary knows the law, or has learned it from the releases. A row of `cohorts_presence` is an attack by an adversary
who reads presence, on the panels of `presence`. A row of `departures` is the price of a way to hide departures, on the releases of
`exams` (24 x 2,000) that a delay of publication leaves.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from experiments.presence import PANELS, SEEDS, corpus_and_rest, measured, publishable
from experiments.subjects import seeded
from foreknow.attacks import JointAttack, WithoutGroups
from foreknow.defenses import Cohorts, publish
from foreknow.defenses.cohorts import DEPARTURES
from foreknow.evaluation import Workload, bound, exams, query_error
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    GhostChain,
    History,
    LearnedKnowledge,
    MarkovChain,
    Omega,
    Presence,
)

SETTINGS = {
    "5, 20": (5, 20),
    "10, 40": (10, 40),
    "10, 100": (10, 100),
    "20, 60": (20, 60),
    "30, 60": (30, 60),
    "30, 90": (30, 90),
    "20, 20": (20, 20),
    "4, 4": (4, 4),
}
"""Settings a and size of Cohorts."""

VIEWS, RECORDS, SEEDS_OF_COHORTS = 24, 5000, 10


@cache
def history(seed):
    """Exams of a seed, and queries of all their views."""
    simulation = exams(VIEWS, RECORDS, rng=seeded([2012, seed]))
    return simulation, Workload.draw(simulation.history, rng=seeded([1, seed]))


def price_of(releases):
    """Shares of ghosts among published records, and of records that are withheld; counterfeits of others are no ghosts."""
    withheld, invented = price(suppressed(releases))
    return {"ghosts": invented * any(one.grouping.places is not None for one in releases), "withheld": withheld}


def upper_side(releases, adversary, history):
    """Shares of respondents whose bound on the belief in the true value stays below .9 and .5; NaN where there is none."""
    if any(one.observation.distorted for one in releases):
        return {"below_90": np.nan, "below_50": np.nan}
    largest = bound(releases, adversary).frame(history).max(axis=1)
    return {"below_90": float((largest < 0.9).mean()), "below_50": float((largest < 0.5).mean())}


def off(simulation, learned):
    """Mean total variation of the rows of a learned chain, weighted by the true number of transitions from each value."""
    true, found = simulation.transitions.probabilities, learned.transitions.probabilities
    weight = np.bincount(np.concatenate([view.sensitive for view in simulation.history]), minlength=len(true))
    return float(np.average(np.abs(true - found).sum(axis=1) / 2, weights=weight))


def disclosure(cell, _rng):
    """Gain of two adversaries from one publication of `exams`, and its price."""
    simulation, workload = history(cell["seed"])
    own = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    rule = Cohorts(*SETTINGS[cell["defense"]], transitions=simulation.transitions, rng=seeded([3, cell["seed"]]))
    releases = publish(simulation.history, rule, own, infeasible="suppress", rng=seeded([4, cell["seed"]]))
    known = Adversary(simulation.prior, simulation.transitions, mechanism=GhostChain())
    learned = LearnedKnowledge.fit(releases, classes={"age": 3, "gender": 2, "weight": 3})
    guess = Adversary(learned.prior, learned.transitions, mechanism=GhostChain())
    columns = price_of(releases) | {
        "query_error": float(query_error(releases, workload)["query_median"].mean()),
        "law_off": off(simulation, learned),
    }
    return pd.DataFrame(
        [
            {"adversary": name}
            | measured(JointAttack(one)(releases), simulation.history)
            | upper_side(releases, one, simulation.history)
            | columns
            for name, one in (("known", known), ("learned", guess))
        ]
    )


COHORTS = Experiment(
    "cohorts",
    disclosure,
    [{"defense": name, "seed": seed} for name in SETTINGS for seed in range(SEEDS_OF_COHORTS)],
)

HIDING = {
    "4, 4": (4, 4, 0),
    "4, 4, ends=1": (4, 4, 1),
    "5, 20": (5, 20, 0),
    "5, 20, ends=1": (5, 20, 1),
    "10, 40": (10, 40, 0),
    "10, 40, ends=1": (10, 40, 1),
    "10, 40, ends=2": (10, 40, 2),
}
"""Settings a, size and ends of Cohorts on the panels."""


def told(cell, _rng):
    """Gain of an adversary who reads presence, over the share and over the control, by knowledge from a third of the people."""
    _, classes, _ = PANELS[cell["panel"]]
    corpus, rest = corpus_and_rest(cell["panel"], cell["seed"])
    prior = ClassFrequencies.fit(corpus, classes, pseudo_count=0.5)
    # Withheld records before a departure are read as steps of the chain.
    chain = MarkovChain.fit(corpus, pseudo_count=0.1, gaps="power")
    known = Adversary(prior, chain, gaps="power", mechanism=GhostChain())
    a, size, ends = HIDING[cell["cohorts"]]
    views = publishable(rest)
    rule = Cohorts(a, size, transitions=chain, ends=ends, rng=seeded([3, cell["seed"]]))
    releases = publish(views, rule, replace(known, estimator=Omega()), rng=seeded(1))
    shown = History(list(views)[: len(releases)])
    read = JointAttack(replace(known, presence=Presence.fit(corpus, pseudo_count=0.5)))
    attacks = {"unread": JointAttack(known), "read": read, "control": WithoutGroups(read)}
    upper = {name: upper_side(releases, one.adversary, shown) for name, one in attacks.items() if name != "control"}
    workload = Workload.draw(shown, rng=seeded(1), queries=1000)
    price = price_of(releases) | {"query_error": float(query_error(releases, workload)["query_median"].mean())}
    return pd.DataFrame(
        [
            {"attack": name} | measured(attack(releases), shown) | upper.get(name, {}) | price
            for name, attack in attacks.items()
        ]
    ).round(4)


COHORTS_PRESENCE = Experiment(
    "cohorts_presence",
    told,
    [{"panel": panel, "cohorts": name, "seed": seed} for panel in PANELS for name in HIDING for seed in range(SEEDS)],
)


LAGS = (0, 1, 2, 4, 8, 12, 23)
"""Releases by which a publication is delayed."""


def delayed(cell, _rng):
    """Price of the ways to hide departures from cells of 40 in batches of 10; ``"lag"`` is one where there is a delay."""
    simulation, lag, rows = exams(VIEWS, 2000, rng=seeded([2012, 0])), cell["lag"], []
    own = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for departures in DEPARTURES if lag else sorted({*DEPARTURES} - {"lag"}):
        listed, own_lag = (simulation.history, lag) if departures == "lag" else (simulation.history[: VIEWS - lag], 0)
        rule = Cohorts(10, 40, departures, simulation.transitions, lag=own_lag, rng=seeded([3, 0]))
        releases = publish(listed, rule, own, rng=seeded([4, 0]))
        rows.append({"rule": departures, "releases": len(releases)} | price_of(releases))
    return pd.DataFrame(rows)


HIDDEN_DEPARTURES = Experiment("departures", delayed, [{"lag": lag} for lag in LAGS])


def departures_table(rows):
    """Lines of Markdown of `departures`: withheld records, and ghosts where there are some, of each way to hide departures."""
    order = ("lag", "ghosts", "withdraw", "retire")
    lines = [f"| lag | releases | {' | '.join(f'`"{one}"`' for one in order)} |", "|---" * 6 + "|"]
    for lag, own in rows.groupby("lag"):
        found = own.set_index("rule")
        prices = [found.loc[one, ["ghosts", "withheld"]] if one in found.index else None for one in order]
        cells = ["" if one is None else f"{one.sum():.2f}".removeprefix("0") for one in prices]
        lines.append(f"| {lag} | {own['releases'].iloc[0]} | {' | '.join(cells)} |")
    return lines
