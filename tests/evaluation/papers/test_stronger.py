"""Stronger adversaries of the papers' releases: their gains against attacks made one by one, and the share that is bounded."""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, LearnedAttack, WithoutGroups
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.evaluation import adversary_gain, exams
from foreknow.evaluation.papers import stronger
from foreknow.models import Adversary, Grouping, History, MarkovChain, Numeric, Presence, Release, Schema, UniformPrior


def test_gains_are_those_of_the_attacks():
    history, prior, chain = exams(4, 60, rng=1)
    releases, known = publish(history, Mondrian(KAnonymity(3)), rng=1), Adversary(prior, chain)
    rows = stronger.stronger("Mondrian", history, releases, known).set_index("adversary")["gain"]
    presence = Presence.fit(history, pseudo_count=0.5)
    read = JointAttack(Adversary(prior, chain, presence=presence))
    for name, attack in {
        stronger.JOINT: JointAttack(known),
        stronger.READ: read,
        stronger.CONTROL: WithoutGroups(read),
        stronger.LEARNED: LearnedAttack(),
    }.items():
        gain = adversary_gain(attack(releases), history)["gain"].mean()
        assert rows[name] == pytest.approx(gain, abs=6e-5)
    assert rows[stronger.JOINT] <= rows[stronger.UPPER] <= 1


@pytest.mark.parametrize(("groups", "share"), [([[0] * 4, [0] * 4], 1.0), ([[0, 0, 1, 1], [0, 1, 0, 1]], 0.0)])
def test_bounded_are_members_who_stay_together(groups, share):
    """Four people with two values each: never told apart, none can be sure; with different roles, each may be."""
    frame = {"id": [1, 2, 3, 4] * 2, "time": [1] * 4 + [2] * 4, "age": [20, 30, 40, 50] * 2, "result": list("abba") * 2}
    history = History.read(pd.DataFrame(frame), Schema({"age": Numeric()}, "result", ("a", "b"), "id"), time="time")
    releases = [Release(view, Grouping(np.array(group))) for view, group in zip(history, groups, strict=True)]
    stays = np.array([[0.9, 0.1], [0.1, 0.9]])
    found = stronger.stronger("given", history, releases, Adversary(UniformPrior(), MarkovChain(1, stays)))
    assert set(found["bounded"]) == {share}
    # A bound of 1 is a gain of 1; together, the share of the group bounds each belief but for the chain, which is symmetric.
    assert found.set_index("adversary")["gain"][stronger.UPPER] == pytest.approx(1 - share, abs=1e-4)
