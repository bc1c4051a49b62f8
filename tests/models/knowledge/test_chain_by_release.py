"""Chains by time step: counts by hand, and beliefs against sums over all paths of values of one respondent."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import history_of, view_of

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.models import (
    Adversary,
    ChainByRelease,
    Enumeration,
    GivenPrior,
    MarkovChain,
    PriorByTime,
    Release,
    Transitions,
    UniformPrior,
)

FEWER = settings(max_examples=20)
STAY, SWAP = np.eye(2), np.eye(2)[::-1]


class TestFit:
    """Four people, three views: all keep the value, then change it."""

    HISTORY = history_of(("ABCD", "aabb"), ("ABCD", "aabb"), ("ABCD", "bbaa"), domain="ab")

    def test_each_step_has_its_own_frequencies(self):
        chain = ChainByRelease.fit(self.HISTORY, shrinkage=0.0)
        assert np.array_equal(chain.at(1).probabilities, STAY)
        assert np.array_equal(chain.at(2).probabilities, SWAP)

    def test_beyond_the_corpus_all_steps_count_alike(self):
        chain = ChainByRelease.fit(self.HISTORY)
        pooled = MarkovChain.fit(self.HISTORY)
        for release in (0, 3, 17):
            assert np.array_equal(chain.at(release).probabilities, pooled.probabilities)
        assert chain.at(0).order == 1

    def test_shrinkage_is_in_observations_of_the_pooled_row(self):
        """Two stay of two; the pooled row is (1/2, 1/2): (2 + 6/2) / (2 + 6) = 5/8."""
        chain = ChainByRelease.fit(self.HISTORY, shrinkage=6.0)
        assert np.allclose(chain.at(1).probabilities, [[5 / 8, 3 / 8], [3 / 8, 5 / 8]])
        assert np.allclose(chain.at(2).probabilities, [[3 / 8, 5 / 8], [5 / 8, 3 / 8]])

    def test_a_row_without_observations_is_the_pooled_one(self):
        """No record has b before the second step, and none has c: their rows are the pooled ones."""
        history = history_of(("AB", "aa"), ("AB", "ab"), ("AB", "bb"))
        chain, pooled = ChainByRelease.fit(history, shrinkage=0.0), MarkovChain.fit(history)
        assert np.allclose(chain.at(1).probabilities[0], [1 / 2, 1 / 2, 0])
        assert np.array_equal(chain.at(1).probabilities[1:], pooled.probabilities[1:])

    def test_order_two(self):
        """A row of pairs is counted where the value after the pair is of the step; pairs not seen there have the pooled row."""
        sequences = [[0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]]
        chain = ChainByRelease.fit(sequences, order=2, shrinkage=0.0)
        pooled = MarkovChain.fit(sequences, order=2)
        assert len(chain.chains) == 4
        # The pairs (0, 0), (0, 1) and (1, 0) at the first two positions are followed by 1, 0 and 0.
        assert np.array_equal(chain.at(2).probabilities[[0, 0, 1], [0, 1, 0]], [[0, 1], [1, 0], [1, 0]])
        assert np.array_equal(chain.at(2).probabilities[1, 1], pooled.probabilities[1, 1])
        assert np.allclose(chain.at(3).shorter[0], [[1 / 2, 1 / 2], [0, 1]])
        assert chain.truncate(1).at(3).order == 1
        assert np.array_equal(chain.truncate(1).at(3).probabilities, chain.at(3).shorter[0])

    def test_only_consecutive_views_count_where_gaps_do(self):
        """B skips the second view: a transition into the third, or none."""
        history = history_of(("AB", "ab"), ("A", "a"), ("AB", "ab"), domain="ab")
        ignored = ChainByRelease.fit(history, shrinkage=0.0)
        assert np.array_equal(ignored.at(2).probabilities, STAY)
        counted = ChainByRelease.fit(history, shrinkage=0.0, gaps="power")
        assert np.array_equal(counted.at(2).probabilities[0], [1, 0])
        assert np.array_equal(counted.at(2).probabilities[1], MarkovChain.fit(history, gaps="power").probabilities[1])

    @pytest.mark.parametrize("shrinkage", [-1.0, np.nan, np.inf])
    def test_shrinkage_counts(self, shrinkage):
        with pytest.raises(ValueError, match=rf"shrinkage is {shrinkage}; .*at least 0"):
            ChainByRelease.fit(self.HISTORY, shrinkage=shrinkage)

    def test_chains_must_be_alike(self):
        one, two = MarkovChain(1, STAY), MarkovChain(2, np.full((2, 2, 2), 0.5))
        with pytest.raises(ValueError, match="the chains are of order 1 over 2 values, of order 2 over 2 values; give"):
            ChainByRelease((one,), two)
        with pytest.raises(ValueError, match="the chains are of order 1 over 2 values, of order 2 over 2 values"):
            ChainByRelease.of_views((one, two), inclusive=True)
        with pytest.raises(ValueError, match="the chains are absent; give at least one"):
            ChainByRelease(())


def chains_of(order, steps, rng):
    """A chain for each of some steps, and one for all later ones."""

    def chain():
        tables = [rng.dirichlet(np.ones(3), size=(3,) * length) for length in range(1, order + 1)]
        return MarkovChain(order, tables[-1], tuple(tables[:-1]))

    each, later = [chain() for _ in range(steps)], chain()
    return ChainByRelease((later, *each), later)


@st.composite
def presences(draw):
    """At which releases A is published: at one or more of two to five."""
    return draw(st.lists(st.booleans(), min_size=2, max_size=5).filter(any))


def released(present, rng):
    """Releases of A and a respondent who appears once, with two different values; or of such a respondent alone."""
    releases, names = [], iter("STUVW")
    for t, here in enumerate(present):
        values = "".join(rng.choice(list("abc"), 2 if here else 1, replace=False))
        ids = "A" + next(names) if here else next(names)
        releases.append(Release(view_of(ids, values, time=t), [0] * len(ids)))
    return releases


def all_paths(chain, prior, likelihoods, steps):
    """Beliefs in the value at each visited release, before it, after it and given all releases, over all paths of values.

    ``steps`` are the releases at which the path takes a value; ``likelihoods`` has ones where nothing is seen.
    """
    d, first = chain.at(0).order, steps[0]
    before, after, whole = (np.zeros((len(steps), 3)) for _ in range(3))
    for path in itertools.product(range(3), repeat=len(steps)):
        weight = prior[first][path[0]]
        for place, step in enumerate(steps):
            if place:
                back = path[max(place - d, 0) : place]
                weight *= chain.at(step).tables[len(back) - 1][back][path[place]]
            # All continuations of the path up to here are summed, so each is weighed by what it shares.
            before[place, path[place]] += weight / 3 ** (len(steps) - place - 1)
            weight *= likelihoods[step][path[place]]
            after[place, path[place]] += weight / 3 ** (len(steps) - place - 1)
        for place, value in enumerate(path):
            whole[place, value] += weight
    return [table / table.sum(axis=1, keepdims=True) for table in (before, after, whole)]


class TestOverAllPaths:
    @pytest.mark.parametrize("order", [1, 2, 3])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @given(present=presences(), seed=st.integers(0, 99), steps=st.integers(0, 4))
    @FEWER
    def test_sequential_and_joint(self, order, gaps, present, seed, steps):
        """A's priors depend on the time, and the chain on the step; the filter is exact for A, whose group members appear once."""
        rng = np.random.default_rng(seed)
        chain, releases = chains_of(order, steps, rng), released(present, rng)
        rows = [{name: rng.dirichlet(np.ones(3)) * 0.97 + 0.01 for name in "ASTUVW"} for _ in present]
        prior = PriorByTime({t: GivenPrior(pd.DataFrame(r, index=list("abc")).T) for t, r in enumerate(rows)})
        adversary = Adversary(prior, chain, gaps=gaps)

        likelihoods = np.ones((len(present), 3))
        for t, release in enumerate(releases):
            if present[t]:
                stranger = rows[t][release.view.people.respondents[1]]
                one, other = np.flatnonzero(release.counts[0])
                likelihoods[t] = 0
                likelihoods[t, [one, other]] = stranger[[other, one]]
        first = present.index(True)
        visited = [t for t in range(first, len(present)) if present[t] or gaps == "power"]
        before, after, whole = all_paths(chain, [r["A"] for r in rows], likelihoods, visited)

        held = SequentialAttack(adversary)(releases)
        looked_back = JointAttack(adversary, Enumeration())(releases)
        for place, t in enumerate(visited):
            if present[t]:
                assert np.allclose(held.prior(t).loc["A"], rows[t]["A"])
                assert np.allclose(held.revised(t).loc["A"], before[place])
                assert np.allclose(held.posterior(t).loc["A"], after[place])
                assert np.allclose(looked_back.posterior(t).loc["A"], whole[place])


