"""Arguments of wrong kinds to attacks: one TypeError or ValueError that says what an attack takes and how to get there."""

import functools

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import (
    ATTACKS,
    ForegroundAttack,
    Influence,
    JointAttack,
    LearnedAttack,
    LinkingAttack,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.attacks.minimality import merge_credibility
from foreknow.models import (
    Adversary,
    Beliefs,
    Exact,
    ExternalKnowledge,
    GivenPrior,
    Linking,
    MarkovChain,
    PriorCascade,
    PublishedTable,
    Release,
    UniformPrior,
)

pytestmark = pytest.mark.slow

HISTORY = history_of(("ABC", "abc"), ("AB", "ba"))
RELEASES = (Release(HISTORY[0], [0, 0, 0]), Release(HISTORY[1], [0, 0]))
CHAIN = MarkovChain(1, np.full((3, 3), 1 / 3))
ADVERSARY = Adversary(UniformPrior(), CHAIN, cascade=PriorCascade())
LINKING = Linking(ExternalKnowledge({"flu": ["a", "b"]}), "result")

OF_AN_ADVERSARY = (SequentialAttack, SnapshotAttack, JointAttack, RetrospectiveAttack, SignatureAttack, Influence)
ARGUMENTS = {"foreground": (), "definetti": (), "composition": (), "maxent": (), "minimality": (2,)}
"""Arguments of the attacks without an adversary."""

CALLS = {
    **{name: ATTACKS[name](*ARGUMENTS.get(name, [ADVERSARY])) for name in ATTACKS},
    "learned": LearnedAttack(),
    "influence": lambda releases: Influence(ADVERSARY)(releases, "A", "a", 1),
}
"""Attacks of any releases; `LinkingAttack` takes those with a view."""


@pytest.mark.parametrize("attack", OF_AN_ADVERSARY)
class TestAdversary:
    def test_the_class(self, attack):
        words = rf"{attack.__name__}: adversary is the class Adversary; write {attack.__name__}\(Adversary\(\.\.\.\)\)"
        with pytest.raises(TypeError, match=words):
            attack(Adversary)

    @pytest.mark.parametrize("wrong", [None, "exact", 3, UniformPrior(), CHAIN, Exact(), HISTORY, RELEASES])
    def test_another_object(self, attack, wrong):
        words = rf"{attack.__name__}: adversary is .*; it is an Adversary; make one by Adversary\(prior\), as Adversary\(Uniform"
        with pytest.raises(TypeError, match=words):
            attack(wrong)


@pytest.mark.parametrize("attack", [SignatureAttack])
def test_transitions_of_another_order(attack):
    for adversary, words in (
        (Adversary(UniformPrior()), "are missing"),
        (Adversary(UniformPrior(), MarkovChain(2, np.full((3, 3, 3), 1 / 3))), "are 2"),
    ):
        with pytest.raises(
            ValueError, match=f"{attack.__name__} needs transitions of order 1; the adversary's {words}. Trunc"
        ):
            attack(adversary)


@pytest.mark.parametrize("name", CALLS)
class TestReleases:
    @pytest.mark.parametrize("wrong", [HISTORY, HISTORY[0], HISTORY[0].frame, "releases", b"r", {"a": 1}, None, 3])
    def test_no_list_of_releases(self, name, wrong):
        words = rf"(Attack|Influence) takes releases .*and got a {type(wrong).__name__}\. Publish views first, as publish\(history"
        with pytest.raises(TypeError, match=words):
            CALLS[name](wrong)

    @pytest.mark.parametrize(
        "wrong", [HISTORY[0], HISTORY[0].frame, RELEASES[0].observation, None, "release", [RELEASES[0]]]
    )
    def test_a_list_of_something_else(self, name, wrong):
        words = rf"takes releases, and got a {type(wrong).__name__}\. .*make a PublishedTable of a table with groups"
        with pytest.raises(TypeError, match=words):
            CALLS[name]([wrong])

    def test_one_release(self, name):
        for one in (RELEASES[0], PublishedTable(RELEASES[0].table, sensitive="result")):
            with pytest.raises(TypeError, match=f"and got one {type(one).__name__}; put it into a list"):
                CALLS[name](one)


@pytest.mark.parametrize("wrong", [HISTORY, HISTORY[0], HISTORY[0].frame, None, 3, "x", [RELEASES]])
def test_linking(wrong):
    with pytest.raises(
        TypeError, match=r"LinkingAttack( takes releases in the order of time, and got|: \w+ is no release)"
    ):
        LinkingAttack(LINKING)(wrong)


class TestInfluence:
    @pytest.mark.parametrize("least", [None, "1", -1, float("nan"), 10**400, [1]])
    def test_least(self, least):
        with pytest.raises(
            ValueError, match=r"Influence: least is .*; it is a number of at least 0, a divergence in bits"
        ):
            Influence(ADVERSARY, least)

    @pytest.mark.parametrize(
        ("claim", "name"),
        [(([], "a", 1), "respondent"), (("A", {}, 1), "value"), (("A", "a", HISTORY[0].frame), "time")],
    )
    def test_a_claim_of_values_that_cannot_be_compared(self, claim, name):
        with pytest.raises(
            TypeError, match=rf"Influence: {name} is a \w+; it is one value, as in the column of the records"
        ):
            Influence(ADVERSARY)(RELEASES, *claim)

    @pytest.mark.parametrize("confidence", [None, "1", 2, -1, float("nan"), 1j, HISTORY])
    def test_confidence(self, confidence):
        with pytest.raises(ValueError, match=r"Influence: confidence is .*; it is a number over 0 and at most 1"):
            Influence(ADVERSARY)(RELEASES, "A", "a", 1, confidence)

    def test_no_release(self):
        with pytest.raises(ValueError, match="Influence: there is no release; give those that the record is about"):
            Influence(ADVERSARY)([], "A", "a", 1)

    def test_a_respondent_who_is_a_tuple(self):
        view = HISTORY[0]
        frame = view.frame.assign(id=[("A", 1), ("B", 1), ("C", 1)])
        renamed = type(view)(frame, view.schema, view.time)
        rows = pd.DataFrame(np.full((3, 3), 1 / 3), pd.Index(frame["id"], tupleize_cols=False), list("abc"))
        adversary = Adversary(GivenPrior(rows), CHAIN, cascade=PriorCascade())
        graph = Influence(adversary)([Release(renamed, [0, 0, 0])], ("A", 1), "a", 1)
        assert graph.graph["source"] == (("A", 1), 1)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("wrong", [None, "2", 2.5, float("nan"), float("inf"), 1j, [2], HISTORY])
def test_merge_credibility(place, wrong):
    arguments = [2, 4, 2, 2]
    arguments[place] = wrong
    with pytest.raises(ValueError, match=r"merge_credibility: .*(it is a number of records|are sensitive)"):
        merge_credibility(*arguments)


def test_merge_credibility_of_whole_floats():
    assert merge_credibility(2.0, 4.0, 2.0, 2.0) == merge_credibility(2, 4, 2, 2)


class TestForegroundBeliefs:
    @staticmethod
    @functools.cache
    def made():
        """Made on first use: modules are imported by all workers."""
        return ForegroundAttack(support=1)(RELEASES)

    @pytest.mark.parametrize("wrong", [3, None, "x", [3], Beliefs(())])
    @pytest.mark.parametrize("name", ["knowledge", "worst"])
    def test_what_is_not_of_each_release(self, name, wrong):
        with pytest.raises((TypeError, ValueError), match=rf"ForegroundBeliefs: {name} .*ForegroundAttack"):
            ForegroundBeliefs(
                self.made().releases, **{"knowledge": self.made().knowledge, "worst": self.made().worst, name: wrong}
            )

    def test_another_sensitive_set(self):
        with pytest.raises(TypeError, match="ForegroundBeliefs: sensitive_set is 3; it is a SensitiveSet or None"):
            ForegroundBeliefs(self.made().releases, self.made().knowledge, self.made().worst, sensitive_set=3)
