"""Pictures of the reference pages and the tutorials: `python docs/pictures/draw.py` writes all of them in some seconds.

The seeds are fixed. Run it again after a change of an object that it shows, and look at the result.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cascades import cascades
from joint_messages import chains, double_counting, graph, ring
from matplotlib.figure import Figure
from roles_and_atoms import roles

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Mondrian,
    RecursiveDiversity,
    TCloseness,
    publish,
)
from foreknow.evaluation import (
    adversary_confidence,
    adversary_gain,
    belief_over_time,
    disclosures,
    exams,
    gcp,
    log_score,
    success_rate,
)
from foreknow.models import (
    Adversary,
    BeliefPropagation,
    Beliefs,
    ClassFrequencies,
    ConfidenceSum,
    DirichletMultinomial,
    Enumeration,
    Exact,
    GroupMessages,
    History,
    KernelPrior,
    MaxEntropy,
    Numeric,
    Omega,
    Problem,
    RandomWorlds,
    Schema,
    Sinkhorn,
    SwapChain,
    View,
)
from foreknow.models.estimators.exact import log_evidence

HERE = Path(__file__).parent
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
"""Colours that differ without red and green."""

MARKERS = ["o", "s", "^", "D"]


def three_attacks() -> tuple[History, dict[str, Beliefs]]:
    """Three attacks on four releases of 300 simulated exams, as in the tutorial for researchers."""
    history, prior, chain = exams(views=4, records=300, rng=np.random.default_rng(1))
    releases = publish(history, Mondrian(KAnonymity(3) & DistinctDiversity(2)), rng=np.random.default_rng(1))
    adversary = Adversary(prior, chain)
    attacks = {
        "each release alone": SnapshotAttack(adversary),
        "remembering": SequentialAttack(adversary),
        "joint, in hindsight": JointAttack(adversary),
    }
    return history, {name: attack(releases) for name, attack in attacks.items()}


def attacks(history: History, beliefs: dict[str, Beliefs]) -> Figure:
    """Mean belief in the true value by release."""
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for (name, found), colour, marker in zip(beliefs.items(), COLOURS, MARKERS, strict=False):
        table = adversary_confidence(found, history)
        axes.plot(table["time"], table["confidence"], marker=marker, color=colour, label=name)
    axes.set(xlabel="release", ylabel="mean belief in the true value", ylim=(0, 1), xticks=[1, 2, 3, 4])
    axes.legend(frameon=False, loc="lower right")
    return figure


def measures(history: History, beliefs: dict[str, Beliefs]) -> Figure:
    """Four measures of the same beliefs."""
    panels = {
        "gain": lambda found: adversary_gain(found, history)["gain"],
        "success rate": lambda found: success_rate(found, history)["success"],
        "log score, bits": lambda found: log_score(found, history)["log_score"],
        "sure and right, of 300": lambda found: disclosures(found, history)["right"],
    }
    figure, axes = plt.subplots(2, 2, figsize=(7, 5), sharex=True, layout="constrained")
    for panel, (name, measure) in zip(axes.flat, panels.items(), strict=True):
        for (attack, found), colour, marker in zip(beliefs.items(), COLOURS, MARKERS, strict=False):
            panel.plot(range(1, 5), measure(found), marker=marker, color=colour, label=attack)
        panel.set(title=name, xticks=[1, 2, 3, 4])
    for panel in axes[1]:
        panel.set_xlabel("release")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def estimators() -> Figure:
    """Beliefs of one group under eight estimators."""
    prior = np.array([0.02, 0.05, 0.10, 0.40])
    problem = Problem(np.column_stack([prior, 1 - prior]), np.zeros(4, dtype=int), np.array([[1, 3]]))
    rules = [RandomWorlds(), DirichletMultinomial(), ConfidenceSum(), Omega(), Sinkhorn(), BeliefPropagation()]
    rules += [SwapChain(rng=1), Exact()]
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    shades = plt.colormaps["viridis"](np.linspace(0.85, 0.1, 4))
    left = np.zeros(len(rules))
    beliefs = np.array([rule(problem).probabilities[:, 0] for rule in rules])
    for member in range(4):
        bars = axes.barh(
            range(len(rules)), beliefs[:, member], left=left, color=shades[member], edgecolor="white",
            label=f"prior {prior[member]:.2f}",
        )  # fmt: skip
        dark = member > 1
        labels = [f"{belief:.2f}" if belief > 0.055 else "" for belief in beliefs[:, member]]
        axes.bar_label(bars, labels, label_type="center", color="white" if dark else "black", fontsize=8)
        left += beliefs[:, member]
    axes.set_yticks(range(len(rules)), [type(rule).__name__ for rule in rules])
    axes.set(xlabel="belief that the member has HIV, side by side")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def joint_solvers() -> Figure:
    """Mean log score of solvers and of the sequential attack on 20 small histories."""
    scores: dict[str, list[float]] = {}
    for seed in range(20):
        history, prior, chain = exams(views=3, records=12, rng=np.random.default_rng(seed))
        releases = publish(history, Mondrian(KAnonymity(3)), rng=seed)
        adversary = Adversary(prior, chain, estimator=Exact())
        for name, attack in {
            "SequentialAttack": SequentialAttack(adversary),
            "MaxEntropy": JointAttack(adversary, MaxEntropy()),
            "GroupMessages": JointAttack(adversary, GroupMessages()),
            "Enumeration (exact)": JointAttack(adversary, Enumeration()),
        }.items():
            scores.setdefault(name, []).append(log_score(attack(releases), history)["log_score"].mean())
    figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
    values = np.array(list(scores.values()))
    axes.errorbar(
        values.mean(axis=1), range(len(scores)), xerr=values.std(axis=1) / np.sqrt(values.shape[1]),
        fmt="o", color=COLOURS[0], capsize=3,
    )  # fmt: skip
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set(xlabel="log score in bits, mean and standard error", ylim=(-0.5, len(scores) - 0.5))
    axes.grid(axis="x", alpha=0.3)
    return figure


def knowledge() -> Figure:
    """Prior of one value as a function of age, by class frequencies and by kernel priors."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 90, 400)
    sick = rng.random(400) < 0.05 + 0.6 / (1 + np.exp(-(age - 60) / 6))
    rows = {"id": np.arange(400), "age": age, "result": np.where(sick, "sick", "well")}
    view = View(pd.DataFrame(rows), Schema({"age": Numeric()}, "result", ("sick", "well")), time=1)
    history = History([view])
    ages = np.arange(20, 90)
    people = View(pd.DataFrame({"id": ages, "age": ages, "result": "well"}), view.schema, time=1).people
    priors = {
        "ClassFrequencies, 3 classes": ClassFrequencies.fit(history, {"age": 3}),
        "KernelPrior, bandwidth .1": KernelPrior.fit(history, 0.1),
        "KernelPrior, bandwidth .5": KernelPrior.fit(history, 0.5),
    }
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot(ages, 0.05 + 0.6 / (1 + np.exp(-(ages - 60) / 6)), color="black", linestyle=":", label="true probability")
    for (name, prior), colour, style in zip(priors.items(), COLOURS, ["-", "--", "-."], strict=False):
        axes.plot(ages, prior(people)[:, 0], color=colour, linestyle=style, label=name)
    axes.set(xlabel="age", ylabel="prior of the value", ylim=(0, 1))
    axes.legend(frameon=False)
    return figure


