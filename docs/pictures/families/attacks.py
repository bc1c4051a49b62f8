"""Pictures of attacks: beliefs about one person from release to release."""

import matplotlib.pyplot as plt
import numpy as np
from example import VALUES, Example, example, in_classes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from families.drawing import BLUE, GREY, ORANGE, PLAIN, Pictures
from families.items import item_releases
from foreknow import attacks, defenses, models
from foreknow.defenses import Mondrian, publish
from foreknow.models import Adversary, Release

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
