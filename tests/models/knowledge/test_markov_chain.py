"""Markov chains against counts by hand, and against counts of sequences one by one."""

import itertools

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import history_of, view_of

from foreknow.attacks import JointAttack
from foreknow.models import (
    Adversary,
    ChainByRelease,
    DirichletChain,
    History,
    MarkovChain,
    Memory,
    Release,
    UniformPrior,
)
from foreknow.models.knowledge import sequences
from foreknow.models.memory import product_revision

A, B, C = range(3)

CORPUS = [[A, B, B, C], [B, B], [C], [A, C, A]]
"""Four people: a b b c, b b, c, a c a."""

corpora = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=5).filter(
    lambda people: any(len(person) > 1 for person in people)
)


class TestFitByHand:
    def test_conditioned_on_a_continuation(self):
        """a is followed by b, c; b by b, b, c; c by a."""
        chain = MarkovChain.fit(CORPUS)
        assert np.allclose(chain.probabilities, [[0, 1 / 2, 1 / 2], [0, 2 / 3, 1 / 3], [1, 0, 0]])
        assert chain.order == 1
        assert chain.values == 3
        assert not chain.substochastic

    def test_as_printed(self):
        """#(seq s) / #seq counts an end as well: a stands 3 times, b 4 times, c 3 times."""
        chain = MarkovChain.fit(CORPUS, as_printed=True)
        assert np.allclose(chain.probabilities, [[0, 1 / 3, 1 / 3], [0, 2 / 4, 1 / 4], [1 / 3, 0, 0]])
        assert chain.substochastic

    def test_order_two(self):
        """ab is followed by b, bb by c, ac by a; other pairs by nothing, so by what follows their second value."""
        chain = MarkovChain.fit(CORPUS, order=2)
        after_a, after_b, after_c = [0, 1 / 2, 1 / 2], [0, 2 / 3, 1 / 3], [1, 0, 0]
        expected = [
            [after_a, [0, 1, 0], [1, 0, 0]],
            [after_a, [0, 0, 1], after_c],
            [after_a, after_b, after_c],
        ]
        assert np.allclose(chain.probabilities, expected)
        assert np.allclose(chain.shorter[0], [after_a, after_b, after_c])

    def test_order_two_as_printed(self):
        """Pairs: ab, bb twice (one is an end), bc, ac, ca; a row of zeros for a pair that never occurred."""
        chain = MarkovChain.fit(CORPUS, order=2, as_printed=True)
        expected = np.zeros((3, 3, 3))
        expected[A, B, B] = 1
        expected[B, B, C] = 1 / 2
        expected[A, C, A] = 1
        assert np.allclose(chain.probabilities, expected)

    def test_a_value_never_followed_has_the_frequencies_of_what_followed_another(self):
        """Of a b b, d e: b, b and e followed something."""
        chain = MarkovChain.fit([[0, 1, 1], [2, 3]], values=5)
        assert np.allclose(chain.probabilities[[3, 4]], [[0, 2 / 3, 0, 1 / 3, 0]] * 2)

    def test_pseudo_counts(self):
        chain = MarkovChain.fit(CORPUS, pseudo_count=0.5)
        assert np.allclose(
            chain.probabilities, np.array([[0.5, 1.5, 1.5], [0.5, 2.5, 1.5], [1.5, 0.5, 0.5]]) / [[3.5], [4.5], [2.5]]
        )
        printed = MarkovChain.fit(CORPUS, pseudo_count=0.5, as_printed=True)
        assert np.allclose(
            printed.probabilities, np.array([[0.5, 1.5, 1.5], [0.5, 2.5, 1.5], [1.5, 0.5, 0.5]]) / [[4.5], [5.5], [4.5]]
        )

    def test_a_history_is_the_sequences_of_its_people(self):
        """Abe: a b b, Bea: b (absent) a, Cid: c c."""
        history = history_of(("AB", "ab"), ("AC", "bc"), ("BCA", "acb"))
        chain = MarkovChain.fit(history, order=2)
        expected = MarkovChain.fit([[A, B, B], [B, A], [C, C]], order=2)
        assert np.array_equal(chain.probabilities, expected.probabilities)
        assert np.allclose(chain.shorter[0], [[0, 1, 0], [1 / 2, 1 / 2, 0], [0, 0, 1]])


