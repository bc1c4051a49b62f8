"""Cohorts as a PyMC program: paths, ghosts and multisets of six people, against enumeration."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from foreknow.attacks import JointAttack
from foreknow.defenses import Cohorts, publish
from foreknow.models import Adversary, Categorical, Enumeration, GhostChain, GivenPrior, MarkovChain, Schema, View

STEP = np.array([[0.8, 0.2], [0.3, 0.7]])
GHOST = np.array([[0.6, 0.4], [0.1, 0.9]])
PRIOR = np.array([0.45, 0.55])
LISTED = [range(6), range(2, 6), range(3, 6), range(3, 6)]
"""0 and 1 leave first; then 2, and the places of the three end."""

PLACES = [range(6), range(6), range(3, 6), range(3, 6)]


def program():
    """The mechanism: each place takes a step of its chain, and the cell publishes the number of values b of its places."""
    chains = pt.as_tensor(np.stack([STEP, GHOST]))
    with pm.Model() as model:
        value = pm.Categorical("at_0", p=PRIOR, shape=6)
        for t, places in enumerate(PLACES):
            if t:
                is_ghost = np.array([int(i not in LISTED[t]) for i in range(6)])
                value = pm.Categorical(f"at_{t}", p=chains[is_ghost, value])
            pm.Deterministic(f"shown_{t}", value[list(places)].sum())
    return model


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_draws_that_publish_the_same_have_the_beliefs_of_enumeration():
    truth, schema = np.array([0, 1, 1, 0, 1, 1]), Schema({"sex": Categorical(("f", "m"))}, "result", ("a", "b"))
    views = [
        View(pd.DataFrame({"id": listed, "sex": "f", "result": ["ab"[truth[i]] for i in listed]}), schema, t)
        for t, listed in enumerate(LISTED)
    ]
    known = GivenPrior(pd.DataFrame([PRIOR] * 6, columns=["a", "b"]))
    ghosts = MarkovChain(1, GHOST)
    assumed = Adversary(known, MarkovChain(1, STEP), mechanism=GhostChain(ghosts))
    releases = publish(views, Cohorts(3, 6, transitions=ghosts, rng=1), assumed, rng=1)
    assert [release.counts.sum(axis=1).tolist() for release in releases] == [[6], [6], [3], [3]]
    exact = JointAttack(assumed, Enumeration())(releases)
    model = program()
    names = [f"at_{t}" for t in range(4)], [f"shown_{t}" for t in range(4)]
    values, shown = (
        np.stack(pm.draw([model[name] for name in some], 200_000, random_seed=2), axis=1) for some in names
    )
    same = (shown == [release.counts[0, 1] for release in releases]).all(axis=1)
    assert same.sum() > 2_000
    for t, listed in enumerate(LISTED):
        belief = exact.posterior(t)["b"].loc[list(listed)]
        error = np.sqrt(0.25 / same.sum())
        np.testing.assert_allclose(values[same, t][:, list(listed)].mean(axis=0), belief, atol=4 * error)
        np.testing.assert_allclose(belief.iloc[-3:], belief.iloc[-1], atol=1e-12)
    np.testing.assert_allclose(belief, releases[-1].counts[0, 1] / 3, atol=1e-12)
