"""Groups or noise: the query error of cohorts and of noisy counts that promise a gain, by the shape of the panel.

A row is a defense on a simulated panel of `records` respondents at each of `releases` times, of whom a share `departures` leaves
after each release and is replaced, with `values` sensitive values that stay with probability .95, and quasi-identifiers that tell
of the first value. Its promise is known without an attack: the bound K on the expected gain of a calibrated adversary for cells of
groups (`expected_gain_bound`), the mean gain of an adversary who knows all others for noise (`Noise.gain`), both beside the 1/c
that exact counts of c respondents tell by themselves. Presence is not read.
"""

import numpy as np
import pandas as pd

from experiments.subjects import seeded
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
    """History of a panel in which each leaver is replaced at once, and the prior of each respondent.

    ``departures`` is the share that leaves after a release, or that of each value.
    """
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
            leaves = np.broadcast_to(departures, values)[state[:, 4]]
            drawn = (rng.random((records, 1)) >= steps[state[:, 4]]).sum(axis=1)
            state[:, 4] = np.minimum(drawn, values - 1)
            gone = np.flatnonzero(rng.random(records) < leaves)
            who[gone] = who.max() + 1 + np.arange(len(gone))
            state[gone] = arrivals(len(gone))
        frame = pd.DataFrame(state[:, [0, 1, 2, 4]], columns=["age", "region", "sex", "value"]).assign(id=who)
        views.append(View(frame, schema, t + 1))
        kinds.append(pd.Series(state[:, 3], index=who.copy()))
    kind = pd.concat(kinds)
    kind = kind[~kind.index.duplicated()]
    return History(views), GivenPrior(pd.DataFrame(priors[kind.to_numpy()], index=kind.index, columns=range(values)))


def defenses(releases, chain, seed=0):
    """Name, defense, promised gain, and the number of respondents of a cell where the setting says it."""
    for a, size in COHORTS:
        gain = float(expected_gain_bound(a, size))
        yield f"cohorts {a}, {size}", Cohorts(a, size, transitions=chain, rng=seeded([2, seed])), gain, size
    for gain in GAINS:
        for cells in NOISE_CELLS:
            rule = NoisyCounts(cells, releases, gain=gain, processing="totals", rng=seeded([3, seed]))
            yield f"noise {gain:g}, {cells} cells", rule, gain, None


