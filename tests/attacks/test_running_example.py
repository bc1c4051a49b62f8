"""The running example of JS-reduce (Riboni, Pareschi, Bettini, TDSC 2012), Tables 1, 3 and 4, end to end.

The paper lists only the probabilities it uses; the rest of each row is given to a result that no group shows.
"""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, JSimilarity, Summary
from foreknow.defenses.requirements.summary import TableCounts, entropy
from foreknow.evaluation import verify
from foreknow.evaluation.risk.adversary_gain import adversary_confidence, adversary_gain
from foreknow.models import (
    Adversary,
    Categorical,
    ConfidenceSum,
    Exact,
    GivenPrior,
    History,
    MarkovChain,
    Numeric,
    Omega,
    RandomWorlds,
    Release,
    Schema,
)

RESULTS = ("MAM-pos", "CX-neg", "CX-pos", "BS-neg", "BCM-pos", "PNE-pos", "MAM-neg", "another")
SCHEMA = Schema(
    {"age": Numeric(51, 52), "gender": Categorical(("F", "M")), "zip": Numeric(12030, 12045)}, "ex-res", RESULTS, "name"
)
COLUMNS = ["name", "age", "gender", "zip", "ex-res"]

RECORDS = pd.DataFrame(
    [
        # Table 1a: the first week
        (1, "Alice", 51, "F", 12030, "MAM-pos"),
        (1, "Betty", 52, "F", 12030, "CX-neg"),
        (1, "Carol", 51, "F", 12031, "CX-pos"),
        (1, "Doris", 52, "F", 12031, "BS-neg"),
        # Table 1c: the second week
        (2, "Alice", 51, "F", 12030, "BCM-pos"),
        (2, "Carol", 51, "F", 12031, "PNE-pos"),
        (2, "Elisa", 51, "F", 12044, "MAM-neg"),
        (2, "Fran", 51, "F", 12045, "CX-neg"),
        (2, "Grace", 51, "F", 12040, "CX-pos"),
    ],
    columns=["week", *COLUMNS],
)
GROUPS = {1: [1, 1, 2, 2], 2: [3, 3, 4, 4, 4]}


def rows(listed):
    """Rows over the whole domain: the listed probabilities, and the rest on `another`."""
    table = pd.DataFrame(listed).T.reindex(columns=RESULTS).fillna(0.0)
    table["another"] += 1 - table.sum(axis=1)
    return table


# Table 3a; the paper lists BCM-pos of Alice alone, and nothing of the three who first appear in the second week.
NEIGHBOURS = {"MAM-pos": 0.002, "CX-neg": 0.05, "BCM-pos": 0.001}
OTHERS = {"CX-pos": 0.0003, "BS-neg": 0.2}
NEW = {"MAM-neg": 0.1, "CX-neg": 0.05, "CX-pos": 0.0003}
PRIOR = rows(
    {
        "Alice": NEIGHBOURS, "Betty": NEIGHBOURS, "Carol": OTHERS, "Doris": OTHERS,
        "Elisa": NEW, "Fran": NEW, "Grace": NEW,
    }
)  # fmt: skip

# Table 3b; of the other results the paper says nothing.
MOVES = rows(
    {
        "MAM-pos": {"BCM-pos": 0.6, "PNE-pos": 0.02},
        "CX-neg": {"BCM-pos": 0.02, "PNE-pos": 0.08},
        "CX-pos": {"BCM-pos": 0.02, "PNE-pos": 0.6},
        "BS-neg": {"BCM-pos": 0.02, "PNE-pos": 0.02},
    }
    | {result: {} for result in RESULTS[4:]}
).reindex(RESULTS)

HISTORY = History.read(RECORDS, SCHEMA)
RELEASES = tuple(Release(view, GROUPS[view.time]) for view in HISTORY)


def attack(estimator):
    adversary = Adversary(GivenPrior(PRIOR), MarkovChain(1, MOVES.to_numpy()), estimator=estimator)
    return SequentialAttack(adversary)(RELEASES)


EVERY = pytest.mark.parametrize("estimator", [ConfidenceSum(), Exact(), Omega()], ids=["sum", "product", "omega"])


def test_tables_1b_and_1d():
    first, second = (release.table for release in RELEASES)
    assert first.drop(columns="ex-res").drop_duplicates().to_numpy().tolist() == [
        [0, "[51,52]", "F", "12030"],
        [1, "[51,52]", "F", "12031"],
    ]
    assert second.drop(columns="ex-res").drop_duplicates().to_numpy().tolist() == [
        [0, "51", "F", "[12030,12031]"],
        [1, "51", "F", "[12040,12045]"],
    ]
    assert [sorted(group) for _, group in second.groupby("group")["ex-res"]] == [
        ["BCM-pos", "PNE-pos"],
        ["CX-neg", "CX-pos", "MAM-neg"],
    ]


