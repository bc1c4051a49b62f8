"""Pictures of estimators: beliefs of one group beside the exact ones."""

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm

from families.drawing import BLUE, ORANGE, Pictures
from foreknow import models
from foreknow.models import Problem

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
