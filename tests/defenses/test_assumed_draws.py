"""Every defense against draws of the knowledge, some by class of respondent: groups hold on average, or in the worst draw.

Priors, weights and levels are enumerated anew (`publisher_oracle`).
"""

import numpy as np
import pytest
from publisher_oracle import (
    Knowledge,
    assumed_before,
    bt_divergence,
    j_similarity,
    largest_pair,
    levels_under_draws,
    posterior_gain,
)
from strategies import view_of

from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    BTPrivacy,
    ForegroundSafe,
    FullDomain,
    Injector,
    JSimilarity,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    PosteriorBound,
    publish,
)
from foreknow.defenses.publish import AssumedAdversary
from foreknow.models import Adversary, Averaged, Exact, History, MarkovChain, TransitionsByClass, UniformPrior

EXACT = Exact()
J = 0.25
"""Bound of the divergences."""

GAIN = 0.45
"""Bound of the posterior minus the share."""

N = 14
PEOPLE = [f"p{i}" for i in range(N)]
AGES = [20 + i for i in range(N)]


def history(views=3):
    """Respondents who tend to keep their value, and of whom some miss a view."""
    rng, values, found = np.random.default_rng(7), np.arange(N) % 3, []
    for t in range(views):
        values = np.where(rng.random(N) < 0.7, values, rng.integers(0, 3, N))
        here = [i for i in range(N) if t == 0 or (i + t) % 7]
        found.append(
            view_of([PEOPLE[i] for i in here], "".join("abc"[values[i]] for i in here), [AGES[i] for i in here], t)
        )
    return History(found)


def chains(number, seed):
    """Chains that keep a value with a probability of at least one half."""
    rng = np.random.default_rng(seed)
    return [MarkovChain(1, 0.5 * np.eye(3) + 0.5 * rng.dirichlet(np.ones(3), 3)) for _ in range(number)]