def test_the_releases_are_diverse_and_m_invariant():
    """Section 2: two-diverse; m-invariant with m = 2, as values of a group differ, and no one has a value of both weeks."""
    for release in RELEASES:
        assert verify(release, DistinctDiversity(2))["holds"].all()
        assert (release.observation.counts <= 1).all()
    again = set(RECORDS.query("week == 1")["name"]) & set(RECORDS.query("week == 2")["name"])
    assert again == {"Alice", "Carol"}
    first, second = (RECORDS[RECORDS["week"] == week].set_index("name")["ex-res"] for week in (1, 2))
    assert (first[[*again]] != second[[*again]]).all()


@EVERY
def test_table_4a_the_first_release_teaches_nothing(estimator):
    posterior = attack(estimator).posterior(1)
    for name, shown in {
        "Alice": ("MAM-pos", "CX-neg"), "Betty": ("MAM-pos", "CX-neg"),
        "Carol": ("CX-pos", "BS-neg"), "Doris": ("CX-pos", "BS-neg"),
    }.items():  # fmt: skip
        assert np.allclose(posterior.loc[name, list(shown)], 0.5)
        assert posterior.loc[name].sum() == pytest.approx(1)


@EVERY
def test_table_4b_the_revised_prior(estimator):
    revised = attack(estimator).revised(2)
    assert np.allclose(revised.loc[["Alice", "Carol"], ["BCM-pos", "PNE-pos"]], [[0.31, 0.05], [0.02, 0.31]])
    assert np.allclose(revised.loc["Elisa", ["MAM-neg", "CX-neg", "CX-pos"]], [0.1, 0.05, 0.0003])


@pytest.mark.parametrize(
    ("estimator", "alice", "carol"),
    [
        (ConfidenceSum(), 0.62 / 0.69, 0.62 / 0.69),
        (ConfidenceSum(), 0.89855, 0.89855),
        (Exact(), 0.31 * 0.31 / (0.31 * 0.31 + 0.05 * 0.02), 0.0961 / 0.0971),
        (Exact(), 0.98970, 0.98970),
        (Omega(), 0.87119, 0.93425),
        (RandomWorlds(), 0.5, 0.5),
    ],
)
def test_table_4c_the_posterior(estimator, alice, carol):
    """Example 2: .62 / .69 under the paper's rule; the others are worked by hand."""
    posterior = attack(estimator).posterior(2)
    assert posterior.loc["Alice", "BCM-pos"] == pytest.approx(alice, abs=5e-6)
    assert posterior.loc["Carol", "PNE-pos"] == pytest.approx(carol, abs=5e-6)
    assert posterior.loc["Alice", "PNE-pos"] == pytest.approx(1 - alice, abs=5e-6)
    assert np.allclose(posterior.loc[["Elisa", "Fran", "Grace"], ["MAM-neg", "CX-neg", "CX-pos"]], 1 / 3)


def test_the_gain():
    """(.89855 - .5) / .5 = .7971 for Alice and for Carol, 0 for the other three, whose priors are equal."""
    gain = adversary_gain(attack(ConfidenceSum()), HISTORY).set_index("time")["gain"]
    alice = (0.62 / 0.69 - 0.5) / 0.5
    assert alice == pytest.approx(0.7971, abs=5e-5)
    assert gain[1] == pytest.approx(0)
    assert gain[2] == pytest.approx((2 * alice + 3 * 0) / 5)
    confidence = adversary_confidence(attack(ConfidenceSum()), HISTORY).set_index("time")["confidence"]
    assert confidence[2] == pytest.approx((2 * 0.62 / 0.69 + 3 / 3) / 5)


def test_a_snapshot_cannot_tell_alice_from_carol():
    """Section 2: without the first release both have equal chances, once their priors for the two results are equal."""
    prior = PRIOR.copy()
    prior.loc["Carol"] = prior.loc["Alice"]
    prior.loc[["Alice", "Carol"], "PNE-pos"] = 0.001
    prior.loc[["Alice", "Carol"], "another"] -= 0.001
    adversary = Adversary(GivenPrior(prior), MarkovChain(1, MOVES.to_numpy()))
    posterior = SnapshotAttack(adversary)(RELEASES).posterior(2)
    assert np.allclose(posterior.loc[["Alice", "Carol"], ["BCM-pos", "PNE-pos"]], 0.5)


def test_the_divergence_of_group_3():
    """Rows normalized over the two results (.8611, .1389) and (.0606, .9394): .53999 bits, .37429 nats."""
    revised = attack(ConfidenceSum()).revised(2).loc[["Alice", "Carol"], ["BCM-pos", "PNE-pos"]].to_numpy()
    two = revised / revised.sum(axis=1, keepdims=True)
    group = Summary(
        np.array([2]), np.array([[1, 1]]), two.sum(axis=0, keepdims=True), entropy(two).sum(keepdims=True),
        TableCounts(("BCM-pos", "PNE-pos"), np.array([1, 1])),
    )  # fmt: skip
    assert JSimilarity(0.6).level(group)[0] == pytest.approx(0.53999, abs=5e-6)
    assert JSimilarity(0.6, base=np.e).level(group)[0] == pytest.approx(0.37429, abs=5e-6)
