"""Chains of variable order against counts of sequences one by one, and against dense chains."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import Adversary, ChainByRelease, History, MarkovChain, UniformPrior
from foreknow.models.knowledge.markov_chain import VariableOrderChain
from foreknow.models.memory import product_revision

M = 3
corpora = st.lists(st.lists(st.integers(0, M - 1), min_size=1, max_size=6), min_size=1, max_size=6).filter(
    lambda people: any(len(person) > 3 for person in people)
)
seeds = st.integers(0, 2**32 - 1)


def beliefs(order, respondents, seed):
    """Sparse beliefs about some respondents, and the number of them that are known."""
    rng = np.random.default_rng(seed)
    past = rng.dirichlet(np.full(M, 0.5), size=(order, respondents))
    past[past < 0.1] = 0
    return past / past.sum(axis=-1, keepdims=True), rng.integers(1, order + 1, respondents)


def occurrences(corpus, sequence, followed):
    """Number of times that a sequence stands in a corpus; only before a value, if ``followed``."""
    length = len(sequence)
    return sum(
        tuple(person[i : i + length]) == sequence
        for person in corpus
        for i in range(len(person) - length + 1 - followed)
    )


def algorithm_5(corpus, sequence, as_printed):
    """Distribution after a sequence by counting; as printed 0 if it never occurred, otherwise that of its longest end that did.

    Where not even the last value did, it is that of all values that follow another.
    """
    if not sequence:
        return np.bincount([value for person in corpus for value in person[1:]], minlength=M) / sum(
            len(person) - 1 for person in corpus
        )
    count = occurrences(corpus, sequence, not as_printed)
    if count:
        return np.array([occurrences(corpus, (*sequence, s), False) for s in range(M)]) / count
    return np.zeros(M) if as_printed else algorithm_5(corpus, sequence[1:], False)


@given(corpora, seeds, st.booleans())
def test_every_length_is_the_sum_over_all_sequences(corpus, seed, as_printed):
    """Algorithm 3 with the probabilities of Algorithm 5, sequence by sequence."""
    chain = VariableOrderChain.fit(corpus, as_printed=as_printed, values=M)
    assert chain.order == max(map(len, corpus)) - 1
    past, known = beliefs(chain.order, 2, seed)
    for i, length in enumerate(known):
        recent = past[chain.order - length :, i]
        expected = sum(
            np.prod([belief[s] for belief, s in zip(recent, sequence, strict=True)])
            * algorithm_5(corpus, sequence, as_printed)
            for sequence in itertools.product(range(M), repeat=int(length))
        )
        np.testing.assert_allclose(product_revision(chain, past, known)[i], expected, atol=1e-12)


@given(corpora, seeds, st.booleans())
def test_up_to_a_length_it_is_the_dense_chain(corpus, seed, as_printed):
    dense = MarkovChain.fit(corpus, order=3, as_printed=as_printed, values=M)
    chain = VariableOrderChain.fit(corpus, order=3, as_printed=as_printed, values=M)
    past, known = beliefs(3, 5, seed)
    np.testing.assert_allclose(product_revision(chain, past, known), product_revision(dense, past, known), atol=1e-12)
    np.testing.assert_allclose(chain.truncate(1).probabilities, dense.truncate(1).probabilities)
    past, known = past[1:], np.minimum(known, 2)
    np.testing.assert_allclose(
        product_revision(chain.truncate(2), past, known),
        product_revision(dense.truncate(2), past, known),
        atol=1e-12,
    )


@pytest.fixture(scope="module")
def history():
    rng = np.random.default_rng(5)
    present = ["".join(r for r in "ABCDEFGHIJKL" if rng.random() < 0.8) for _ in range(5)]
    return history_of(*((ids, "".join(rng.choice([*"abc"], len(ids)))) for ids in present))


def test_an_attack_with_it_is_that_with_the_dense_chain(history):
    releases = publish(history, Mondrian(KAnonymity(3)))
    dense, sparse = (kind.fit(history, order=3) for kind in (MarkovChain, VariableOrderChain))
    beliefs = [
        SequentialAttack(Adversary(UniformPrior(), chain, revision="product"))(releases) for chain in (dense, sparse)
    ]
    for one, other in zip(*beliefs, strict=True):
        np.testing.assert_allclose(one.posterior.probabilities, other.posterior.probabilities, atol=1e-12)


def test_extracted_from_the_views_so_far(history):
    """Every length up to t - 1; the first chain has seen no transition."""
    chains = [VariableOrderChain.fit(History(history.views[: r + 1]), order=4) for r in range(5)]
    by_release = ChainByRelease.of_views(chains)
    np.testing.assert_array_equal(by_release.at(1).probabilities, np.full((1, M), 1 / M))
    assert by_release.at(4) == chains[3]
    releases = publish(history, Mondrian(KAnonymity(3)))
    assert len(SequentialAttack(Adversary(UniformPrior(), by_release, revision="product"))(releases)) == 5


def test_other_rules_refuse_it(history):
    chain = VariableOrderChain.fit(history)
    for revision in ("filter", "chain"):
        with pytest.raises(ValueError, match="revision='product'"):
            Adversary(UniformPrior(), chain, revision=revision)
    with pytest.raises(ValueError, match=r"chain.truncate\(1\)"):
        JointAttack(Adversary(UniformPrior(), chain, revision="product"))(publish(history, Mondrian(KAnonymity(3))))


def test_a_context_that_is_none(history):
    rows = np.full((3, 2), 0.5)
    with pytest.raises(ValueError, match="context 2 is the value 1 followed by context 2"):
        VariableOrderChain(2, [0, 0, 1], [0, 0, 2], rows)
    with pytest.raises(ValueError, match=r"after the values \(2,\)"):
        VariableOrderChain(2, [0, 0, 1], [0, 0, 0], np.array([[1, 0], [0, 1], [1, 1]]))
    with pytest.raises(ValueError, match="shape"):
        VariableOrderChain(2, [0, 0, 1], [0, 0, 0], np.full(3, 0.5))
