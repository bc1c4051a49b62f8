"""The beliefs that `foreknow attack` computes and writes, and the risk that it prints."""

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, read, records, run, write
from printed_tables import printed, tables

pytestmark = pytest.mark.usefixtures("wide")


class TestAttack:
    def attacked(self, published, *more):
        source, out, _ = published
        groups = out / "private" / f"groups{source.suffix}"
        result = run("attack", source, *ROLES, "--groups", groups, "--out", out / "beliefs", "--overwrite", *more)
        beliefs = read(out / "beliefs" / f"beliefs{source.suffix}")
        return beliefs, read(groups), read(source), result

    def test_beliefs_of_everybody_at_every_release(self, published):
        beliefs, groups, original, _ = self.attacked(published)
        assert list(beliefs.columns) == ["week", "id", "group", "a", "b", "c"]
        assert beliefs["week"].is_monotonic_increasing
        np.testing.assert_allclose(beliefs[["a", "b", "c"]].sum(axis=1), 1)
        joined = beliefs.merge(groups, on=["week", "id"], suffixes=("", "_told"))
        assert len(joined) == len(original) == len(beliefs)
        assert (joined["group"] == joined["group_told"]).all()  # the numbers are those of the files

    def test_an_exact_posterior_gives_each_group_its_values(self, published):
        beliefs, _, original, _ = self.attacked(published, "--attack", "sequential")
        joined = beliefs.merge(original, on=["week", "id"])
        for key, members in joined[joined["group"] >= 0].groupby(["week", "group"]):
            shown = [(members["result"] == value).sum() for value in "abc"]
            np.testing.assert_allclose(members[["a", "b", "c"]].sum(), shown, err_msg=str(key))

    def test_what_it_prints_is_what_the_beliefs_say(self, published):
        beliefs, _, original, result = self.attacked(published)
        joined = beliefs.merge(original, on=["week", "id"])
        sure = tables(result.stdout)["Sure beliefs, expected and right"]
        rows = [row | other for row, other in zip(printed(result.stdout), sure, strict=True)]
        assert [int(row["time"]) for row in rows] == [1, 2, 3]
        for row in rows:
            everybody = joined[joined["week"] == int(row["time"])]
            week = everybody[everybody["group"] >= 0]
            truth = np.array([member[member["result"]] for _, member in week.iterrows()])
            groups = week.groupby("group")["result"]
            share = np.array([(groups.get_group(m["group"]) == m["result"]).mean() for _, m in week.iterrows()])
            most = week[["a", "b", "c"]].max(axis=1).to_numpy()
            gain = ((truth - share)[share < 1] / (1 - share)[share < 1]).mean()
            assert float(row["gain"]) == pytest.approx(gain, abs=6e-4)
            assert float(row["confidence"]) == pytest.approx(truth.mean(), abs=6e-4)
            disclosed = (share == 1).mean()
            assert float(row["total risk"]) == pytest.approx(disclosed + (1 - disclosed) * max(gain, 0), abs=6e-4)
            assert int(row["sure"]) == (most >= 0.9).sum()
            assert float(row["expected"]) == pytest.approx(most[most >= 0.9].sum(), abs=6e-4)
            assert int(row["right"]) == (truth[most >= 0.9] >= 0.9).sum()
            assert float(row["log score"]) == pytest.approx(np.log2(np.maximum(truth, 2.0**-20)).mean(), abs=6e-4)
            assert int(row["suppressed"]) == len(everybody) - len(week)
            assert int(row["records"]) == len(week)
            assert int(row["certain"]) == (share == 1).sum()

    def test_the_sequential_attack_stands_beside_the_joint_one(self, published):
        """The totals of each are means over its releases; the sequential ones are those of --attack sequential."""
        *_, joint = self.attacked(published)
        *_, sequential = self.attacked(published, "--attack", "sequential")
        first, second = tables(joint.stdout)["Risk over all releases"]
        assert (first["attack"], second["attack"]) == ("joint, in hindsight", "sequential")
        assert "Risk over all releases" not in tables(sequential.stdout)
        for row, result in ((first, joint), (second, sequential)):
            sure = tables(result.stdout)["Sure beliefs, expected and right"]
            assert int(row["sure"]) == sum(int(release["sure"]) for release in sure)
            risk = printed(result.stdout)
            records = np.array([int(release["records"]) for release in risk])
            success = np.array([float(release["success"]) for release in risk])
            assert float(row["success"]) == pytest.approx(np.average(success, weights=records), abs=1e-3)

    def test_forward_beliefs_about_the_last_release_are_those_in_hindsight(self, published):
        """Within twice the tolerance of the solver, and not so for the first release."""
        hindsight, *_ = self.attacked(published)
        forward, *_, told = self.attacked(published, "--forward")
        assert "joint attack, group-graph solver, forward" in told.stdout
        assert tables(told.stdout)["Risk over all releases"][0]["attack"] == "joint, forward"
        change = (hindsight[["a", "b", "c"]] - forward[["a", "b", "c"]]).abs().max(axis=1).groupby(forward["week"])
        assert change.max()[1] > 0.1
        assert change.mean()[3] < 0.02

    @pytest.mark.parametrize("solver", ["max-entropy", "group-graph", "auto", "path-sampler"])
    def test_a_group_has_its_values_within_the_tolerance(self, published, solver):
        beliefs, _, original, result = self.attacked(published, "--solver", solver)
        assert f"joint attack, {solver} solver, in hindsight" in result.stdout
        joined = beliefs.merge(original, on=["week", "id"])
        for _, members in joined[joined["group"] >= 0].groupby(["week", "group"]):
            shown = [(members["result"] == value).sum() for value in "abc"]
            np.testing.assert_allclose(members[["a", "b", "c"]].sum(), shown, atol=0.02 * len(members) + 1e-9)

    def test_it_says_where_evidence_is_counted_twice(self, tmp_path):
        """Groups that never change, and groups drawn again at each release."""
        table = records(present=30)
        same = table.assign(group=table["id"].str[1:].astype(int) // 3)
        anew = table.assign(group=table.groupby("week").cumcount() // 3)
        for name, some in (("same", same), ("anew", anew)):
            told = run("attack", write(some, tmp_path / f"{name}.csv"), *ROLES).stderr
            assert ("counts the evidence of a release again" in told) == (name == "same")
            snapshot = run("attack", tmp_path / f"{name}.csv", *ROLES, "--attack", "snapshot").stderr
            assert "counts the evidence of a release again" not in snapshot

    @pytest.mark.parametrize("knowledge", ["learned", "records"])
    def test_the_rule_of_m_invariance_is_in_the_law(self, tmp_path, knowledge):
        """p00 and p02 change their groups of the sets ab and ac: with the value a at both releases they would have kept the set."""
        rows = [(f"p{i:02d}", 1, 30, "Rome", "abac"[i % 4], i // 2) for i in range(12)]
        rows += [(who, 2, age, town, {"p00": "c", "p03": "a"}.get(who, v), g) for who, _, age, town, v, g in rows]
        table = pd.DataFrame(rows, columns=["id", "week", "age", "town", "result", "group"])
        changed = table["week"].eq(2) & table["id"].isin(["p00", "p02"])
        table.loc[changed, "group"] = table.loc[changed, "group"].to_numpy()[::-1]
        source, out = write(table, tmp_path / "records.csv"), tmp_path / "out"
        assert "does not read that set" not in run("attack", source, *ROLES, "--knowledge", knowledge).stderr
        told = run("attack", source, *ROLES, "--knowledge", knowledge, "--signatures", "--out", out).stderr
        assert "the rule of m-invariance is in the law" in told
        beliefs = read(out / "beliefs.csv").set_index(["week", "id"])
        for who in ("p00", "p02"):
            assert beliefs.loc[(1, who), "a"] + beliefs.loc[(2, who), "a"] < 1 + 1e-6

    @pytest.mark.parametrize("knowledge", ["learned", "records"])
    def test_who_leaves_is_read_with_presence(self, tmp_path, knowledge):
        """All with the value c leave; in each group of the first week one of three does."""
        first = pd.DataFrame({"id": [f"p{i:02d}" for i in range(36)], "week": 1, "result": list("abc") * 12})
        later = first[first["result"] != "c"].assign(week=2)
        table = pd.concat([first.assign(group=np.arange(36) // 3), later.assign(group=12 + np.arange(24) // 2)])
        source, out = write(table.assign(age=30, town="Rome"), tmp_path / "records.csv"), tmp_path / "out"
        run("attack", source, *ROLES, "--knowledge", knowledge, "--presence", "--out", out)
        beliefs = read(out / "beliefs.csv").set_index(["week", "id"])["c"].loc[1]
        assert beliefs.loc[[f"p{i:02d}" for i in range(2, 36, 3)]].min() > 0.8
        assert beliefs.loc[["p00", "p01"]].max() < 0.2

    def test_whoever_only_counts_believes_the_shares(self, published):
        beliefs, _, original, _ = self.attacked(published, "--attack", "snapshot", "--estimator", "random-worlds")
        joined = beliefs.merge(original, on=["week", "id"])
        for _, members in joined[joined["group"] >= 0].groupby(["week", "group"]):
            for value in "abc":
                np.testing.assert_allclose(members[value], (members["result"] == value).mean())

    def test_the_records_own_column_of_groups(self, published, tmp_path):
        """Groups may have any names; -1 is suppressed."""
        beliefs, groups, original, _ = self.attacked(published)
        named = groups["group"].map(lambda group: "-1" if group < 0 else f"group {group:03d}")
        own = original.merge(groups.assign(group=named), on=["id", "week"])
        source = published[0]
        run("attack", write(own, tmp_path / f"own{source.suffix}"), *ROLES, "--out", tmp_path / "own")
        again = read(tmp_path / "own" / f"beliefs{source.suffix}")
        pd.testing.assert_frame_equal(again, beliefs)

    def test_a_corpus_of_others(self, published, tmp_path):
        """The adversary learns from the corpus, in which all values are c."""
        teaching = write(records(seed=5).assign(result="c"), tmp_path / f"corpus{published[0].suffix}")
        beliefs, _, _, result = self.attacked(published, "--corpus", teaching, "--pseudo-count", 1e-3)
        assert "--corpus" not in result.stderr
        learned, *_ = self.attacked(published)
        assert not np.allclose(beliefs[["a", "b", "c"]], learned[["a", "b", "c"]])

    def test_without_a_corpus_the_adversary_learns_from_the_releases(self, published):
        learned, _, _, told = self.attacked(published)
        assert "learned prior and transitions from the releases alone" in told.stderr
        named, *_ = self.attacked(published, "--knowledge", "learned")
        pd.testing.assert_frame_equal(named, learned)
        taught, _, _, told = self.attacked(published, "--knowledge", "records")
        assert "learns from the published records" in told.stderr
        assert "releases alone" not in told.stderr
        assert not np.allclose(taught[["a", "b", "c"]], learned[["a", "b", "c"]])

    def test_learned_knowledge_reads_no_true_value(self, tmp_path):
        """Exchanging the values of members within groups changes nothing, and changes what is learned from the records."""
        table = records(present=12).assign(group=lambda rows: rows.groupby("week").cumcount() // 3)
        anew = table.sort_values(["week", "id"]).assign(
            group=lambda rows: (rows.groupby("week").cumcount() * 7 + rows["week"]) % 12 // 3
        )
        moved = anew.assign(
            result=anew.groupby(["week", "group"])["result"].transform(lambda values: np.roll(values, 1))
        )
        for knowledge, same in (("learned", True), ("records", False)):
            found = []
            for name, some in (("true", anew), ("moved", moved)):
                source, out = write(some, tmp_path / f"{name}.csv"), tmp_path / f"{name}-{knowledge}"
                run("attack", source, *ROLES, "--knowledge", knowledge, "--out", out)
                found.append(read(out / "beliefs.csv")[["a", "b", "c"]])
            assert np.array_equal(*found) == same

    def test_without_a_folder_nothing_is_written(self, published, tmp_path):
        source, out, _ = published
        before = sorted(tmp_path.rglob("*"))
        run("attack", source, *ROLES, "--groups", out / "private" / f"groups{source.suffix}", "--estimator", "omega")
        assert sorted(tmp_path.rglob("*")) == before

    def test_distorted_values_are_what_the_adversary_reads(self, tmp_path, kind):
        """In groups of four, the first record is published with the second's value, and with its own if the cell is empty.

        The adversary knows the number of distorted records: the beliefs of a week sum to the published values up to that number.
        """
        table = records()
        place = table.groupby("week").cumcount()
        told = table[["id", "week"]].assign(group=place // 4)
        lent = table["result"].shift(-1)
        told["published"] = lent.where(place % 4 == 0, table["result"].where(place % 4 == 1))
        shown = told["published"].fillna(table["result"])
        assert (shown != table["result"]).sum() > 5
        source, groups = write(table, tmp_path / f"r.{kind}"), write(told, tmp_path / f"g.{kind}")
        told_so = run("attack", source, *ROLES, "--groups", groups).stderr
        assert "3 of 3 releases have distorted values" in told_so
        run("attack", source, *ROLES, "--groups", groups, "--out", tmp_path, "--attack", "sequential")
        joined = read(tmp_path / f"beliefs.{kind}").merge(told.assign(shown=shown), on=["week", "id", "group"])
        assert len(joined) == 72
        for _, week in joined.merge(table, on=["week", "id"]).groupby("week"):
            moved = (
                np.abs(week[["a", "b", "c"]].sum().to_numpy() - [(week["shown"] == v).sum() for v in "abc"]).sum() / 2
            )
            assert 0.1 < moved < (week["shown"] != week["result"]).sum() + 0.5

    def test_one_release_has_no_chain_to_mine(self, tmp_path):
        source = write(records(weeks=(1,)).assign(group=lambda rows: np.arange(len(rows)) // 4), tmp_path / "r.csv")
        result = run("attack", source, *ROLES)
        assert len(printed(result.stdout)) == 1
        assert "too little data to learn transitions from" in result.stderr
        assert "learns from the published records" in result.stderr
        learned = run("attack", source, *ROLES, "--knowledge", "learned")
        assert "An adversary learned the prior from the releases alone" in learned.stderr
        assert "the prior is learned, and no transitions" in learned.stderr
