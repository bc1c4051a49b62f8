"""`foreknow attack --attack foreground`: breaches, global distributions and attribute sets."""

import numpy as np
import pytest
from commands import ROLES, read, records, run, write
from printed_tables import tables

pytestmark = pytest.mark.usefixtures("wide")


class TestForeground:
    """The attack that learns from the groups alone."""

    def attacked(self, folder, *more, table=None):
        """Output of the attack on records in groups of four."""
        table = records() if table is None else table
        table = table.assign(group=table.groupby("week").cumcount() // 4)
        options = ["--attack", "foreground", "--out", folder / "out", *more]
        result = run("attack", write(table, folder / "r.csv"), *ROLES, *options)
        return table, read(folder / "out" / "beliefs.csv"), result

    def test_breaches_are_those_of_the_beliefs(self, tmp_path):
        table, beliefs, result = self.attacked(tmp_path, "--sensitive-set", "a", "--support", 5, "-r", 3)
        joined = beliefs.merge(table, on=["week", "id"])
        rows = tables(result.stdout)["Breaches, r = 3"]
        assert [row["time"] for row in rows] == ["1", "2", "3"]
        for row in rows:
            week = joined[joined["week"] == int(row["time"])]
            has, breach = week["result"] == "a", week["a"] > 1 / 3 + 1e-9
            assert int(row["holders"]) == has.sum()
            assert float(row["breached"]) == pytest.approx(breach[has].mean(), abs=6e-4)
            assert float(row["flagged"]) == pytest.approx(breach[~has].mean(), abs=6e-4)
            assert float(row["precision"]) == pytest.approx(has[breach].mean(), abs=6e-4)

    def test_what_was_learned(self, tmp_path):
        """With --support 5, towns are learned; ages have less support. No corpus is read."""
        table, _, result = self.attacked(tmp_path, "--sensitive-set", "a", "--sensitive-set", "b", "--support", 5)
        rows = tables(result.stdout)["Global distributions"]
        assert {row["attributes"] for row in rows} == {"town"}
        for row in rows:
            towns = table.loc[table["week"] == int(row["time"]), "town"].value_counts()
            assert int(row["signatures"]) == (towns >= 5).sum()
            assert 0 <= float(row["lowest"]) <= float(row["highest"]) <= 1
        assert "--corpus" not in result.stderr

    @pytest.mark.slow
    def test_attribute_sets(self, tmp_path):
        """Columns of an attribute set are separated by commas; a column name with a comma is one column."""
        _, _, result = self.attacked(
            tmp_path, "--attribute-set", "age, town", "--attribute-set", "town", "--support", 1
        )
        rows = tables(result.stdout)["Global distributions"]
        assert {row["attributes"] for row in rows} == {"town", "age, town"}
        table = records().rename(columns={"town": "town, land"}).assign(group=0)
        roles = ["--qi", "age", "--qi", "town, land", "--sensitive", "result", "--attribute-set", "town, land"]
        source = write(table, tmp_path / "comma.csv")
        result = run("attack", source, *roles, "--attack", "foreground", "--support", 5)
        rows = tables(result.stdout)["Global distributions"]
        assert {row["attributes"] for row in rows} == {"town, land"}

    def test_too_few_people_to_learn_from(self, tmp_path):
        """The default support is 3,993; below it the beliefs are the group shares, with a notice at each release."""
        table, beliefs, result = self.attacked(tmp_path, "--sensitive-set", "a")
        assert "Global distributions" not in result.stdout
        for week in (1, 2, 3):
            assert f"at {week}: no signature has a support of 3,993 records" in result.stderr
        joined = beliefs.merge(table, on=["week", "id"])
        for _, members in joined.groupby(["week", "group_x"]):
            np.testing.assert_allclose(members["a"], (members["result"] == "a").mean())

    def test_without_a_sensitive_set_every_value_is_weighed(self, tmp_path):
        _, beliefs, result = self.attacked(tmp_path, "--support", 5, "--estimator", "auto")
        assert "Breaches" not in result.stdout
        assert "lowest" not in tables(result.stdout)["Global distributions"][0]
        np.testing.assert_allclose(beliefs[["a", "b", "c"]].sum(axis=1), 1)

    def test_values_that_are_numbers(self, tmp_path):
        table = records().assign(result=lambda rows: rows["result"].map({"a": 1, "b": 2, "c": 30}))
        _, _, result = self.attacked(tmp_path, "--sensitive-set", 30, table=table)
        rows = tables(result.stdout)["Breaches, r = 2"]
        assert [int(row["holders"]) for row in rows] == [
            (table.loc[table["week"] == week, "result"] == 30).sum() for week in (1, 2, 3)
        ]
