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
from foreknow.evaluation.loss.generalization_loss import price, suppressed
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
        some = [one for one in releases if one.time in {view.time for view in shown}]
        groups = size is not None
        withheld, ghosts = price(suppressed(releases)) if groups else (0.0, 0.0)
        error = query_error(some, workload)
        rows.append(
            {
                "defense": name,
                "gain": gain,
                "size": size if groups else cell["records"] / len(releases[0].counts),
                "query_median": float(error["query_median"].mean()),
                "query_mean": float(error["query_mean"].mean()),
                "ghosts": ghosts,
                "withheld": withheld,
                "scale": None if groups else rule.scale,
                "failed": None,
            }
        )
    return pd.DataFrame(rows)


GROUPS_OR_NOISE = Experiment("groups_or_noise", measured, POINTS)

SHAPE = ["records", "releases", "departures", "values"]


def best(rows, most, own_counts):
    """Least query error of cohorts and of noise on each panel, among the defenses whose gain is at most ``most``.

    With ``own_counts`` the 1/c that the exact counts of a cell tell is a part of the gain of cohorts.
    """
    kind = np.where(rows["defense"].str.startswith("cohorts"), "cohorts", "noise")
    gain = rows["gain"] + np.where(own_counts & (kind == "cohorts"), 1 / rows["size"], 0.0)
    some = rows.assign(kind=kind, withheld=rows["ghosts"] + rows["withheld"])[
        (gain <= most + 1e-9) & rows["failed"].isna()
    ]
    first = some.sort_values("query_median").groupby([*SHAPE, "kind"]).head(1)
    error, price = (first.pivot_table(name, SHAPE, "kind") for name in ("query_median", "withheld"))
    return error.assign(ratio=error["noise"] / error["cohorts"], price=price["cohorts"])


def table(rows):
    """Lines of Markdown: least query error of both, and their ratio, for each size and number of releases."""
    lines = [
        "| records | releases | departures | cohorts, 1/c counted | ghosts, withheld | noise | noise / cohorts | 1/c not counted |",
        "|---" * 8 + "|",
    ]
    counted, beside = best(rows, 0.1, True), best(rows, 0.05, False)
    for shape, own in counted.groupby(level=[0, 1, 2]):
        other = beside.loc[shape]
        cells = [f"{own[kind].median():.4f}".replace("0.", ".") for kind in ("cohorts", "noise")]
        price = f"{own['price'].median():.2f}".replace("0.", ".")
        ratios = [f"{one['ratio'].min():.1f} to {one['ratio'].max():.1f}" for one in (own, other)]
        numbers = f"{int(shape[0]):,} | {int(shape[1])} | {shape[2]:g}"
        lines.append(f"| {numbers} | {cells[0]} | {price} | {cells[1]} | {ratios[0]} | {ratios[1]} |")
    return lines


def picture(rows):
    """Map of the ratio of the least query errors, noise over cohorts, by the shape of the panel: over 1 cohorts are better."""
    import matplotlib.pyplot as plt

    ratios = best(rows, 0.1, True).reset_index()
    found = ratios.pivot_table("ratio", SHAPE[:2], SHAPE[2:]).sort_index(axis=1)
    figure, axes = plt.subplots(figsize=(9, 6.5), layout="constrained")
    shown = axes.imshow(np.log2(found.to_numpy(dtype=float)), cmap="RdBu", vmin=-2, vmax=2, aspect="auto")
    for (i, j), ratio in np.ndenumerate(found.to_numpy(dtype=float)):
        if np.isfinite(ratio):
            axes.text(j, i, f"{ratio:.1f}", ha="center", va="center", color="white" if ratio > 2.4 else "black")
    axes.set_xticks(range(found.shape[1]), [str(int(values)) for _, values in found.columns])
    axes.set_yticks(range(found.shape[0]), [f"{int(n):,} x {int(t)}" for n, t in found.index])
    axes.set_xlabel("sensitive values")
    axes.set_ylabel("records x releases")
    for j in range(0, found.shape[1], 3):
        axes.text(j + 1, -0.75, f"{found.columns[j][0]:.0%} leave", ha="center")
    figure.colorbar(shown, label="log2 of the query error of noise over that of cohorts")
    axes.set_title("Gain of at most .10. Blue: cohorts answer queries better; red: noise", pad=28)
    return figure


if __name__ == "__main__":
    from pathlib import Path

    from foreknow.evaluation.cells import read

    kept = read([GROUPS_OR_NOISE], Path(__file__).resolve().parents[1] / "cells")
    picture(kept).savefig(Path(__file__).resolve().parents[2] / "docs" / "groups-or-noise.png", dpi=110)
    print("\n".join(table(kept)))
