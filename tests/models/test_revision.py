"""The three revisions against sums over all sequences and paths, in plain Python."""

import itertools
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys
from strategies import distributions, view_of

from foreknow.attacks import SequentialAttack
from foreknow.models import (
    Adversary,
    GivenPrior,
    MarkovChain,
    Memory,
    Numeric,
    Observation,
    Omega,
    People,
    Release,
    Schema,
    UniformPrior,
)
from foreknow.models.memory import chain_revision, filter_revision, filter_update, product_revision

FEWER = settings(max_examples=20)


def filtered(chain, joint, known, posterior=None):
    """Result of `filter_update` on a copy."""
    joint = joint.copy()
    filter_update(chain, joint, known, np.arange(len(joint)), posterior)
    return joint


@st.composite
def chains(draw, order=None, m=None):
    """Chain with some zeros and independent shorter tables."""
    order = draw(st.integers(1, 3)) if order is None else order
    m = draw(st.integers(2, 3)) if m is None else m

    def table(length):
        rows = [draw(distributions(m)) for _ in range(m**length)]
        return np.array(rows).reshape((m,) * (length + 1))

    return MarkovChain(order, table(order), tuple(table(length) for length in range(1, order)))


@st.composite
def pasts(draw):
    """A chain of order d, and one to three people of whom 1 to d beliefs are known: past (d, n, m), oldest first."""
    chain = draw(chains())
    known = np.array(draw(st.lists(st.integers(1, chain.order), min_size=1, max_size=3)))
    past = np.zeros((chain.order, len(known), chain.values))
    for i, length in enumerate(known):
        for step in range(length):
            past[chain.order - length + step, i] = draw(distributions(chain.values))
    return chain, past, known


class TestOfTheFunctions:
    @given(drawn=pasts())
    @FEWER
    def test_product_is_a_sum_over_sequences(self, drawn):
        """JS-reduce, Algorithm 3."""
        chain, past, known = drawn
        found = product_revision(chain, past, known)
        for i, length in enumerate(known):
            expected = oracle.over_paths(chain.tables[length - 1], past[chain.order - length :, i])
            assert np.allclose(found[i], expected, rtol=1e-12, atol=1e-15)

    @given(drawn=pasts())
    @FEWER
    def test_chain_is_a_sum_over_sequences_from_the_oldest_belief(self, drawn):
        """BayFrame, Equations 3 and 4, with the chain's own shorter tables."""
        chain, past, known = drawn
        found = chain_revision(chain, past, known)
        for i, length in enumerate(known):
            expected = np.zeros(chain.values)
            for path in itertools.product(range(chain.values), repeat=length):
                weight = past[chain.order - length, i, path[0]]
                for step in range(1, length):
                    weight *= chain.tables[step - 1][path[: step + 1]]
                expected += weight * chain.tables[length - 1][path]
            assert np.allclose(found[i], expected, rtol=1e-12, atol=1e-15)

    @given(drawn=pasts())
    @FEWER
    def test_chain_reads_the_oldest_belief_only(self, drawn):
        chain, past, known = drawn
        other = past.copy()
        for i, length in enumerate(known):
            other[chain.order - length + 1 :, i] = 1 / chain.values
        assert np.array_equal(chain_revision(chain, past, known), chain_revision(chain, other, known))

    @given(chain=chains(), data=st.data())
    @FEWER
    def test_filter_is_a_sum_over_the_joint_law(self, chain, data):
        m, d = chain.values, chain.order
        known = np.array(data.draw(st.lists(st.integers(1, d), min_size=1, max_size=3)))
        joint = np.zeros((len(known), m**d))
        for i, length in enumerate(known):
            joint[i, : m**length] = data.draw(distributions(int(m**length)))
        found = filter_revision(chain, joint, known)
        for i, length in enumerate(known):
            expected = np.zeros(m)
            for number, path in enumerate(itertools.product(range(m), repeat=length)):
                expected += joint[i, number] * chain.tables[length - 1][path]
            assert np.allclose(found[i], expected, rtol=1e-12, atol=1e-15)

    @given(drawn=pasts())
    @FEWER
    def test_for_order_1_product_and_chain_are_one(self, drawn):
        chain, past, known = drawn
        one = chain.truncate(1)
        assert np.allclose(
            product_revision(one, past[-1:], np.minimum(known, 1)), chain_revision(one, past[-1:], np.minimum(known, 1))
        )

    @given(drawn=pasts())
    @FEWER
    def test_rows_are_distributions_where_the_chain_s_are(self, drawn):
        for revise in (product_revision, chain_revision):
            assert np.allclose(revise(*drawn).sum(axis=1), 1)