class TestGaps:
    """A and B alternate a, b, a, b, ...; C has a at the first view and at the third, and was away (with b) in between."""

    HISTORY = history_of(("ABC", "aba"), ("AB", "ba"), ("ABC", "aba"), domain="ab")
    SWAP = np.eye(2)[::-1]

    def test_only_consecutive_views_are_one_step(self):
        ignored = MarkovChain.fit(self.HISTORY)
        assert np.allclose(ignored.probabilities, [[1 / 3, 2 / 3], [1, 0]])
        assert np.allclose(MarkovChain.fit(self.HISTORY, gaps="power").probabilities, self.SWAP)

    def test_the_chain_of_the_same_gaps_gives_the_adversary_s_beliefs(self):
        """Z has a, is absent, and has a again with certainty; the other chain gives 1/9 + 2/3 = 7/9."""
        alone = [Release(view_of(r, "a", time=t, domain="ab"), [0]).observation for t, r in enumerate("ZY")]
        known = {}
        for gaps in ("ignore", "power"):
            adversary = Adversary(UniformPrior(), MarkovChain.fit(self.HISTORY, gaps=gaps), gaps="power")
            memory = Memory()
            for observation in alone:
                _, memory = adversary.observe(memory, observation)
            known[gaps] = adversary.revise(memory, alone[0].people)[0, 0]
        assert known == {"ignore": pytest.approx(7 / 9), "power": 1.0}

    def test_as_sequences_with_missing_visits(self):
        """-1 stands for a visit with an unknown value."""
        for order in (1, 2):
            expected = MarkovChain.fit(self.HISTORY, order, gaps="power")
            found = MarkovChain.fit([[0, 1, 0], [1, 0, 1], [0, -1, 0]], order, gaps="power")
            assert all(np.array_equal(one, two) for one, two in zip(found.tables, expected.tables, strict=True))

    @given(corpus=st.lists(st.lists(st.integers(-1, 2), max_size=7), min_size=1, max_size=4), order=st.integers(1, 3))
    def test_a_gap_cuts_a_sequence_in_two(self, corpus, order):
        runs = [
            list(run)
            for person in corpus
            for known, run in itertools.groupby(person, key=lambda value: value >= 0)
            if known
        ]
        assume(max(map(len, runs), default=0) > order)
        for as_printed in (False, True):
            found = MarkovChain.fit(corpus, order, as_printed=as_printed, values=3, gaps="power")
            expected = MarkovChain.fit(runs, order, as_printed=as_printed, values=3)
            assert all(np.array_equal(one, two) for one, two in zip(found.tables, expected.tables, strict=True))
        dirichlet = DirichletChain.fit(corpus, order, values=3, gaps="power")
        expected = DirichletChain.fit(runs, order, values=3)
        for one, two in zip(dirichlet.concentrations, expected.concentrations, strict=True):
            assert np.array_equal(one, two)

    def test_incremental(self):
        """After two views C has come once; after three, twice, and not in a row."""
        chain = ChainByRelease.extracted(self.HISTORY, gaps="power", inclusive=True)
        assert np.allclose(chain.at(0).probabilities, 1 / 2)
        assert np.array_equal(chain.at(2).probabilities, self.SWAP)
        apart = history_of(("A", "a"), ("B", "b"), ("A", "b"), ("A", "b"), domain="ab")
        assert np.allclose(ChainByRelease.extracted(apart, gaps="power", inclusive=True).at(2).probabilities, 1 / 2)
        assert np.allclose(ChainByRelease.extracted(apart, inclusive=True).at(2).probabilities[0], [0, 1])

    def test_nothing_consecutive_is_one_clear_error(self):
        apart = history_of(("A", "a"), ("B", "b"), ("A", "b"), domain="ab")
        for fit in (MarkovChain.fit, ChainByRelease.extracted, DirichletChain.fit, ChainByRelease.fit):
            with pytest.raises(
                ValueError, match=r"no person has more than 1 values in consecutive views.*gaps='ignore'"
            ):
                fit(apart, gaps="power")
            with pytest.raises(ValueError, match="gaps is 'skip'; it is one of 'ignore', 'power'"):
                fit(apart, gaps="skip")
        with pytest.raises(ValueError, match=r"no person has more than 3 values in consecutive views"):
            MarkovChain.fit(self.HISTORY, order=3, gaps="power")

    def test_a_missing_visit_needs_them(self):
        with pytest.raises(ValueError, match=r"the sequences hold -1; .*a missing visit \(-1\) needs gaps='power'"):
            MarkovChain.fit([[0, -1, 1]])


