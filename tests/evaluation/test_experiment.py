"""Comparisons: every number of a summary recomputed from the tables and frames behind it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import Anatomy, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import Workload, compare, query_error
from foreknow.evaluation.scenario import Scenario
from foreknow.models import Adversary, Exact, GivenPrior, Grouping, MarkovChain, Omega, Release

HISTORY = history_of(("ABCDEF", "abbcca"), ("ABCD", "bbac"), ("ABCDE", "cabbc"))
PRIOR = GivenPrior(
    pd.DataFrame(
        [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8], [0.5, 0.25, 0.25]],
        index=list("ABCDEF"), columns=list("abc"),
    )
)  # fmt: skip
CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
ATTACKS = {
    "with memory": SequentialAttack(Adversary(PRIOR, CHAIN, estimator=Exact())),
    "without": SnapshotAttack(Adversary(PRIOR, CHAIN, estimator=Omega())),
}

SCENARIOS_THAT_DRAW = {"some": Scenario(law="known", compromised=0.3), "all": Scenario(law="learned")}


@dataclass(frozen=True)
class Fixed:
    """The same labels whatever the knowledge, by the view's time, for people in the order of their names."""

    labels: dict

    def __call__(self, view, prior, past):
        assert [release.time for release in past] == list(range(1, view.time))
        assert prior.shape == (len(view), 3)
        return self.labels[view.time].in_rows(np.argsort(np.argsort(view.people.respondents)))


DEFENSES = {
    "pairs": Fixed(
        {
            1: Grouping([0, 0, 1, 1, 2, 2]),
            2: Grouping([0, 0, 1, 1]),
            3: Grouping([1, 0, 1, 0, -1], values=[2, 0, 1, 0, 0]),
        }
    ),
    "sometimes": Fixed({1: Grouping([0, 1, 0, 0, 0, -1]), 2: Grouping([-1] * 4), 3: Grouping([-1] * 5)}),
    "never": Fixed({1: Grouping([-1] * 6), 2: Grouping([-1] * 4), 3: Grouping([-1] * 5)}),
    # C and D share {b, c}, then {b, b}: the second discloses both, and rho has no record to average
    "telling": Fixed({1: Grouping([-1, -1, 0, 0, -1, -1]), 2: Grouping([-1] * 4), 3: Grouping([-1, -1, 0, 0, -1])}),
}


@pytest.fixture(scope="module")
def comparison():
    return compare(HISTORY, DEFENSES, ATTACKS)


def outcomes(comparison, defense, attack):
    """One row per published record: week, belief in the truth, its share, how it ranks. From frames alone."""
    rows = []
    for release, view in zip(comparison.releases[defense], HISTORY, strict=True):
        posterior = comparison.beliefs[defense, attack].posterior(view.time)
        for i, (who, truth) in enumerate(zip(view.frame["id"], view.frame["result"], strict=True)):
            label = release.grouping.labels[i]
            if label < 0:
                continue
            shown = release.table[release.table["group"] == release.group[i]]["result"].tolist()
            row = posterior.loc[who]
            best = row.index[np.isclose(row, row.max(), rtol=1e-12, atol=0)]
            rows.append(
                (view.time, row[truth], shown.count(truth) / len(shown), (truth in best) / len(best), row.max())
            )
    return pd.DataFrame(rows, columns=["time", "belief", "share", "hit", "most"])


def total_risk_of(each):
    """Fraction in groups of one value, plus the mean gain of the others if it is not negative."""
    if each.empty:
        return np.nan
    disclosed, others = each[each["share"] == 1], each[each["share"] < 1]
    gains = (others["belief"] - others["share"]) / (1 - others["share"])
    return (len(disclosed) + len(others) * max(gains.mean() if len(others) else 0, 0)) / len(each)


class TestRisk:
    def test_a_row_per_defense_attack_and_release(self, comparison):
        risk = comparison.risk()
        assert list(risk.columns) == [
            "defense", "attack", "time", "gain", "published", "suppressed", "certain", "total_risk", "confidence", "success",
            "log_score", "sure", "expected", "right",
        ]  # fmt: skip
        keys = [(d, a, t) for d in DEFENSES for a in ATTACKS for t in (1, 2, 3)]
        assert list(risk[["defense", "attack", "time"]].itertuples(index=False, name=None)) == keys

    @pytest.mark.parametrize("attack", list(ATTACKS))
    @pytest.mark.parametrize("defense", list(DEFENSES))
    def test_each_release(self, comparison, defense, attack):
        risk = comparison.risk().set_index(["defense", "attack", "time"]).sort_index().loc[(defense, attack)]
        each = outcomes(comparison, defense, attack)
        for time, view in zip((1, 2, 3), HISTORY, strict=True):
            some = each[each["time"] == time]
            used = some[some["share"] < 1]
            row = risk.loc[time]
            assert row["gain"] == pytest.approx(
                ((used["belief"] - used["share"]) / (1 - used["share"])).mean(), nan_ok=True
            )
            assert row["confidence"] == pytest.approx(some["belief"].mean(), nan_ok=True)
            assert row["success"] == pytest.approx(some["hit"].mean(), nan_ok=True)
            assert row["log_score"] == pytest.approx(np.log2(np.maximum(some["belief"], 2.0**-20)).mean(), nan_ok=True)
            assert row["sure"] == (some["most"] >= 0.9).sum()
            assert row["expected"] == pytest.approx(some["most"][some["most"] >= 0.9].sum())
            assert row["total_risk"] == pytest.approx(total_risk_of(some), nan_ok=True)
            assert row["right"] == ((some["most"] >= 0.9) * some["hit"]).sum()
            assert row["published"] == len(some)
            assert row["certain"] == len(some) - len(used)
            assert row["suppressed"] == len(view) - len(some)


