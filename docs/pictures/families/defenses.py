"""Pictures of defenses: groups of the second release, and the beliefs that they leave."""

import matplotlib.pyplot as plt
import numpy as np
from example import MARKERS, Example, example, in_classes
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from families.drawing import BLUE, GREY, ORANGE, PLAIN, Pictures
from families.items import item_releases
from foreknow import attacks, defenses, evaluation
from foreknow.defenses import Mondrian, publish
from foreknow.models import Adversary, NoisyRelease, Release

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
    "Cohorts": defenses.Cohorts(2, 6, departures="withdraw", priors=20.0, rng=1),
    "NoisyCounts": defenses.NoisyCounts(4, 3, gain=0.1, rng=1),
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


def groups_of(axes: Axes, release: Release | NoisyRelease) -> None:
    """Records by their quasi-identifiers, with the box of each group, or lines within it if values are published exactly."""
    frame, colours = release.view.frame, plt.colormaps["tab10"]
    cells = release.made.cells if isinstance(release, NoisyRelease) else None
    ends = np.array([kind.bounds for kind in release.view.schema.quasi_identifiers.values()]).T
    points = frame[["age", "weight"]].to_numpy(dtype=float)
    for group in range(release.group.max() + 1):
        own, colour = points[release.group == group], colours(group % 10)
        if not len(own):
            continue
        if cells is not None:
            low, high = np.maximum(cells.above[group], ends[0] - 2), np.minimum(cells.to[group], ends[1] + 2)
            axes.add_patch(Rectangle(tuple(low), *(high - low), facecolor=(*colour[:3], 0.13), edgecolor=colour))
        elif release.bucketized:
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
    if isinstance(release, NoisyRelease):
        notes = [f"{len(release.counts)} cells", f"noise of scale {release.made.noise.scale:.1f}"]
    else:
        notes = _notes(release)
    axes.set(title=", ".join(notes), xlabel="age", ylabel="weight, kg")
    axes.title.set_fontsize(10)
    axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=4, frameon=False, fontsize=8)


def _notes(release: Release) -> list[str]:
    suppressed = int((release.group < 0).sum())
    invented = int(release.counts.sum()) - int((release.group >= 0).sum())
    notes = [f"{release.group.max() + 1} groups"]
    return (
        notes + [f"{suppressed} suppressed (grey)"] * (suppressed > 0) + [f"{invented} counterfeits"] * (invented > 0)
    )


def beliefs_left(
    axes: Axes, shown: Example, adversary: Adversary, releases: tuple[Release, ...] | tuple[NoisyRelease, ...]
) -> None:
    """Belief in the true value of each person in the second release."""
    true = shown.history[1].sensitive
    rows = np.arange(len(true))
    together = attacks.JointAttack(adversary)
    # Noisy counts are read by the joint attack alone.
    alone = (together if isinstance(releases[1], NoisyRelease) else attacks.SnapshotAttack(adversary))(releases[1:2])
    joint = together(releases).at(2)
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


def item_suppression(shown: Example) -> Figure:
    """Number of items and beliefs in labels by group, before and after the suppression of items."""
    releases = item_releases(shown)
    lost = evaluation.items_lost(list(releases.values()))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    left.bar(range(len(releases)), lost["items"] - lost["removed"], color=BLUE, label="published")
    left.bar(
        range(len(releases)), lost["removed"], bottom=lost["items"] - lost["removed"], color="#dddddd", label="removed"
    )
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
