"""Bound on posteriors: numbers of the papers, its promise against an attack, and every defense that takes it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import distributions, history_of, tables, view_of

from foreknow.attacks import SequentialAttack
from foreknow.defenses import (
    FrequencyDiversity,
    Infeasible,
    JSReduce,
    KAnonymity,
    Mondrian,
    PosteriorBound,
    publish,
)
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records
from foreknow.evaluation import verify
from foreknow.models import Adversary, Exact, MarkovChain, Omega, Release, TooLarge, UniformPrior

ESTIMATORS = st.sampled_from([Omega(), Exact()])


def level(view, prior, labels, asked):
    prior = np.asarray(prior, dtype=float)
    records = summarize_records(view, prior, members=True)
    return asked.bind(view, prior).level(summarize_groups(records, np.array(labels)))


class TestLevel:
    @pytest.mark.parametrize(("estimator", "posterior"), [(Omega(), 0.58209), (Exact(), 0.80282)])
    def test_one_of_three_has_hiv(self, estimator, posterior):
        """Worked by hand: with priors .05, .05 and .3, the third has it with .58209 by Omega, exactly with .80282."""
        view = view_of("ABC", "abb", domain="ab")
        prior = [[0.05, 0.95], [0.05, 0.95], [0.3, 0.7]]
        found = level(view, prior, [0, 0, 0], PosteriorBound(0.3, estimator))
        assert found == pytest.approx([posterior - 1 / 3], abs=1e-5)

    @given(drawn=tables(), data=st.data(), estimator=ESTIMATORS)
    def test_members_who_are_believed_alike_gain_nothing(self, drawn, data, estimator):
        view, _ = drawn
        labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view))))
        labels = np.unique(labels, return_inverse=True)[1]
        rows = np.array([data.draw(distributions(3)) * 0.9 + 0.1 / 3 for _ in range(3)])
        assert level(view, rows[labels], labels, PosteriorBound(0, estimator)) == pytest.approx(0, abs=1e-9)

    def test_a_group_of_one_gains_nothing(self):
        assert level(view_of("A", "a"), [[0.1, 0.2, 0.7]], [0], PosteriorBound(0)).tolist() == [0]

    def test_a_contradicted_group_is_weighed_as_the_estimator_says(self):
        """The prior rules out a, which the group shows: Omega then gives equal beliefs, and Exact the shares."""
        view, prior = view_of("AB", "aa"), [[0, 1, 0], [0, 0, 1]]
        for estimator in (Omega(), Exact()):
            assert level(view, prior, [0, 0], PosteriorBound(0, estimator)).tolist() == [0]

    def test_neither_unions_nor_parts_need_satisfy(self):
        """Priors of A and B are certain of a and b. Alone, neither gains; together, each gains 1/2. C and D have equal priors."""
        view = view_of("ABCD", "abab")
        prior = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
        asked = PosteriorBound(0.4)
        assert level(view, prior, [0, 1, 2, 3], asked).tolist() == [0, 0, 0, 0]
        assert level(view, prior, [0, 0, 1, 1], asked).tolist() == [0.5, 0.5]
        assert level(view, prior, [0, 1, 0, 1], asked).tolist() == [0, 0]


class TestOfASet:
    @given(drawn=tables(), data=st.data(), estimator=ESTIMATORS, quantity=st.sampled_from(["gain", "belief"]))
    def test_a_set_of_one_value_is_that_value_in_a_domain_of_two(self, drawn, data, estimator, quantity):
        """In groups of a and b only, with priors that exclude neither, b's posterior is 1 minus a's."""
        view, _ = drawn
        view = view_of([f"p{i}" for i in range(len(view))], view.frame["result"].replace("c", "b"), domain="ab")
        labels = np.zeros(len(view), dtype=int)
        likely = data.draw(st.lists(st.floats(0.05, 0.95), min_size=len(view), max_size=len(view)))
        prior = np.column_stack([likely, 1 - np.array(likely)])
        both = level(view, prior, labels, PosteriorBound(1, estimator, quantity=quantity))
        each = [level(view, prior, labels, PosteriorBound(1, estimator, {s}, quantity)) for s in "ab"]
        assert np.max(each, axis=0) == pytest.approx(both, abs=1e-9)

    def test_the_paper_s_first_example(self):
        """Foreground knowledge, Example 1: of two people with .5 and two with .2, two have x; p(t1:x) is 8/11, printed .72."""
        view, prior = view_of("ABCD", "aabb"), [[0.5, 0.3, 0.2]] * 2 + [[0.2, 0.5, 0.3]] * 2
        asked = PosteriorBound(0.5, Exact(), {"a"}, "belief")
        assert level(view, prior, [0, 0, 0, 0], asked) == pytest.approx([8 / 11])
        assert level(view, prior, [0, 0, 0, 0], PosteriorBound(0.5, Exact(), {"a"})) == pytest.approx([8 / 11 - 1 / 2])

    @given(drawn=tables(), data=st.data(), estimator=ESTIMATORS, quantity=st.sampled_from(["gain", "belief"]))
    def test_the_checker_finds_the_same(self, drawn, data, estimator, quantity):
        view, prior = drawn
        prior = 0.9 * prior + 0.1 / 3
        labels = data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view)))
        labels = np.unique(labels, return_inverse=True)[1]
        asked = PosteriorBound(0.4, estimator, {"a", "c"}, quantity)
        found = verify(Release(view, labels), asked, prior)
        assert found["level"].tolist() == pytest.approx(level(view, prior, labels, asked), abs=1e-9)

    def test_values_outside_the_set_are_not_bounded(self):
        view = view_of("ABC", "bbb")
        assert level(
            view, np.full((3, 3), 1 / 3), [0, 0, 0], PosteriorBound(0, sensitive_set={"a"}, quantity="belief")
        ) == [0]

    def test_large_groups_are_no_difficulty(self):
        """3000 records of two kinds, 300 holders: the closed form does not enumerate the states, which are too many for `Exact`."""
        view = view_of([f"p{i}" for i in range(3000)], "a" * 300 + "b" * 2700, [50] * 3000)
        prior = np.repeat([[0.1, 0.5, 0.4], [0.2, 0.4, 0.4]], 1500, axis=0)
        (found,) = level(view, prior, np.zeros(3000, dtype=int), PosteriorBound(1, Exact(limit=2), {"a"}, "belief"))
        # In a group of 3000 the odds determine the posteriors up to O(1/k): p1 + p2 = 1/5, odds 4/9 to each other.
        other = 1 / 5 - found
        assert found / (1 - found) == pytest.approx(9 / 4 * other / (1 - other), rel=1e-3)
        assert 0.1 < found < 0.2

    def test_a_set_must_be_part_of_the_domain(self):
        view = view_of("AB", "ab")
        for sensitive, message in (
            ({"z"}, "holds 'z', which is not in the domain"),
            (set("abc"), "holds all 3 values"),
        ):
            with pytest.raises(ValueError, match=f"PosteriorBound: the sensitive set {message}"):
                PosteriorBound(0.5, sensitive_set=sensitive).bind(view, np.full((2, 3), 1 / 3))


class TestInDefenses:
    @given(drawn=tables(most=12), most=st.sampled_from([0, 0.2, 0.5]), estimator=ESTIMATORS, strict=st.booleans())
    def test_what_mondrian_publishes_passes(self, drawn, most, estimator, strict):
        view, prior = drawn
        if len(view) < 3:
            return
        asked = KAnonymity(3) & PosteriorBound(most, estimator)
        try:
            grouping = Mondrian(asked, strict)(view, prior)
        except Infeasible:
            assert not verify(Release(view, [0] * len(view)), asked, prior)["holds"].all()
            return
        assert verify(Release(view, grouping), asked, prior)["holds"].all()

    @given(
        drawn=tables(most=12),
        most=st.sampled_from([0, 0.2, 0.5]),
        estimator=ESTIMATORS,
        leftovers=st.sampled_from(["suppress", "counterfeit"]),
        patience=st.none() | st.just(4),
    )
    def test_what_js_reduce_publishes_passes(self, drawn, most, estimator, leftovers, patience):
        view, prior = drawn
        also = FrequencyDiversity(1.5) & PosteriorBound(most, estimator)
        defense = JSReduce(2, 1, 2, also=also, leftovers=leftovers, patience=patience)
        assert verify(Release(view, defense(view, prior)), defense.requirement, prior)["holds"].all()

    def test_an_attack_gains_no_more_than_promised(self):
        """On a whole history, by the adversary against whom the defense was run."""
        rng = np.random.default_rng(7)
        people = "ABCDEFGHIJKL"
        history = history_of(*((people, "".join(rng.permutation(list("aaaabbbbcccc")))) for _ in range(3)))
        chain = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]))
        adversary = Adversary(UniformPrior(), chain, estimator=Exact())
        releases = publish(history, JSReduce(3, 1, 2, also=PosteriorBound(0.1, Exact()), patience=6), adversary)
        beliefs = SequentialAttack(adversary)(releases)
        assert all(release.groups > 1 for release in releases)
        for release in releases:
            kept = release.group >= 0
            shares = release.counts / release.counts.sum(axis=1, keepdims=True)
            posterior = np.asarray(beliefs.posterior(release.time))
            assert (posterior[kept] - shares[release.group[kept]]).max() <= 0.1 + 1e-9

    def test_a_group_too_large_for_the_estimator_stops_the_defense(self):
        view, prior = view_of("ABCD", "abca"), np.full((4, 3), 1 / 3)
        with pytest.raises(TooLarge, match=r"Auto\(\)"):
            Mondrian(KAnonymity(2) & PosteriorBound(0.5, Exact(limit=2)))(view, prior)


def test_without_members_there_is_no_level():
    view, prior = view_of("AB", "ab"), np.full((2, 3), 1 / 3)
    asked = PosteriorBound(0.3)
    with pytest.raises(ValueError, match=r"reads who is in each group.*members=True"):
        asked.bind(view, prior)(summarize_records(view, prior))
