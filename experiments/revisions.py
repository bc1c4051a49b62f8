"""Evidence that is counted more than once, and the revision of beliefs by chains of order 2.

A row of `revisions` is a rule of revision on a history of 2,000 respondents whose values depend on the last two, in ten views with
groups of 4 that are drawn anew, so that no pair of members meets again. A row of `counted_twice` is a belief about one of two
respondents who always share a group and never change; the prior of "a" is .6 for one and .4 for the other. A row of
`nothing_to_learn` is the gain from 20 pairs of views of independent values, by knowledge extracted before the second view, or up
to it.
"""

import numpy as np
import pandas as pd

from experiments.presence import measured
from experiments.subjects import seeded
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.evaluation.cells import Experiment
from foreknow.models import (
    Adversary,
    ChainByRelease,
    Exact,
    GivenPrior,
    History,
    MarkovChain,
    Numeric,
    Release,
    Schema,
    UniformPrior,
    View,
)

PEOPLE, VIEWS, VALUES = 2000, 10, 6


def revised(cell, _rng):
    """Gain and sure beliefs by each rule on one history."""
    rng = seeded(cell["seed"])
    law, start = rng.dirichlet(np.full(VALUES, 0.15), (VALUES, VALUES)), rng.dirichlet(np.ones(VALUES))
    first, ages = rng.dirichlet(np.full(VALUES, 0.5), VALUES), rng.integers(20, 80, PEOPLE)
    path = [rng.choice(VALUES, PEOPLE, p=start)]
    for t in range(1, VIEWS):
        rows = first[path[0]] if t == 1 else law[path[t - 2], path[t - 1]]
        path.append((rows.cumsum(axis=1) < rng.random((PEOPLE, 1)) - 1e-12).sum(axis=1))
    schema = Schema({"age": Numeric()}, "value", tuple(range(VALUES)))
    history = History(
        View(pd.DataFrame({"id": np.arange(PEOPLE), "age": ages, "value": values}), schema, t)
        for t, values in enumerate(path)
    )
    releases = [Release(view, rng.permutation(PEOPLE) // 4) for view in history]
    prior = GivenPrior(pd.DataFrame(np.tile(start, (PEOPLE, 1))))
    chain = MarkovChain(2, law, (first,))
    return pd.DataFrame(
        [
            {"rule": rule}
            | measured(SequentialAttack(Adversary(prior, chain, estimator=Exact(), revision=rule))(releases), history)
            for rule in ("product", "chain", "filter")
        ]
    ).round(4)


def counted(_cell, _rng):
    """Beliefs after each of five equal releases, one by one and by the joint law."""
    prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["x", "y"], columns=["a", "b"]))
    frame, schema = (
        pd.DataFrame({"id": ["x", "y"], "age": [1, 2], "value": ["a", "b"]}),
        Schema({"age": Numeric(0, 9)}, "value", ("a", "b")),
    )
    releases = [Release(View(frame, schema, time), [0, 0]) for time in range(1, 6)]
    known = Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact())
    each = {"sequential": SequentialAttack(known), "joint": JointAttack(known)}
    found = {name: attack(releases) for name, attack in each.items()}
    return pd.DataFrame(
        [
            {"attack": name, "release": t, "belief": round(float(beliefs.posterior(t).loc["x", "a"]), 4)}
            for name, beliefs in found.items()
            for t in range(1, 6)
        ]
    )


def extracted(cell, _rng):
    """Gain at the second release where the values are independent and uniform."""
    rng, gains = seeded(cell["seed"]), []
    schema = Schema({"age": Numeric()}, "value", tuple(range(6)))
    for _ in range(20):
        ages = rng.integers(20, 60, 40)
        history = History(
            View(pd.DataFrame({"id": np.arange(40), "age": ages, "value": rng.integers(0, 6, 40)}), schema, t)
            for t in (1, 2)
        )
        releases = [Release(view, rng.permutation(40) // 4) for view in history]
        for inclusive in (False, True):
            chain = ChainByRelease.extracted(history, inclusive=inclusive)
            beliefs = SequentialAttack(Adversary(UniformPrior(), chain, estimator=Exact()))(releases)
            gains.append({"inclusive": inclusive} | measured(list(beliefs)[1:], [history[1]]))
    return pd.DataFrame(gains).groupby("inclusive", as_index=False)["gain"].mean().round(4)


REVISIONS = Experiment("revisions", revised, [{"seed": seed} for seed in range(10)])
COUNTED_TWICE = Experiment("counted_twice", counted, [{"respondents": 2}])
NOTHING_TO_LEARN = Experiment("nothing_to_learn", extracted, [{"seed": seed} for seed in range(10)])
