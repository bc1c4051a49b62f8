"""Exact knowledge of all others: equal to the joint law given their values, respondent by respondent."""

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import JointAttack, OthersKnown, SequentialAttack, SnapshotAttack
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    Enumeration,
    Exact,
    GivenPrior,
    Grouping,
    MarkovChain,
    Release,
    RemoveKnown,
    UniformPrior,
)

HISTORY = history_of(("ABCD", "abca"), ("ABC", "bac"), ("ABCD", "cbac"))
PRIOR = GivenPrior(
    pd.DataFrame(
        [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]], index=list("ABCD"), columns=list("abc")
    )
)
CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
# The first release has two counterfeits, c and b, in group 0, the third one in group 1, and B is suppressed there.
RELEASES = (
    Release(HISTORY[0], Grouping([0, 0, 1, 1], counterfeits=[[0, 2], [0, 1]])),
    Release(HISTORY[1], Grouping([0, 0, 0])),
    Release(HISTORY[2], Grouping([0, -1, 1, 1], counterfeits=[[1, 1]])),
)


def others(respondent):
    """The true values of all published records of other respondents."""
    rows = [
        (each, view.schema.values[code], view.time, 1.0)
        for release, view in zip(RELEASES, HISTORY, strict=True)
        for each, code, group in zip(view.people.respondents, view.sensitive, release.group, strict=True)
        if each != respondent and group >= 0
    ]
    return CompromisedRecords(pd.DataFrame(rows, columns=["respondent", "value", "time", "confidence"]))


@pytest.mark.parametrize("hindsight", [True, False])
def test_beliefs_are_those_of_the_joint_law_given_the_values_of_all_others(hindsight):
    found = OthersKnown(JointAttack(Adversary(PRIOR, CHAIN), Enumeration(), hindsight), HISTORY)(RELEASES)
    for respondent in "ABCD":
        adversary = Adversary(PRIOR, CHAIN, compromised=others(respondent), cascade=RemoveKnown())
        expected = JointAttack(adversary, Enumeration(), hindsight)(RELEASES)
        pd.testing.assert_frame_equal(found.of(respondent), expected.of(respondent), atol=1e-12)
    assert 0 < found.of("A").loc[(1, "posterior"), "a"] < 1


def test_observations_and_statuses_are_those_of_the_releases():
    found = OthersKnown(JointAttack(Adversary(PRIOR, CHAIN)), HISTORY)(RELEASES)
    for one, release in zip(found, RELEASES, strict=True):
        assert one.observation == release.observation
        assert one.posterior.status.tolist() == [0] * len(release.observation.counts)


@pytest.mark.parametrize("attack", [SnapshotAttack, SequentialAttack])
def test_any_attack_is_sure_without_counterfeits(attack):
    releases = [Release(view, [0] * len(view)) for view in HISTORY]
    found = OthersKnown(attack(Adversary(UniformPrior(), CHAIN, estimator=Exact())), HISTORY)(releases)
    for one, view in zip(found, HISTORY, strict=True):
        np.testing.assert_array_equal(one.posterior.probabilities, np.eye(3)[view.sensitive])


def test_what_is_wrong_is_refused():
    attack = SnapshotAttack(Adversary(UniformPrior()))
    with pytest.raises(TypeError, match="OthersKnown: attack is"):
        OthersKnown(Adversary(UniformPrior()), HISTORY)
    with pytest.raises(TypeError, match="OthersKnown: history is"):
        OthersKnown(attack, RELEASES)
    known = OthersKnown(attack, HISTORY)
    distorted = Release(HISTORY[0], Grouping([0, 0, 1, 1], values=[1, 0, 2, 0]))
    with pytest.raises(ValueError, match="the release at 1 distorts 2 values"):
        known([distorted])
    alone = Release(HISTORY[1], Grouping([0, 0, 0], counterfeits=[[0, 2, 0]], places=HISTORY[0].people[[3]]))
    with pytest.raises(ValueError, match="OthersKnown does not read ghosts, and the release at 2 has 1 record"):
        known([RELEASES[0], alone])
    with pytest.raises(ValueError, match=r"as observation\.with_ghosts\.problem"):
        alone.observation.problem(np.full((3, 3), 1 / 3))
    for other in (history_of(("ABCD", "cccc")), history_of(("ABCE", "abca"))):
        with pytest.raises(ValueError, match="does not have the records that were published at 1"):
            OthersKnown(attack, other)(RELEASES[:1])
