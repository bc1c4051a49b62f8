"""Presence against the enumeration of all paths, written from the definition, and its laws."""

from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.models import (
    Adversary,
    Averaged,
    Categorical,
    Enumeration,
    GivenPrior,
    History,
    MarkovChain,
    Presence,
    Release,
    Schema,
    UniformPrior,
    View,
)

VALUES = ("a", "b", "c")


def schema(values=VALUES):
    return Schema({"sex": Categorical(("f", "m"))}, "result", values, "id")


def random_history(rng, people=4, releases=4, values=3, share=0.75, pauses=True):
    """Releases of people who come, pause and go, with groups at random; up to the first one with nobody."""
    own = schema(VALUES[:values])
    starts = rng.integers(0, 2, people)
    starts[0] = 0
    ends = rng.integers(1, releases + 1, people)
    views, labels = [], []
    for t in range(releases):
        here = [i for i in range(people) if starts[i] <= t < max(ends[i], starts[i] + 1)]
        if pauses:
            here = [i for i in here if rng.random() < share or t == starts[i]]
        if not here:
            break
        frame = pd.DataFrame({"id": here, "sex": rng.choice(["f", "m"], len(here)), "result": rng.choice(own.values, len(here))})
        views.append(View(frame, own, t))
        labels.append(rng.integers(0, 2, len(here)))
    return [Release(view, label) for view, label in zip(views, labels, strict=True)]


def random_knowledge(rng, values, people=4, pause=True):
    prior = GivenPrior(pd.DataFrame(rng.dirichlet(np.ones(values), people), index=range(people), columns=VALUES[:values]))
    chain = MarkovChain(1, rng.dirichlet(np.full(values, 0.6), values))
    chances = rng.dirichlet(np.ones(3), values).T
    presence = Presence(chances[0], chances[1], rng.uniform(0.2, 1)) if pause else Presence(chances[0])
    return prior, chain, presence


def factor_of_path(path, listed, last, presence):
    """Probability of the departures, pauses and stays of one respondent, up to a constant; ``path[t]`` is the value at t."""
    leave, pause, back = presence.leave, presence.pause, presence.back
    weight = 1.0
    for t, s in path.items():
        later = [u for u in listed if u > t]
        if t == last:
            continue
        if not later:
            weight *= leave[s] + (0 if pause is None else pause[s] * (1 - back) ** (last - t - 1))
        elif later[0] == t + 1:
            weight *= 1 - leave[s] - (0 if pause is None else pause[s])
        else:
            weight *= 1 - leave[s] if pause is None else pause[s]
    return weight


def beliefs_by_paths(releases, prior, chain, presence):
    """Beliefs given all of some releases, by the sum over all values that agree with every group."""
    m, last = len(releases[0].observation.people.schema.values), len(releases) - 1
    places, listed = [], {}
    for t, release in enumerate(releases):
        for i in release.observation.people.respondents:
            places.append((t, i))
            listed.setdefault(i, []).append(t)
    groups = []
    for t, release in enumerate(releases):
        seen = release.observation
        for g, counts in enumerate(seen.counts):
            members = [(t, i) for i, own in zip(seen.people.respondents, seen.group, strict=True) if own == g]
            shown = [s for s in range(m) for _ in range(counts[s])]
            groups.append([dict(zip(members, one, strict=True)) for one in set(permutations(shown))])
    found, total = {place: np.zeros(m) for place in places}, 0.0
    rows = {i: np.asarray(prior.frame.loc[i]) for i in listed}
    for choice in product(*groups):
        values = {place: s for part in choice for place, s in part.items()}
        weight = 1.0
        for i, times in listed.items():
            path = {t: values[t, i] for t in times}
            weight *= rows[i][path[times[0]]] * factor_of_path(path, times, last, presence)
            for t, u in pairwise(times):
                weight *= chain.probabilities[path[t], path[u]]
        total += weight
        for place, s in values.items():
            found[place][s] += weight
    return {place: row / total for place, row in found.items()}


def cases(number, seed):
    """Random histories that are possible under random knowledge."""
    for rng in np.random.default_rng(seed).spawn(number):
        values = int(rng.integers(2, 4))
        releases = random_history(rng, values=values, releases=int(rng.integers(2, 5)))
        yield releases, *random_knowledge(rng, values, pause=rng.random() < 0.7)


@pytest.mark.parametrize("seed", range(3))
def test_beliefs_in_hindsight_and_forward_are_those_of_the_sum_over_all_paths(seed):
    for releases, prior, chain, presence in cases(12, seed):
        adversary = Adversary(prior, chain, presence=presence)
        found = JointAttack(adversary, Enumeration())(releases)
        forward = JointAttack(adversary, Enumeration(), hindsight=False)(releases)
        exact = beliefs_by_paths(releases, prior, chain, presence)
        for t, one in enumerate(found):
            first = beliefs_by_paths(releases[: t + 1], prior, chain, presence)
            for row, i in enumerate(one.observation.people.respondents):
                np.testing.assert_allclose(one.posterior.probabilities[row], exact[t, i], atol=1e-12)
                np.testing.assert_allclose(forward.releases[t].posterior.probabilities[row], first[t, i], atol=1e-12)
