"""The command reads and writes files, sets the exit status, and reports each error in one sentence."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from commands import ROLES, TOWNS, read, records, run, write
from rich.console import Console
from typer.testing import CliRunner

from foreknow.attacks import (
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
)
from foreknow.defenses import DEFENSES, ForegroundSafe
from foreknow.evaluation.cli import command_line, terminal
from foreknow.evaluation.cli.columns import Columns
from foreknow.evaluation.cli.release_files import read_releases
from foreknow.models import Categorical, Numeric, Release, Schema, View
from foreknow.models.tables.table_files import read_table

COLUMNS = Columns("id", "week", "result", ("age", "town"))
SCHEMA = Schema({"age": Numeric(), "town": Categorical(tuple(TOWNS))}, "result", tuple("abc"))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Consoles wide enough for tables without wrapped lines."""
    monkeypatch.setattr(terminal, "console", Console(width=250))
    monkeypatch.setattr(terminal, "error_console", Console(width=250, stderr=True))


@pytest.fixture(params=["csv", "parquet"])
def kind(request):
    return request.param


def printed(text):
    """The rows of the last table in a text, as dicts of text."""
    lines = text.splitlines()
    rule = max(i for i, line in enumerate(lines) if line.strip() and set(line.strip()) == {"─"})
    cells = [re.split(r"\s{2,}", line.strip()) for line in [lines[rule - 1], *lines[rule + 1 :]]]
    rows = [row for row in cells[1:] if len(row) >= len(cells[0]) - 1]
    return [dict(zip_longest(cells[0], row, fillvalue="")) for row in rows]


