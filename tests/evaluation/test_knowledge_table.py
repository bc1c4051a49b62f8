"""Comparison of knowledge by the log score of an attack: sums and bootstrap by hand."""

import re

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.evaluation import compare_knowledge, log_score
from foreknow.models import Adversary, Averaged, GivenPrior, MarkovChain, Release, UniformPrior

HISTORY = history_of(("ABCD", "abab"), ("ABC", "bab"), domain="ab")
RELEASES = [Release(HISTORY[0], [0, 0, 1, 1]), Release(HISTORY[1], [0, 0, -1])]
CHAIN = MarkovChain(1, np.array([[0.1, 0.9], [0.8, 0.2]]))


def prior(first):
    rows = np.array([first, 1 - first])
    return GivenPrior(pd.DataFrame([rows, 1 - rows, rows, rows], index=list("ABCD"), columns=list("ab")))


ADVERSARIES = {
    "nothing": Adversary(UniformPrior()),
    "right": Adversary(prior(np.float64(0.9)), CHAIN),
    "wrong": Adversary(prior(np.float64(0.2)), CHAIN),
}


@pytest.mark.parametrize("attack", [JointAttack, SequentialAttack, lambda adversary: SnapshotAttack(adversary)])
def test_scores_are_means_over_the_records_of_all_releases(attack):
    table = compare_knowledge(RELEASES, ADVERSARIES, attack, draws=0).set_index("adversary")
    for name, adversary in ADVERSARIES.items():
        each = log_score(attack(adversary)(RELEASES), HISTORY)
        expected = (each["log_score"] * each["measured"]).sum() / 6
        assert table.loc[name, "log_score"] == pytest.approx(expected)
    assert (table["measured"] == 6).all()
    assert table["log_score"].is_monotonic_decreasing
    np.testing.assert_allclose(table["difference"], table["log_score"] - table["log_score"].iloc[0])
    assert table[["low", "high", "difference_low", "difference_high"]].isna().all(axis=None)


def test_two_members_by_hand():
    """A group of A and B that shows a and b: the weight of the truth is .9 * .9 beside .1 * .1, or .2 * .2 beside .8 * .8."""
    releases = [Release(history_of(("AB", "ab"), domain="ab")[0], [0, 0])]
    table = compare_knowledge(releases, ADVERSARIES, SnapshotAttack, draws=0).set_index("adversary")["log_score"]
    assert table["right"] == pytest.approx(np.log2(0.81 / 0.82))
    assert table["wrong"] == pytest.approx(np.log2(0.04 / 0.68))
    assert table["nothing"] == pytest.approx(-1)


def test_intervals_are_those_of_resampled_respondents():
    """Draws of respondents with replacement, all records of one together, by an own loop."""
    table = compare_knowledge(RELEASES, ADVERSARIES, SnapshotAttack, draws=4000, level=0.8, rng=1).set_index(
        "adversary"
    )
    logs = {}
    for name, adversary in ADVERSARIES.items():
        beliefs = SnapshotAttack(adversary)(RELEASES)
        for respondent in "ABCD":
            logs[name, respondent] = [
                np.log2(release.posterior.probabilities[row, view.sensitive[row]])
                for release, view in zip(beliefs, HISTORY, strict=True)
                for row in view.people.rows(respondent)
                if release.observation.group[row] >= 0
            ]
    rng = np.random.default_rng(5)
    drawn = []
    for who in rng.choice(list("ABCD"), size=(4000, 4)):
        drawn.append([np.mean(np.concatenate([logs[name, each] for each in who])) for name in ADVERSARIES])
    drawn = pd.DataFrame(drawn, columns=list(ADVERSARIES))
    best = table.index[0]
    for name in ADVERSARIES:
        np.testing.assert_allclose(table.loc[name, ["low", "high"]], drawn[name].quantile([0.1, 0.9]), atol=0.03)
        difference = (drawn[name] - drawn[best]).quantile([0.1, 0.9])
        np.testing.assert_allclose(table.loc[name, ["difference_low", "difference_high"]], difference, atol=0.03)
    assert (table.loc[best, ["difference", "difference_low", "difference_high"]] == 0).all()


def test_an_average_is_knowledge_too_and_a_seed_repeats_it():
    adversaries = {"averaged": Averaged([ADVERSARIES["right"], ADVERSARIES["wrong"]])} | ADVERSARIES
    once, again = (compare_knowledge(RELEASES, adversaries, SnapshotAttack, rng=3) for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    assert set(once["adversary"]) == set(adversaries)


def test_respondents_left_out_are_not_measured():
    assert compare_knowledge(RELEASES, ADVERSARIES, leaving_out={"A"}, draws=0)["measured"].tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((RELEASES[0], ADVERSARIES), {}, TypeError, "takes several Release objects"),
        (([], ADVERSARIES), {}, ValueError, "releases is empty"),
        ((RELEASES, []), {}, TypeError, "adversaries is []; it is a mapping of names"),
        ((RELEASES, {}), {}, ValueError, "adversaries is empty"),
        ((RELEASES, {"a": 1}), {}, TypeError, "adversaries['a'] is 1; it is an Adversary or an Averaged"),
        ((RELEASES, ADVERSARIES, JointAttack(ADVERSARIES["right"])), {}, TypeError, "takes a list of releases"),
        ((RELEASES, ADVERSARIES), {"least": 0}, ValueError, "least is 0; it is a number over 0"),
        ((RELEASES, ADVERSARIES), {"draws": -1}, ValueError, "draws is -1"),
        ((RELEASES, ADVERSARIES), {"level": 1}, ValueError, "level is 1"),
        ((RELEASES, ADVERSARIES), {"leaving_out": set("ABCD")}, ValueError, "no record is published in 2 releases"),
    ],
)
def test_each_fault_has_one_clear_error(arguments, settings, error, message):
    with pytest.raises(error, match=re.escape(message)):
        compare_knowledge(*arguments, **settings)
