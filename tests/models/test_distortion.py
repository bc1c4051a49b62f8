"""Distorted values against enumeration of all own values and all published ones."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.defenses import MASK, KAnonymity, Mondrian, publish
from foreknow.models import Adversary, Exact, Grouping, History, Memory, Problem, Release, Status, UniformPrior
from foreknow.models.mechanisms import Channel, beliefs_through_channel, distortion_posterior


def weight(channel, x, y, shown):
    """W[x, y], as the docstring of `Channel` has it."""
    distorted = channel.odds[x] / (1 + channel.odds[x])
    way = 1 - distorted if x == y else distorted * channel.into[y] / (1 - channel.into[x])
    return way * (1 if x in shown else channel.vanish)


def enumerated(prior, counts, channel):
    """Of one group: beliefs in own values, and expected numbers of distorted records by own value and by published one."""
    k, m = prior.shape
    shown = {v for v in range(m) if counts[v]}
    belief, left, into, total = np.zeros((k, m)), np.zeros(m), np.zeros(m), 0.0
    for published in set(itertools.permutations(np.repeat(np.arange(m), counts).tolist())):
        for own in itertools.product(range(m), repeat=k):
            w = math.prod(
                prior[i, x] * weight(channel, x, y, shown) for i, (x, y) in enumerate(zip(own, published, strict=True))
            )
            total += w
            for i, (x, y) in enumerate(zip(own, published, strict=True)):
                belief[i, x] += w
                left[x] += w * (x != y)
                into[y] += w * (x != y)
    return belief / total, left / total, into / total


@given(
    size=st.integers(1, 4),
    m=st.integers(2, 3),
    vanish=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_exact_given_the_channel(size, m, vanish, seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(m), size=size)
    counts = np.bincount(rng.integers(0, m, size), minlength=m)
    channel = Channel(rng.uniform(0, 3, m), rng.dirichlet(np.ones(m)), vanish)
    belief, left, into = enumerated(prior, counts, channel)
    found = beliefs_through_channel(Problem(prior, np.zeros(size, dtype=int), counts[None]), size, channel, Exact())
    assert np.allclose(found.belief, belief)
    assert np.allclose((found.from_shown + found.from_vanished).sum(axis=0), left)
    assert np.allclose(found.into.sum(axis=0), into)
    assert np.allclose(found.from_vanished[:, counts > 0], 0)


def test_no_odds_change_nothing():
    rng = np.random.default_rng(3)
    problem = Problem(rng.dirichlet(np.ones(3), size=5), np.array([0, 0, 1, 1, -1]), np.array([[1, 1, 0], [0, 2, 0]]))
    found = beliefs_through_channel(problem, 5, Channel(np.zeros(3), np.full(3, 1 / 3), 1.0), Exact())
    assert np.allclose(found.belief, Exact()(problem).probabilities)


def masked(records=400, seed=1):
    """Two values, a with .7; groups of ten; those in which more than half have a are made to look otherwise."""
    rng = np.random.default_rng(seed)
    values = rng.random(records) < 0.3
    view = view_of(range(records), np.where(values, "b", "a"), ages=rng.integers(0, 90, records), domain="abc")
    return view, Release(view, MASK(5, 2, rng=rng)(view, np.full((records, 3), 1 / 3)))


def test_the_known_number_is_expected_and_the_direction_is_learned():
    """MASK changes a, which is too frequent, into b; the adversary knows the number of changed values."""
    view, release = masked()
    seen = release.observation
    assert seen.distorted == int((release.grouping.values != view.sensitive).sum()) > 20
    assert seen.vanished == 0
    prior = np.tile([0.69, 0.3, 0.01], (len(view), 1))
    naive = Adversary(UniformPrior(), estimator=Exact(), distortion="ignored").posterior(prior, seen).probabilities
    found = Adversary(UniformPrior(), estimator=Exact()).posterior(prior, seen).probabilities
    truth = np.bincount(view.sensitive, minlength=3)
    assert np.allclose(naive.sum(axis=0), seen.counts.sum(axis=0))
    assert np.abs(found.sum(axis=0) - truth).sum() < np.abs(naive.sum(axis=0) - truth).sum() / 4
    own = np.arange(len(view)), view.sensitive
    assert np.log(found[own]).mean() > np.log(naive[own]).mean()


def test_expected_numbers_are_those_known():
    view, release = masked()
    problem = release.observation.problem(np.tile([0.69, 0.3, 0.01], (len(view), 1)))
    found = distortion_posterior(problem, len(view), release.observation.distorted, 0, Exact())
    assert (found.status == Status.FINE).all()
    changed = np.abs(found.probabilities.sum(axis=0) - problem.counts.sum(axis=0)).sum() / 2
    assert changed == pytest.approx(release.observation.distorted, rel=0.05)


def test_own_values_that_vanished():
    """Both people of a group were published with other values: a value that no group shows is possible again."""
    view = view_of("ABCD", "abcc")
    seen = Release(view, Grouping(np.array([0, 0, 1, 1]), values=np.array([2, 2, 2, 2]))).observation
    assert (seen.distorted, seen.vanished) == (2, 2)
    found = Adversary(UniformPrior(), estimator=Exact()).posterior(np.full((4, 3), 1 / 3), seen).probabilities
    assert (found > 0).all()
    ignored = Adversary(UniformPrior(), estimator=Exact(), distortion="ignored")
    assert np.allclose(ignored.posterior(np.full((4, 3), 1 / 3), seen).probabilities, [[0, 0, 1]] * 4)


def test_the_numbers_are_of_the_whole_release():
    """The first group is distorted, or the second: the adversary sees the same."""
    labels, shown = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])
    first, second = (
        Release(view_of("ABCD", results), Grouping(labels, values=shown)).observation for results in ("abaa", "aaab")
    )
    assert (first.distorted, first.vanished) == (second.distorted, second.vanished) == (1, 1)
    assert first.counts.tolist() == second.counts.tolist()


def test_suppressed_records_are_not_counted():
    release = Release(view_of("ABC", "abc"), Grouping(np.array([0, 0, -1]), values=np.array([0, 0, 0])))
    assert release.observation.distorted == 1


def test_plain_releases_and_their_estimates_are_as_before():
    history = History([view_of("ABCD", "abca"), view_of("ABCD", "abcb", time=2)])
    for release in publish(history, Mondrian(KAnonymity(2))):
        assert release.observation.distorted == release.observation.vanished == 0
    assert Adversary(UniformPrior()).observe(Memory(), release.observation)[0].probabilities.shape == (4, 3)


def test_a_word_it_does_not_know():
    with pytest.raises(ValueError, match="distortion is 'known'; it is one of 'counted', 'ignored'"):
        Adversary(UniformPrior(), distortion="known")