class TestFitByCounting:
    @given(corpus=corpora, order=st.integers(1, 3))
    def test_as_printed(self, corpus, order):
        assume(max(map(len, corpus)) > order)
        chain = MarkovChain.fit(corpus, order, as_printed=True, values=3)
        for length, table in enumerate(chain.tables, start=1):
            for run in itertools.product(range(3), repeat=length):
                stood = oracle.occurrences(corpus, run)
                for s in range(3):
                    followed = oracle.occurrences(corpus, (*run, s))
                    assert table[(*run, s)] == pytest.approx(followed / stood if stood else 0)
        assert (chain.probabilities.sum(axis=-1) <= 1 + 1e-12).all()

    @given(corpus=corpora, order=st.integers(1, 3))
    def test_conditioned_with_back_off(self, corpus, order):
        assume(max(map(len, corpus)) > order)
        chain = MarkovChain.fit(corpus, order, values=3)

        def row(run):
            followed = [oracle.occurrences(corpus, (*run, s)) for s in range(3)]
            if not run:
                first = [sum(person[0] == s for person in corpus) for s in range(3)]
                followed = [f - i for f, i in zip(followed, first, strict=True)]
            return np.array(followed) / sum(followed) if sum(followed) else row(run[1:])

        for length, table in enumerate(chain.tables, start=1):
            for run in itertools.product(range(3), repeat=length):
                assert np.allclose(table[run], row(run))


class TestChain:
    def test_shorter_tables_are_averages_where_they_are_left_out(self):
        table = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 3))
        chain = MarkovChain(2, table)
        assert np.allclose(chain.shorter[0], (table[0] + table[1] + table[2]) / 3)
        assert len(chain.tables) == 2

    def test_truncate_looks_back_less(self):
        chain = MarkovChain.fit(CORPUS, order=3)
        one = chain.truncate(1)
        assert one.order == 1
        assert np.array_equal(one.probabilities, chain.shorter[0])
        two = chain.truncate(2)
        assert (two.order, len(two.shorter)) == (2, 1)
        assert np.array_equal(two.probabilities, chain.shorter[1])
        assert np.array_equal(chain.truncate(9).probabilities, chain.probabilities)
        assert MarkovChain.fit(CORPUS, order=2, as_printed=True).truncate(1).substochastic

    def test_it_is_the_same_at_every_release(self):
        chain = MarkovChain.fit(CORPUS)
        assert chain.at(0) is chain.at(7) is chain

    def test_rows_are_normalized_within_the_tolerance(self):
        chain = MarkovChain(1, np.array([[0.5, 0.5 + 5e-7], [1, 0]]))
        assert np.abs(chain.probabilities.sum(axis=1) - 1).max() < 1e-15

    @pytest.mark.parametrize(
        ("order", "table", "match"),
        [
            (1, [[0.5, 0.4], [0, 1]], r"after the values \(0,\) .* sum to 0\.9; every row must be a distribution"),
            (1, [[0.5, 0.5], [1.5, -0.5]], r"after the values \(1,\)"),
            (1, [[0.5, 0.5], [np.nan, 1]], r"after the values \(1,\)"),
            (2, [[[0.5, 0.5], [0, 1]], [[1, 1], [0, 1]]], r"after the values \(1, 0\) .* sum to 2"),
            (2, [[0.5, 0.5], [0, 1]], r"order 2 needs an array of shape \(m,\) \* 3; got \(2, 2\)"),
            (1, [[0.5, 0.5]], r"order 1 needs an array of shape"),
            (0, [1.0], "order is 0; it is a number of past values, 1 or more"),
            (1.5, [[1.0]], r"order is 1\.5; it is a number of past values"),
        ],
    )
    def test_bad_tables_are_one_clear_error(self, order, table, match):
        with pytest.raises(ValueError, match=match):
            MarkovChain(order, np.array(table, dtype=float))

    def test_substochastic_rows_may_fall_short_but_not_exceed(self):
        assert MarkovChain(1, np.array([[0.5, 0.1], [0, 0]]), substochastic=True).probabilities[0, 1] == 0.1
        with pytest.raises(ValueError, match=r"which sum to 1\.2"):
            MarkovChain(1, np.array([[0.5, 0.7], [0, 0]]), substochastic=True)

    def test_listed_again_is_evidence_against_a_row_of_small_sum(self):
        """A is listed again with value a; a fifth of those with b are. A's odds of a at first are .5 to .1."""
        first, second = view_of("AB", "ab", domain="ab"), view_of("A", "a", time=2, domain="ab")
        releases = [Release(first, [0, 0]), Release(second, [0])]
        for rows, expected in (([[0.5, 0.5], [0.5, 0.5]], 1 / 2), ([[0.5, 0.5], [0.1, 0.1]], 5 / 6)):
            adversary = Adversary(UniformPrior(), MarkovChain(1, rows, substochastic=True))
            assert JointAttack(adversary)(releases).posterior(1).loc["A", "a"] == pytest.approx(expected)

    def test_shorter_tables_must_fit(self):
        table = np.full((2, 2, 2), 0.5)
        with pytest.raises(ValueError, match="shorter must hold tables for sequences of 1 to 1 values, each over 2"):
            MarkovChain(2, table, (np.full((3, 3), 1 / 3),))

    @pytest.mark.parametrize(
        ("corpus", "settings", "match"),
        [
            ([[0], [1]], {}, "no person has more than 1 values; .*Use a longer history"),
            ([], {}, "no person has more than 0 values"),
            ([[0, 3]], {"values": 3}, "the sequences hold 3; values are positions 0 to 2"),
            ([[0, 1]], {"pseudo_count": -1}, "pseudo_count is -1; .*at least 0"),
            ([[0, 1]], {"pseudo_count": float("nan")}, "pseudo_count is nan"),
            ([[0, 1]], {"order": 0}, "order is 0; it is a number of past values"),
            ([[0, 1]], {"order": 8, "values": 20}, r"20\^9 probabilities each, .*choose a smaller order"),
        ],
    )
    def test_a_bad_corpus_is_one_clear_error(self, corpus, settings, match):
        with pytest.raises(ValueError, match=match):
            MarkovChain.fit(corpus, **settings)

    def test_a_negative_value_is_named(self):
        with pytest.raises(ValueError, match="the sequences hold -1"):
            MarkovChain.fit([[0, 1, -1]], values=3)

    def test_the_largest_table_is_stated(self):
        assert sequences.MAX_TRANSITIONS * 8 == 2**30