def test_a_stationary_chain_misleads():
    """In the corpus all values stay from the first view to the second, and change to the third.

    By the chain of all steps the next value is either, with probability 1/2, so the first release, which shows the value of Z,
    has no information on the next ones. The chain per step follows Z exactly, through a group of two at each release.
    """
    corpus = history_of(("ABCD", "aabb"), ("ABCD", "aabb"), ("ABCD", "bbaa"), domain="ab")
    releases = [
        Release(view_of("Z", "a", time=1, domain="ab"), [0]),
        Release(view_of("ZS", "ab", time=2, domain="ab"), [0, 0]),
        Release(view_of("ZT", "ba", time=3, domain="ab"), [0, 0]),
    ]
    stationary = SequentialAttack(Adversary(UniformPrior(), MarkovChain.fit(corpus)))(releases)
    per_step = SequentialAttack(Adversary(UniformPrior(), ChainByRelease.fit(corpus, shrinkage=0.0)))(releases)
    for t, truth in ((2, [1, 0]), (3, [0, 1])):
        assert np.allclose(stationary.posterior(t).loc["Z"], [1 / 2, 1 / 2])
        assert np.allclose(per_step.posterior(t).loc["Z"], truth)
    assert math.isclose(per_step.posterior(2).loc["S", "b"], 1.0)


def test_it_is_sequential_knowledge():
    known: Transitions = ChainByRelease((MarkovChain(1, SWAP), MarkovChain(1, STAY)))
    assert known.at(1).values == 2