class TestCost:
    def test_a_row_per_defense_and_release(self, comparison):
        cost = comparison.cost()
        assert list(cost.columns) == [
            "defense", "time", "records", "suppressed", "suppressed_share", "distorted", "counterfeits", "groups",
            "gcp_total", "gcp", "gcp_per_group", "penalized", "linkage", "discernibility", "group_size",
        ]  # fmt: skip
        assert list(cost[["defense", "time"]].itertuples(index=False, name=None)) == [
            (d, t) for d in DEFENSES for t in (1, 2, 3)
        ]

    def test_by_hand(self, comparison):
        """Ages are 20 for A to 25 for F in a domain of 99 years: neighbours cost 1/99 a record, A and C 2/99."""
        cost = comparison.cost().set_index(["defense", "time"])
        pairs = cost.loc["pairs"]
        assert pairs["groups"].tolist() == [3, 2, 2]
        assert pairs["suppressed"].tolist() == [0, 0, 1]
        assert pairs["distorted"].tolist() == [0, 0, 1]  # D's b is published as a; E's c would be, but E is not
        assert pairs["gcp_total"].tolist() == pytest.approx([6 / 99, 4 / 99, 4 * 2 / 99])
        assert pairs["gcp"].tolist() == pytest.approx([1 / 99, 1 / 99, 2 / 99])
        some = cost.loc["sometimes"]
        assert some["gcp_total"].tolist() == pytest.approx([4 * 4 / 99, 0, 0])  # A to E, and B alone
        assert some["gcp"].tolist() == pytest.approx([16 / 99 / 5, np.nan, np.nan], nan_ok=True)
        assert some["gcp_per_group"].tolist() == pytest.approx([4 / 99 / 2, np.nan, np.nan], nan_ok=True)
        assert cost.loc["never"]["suppressed_share"].tolist() == [1, 1, 1]
        assert pairs["discernibility"].tolist() == [3 * 4, 2 * 4, 2 * 4 + 5]
        assert pairs["group_size"].tolist() == [2, 2, 2]
        assert some["discernibility"].tolist() == [4**2 + 1 + 6, 4 * 4, 5 * 5]
        assert some["group_size"].tolist() == pytest.approx([5 / 2, np.nan, np.nan], nan_ok=True)

    def test_penalized_is_one_for_each_suppressed_record(self, comparison):
        cost = comparison.cost()
        published = cost["records"] - cost["suppressed"]
        expected = (cost["gcp"].fillna(0) * published + cost["suppressed"]) / cost["records"]
        assert cost["penalized"].tolist() == pytest.approx(expected.tolist())
        assert (cost.loc[cost["defense"] == "never", "penalized"] == 1).all()

    def test_linkage_by_hand(self, comparison):
        """Neighbours are linked, half each. In the third view A, C and B, D stand at 21 and 22: C (22) and B (21) are nearer
        to the other. A, C, D and E stand at 22.5, and B (21) alone."""
        cost = comparison.cost().set_index(["defense", "time"])["linkage"]
        assert cost["pairs"].tolist() == pytest.approx([3 / 6, 2 / 4, (1 / 2 + 1 / 2) / 5])
        assert cost["sometimes"].tolist() == pytest.approx([(3 / 4 + 1) / 6, 0, 0])

    def test_queries_where_there_is_a_workload(self, comparison):
        workload = Workload.draw(HISTORY, rng=np.random.default_rng(0), queries=20, selectivity=0.5)
        cost = comparison.cost(workload)
        assert list(cost.columns) == [*comparison.cost().columns, "query_mean", "query_median"]
        for defense in DEFENSES:
            alone = query_error(comparison.releases[defense], workload)
            mine = cost[cost["defense"] == defense]
            assert mine["query_mean"].tolist() == alone["query_mean"].tolist()
            assert mine["query_median"].tolist() == alone["query_median"].tolist()
        summary = comparison.summary(workload)
        assert list(summary.columns) == [*comparison.summary().columns, "query"]
        never = summary.set_index("defense").loc["never"]
        assert never["query"].tolist() == [1, 1]  # nothing published: every estimate is 0
        mean_of_medians = cost.groupby("defense")["query_median"].mean()
        assert (mean_of_medians != cost.groupby("defense")["query_mean"].mean()).any()
        for row in summary.to_dict("records"):
            assert row["query"] == pytest.approx(mean_of_medians[row["defense"]])


