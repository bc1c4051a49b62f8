"""A picture of each defense, attack, estimator, joint solver, program and measure, by one function for each family.

`python docs/pictures/members.py` writes all of them; `python docs/pictures/members.py attacks measures` writes two families.
Programs are sampled by NUTS, which takes minutes; the others take seconds. The seeds are fixed. Run it again after a change
of an object that it shows, and look at the result.
"""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from example import MARKERS, VALUES, Example, example, in_classes, with_symptoms
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from foreknow import attacks, defenses, evaluation, models
from foreknow.defenses import KAnonymity, Mondrian, publish, publish_items
from foreknow.models import Adversary, Problem, Release

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
PLAIN = KAnonymity(4) & defenses.DistinctDiversity(2)
Pictures = Iterator[tuple[str, Figure]]


# Defenses: groups of the second release, and the beliefs that they leave.

DEFENSES = {
    "Mondrian": Mondrian(PLAIN),
    "FullDomain": defenses.FullDomain(PLAIN),
    "Anatomy": defenses.Anatomy(3, rng=1),
    "Injector": defenses.Injector(3, rng=1),
    "MASK": defenses.MASK(4, 2, ("HIV", "diabetes"), rng=1),
    "MInvariance": defenses.MInvariance(3, rng=1),
    "JSReduce": defenses.JSReduce(3, 0.7, 0.5),
    "BKAA": defenses.BKAA(3, 4.0, 0.5),
    "UHRA": defenses.UHRA(3, 0.7, 0.5),
    "KPrimacy": defenses.KPrimacy(3, 4.0, 0.5),
    "ForegroundSafe": defenses.ForegroundSafe(2, ("HIV",), support=4, rng=1),
}


def defense_pictures() -> Pictures:
    """Groups and beliefs of each defense."""
    shown = example(views=3)
    adversary = Adversary(shown.prior, shown.chain)
    for name, defense in DEFENSES.items():
        history = in_classes(shown.history) if name == "ForegroundSafe" else shown.history
        releases = publish(history, defense, adversary, rng=1)
        figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
        groups_of(left, releases[1])
        beliefs_left(right, shown, adversary, releases)
        yield name, figure
    yield "ItemSuppression", item_suppression(shown)


def groups_of(axes: Axes, release: Release) -> None:
    """Records by their quasi-identifiers, with the box of each group, or lines within it if values are published exactly."""
    frame, colours = release.view.frame, plt.colormaps["tab10"]
    points = frame[["age", "weight"]].to_numpy(dtype=float)
    for group in range(release.group.max() + 1):
        own, colour = points[release.group == group], colours(group % 10)
        if not len(own):
            continue
        if release.bucketized:
            for point in own:
                axes.plot(*zip(own.mean(axis=0), point, strict=True), color=colour, linewidth=1, zorder=1)
        else:
            low, size = own.min(axis=0) - 0.9, np.ptp(own, axis=0) + 1.8
            axes.add_patch(Rectangle(tuple(low), *size, facecolor=(*colour[:3], 0.13), edgecolor=colour, linewidth=1.2))
    for value, marker in MARKERS.items():
        rows = (frame["diagnosis"] == value).to_numpy()
        faces = [GREY if group < 0 else colours(group % 10) for group in release.group[rows]]
        axes.scatter(*points[rows].T, marker=marker, c=faces, edgecolors="black", linewidths=0.6, s=34, zorder=2)
        axes.scatter([], [], marker=marker, c="white", edgecolors="black", linewidths=0.6, s=34, label=value)
    suppressed = int((release.group < 0).sum())
    invented = int(release.counts.sum()) - int((release.group >= 0).sum())
    notes = [f"{release.group.max() + 1} groups"]
    notes += [f"{suppressed} suppressed (grey)"] * (suppressed > 0) + [f"{invented} counterfeits"] * (invented > 0)
    axes.set(title=", ".join(notes), xlabel="age", ylabel="weight, kg")
    axes.title.set_fontsize(10)
    axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=4, frameon=False, fontsize=8)


