"""Groups or noise: the query error of cohorts and of noisy counts that promise a gain, by the shape of the panel.

A row is a defense on a simulated panel of `records` respondents at each of `releases` times, of whom a share `departures` leaves
after each release and is replaced, with `values` sensitive values that stay with probability .95, and quasi-identifiers that tell
of the first value. Its promise is known without an attack: the bound K on the expected gain of a calibrated adversary for cells of
groups (`expected_gain_bound`), the mean gain of an adversary who knows all others for noise (`Noise.gain`), both beside the 1/c
that exact counts of c respondents tell by themselves. Presence is not read.
"""

import numpy as np
import pandas as pd
from subjects import seeded

from foreknow.defenses import Cohorts, NoisyCounts, publish
from foreknow.evaluation import Workload, expected_gain_bound, query_error
from foreknow.evaluation.cells import Experiment
from foreknow.models import Adversary, GivenPrior, History, MarkovChain, Numeric, Schema, View

COHORTS = ((4, 4), (10, 10), (20, 20), (5, 20), (10, 40), (10, 100), (20, 60), (30, 90), (20, 200))
"""Settings a and size."""

NOISE_CELLS = (1, 4, 16, 64, 256)
GAINS = (0.05, 0.1)
STAY = 0.95

POINTS = [
    {"records": n, "releases": t, "departures": d, "values": m}
    for n in (1_000, 5_000, 50_000)
    for t in (1, 4, 12, 24, 52)
    for d in (0.0, 0.02, 0.08)
    for m in (2, 6, 19)
    if n * t <= 1_200_000 and (t > 1 or d == 0)
]
"""Panels; with one release no respondent leaves."""


CLASSES = 6
"""Classes of equal prior: three of age by two of sex."""


def law(values):
    """Prior of each class, and a chain that stays with `STAY` and otherwise takes the mean prior.

    Each value of a class is less likely than the one before, in an order that begins at another value for each class.
    """
    zipf = 1 / np.arange(1, values + 1)
    priors = np.array([np.roll(zipf, (values * k) // CLASSES) for k in range(CLASSES)]) / zipf.sum()
    return priors, MarkovChain(1, STAY * np.eye(values) + (1 - STAY) * priors.mean(axis=0))


def panel(records, releases, departures, values, rng):
    """History of a panel in which each leaver is replaced at once, and the prior of each respondent."""
    priors, chain = law(values)
    schema = Schema(
        {"age": Numeric(20, 89), "region": Numeric(0, 9), "sex": Numeric(0, 1)}, "value", tuple(range(values))
    )
    first, steps = np.cumsum(priors, axis=1), np.cumsum(chain.probabilities, axis=1)

    def arrivals(number):
        age, region, sex = (rng.integers(*ends, number) for ends in ((20, 90), (0, 10), (0, 2)))
        kind = np.minimum((age - 20) // 24, 2) * 2 + sex
        value = np.minimum((rng.random((number, 1)) >= first[kind]).sum(axis=1), values - 1)
        return np.column_stack([age, region, sex, kind, value])

    who, state, views, kinds = np.arange(records), arrivals(records), [], []
    for t in range(releases):
        if t:
            drawn = (rng.random((records, 1)) >= steps[state[:, 4]]).sum(axis=1)
            state[:, 4] = np.minimum(drawn, values - 1)
            gone = np.flatnonzero(rng.random(records) < departures)
            who[gone] = who.max() + 1 + np.arange(len(gone))
            state[gone] = arrivals(len(gone))
        frame = pd.DataFrame(state[:, [0, 1, 2, 4]], columns=["age", "region", "sex", "value"]).assign(id=who)
        views.append(View(frame, schema, t + 1))
        kinds.append(pd.Series(state[:, 3], index=who.copy()))
    kind = pd.concat(kinds)
    kind = kind[~kind.index.duplicated()]
    return History(views), GivenPrior(pd.DataFrame(priors[kind.to_numpy()], index=kind.index, columns=range(values)))


def defenses(releases, chain):
    """Name, defense, promised gain, and the number of respondents of a cell where the setting says it."""
    for a, size in COHORTS:
        gain = float(expected_gain_bound(a, size))
        yield f"cohorts {a}, {size}", Cohorts(a, size, transitions=chain, rng=seeded(2)), gain, size
    for gain in GAINS:
        for cells in NOISE_CELLS:
            rule = NoisyCounts(cells, releases, gain=gain, processing="totals", rng=seeded(3))
            yield f"noise {gain:g}, {cells} cells", rule, gain, None


def measured(cell, rng):
    """Query error, ghosts and withheld records of each defense."""
    _, chain = law(cell["values"])
    history, prior = panel(cell["records"], cell["releases"], cell["departures"], cell["values"], rng)
    adversary = Adversary(prior, chain)
    shown = [history[t] for t in sorted({0, len(history) // 2, len(history) - 1})]
    workload = Workload.draw(shown, rng=rng, queries=1000)
    rows = []
    for name, rule, gain, size in defenses(cell["releases"], chain):
        try:
            releases = publish(history, rule, adversary, infeasible="suppress", rng=seeded(1))
        except ValueError as reason:
            rows.append({"defense": name, "gain": gain, "size": size, "failed": str(reason)})
            continue
        listed = sum(map(len, history))
        some = [one for one in releases if one.time in {view.time for view in shown}]
        groups = size is not None
        ghosts = sum(int(one.ghost_counts.sum()) for one in releases) if groups else 0
        withheld = sum(int((one.group < 0).sum()) for one in releases) if groups else 0
        error = query_error(some, workload)
        rows.append(
            {
                "defense": name,
                "gain": gain,
                "size": size if groups else cell["records"] / len(releases[0].counts),
                "query_median": float(error["query_median"].mean()),
                "query_mean": float(error["query_mean"].mean()),
                "ghosts": ghosts / max(listed - withheld + ghosts, 1),
                "withheld": withheld / listed,
                "scale": None if groups else rule.scale,
                "failed": None,
            }
        )
    return pd.DataFrame(rows)


GROUPS_OR_NOISE = Experiment("groups_or_noise", measured, POINTS)
