"""Knowledge learned from noisy counts in fixed cells: near the known law that the values were drawn from."""

import numpy as np
import pytest
from noisy_histories import SCHEMA, noisy_history
from strategies import history_of

from foreknow.models import LearnedKnowledge, MarkovChain, Noise, Release
from foreknow.models.joint.learned_knowledge import _staying

CUTS = tuple(range(9))


def drawn(stays, seed, scale=4.0, people=1000, releases=16, listed=0.9):
    """Noisy releases of respondents who stay with some chance, and take the law .3, .7 otherwise; also chain and history."""
    law = np.array([0.3, 0.7])
    chain = stays * np.eye(2) + (1 - stays) * law
    rng = np.random.default_rng(seed)
    return *noisy_history(rng, Noise("gaussian", scale), law, chain, people, releases, listed, cuts=CUTS), chain


@pytest.mark.parametrize(("stays", "near"), [(0.8, 0.1), (0.95, 0.06)])
def test_the_learned_transitions_approach_the_chain(stays, near):
    _, releases, chain = drawn(stays, 1)
    learned = LearnedKnowledge.fit(releases)
    assert (np.abs(learned.transitions.probabilities - chain).sum(axis=1) / 2).max() < near
    assert np.abs(learned.prior.probabilities.reshape(-1) - [0.3, 0.7]).max() < 0.1
    assert np.isnan([one.objective for one in learned.trace]).all()


def test_staying_is_not_mistaken_for_the_levels_of_cells():
    """Values are independent over time, and cells differ. The level of each cell is free: at one level of all, nearly all stay."""
    rng = np.random.default_rng(3)
    noise = Noise("gaussian", 1.0)
    histories = [
        noisy_history(rng, noise, law, np.tile(law, (2, 1)), 400, 16, 1.0, cuts=CUTS)
        for law in ([0.1, 0.9], [0.8, 0.2])
    ]
    seen = [_beside(*pair) for pair in zip(*(releases for _, releases in histories), strict=True)]
    assert _staying(tuple(seen), np.array([0.45, 0.55])) < 0.5


def _beside(one, other):
    """Observation of two releases with the cells of both."""
    first, second = one.observation, other.observation
    names = [f"{k}-{name}" for k, each in enumerate((first, second)) for name in each.people.respondents]
    people = first.people.and_then(second.people)
    people = type(people)(np.array(names, dtype=object), people.quasi_identifiers, SCHEMA, first.time)
    group = np.concatenate([first.group, second.group + len(first.counts)])
    return type(first)(people, group, np.vstack([first.counts, second.counts]), first.time, noise=first.noise)


def test_exact_counts_are_refused():
    _, releases, _ = drawn(0.8, 1, people=50, releases=3)
    with pytest.raises(ValueError, match='noisy, and counts is "exact"'):
        LearnedKnowledge.fit(releases, counts="exact")


def test_a_value_that_noise_hides_has_a_law_above_0():
    _, releases, _ = drawn(0.8, 1, 30.0, people=50, releases=3)
    learned = LearnedKnowledge.fit(releases, pseudo_count=0.0)
    assert (learned.prior.probabilities > 0).all()


def test_exact_releases_are_learned_as_before():
    history = history_of(("ABCD", "aabb"), ("ABCD", "abab"), domain="ab")
    releases = [Release(view, [0, 0, 1, 1]) for view in history]
    both = [LearnedKnowledge.fit(releases, counts=counts) for counts in (None, "exact")]
    assert both[0] == both[1]
    assert isinstance(both[0].transitions, MarkovChain)
