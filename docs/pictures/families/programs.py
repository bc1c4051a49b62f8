"""Pictures of programs: prior and posterior of one unknown quantity."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from example import VALUES, example

from families.drawing import BLUE, ORANGE, PLAIN, Pictures
from foreknow import attacks, models
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import Adversary, Problem


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
