"""Presence and relations as PyMC programs: unknown chances of leaving, and couples whose values agree with an unknown strength."""

from itertools import permutations, product

import networkx as nx
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
    Relations,
    Release,
    Schema,
    View,
)

STEP = np.array([[0.8, 0.2], [0.3, 0.7]])
PRIOR = np.array([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]])


def assignments(groups, shown):
    """All values of the members of some groups of one release: one dict for each."""
    each = [
        [dict(zip(group, one, strict=True)) for one in set(permutations(values))]
        for group, values in zip(groups, shown, strict=True)
    ]
    return [{i: s for part in one for i, s in part.items()} for one in product(*each)]


def releases(all_groups, all_shown):
    """Releases of some groups with the values that they show."""
    schema = Schema({"sex": Categorical(("f", "m"))}, "result", ("a", "b"), "id")
    found = []
    for t, (groups, shown) in enumerate(zip(all_groups, all_shown, strict=True)):
        rows = [
            (i, "ab"[s], g)
            for g, (group, values) in enumerate(zip(groups, shown, strict=True))
            for i, s in zip(group, values, strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["id", "result", "group"]).assign(sex="f")
        found.append(Release(View(frame.drop(columns="group"), schema, t), frame["group"].to_numpy()))
    return found


def adversary(**knowledge):
    prior = GivenPrior(pd.DataFrame(PRIOR, index=range(6), columns=["a", "b"]))
    return Adversary(prior, MarkovChain(1, STEP), **knowledge)


LEAVING = [[0, 1, 2], [3, 4, 5]], [[0, 3, 4]]
"""Groups of both releases, after which 1, 2 and 5 leave."""

LEAVING_SHOWN = ([[0, 0, 1], [0, 1, 1]], [[0, 1, 1]])
"""Values that they show."""


def leaving_program(concentration):
    """Six people: chances of leaving ``Beta(concentration)`` after each value, and the belief in b at the first release."""
    worlds = list(product(*map(assignments, LEAVING, LEAVING_SHOWN)))
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


def who_knows_chances(leave):
    return adversary(presence=Presence(leave))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_known_chances_give_the_beliefs_of_enumeration():
    leave = np.array([0.15, 0.6])
    model = leaving_program(([2.0, 2.0], [2.0, 2.0]))
    found = model.compile_fn(model["belief"], inputs=[model["leave"]])({"leave": leave})
    exact = JointAttack(who_knows_chances(leave), Enumeration())(releases(LEAVING, LEAVING_SHOWN)).posterior(0)["b"]
    np.testing.assert_allclose(found, exact.loc[range(6)], atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_unknown_chances_are_averaged_with_the_weights_of_the_releases():
    with leaving_program((2.0, 2.0)):
        tree = pm.sample(1000, tune=500, chains=4, random_seed=1, progressbar=False)
    points = (np.arange(60) + 0.5) / 60
    grid = list(product(points, points))
    density = np.array([np.prod([one * (1 - one) for one in each]) for each in grid])
    exact = JointAttack(Averaged([who_knows_chances(np.array(each)) for each in grid], density), Enumeration())(
        releases(LEAVING, LEAVING_SHOWN)
    )
    np.testing.assert_allclose(
        tree.posterior["belief"].mean(("chain", "draw")), exact.posterior(0)["b"].loc[range(6)], atol=0.01
    )
    assert set(tree.posterior) == {"leave", "belief"}


COUPLED, COUPLED_SHOWN = ([[0, 1, 2], [3, 4]], [[0, 3, 5], [1, 2, 4]]), ([[0, 0, 1], [0, 1]], [[0, 1, 1], [0, 0, 1]])
"""Groups and values of both releases; 5 is in the second one alone."""

COUPLES = [(0, 3), (1, 4), (2, 5)]
"""The last couple meets at the second release first."""


def couples_program():
    """Six people: factor ``1 + strength`` of equal values of a couple, and the belief in b at the second release."""
    worlds = list(product(*map(assignments, COUPLED, COUPLED_SHOWN)))
    first = np.array([[one[i] for i in range(5)] for one, _ in worlds])
    second = np.array([[two[i] for i in range(6)] for _, two in worlds])
    log_known = np.log(PRIOR[np.arange(5), first]).sum(axis=1) + np.log(PRIOR[5, second[:, 5]])
    log_known += np.log(STEP[first, second[:, :5]]).sum(axis=1)
    meet = [(first[:, 0], first[:, 3]), (first[:, 1], first[:, 4]), (second[:, 2], second[:, 5])]
    laws = [(PRIOR[0], PRIOR[3]), (PRIOR[1], PRIOR[4]), (PRIOR[2] @ STEP, PRIOR[5])]
    with pm.Model(coords={"person": range(6)}) as model:
        strength = pm.Gamma("strength", 2.0, 1.0)
        equal = np.sum([one == other for one, other in meet], axis=0)
        log_law = log_known + equal * pt.log1p(strength)
        # Law of each couple without releases, which is no probability yet: the sum of its table and marginals.
        log_all = pt.sum([pt.log1p(strength * one @ other) for one, other in laws])
        pm.Potential("published", pm.math.logsumexp(log_law) - log_all)
        weights = pt.exp(log_law - pm.math.logsumexp(log_law))
        pm.Deterministic("belief", (weights[:, None] * second).sum(axis=0), dims="person")
    return model


def who_knows_strength(strength):
    return adversary(relations=Relations(nx.Graph(COUPLES), np.ones((2, 2)) + strength * np.eye(2)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_known_strength_gives_the_beliefs_of_enumeration():
    model = couples_program()
    found = model.compile_fn(model["belief"], inputs=[model["strength"]])({"strength": 3.0})
    exact = JointAttack(who_knows_strength(3.0), Enumeration())(releases(COUPLED, COUPLED_SHOWN)).posterior(1)["b"]
    np.testing.assert_allclose(found, exact.loc[range(6)], atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_unknown_strength_is_averaged_with_the_weights_of_the_releases():
    with couples_program():
        tree = pm.sample(1000, tune=500, chains=4, random_seed=1, progressbar=False)
    points = (np.arange(300) + 0.5) / 20
    exact = JointAttack(Averaged(list(map(who_knows_strength, points)), points * np.exp(-points)), Enumeration())(
        releases(COUPLED, COUPLED_SHOWN)
    )
    found = tree.posterior["belief"].mean(("chain", "draw"))
    np.testing.assert_allclose(found, exact.posterior(1)["b"].loc[range(6)], atol=0.01)
    assert set(tree.posterior) == {"strength", "belief"}
