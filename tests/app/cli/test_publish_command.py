"""The files that `foreknow publish` writes, and what it prints."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, TOWNS, read, records, run, write
from printed_tables import printed
from typer.testing import CliRunner

from foreknow.app.cli import command_line
from foreknow.app.cli.defense_choices import recorded_defense
from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.release_files import read_releases
from foreknow.app.publication import key_at
from foreknow.defenses import DEFENSES, ForegroundSafe
from foreknow.evaluation import leaving_shift
from foreknow.models import Categorical, History, MarkovChain, Numeric, Presence, Schema
from foreknow.models.tables.table_files import read_table

COLUMNS = Columns("id", "week", "result", ("age", "town"))
SCHEMA = Schema({"age": Numeric(), "town": Categorical(tuple(TOWNS))}, "result", tuple("abc"))

pytestmark = pytest.mark.usefixtures("wide")


class TestPublish:
    def test_the_two_files(self, published, kind):
        _, out, result = published
        assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == {
            f"public/published.{kind}", "public/release.json", "public/certificate.json",
            f"private/groups.{kind}", "private/manifest.json",
            "private/settings.json",
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
        small = ("-a", 2, "--size", 4) if defense == "cohorts" else ()
        run("publish", source, *ROLES, "--out", tmp_path, "--defense", defense, *small)
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
        assert "js-reduce -k 3 -l 2 -t 0.5 -j 0.6 --patience 0" in result.stdout

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


def test_bucketized_and_generalized_exclude_each_other(tmp_path):
    source = write(records(), tmp_path / "r.csv")
    result = run("publish", source, *ROLES, "--out", tmp_path / "o", "--bucketized", "--generalized", status=1)
    assert "--bucketized and --generalized exclude each other; leave one out." in str(result.exception)


class TestCohorts:
    """The defense with ghosts, from the command line to a file of groups and back."""

    def published(self, tmp_path, *options, people=40, status=0):
        table = records(weeks=(1, 2, 3, 4), people=people, present=people)
        rank = table["id"].str[1:].astype(int)
        table = table[rank + 2 * table["week"] < people + 2].sort_values(["week", "id"])  # two more leave each week
        source = write(table, tmp_path / "r.csv")
        result = run(
            "publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "cohorts", *options, status=status
        )
        return source, result, tmp_path / "out"

    def test_ghosts_in_the_key_and_the_table(self, tmp_path):
        source, result, out = self.published(tmp_path, "-a", 3, "--size", 6)
        assert "ghosts carry on" in result.output
        assert "learned from the records themselves" in " ".join(result.output.split())
        public, private = read(out / "public" / "published.csv"), read(out / "private" / "groups.csv")
        assert list(public.columns) == ["week", "group", "age", "town", "result", "ghosts"]
        ghosts = private[private["ghost"] == 1]
        assert len(ghosts) > 0
        assert ghosts["id"].notna().all()
        sizes = ghosts.groupby(["week", "group"]).size()
        shown = public.groupby(["week", "group"])["ghosts"].first()
        assert shown[shown > 0].to_dict() == sizes.to_dict()
        _, releases = read_releases(read_table(source, ["id"]), out / "private" / "groups.csv", COLUMNS, SCHEMA)
        for release in releases:
            of_week = ghosts[ghosts["week"] == release.time]
            names = [] if release.grouping.places is None else release.grouping.places.respondents.tolist()
            assert sorted(names) == sorted(of_week["id"])
            table = public[public["week"] == release.time]
            assert release.table["age"].astype(str).tolist() == table["age"].astype(str).tolist()
        attacked = run(
            "attack", source, *ROLES, "--groups", out / "private" / "groups.csv", "--out", tmp_path / "b.csv"
        )
        assert "Ghosts carry on the places" in " ".join(attacked.output.split())
        for command in (["attack", source, *ROLES, "--groups", out], ["check", out]):
            told = json.loads(run(*command, "--json").stdout)
            assert "not who leaves when" in told["bound"]
            assert told["at_most"] - told["exposed"] == told["not_decided"]
        page = ["--out", tmp_path / "r.html", "--stricter", 0, "--json"]
        each = json.loads(run("report", source, *ROLES, "--groups", out, *page).stdout)["adversaries"].values()
        assert all("whatever is computed" in one["bound"] for one in each)

    @pytest.mark.parametrize("place", [(), ("--from-disk",)])
    def test_no_public_file_has_the_chain_that_was_counted_from_the_records(self, tmp_path, place):
        """Its probabilities tell how many people went from each value to each other."""
        source, _, out = self.published(tmp_path, "-a", 3, "--size", 6, *place)
        for name in ("release.json", "certificate.json"):
            text = (out / "public" / name).read_text()
            assert "transitions=not published" in text
            assert "probabilities" not in text
        chain = recorded_defense(key_at(out), "Cohorts").transitions
        history = History.read(read_table(source, ["id"]), SCHEMA, time="week")
        np.testing.assert_allclose(chain.probabilities, MarkovChain.fit(history, pseudo_count=0.1).probabilities)
        assert (out / "private" / "defense.json").stat().st_mode & 0o777 == 0o600

    def test_from_disk_the_releases_are_those_in_memory(self, tmp_path):
        options = ("-a", 3, "--size", 6, "--ends", 1, "--seed", 4)
        source, _, out = self.published(tmp_path, *options)
        large = tmp_path / "large"
        result = run("publish", source, *ROLES, "--from-disk", "--defense", "cohorts", *options, "--out", large)
        said = " ".join(result.output.replace("\\\n", " ").split())
        assert "The records at 4 are held back" in said
        assert f"--from-disk --groups {large} --out risk" in said
        for name in ("public/published", "private/groups"):
            expected, found = read(out / f"{name}.csv"), pd.read_parquet(large / f"{name}.parquet")
            found = found[[column for column in found if not column.startswith("_")]]
            pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)
        sides = [json.loads(run("check", folder, "--json").stdout) for folder in (large, out)]
        names = ("exposed", "at_most", "not_decided", "bound")
        assert [sides[0][name] for name in names] == [sides[1][name] for name in names]
        key = large / "private" / "groups.parquet"
        attack = ("attack", source, *ROLES, "--sure", 0.6, "--knowledge", "records")
        for each in (("joint", "--solver", "group-graph"), ("sequential",), ("snapshot",)):
            told = []
            for groups in (("--groups", key), ("--from-disk", "--groups", large)):
                found = run(*attack, "--attack", *each, *groups, "--json")
                assert "Ghosts carry on the places" in " ".join(found.output.split())
                told.append(json.loads(found.stdout))
            tables = [pd.DataFrame(one["releases"]).rename(columns={"published": "records"}) for one in told]
            pd.testing.assert_frame_equal(*tables, atol=1e-9)
            names = ("respondents", "exposed", "known_before", "at_most", "not_decided", "bound")
            assert [told[0][name] for name in names] == [told[1][name] for name in names]
        assert f"--from-disk --groups {large} --out risk" in " ".join(
            run("check", large).output.replace("\\\n", " ").split()
        )

    def test_terminal_values_are_in_no_group_and_known_to_the_attack(self, tmp_path):
        """A respondent who is listed and withheld has the value, as a reader of the rule knows."""
        source, result, out = self.published(tmp_path, "-a", 3, "--size", 6, "--terminal", "b")
        assert "b" not in set(read(out / "public" / "published.csv")["result"])
        described = json.loads((out / "public" / "release.json").read_text())
        assert described["settings"]["terminal"] == ["b"]
        ended = pd.read_csv(source).query("result == 'b'")["id"].nunique()
        assert described["reached_terminal"] == ended
        assert f"Respondents who reached a terminal value: {ended} over all releases" in " ".join(result.output.split())
        told = json.loads(run("attack", source, *ROLES, "--groups", out, "--json").stdout)
        assert "the same compromised records" in told["bound"]
        large = (
            "--from-disk",
            "--defense",
            "cohorts",
            "-a",
            3,
            "--size",
            6,
            "--terminal",
            "b",
            "--out",
            tmp_path / "l",
        )
        said = " ".join(run("publish", source, *ROLES, *large).output.replace("\\\n", " ").split())
        key = tmp_path / "l" / "private" / "groups.parquet"
        assert json.loads((tmp_path / "l" / "public" / "release.json").read_text())["reached_terminal"] == ended
        assert f"--groups {key} --out risk" in said
        assert f"--groups {key} --out risk" in " ".join(
            run("check", tmp_path / "l").output.replace("\\\n", " ").split()
        )
        refused = run("attack", source, *ROLES, "--from-disk", "--groups", tmp_path / "l", status=1)
        assert f"is read in memory alone: --groups {key}, without --from-disk" in str(refused.exception)

    def test_terminal_by_the_chance_of_leaving_in_the_corpus(self, tmp_path):
        """All of the corpus leave after b: as with --terminal b, in memory and from disk, and for the attack."""
        corpus = records(weeks=(1, 2, 3), people=60, present=60, seed=9).sort_values("week", kind="stable")
        before = (
            corpus["result"].eq("b").groupby(corpus["id"]).transform(lambda each: each.shift(fill_value=False).cummax())
        )
        corpus = corpus[~before]
        options = ["-a", 3, "--size", 6, "--seed", 5, "--corpus", write(corpus, tmp_path / "c.csv")]
        source, result, out = self.published(tmp_path, *options, "--terminal-over", 0.6)
        assert "Terminal by --terminal-over 0.6 and the --corpus: 'b' (" in " ".join(result.output.split())
        assert json.loads((out / "public" / "release.json").read_text())["settings"]["terminal"] == ["b"]
        used = json.loads((out / "private" / "settings.json").read_text())
        assert used["options"]["terminal-over"] == 0.6
        told = json.loads(run("attack", source, *ROLES, "--groups", out, "--json").stdout)
        assert "the same compromised records" in told["bound"]
        run("publish", source, *ROLES, "--out", tmp_path / "by", "--defense", "cohorts", *options, "--terminal", "b")
        tables = [read(each / "public" / "published.csv") for each in (out, tmp_path / "by")]
        pd.testing.assert_frame_equal(*tables)
        large = ["--from-disk", "--terminal-over", 0.6, "--departures", "withdraw", "--out", tmp_path / "large"]
        run("publish", source, *ROLES, "--defense", "cohorts", *options, *large)
        assert json.loads((tmp_path / "large" / "public" / "release.json").read_text())["settings"]["terminal"] == ["b"]

    def test_waiting_is_a_setting(self, tmp_path):
        """With too few people for a cell of the size, a smaller one is formed after the wait."""
        first = []
        for wait in (0, 2):
            where = tmp_path / str(wait)
            where.mkdir()
            _, _, out = self.published(where, "-a", 3, "--size", 30, "--wait", wait, "--classes", 1)
            first.append(read(out / "public" / "published.csv")["week"].min())
        assert first == [1, 3]

    def test_priors_that_differ_a_little_are_of_one_cell(self, tmp_path):
        """Fewer records wait, and the setting is recorded."""
        waiting = []
        for priors in (0, 50):
            where = tmp_path / str(priors)
            where.mkdir()
            _, _, out = self.published(where, "-a", 3, "--size", 6, "--priors", priors)
            assert json.loads((out / "public" / "release.json").read_text())["settings"]["priors"] == priors
            waiting.append(int((read(out / "private" / "groups.csv")["group"] < 0).sum()))
        assert waiting[1] < waiting[0]

    def test_the_shift_by_leaving_is_printed_before_publication(self, tmp_path):
        source, result, _ = self.published(tmp_path, "-a", 3, "--size", 6, "--seed", 1)
        said = " ".join(result.output.split())
        known = History.read(read_table(source, ["id"]), SCHEMA)
        chain, presence = MarkovChain.fit(known, 1, 0.1), Presence.fit(known, pseudo_count=0.1)
        row = leaving_shift(chain, presence).iloc[0]
        assert (
            f"by at most {row['leaving_step']:.2f}, and {row['ghost_step']:.2f} for each ghost; of two who left, both"
            in said
        )
        assert said.index("of two who left") < said.index("cohorts -a 3 --size 6")
        options = ["--from-disk", "--defense", "cohorts", "-a", 3, "--size", 6, "--out", tmp_path / "large"]
        large = " ".join(run("publish", source, *ROLES, *options).output.split())
        assert f"by at most {row['leaving_step']:.2f}, and {row['ghost_step']:.2f} for each ghost" in large

    def test_a_series_goes_on_with_the_corpus_and_the_seed(self, tmp_path):
        """The releases before stay as they were when one more is published."""
        corpus = write(records(weeks=(1, 2, 3), people=60, present=50, seed=9), tmp_path / "c.csv")
        options = ["-a", 3, "--size", 6, "--seed", 5, "--corpus", corpus]
        source, _, out = self.published(tmp_path, *options)
        table = read(Path(source))
        write(table[table["week"] < 4], tmp_path / "r.csv")
        run("publish", source, *ROLES, "--out", tmp_path / "before", "--defense", "cohorts", *options)
        whole, before = (read(each / "public" / "published.csv") for each in (out, tmp_path / "before"))
        pd.testing.assert_frame_equal(whole[whole["week"] < 4], before)

    def test_compare_has_the_price_of_ghosts(self, tmp_path):
        """Suppressed and invented records are both a price; settings are swept."""
        source, _, _ = self.published(tmp_path, "-a", 3, "--size", 6)
        swept = ["--defense", "cohorts", "--size", 12, "--sweep", "a=3,6", "--classes", 1, "--seed", 1, "--json"]
        told = run("compare", source, *ROLES, *swept)
        rows = json.loads(told.stdout)["settings"]
        assert [row["setting"] for row in rows] == ["cohorts a=3", "cohorts a=6"]
        assert all(row["invented"] > 0 for row in rows)
        printed = run("compare", source, *ROLES, "--defense", "anatomy", "--seed", 1).output
        assert "<NA>" not in printed
        assert "  invented  " not in printed
        assert " none " in printed

    def test_views_at_the_end_are_held_back(self, tmp_path):
        source, result, out = self.published(tmp_path, "-a", 3, "--size", 6, "--ends", 1)
        assert "The records at 4 are held back" in " ".join(result.output.split())
        assert set(read(out / "private" / "groups.csv")["week"]) == {1, 2, 3}
        history, _ = read_releases(read_table(source, ["id"]), out / "private" / "groups.csv", COLUMNS, SCHEMA)
        assert list(history.times) == [1, 2, 3]
        for folder, more in (("memory", ()), ("disk", ("--from-disk",))):
            delayed = (
                "--defense",
                "cohorts",
                "-a",
                3,
                "--size",
                6,
                "--departures",
                "lag",
                "--lag",
                2,
                "--out",
                tmp_path / folder,
            )
            said = " ".join(run("publish", source, *ROLES, *delayed, *more).output.split())
            assert "The records at 3, 4 are held back" in said
            assert "(cohorts -a 3 --size 6 --departures lag --lag 2)" in said

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("-a", 5, "--size", 7), "size is 7 and a is 5"),
            (("--ends", 4), "the last 4 of 4 views are held back"),
            (("-a", 39), "Choose a smaller -a and --size, --wait 0"),
            (("-a", 2, "--size", 78, "--wait", 9), "Choose a smaller --size, --wait 0"),
            (("--lag", 2), "--lag delays a publication with --departures lag alone"),
            (("--terminal", "dead"), "terminal holds 'dead', which is no sensitive value"),
            (("--terminal-over", 0.5), "name a --corpus, or declare the values with --terminal"),
            (("--from-disk", "--block", 20), "--block is not read by --defense cohorts"),
        ],
    )
    def test_errors(self, tmp_path, options, says):
        _, result, _ = self.published(tmp_path, *options, status=None)
        assert result.exit_code != 0
        assert says in str(result.exception)

    def test_settings_of_cohorts_are_of_no_other_defense(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        result = run("publish", source, *ROLES, "--out", tmp_path, "--defense", "mondrian", "-a", 3, status=None)
        assert result.exit_code != 0
        assert "does not read -a" in str(result.exception)
        options = ["--defense", "mondrian", "--terminal-over", 0.5]
        result = run("publish", source, *ROLES, "--out", tmp_path, *options, status=None)
        assert "does not read --terminal-over; leave it out, or choose --defense cohorts" in str(result.exception)