def beliefs_left(axes: Axes, shown: Example, adversary: Adversary, releases: tuple[Release, ...]) -> None:
    """Belief in the true value of each person in the second release."""
    true = shown.history[1].sensitive
    rows = np.arange(len(true))
    alone = attacks.SnapshotAttack(adversary)(releases[1:2])
    joint = attacks.JointAttack(adversary)(releases).at(2)
    series = {
        "prior": (shown.prior(shown.history[1].people)[rows, true], "|", GREY),
        "this release alone": (alone.at(2).posterior.probabilities[rows, true], "o", BLUE),
        "all three releases": (joint.posterior.probabilities[rows, true], "D", ORANGE),
    }
    order = np.argsort(-series["all three releases"][0])
    first, last = series["prior"][0][order], series["all three releases"][0][order]
    axes.hlines(rows, np.minimum(first, last), np.maximum(first, last), color="#cccccc", linewidth=1, zorder=1)
    for label, (belief, marker, colour) in series.items():
        size = 40 if marker == "|" else 16
        axes.scatter(belief[order], rows, marker=marker, color=colour, s=size, label=label, zorder=2)
    axes.set(xlim=(-0.03, 1.03), ylim=(len(true), -1), yticks=[], xlabel="belief in the true value", ylabel="person")
    axes.set_title(
        f"mean {series['prior'][0].mean():.2f}, {series['this release alone'][0].mean():.2f}, {last.mean():.2f}",
        fontsize=10,
    )
    axes.legend(loc="lower right", fontsize=7.5, frameon=True)


def item_releases(shown: Example) -> dict[str, models.ItemRelease]:
    """The symptoms of the first release, as they are and under two requirements on labels."""
    view, linking = with_symptoms(shown.history[0])
    release = publish([view], Mondrian(KAnonymity(6)), rng=1)[0]
    found = {"all items published": models.ItemRelease(release, linking, linking.items_of(view))}
    for c in (1.0, 0.6):
        suppression = defenses.ItemSuppression(defenses.QSDiversity(c, 2, linking))
        found[f"({c:g}, 2)-diverse labels"] = publish_items(view, Mondrian(KAnonymity(6)), suppression, rng=1).release
    return found


def item_suppression(shown: Example) -> Figure:
    """Number of items and beliefs in labels by group, before and after the suppression of items."""
    releases = item_releases(shown)
    lost = evaluation.items_lost(list(releases.values()))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    left.bar(range(len(releases)), lost["items"] - lost["lost"], color=BLUE, label="published")
    left.bar(range(len(releases)), lost["lost"], bottom=lost["items"] - lost["lost"], color="#dddddd", label="removed")
    left.set_xticks(
        range(len(releases)),
        [name.replace(" items", "\nitems").replace("-diverse", "-\ndiverse") for name in releases],
        fontsize=8,
    )
    left.set(ylabel="items of all records")
    left.legend(frameon=False, fontsize=8, loc="lower left")
    for (name, release), colour, marker in zip(releases.items(), (GREY, BLUE, ORANGE), "sod", strict=True):
        largest = np.sort(attacks.LinkingAttack(release.linking)([release]).posterior(1).max(axis=1))[::-1]
        right.plot(range(1, len(largest) + 1), largest, marker=marker, color=colour, label=name)
    right.set(ylim=(0, 1), xlabel="group, from the most to the least exposed", ylabel="belief in the likeliest label")
    right.legend(frameon=False, fontsize=8)
    return figure


# Attacks: beliefs about one person from release to release.

PERSON = 2


def attack_pictures() -> Pictures:
    """Beliefs about one person under each attack."""
    shown = example()
    adversary = Adversary(shown.prior, shown.chain)
    releases = publish(shown.history, Mondrian(PLAIN), rng=1)
    unsure = Adversary(shown.prior, models.DirichletChain((shown.chain.probabilities * 20,)))
    statement = attacks.ConditionalProbability("diabetes", {"age": (60, 80)}, 0.6)
    found = {
        "JointAttack": attacks.JointAttack(adversary),
        "LearnedAttack": attacks.LearnedAttack(),
        "SequentialAttack": attacks.SequentialAttack(adversary),
        "SnapshotAttack": attacks.SnapshotAttack(adversary),
        "RetrospectiveAttack": attacks.RetrospectiveAttack(adversary),
        "DataAugmentationAttack": attacks.DataAugmentationAttack(unsure, rng=1),
        "DeFinettiAttack": attacks.DeFinettiAttack(bins=3),
        "CompositionAttack": attacks.CompositionAttack(),
        "PrivacyMaxEntAttack": attacks.PrivacyMaxEntAttack([statement]),
        "MinimalityAttack": attacks.MinimalityAttack(2, k=4, diversity="distinct"),
    }
    for name, attack in found.items():
        yield name, one_person(shown, attack(releases))
    classes = publish(in_classes(shown.history), Mondrian(PLAIN), rng=1)
    yield "ForegroundAttack", one_person(shown, attacks.ForegroundAttack(sensitive_set={"HIV"}, support=4)(classes))
    invariant = publish(shown.history, defenses.MInvariance(3, rng=1), rng=1)
    yield "SignatureAttack", one_person(shown, attacks.SignatureAttack(adversary)(invariant))
    yield "LinkingAttack", labels_of_one_group(shown)
    yield "Influence", influence(shown, releases)


