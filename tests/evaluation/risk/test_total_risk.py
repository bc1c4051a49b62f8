"""Total risk: groups of one value count as disclosed, whatever the gain in the others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of, view_of

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import DistinctDiversity, JSReduce, TCloseness, publish
from foreknow.evaluation import adversary_gain, breaches, compare, log_score, total_risk, verify
from foreknow.evaluation.risk.adversary_gain import with_certain
from foreknow.models import Adversary, Exact, GivenPrior, Grouping, History, RandomWorlds, Release, UniformPrior

IDS = "ABCDEF"


def attacked(results, labels, estimator=None, prior=None):
    """Beliefs about one release, and its history."""
    history = history_of((IDS, results))
    adversary = Adversary(prior or UniformPrior(), estimator=estimator or RandomWorlds())
    return SnapshotAttack(adversary)([Release(history[0], labels)]), history


def breaches_of_a(beliefs, history):
    return breaches(beliefs, history, {"a"}, 2)


def believing(rows):
    return GivenPrior(pd.DataFrame(rows, index=list(IDS), columns=list("abc")))


@pytest.mark.parametrize("measure", [total_risk, adversary_gain, log_score, breaches_of_a])
def test_releases_in_place_of_the_history_are_one_clear_error(measure):
    beliefs, history = attacked("aabbcc", [0, 0, 1, 1, 2, 2])
    with pytest.raises(TypeError, match=r"history is .*; it takes the original records; make a History"):
        measure(beliefs, [Release(history[0], [0] * 6)])


class TestByHand:
    def test_a_group_of_one_value_where_the_gain_is_zero(self):
        """A and B are disclosed, C to F gain nothing: 2 of 6. Equation 8 says 0 as well."""
        beliefs, history = attacked("aaabbc", [0, 0, 1, 1, 1, 1])
        row = total_risk(beliefs, history).iloc[0].to_dict()
        assert row == {"time": 1, "total_risk": pytest.approx(1 / 3), "measured": 6, "certain": 2, "suppressed": 0}
        assert adversary_gain(beliefs, history)["gain"].tolist() == [pytest.approx(0)]
        assert adversary_gain(beliefs, history, absolute=True)["gain"].tolist() == [pytest.approx(0)]

    def test_knowledge_that_misleads_makes_up_for_nothing(self):
        """C and D share {a, b} and are believed the wrong way round: a gain of -1, and A and B stay disclosed."""
        beliefs, history = attacked(
            "aaabcc",
            [0, 0, 1, 1, -1, -1],
            Exact(),
            believing([[1 / 3] * 3] * 2 + [[0, 1, 0], [1, 0, 0]] + [[1 / 3] * 3] * 2),
        )
        assert adversary_gain(beliefs, history)["gain"].tolist() == [pytest.approx(-1)]
        row = total_risk(beliefs, history).iloc[0]
        assert (row["total_risk"], row["measured"], row["suppressed"]) == (pytest.approx(1 / 2), 4, 2)

    def test_all_records_disclosed_or_none_published(self):
        beliefs, history = attacked("aabbcc", [0, 0, 1, 1, 2, 2])
        assert total_risk(beliefs, history)["total_risk"].tolist() == [1]
        beliefs, history = attacked("aabbcc", [-1] * 6)
        assert np.isnan(total_risk(beliefs, history)["total_risk"][0])

    def test_a_value_published_for_another_discloses_no_record(self):
        """B's c is published as a: the group shows one value, which is A's alone."""
        beliefs, history = attacked("acbbcc", Grouping([0, 0, -1, -1, -1, -1], values=[0, 0, 1, 1, 2, 2]))
        assert total_risk(beliefs, history)["certain"].tolist() == [1]

    def test_who_is_left_out_is_not_counted(self):
        beliefs, history = attacked("aaabbc", [0, 0, 1, 1, 1, 1])
        row = total_risk(beliefs, history, leaving_out={"A"}).iloc[0]
        assert (row["total_risk"], row["measured"], row["compromised"]) == (pytest.approx(1 / 5), 5, 1)


@given(
    results=st.lists(st.sampled_from("abc"), min_size=6, max_size=6),
    labels=st.lists(st.integers(-1, 2), min_size=6, max_size=6),
    seed=st.integers(0, 99),
)
def test_its_laws(results, labels, seed):
    """At least the share disclosed, at most 1; the gain or 0 where none is disclosed; true values of others do not matter."""
    prior = believing(np.random.default_rng(seed).dirichlet(np.ones(3), 6))
    beliefs, history = attacked("".join(results), labels, Exact(), prior)
    row, gain = total_risk(beliefs, history).iloc[0], adversary_gain(beliefs, history).iloc[0]
    if row["measured"] == 0:
        assert np.isnan(row["total_risk"])
        return
    assert row["certain"] / row["measured"] - 1e-12 <= row["total_risk"] <= 1 + 1e-12
    assert (row["total_risk"] > 0) or row["certain"] == 0
    if row["certain"] == 0:
        assert row["total_risk"] == pytest.approx(max(gain["gain"], 0))


def test_of_a_gain_and_numbers():
    assert with_certain(0.5, 2, 2) == 0.75
    assert with_certain(-0.5, 2, 2) == 0.5
    assert with_certain(float("nan"), 0, 3) == 1
    assert np.isnan(with_certain(float("nan"), 0, 0))


class TestSkewedValues:
    """Nine in ten people pay: a group of three who pay is .1 from the table, far under t = .5."""

    IDS = tuple(f"p{i:02d}" for i in range(60))
    RESULTS = "".join("b" if i % 10 == 9 else "a" for i in range(60))
    HISTORY = History([view_of(IDS, RESULTS, ages=list(range(20, 80)), domain="ab")])
    KNOWS_NOTHING = Adversary(UniformPrior(), estimator=Exact())

    def published(self, also=None):
        return publish(self.HISTORY, JSReduce(3, 0.5, 0.6, also=also, patience=20), self.KNOWS_NOTHING)

    def test_closeness_alone_discloses_people_at_a_gain_of_zero(self):
        releases = self.published()
        assert verify(releases[0], TCloseness(0.5))["holds"].all()
        attacks, defenses = {"snapshot": SnapshotAttack(self.KNOWS_NOTHING)}, {"js": JSReduce(3, 0.5, 0.6, patience=20)}
        found = compare(self.HISTORY, defenses, attacks, self.KNOWS_NOTHING).summary().iloc[0]
        shown = releases[0].table.groupby("group")["result"].agg(["nunique", "size"])
        disclosed = shown.loc[shown["nunique"] == 1, "size"].sum()
        assert disclosed > 20
        assert found["gain"] == pytest.approx(0)
        assert found["certain"] == disclosed
        assert found["total_risk"] == pytest.approx(disclosed / len(releases[0].table))

    def test_diversity_prevents_it(self):
        releases = self.published(DistinctDiversity(2))
        assert releases[0].groups > 1
        attack = SnapshotAttack(self.KNOWS_NOTHING)
        assert total_risk(attack(releases), self.HISTORY)["certain"].tolist() == [0]
