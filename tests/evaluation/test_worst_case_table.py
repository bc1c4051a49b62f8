"""Worst case over attacks, against the tables of each attack alone."""

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.evaluation import compare, risk_table, worst_case
from foreknow.models import Adversary, GivenPrior, Grouping, MarkovChain, Omega, RandomWorlds, Release, UniformPrior

HISTORY = history_of(("ABCDEF", "abbcca"), ("ABCD", "bbac"), ("ABCDE", "cabbc"))
PRIOR = GivenPrior(
    pd.DataFrame(np.random.default_rng(6).dirichlet([1, 1, 1], 6), index=list("ABCDEF"), columns=list("abc"))
)
CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
ATTACKS = {
    "nothing": SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds())),
    "snapshot": SnapshotAttack(Adversary(PRIOR, estimator=Omega())),
    "sequential": SequentialAttack(Adversary(PRIOR, CHAIN)),
}
PAIRS = [Release(view, np.arange(len(view)) // 2) for view in HISTORY]
HIDDEN = [Release(view, Grouping([-1] * len(view))) for view in HISTORY]
MEASURES = ("gain", "total_risk", "log_score")


def test_each_release_against_the_table_of_each_attack():
    found = worst_case(PAIRS, ATTACKS, by_release=True)
    tables = {name: risk_table(attack(PAIRS), HISTORY) for name, attack in ATTACKS.items()}
    assert found["time"].tolist() == [1, 2, 3]
    for number, row in found.iterrows():
        for measure in MEASURES:
            values = {name: table[measure][number] for name, table in tables.items()}
            assert row[measure] == max(values.values())
            assert values[row[f"{measure}_attack"]] == max(values.values())
        shares = {name: table["right"][number] / table["published"][number] for name, table in tables.items()}
        assert row["right_share"] == max(shares.values())


def test_over_all_releases_it_is_the_largest_of_the_summary():
    comparison = compare(HISTORY, {"pairs": lambda view, *_: Grouping(np.arange(len(view)) // 2)}, ATTACKS, rng=1)
    releases = comparison.releases["pairs"]
    summary = comparison.summary().set_index("attack")
    for found in (comparison.worst_case(), worst_case({"pairs": releases}, ATTACKS)):
        assert found["defense"].tolist() == ["pairs"]
        for measure in MEASURES:
            assert found[measure][0] == summary[measure].max()
            assert found[f"{measure}_attack"][0] == summary[measure].idxmax()
        assert found["right_share"][0] == pytest.approx((summary["right"] / 15).max())


def test_a_defense_that_publishes_nothing_has_no_worst_case():
    found = worst_case({"pairs": PAIRS, "hidden": HIDDEN}, ATTACKS).set_index("defense")
    assert found.loc["hidden", [*MEASURES, "right_share"]].isna().all()
    assert found.loc["hidden", "gain_attack"] is None
    assert np.isfinite(found.loc["pairs", "gain"])


def test_one_sequence_has_no_column_of_defenses():
    one, titled = worst_case(PAIRS, ATTACKS), worst_case({"pairs": PAIRS}, ATTACKS)
    pd.testing.assert_frame_equal(one, titled.drop(columns="defense"))


def test_more_attacks_never_lower_it():
    some = worst_case(PAIRS, {"nothing": ATTACKS["nothing"]}, by_release=True)
    more = worst_case(PAIRS, ATTACKS, by_release=True)
    for measure in (*MEASURES, "right_share"):
        assert (more[measure] >= some[measure]).all()


def test_leaving_out():
    found = worst_case(PAIRS, ATTACKS, by_release=True, leaving_out={"A", "B"})
    expected = max(risk_table(attack(PAIRS), HISTORY, leaving_out={"A", "B"})["gain"][0] for attack in ATTACKS.values())
    assert found["gain"][0] == expected


def test_an_empty_comparison():
    found = compare(HISTORY, {"pairs": lambda view, *_: Grouping(np.arange(len(view)) // 2)}, {}, rng=1)
    assert len(found.worst_case()) == 0
    assert "gain_attack" in found.worst_case(by_release=True)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([], ATTACKS), ValueError, "worst_case: releases is empty"),
        ((PAIRS, {}), ValueError, "worst_case: attacks is empty"),
        ((PAIRS, [ATTACKS]), TypeError, "worst_case: attacks is a list; it is a mapping of names"),
        ((HISTORY, ATTACKS), TypeError, "worst_case: one of the releases is"),
        (({"a": PAIRS[0]}, ATTACKS), TypeError, "worst_case: releases is Release"),
    ],
)
def test_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        worst_case(*arguments)


def test_progress_takes_one_step_for_each_defense_and_attack():
    steps = []

    def progress(pairs):
        for pair in pairs:
            steps.append(pair)
            yield pair

    attack = SnapshotAttack(Adversary(UniformPrior()))
    releases = [Release(history_of(("AB", "ab"))[0], [0, 0])]
    found = worst_case({"one": releases, "two": releases}, {"s": attack, "t": attack}, progress=progress)
    assert steps == [("one", "s"), ("one", "t"), ("two", "s"), ("two", "t")]
    assert found.equals(worst_case({"one": releases, "two": releases}, {"s": attack, "t": attack}))