def hidden_markov(chain, first, likelihoods):
    """Of a person whose first value is drawn from ``first``: the law of the last value, and of the next one.

    Over all paths; ``likelihoods`` is one row per release, of ones without observation. The law before the last release
    and after it, and after another step.
    """
    m, d, t = chain.values, chain.order, len(likelihoods)
    before, after, following = np.zeros(m), np.zeros(m), np.zeros(m)
    for path in itertools.product(range(m), repeat=t):
        weight = first[path[0]]
        for step in range(1, t):
            weight *= chain.tables[min(step, d) - 1][path[max(step - d, 0) : step]][path[step]]
        seen = weight * math.prod(likelihoods[step][s] for step, s in enumerate(path[:-1]))
        before[path[-1]] += seen
        after[path[-1]] += seen * likelihoods[-1][path[-1]]
        following += seen * likelihoods[-1][path[-1]] * chain.tables[min(t, d) - 1][path[max(t - d, 0) :]]
    return before / before.sum(), after / after.sum(), following / following.sum()


LIKELY = st.lists(st.sampled_from((0.01, 0.2, 1.0, 3.0)), min_size=3, max_size=3)


class TestFilter:
    @pytest.mark.parametrize("order", [1, 2, 3])
    @given(data=st.data())
    @FEWER
    def test_is_the_forward_filter_of_a_hidden_markov_model(self, order, data):
        """Likelihoods by hand; where there is none, a step without observation."""
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        chain = MarkovChain(
            order,
            rng.dirichlet(np.ones(3), size=(3,) * order),
            tuple(rng.dirichlet(np.ones(3), size=(3,) * length) for length in range(1, order)),
        )
        first = rng.dirichlet(np.ones(3))
        seen = [data.draw(LIKELY), *data.draw(st.lists(st.none() | LIKELY, max_size=4))]
        likelihoods = [row or [1.0] * 3 for row in seen]
        joint, known = np.zeros((1, 3**order)), np.array([0])
        for t in range(1, len(seen) + 1):
            before, after, following = hidden_markov(chain, first, likelihoods[:t])
            revised = first[None] if t == 1 else filter_revision(chain, joint, known)
            assert np.allclose(revised, before)
            told = revised * likelihoods[t - 1]
            joint = filtered(chain, joint, known, told / told.sum() if seen[t - 1] else None)
            known = np.minimum(known + 1, order)
            assert np.allclose(filter_revision(chain, joint, known), following)
            assert np.allclose(joint[0].reshape(-1, 3).sum(axis=0), after)

    def test_by_hand(self):
        """Order 2, two values: at first (.5, .5); the second repeats with .8; the third is the same as two before with .9.

        The second is seen to be a: of the first's a .8 : .2; so the third is a with .8 * .9 + .2 * .1 = .74.
        """
        table = np.empty((2, 2, 2))
        table[0], table[1] = (0.9, 0.1), (0.1, 0.9)
        chain = MarkovChain(2, table, (np.array([[0.8, 0.2], [0.2, 0.8]]),))
        joint = filtered(chain, np.zeros((1, 4)), np.array([0]), np.array([[0.5, 0.5]]))
        assert np.allclose(joint, [[0.5, 0.5, 0, 0]])
        assert np.allclose(filter_revision(chain, joint, np.array([1])), [[0.5, 0.5]])
        joint = filtered(chain, joint, np.array([1]), np.array([[1.0, 0.0]]))
        assert np.allclose(joint, [[0.8, 0, 0.2, 0]])
        assert np.allclose(filter_revision(chain, joint, np.array([2])), [[0.74, 0.26]])
        # The others forget that the second tells of the first: .5 of each.
        past = np.array([[[0.5, 0.5]], [[1.0, 0.0]]])
        assert np.allclose(product_revision(chain, past, np.array([2])), [[0.5, 0.5]])
        # And this one that the second was seen at all: .5 (.9 .1 .9 .1) either way.
        assert np.allclose(chain_revision(chain, past, np.array([2])), [[0.5, 0.5]])

    @given(chain=chains(), data=st.data())
    @FEWER
    def test_after_a_release_the_law_of_the_last_value_is_the_posterior(self, chain, data):
        """Also where the posterior believes what was ruled out; nothing is NaN."""
        m, d = chain.values, chain.order
        known = np.array(data.draw(st.lists(st.integers(0, d), min_size=1, max_size=3)))
        joint = np.zeros((len(known), m**d))
        for i, length in enumerate(known):
            if length:
                joint[i, : m**length] = data.draw(distributions(int(m**length)))
        told = np.array([data.draw(distributions(m)) for _ in known])
        updated = filtered(chain, joint, known, told)
        assert np.isfinite(updated).all()
        assert (updated >= 0).all()
        assert np.allclose(updated.sum(axis=1), 1)
        for i, length in enumerate(np.minimum(known + 1, d)):
            law = updated[i, : m**length].reshape(-1, m)
            assert not updated[i, m**length :].any()
            assert np.allclose(law.sum(axis=0), told[i])
        assert np.allclose(filter_revision(chain, updated, np.minimum(known + 1, d)).sum(axis=1), 1)

    @given(chain=chains(), data=st.data())
    @FEWER
    def test_a_step_without_observation_is_a_release_without_information(self, chain, data):
        m, d = chain.values, chain.order
        known = np.array(data.draw(st.lists(st.integers(1, d), min_size=1, max_size=3)))
        joint = np.zeros((len(known), m**d))
        for i, length in enumerate(known):
            joint[i, : m**length] = data.draw(distributions(int(m**length)))
        unseen = filtered(chain, joint, known)
        assert np.allclose(unseen, filtered(chain, joint, known, filter_revision(chain, joint, known)))

    def test_what_was_ruled_out_and_is_believed_now_follows_every_sequence_alike(self):
        chain = MarkovChain(2, np.tile(np.eye(2)[0], (2, 2, 1)), (np.tile(np.eye(2)[0], (2, 1)),))
        joint = filtered(chain, np.array([[0.3, 0.7, 0, 0]]), np.array([1]), np.array([[0.4, 0.6]]))
        assert np.allclose(joint, [[0.3 * 0.4, 0.3 * 0.6, 0.7 * 0.4, 0.7 * 0.6]])