def programs() -> Figure:
    """Posterior of the trust in a prior, from groups that agree with it or contradict it, on a grid."""
    trust = np.linspace(0.001, 0.999, 400)
    rows = np.tile([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]], (6, 1))
    group = np.repeat(np.arange(6), 3)
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    width = trust[1] - trust[0]
    axes.plot(trust, 2 * trust, color="black", linestyle=":", label="prior: Beta(2, 1)")
    for name, counts, colour, style in (
        ("six groups as the prior expects", [2, 1], COLOURS[0], "-"),
        ("six groups of one value", [3, 0], COLOURS[1], "--"),
        ("six groups of the other value", [0, 3], COLOURS[2], "-."),
    ):
        logs = [
            log_evidence(Problem(t * rows + (1 - t) / 2, group, np.tile(counts, (6, 1)))).sum() + np.log(t)
            for t in trust
        ]
        density = np.exp(np.array(logs) - max(logs))
        axes.plot(trust, density / density.sum() / width, color=colour, linestyle=style, label=name)
    axes.set(xlabel="trust in the own prior", ylabel="density", xlim=(0, 1), ylim=(0, None))
    axes.legend(frameon=False)
    return figure


def requirements() -> Figure:
    """Loss and mean group size of Mondrian under eight requirements."""
    history, *_ = exams(views=1, records=1000, rng=np.random.default_rng(1))
    rules = [
        KAnonymity(3),
        KAnonymity(10),
        DistinctDiversity(3),
        FrequencyDiversity(3),
        EntropyDiversity(3),
        RecursiveDiversity(2.0, 3),
        TCloseness(0.5),
        BetaLikeness(5.0),
    ]
    found = []
    for rule in rules:
        release = publish(history, Mondrian(rule), rng=1)
        sizes = release[0].table["group"].value_counts()
        found.append((str(rule), sizes.mean(), gcp(release)["gcp"].item()))
    found.sort(key=lambda row: row[2])
    names, sizes, losses = zip(*found, strict=True)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    for panel, values, label in zip(
        axes, (sizes, losses), ("mean number of records of a group", "generalization loss (gcp)"), strict=True
    ):
        bars = panel.barh(range(len(names)), values, color=COLOURS[0])
        panel.bar_label(bars, fmt="%.2g", padding=3, fontsize=8)
        panel.set(xlabel=label)
        panel.margins(x=0.15)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(names)), names)
    return figure


def main() -> None:
    """Write all pictures beside this file."""
    history, beliefs = three_attacks()
    pictures = {
        "attacks": attacks(history, beliefs),
        "measures": measures(history, beliefs),
        "cascades": cascades(),
        "belief-over-time": belief_over_time(beliefs["joint, in hindsight"], history, respondent=32).figure,
        "estimators": estimators(),
        "joint-solvers": joint_solvers(),
        "joint-chains": chains(),
        "joint-graph": graph(),
        "joint-double-counting": double_counting(),
        "joint-ring": ring(),
        "knowledge": knowledge(),
        "programs": programs(),
        "requirements": requirements(),
        "roles-and-atoms": roles(),
    }
    for name, figure in pictures.items():
        figure.savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
