"""Pictures of measures: by release, under two defenses."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from example import Example, example
from matplotlib.figure import Figure

from families.drawing import BLUE, GREEN, GREY, ORANGE, PLAIN, Pictures
from families.items import item_releases
from foreknow import attacks, defenses, evaluation, models
from foreknow.defenses import Mondrian, publish
from foreknow.models import Adversary


def measure_pictures() -> Pictures:
    """Each measure of the same releases of 240 people."""
    shown = example(people=240, seed=1)
    adversary = Adversary(shown.prior, shown.chain)
    published = {
        "Mondrian": publish(shown.history, Mondrian(PLAIN), rng=1),
        "MInvariance": publish(shown.history, defenses.MInvariance(3, rng=1), rng=1),
    }
    beliefs = {name: attacks.JointAttack(adversary)(releases) for name, releases in published.items()}
    workload = evaluation.Workload.draw(shown.history, rng=1, queries=500, sanity_bound=0.01)
    three = {
        "snapshot": attacks.SnapshotAttack(adversary),
        "sequential": attacks.SequentialAttack(adversary),
        "joint": attacks.JointAttack(adversary),
    }
    history = shown.history
    risk = {
        "adversary_gain": "gain", "total_risk": "total_risk", "log_score": "log_score", "brier_score": "brier_score",
        "success_rate": "success", "adversary_confidence": "confidence", "information_flow": "leakage",
    }  # fmt: skip
    for name, column in risk.items():
        yield (
            name,
            by_release(
                {d: getattr(evaluation, name)(b, history)[column] for d, b in beliefs.items()}, COLUMN_NAMES[column]
            ),
        )
    sure = {d: evaluation.disclosures(b, history) for d, b in beliefs.items()}
    yield (
        "disclosures",
        by_release({f"{d}, {c}": t[c] for d, t in sure.items() for c in ("sure", "right")}, "beliefs of 240"),
    )
    breached = {d: evaluation.breaches(b, history, {"HIV"}, 2)["breached"] for d, b in beliefs.items()}
    yield "breaches", by_release(breached, "holders in breach, r = 2")
    yield "risk_table", risk_table({d: evaluation.risk_table(b, history) for d, b in beliefs.items()})
    yield "reliability_curve", reliability(beliefs, history)
    yield (
        "consistency_test",
        consistency({d: evaluation.consistency_test(b, history, rng=1) for d, b in beliefs.items()}),
    )
    yield "solver_calibration", redrawn(three, adversary, published["MInvariance"])
    yield "respondent_risk", ranked({d: evaluation.respondent_risk(b, history) for d, b in beliefs.items()})
    yield "exposing_members", exposing(attacks.SequentialAttack(adversary)(published["Mondrian"]))
    yield "belief_sources", sources(three["joint"], published["Mondrian"], beliefs["Mondrian"])
    forward = {d: attacks.JointAttack(adversary, hindsight=False)(r) for d, r in published.items()}
    leak = {d: evaluation.retroactive_leak(forward[d], beliefs[d], history) for d in published}
    yield (
        "retroactive_leak",
        by_release({d: table["leak"] for d, table in leak.items()}, "leak, bits"),
    )
    worst = evaluation.worst_case(published, three, by_release=True)
    yield "worst_case", by_release({d: worst[worst["defense"] == d]["gain"] for d in published}, "largest gain")
    loss = {
        "record_linkage": (evaluation.record_linkage, "linkage", "probability of the link"),
        "gcp": (evaluation.gcp, "gcp", "generalization loss"),
        "query_error": (lambda r: evaluation.query_error(r, workload), "query_mean", "mean relative error"),
        "kl_loss": (evaluation.kl_loss, "joint", "divergence, bits"),
        "discernibility": (evaluation.discernibility, "discernibility", "discernibility"),
        "average_group_size": (evaluation.average_group_size, "group_size", "records per group"),
        "suppressed": (evaluation.suppressed, "counterfeits", "counterfeits"),
    }
    for name, (measure, column, label) in loss.items():
        tables = {d: measure(r) for d, r in published.items()}
        yield name, by_release({d: t[column] for d, t in tables.items()}, label)
    yield "items_lost", items_lost(example())


COLUMN_NAMES = {
    "gain": "gain", "total_risk": "total risk", "log_score": "log score, bits", "brier_score": "Brier score",
    "success": "success rate", "confidence": "mean belief", "leakage": "leakage, bits",
}  # fmt: skip
STYLES = [(BLUE, "o", "-"), (ORANGE, "s", "-"), (GREEN, "^", "--"), (GREY, "D", "--")]


def by_release(series: dict[str, pd.Series], label: str) -> Figure:
    """Lines of one measure over the releases."""
    figure, axes = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    styles = (
        STYLES if len(series) == 2 else [(BLUE, "o", "-"), (BLUE, "o", ":"), (ORANGE, "s", "-"), (ORANGE, "s", ":")]
    )
    for (name, values), (colour, marker, line) in zip(series.items(), styles, strict=False):
        axes.plot(range(1, len(values) + 1), values, color=colour, marker=marker, linestyle=line, label=name)
    axes.set(xlabel="release", ylabel=label, xticks=range(1, 5))
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0) if low > 0 else low, max(high, 0) if high < 0 else high * 1.05)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return figure


def risk_table(tables: dict[str, pd.DataFrame]) -> Figure:
    """Four columns of the table."""
    figure, axes = plt.subplots(2, 2, figsize=(6, 4), sharex=True, layout="constrained")
    for panel, column in zip(axes.flat, ("gain", "success", "log_score", "right"), strict=True):
        for (name, table), (colour, marker, line) in zip(tables.items(), STYLES, strict=False):
            panel.plot(range(1, 5), table[column], color=colour, marker=marker, linestyle=line, label=name)
        panel.set(title=column, xticks=range(1, 5))
    for panel in axes[1]:
        panel.set_xlabel("release")
    axes[0, 0].legend(frameon=False, fontsize=9)
    return figure


def curves(series: dict[str, pd.Series], style: str) -> Figure:
    """Observed frequency against belief."""
    figure, axes = plt.subplots(figsize=(3.4, 3.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    for (name, values), (colour, *_) in zip(series.items(), STYLES, strict=False):
        axes.plot(values.index, values, style, color=colour, label=name, markersize=5)
    axes.set(xlabel="belief", ylabel="observed frequency", aspect="equal")
    axes.legend(frameon=False, fontsize=8)
    return figure


def reliability(beliefs: dict[str, models.Beliefs], history: models.History) -> Figure:
    """Isotonic curves with their bands."""
    tables = {name: evaluation.reliability_curve(each, history, rng=1) for name, each in beliefs.items()}
    figure, axes = plt.subplots(figsize=(3.4, 3.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    for (name, table), (colour, *_) in zip(tables.items(), STYLES, strict=False):
        belief = table["believed"]
        axes.fill_between(belief, table["observed_low"], table["observed_high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(belief, table["observed"], color=colour, label=name)
    axes.set(xlabel="belief", ylabel="observed frequency", aspect="equal")
    axes.legend(frameon=False, fontsize=8)
    return figure


def consistency(tables: dict[str, pd.DataFrame]) -> Figure:
    """Miscalibration beside the range of calibrated draws."""
    figure, axes = plt.subplots(figsize=(4.6, 2.2), layout="constrained")
    for row, (name, table) in enumerate(tables.items()):
        term = table.set_index("term").loc["miscalibration"]
        axes.plot(
            [0, term["calibrated_high"]],
            [row, row],
            color="#cccccc",
            linewidth=10,
            solid_capstyle="butt",
            label="" if row else "90 % of calibrated draws",
        )
        axes.plot(term["amount"], row, "D", color=(BLUE, ORANGE)[row], label=f"{name}: p = {term['p_value']:.2f}")
    axes.set_yticks(range(len(tables)), list(tables))
    axes.set(xlabel="miscalibration", ylim=(-0.6, 2.2), xlim=(0, None))
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def redrawn(three: dict[str, attacks.Attack], adversary: Adversary, releases: tuple[models.Release, ...]) -> Figure:
    """Log score less the expected one of attacks in ten redrawn worlds, with three standard errors."""
    tried = three | {"joint, GroupGraph": attacks.JointAttack(adversary, models.GroupGraph())}
    found = [evaluation.solver_calibration(attack, releases, rng=1) for attack in tried.values()]
    figure, axes = plt.subplots(figsize=(6.0, 2.2), layout="constrained")
    apart, errors = [each.difference for each in found], [3 * each.standard_error for each in found]
    axes.errorbar(apart, range(len(found)), xerr=errors, fmt="o", color=BLUE, capsize=3)
    axes.set_yticks(range(len(found)), list(tried))
    for row, each in enumerate(found):
        label = f"{each.right:,} right, {each.expected:,.0f} expected"
        axes.text(0.42, row, label, fontsize=8, va="center")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="log score less the expected one, bits", ylim=(-0.5, len(found) - 0.5), xlim=(-0.45, 0.4))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def ranked(tables: dict[str, pd.DataFrame]) -> Figure:
    """Highest belief of each person, in decreasing order."""
    figure, axes = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    for (name, table), (colour, *_) in zip(tables.items(), STYLES, strict=False):
        axes.plot(range(1, len(table) + 1), np.sort(table["belief"])[::-1], color=colour, label=name)
    axes.set(xlabel="people, from the most to the least exposed", ylabel="highest belief", ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def sources(attack: attacks.Attack, releases: tuple[models.Release, ...], beliefs: models.Beliefs) -> Figure:
    """Sources of the belief about the person of whom the last release raises it most, short of certainty."""
    rise = (beliefs.posterior(4) - beliefs.revised(4)).where(beliefs.posterior(4) < 0.99)
    axes = evaluation.belief_sources_plot(
        evaluation.belief_sources(attack, releases, rise.max(axis=1).idxmax(), time=4)
    )
    axes.figure.set_size_inches(5.2, 2.6)
    return axes.figure


def exposing(beliefs: models.Beliefs) -> Figure:
    """Contribution of each group member to the belief about the person whose mates say most."""
    tables = {person: evaluation.exposing_members(beliefs, person, 4) for person in range(1, 61)}
    person, table = max(tables.items(), key=lambda item: item[1]["contribution"].max())
    figure, axes = plt.subplots(figsize=(4.6, 2.3), layout="constrained")
    axes.barh([f"person {member}" for member in table["respondent"]][::-1], table["contribution"][::-1], color=BLUE)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel=f"change of the belief about person {person} at release 4")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def items_lost(shown: Example) -> Figure:
    """Share and cost of the removed items under stricter requirements on labels."""
    releases = item_releases(shown)
    table = evaluation.items_lost(list(releases.values()))
    figure, axes = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    places = np.arange(len(releases))
    axes.bar(places - 0.2, table["removed_share"], 0.38, color=BLUE, label="share of the items")
    axes.bar(places + 0.2, table["cost"], 0.38, color=ORANGE, label="cost")
    axes.set_xticks(
        places, [name.replace(" items", "\nitems").replace("-diverse", "-\ndiverse") for name in releases], fontsize=8
    )
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