def tables(text):
    """All tables of a text by their titles, each a list of dicts of text."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if line.strip() and set(line.strip()) == {"─"}]
    ends = [next(i for i in range(rule, len(lines)) if not lines[i].strip()) for rule in rules]
    return {
        lines[rule - 3].strip(): printed("\n".join(lines[rule - 1 : end]))
        for rule, end in zip(rules, ends, strict=True)
    }


@pytest.fixture
def published(tmp_path, kind):
    """Records, and the output of ``publish`` with default settings."""
    source = write(records(), tmp_path / f"records.{kind}")
    result = run("publish", source, *ROLES, "--out", tmp_path / "out", "-j", 1.2)
    return Path(source), tmp_path / "out", result


class TestPublish:
    def test_the_two_files(self, published, kind):
        _, out, result = published
        assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == {
            f"public/published.{kind}", "public/release.json", f"private/groups.{kind}", "private/key.json",
        }  # fmt: skip
        assert str(out / "public" / f"published.{kind}") in result.stdout
        assert f"The key, for you alone: {out / 'private' / f'groups.{kind}'}." in result.stdout

    def test_the_public_reads_no_respondent(self, published, kind):
        _, out, _ = published
        public = read(out / "public" / f"published.{kind}")
        assert list(public.columns) == ["week", "group", "age", "town", "result"]
        assert not public.astype(str).apply(lambda column: column.str.fullmatch(r"p\d\d")).any(axis=None)
        assert b"p07" not in (out / "public" / f"published.{kind}").read_bytes()

    def test_groups_name_every_record_once(self, published, kind):
        source, out, _ = published
        private, original = read(out / "private" / f"groups.{kind}"), read(source)
        assert list(private.columns) == ["id", "week", "group"]
        keys = ["id", "week"]
        assert sorted(private[keys].itertuples(index=False)) == sorted(original[keys].itertuples(index=False))

    def test_each_group_shows_what_its_members_have(self, published, kind):
        source, out, _ = published
        joined = read(source).merge(read(out / "private" / f"groups.{kind}"), on=["id", "week"])
        joined = joined[joined["group"] >= 0]
        public = read(out / "public" / f"published.{kind}")
        shown = dict(list(public.groupby(["week", "group"])))
        assert set(shown) == set(joined.groupby(["week", "group"]).groups)
        for key, members in joined.groupby(["week", "group"]):
            rows = shown[key]
            assert Counter(rows["result"]) == Counter(members["result"])
            assert len(members) >= 3
            ends = (members["age"].min(), members["age"].max())
            assert set(rows["age"]) == {f"[{ends[0]},{ends[1]}]" if ends[0] < ends[1] else str(ends[0])}
            assert set(rows["town"]) == ({"*"} if len(set(members["town"])) > 1 else set(members["town"]))

    def test_what_it_prints_is_what_it_wrote(self, published, kind):
        source, out, result = published
        private = read(out / "private" / f"groups.{kind}")
        for row in printed(result.stdout):
            week = private[private["week"] == int(row["time"])]
            assert int(row["records"]) == len(week) == (read(source)["week"] == int(row["time"])).sum()
            assert int(row["suppressed"]) == (week["group"] < 0).sum()
            assert int(row["groups"]) == week["group"][week["group"] >= 0].nunique()
            assert float(row["share"]) == pytest.approx((week["group"] < 0).mean(), abs=6e-4)

    def test_the_kind_of_file_does_not_matter(self, tmp_path):
        for kind in ("csv", "parquet"):
            source = write(records(), tmp_path / f"r.{kind}")
            repeated = ["--seed", 1]
            run("publish", source, *ROLES, "--out", tmp_path / kind, "--defense", "mondrian", *repeated)
        for name in ("public/published", "private/groups"):
            csv, parquet = read(tmp_path / "csv" / f"{name}.csv"), read(tmp_path / "parquet" / f"{name}.parquet")
            pd.testing.assert_frame_equal(csv.astype(str), parquet.astype(str))

    def test_mondrian_suppresses_nobody(self, tmp_path, kind):
        source = write(records(), tmp_path / f"r.{kind}")
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian", "-k", 4, "-l", 2)
        public = read(tmp_path / "public" / f"published.{kind}")
        assert len(public) == 72
        groups = public.groupby(["week", "group"])["result"]
        assert groups.size().min() >= 4
        assert groups.nunique().min() >= 2

    @pytest.mark.parametrize("leftovers", ["relax", "counterfeit"])
    def test_leftovers(self, tmp_path, leftovers, kind):
        source = write(records(), tmp_path / f"r.{kind}")
        settings = ["-t", 0.2, "-j", 0.6, "--leftovers", leftovers, "--patience", 8]
        run("publish", source, *ROLES, "--out", tmp_path / "out", *settings)
        private = read(tmp_path / "out" / "private" / f"groups.{kind}")
        assert ("published" in private.columns) == (leftovers == "counterfeit")
        if leftovers == "relax":
            assert (private["group"] >= 0).all()
            return
        public = read(tmp_path / "out" / "public" / f"published.{kind}")
        kept = private[private["group"] >= 0]
        assert Counter(kept["published"]) == Counter(public["result"])
        own = read(source).merge(kept, on=["id", "week"])
        assert (own["published"] != own["result"]).any()

    @pytest.mark.parametrize("defense", [name for name, kind in DEFENSES.items() if kind is not ForegroundSafe])
    def test_every_defense_publishes_what_the_attack_reads(self, tmp_path, kind, defense):
        """The published table and the key describe the same release: the values of each group, with counterfeits."""
        source = write(records(people=40, present=36), tmp_path / f"r.{kind}")
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", defense)
        public, private = read(tmp_path / "public" / f"published.{kind}"), read(tmp_path / "private" / f"groups.{kind}")
        kept = private[private["group"] >= 0]
        sizes = kept.groupby(["week", "group"]).size().reset_index(drop=True)
        pd.testing.assert_series_equal(sizes, public.groupby(["week", "group"]).size().reset_index(drop=True))
        _, releases = read_releases(
            read_table(source, ["id"]), tmp_path / "private" / f"groups.{kind}", COLUMNS, SCHEMA
        )
        for release in releases:
            shown = Counter(
                public.loc[public["week"] == release.time, ["group", "result"]].itertuples(index=False, name=None)
            )
            assert release.counts.tolist() == [[shown[g, v] for v in "abc"] for g in range(release.groups)]

    def test_bucketized_or_generalized(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        ages = set(records()["age"].astype(str))
        for flag, exact in [("--bucketized", True), ("--generalized", False)]:
            run("publish", source, *ROLES, "--out", tmp_path, "--defense", "anatomy", flag, "--overwrite")
            public = pd.read_csv(tmp_path / "public" / "published.csv", dtype=str)
            assert (set(public["age"]) <= ages) == exact

    def test_printed_rule_without_patience(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        result = run("publish", source, *ROLES, "--out", tmp_path / "out", "--patience", 0)
        assert "patience=None" in result.stdout

    @pytest.mark.parametrize("column", ["town", "age"])
    def test_hierarchies(self, tmp_path, kind, column):
        """Labels are those of the file, also for numbers and in Parquet, whose columns have one type."""
        table = records()
        if column == "town":
            tree = {town: (land, "Europe") for town, land in TOWNS.items()}
        else:
            tree = {age: (f"{age // 10}0s", "any") for age in range(20, 60)}
        path = tmp_path / "tree.csv"
        path.write_text("\n".join(";".join(map(str, (value, *above))) for value, above in tree.items()))
        source = write(table, tmp_path / f"r.{kind}")
        run(
            "publish",
            source,
            *ROLES,
            "--out",
            tmp_path / "out",
            "--defense",
            "mondrian",
            "--hierarchy",
            f"{column}={path}",
        )
        joined = table.merge(read(tmp_path / "out" / "private" / f"groups.{kind}"), on=["id", "week"])
        public = read(tmp_path / "out" / "public" / f"published.{kind}")
        seen = set()
        for key, members in joined.groupby(["week", "group"]):
            shown = set(public.set_index(["week", "group"]).sort_index().loc[key][column].astype(str))
            values = members[column].unique()
            above = {tree[value][0] for value in values}
            label = str(values[0]) if len(values) == 1 else above.pop() if len(above) == 1 else tree[values[0]][1]
            assert shown == {label}
            seen.add(label)
        assert len(seen) > 1

    def test_quasi_identifiers_that_are_true_or_false(self, tmp_path):
        """Published as True, False and *, which only a text column of Parquet can hold."""
        table = records().assign(town=lambda rows: rows["town"] == "Rome")
        source = write(table, tmp_path / "r.parquet")
        run("publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "mondrian")
        assert set(read(tmp_path / "out" / "public" / "published.parquet")["town"]) <= {"True", "False", "*"}

    def test_times_and_ids_of_any_kind(self, tmp_path):
        """Days in Parquet, ids that are numbers, columns of other names."""
        table = records().rename(columns={"id": "who", "week": "day"})
        table["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(table["day"], unit="D")
        table["who"] = table["who"].str[1:].astype(int) + 1000
        source = write(table, tmp_path / "r.parquet")
        names = ["--id", "who", "--time", "day"]
        out = tmp_path / "out"
        run("publish", source, *ROLES, *names, "--out", out, "-j", 2)
        result = run("attack", source, *ROLES, *names, "--groups", out / "private" / "groups.parquet", "--out", out)
        assert len(printed(result.stdout)) == 3
        beliefs = read(out / "beliefs.parquet")
        assert list(beliefs.columns) == ["day", "who", "group", "a", "b", "c"]
        assert beliefs["day"].drop_duplicates().is_monotonic_increasing
        run("check", out / "public" / "published.parquet", "--sensitive", "result", "--time", "day", "-k", 3)

    def test_nothing_can_be_published(self, tmp_path, kind):
        """No group has nine distinct values: nothing is written."""
        source = write(records(), tmp_path / f"r.{kind}")
        result = run("publish", source, *ROLES, "--out", tmp_path / "out", "-l", 9, status=1)
        assert "finds no group of these records that satisfies its thresholds" in str(result.exception)
        assert not (tmp_path / "out").exists()


def test_the_corpus_is_not_written_over(tmp_path):
    source = write(records(), tmp_path / "r.csv")
    (tmp_path / "out" / "private").mkdir(parents=True)
    corpus = write(records(seed=5), tmp_path / "out" / "private" / "groups.csv")
    before = Path(corpus).read_bytes()
    refused = CliRunner().invoke(
        command_line.app, ["publish", source, *ROLES, "--out", str(tmp_path / "out"), "--corpus", corpus, "--overwrite"]
    )
    assert "would be written over" in str(refused.exception)
    assert Path(corpus).read_bytes() == before
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["private", "groups.csv"]


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
        beliefs, _, original, _ = self.attacked(published)
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

    def test_it_says_where_evidence_is_counted_twice(self, tmp_path):
        """Groups that never change, and groups drawn again at each release."""
        table = records(present=30)
        same = table.assign(group=table["id"].str[1:].astype(int) // 3)
        anew = table.assign(group=table.groupby("week").cumcount() // 3)
        for name, some in (("same", same), ("anew", anew)):
            told = run("attack", write(some, tmp_path / f"{name}.csv"), *ROLES).stderr
            assert ("counts this evidence twice" in told) == (name == "same")
            snapshot = run("attack", tmp_path / f"{name}.csv", *ROLES, "--attack", "snapshot").stderr
            assert "counts this evidence twice" not in snapshot

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
        learned, _, _, told = self.attacked(published)
        assert "learns from the published records" in told.stderr
        assert not np.allclose(beliefs[["a", "b", "c"]], learned[["a", "b", "c"]])

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
        run("attack", source, *ROLES, "--groups", groups, "--out", tmp_path)
        joined = read(tmp_path / f"beliefs.{kind}").merge(told.assign(shown=shown), on=["week", "id", "group"])
        assert len(joined) == 72
        for _, week in joined.merge(table, on=["week", "id"]).groupby("week"):
            moved = (
                np.abs(week[["a", "b", "c"]].sum().to_numpy() - [(week["shown"] == v).sum() for v in "abc"]).sum() / 2
            )
            assert 0.1 < moved < (week["shown"] != week["result"]).sum() + 0.5

    def test_one_release_has_no_chain_to_mine(self, tmp_path):
        source = write(records(weeks=(1,)).assign(group=lambda rows: np.arange(len(rows)) // 4), tmp_path / "r.csv")
        assert len(printed(run("attack", source, *ROLES).stdout)) == 1


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


class TestCheck:
    def test_what_was_published_passes(self, published):
        source, out, _ = published
        table = out / "public" / f"published{source.suffix}"
        result = run("check", table, "--sensitive", "result", "--time", "week", "-k", 3, "-t", 0.5)
        public = read(table)
        rows = printed(result.stdout)
        assert [(row["release"], row["requirement"]) for row in rows] == [
            (week, part) for week in "123" for part in ("KAnonymity(k=3)", "TCloseness(t=0.5)")
        ]
        for row in rows:
            week = public[public["week"] == int(row["release"])]
            groups = week.groupby("group")["result"]
            assert int(row["groups"]) == len(groups)
            assert row["failing"] == "0"
            if row["requirement"].startswith("K"):
                assert float(row["worst"]) == groups.size().min()
            else:
                apart = [sum(abs((g == v).mean() - (week["result"] == v).mean()) for v in "abc") / 2 for _, g in groups]
                assert float(row["worst"]) == pytest.approx(max(apart), abs=6e-4)

    def test_too_much_asked_is_status_1(self, published):
        source, out, _ = published
        table = out / "public" / f"published{source.suffix}"
        sizes = read(table).groupby(["week", "group"]).size()
        result = run("check", table, "--sensitive", "result", "--time", "week", "-k", sizes.min() + 1, status=1)
        failing = {row["release"]: int(row["failing"]) for row in printed(result.stdout)}
        assert failing == {str(week): (sizes[week] == sizes.min()).sum() for week in (1, 2, 3)}

    def test_one_bad_group_in_one_release_is_enough(self, published, tmp_path):
        source, out, _ = published
        public = read(out / "public" / f"published{source.suffix}")
        public.loc[public.index[-1], "group"] = 999
        table = write(public, tmp_path / f"broken{source.suffix}")
        result = run("check", table, "--sensitive", "result", "-k", 2, status=1)
        assert [row["first failing"] for row in printed(result.stdout)] == ["", "", "999"]

    def test_diversity(self, tmp_path):
        table = write(pd.DataFrame({"group": list("xxxyy"), "s": [1, 2, 2, 1, 1], "age": "*"}), tmp_path / "t.csv")
        run("check", table, "--sensitive", "s", "-l", 1, "-k", 2)
        assert (
            printed(run("check", table, "--sensitive", "s", "-l", 2, "-k", 2, status=1).stdout)[1]["first failing"]
            == "y"
        )

    def test_columns_of_other_names(self, tmp_path):
        """A second column named group, which is not the group column, is ignored."""
        rows = pd.DataFrame({"cluster": [1, 1, 2, 2], "group": [1, 1, 2, 2], "value": list("abab")})
        table = write(rows, tmp_path / "t.csv")
        run("check", table, "--sensitive", "value", "--group", "cluster", "-k", 2, "-l", 2)
        run("check", table, "--sensitive", "value", "-k", 3, status=1)

    def test_releases_are_not_merged_by_mistake(self, published, tmp_path):
        """Group numbers repeat at each release; merged releases would have groups of three times the size."""
        source, out, _ = published
        table = out / "public" / f"published{source.suffix}"
        size = read(table).groupby(["week", "group"]).size().min() + 1
        run("check", table, "--sensitive", "result", "-k", size, status=1)
        other = write(read(table).rename(columns={"week": "month"}), tmp_path / f"other{source.suffix}")
        refused = CliRunner().invoke(command_line.app, ["check", str(other), "--sensitive", "result", "-k", str(size)])
        assert isinstance(refused.exception, ValueError)
        assert "'month' differs within groups" in str(refused.exception)
        run("check", other, "--sensitive", "result", "--time", "month", "-k", size, status=1)


class TestAttacksWithoutAdversary:
    """DeFinetti, composition, maximum entropy and minimality, beside the objects of the package."""

    def attacked(self, folder, name, *more):
        """Beliefs from the command line, and those of an attack of the same records."""
        table = records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
        source = write(table, folder / "r.csv")
        result = run("attack", source, *ROLES, "--attack", name, "--out", folder / "out", *more)
        assert "--corpus" not in result.stderr
        schema = Schema.infer(table, ["age", "town"], "result", "id")
        releases = [Release(View(rows, schema, week), rows["group"]) for week, rows in table.groupby("week")]
        return read(folder / "out" / "beliefs.csv"), releases, result

    def compare(self, beliefs, expected):
        for week in expected.times:
            rows = beliefs[beliefs["week"] == week].set_index("id")[["a", "b", "c"]]
            np.testing.assert_allclose(rows.loc[expected.posterior(week).index], expected.posterior(week), atol=1e-9)

    @pytest.mark.parametrize(
        ("name", "attack", "more"),
        [
            ("definetti", DeFinettiAttack(), []),
            ("composition", CompositionAttack(), []),
            ("minimality", MinimalityAttack(2, diversity="distinct"), []),
            ("minimality", MinimalityAttack(3, k=2, diversity="distinct"), ["-k", 2, "-l", 3]),
        ],
    )
    def test_beliefs_are_those_of_the_attack(self, tmp_path, name, attack, more):
        beliefs, releases, _ = self.attacked(tmp_path, name, *more)
        self.compare(beliefs, attack(releases))

    def test_statements(self, tmp_path):
        towns = records()["town"].unique()
        lines = ["value,low,high,age,town", f"a,0.2,,,{towns[0]}", "b,0.1,0.3,20..40,"]
        (tmp_path / "s.csv").write_text("\n".join(lines))
        beliefs, releases, _ = self.attacked(tmp_path, "maxent", "--statements", tmp_path / "s.csv")
        stated = [
            ConditionalProbability("a", {"town": towns[0]}, 0.2),
            ConditionalProbability("b", {"age": (20, 40)}, 0.1, 0.3),
        ]
        self.compare(beliefs, PrivacyMaxEntAttack(stated)(releases))

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("value,age\na,3", "has no column 'low'"),
            ("value,low,land\na,0.1,x", "has the column 'land', which is no quasi-identifier"),
            ("value,low\na,much", "row 2: low is 'much'; it is a number"),
            ("value,low,age\na,0.1,old", "row 2: age is 'old'; it is a number"),
            ("value,low\nz,0.1", "the value is not in the sensitive domain"),
        ],
    )
    def test_wrong_statements(self, tmp_path, text, match):
        (tmp_path / "s.csv").write_text(text)
        table = records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
        source = write(table, tmp_path / "r.csv")
        more = ["--attack", "maxent", "--statements", tmp_path / "s.csv"]
        assert match in str(run("attack", source, *ROLES, *more, status=1).exception)

    def test_no_statements(self, tmp_path):
        result = run("attack", tmp_path / "r.csv", *ROLES, "--attack", "maxent", status=1)
        assert "maxent takes --statements" in str(result.exception)


class TestDemo:
    def test_it_says_where_the_pictures_are(self, tmp_path):
        result = run("demo", "--out", tmp_path / "[red]new")
        assert {path.name for path in (tmp_path / "[red]new").iterdir()} == {
            "belief.png", "gain.png", "groups.png", "summary.csv", "risk.csv", "cost.csv",
        }  # fmt: skip
        assert str(tmp_path / "[red]new") in result.stdout


OPTIONS = {
    "demo": ["--out", "--overwrite"],
    "publish": [
        "--qi", "--out", "--sensitive", "--corpus", "--id", "--time", "--hierarchy", "--categorical", "--encoding",
        "--missing-value", "--defense", "-k", "-l", "-t", "--beta", "-j", "-m", "--leftovers", "--patience", "--seed",
        "--tolerance", "--deterministic", "--infeasible", "--bucketized", "--generalized", "--quote-formulas",
        "--overwrite", "--classes", "--order", "--pseudo-count",
        "--revision", "--gaps",
    ],
    "attack": [
        "--qi", "--sensitive", "--groups", "--corpus", "--out", "--overwrite", "--id", "--time", "--hierarchy", "--categorical",
        "--encoding", "--missing-value", "--attack", "--estimator", "--sensitive-set", "--attribute-set", "--support", "-r",
        "--statements", "-k", "-l", "--classes", "--order", "--pseudo-count", "--revision", "--gaps",
    ],
    "check": ["--sensitive", "--group", "--time", "-k", "-l", "-t", "--beta", "--encoding", "--missing-value"],
}  # fmt: skip


def test_bucketized_and_generalized_exclude_each_other(tmp_path):
    source = write(records(), tmp_path / "r.csv")
    result = run("publish", source, *ROLES, "--out", tmp_path / "o", "--bucketized", "--generalized", status=1)
    assert "--bucketized and --generalized exclude each other; leave one out." in str(result.exception)


class TestHelp:
    def test_every_command_is_named(self):
        text = run("--help").stdout
        assert all(name in text for name in OPTIONS)

    @pytest.mark.parametrize("command", OPTIONS)
    def test_every_option_is_explained(self, command):
        text = run(command, "--help").stdout
        parameters = typer.main.get_command(command_line.app).commands[command].params
        options = [name for p in parameters for name in p.opts if p.param_type_name == "option" and name != "--help"]
        assert options == OPTIONS[command]
        words = text.split()
        assert [name for name in options if name not in words] == []
        assert all(p.help for p in parameters if p.param_type_name == "option")

    def test_without_a_command_the_help_is_printed(self):
        assert "Usage" in run(status=2).output


# --- what goes wrong --------------------------------------------------------------------------------------------------


def main(capsys, monkeypatch, *arguments):
    """The exit status and standard error of `main`, the console script's function."""
    monkeypatch.setattr(sys, "argv", ["foreknow", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    return end.value.code, capsys.readouterr().err


def changed(folder, how):
    """Path of records with an error."""
    return write(how(records()), folder / "wrong.csv")


def bytes_of(folder, name, content):
    (folder / name).write_bytes(content)
    return str(folder / name)


def without(column):
    return lambda table: table.drop(columns=column)


def emptied(column, row=5):
    def how(table):
        table = table.astype({column: object})
        table.loc[row, column] = None
        return table

    return how


def forty(table):
    return table.assign(age=table["age"].astype(object).where(np.arange(len(table)) != 5, "forty"))


def publish(source, *more, roles=ROLES):
    return ["publish", source, *roles, *more]


def cell(column, value):
    return lambda table: table.assign(**{column: table[column].astype(object).where(table.index != 5, value)})


def listed(folder, column):
    table = records().assign(**{column: [[1, 2]] * 72})
    return publish(write(table, folder / "lists.parquet"))


def good(folder):
    return write(records(), folder / "good.csv")


def tree(folder, text):
    return f"town={bytes_of(folder, 'tree.csv', text.encode())}"


NOISE = np.random.default_rng(0).bytes(4000)

BAD_PUBLISH = {
    "missing column": (lambda d: publish(changed(d, without("age"))), "no column 'age'"),
    "missing time": (lambda d: publish(changed(d, without("week"))), "no column 'week'"),
    "missing id": (lambda d: publish(good(d), "--id", "name"), "no column 'name'"),
    "missing file": (lambda d: publish(d / "none.csv"), "there is no file"),
    "a folder": (lambda d: publish(d), "a table is read from .csv or .parquet"),
    "a folder with an ending": (lambda d: publish((d / "x.csv").mkdir() or d / "x.csv"), "cannot be read as csv"),
    "wrong ending": (lambda d: publish(bytes_of(d, "r.txt", b"id,week")), "ends in '.txt'"),
    "empty file": (lambda d: publish(bytes_of(d, "r.csv", b"")), "cannot be read as csv"),
    "only a header": (lambda d: publish(changed(d, lambda table: table.iloc[:0])), "no record"),
    "binary as csv": (lambda d: publish(bytes_of(d, "r.csv", b"\xff\xfe" + NOISE)), "cannot be read as csv"),
    "binary as parquet": (lambda d: publish(bytes_of(d, "r.parquet", NOISE)), "cannot be read as parquet"),
    "a row too long": (lambda d: publish(bytes_of(d, "r.csv", b"a,b\n1,2\n1,2,3\n")), "cannot be read as csv"),
    "no number": (lambda d: publish(changed(d, emptied("age"))), "'age' of respondent"),
    "infinite number": (lambda d: publish(changed(d, cell("age", "inf"))), "'age' of respondent"),
    "no category": (lambda d: publish(changed(d, emptied("town"))), "'town' of respondent"),
    "no sensitive value": (lambda d: publish(changed(d, emptied("result"))), "'result' of respondent"),
    "no sensitive value at all": (lambda d: publish(changed(d, lambda t: t.assign(result=np.nan))), "at least one value"),
    "no respondent": (lambda d: publish(changed(d, emptied("id"))), "every record needs a respondent"),
    "no time": (lambda d: publish(changed(d, emptied("week"))), "every record needs its time"),
    "twice in a view": (lambda d: publish(changed(d, lambda t: pd.concat([t, t.iloc[:1]]))), "appears twice"),
    "id as quasi-identifier": (lambda d: publish(good(d), "--qi", "id"), "'id' has two roles"),
    "time as quasi-identifier": (lambda d: publish(good(d), "--qi", "week"), "'week' has two roles"),
    "sensitive as quasi-identifier": (lambda d: publish(good(d), "--qi", "result"), "'result' has two roles"),
    "a quasi-identifier twice": (lambda d: publish(good(d), "--qi", "age"), "'age' has two roles"),
    "id as time": (lambda d: publish(good(d), "--time", "id"), "'id' has two roles"),
    "a name foreknow writes": (
        lambda d: publish(changed(d, lambda t: t.rename(columns={"age": "group"})), "--qi", "group"), "foreknow writes itself",
    ),
    "lists as values": (lambda d: listed(d, "result"), "'result' holds lists"),
    "lists as times": (lambda d: listed(d, "week"), "'week' holds lists"),
    "markup in a name": (lambda d: publish(good(d), "--qi", "[/x]"), "no column '[/x]'"),
    "k larger than a view": (lambda d: publish(good(d), "-k", 25), "25 records"),
    "k larger than a view, mondrian": (lambda d: publish(good(d), "-k", 25, "--defense", "mondrian"), "25 records"),
    "k larger than patience": (lambda d: publish(good(d), "-k", 51), "patience is 50"),
    "too diverse": (lambda d: publish(good(d), "-l", 4, "--defense", "mondrian"), "does not satisfy"),
    "too diverse to relax": (lambda d: publish(good(d), "-l", 4, "--leftovers", "relax"), "fit no group"),
    "hierarchy of no column": (lambda d: publish(good(d), "--hierarchy", "job=x.csv"), "column named by --qi"),
    "hierarchy without a file": (lambda d: publish(good(d), "--hierarchy", "town"), "column named by --qi"),
    "hierarchy that is not there": (lambda d: publish(good(d), "--hierarchy", "town=none.csv"), "none.csv"),
    "hierarchy that misses a value": (lambda d: publish(good(d), "--hierarchy", tree(d, "Rome;*")), "no row for"),
    "hierarchy with two roots": (lambda d: publish(good(d), "--hierarchy", tree(d, "Rome;x\nParis;y")), "2 roots"),
    "hierarchy of nothing": (lambda d: publish(good(d), "--hierarchy", tree(d, "")), "at least one value"),
    "too long a memory": (lambda d: publish(good(d), "--order", 30), "choose a smaller order"),
    "text dates that sort otherwise": (
        lambda d: publish(changed(d, lambda t: t.assign(week=t["week"].map({1: "2/2024", 2: "10/2024", 3: "11/2024"})))),
        "'10/2024' comes before '2/2024'",
    ),
    "a word among numbers": (lambda d: publish(changed(d, forty)), "'forty' in 1 of 72 cells"),
    "an option of the other defense": (
        lambda d: publish(good(d), "--defense", "mondrian", "--patience", 3), "mondrian does not read --patience",
    ),
    "a threshold of the other defense": (
        lambda d: publish(good(d), "--defense", "mondrian", "-j", 0.1), "mondrian does not read -j",
    ),
    "endless pseudo-count": (lambda d: publish(good(d), "--pseudo-count", "inf"), "pseudo_count is inf"),
}  # fmt: skip


def attack(folder, how=None, *more, groups=True):
    """The arguments of an attack on records published in groups of four, with a changed file of groups."""
    table = records()
    told = table[["id", "week"]].assign(group=table.groupby("week").cumcount() // 4)
    told = told if how is None else how(told)
    given = ["--groups", write(told, folder / "groups.csv")] if groups else []
    return ["attack", good(folder), *ROLES, *given, *more]


FOREGROUND = ["--attack", "foreground"]
BAD_ATTACK = {
    "no groups": (lambda d: attack(d, groups=False), "have no column 'group'"),
    "groups that are not there": (lambda d: [*attack(d, groups=False), "--groups", d / "none.csv"], "there is no file"),
    "a record without a group": (lambda d: attack(d, lambda told: told.iloc[:-1]), "has no group for respondent"),
    "an empty group": (lambda d: attack(d, emptied("group")), "has no group for respondent"),
    "a record with two": (lambda d: attack(d, lambda told: pd.concat([told, told.iloc[:1]])), "twice"),
    "no column of groups": (lambda d: attack(d, without("group")), "no column 'group'"),
    "no column of ids": (lambda d: attack(d, without("id")), "no column 'id'"),
    "ids of another kind": (lambda d: attack(d, lambda told: told.assign(id=range(72))), "has no group for respondent"),
    "a value nobody has": (lambda d: attack(d, lambda told: told.assign(published="zzz")), "'zzz'"),
    "groups in a binary file": (
        lambda d: [*attack(d, groups=False), "--groups", bytes_of(d, "g.parquet", NOISE)], "cannot be read as parquet",
    ),
    "a corpus that is not there": (lambda d: attack(d, None, "--corpus", d / "none.csv"), "there is no file"),
    "an empty corpus": (lambda d: attack(d, None, "--corpus", changed(d, lambda t: t.iloc[:0])), "no record"),
    "a corpus without a column": (lambda d: attack(d, None, "--corpus", changed(d, without("age"))), "no column 'age'"),
    "a corpus where nothing is read": (
        lambda d: attack(d, None, *FOREGROUND, "--corpus", good(d)),
        "foreground does not read --corpus; leave it out, or choose --attack sequential, snapshot, retrospective",
    ),
    "a chain where nothing is known": (lambda d: attack(d, None, *FOREGROUND, "--order", 2), "does not read --order"),
    "a sensitive set of an adversary": (
        lambda d: attack(d, None, "--sensitive-set", "a"), "sequential does not read --sensitive-set; leave it out, or choose --attack fore",  # noqa: E501
    ),
    "support of an adversary": (lambda d: attack(d, None, "--support", 3), "sequential does not read --support"),
    "an attribute set of an adversary": (lambda d: attack(d, None, "--attribute-set", "age"), "does not read --attribute-set"),
    "a bound without a sensitive set": (lambda d: attack(d, None, *FOREGROUND, "-r", 3), "-r 3 is the bound"),
    "an endless bound": (lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "a", "-r", "inf"), "r is inf"),
    "a sensitive value outside the domain": (lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "z"), "holds 'z', which is not in the domain"),  # noqa: E501
    "every value in the sensitive set": (
        lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "a", "--sensitive-set", "b", "--sensitive-set", "c"), "holds all 3 values",  # noqa: E501
    ),
    "an attribute that is no column": (
        lambda d: attack(d, None, *FOREGROUND, "--attribute-set", "age,sex"),
        "'sex', which is no quasi-identifier; there are age, town",
    ),
    "an attribute without a name": (
        lambda d: attack(d, None, *FOREGROUND, "--attribute-set", "age,"), "'', which is no quasi-identifier",
    ),
    "a group too large to be exact": (lambda d: attack_one_large_group(d), "Choose --estimator auto"),
}  # fmt: skip