class TestSummary:
    def test_a_row_per_defense_and_attack(self, comparison):
        summary = comparison.summary()
        assert list(summary.columns) == [
            "defense", "attack", "gain", "certain", "total_risk", "last_gain", "confidence", "success", "log_score", "sure",
            "expected", "right", "suppressed_share", "group_size", "gcp", "penalized", "linkage", "discernibility_per_record",
        ]  # fmt: skip
        assert list(summary[["defense", "attack"]].itertuples(index=False, name=None)) == [
            (d, a) for d in DEFENSES for a in ATTACKS
        ]

    @pytest.mark.parametrize("attack", list(ATTACKS))
    @pytest.mark.parametrize("defense", list(DEFENSES))
    def test_means_are_over_records_whatever_their_release(self, comparison, defense, attack):
        row = comparison.summary().set_index(["defense", "attack"]).loc[(defense, attack)]
        each = outcomes(comparison, defense, attack)
        used = each[each["share"] < 1]
        gains = (used["belief"] - used["share"]) / (1 - used["share"])
        assert row["gain"] == pytest.approx(gains.mean(), nan_ok=True)
        last = gains[used["time"] == used["time"].max()]
        assert row["last_gain"] == pytest.approx(last.mean(), nan_ok=True)
        assert row["confidence"] == pytest.approx(each["belief"].mean(), nan_ok=True)
        assert row["success"] == pytest.approx(each["hit"].mean(), nan_ok=True)
        assert row["certain"] == len(each) - len(used)
        assert row["total_risk"] == pytest.approx(total_risk_of(each), nan_ok=True)
        assert row["log_score"] == pytest.approx(np.log2(np.maximum(each["belief"], 2.0**-20)).mean(), nan_ok=True)
        assert row["sure"] == (each["most"] >= 0.9).sum()
        assert row["expected"] == pytest.approx(each["most"][each["most"] >= 0.9].sum())
        assert row["right"] == ((each["most"] >= 0.9) * each["hit"]).sum()
        assert row["suppressed_share"] == pytest.approx(1 - len(each) / 15)

    def test_sizes_and_penalties_by_hand(self, comparison):
        summary = comparison.summary().drop_duplicates("defense").set_index("defense")
        assert summary["group_size"].tolist() == pytest.approx([14 / 7, 5 / 2, 0, 4 / 2])
        expected = [(6 * 1 + 4 * 1 + 4 * 2) / 99 / 14, 16 / 99 / 5, np.nan, 1 / 99]
        assert summary["gcp"].tolist() == pytest.approx(expected, nan_ok=True)
        assert summary["suppressed_share"].tolist() == pytest.approx([1 / 15, 10 / 15, 1, 11 / 15])
        expected = [(12 + 8 + 13) / 15, (23 + 16 + 25) / 15, (36 + 16 + 25) / 15, (4 + 24 + 16 + 4 + 15) / 15]
        assert summary["discernibility_per_record"].tolist() == pytest.approx(expected)
        assert summary["linkage"].tolist() == pytest.approx([(3 + 2 + 1) / 15, (3 / 4 + 1) / 15, 0, (1 + 1) / 15])

    def test_where_nothing_is_published_there_is_no_number(self, comparison):
        never = comparison.summary().set_index("defense").loc["never"]
        assert (
            never[["gain", "total_risk", "last_gain", "confidence", "success", "log_score", "gcp"]]
            .isna()
            .all(axis=None)
        )
        assert never[["certain", "sure", "expected", "right"]].eq(0).all(axis=None)

    def test_the_last_gain_is_that_of_the_last_release_that_has_one(self, comparison):
        risk, summary = comparison.risk(), comparison.summary()
        for defense in ("sometimes", "telling"):
            first = risk[(risk["defense"] == defense) & (risk["time"] == 1)]["gain"].tolist()
            assert not np.isnan(first).any()
            assert summary[summary["defense"] == defense]["last_gain"].tolist() == first