def is_old(people):
    return (people.quasi_identifiers[:, 0] >= 20 + N // 2).astype(np.int64)


def prior(people):
    """Prior by the value at first, of which the adversary knows little."""
    number = np.array([int(name[1:]) % 3 for name in people.respondents])
    return (0.4 * np.eye(3) + 0.2)[number]


def adversary(groups, weights=(1, 2, 1)):
    """Three draws: two chains for all respondents, and a pair of chains by age."""
    first, second, young, old = chains(4, 3)
    each = (first, second, TransitionsByClass(is_old, (young, old)))
    draws = [Adversary(prior, one, estimator=EXACT) for one in each]
    tables = [
        lambda name, release: first.probabilities,  # noqa: ARG005
        lambda name, release: second.probabilities,  # noqa: ARG005
        lambda name, release: (old if AGES[int(name[1:])] >= 20 + N // 2 else young).probabilities,  # noqa: ARG005
    ]
    rows = dict(zip(PEOPLE, (0.4 * np.eye(3) + 0.2)[np.arange(N) % 3], strict=True))
    return Averaged(draws, weights, groups=groups), [Knowledge(rows, table) for table in tables]


REQUIREMENTS = {
    "J-similarity": (JSimilarity(J), j_similarity, J),
    "posterior": (PosteriorBound(GAIN, EXACT), posterior_gain, GAIN),
    "BT": (BTPrivacy(None, J, EXACT), bt_divergence, J),
}


def with_requirement(make):
    return {name: (make(requirement), level, bound) for name, (requirement, level, bound) in REQUIREMENTS.items()}


READ_BELIEFS = {
    "bkaa": {"J-similarity": (BKAA(2, 5, J, patience=12), j_similarity, J)}
    | {name: (BKAA(2, 5, 1.5, also=part, patience=12), *rest) for name, (part, *rest) in REQUIREMENTS.items()},
    "js-reduce": {"J-similarity": (JSReduce(2, 1.0, J, patience=12), j_similarity, J)}
    | {name: (JSReduce(2, 1.0, 1.5, also=part, patience=12), *rest) for name, (part, *rest) in REQUIREMENTS.items()},
    "uhra": {"pairs": (UHRA(2, 1.0, J), largest_pair, J)}
    | {name: (UHRA(2, 1.0, 1.0, also=part), *rest) for name, (part, *rest) in REQUIREMENTS.items()},
    "k-primacy": {"pairs": (KPrimacy(2, 9, J), largest_pair, J)},
    "mondrian": with_requirement(lambda part: Mondrian(KAnonymity(2) & part)),
    "full-domain": with_requirement(lambda part: FullDomain(KAnonymity(2) & part)),
}
"""Defenses that read beliefs, with each requirement that they enforce, its level by enumeration, and its bound."""

READ_NO_BELIEFS = {
    "anatomy": lambda: Anatomy(2, deterministic=True),
    "foreground-safe": lambda: ForegroundSafe(2, ["a"], deterministic=True),
    "injector": lambda: Injector(2, deterministic=True),
    "m-invariance": lambda: MInvariance(2, deterministic=True),
    "mask": lambda: MASK(3, 2, rng=1),
}

CASES = [
    pytest.param(*case, id=f"{name}, {what}") for name, some in READ_BELIEFS.items() for what, case in some.items()
]


def most_levels(releases, knowledge, weights, level, groups):
    """Level of each group: the largest over the draws, or the mean by the weights that the releases leave."""
    found = []
    for release, assumed in zip(releases, assumed_before(releases, knowledge, weights), strict=True):
        each = levels_under_draws(release, assumed, level)
        found.append(each.max(axis=1) if groups == "worst" else each @ assumed.weights)
    return np.concatenate(found)


@pytest.mark.parametrize("groups", ["mean", "worst"])
@pytest.mark.parametrize(("defense", "level", "bound"), CASES)
def test_groups_hold_under_the_draws(defense, level, bound, groups):
    weights = (1, 2, 1)
    averaged, knowledge = adversary(groups, weights)
    releases = publish(history(), defense, averaged, rng=1, infeasible="suppress")
    found = most_levels(releases, knowledge, weights, level, groups)
    assert len(found) >= 3
    assert found.max() <= bound + 1e-9


@pytest.mark.parametrize("name", READ_BELIEFS)
def test_groups_hold_under_transitions_by_class(name):
    defense, level, bound = next(iter(READ_BELIEFS[name].values()))
    averaged, knowledge = adversary("mean")
    releases = publish(history(), defense, averaged.adversaries[2], rng=1, infeasible="suppress")
    found = most_levels(releases, knowledge[2:], (1,), level, "worst")
    assert len(found) >= 3
    assert found.max() <= bound + 1e-9


def test_groups_that_hold_on_average_break_the_bound_in_a_draw():
    averaged, knowledge = adversary("mean")
    for name, (defense, level, bound) in READ_BELIEFS["bkaa"].items():
        releases = publish(history(), defense, averaged, rng=1)
        assert most_levels(releases, knowledge, (1, 2, 1), level, "worst").max() > bound + 0.01, name


def test_the_publisher_has_the_prior_and_the_weight_of_each_draw():
    averaged, knowledge = adversary("mean", weights=(3, 1, 2))
    releases = publish(history(), JSReduce(2, 1.0, 1.0), averaged, rng=1)
    publisher, apart = AssumedAdversary(averaged), []
    for release, assumed in zip(releases, assumed_before(releases, knowledge, (3, 1, 2)), strict=True):
        found = publisher.prior(release.view)
        assert found.draws == pytest.approx(assumed.priors, abs=1e-9)
        assert found.weights == pytest.approx(assumed.weights, abs=1e-9)
        apart.append(np.abs(assumed.weights - np.array([3, 1, 2]) / 6).max())
        publisher.observe(release.observation)
    assert apart[0] == pytest.approx(0)
    assert apart[2] > 0.05


@pytest.mark.parametrize(("name", "make"), READ_NO_BELIEFS.items())
def test_other_defenses_make_the_same_groups_against_any_adversary(name, make):
    averaged, _ = adversary("worst")
    groups = [
        [release.group for release in publish(history(), make(), assumed, rng=1, infeasible="suppress")]
        for assumed in (averaged, Adversary(UniformPrior()), None)
    ]
    for one in groups[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(groups[0], one, strict=True))


def test_every_defense_is_here():
    """The classes of cohorts are in test_cohorts.py."""
    assert {*READ_BELIEFS, *READ_NO_BELIEFS, "cohorts"} == {*DEFENSES}
