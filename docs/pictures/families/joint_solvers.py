"""Pictures of joint solvers: beliefs against the exact ones."""

import matplotlib.pyplot as plt
import numpy as np
from example import example

from families.drawing import BLUE, GREY, Pictures
from foreknow import attacks, models
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import Adversary


def joint_solver_pictures() -> Pictures:
    """Beliefs of eight people in three releases."""
    shown = example(people=8, views=3, seed=3)
    releases = publish(shown.history, Mondrian(KAnonymity(3)), rng=1)
    adversary = Adversary(shown.prior, shown.chain)
    solvers = {
        name: getattr(models, name)()
        for name in ("GroupGraph", "MaxEntropy", "GroupMessages", "Enumeration", "JointAuto")
    }
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