class TestCompare:
    def test_it_publishes_as_publish_does_and_attacks_each(self):
        defender = Adversary(PRIOR, CHAIN, estimator=Omega())
        defenses = {"halved": Mondrian(KAnonymity(2)), "alike": JSReduce(2, 1.0, 0.6, patience=4)}
        found = compare(HISTORY, defenses, ATTACKS, defender, rng=np.random.default_rng(1))
        rng = np.random.default_rng(1)
        assert found.history is HISTORY
        for name, defense in defenses.items():
            releases = publish(HISTORY, defense, defender, rng=rng)
            for one, other in zip(found.releases[name], releases, strict=True):
                np.testing.assert_array_equal(one.group, other.group)
            for attack, run in ATTACKS.items():
                for one, other in zip(found.beliefs[name, attack], run(releases), strict=True):
                    np.testing.assert_array_equal(one.posterior.probabilities, other.posterior.probabilities)

    def test_the_defender_s_knowledge_reaches_the_defense(self):
        seen = []

        def spy(view, prior, past):
            seen.append(prior[np.argsort(view.people.respondents)])
            return Grouping([0] * len(view))

        compare(HISTORY, {"spy": spy}, {}, Adversary(PRIOR, CHAIN, estimator=Omega()))
        np.testing.assert_allclose(seen[0], PRIOR.frame.to_numpy())
        compare(HISTORY, {"spy": spy}, {})
        np.testing.assert_allclose(seen[3], 1 / 3)

    def test_all_may_be_published_bucketized(self):
        defenses = {"halved": Mondrian(KAnonymity(2))}
        found = [compare(HISTORY, defenses, {}, bucketized=how) for how in (None, True)]
        assert [[release.bucketized for release in each.releases["halved"]] for each in found] == [
            [False] * 3,
            [True] * 3,
        ]
        assert (found[1].cost()["gcp_total"] == 0).all()

    def test_attacks_see_the_releases_alone(self):
        """An attack is handed what was published, in order, and once per defense."""
        handed = []

        def watch(releases):
            handed.append(tuple(releases))
            return ATTACKS["without"](releases)

        found = compare(HISTORY, DEFENSES, {"watch": watch})
        assert handed == [found.releases[name] for name in DEFENSES]
        assert all(isinstance(release, Release) for releases in handed for release in releases)


def test_progress_sees_every_defense():
    seen = []

    def watch(names):
        for name in names:
            seen.append(name)
            yield name

    assert list(compare(HISTORY, DEFENSES, ATTACKS, progress=watch).releases) == seen == list(DEFENSES)


class TestKept:
    """Comparisons that are kept in a folder."""

    def kept(self, folder, history=HISTORY, defenses=DEFENSES, attacks=ATTACKS, **options):
        return compare(history, defenses, attacks, keep=folder, **{"rng": 1, **options})

    def test_the_measures_are_those_without_a_folder(self, tmp_path):
        defenses = {"pairs": DEFENSES["pairs"], "drawn": Anatomy(1, rng=3)}
        attacks = ATTACKS | SCENARIOS_THAT_DRAW
        found, one = (compare(HISTORY, defenses, attacks, rng=1, keep=keep) for keep in (tmp_path, None))
        again = self.kept(tmp_path, defenses=defenses, attacks=attacks)
        for kept in (found, again):
            for name in ("risk", "cost", "summary", "worst_case"):
                pd.testing.assert_frame_equal(getattr(kept, name)(), getattr(one, name)(), check_dtype=False)
        assert kept.leaving_out == one.leaving_out
        assert not kept.releases

    def test_a_killed_comparison_goes_on(self, tmp_path):
        def killed(pairs):
            yield from pairs[:3]
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.kept(tmp_path, progress=killed)
        left = []
        whole = self.kept(tmp_path, progress=lambda pairs: left.extend(pairs) or pairs)
        assert 0 < len(left) < len(DEFENSES) * len(ATTACKS)
        pd.testing.assert_frame_equal(
            whole.risk(), compare(HISTORY, DEFENSES, ATTACKS, rng=1).risk(), check_dtype=False
        )

    def test_another_setting_is_measured(self, tmp_path):
        one, other = (
            self.kept(tmp_path, defenses={"M": Mondrian(KAnonymity(k))}, attacks={"s": ATTACKS["without"]})
            for k in (2, 4)
        )
        assert one.cost()["groups"].sum() > other.cost()["groups"].sum()

    def test_wrong_uses_are_refused(self, tmp_path):
        found = self.kept(tmp_path)
        for wrong in (lambda: found.risk(sure=0.8), lambda: found.summary(width="table")):
            with pytest.raises(ValueError, match="default settings alone"):
                wrong()
        with pytest.raises(ValueError, match="needs attacks and a seed"):
            self.kept(tmp_path, rng=None)
        with pytest.raises(ValueError, match="of the experiment compare of other data"):
            self.kept(tmp_path, history=history_of(("ABCD", "abbc")))
        with pytest.raises(ValueError, match="can be pickled"):
            self.kept(tmp_path, attacks={"own": lambda releases: ATTACKS["without"](releases)})
