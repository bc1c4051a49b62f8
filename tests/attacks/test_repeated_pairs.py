"""Share of repeated pairs against enumeration of all pairs, and the note on evidence counted twice."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.attacks.belief_notes import MIN_REPORTED_SHARE, repeated_pairs
from foreknow.models import Adversary, Enumeration, Exact, GivenPrior, MarkovChain, Omega, Release, UniformPrior

CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())


def share_by_pairs(releases):
    """Share by enumeration of every pair of every group, with a search of the last publication in all earlier releases."""
    met = pairs = 0
    for number, release in enumerate(releases):
        groups = dict(zip(release.view.people.respondents, release.group, strict=True))
        for one, other in combinations(sorted(groups), 2):
            if groups[one] != groups[other] or groups[one] < 0:
                continue
            last = [last_place(releases[:number], who) for who in (one, other)]
            if None not in last:
                pairs += 1
                met += last[0] == last[1]
    return met / pairs if pairs else 0


def last_place(releases, who):
    found = None
    for number, release in enumerate(releases):
        for row in release.view.people.rows(who):
            if release.group[row] >= 0:
                found = (number, release.group[row])
    return found


@st.composite
def histories(draw):
    """At most four releases of at most seven respondents each, some of them suppressed."""
    releases = []
    for time in range(draw(st.integers(1, 4))):
        who = draw(st.lists(st.sampled_from("ABCDEFG"), min_size=1, unique=True))
        labels = draw(st.lists(st.integers(-1, 2), min_size=len(who), max_size=len(who)))
        releases.append(Release(view_of(who, "a" * len(who), time=time), labels))
    return releases


@given(histories())
def test_equals_enumeration_of_all_pairs(releases):
    assert repeated_pairs(release.observation for release in releases) == pytest.approx(share_by_pairs(releases))


def test_by_hand():
    """A and B share a group again; C and D were last in other groups of other releases; E was not published before."""
    releases = [
        Release(view_of("ABCD", "abca", time=1), [0, 0, 0, 1]),
        Release(view_of("CD", "ab", time=2), [0, -1]),
        Release(view_of("ABCDE", "abcab", time=3), [0, 0, 1, 1, 1]),
    ]
    assert repeated_pairs(release.observation for release in releases) == pytest.approx(1 / 2)


def cohort(groups, times=4, n=24):
    """Releases of the same respondents, none suppressed; ``groups(time)`` labels them."""
    ids = [f"p{i:02d}" for i in range(n)]
    views = [view_of(ids, "abc" * (n // 3), [30] * n, time=time) for time in range(times)]
    return [Release(view, groups(number)) for number, view in enumerate(views)]


class TestNotes:
    SAME = staticmethod(lambda _: np.arange(24) // 3)
    ANEW = staticmethod(lambda number: np.argsort(np.random.default_rng(number).permutation(24)) // 3)

    def test_a_closed_cohort_has_the_note(self):
        (note,) = SequentialAttack(ADVERSARY)(cohort(self.SAME)).notes
        assert note.startswith("100% of the pairs of people in a group shared one before")
        assert "overconfident" in note
        assert "JointAttack" in note

    def test_groups_drawn_anew_have_none(self):
        releases = cohort(self.ANEW)
        assert 0 < share_by_pairs(releases) < MIN_REPORTED_SHARE
        assert SequentialAttack(ADVERSARY)(releases).notes == ()

    def test_without_memory_nothing_is_counted_twice(self):
        releases = cohort(self.SAME)
        assert SnapshotAttack(ADVERSARY)(releases).notes == ()
        assert SequentialAttack(Adversary(UniformPrior(), estimator=Omega()))(releases).notes == ()

    def test_the_joint_law_counts_evidence_once(self):
        """A and B, one with a, the other with b, at every release: the posterior of the first release is that of the last."""
        assert not any(
            "counts the evidence of a release again" in note for note in JointAttack(ADVERSARY)(cohort(self.SAME)).notes
        )
        prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["A", "B"], columns=["a", "b"]))
        releases = [Release(view_of("AB", "ab", time=time, domain="ab"), [0, 0]) for time in range(3)]
        adversary = Adversary(prior, MarkovChain(1, np.eye(2)))
        for hindsight in (False, True):
            beliefs = JointAttack(adversary, Enumeration(), hindsight)(releases)
            for time in beliefs.times:
                assert beliefs.posterior(time).loc["A", "a"] == pytest.approx(0.36 / (0.36 + 0.16))
            assert beliefs.notes == ()

    def test_one_release_has_none(self):
        assert SequentialAttack(ADVERSARY)(cohort(self.SAME, times=1)).notes == ()

    def test_evidence_counted_twice_by_hand(self):
        """A and B show a and b at every release, never change, and have a with .6 and .4: by Bayes, A has a with
        .6 .6 / (.6 .6 + .4 .4) after any number of releases. The attack's odds are squared at each."""
        prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["A", "B"], columns=["a", "b"]))
        releases = [Release(view_of("AB", "ab", time=time, domain="ab"), [0, 0]) for time in range(3)]
        beliefs = SequentialAttack(Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact()))(releases)
        odds = [belief.loc["A", "a"] / belief.loc["A", "b"] for belief in map(beliefs.posterior, beliefs.times)]
        assert odds == pytest.approx([2.25, 2.25**2, 2.25**4])
        assert len(beliefs.notes) == 1