def compared(history, adversary, rules, rng, every=False):
    """Query error, ghosts and withheld records of each rule, beside all its releases, those that are judged, and the queries.

    Judged are three releases, or every one.
    """
    last = len(history) - 1 - max(getattr(rule, "lag", 0) for _, rule, *_ in rules)
    shown = list(history) if every else [history[t] for t in sorted({0, (last + 1) // 2, last})]
    workload = Workload.draw(shown, rng=rng, queries=1000)
    for name, rule, gain, size in rules:
        row = {"defense": name, "gain": gain, "size": size}
        try:
            releases = publish(history, rule, adversary, infeasible="suppress", rng=seeded(1))
        except ValueError as reason:
            yield row | {"failed": str(reason)}, [], [], workload
            continue
        some = [one for one in releases if one.time in {view.time for view in shown}]
        groups = size is not None
        withheld, ghosts = price(suppressed(releases)) if groups else (0.0, 0.0)
        error = query_error(some, workload)
        row |= {
            "size": size if groups else len(history[0]) / len(releases[0].counts),
            "query_median": float(error["query_median"].mean()),
            "query_mean": float(error["query_mean"].mean()),
            "ghosts": ghosts,
            "withheld": withheld,
            "scale": None if groups else rule.scale,
            "failed": None,
        }
        yield row, list(releases), some, workload


def measured(cell, rng):
    """Query error, ghosts and withheld records of each defense."""
    _, chain = law(cell["values"])
    history, prior = panel(cell["records"], cell["releases"], cell["departures"], cell["values"], rng)
    rules = list(defenses(cell["releases"], chain, cell.get("seed", 0)))
    return pd.DataFrame([row for row, *_ in compared(history, Adversary(prior, chain), rules, rng)])


GROUPS_OR_NOISE = Experiment("groups_or_noise", measured, POINTS)

AGAIN = Experiment(
    "groups_or_noise_again",
    measured,
    [
        point | {"seed": seed}
        for point in POINTS
        if point["values"] != 6
        and point["releases"] in ((4, 24) if point["records"] < 50_000 else (4,))
        and (point["records"] < 50_000 or point["departures"] < 0.08)
        for seed in range(1, 5)
    ],
)
"""Panels of the map with other seeds, of the panel, the queries and the defenses."""

SHAPE = ["records", "releases", "departures", "values"]


def best(rows, most, over_law=True, shape=SHAPE):
    """Least query error of cohorts and of noise on each panel, among the defenses whose gain is at most ``most``.

    With ``over_law`` the gain of cohorts is that over the law, 1/a: K over the share of a cell of c, and the 1/c that its exact
    counts tell. Otherwise it is K.
    """
    kind = np.where(rows["defense"].str.startswith("cohorts"), "cohorts", "noise")
    own = np.where(over_law & (kind == "cohorts"), 1 / rows["size"], 0.0)
    gain = 1 - (1 - rows["gain"]) * (1 - own)
    some = rows.assign(kind=kind, price=rows["ghosts"] + rows["withheld"])[
        (gain <= most + 1e-9) & rows["failed"].isna()
    ]
    first = some.sort_values("query_median").groupby([*shape, "kind"]).head(1)
    error, price, name = (
        first.pivot_table(each, shape, "kind", aggfunc="first") for each in ("query_median", "price", "defense")
    )
    return error.assign(ratio=error["noise"] / error["cohorts"], price=price["cohorts"], **name.add_prefix("best_"))


def rounded(value, digits):
    """A number without the zero before its point."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if value < 1 else text


def map_table(rows):
    """Lines of Markdown: least query errors by the number of records and departures, median and range over other columns.

    A star marks numbers of records of which all panels are simulated.
    """
    simulated = rows.groupby("records")["simulated"].all()
    lines = [
        "| records | departures | cohorts | ghosts, withheld | noise | noise / cohorts | at .05 | K alone, at .05 |",
        "|---" * 8 + "|",
    ]
    each = best(rows, 0.1), best(rows, 0.05), best(rows, 0.05, over_law=False)
    for shape, own in each[0].groupby(level=["records", "departures"]):
        errors = [rounded(own[kind].median(), 4) for kind in ("cohorts", "noise")]
        price = f"{rounded(own['price'].min(), 2)} to {rounded(own['price'].max(), 2)}"
        cells = [
            f"{int(shape[0]):,}" + "*" * int(simulated[shape[0]]),
            f"{shape[1]:g}".replace("0.", "."),
            errors[0],
            price,
            errors[1],
        ]
        for one in each:
            ratio = one["ratio"].xs(shape, level=("records", "departures"))
            cells.append(f"**{ratio.median():.1f}** ({ratio.min():.1f} to {ratio.max():.1f})")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def picture(rows, real):
    """Map of the ratio of the least query errors, noise over cohorts, by the shape of the panel, beside real panels."""
    import matplotlib.pyplot as plt

    ratios = best(rows, 0.1)["ratio"].groupby(level=SHAPE[:3]).median().reset_index()
    found = ratios.pivot_table("ratio", "records", ["departures", "releases"]).sort_index(axis=1)
    panels = best(real, 0.1, shape=["panel", "seed"])["ratio"].groupby("panel").median().sort_values().to_frame()
    figure, axes = plt.subplots(2, 1, figsize=(8, 6), height_ratios=(len(found), 1), layout="constrained")
    for one, each in zip(axes, (found, panels.T), strict=True):
        shown = one.imshow(np.log2(each.to_numpy(dtype=float)), cmap="RdBu", vmin=-2, vmax=2, aspect="auto")
        for (i, j), ratio in np.ndenumerate(each.to_numpy(dtype=float)):
            if np.isfinite(ratio):
                color = "white" if abs(np.log2(ratio)) > 1.3 else "black"
                one.text(j, i, f"{ratio:.1f}", ha="center", va="center", color=color)
    axes[0].set_xticks(range(found.shape[1]), [str(int(releases)) for _, releases in found.columns])
    axes[0].set_yticks(range(len(found)), [f"{int(n):,}" for n in found.index])
    axes[0].set_xlabel("releases")
    axes[0].set_ylabel("respondents at a time")
    departures = found.columns.get_level_values(0)
    for share in departures.unique():
        at = np.flatnonzero(departures == share)
        axes[0].text(at.mean(), -0.62, f"{share:.0%} leave at each" if share else "all stay", ha="center")
        axes[0].axvline(at[0] - 0.5, color="black", linewidth=0.8)
    axes[0].set_title("Simulated panels: median over 2, 6 and 19 values", pad=20)
    axes[1].set_yticks([])
    axes[1].set_xticks(range(len(panels)), panels.index)
    axes[1].set_title("Real panels")
    bar = figure.colorbar(shown, ax=axes, ticks=(-2, -1, 0, 1, 2))
    bar.ax.set_yticklabels(["noise: 1/4\nof the error", "1/2", "equal", "2", "cohorts: 1/4\nof the error"])
    figure.suptitle(
        "Query error of noise as a multiple of that of cohorts, at a gain of .10.\nBlue: cohorts are better; red: noise"
    )
    return figure