def attack_one_large_group(folder):
    """One group of 40 records with distinct quasi-identifiers and 20 values."""
    n = 40
    rows = pd.DataFrame({"id": range(n), "week": 1, "age": range(n), "town": "Rome", "group": 0})
    rows["result"] = [f"v{i % 20}" for i in range(n)]
    return ["attack", write(rows, folder / "large.csv"), *ROLES, "--classes", n, "--estimator", "exact"]


def check(folder, how, *more):
    table = pd.DataFrame({"week": [1, 1, 2, 2], "group": [0, 0, 0, 0], "age": "*", "result": list("abab")})
    return ["check", write(how(table), folder / "published.csv"), "--sensitive", "result", *more]


BAD_CHECK = {
    "no group": (lambda d: check(d, emptied("group", 1)), "row 1 has no 'group'"),
    "no value": (lambda d: check(d, emptied("result", 2)), "row 2 has no 'result'"),
    "no time": (lambda d: check(d, emptied("week", 3)), "row 3 has no 'week'"),
    "no record": (lambda d: check(d, lambda table: table.iloc[:0]), "no record"),
    "no column of groups": (lambda d: check(d, without("group")), "no column 'group'"),
    "no column of values": (lambda d: check(d, without("result")), "no column 'result'"),
    "no column of times": (lambda d: check(d, lambda table: table, "--time", "year"), "no column 'year'"),
    "group as value": (lambda d: check(d, lambda table: table, "--group", "result"), "two roles"),
    "group as time": (lambda d: check(d, lambda table: table, "--time", "group"), "two roles"),
    "no file": (lambda d: ["check", d / "none.csv", "--sensitive", "x"], "there is no file"),
    "a binary file": (lambda d: ["check", bytes_of(d, "x.csv", NOISE), "--sensitive", "x"], "cannot be read"),
}


