"""Recognition of m-invariance by kept sets of values, against loops over respondents, and the note of attacks without its rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import JointAttack, LearnedAttack, SequentialAttack, SignatureAttack, SnapshotAttack
from foreknow.attacks.belief_notes import KeptSignatures, kept_signatures
from foreknow.defenses import Anatomy, Defense, DistinctDiversity, Injector, MInvariance, Mondrian, publish
from foreknow.models import Adversary, Grouping, History, MarkovChain, MaxEntropy, Release, UniformPrior

NOTHING = KeptSignatures(0, 0, 0.0)
VALUES = "abcdef"
ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, np.full((6, 6), 0.05) + 0.7 * np.eye(6)))


def found(releases):
    return kept_signatures(release.observation for release in releases)


def by_loops(releases):
    """The definition, respondent by respondent."""
    last, followed, kept, expected = {}, 0, 0, 0.0
    for number, release in enumerate(releases):
        shown = [frozenset(np.flatnonzero(row).tolist()) for row in release.observation.counts]
        if any(
            row.sum() != len(own) or row.sum() < 2 for row, own in zip(release.observation.counts, shown, strict=True)
        ):
            return NOTHING
        groups = dict(zip(release.view.people.respondents, release.group.tolist(), strict=True))
        for g, own in enumerate(shown):
            members = [who for who, group in groups.items() if group == g]
            for who in members:
                others = [last.get(other, (None,))[0] for other in members if other != who]
                if who not in last or last[who][0] in others or not last[who][1] & own:
                    continue
                before = last[who][1]
                followed, kept = followed + 1, kept + (before == own)
                shares = [shown.count(before) / max(sum(value in one for one in shown), 1) for value in before]
                expected += sum(shares) / len(shares)
                break
        last |= {who: ((number, g), shown[g]) for who, g in groups.items() if g >= 0}
    return KeptSignatures(followed, kept, pytest.approx(expected))


@st.composite
def histories(draw):
    """Releases of groups of two or three respondents of distinct values, of eight who come and go; some are suppressed."""
    releases = []
    for time in range(draw(st.integers(1, 4))):
        who = draw(st.permutations("ABCDEFGH"))[: draw(st.integers(2, 8))]
        labels = np.arange(len(who)) // draw(st.integers(2, 3))
        values = [value for _ in range(4) for value in draw(st.permutations("abcd"))[:2]][: len(who)]
        if draw(st.booleans()):
            values = [VALUES[i % 3] for i in range(len(who))]
        releases.append(Release(view_of(who, values, time=time, domain=VALUES), np.where(labels > 2, -1, labels)))
    return releases


@given(histories())
def test_equals_the_definition(releases):
    assert found(releases) == by_loops(releases)


def test_by_hand():
    """Sets ab and cd, then ab, ac and cd: one group of the set ab, of two that show a and one that shows b, so 3/4 by chance."""
    first = Release(view_of("ABCD", "abcd", time=1, domain=VALUES), [0, 0, 1, 1])
    second = Release(view_of("ABCDEF", "aabccd", time=2, domain=VALUES), [0, 1, 0, 2, 1, 2])
    # A and D are in their set again, and B is not; C is the second of A's group, and its set was cd.
    assert found([first, second]) == KeptSignatures(3, 2, 2.25)
    # No value of A's set is shown to A again.
    elsewhere = Release(view_of("AC", "cd", time=2, domain=VALUES), [0, 0])
    assert found([first, elsewhere]) == KeptSignatures(1, 1, 1.0)


@given(st.lists(st.permutations(range(8)), min_size=1, max_size=4), st.data())
def test_the_same_groups_tell_nothing(orders, data):
    """Whatever the values of a closed panel: its sets are kept by any defense."""
    releases = [
        Release(
            view_of(
                "ABCDEFGH", [VALUES[i % 2 + data.draw(st.integers(0, 2)) * 2] for i in range(8)], time=t, domain=VALUES
            ),
            [0, 0, 1, 1, 2, 2, 3, 3],
        )
        for t, _ in enumerate(orders)
    ]
    assert found(releases) == NOTHING


def test_releases_that_cannot_be_of_m_invariance():
    twice = Release(view_of("ABCD", "aabb"), [0, 0, 1, 1])
    alone = Release(view_of("ABC", "abc"), [0, 0, 1])
    distorted = Release(view_of("AB", "ab"), Grouping(np.array([0, 0]), values=np.array([1, 2])))
    assert found([]) == NOTHING
    for release in (twice, alone, distorted):
        assert found([release, release]) == NOTHING


@pytest.mark.parametrize(
    ("counts", "evident"),
    [
        ((10, 9, 2.0), True),
        ((5, 5, 0.5), True),
        ((3, 3, 1.5), False),  # .55 to the third power is over .001
        ((1000, 300, 280.0), False),  # under a tenth beside chance
        ((1000, 420, 280.0), True),
        ((1000, 1000, 1000.0), False),  # one set for all
        ((0, 0, 0.0), False),
    ],
)
def test_what_counts_as_evidence(counts, evident):
    assert KeptSignatures(*counts).is_evidence == evident


def panel(rng, changing=0.0):
    """Six releases of 120 respondents of six values; some of them exchange their values."""
    values = np.repeat(np.arange(6), [30, 25, 20, 20, 15, 10])
    views = []
    for time in range(6):
        views.append(
            view_of(
                [f"p{i:03d}" for i in range(120)],
                [VALUES[v] for v in values],
                rng.integers(20, 80, 120),
                time=time,
                domain=VALUES,
            )
        )
        moved = np.flatnonzero(rng.random(120) < changing)
        values[moved] = values[rng.permutation(moved)]
    return History(views)


def without_counterfeits(m):
    releases = publish(panel(np.random.default_rng(m)), MInvariance(m, rng=1), rng=1)
    assert all(release.counts.sum() == (release.group >= 0).sum() for release in releases)
    return releases


@pytest.mark.parametrize("m", [2, 3])
def test_m_invariance_is_recognized_without_counterfeits(m):
    """Every attack that does not read the rule says so, and one that reads it does not."""
    releases = without_counterfeits(m)
    adversary = Adversary(UniformPrior(), ADVERSARY.transitions)
    for attack in (
        SnapshotAttack(adversary),
        SequentialAttack(adversary),
        JointAttack(adversary, MaxEntropy()),
        LearnedAttack(solver=MaxEntropy()),
    ):
        (note,) = (note for note in attack(releases).notes if "m-invariance" in note)
        assert note.startswith("the releases are consistent with m-invariance: ")
        assert "signatures=True" in note
    for attack in (SignatureAttack(adversary), JointAttack(adversary, MaxEntropy(), signatures=True)):
        assert not any("consistent with" in note for note in attack(releases).notes)


@pytest.mark.parametrize("changing", [0.0, 0.3])
@pytest.mark.parametrize(
    "defense",
    [Anatomy(2, rng=1), Anatomy(3, rng=1), Injector(2, rng=1), Mondrian(DistinctDiversity(2))],
    ids=["anatomy2", "anatomy3", "injector2", "mondrian2"],
)
def test_other_defenses_are_not(defense: Defense, changing):
    history = panel(np.random.default_rng(7), changing)
    releases = publish(history, defense, Adversary(UniformPrior(), ADVERSARY.transitions), rng=1)
    assert not found(releases).is_evidence
