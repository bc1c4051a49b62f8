"""Presence as a PyMC program: an unknown chance of leaving after each value, for six people in two releases."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from foreknow.attacks import JointAttack
from foreknow.models import (
    Adversary,
    Averaged,
    Categorical,
    Enumeration,
    GivenPrior,
    MarkovChain,
    Presence,
    Release,
    Schema,
    View,
)

STEP = np.array([[0.8, 0.2], [0.3, 0.7]])
PRIOR = np.array([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]])
FIRST, SECOND = [[0, 1, 2], [3, 4, 5]], [[0, 3, 4]]
"""Groups of both releases: 1, 2 and 5 leave."""

SHOWN = ([[0, 0, 1], [0, 1, 1]], [[0, 1, 1]])
"""Values that they show."""


def assignments(groups, shown):
    """All values of the members of some groups of one release: one dict for each."""
    each = [
        [dict(zip(group, one, strict=True)) for one in set(permutations(values))]
        for group, values in zip(groups, shown, strict=True)
    ]
    return [{i: s for part in one for i, s in part.items()} for one in product(*each)]


def program(concentration):
    """Six people: chances of leaving ``Beta(concentration)`` after each value, and the belief in b at the first release."""
    worlds = list(product(assignments(FIRST, SHOWN[0]), assignments(SECOND, SHOWN[1])))
    first = np.array([[one[i] for i in range(6)] for one, _ in worlds])
    stays = sorted(worlds[0][1])
    second = np.array([[two[i] for i in stays] for _, two in worlds])
    log_known = np.log(PRIOR[np.arange(6), first]).sum(axis=1) + np.log(STEP[first[:, stays], second]).sum(axis=1)
    left = np.array([i not in stays for i in range(6)])
    with pm.Model(coords={"value": ["a", "b"], "person": range(6)}) as model:
        leave = pm.Beta("leave", *concentration, dims="value")
        log_law = log_known + pt.where(left, pt.log(leave[first]), pt.log1p(-leave[first])).sum(axis=1)
        pm.Potential("published", pm.math.logsumexp(log_law))
        weights = pt.exp(log_law - pm.math.logsumexp(log_law))
        pm.Deterministic("belief", (weights[:, None] * first).sum(axis=0), dims="person")
    return model


def releases():
    schema = Schema({"sex": Categorical(("f", "m"))}, "result", ("a", "b"), "id")
    found = []
    for t, (groups, shown) in enumerate(zip((FIRST, SECOND), SHOWN, strict=True)):
        rows = [
            (i, "ab"[s], g)
            for g, (group, values) in enumerate(zip(groups, shown, strict=True))
            for i, s in zip(group, values, strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["id", "result", "group"]).assign(sex="f")
        found.append(Release(View(frame.drop(columns="group"), schema, t), frame["group"].to_numpy()))
    return found


def adversary(leave):
    prior = GivenPrior(pd.DataFrame(PRIOR, index=range(6), columns=["a", "b"]))
    return Adversary(prior, MarkovChain(1, STEP), presence=Presence(leave))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_known_chances_give_the_beliefs_of_enumeration():
    leave = np.array([0.15, 0.6])
    model = program(([2.0, 2.0], [2.0, 2.0]))
    found = model.compile_fn(model["belief"], inputs=[model["leave"]])({"leave": leave})
    exact = JointAttack(adversary(leave), Enumeration())(releases()).posterior(0)["b"]
    np.testing.assert_allclose(found, exact.loc[range(6)], atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_unknown_chances_are_averaged_with_the_weights_of_the_releases():
    with program((2.0, 2.0)):
        tree = pm.sample(1000, tune=500, chains=4, random_seed=1, progressbar=False)
    points = (np.arange(60) + 0.5) / 60
    grid = list(product(points, points))
    density = np.array([np.prod([one * (1 - one) for one in each]) for each in grid])
    exact = JointAttack(Averaged([adversary(np.array(each)) for each in grid], density), Enumeration())(releases())
    np.testing.assert_allclose(
        tree.posterior["belief"].mean(("chain", "draw")), exact.posterior(0)["b"].loc[range(6)], atol=0.01
    )
    assert set(tree.posterior) == {"leave", "belief"}