# --- through the adversary --------------------------------------------------------------------------------------------

OTHERS = "STUVWXYZ"


@st.composite
def followed(draw, longest=4, gaps=False):
    """Releases of respondent A, each with one or two respondents who appear only once.

    For each release None where A is absent, else the other group members and the values; the first is never None.
    """
    seen, names = [], iter(OTHERS)
    for t in range(draw(st.integers(2, longest))):
        if gaps and t and draw(st.booleans()):
            seen.append(None)
            continue
        others = [next(names) for _ in range(draw(st.integers(1, 2)))]
        results = draw(st.lists(st.sampled_from("abc"), min_size=len(others) + 1, max_size=len(others) + 1))
        seen.append((others, "".join(results)))
    return seen


def rows_of(seed):
    rng = np.random.default_rng(seed)
    return {name: rng.dirichlet(np.ones(3)) * 0.97 + 0.01 for name in "AQ" + OTHERS}


def prior_of(rows):
    return GivenPrior(pd.DataFrame(rows, index=list("abc")).T)


def released(seen):
    """The releases; where A is absent, another respondent is published alone."""
    return [
        Release(view_of(["A", *s[0]], s[1], time=t), np.zeros(len(s[1]), int))
        if s
        else Release(view_of("Q", "a", time=t), [0])
        for t, s in enumerate(seen, 1)
    ]


