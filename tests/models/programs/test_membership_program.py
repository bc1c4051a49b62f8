"""Membership as a PyMC program: an unknown share of right guesses of the group, for six people in one release."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from foreknow.attacks import SnapshotAttack
from foreknow.models import Adversary, Averaged, GivenMembership, GivenPrior, Numeric, Release, Schema, View

PRIOR = np.array([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
GUESSED = np.array([0, 0, 1, 1, 0, 1])
"""Group that the adversary takes each of them for."""

SHOWN = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0)]
"""Group and value of each published record."""


def program(alpha, beta):
    """Six people: the share of right guesses ``Beta(alpha, beta)``, and the belief in the second value."""
    worlds = np.array(sorted(set(permutations(SHOWN))))
    group, value = worlds[:, :, 0], worlds[:, :, 1]
    log_known = np.log(PRIOR[np.arange(6), value]).sum(axis=1)
    with pm.Model(coords={"person": range(6)}) as model:
        right = pm.Beta("right", alpha, beta)
        log_law = log_known + pt.where(group == GUESSED, pt.log(right), pt.log1p(-right)).sum(axis=1)
        pm.Potential("published", pm.math.logsumexp(log_law))
        weights = pt.exp(log_law - pm.math.logsumexp(log_law))
        pm.Deterministic("belief", (weights[:, None] * value).sum(axis=0), dims="person")
        pm.Deterministic("in group 1", (weights[:, None] * group).sum(axis=0), dims="person")
    return model


def adversary(right):
    """The adversary who knows the share of right guesses."""
    prior = GivenPrior(pd.DataFrame(PRIOR, index=range(6), columns=["a", "b"]))
    rows = [(i, j, 0, right if GUESSED[i] == j else 1 - right) for i, j in product(range(6), range(2))]
    frame = pd.DataFrame(rows, columns=["respondent", "group", "time", "probability"])
    return Adversary(prior, membership=GivenMembership(frame))


def release():
    frame = pd.DataFrame({"id": range(6), "age": 30, "result": ["ab"[s] for _, s in SHOWN]})
    return Release(View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id"), 0), [j for j, _ in SHOWN])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("right", [0.3, 0.8])
def test_a_known_share_gives_the_beliefs_of_the_attack(right):
    model = program(2.0, 2.0)
    found = model.compile_fn([model["belief"], model["in group 1"]], inputs=[model["right"]])(
        {"right": np.array(right)}
    )
    known, given = adversary(right), release()
    exact = known.posterior_without_labels(PRIOR, given.unlabeled)
    np.testing.assert_allclose(found[0], SnapshotAttack(known)([given]).posterior(0)["b"].loc[range(6)], atol=1e-10)
    np.testing.assert_allclose(found[1], exact.group[:, 1], atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_unknown_share_is_averaged_with_the_weights_of_the_release():
    with program(4.0, 2.0):
        tree = pm.sample(1000, tune=500, chains=4, random_seed=1, progressbar=False)
    points = (np.arange(200) + 0.5) / 200
    exact = SnapshotAttack(Averaged([adversary(one) for one in points], points**3 * (1 - points)))([release()])
    np.testing.assert_allclose(
        tree.posterior["belief"].mean(("chain", "draw")), exact.posterior(0)["b"].loc[range(6)], atol=0.01
    )
    assert set(tree.posterior) == {"right", "belief", "in group 1"}
