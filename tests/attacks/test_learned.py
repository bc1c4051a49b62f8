"""The joint attack with learned knowledge: it is the joint attack of an adversary who learned from the same releases."""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, LearnedAttack
from foreknow.models import Adversary, Enumeration, LearnedKnowledge, Numeric, Release, Schema, View

SCHEMA = Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id")


def releases_of(values, groups):
    """Releases of one table of values and one of groups, a row for each release."""
    views = [
        View(pd.DataFrame({"id": range(len(row)), "age": 30, "result": list(row)}), SCHEMA, time)
        for time, row in enumerate(values, start=1)
    ]
    return [Release(view, group) for view, group in zip(views, groups, strict=True)]


RELEASES = releases_of(["aabb", "aabb", "abab"], [[0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]])


@pytest.mark.parametrize("hindsight", [True, False])
def test_it_is_the_joint_attack_with_learned_knowledge(hindsight):
    learned = LearnedKnowledge.fit(RELEASES, pseudo_count=0.5)
    expected = JointAttack(Adversary(learned.prior, learned.transitions), Enumeration(), hindsight)(RELEASES)
    found = LearnedAttack(pseudo_count=0.5, solver=Enumeration(), hindsight=hindsight)(RELEASES)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.posterior.probabilities, theirs.posterior.probabilities)
    assert found.notes[0].startswith("Prior and transitions were learned from the releases alone, in ")
    assert set(expected.notes) <= set(found.notes)


def test_it_reads_no_true_value():
    """The values of the members of each group are exchanged."""
    moved = releases_of(["bbaa", "bbaa", "baba"], [[0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]])
    for ours, theirs in zip(LearnedAttack()(RELEASES), LearnedAttack()(moved), strict=True):
        np.testing.assert_array_equal(ours.posterior.probabilities, theirs.posterior.probabilities)


def test_one_release_teaches_no_transitions():
    assert any("no transitions" in note for note in LearnedAttack()(RELEASES[:1]).notes)


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (ValueError, "pseudo_count", {"pseudo_count": -1}),
        (ValueError, "gaps", {"gaps": "closed"}),
        (ValueError, "order is 0; it is a number of past values", {"order": 0}),
        (TypeError, "solver", {"solver": "max-entropy"}),
    ],
)
def test_wrong_settings(error, words, options):
    with pytest.raises(error, match=words):
        LearnedAttack(**options)