class TestExtracted:
    HISTORY = history_of(("AB", "ab"), ("CD", "cc"), ("AB", "bb"), ("AC", "ca"))

    def test_is_mined_from_the_views_so_far(self):
        chain = ChainByRelease.extracted(self.HISTORY, inclusive=True)
        for release in (0, 1):
            assert np.allclose(chain.at(release).probabilities, 1 / 3), "no respondent was seen twice yet"
        assert np.array_equal(
            chain.at(2).probabilities, MarkovChain.fit([[A, B], [B, B], [C], [C]], values=3).probabilities
        )
        assert np.array_equal(
            chain.at(3).probabilities, MarkovChain.fit([[A, B, C], [B, B], [C, A], [C]], values=3).probabilities
        )
        assert chain.at(17) is chain.at(3)

    def test_is_mined_from_the_views_before_the_release_by_default(self):
        before, upto = ChainByRelease.extracted(self.HISTORY), ChainByRelease.extracted(self.HISTORY, inclusive=True)
        for release in (1, 2, 3, 4):
            assert np.array_equal(before.at(release).probabilities, upto.at(release - 1).probabilities)
        assert np.allclose(before.at(0).probabilities, 1 / 3)

    def test_hands_its_settings_on(self):
        history = history_of(("AB", "ab"), ("AB", "cc"), ("AB", "bb"), ("AC", "ca"))
        chain = ChainByRelease.extracted(history, order=2, pseudo_count=1.0, as_printed=True, inclusive=True)
        expected = MarkovChain.fit(History(history.views[:3]), 2, 1.0, True)
        assert np.array_equal(chain.at(2).probabilities, expected.probabilities)
        assert chain.at(0).order == chain.at(1).order == 2
        assert np.array_equal(chain.truncate(1).at(2).probabilities, chain.at(2).shorter[0])

    def test_an_order_longer_than_all_sequences_is_refused(self):
        for fit in (MarkovChain.fit, ChainByRelease.extracted, DirichletChain.fit):
            with pytest.raises(ValueError, match=r"the order is 3, and no person has more than 3 values.*at most 2"):
                fit(self.HISTORY, order=3)


class TestProductRevision:
    @given(seed=st.integers(0, 10**6), order=st.integers(1, 3))
    def test_is_the_sum_over_all_paths(self, seed, order):
        rng = np.random.default_rng(seed)
        chain = MarkovChain(order, rng.dirichlet(np.ones(3), size=(3,) * order))
        known = rng.integers(1, order + 1, size=4)
        past = rng.dirichlet(np.full(3, 0.3), size=(order, 4))
        past[past < 0.05] = 0
        revised = product_revision(chain, past, known)
        for i in range(4):
            latest = past[order - known[i] :, i]
            assert np.allclose(revised[i], oracle.over_paths(chain.tables[known[i] - 1], latest))


def test_sequences_of_anything_but_codes_are_refused():
    with pytest.raises(TypeError, match=r"sequence 0 is .*; it holds whole numbers"):
        MarkovChain.fit([[0, 1.7, 1]])
