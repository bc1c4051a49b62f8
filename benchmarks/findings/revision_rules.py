"""Section 10: revision rules on a chain of order 2."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from exams_settings import mean_score, seeded

from foreknow.attacks import SequentialAttack
from foreknow.evaluation import adversary_gain, disclosures
from foreknow.models import Adversary, Exact, GivenPrior, History, MarkovChain, Numeric, Release, Schema, Simulation


def second_order(seed: int, people: int = 2000, views: int = 10, values: int = 6) -> Simulation:
    """A history of a chain of order 2: each value depends on the two values before it."""
    rng = seeded(seed)
    law = rng.dirichlet(np.full(values, 0.15), (values, values))
    start = rng.dirichlet(np.ones(values))
    path = np.zeros((people, views), dtype=np.int64)
    path[:, 0] = rng.choice(values, people, p=start)
    first = rng.dirichlet(np.full(values, 0.5), values)
    for t in range(1, views):
        rows = first[path[:, 0]] if t == 1 else law[path[:, t - 2], path[:, t - 1]]
        path[:, t] = (rows.cumsum(axis=1) < rng.random((people, 1)) - 1e-12).sum(axis=1)
    frame = pd.DataFrame(
        {
            "id": np.tile(np.arange(people), views),
            "time": np.repeat(np.arange(views), people),
            "age": np.tile(rng.integers(20, 80, people), views),
            "value": path.T.ravel(),
        }
    )
    history = History.read(frame, Schema({"age": Numeric()}, "value", tuple(range(values))), time="time")
    prior = GivenPrior(pd.DataFrame(np.tile(start, (people, 1)), index=np.arange(people), columns=list(range(values))))
    return Simulation(history, prior, MarkovChain(2, law, (first,)))


def revisions() -> Iterator[str]:
    """Section 10: each revision rule on a chain of order 2; groups are drawn anew at every release."""
    found = []
    for seed in range(10):
        simulation = second_order(seed)
        rng = seeded(seed)
        releases = tuple(Release(view, rng.permutation(len(view)) // 4) for view in simulation.history)
        for chain in (simulation.transitions, simulation.transitions.truncate(1)):
            for revision in ("product", "chain", "filter") if chain.order == 2 else ("filter",):
                adversary = Adversary(simulation.prior, chain, estimator=Exact(), revision=revision)
                beliefs = SequentialAttack(adversary)(releases)
                risk = adversary_gain(beliefs, simulation.history)["gain"]
                held = disclosures(beliefs, simulation.history)[["sure", "right", "expected"]].sum()
                found.append(
                    {
                        "order": chain.order,
                        "revision": revision,
                        "second": risk[1],
                        "third": risk[2],
                        "last": risk.iloc[-1],
                    }
                    | {"log score": mean_score(beliefs, simulation.history), "sure": held["sure"]}
                    | {"expected": held["expected"] / held["sure"], "right": held["right"] / held["sure"]}
                )
    yield pd.DataFrame(found).groupby(["order", "revision"], sort=False).mean().round(3).to_string()