class TestBadInput:
    """Status 2 and one sentence on standard error; the output folder is unchanged."""

    def judge(self, status, error, words):
        assert status == 2
        lines = [line for line in error.splitlines() if line.strip()]
        assert "Traceback" not in error
        assert [line.startswith("error: ") for line in lines].count(True) == 1
        assert lines[-1].startswith("error: ")
        assert words in lines[-1]
        assert "np." not in lines[-1]

    def contents(self, folder):
        return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}

    @pytest.mark.parametrize("case", BAD_PUBLISH)
    def test_publish(self, case, tmp_path, capsys, monkeypatch):
        arguments, words = BAD_PUBLISH[case]
        self.refuse(arguments, words, tmp_path, capsys, monkeypatch)

    @pytest.mark.parametrize("case", BAD_ATTACK)
    def test_attack(self, case, tmp_path, capsys, monkeypatch):
        arguments, words = BAD_ATTACK[case]
        self.refuse(arguments, words, tmp_path, capsys, monkeypatch)

    @pytest.mark.parametrize("case", BAD_CHECK)
    def test_check(self, case, tmp_path, capsys, monkeypatch):
        arguments, words = BAD_CHECK[case]
        self.judge(*main(capsys, monkeypatch, *arguments(tmp_path)), words)

    def refuse(self, arguments, words, folder, capsys, monkeypatch):
        (folder / "in").mkdir()
        old = folder / "old"
        old.mkdir()
        (old / "public").mkdir()
        (old / "private").mkdir()
        given = arguments(folder / "in")
        ending = Path(given[1]).suffix or ".csv"
        for name in (f"public/published{ending}", f"private/groups{ending}", "beliefs.csv"):
            (old / name).write_text("from before")
        before = self.contents(folder)
        self.judge(*main(capsys, monkeypatch, *given, "--out", old, "--overwrite"), words)
        assert self.contents(folder) == before
        self.judge(*main(capsys, monkeypatch, *given, "--out", folder / "new" / "newer"), words)
        assert self.contents(folder) == before

    @pytest.mark.parametrize("out", ["a file", "below a file", "a folder in the way", "over the records"])
    def test_where_output_cannot_go(self, out, tmp_path, capsys, monkeypatch):
        (tmp_path / "public").mkdir()
        source = write(records(), tmp_path / "public" / "published.csv")
        bytes_of(tmp_path, "file", b"mine")
        (tmp_path / "taken" / "public" / "published.csv").mkdir(parents=True)
        bytes_of(tmp_path / "taken", "groups.csv", b"from before")
        where = {
            "a file": tmp_path / "file",
            "below a file": tmp_path / "file" / "folder",
            "a folder in the way": tmp_path / "taken",
            "over the records": tmp_path,
        }[out]
        before = self.contents(tmp_path)
        status, error = main(capsys, monkeypatch, *publish(source), "--out", where, "--overwrite")
        self.judge(status, error, str(where))
        assert self.contents(tmp_path) == before

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read and write everything")
    def test_where_nothing_may_be_read_or_written(self, tmp_path, capsys, monkeypatch):
        source = Path(good(tmp_path))
        (tmp_path / "locked").mkdir(mode=0o500)
        self.judge(*main(capsys, monkeypatch, *publish(source), "--out", tmp_path / "locked"), "locked")
        source.chmod(0)
        self.judge(*main(capsys, monkeypatch, *publish(source), "--out", tmp_path / "out"), "good.csv")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["publish"],
            ["publish", "r.csv", "--qi", "age"],
            ["publish", "r.csv", *ROLES, "--out", "x", "-k", "0"],
            ["publish", "r.csv", *ROLES, "--out", "x", "-t", "nan"],
            ["publish", "r.csv", *ROLES, "--out", "x", "--defense", "hope"],
            ["attack", "r.csv", *ROLES, "--estimator", "guess"],
            ["attack", "r.csv", *ROLES, "--attack", "foreground", "--support", "0"],
            ["attack", "r.csv", *ROLES, "--attack", "foreground", "--sensitive-set", "a", "-r", "0.5"],
            ["check", "r.csv"],
            ["forget"],
        ],
        ids=" ".join,
    )
    def test_wrong_usage(self, arguments, capsys, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        status, error = main(capsys, monkeypatch, *arguments)
        assert status == 2
        assert "Usage" in error
        assert "Traceback" not in error
        assert not list(tmp_path.iterdir())

    def test_values_that_look_like_markup(self, tmp_path, capsys, monkeypatch):
        """Text in brackets is printed as text, in tables and errors."""
        table = pd.DataFrame({"group": ["[red]x", "[/y]", "[/y]"], "result": list("aab")})
        source = write(table, tmp_path / "[bold]t.csv")
        monkeypatch.setattr(sys, "argv", ["foreknow", "check", source, "--sensitive", "result"])
        with pytest.raises(SystemExit) as end:
            command_line.main()
        shown = capsys.readouterr().out
        assert end.value.code == 1
        assert "[bold]t.csv" in shown
        assert "[red]x" in shown


class TestConsoleScript:
    """The installed command, run by a shell."""

    SCRIPT = shutil.which("foreknow", path=str(Path(sys.executable).parent))

    def shell(self, folder, *arguments):
        call = [sys.executable, "-c", "from foreknow.evaluation.cli.command_line import main; main()"]
        command = [self.SCRIPT] if self.SCRIPT else call
        return subprocess.run([*command, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)

    def test_exit_status_and_streams(self, tmp_path):
        write(pd.DataFrame({"group": [0, 0, 1], "result": list("aba")}), tmp_path / "t.csv")
        sound = self.shell(tmp_path, "check", "t.csv", "--sensitive", "result", "-k", 1)
        assert (sound.returncode, sound.stderr) == (0, "")
        assert "KAnonymity" in sound.stdout
        assert self.shell(tmp_path, "check", "t.csv", "--sensitive", "result", "-k", 2).returncode == 1
        bad = self.shell(tmp_path, "check", "none.csv", "--sensitive", "result")
        assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "error: there is no file none.csv.\n")

    def test_the_round_trip(self, tmp_path):
        write(records(), tmp_path / "r.csv")
        assert self.shell(tmp_path, "publish", "r.csv", *ROLES, "--out", "out", "-j", 2).returncode == 0
        attack = self.shell(
            tmp_path, "attack", "r.csv", *ROLES, "--groups", "out/private/groups.csv", "--out", "out/private"
        )
        assert (attack.returncode, "Traceback" in attack.stderr) == (0, False)
        assert (
            self.shell(tmp_path, "check", "out/public/published.csv", "--sensitive", "result", "-k", 3).returncode == 0
        )
        assert {str(path.relative_to(tmp_path)) for path in (tmp_path / "out").rglob("*.csv")} == {
            "out/public/published.csv", "out/private/groups.csv", "out/private/beliefs.csv",
        }  # fmt: skip