def likelihood_of(others, results, rows):
    """Likelihood of a group for each value of A: weight of all assignments of the other values to the others."""
    found = []
    for s in "abc":
        left = list(results)
        if s not in left:
            found.append(0.0)
            continue
        left.remove(s)
        ways = set(itertools.permutations(left))
        found.append(
            sum(math.prod(rows[name]["abc".index(v)] for name, v in zip(others, way, strict=True)) for way in ways)
        )
    return found


class TestMemoryUsed:
    """The filter keeps n m^d numbers; it allocates no other array of that size than those it keeps and returns."""

    N, M = 3000, 24

    def remembered(self, adversary, people):
        memory = Memory()
        for time in range(2):
            group = np.arange(len(people)) // 4
            counts = np.full((len(people) // 4, self.M), 0)
            counts[:, time : time + 4] = 1
            observation = Observation(people, group, counts, time)
            posterior, memory = adversary.observe(memory, observation)
        return memory, observation, posterior

    def test_temporaries_are_smaller_than_the_joint_distribution(self):
        schema = Schema({"age": Numeric(0, 9)}, "result", tuple(range(self.M)))
        people = People(np.arange(self.N).astype(object), np.zeros((self.N, 1)), schema)
        rng = np.random.default_rng(1)
        chain = MarkovChain(2, rng.dirichlet(np.ones(self.M), (self.M, self.M)))
        adversary = Adversary(UniformPrior(), chain, estimator=Omega(), gaps="power")
        memory, observation, posterior = self.remembered(adversary, people)
        few = Observation(people[: self.N // 2], observation.group[: self.N // 2], observation.counts, 2)
        half = replace(posterior, probabilities=posterior.probabilities[: self.N // 2])
        joint = memory.joint.nbytes
        assert joint == self.N * self.M**2 * 8

        def peak(action):
            tracemalloc.start()
            action()
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found

        assert peak(lambda: adversary.revise(memory, people)) < joint / 2
        # One copy of the memory is the result; half of the people are absent, and the chain takes a step for them.
        assert peak(lambda: adversary.update_memory(memory, observation, posterior)) < 1.5 * joint
        assert peak(lambda: adversary.update_memory(memory, few, half)) < 1.5 * joint

    def test_kernels_allocate_nothing_per_person(self):
        """tracemalloc does not see what compiled code allocates."""
        chain, counted = MarkovChain(2, np.full((3, 3, 3), 1 / 3)), []
        _nrt_python.memsys_enable_stats()
        for n in (1, 1, 500):
            joint, known = np.full((n, 9), 1 / 9), np.full(n, 2)
            before = rtsys.get_allocation_stats().alloc
            filter_update(chain, joint, known, np.arange(n), np.full((n, 3), 1 / 3))
            filter_revision(chain, joint, known)
            counted.append(rtsys.get_allocation_stats().alloc - before)
        assert counted[1] == counted[2]


class TestThroughTheAdversary:
    @pytest.mark.parametrize("order", [1, 2, 3])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @given(seen=followed(gaps=True), seed=st.integers(0, 50))
    @FEWER
    def test_the_default_is_exact_where_other_members_appear_once(self, order, gaps, seen, seed):
        """It is the filter, whatever the order."""
        rows, rng = rows_of(seed), np.random.default_rng([seed, 1])
        chain = MarkovChain(
            order,
            rng.dirichlet(np.ones(3), size=(3,) * order),
            tuple(rng.dirichlet(np.ones(3), size=(3,) * length) for length in range(1, order)),
        )
        adversary = Adversary(prior_of(rows), chain, gaps=gaps)
        found = SequentialAttack(adversary)(released(seen))
        likelihoods = []
        for t, group in enumerate(seen, 1):
            if group is None:
                likelihoods += [[1.0] * 3] if gaps == "power" else []
                continue
            likelihoods.append(likelihood_of(*group, rows))
            before, after, _ = hidden_markov(chain, rows["A"], likelihoods)
            assert np.allclose(found.revised(t).loc["A"], before)
            assert np.allclose(found.posterior(t).loc["A"], after)

    @given(seen=followed(gaps=True), seed=st.integers(0, 50), gaps=st.sampled_from(["ignore", "power"]))
    @FEWER
    def test_for_order_1_all_three_agree_to_the_last_bit(self, seen, seed, gaps):
        chain = MarkovChain(1, np.random.default_rng([seed, 1]).dirichlet(np.full(3, 0.5), size=3))
        found = [
            SequentialAttack(Adversary(prior_of(rows_of(seed)), chain, revision=revision, gaps=gaps))(released(seen))
            for revision in ("product", "chain", "filter")
        ]
        for other in found[1:]:
            for one, two in zip(found[0], other, strict=True):
                assert np.array_equal(one.revised, two.revised)
                assert np.array_equal(one.posterior.probabilities, two.posterior.probabilities)

    def test_for_order_2_they_do_not(self):
        chain = MarkovChain(2, np.random.default_rng(1).dirichlet(np.full(3, 0.3), size=(3, 3)))
        seen = [(["S"], "ab"), (["T"], "bc"), (["U"], "ac")]
        last = [
            SequentialAttack(Adversary(prior_of(rows_of(1)), chain, revision=revision))(released(seen))
            .revised(3)
            .loc["A"]
            for revision in ("product", "chain", "filter")
        ]
        assert all(np.abs(one - two).max() > 0.01 for one, two in itertools.combinations(last, 2))

    @pytest.mark.parametrize("revision", ["product", "chain", "filter"])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @pytest.mark.parametrize("order", [1, 2])
    def test_what_the_chain_ruled_out_and_a_release_shows(self, revision, gaps, order):
        """The chain keeps all values, and all values change: contradicted, believed anyway, never NaN."""
        table = np.eye(2) if order == 1 else np.broadcast_to(np.eye(2), (2, 2, 2))
        adversary = Adversary(
            lambda people: np.full((len(people), 2), 0.5), MarkovChain(order, table), revision=revision, gaps=gaps
        )
        views = [("A", "a"), ("A", "b"), ("B", "a"), ("A", "b"), ("AB", "ab"), ("AB", "bb")]
        found = SequentialAttack(adversary)(
            [
                Release(view_of(ids, results, time=t, domain="ab"), [0] * len(ids))
                for t, (ids, results) in enumerate(views)
            ]
        )
        for release in found:
            for stage in ("revised", "posterior"):
                assert np.isfinite(release.beliefs(stage)).all()
                assert np.allclose(release.beliefs(stage).sum(axis=1), 1)
        assert np.allclose(found.posterior(1).loc["A"], [0, 1])
        # The oldest of the last two beliefs, carried on, knows nothing of the second.
        stale = revision == "chain" and order == 2 and gaps == "ignore"
        assert np.allclose(found.revised(3).loc["A"], [1, 0] if stale else [0, 1], atol=1e-9)

    @pytest.mark.parametrize("revision", ["product", "chain", "filter"])
    def test_a_chain_that_leads_nowhere_for_a_while(self, revision):
        """Nothing ever followed a (rows as Algorithm 5 prints them). A has a, is absent, then has b, and b repeats."""
        chain = MarkovChain(1, np.array([[0.0, 0.0], [0.0, 1.0]]), substochastic=True)
        adversary = Adversary(lambda people: np.full((len(people), 2), 0.5), chain, revision=revision, gaps="power")
        memory = Memory()
        for t, (ids, results) in enumerate([("A", "a"), ("B", "b"), ("A", "b")], 1):
            observation = Release(view_of(ids, results, time=t, domain="ab"), [0]).observation
            _, memory = adversary.observe(memory, observation)
        assert adversary.revise(memory, view_of("A", "b", domain="ab").people)[0].tolist() == [0, 1]
