"""Attacks on groups and on noise at twelve panels of `groups_or_noise`: the worst gain over the law, and the query error beside it.

A cell is a publication of one simulated panel by one of fourteen defenses: the ten of the literature with groups of five, or of as
many records as there are values where these are fewer; two settings of `Cohorts`; and two of `NoisyCounts`. A row is an adversary
who knows the law of the panel or has learned it from the releases: joint in hindsight and forward; one who reads the rule of
m-invariance; one who reads presence, fitted on a second panel of the same law; and, for noise, one who knows all other respondents.

Gains are means of (p - b) / (1 - b) over all published records. b is the law's marginal before any release (``gain``), that of the
adversary's own law, which may be learned (``over_own_law``), the share of the group (``over_share``), or the belief of an adversary
who reads presence and no groups (``over_control``). ``bits`` is the log score over that of the law: a gain may be raised by beliefs
that are too sure, the log score may not. ``own_counts`` is the mean of 1/c over the records in groups of c, which the exact counts
of a group tell by themselves.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from experiments.groups_or_noise import SHAPE, law, panel
from experiments.subjects import seeded, ten
from foreknow.attacks import JointAttack, OthersKnown, WithoutGroups
from foreknow.defenses import Cohorts, MInvariance, NoisyCounts, publish
from foreknow.evaluation import Workload, adversary_gain, disclosures, log_score, query_error
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.papers.drawing import interval
from foreknow.models import Adversary, GhostChain, LearnedKnowledge, Omega, Posterior, Presence

POINTS = (
    (1_000, 1, 0.0, 6),
    (1_000, 4, 0.02, 2),
    (1_000, 4, 0.08, 19),
    (1_000, 12, 0.0, 6),
    (1_000, 12, 0.02, 19),
    (1_000, 12, 0.08, 6),
    (1_000, 24, 0.0, 2),
    (1_000, 24, 0.02, 6),
    (5_000, 1, 0.0, 19),
    (5_000, 4, 0.02, 6),
    (5_000, 12, 0.0, 6),
    (5_000, 12, 0.02, 2),
)
"""Records, releases, departures and values."""

BY_VALUE_POINTS = ((1_000, 12, 0.08, 2), (1_000, 12, 0.08, 6))
LEAVING = 0.25, 1.75
"""Departures after the first and the last value where leaving depends on it, as shares of their mean; evenly between."""

SEEDS = 10
COHORTS = {"Cohorts(10, 10)": (10, 10), "Cohorts(10, 40)": (10, 40)}
NOISE = {"NoisyCounts(gain=.05)": 0.05, "NoisyCounts(gain=.10)": 0.1}
NOISE_CELLS = 16
LITERATURE = tuple(name.partition("(")[0].partition(" ")[0] for name in ten(1))
DEFENSES = (*LITERATURE, *COHORTS, *NOISE)
MOST_RECORDS = 5_000
"""Records of all releases beyond which the adversaries who learn, or go forward, attack the first seed alone."""

CLASSES = {"age": 3, "sex": 2}
"""Attributes that define the classes of a learned prior: those of the law."""


@lru_cache(maxsize=1)
def published_panel(shape, seed, by_value):
    """History, prior, a second history of the same law, and queries of the first, the middle and the last view."""
    rng = np.random.default_rng([seed, *(round(1000 * each) for each in shape)])
    records, releases, departures, values = shape
    leaves = departures * np.linspace(*LEAVING, values) if by_value else departures
    (history, prior), (corpus, _) = (panel(records, releases, leaves, values, rng) for _ in range(2))
    shown = [history[t] for t in sorted({0, len(history) // 2, len(history) - 1})]
    return history, prior, corpus, shown, Workload.draw(shown, rng=rng, queries=1000)


def defense(name, shape, chain, seed):
    """The defense of a name."""
    if name in COHORTS:
        return Cohorts(*COHORTS[name], transitions=chain, rng=seeded([2, seed]))
    if name in NOISE:
        return NoisyCounts(NOISE_CELLS, shape[1], gain=NOISE[name], processing="totals", rng=seeded([3, seed]))
    return list(ten(seed, min(5, shape[3])).values())[LITERATURE.index(name)]


def attacks(known, rule, releases, history, corpus, costly):
    """Name and attack of each adversary; ``costly`` for those who learn, or go forward, too."""
    yield "hindsight", JointAttack(known)
    if costly:
        learned = LearnedKnowledge.fit(releases, classes=CLASSES)
        yield "learned", JointAttack(replace(known, prior=learned.prior, transitions=learned.transitions))
    if costly and len(releases) > 1:
        yield "forward", JointAttack(known, hindsight=False)
    if isinstance(rule, MInvariance):
        yield "rule", JointAttack(known, signatures=True)
    if isinstance(rule, NoisyCounts):
        yield "others known", OthersKnown(JointAttack(known), history)
    if len(history.respondents) > len(history[0]):
        read = JointAttack(replace(known, presence=Presence.fit(corpus, pseudo_count=0.5)))
        yield "presence", read
        yield "control", WithoutGroups(read)


def mean_gain(beliefs, history, baseline):
    """Mean gain over all published records."""
    table = adversary_gain(beliefs, history, baseline=baseline)
    return float((table["gain"] * table["measured"]).sum() / max(table["measured"].sum(), 1))


def mean_bits(beliefs, history):
    """Mean log score over all published records."""
    table = log_score(beliefs, history)
    return float((table["log_score"] * table["measured"]).sum() / max(table["measured"].sum(), 1))


def laws(beliefs):
    """Beliefs of an adversary who has the law and no release."""
    rows = (replace(one, posterior=Posterior(one.law, one.posterior.status)) for one in beliefs)
    return replace(beliefs, releases=tuple(rows))


def measured(cell, _rng):
    """Gains and sure beliefs of each adversary, with the price of the publication."""
    shape, seed = tuple(cell[name] for name in SHAPE), cell["seed"]
    history, prior, corpus, shown, workload = published_panel(shape, seed, cell.get("by_value", False))
    _, chain = law(cell["values"])
    rule = defense(cell["defense"], shape, chain, seed)
    own = Adversary(prior, chain, estimator=Omega())
    try:
        releases = publish(history, rule, own, infeasible="suppress", rng=seeded([1, seed]))
        inside = [one.group[one.group >= 0] for one in releases]
        if not any(map(len, inside)):
            publish(history, rule, own, rng=seeded([1, seed]))
            raise ValueError("No record is published.")
    except ValueError as reason:
        return pd.DataFrame([{"adversary": None, "failed": str(reason)}])
    noisy, listed = isinstance(rule, NoisyCounts), sum(map(len, history))
    sizes = np.concatenate([one.counts.sum(axis=1)[rows] for one, rows in zip(releases, inside, strict=True)])
    ghosts = 0 if noisy else sum(int(one.ghost_counts.sum()) for one in releases)
    times = {view.time for view in shown}
    error = query_error([one for one in releases if one.time in times], workload)
    price = {
        "own_counts": 0.0 if noisy else float((1 / sizes).mean()),
        "query_median": float(error["query_median"].mean()),
        "query_mean": float(error["query_mean"].mean()),
        "ghosts": ghosts / (len(sizes) + ghosts),
        "withheld": 1 - len(sizes) / listed,
        "failed": None,
    }
    known = Adversary(prior, chain, mechanism=GhostChain())
    costly = seed == 0 or listed <= MOST_RECORDS
    found = {name: attack(releases) for name, attack in attacks(known, rule, releases, history, corpus, costly)}
    untold = laws(found["hindsight"])
    rows = []
    for name, beliefs in found.items():
        sure = disclosures(beliefs, history)[["sure", "right", "expected"]].sum()
        gains = {
            "gain": mean_gain(beliefs, history, untold),
            "over_own_law": mean_gain(beliefs, history, laws(beliefs)),
            "bits": mean_bits(beliefs, history) - mean_bits(untold, history),
            "over_share": np.nan if noisy else mean_gain(beliefs, history, "share"),
            "over_control": mean_gain(beliefs, history, found["control"]) if name == "presence" else np.nan,
        }
        rows.append({"adversary": name} | gains | sure.to_dict() | price)
    return pd.DataFrame(rows)


def cells(points, **more):
    """Cells of all defenses and seeds on panels."""
    return [
        dict(zip(SHAPE, shape, strict=True)) | {"seed": seed, "defense": name} | more
        for shape in points
        for seed in range(SEEDS)
        for name in DEFENSES
    ]


GROUPS_OR_NOISE_ATTACKS = Experiment("groups_or_noise_attacks", measured, cells(POINTS))
BY_VALUE = Experiment("groups_or_noise_by_value", measured, cells(BY_VALUE_POINTS, by_value=True))

ADVERSARIES = ("hindsight", "forward", "learned", "rule", "presence", "others known")
BY_VALUE_ADVERSARIES = ("presence", "others known")
"""Where leaving depends on the value, the law is wrong of those who stay, and a gain over it is no measure of a publication."""


def worst(rows, adversaries=ADVERSARIES):
    """Worst adversary of each defense on each panel, and the gain over the law less ``own_counts``, its excess: mean of the seeds.

    ``half`` is half of the interval of the excess.
    The gain of an adversary who reads presence is that over the control. A defense that fails with any seed has an excess of NaN.
    """
    of = [*SHAPE, "defense"]
    some = rows[rows["adversary"].isin(adversaries)]
    excess = some["gain"].where(some["adversary"] != "presence", some["over_control"]) - some["own_counts"]
    each = (
        some.assign(excess=excess)
        .groupby([*of, "adversary"])["excess"]
        .agg(mean="mean", half=lambda seeds: interval(seeds)[1])
    )
    found = each.reset_index().sort_values("mean").groupby(of).last()
    found = found.join(rows.groupby(of)[["own_counts", "query_median", "ghosts", "withheld"]].mean(), how="right")
    fails = rows[rows["failed"].notna()].groupby(of)["failed"].first()
    found = found.join(fails)
    found.loc[found["failed"].notna(), ["mean", "half", "query_median"]] = np.nan
    return found


def point_name(shape):
    """Name of a panel: records x releases, share of departures, and number of values."""
    return f"{shape[0]:,.0f} x {shape[1]:.0f}, {shape[2]:.0%}, {shape[3]:.0f}"


SHOWN = ("Mondrian", "FullDomain", *COHORTS, *NOISE)
"""Defenses with a column of their own."""

OTHERS = tuple(name for name in LITERATURE if name not in SHOWN)


DRAWN = (POINTS[2], POINTS[3], POINTS[7], POINTS[9], POINTS[10], POINTS[11])
"""Panels of the picture."""


def picture(rows):
    """Query error of each defense against its worst gain over the law on six panels, with the frontier of the least errors."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    found = worst(rows)
    figure, axes = plt.subplots(3, 2, figsize=(8, 8.6), sharex=True, layout="constrained")
    marks = [*zip(SHOWN, "osXDv^", ("k", "k", "tab:blue", "tab:blue", "tab:red", "tab:red"), strict=True)]
    for shape, axis in zip(DRAWN, axes.flat, strict=True):
        own = found.loc[shape].dropna(subset=["mean"])
        gain, error = (own["mean"] + own["own_counts"]).clip(lower=0.01), own["query_median"]
        by_gain = gain.sort_values().index
        axis.step(gain[by_gain], error[by_gain].cummin(), where="post", color="0.7", zorder=0)
        axis.axvline(0.1, color="0.7", linestyle=":", zorder=0)
        others = own.index.intersection(OTHERS)
        axis.plot(gain[others], error[others], "o", color="0.6", markersize=5, label="eight others")
        for name, mark, color in marks:
            axis.plot(gain[name], error[name], mark, color=color, markersize=8, fillstyle="none", label=name)
        axis.set_xscale("log")
        axis.set_yscale("log")
        for each in (axis.xaxis, axis.yaxis):
            each.set_major_locator(LogLocator(subs=(1, 2, 5)))
            each.set_major_formatter("{x:g}")
            each.set_minor_formatter("")
        axis.set_title(f"{shape[0]:,} x {shape[1]}, {shape[2]:.0%} leave, {shape[3]} values", fontsize=11)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for axis in axes[2]:
        axis.set_xlabel("worst mean gain over the law, with 1/c")
    figure.supylabel("median relative error of queries")
    figure.suptitle(
        "At about .10 or less: cohorts, noise, and where none or few leave Mondrian and FullDomain.\n"
        "Line: least error at a gain. Gains under .01 stand at .01"
    )
    return figure
