"""Arguments of wrong kinds to attacks: one TypeError or ValueError that says what an attack takes and how to get there."""

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import (
    ATTACKS,
    Influence,
    JointAttack,
    LearnedAttack,
    LinkingAttack,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.attacks.adversary_attack import AdversaryAttack
from foreknow.attacks.minimality import merge_credibility
from foreknow.models import (
    Adversary,
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
PUBLISHED = PublishedTable(RELEASES[0].table, sensitive="result")
CHAIN = MarkovChain(1, np.full((3, 3), 1 / 3))
ADVERSARY = Adversary(UniformPrior(), CHAIN, cascade=PriorCascade())
LINKING = Linking(ExternalKnowledge({"flu": ["a", "b"]}), "result")

OF_AN_ADVERSARY = (SequentialAttack, SnapshotAttack, JointAttack, RetrospectiveAttack, SignatureAttack, Influence)
ARGUMENTS = {"minimality": (2,)}
"""Arguments of attacks without an adversary that have no defaults."""

CALLS = {
    **{
        name: make(ADVERSARY) if issubclass(make, AdversaryAttack) else make(*ARGUMENTS.get(name, ()))
        for name, make in ATTACKS.items()
    },
    "learned": LearnedAttack(),
    "influence": lambda releases: Influence(ADVERSARY)(releases, "A", "a", 1),
}
"""Attacks of any releases; `LinkingAttack` takes those with a view."""


@pytest.mark.parametrize("attack", OF_AN_ADVERSARY)
@pytest.mark.parametrize("wrong", [Adversary, UniformPrior(), RELEASES])
def test_no_adversary(attack, wrong):
    words = rf"{attack.__name__}: adversary is .*; it is an Adversary, as Adversary\(Uniform"
    with pytest.raises(TypeError, match=words):
        attack(wrong)


@pytest.mark.parametrize("attack", [SignatureAttack])
def test_transitions_of_another_order(attack):
    for adversary, words in (
        (Adversary(UniformPrior()), "are missing. Give a chain, or"),
        (Adversary(UniformPrior(), MarkovChain(2, np.full((3, 3, 3), 1 / 3))), "are 2. Truncate the chain, or"),
    ):
        with pytest.raises(
            ValueError, match=f"{attack.__name__} needs transitions of order 1; the adversary's {words} use"
        ):
            attack(adversary)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", [HISTORY, HISTORY[0], HISTORY[0].frame, RELEASES[0], PUBLISHED, [HISTORY[0]]])
def test_no_list_of_releases(name, wrong):
    words = rf"(Attack|Influence) takes a list of releases .*and got a {type(wrong).__name__}\. Publish views first, as publish\(h"
    with pytest.raises(TypeError, match=words):
        CALLS[name](wrong)


@pytest.mark.parametrize("wrong", [HISTORY, RELEASES[0]])
def test_linking(wrong):
    with pytest.raises(TypeError, match=r"LinkingAttack: .*; it is (an ItemRelease|a list of ItemReleases) or"):
        LinkingAttack(LINKING)(wrong)


class TestInfluence:
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


@pytest.mark.parametrize("arguments", [(0, 4, 2, 2), (2, 4, 7, 2), (2, 4, -1, 2), (2, 4, 2, 0), (2, 4, 0, 2)])
def test_merge_credibility(arguments):
    with pytest.raises(ValueError, match=r"merge_credibility: .*(are sensitive|never violate)"):
        merge_credibility(*arguments)