def one_person(shown: Example, beliefs: models.Beliefs) -> Figure:
    """Belief in each value at each release; the true values are framed."""
    table = np.array([beliefs.posterior(time).loc[PERSON, list(VALUES)] for time in beliefs.times], dtype=float)
    truth = [VALUES.index(view.frame.set_index("person").loc[PERSON, "diagnosis"]) for view in shown.history]
    figure, axes = plt.subplots(figsize=(4.6, 2.4), layout="constrained")
    axes.imshow(table.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for release, row in enumerate(table):
        for value, belief in enumerate(row):
            colour = "white" if belief > 0.55 else "black"
            axes.text(release, value, f"{belief:.2f}", ha="center", va="center", color=colour, fontsize=9)
        axes.add_patch(
            Rectangle((release - 0.47, truth[release] - 0.46), 0.94, 0.92, fill=False, edgecolor=ORANGE, linewidth=2)
        )
    axes.set_xticks(range(len(table)), [f"release {time}" for time in beliefs.times])
    axes.set_yticks(range(len(VALUES)), VALUES)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def labels_of_one_group(shown: Example) -> Figure:
    """Beliefs in the labels of the first group, with all items and with fewer."""
    figure, axes = plt.subplots(figsize=(4.6, 2.6), layout="constrained")
    for number, (name, release) in enumerate(item_releases(shown).items()):
        beliefs = attacks.LinkingAttack(release.linking)([release]).posterior(release.time)
        row = beliefs.iloc[0].reindex([*VALUES, "none"]).fillna(0)
        colour = (GREY, BLUE, ORANGE)[number]
        axes.bar(np.arange(len(row)) + 0.27 * (number - 1), row, 0.25, color=colour, label=name)
    axes.set_xticks(range(len(row)), row.index)
    axes.set(ylabel="belief in the label", ylim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
    return figure


def influence(shown: Example, releases: tuple[Release, ...]) -> Figure:
    """Bits by which each belief changes if the value of one person at the second release is known."""
    adversary = Adversary(shown.prior, shown.chain, cascade=models.EvidenceCascade())
    value = shown.history[1].frame.set_index("person").loc[PERSON, "diagnosis"]
    graph = attacks.Influence(adversary)(releases, PERSON, value, 2)
    bits = np.zeros((4, 24))
    for (person, time), node in graph.nodes.items():
        bits[time - 1, person - 1] = node["bits"]
    figure, axes = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
    image = axes.imshow(bits, cmap="Oranges", aspect="auto", vmin=0)
    axes.add_patch(Rectangle((PERSON - 1.5, 0.5), 1, 1, fill=False, edgecolor="black", linewidth=2))
    axes.set_xticks(range(0, 24, 2), range(1, 25, 2))
    axes.set_yticks(range(4), [f"release {time}" for time in range(1, 5)])
    axes.set(xlabel="person (frame: the compromised record)")
    figure.colorbar(image, label="change of the belief, bits")
    return figure


# Estimators: beliefs of one group beside the exact ones.

GROUP = Problem(
    np.array(
        [[0.05, 0.45, 0.5], [0.1, 0.3, 0.6], [0.1, 0.6, 0.3], [0.3, 0.2, 0.5], [0.55, 0.2, 0.25], [0.02, 0.08, 0.9]]
    ),
    np.zeros(6, dtype=int),
    np.array([[1, 2, 3]]),
)


def trusting(problem: Problem) -> pm.Model:
    """A program that does not know how far to trust the prior."""
    with pm.Model() as model:
        trust = pm.Beta("trust", 2, 1)
        rows = trust * pm.Data("knowledge", problem.prior) + (1 - trust) / problem.prior.shape[1]
        pm.Deterministic("belief", models.observe_groups(problem, rows))
    return model


def weighted(prior: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Shares of the group weighted by the priors."""
    weights = prior * counts
    return weights / weights.sum(axis=1, keepdims=True)


def estimator_pictures() -> Pictures:
    """Beliefs in the value that the group shows once."""
    rules = {
        name: getattr(models, name)()
        for name in (
            "Auto",
            "Exact",
            "BeliefPropagation",
            "Sinkhorn",
            "Omega",
            "ConfidenceSum",
            "DirichletMultinomial",
            "Mixed",
            "RandomWorlds",
        )
    }
    rules |= {"SwapChain": models.SwapChain(rng=1), "PerGroup": models.PerGroup(weighted)}
    rules |= {"ProgramEstimator": models.ProgramEstimator(trusting, rng=1)}
    exact = models.Exact()(GROUP).probabilities[:, 0]
    for name, rule in rules.items():
        belief = rule(GROUP).probabilities[:, 0]
        figure, axes = plt.subplots(figsize=(4.8, 2.5), layout="constrained")
        members = np.arange(6)
        axes.bar(members, belief, 0.6, color=BLUE, label=name)
        axes.bar(members, exact, 0.74, fill=False, edgecolor=ORANGE, linewidth=1.8, label="Exact")
        axes.hlines(
            GROUP.prior[:, 0],
            members - 0.42,
            members + 0.42,
            color="black",
            linestyle="--",
            linewidth=1.2,
            label="prior",
        )
        for member, height in enumerate(np.max([belief, exact, GROUP.prior[:, 0]], axis=0)):
            axes.text(member, height + 0.02, f"{belief[member]:.2f}", ha="center", fontsize=8)
        axes.set_xticks(members, [f"member {member + 1}" for member in members], fontsize=8)
        axes.set(ylim=(0, 1), ylabel="belief")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        yield name, figure


# Joint solvers: beliefs against the exact ones.


def joint_solver_pictures() -> Pictures:
    """Beliefs of eight people in three releases."""
    shown = example(people=8, views=3, seed=3)
    releases = publish(shown.history, Mondrian(KAnonymity(3)), rng=1)
    adversary = Adversary(shown.prior, shown.chain)
    solvers = {name: getattr(models, name)() for name in ("MaxEntropy", "GroupMessages", "Enumeration", "JointAuto")}
    solvers["PathSampler"] = models.PathSampler(rng=1)
    found = {name: attacks.JointAttack(adversary, solver)(releases) for name, solver in solvers.items()}
    exact = np.concatenate([found["Enumeration"].at(time).posterior.probabilities.ravel() for time in (1, 2, 3)])
    sequential = attacks.SequentialAttack(adversary)(releases)
    for name, beliefs in found.items():
        figure, axes = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
        axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
        series = {name: (beliefs, BLUE, "o")}
        if name == "Enumeration":
            series = {"SequentialAttack": (sequential, GREY, "x"), name: series[name]}
        for label, (each, colour, marker) in series.items():
            own = np.concatenate([each.at(time).posterior.probabilities.ravel() for time in (1, 2, 3)])
            axes.scatter(
                exact,
                own,
                s=16,
                color=colour,
                marker=marker,
                alpha=0.8,
                label=f"{label}: {np.abs(own - exact).max():.2f}",
            )
        axes.set(xlabel="exact belief", ylabel="belief", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        axes.legend(frameon=False, fontsize=8, loc="upper left", title="largest difference", title_fontsize=8)
        yield name, figure


# Programs: prior and posterior of one unknown quantity.


def program_pictures() -> Pictures:
    """Draws of one quantity, before and after the data."""
    for name, (model, quantity, label, truth) in programs().items():
        with model:
            prior = quantity(pm.sample_prior_predictive(2000, random_seed=1).prior)
            trace = pm.sample(
                500, tune=500, chains=4, random_seed=1, nuts_sampler="pymc", target_accept=0.95, progressbar=False
            )
        figure, axes = plt.subplots(figsize=(4.8, 2.5), layout="constrained")
        after = quantity(trace.posterior)
        low, high = np.quantile(prior, 0.005), max(np.quantile(prior, 0.99), after.max(), truth or after.max())
        bins = np.linspace(low, high, 46)
        axes.hist(prior, bins, density=True, histtype="step", color="black", linestyle="--", label="prior")
        axes.hist(after, bins, density=True, color=BLUE, alpha=0.6, label="posterior")
        if truth is not None:
            axes.axvline(truth, color=ORANGE, linestyle=":", linewidth=2, label="true value")
        axes.set(xlabel=label, ylabel="density", xlim=(low, high), yticks=[])
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
        yield name, figure


def programs() -> dict[str, tuple]:
    """Model, quantity, its name and its true value for each program."""
    rng = np.random.default_rng(4)
    shown = example(views=4)
    values = np.array([view.sensitive for view in shown.history])
    group = np.repeat(np.arange(10), 4)
    sick = rng.random(40) < 0.3
    counts = np.array([[sick[group == g].sum(), 4 - sick[group == g].sum()] for g in range(10)])
    flat = Problem(np.full((40, 2), 0.5), group, counts)
    small = example(people=8, views=3, seed=3)
    published = publish(small.history, Mondrian(KAnonymity(2)), rng=1)
    joint = models.joint_history(Adversary(small.prior, small.chain), [release.observation for release in published])
    three = Problem(
        np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]), np.zeros(3, dtype=int), np.array([[1, 1, 1]])
    )
    signature = rng.integers(0, 2, 40)
    ill = rng.random(40) < np.where(signature == 0, 0.7, 0.2)
    shows = np.array([[ill[group == g].sum(), 4 - ill[group == g].sum()] for g in range(10)])
    evidence = models.Evidence(signature, group, shows, shows.sum(axis=0) / shows.sum())
    adversary = Adversary(shown.prior, shown.chain)
    beliefs = attacks.JointAttack(adversary)(publish(shown.history, Mondrian(PLAIN), rng=1))
    right = rng.random(24) < 0.75
    other = (values[0] + 1 + rng.integers(0, 3, 24)) % 4
    claims = pd.DataFrame(
        {"respondent": range(1, 25), "value": np.array(VALUES)[np.where(right, values[0], other)], "time": 1}
    )
    old = shown.history[0].frame["age"].to_numpy() > 50
    first = np.array(values.T)
    moved = np.where(old[:, None], first, rng.integers(0, 4, first.shape))
    one_view = models.History([example(people=120, views=1).history[0]])
    sequences, walks, ages = [list(row) for row in first], [list(row) for row in moved], [int(each) for each in old]
    pooled = models.hierarchical_markov_model(walks, ages, values=4)
    stays = entry("transitions", 0, 0), "probability that flu stays", 0.8
    return {
        "release_model": (
            models.release_model([flat], [np.zeros(40, dtype=int)]),
            *(entry("frequencies", 0, 0), "frequency of the first value", 0.3),
        ),
        "history_model": (models.history_model(joint), *stays),
        "permutation_model": (models.permutation_model(three), largest, "share of the best assignment", None),
        "foreground_model": (
            models.foreground_model(evidence, 4.0),
            *(entry("global_distribution", 0, 0), "probability of the value for one signature", 0.7),
        ),
        "compromised_model": (
            models.compromised_model(claims, beliefs),
            *(entry("reliability"), "reliability of the source", 0.75),
        ),
        "markov_model": (models.markov_model(sequences, values=4), *stays),
        "hierarchical_markov_model": (pooled, entry("concentration"), "concentration", None),
        "prior_model": (
            models.prior_model(one_view),
            *(entry("coefficients", 0, 2), "coefficient of age for diabetes", None),
        ),
    }


def entry(variable: str, *position: int) -> Callable[[xr.Dataset], np.ndarray]:
    """Draws of one entry of a variable."""

    def read(group: xr.Dataset) -> np.ndarray:
        array = group[variable].to_numpy()
        return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])[(slice(None), *position)]

    return read


def largest(group: xr.Dataset) -> np.ndarray:
    """Draws of the share of the assignment in which each member has the value of its position."""
    return group["shares"].sel(assignment="0 1 2").to_numpy().ravel()


# Measures: by release, under two defenses.


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
    yield (
        "calibration",
        curves(
            {d: evaluation.calibration(b, history).set_index("believed")["observed"] for d, b in beliefs.items()}, "o-"
        ),
    )
    yield "reliability_curve", reliability(beliefs, history)
    yield (
        "consistency_test",
        consistency({d: evaluation.consistency_test(b, history, rng=1) for d, b in beliefs.items()}),
    )
    yield "respondent_risk", ranked({d: evaluation.respondent_risk(b, history) for d, b in beliefs.items()})
    yield "exposing_members", exposing(attacks.SequentialAttack(adversary)(published["Mondrian"]))
    forward = {d: attacks.JointAttack(adversary, hindsight=False)(r) for d, r in published.items()}
    leak = {d: evaluation.retroactive_leak(forward[d], beliefs[d], history) for d in published}
    yield (
        "retroactive_leak",
        by_release({d: table.iloc[:, 1:].filter(regex="leak").iloc[:, 0] for d, table in leak.items()}, "leak, bits"),
    )
    worst = evaluation.worst_case(published, three, by_release=True)
    gains = worst[worst["measure"] == "gain"] if "measure" in worst else worst
    column = "value" if "value" in gains else "gain"
    yield "worst_case", by_release({d: gains[gains["defense"] == d][column] for d in published}, "largest gain")
    loss = {
        "record_linkage": (evaluation.record_linkage, "linkage", "probability of the link"),
        "gcp": (evaluation.gcp, "normalized", "generalization loss"),
        "query_error": (lambda r: evaluation.query_error(r, workload), "query_mean", "mean relative error"),
        "kl_loss": (evaluation.kl_loss, "joint", "divergence, bits"),
        "discernibility": (evaluation.discernibility, "discernibility", "discernibility"),
        "average_group_size": (evaluation.average_group_size, "group_size", "records per group"),
        "suppressed": (evaluation.suppressed, "counterfeits", "counterfeits"),
    }
    for name, (measure, column, label) in loss.items():
        tables = {d: measure(r) for d, r in published.items()}
        yield name, by_release({d: t[column if column in t else t.columns[1]] for d, t in tables.items()}, label)
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
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.4), layout="constrained")
    for panel, column in zip(axes, ("gain", "success", "log_score", "right"), strict=True):
        for (name, table), (colour, marker, line) in zip(tables.items(), STYLES, strict=False):
            panel.plot(range(1, 5), table[column], color=colour, marker=marker, linestyle=line, label=name)
        panel.set(title=column, xlabel="release", xticks=range(1, 5))
    axes[0].legend(frameon=False, fontsize=8)
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
        belief = table[table.columns[0]] if "believed" not in table else table["believed"]
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


def ranked(tables: dict[str, pd.DataFrame]) -> Figure:
    """Highest belief of each person, in decreasing order."""
    figure, axes = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    for (name, table), (colour, *_) in zip(tables.items(), STYLES, strict=False):
        column = "belief" if "belief" in table else table.select_dtypes("floating").columns[0]
        axes.plot(range(1, len(table) + 1), np.sort(table[column])[::-1], color=colour, label=name)
    axes.set(xlabel="people, from the most to the least exposed", ylabel="highest belief", ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def exposing(beliefs: models.Beliefs) -> Figure:
    """Contribution of each group member to the belief about the person whose mates say most."""
    tables = {person: evaluation.exposing_members(beliefs, person, 4) for person in range(1, 61)}
    person, table = max(tables.items(), key=lambda item: item[1]["contribution"].max())
    figure, axes = plt.subplots(figsize=(4.6, 2.3), layout="constrained")
    axes.barh([f"person {member}" for member in table["member"]][::-1], table["contribution"][::-1], color=BLUE)
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
    axes.bar(places - 0.2, table["share"], 0.38, color=BLUE, label="share of the items")
    axes.bar(places + 0.2, table["cost"], 0.38, color=ORANGE, label="cost")
    axes.set_xticks(
        places, [name.replace(" items", "\nitems").replace("-diverse", "-\ndiverse") for name in releases], fontsize=8
    )
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


FAMILIES = {
    "defenses": defense_pictures,
    "attacks": attack_pictures,
    "estimators": estimator_pictures,
    "joint-solvers": joint_solver_pictures,
    "programs": program_pictures,
    "measures": measure_pictures,
}


def save(figure: Figure, path: Path) -> None:
    """Write a picture of at most 64 colours, which has a third of the bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=130, format="png")
    plt.close(figure)
    stream.seek(0)
    with Image.open(stream) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main(families: list[str]) -> None:
    """Write the pictures of the families into a folder for each."""
    for family in families or FAMILIES:
        (HERE / family).mkdir(exist_ok=True)
        for name, figure in FAMILIES[family]():
            save(figure, HERE / family / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
