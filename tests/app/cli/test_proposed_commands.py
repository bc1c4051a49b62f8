"""The next command that each command proposes: it can be typed, and is the run that was measured."""

import importlib
import json
from pathlib import Path

import pandas as pd
import pytest
from commands import ROLES, proposed, read, records, run, write

from foreknow.app.cli.typed_commands import attack_of_key

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

SURE = ["--sure", 0.7]
KNOWN = ["--classes", 2, "--pseudo-count", 0.3, "--gaps", "power", "--order", 2, "--revision", "chain"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """The folder in which the commands are typed."""
    monkeypatch.chdir(tmp_path)


def as_json(*arguments):
    return json.loads(run(*arguments, "--json", status=None).stdout)


def last(*arguments, status=0):
    """The last command that a command proposes."""
    return proposed(run(*arguments, status=status).stdout)[-1]


def exposed(attack):
    """Number of respondents that a typed attack exposes to each adversary, and of those exposed to both."""
    found = as_json(*attack, *SURE)
    return {one["adversary"]: one["exposed"] for one in found["adversaries"]}


def defense_of(folder):
    return json.loads(Path(folder, "public", "release.json").read_text())["defense"]


ANY = ["--fail-over", 1]
"""A bound that each publication keeps; without one nothing is proposed."""


class TestCompareToPublish:
    """The publication that compare proposes is its trial, and the attack after it finds the same respondents."""

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                ["--defense", "js-reduce", "--leftovers", "relax", "-t", 0.7, "--patience", 0, *KNOWN],
                "leftovers='relax', patience=None",
            ),
            (["--defense", "mondrian", "--sweep", "t=0.123456789"], "TCloseness(t=0.123456789)"),
            (["--defense", "anatomy", "--deterministic"], "deterministic=True"),
        ],
        ids=["js-reduce", "mondrian", "anatomy"],
    )
    def test_it_is_the_trial(self, options, words):
        """With a release of two records, which a trial suppresses."""
        few = pd.DataFrame([("x", 9, 30, "Rome", "a"), ("y", 9, 40, "Rome", "b")], columns=records().columns)
        source = write(pd.concat([records(), few]), Path("r.csv"))
        compared = ["compare", source, *ROLES, *options, *SURE, *ANY, "--seed", 5]
        publish = last(*compared)
        assert publish[-2:] == ["--out", "release"]
        attack = last(*publish)
        assert words in defense_of("release")
        (row,) = as_json(*compared)["settings"]
        assert exposed(attack) == {"records": row["exposed_informed"], "learned": row["exposed_learned"]}
        assert publish[publish.index("--infeasible") + 1] == "suppress"

    def test_options_that_the_best_does_not_read_are_left_out(self):
        source, corpus = write(records(), Path("r.csv")), write(records(seed=5), Path("c.csv"))
        words = last(
            "compare", source, *ROLES, "--defense", "mondrian", "--corpus", corpus, "--classes", 2, "-k", 4, *ANY
        )
        assert not {"--corpus", "--classes"} & set(words)
        run(*words)
        assert "KAnonymity(k=4)" in defense_of("release")

    def test_an_output_that_is_there_is_not_proposed(self):
        Path("release").mkdir()
        assert last("compare", write(records(), Path("r.csv")), *ROLES, "--defense", "anatomy", *ANY)[-1] == "release-2"


class TestCompareToCompare:
    def test_stricter_settings_where_none_is_under_the_bound(self):
        source = write(records(), Path("r.csv"))
        bound = ["--fail-over", 0, *SURE, "--classes", 2]
        words = last("compare", source, *ROLES, "--defense", "mondrian", "--sweep", "k=3,4", "-l", 2, *bound, status=1)
        assert words[:2] == ["compare", source]
        assert " ".join(words).endswith("--defense mondrian -l 2 --sweep k=8,16,32")
        assert {"--fail-over", "--sure", "--classes"} < set(words)
        run(*words, status=None)

    def test_weaker_settings_where_nothing_is_published(self):
        source = write(records(), Path("r.csv"))
        tried = ["--defense", "mondrian", "-k", 25, "-t", 0.001]
        told = run("compare", source, *ROLES, *tried, status=1).stdout
        assert told.startswith("FAILED: no setting publishes a record.")
        (words,) = proposed(told)
        assert " ".join(words).endswith("--defense mondrian --sweep k=2,3")
        run(*words)

    def test_numbers_of_values_are_raised_by_one(self):
        source = write(records(), Path("r.csv"))
        words = last("compare", source, *ROLES, "--defense", "anatomy", "--fail-over", 0, "--sure", 0.51, status=1)
        assert words[-2:] == ["--sweep", "l=3,4,5"]


class TestAttackToReport:
    def test_the_report_has_the_numbers_of_the_attack(self):
        source = write(records(), Path("r.csv"))
        publish = ["publish", source, *ROLES, "--defense", "js-reduce", "-t", 0.7, *KNOWN, "--out", "o"]
        attack = [*last(*publish), *SURE, "--solver", "max-entropy", "--fail-over", 1]
        told = as_json(*attack, "--out", "risk-of-json")
        report = last(*attack)
        assert report[0] == "report"
        found = as_json(*report, "--stricter", 0)
        names = {"records": "informed", "learned": "learned"}
        assert {one["adversary"]: one["exposed"] for one in told["adversaries"]} == {
            name: found["adversaries"][mine]["exposed"] for name, mine in names.items()
        }
        assert (found["solver"], found["sure"], found["fail_over"]) == ("max-entropy", 0.7, 1)

    def test_options_of_the_attack_are_those_of_the_page(self):
        source = write(records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4), Path("r.csv"))
        options = ["--attack", "foreground", "--sensitive-set", "a", "--support", 2, "-r", 3]
        words = last("attack", source, *ROLES, *options)
        assert " ".join(map(str, options)) in " ".join(words)
        run(*words, "--stricter", 0)
        assert "--attack foreground" in Path("report.html").read_text(encoding="utf-8")


@pytest.fixture
def without_cohorts(monkeypatch):
    """The report tries stricter settings of the same defense alone."""
    for name in ("report", "contents"):
        monkeypatch.setattr(importlib.import_module(f"foreknow.app.report.{name}"), "tries_cohorts", lambda *_: False)


class TestReportToPublish:
    def proposal(self, table, *options):
        """Publish, report with one stricter setting: its numbers, and the publication proposed."""
        source = write(table, Path("r.csv"))
        run("publish", source, *ROLES, *options, "--seed", 1, "--out", "o")
        report = ["report", source, *ROLES, "--groups", "o/private/groups.csv", "--stricter", 1, "--seed", 5, *SURE]
        found = as_json(*report, "--out", "first.html")
        return found["stricter"][1], last(*report, "--out", "second.html")

    @pytest.mark.usefixtures("without_cohorts")
    def test_it_is_the_stricter_trial(self):
        table = records(people=60, present=50)
        row, publish = self.proposal(table, "--defense", "mondrian", "-k", 2, "-l", 1, "--bucketized")
        told = "--defense mondrian -k 4 -l 1 --bucketized --infeasible suppress --seed 5 --out safer"
        assert " ".join(publish).endswith(told)
        attack = last(*publish)
        assert exposed(attack) == {"records": row["exposed_informed"], "learned": row["exposed_learned"]}
        ages = set(read("safer/public/published.csv")["age"])
        assert ages <= set(table["age"])

    def test_exact_quasi_identifiers_lose_no_detail(self):
        run("publish", write(records(), Path("r.csv")), *ROLES, "--defense", "anatomy", "--out", "o")
        report = ["report", "r.csv", *ROLES, "--groups", "o/private/groups.csv", "--out", "r.html", "--stricter", 0]
        assert [row["gcp"] for row in as_json(*report)["stricter"]] == [0]

    @pytest.mark.usefixtures("without_cohorts")
    @pytest.mark.parametrize("defense", ["mask", "anatomy", "m-invariance"])
    def test_one_that_draws_is_the_trial_too(self, defense):
        """By the seed, the publication is the one that was measured."""
        table = records(people=60, present=50)
        table["result"] += (table["age"] % 4).astype(str)
        row, publish = self.proposal(table, "--defense", defense)
        assert publish[0] == "publish"
        assert exposed(last(*publish)) == {"records": row["exposed_informed"], "learned": row["exposed_learned"]}

    @pytest.mark.usefixtures("without_cohorts")
    def test_generalized_where_the_default_is_exact(self):
        table = records(people=60, present=50)
        table["result"] += (table["age"] % 4).astype(str)
        _, publish = self.proposal(table, "--defense", "anatomy", "-l", 2, "--generalized")
        assert "--generalized" in publish
        run(*publish)
        assert not pd.api.types.is_numeric_dtype(read("safer/public/published.csv")["age"])


class TestCheckToAttack:
    def test_a_folder_is_attacked_with_its_key(self):
        source = write(records().rename(columns={"id": "who is it"}), Path("r.csv"))
        publish = ["publish", source, *ROLES, "--id", "who is it", "--classes", 2, "-t", 0.9, "--out", "the release"]
        after_publish = last(*publish)
        after_check = last("check", "the release")
        assert after_check[0] == "attack"
        assert after_check[-2:] == after_publish[-2:] == ["--out", "risk"]
        assert last("check", "the release", "-k", 40, status=1) == after_check
        assert exposed(after_check) == exposed([*after_publish[:-1], "risk-of-publish"])

    def test_settings_that_differ_are_not_read(self):
        run("publish", write(records(), Path("r.csv")), *ROLES, "--defense", "mondrian", "--out", "o")
        Path("o/private/settings.json").write_text("{}")
        assert "Next" not in run("check", "o", status=1).stdout
        told = attack_of_key(Path("o/private/groups.csv"))
        assert told == (
            "foreknow attack RECORDS --qi COLUMN --sensitive COLUMN --id COLUMN --groups o/private/groups.csv --out risk"
        )

    def test_the_public_folder_alone_is_attacked_as_a_table(self):
        run("publish", write(records(), Path("r.csv")), *ROLES, "--defense", "mondrian", "--out", "o")
        words = last("check", "o/public")
        assert "records are in groups" in run(*words).stdout

    def test_a_publication_of_other_files_is_repeated(self):
        run("publish", write(records(), Path("r.csv")), *ROLES, "--defense", "mondrian", "--out", "o")
        Path("o/public/published.csv").write_text("changed")
        words = last("check", "o", status=1)
        told = run(*words).stderr
        assert "The seed is that of --config" in told
        assert "--seed is for experiments" not in told
        assert defense_of("release") == defense_of("o")

    def test_from_disk(self):
        source = write(records(), Path("r.parquet"))
        disk = ["--from-disk", "--block", 20, "--defense", "mondrian", "--seed", 3]
        check, attack = proposed(run("publish", source, *ROLES, *disk, "--out", "o").stdout)
        after_check = last(*check)
        assert attack[: len(after_check)] == after_check
        run(*after_check)

    def test_the_notation_of_files_is_kept(self):
        run("publish", write(records(), Path("r.csv")), *ROLES, "--defense", "mondrian", "--out", "o")
        read("o/public/published.csv").to_csv("p.csv", sep="\t", index=False, encoding="utf-16")
        given = ["--encoding", "utf-16", "--separator", "tab", "--missing-value", "n a"]
        attack = last("check", "p.csv", "--sensitive", "result", "--qi", "age", *given, "-k", 2)
        assert "records are in groups" in run(*attack).stdout
        again = last(*attack, "--sure", 0.8)
        assert again[-6:] == ["--sure", "0.8", "--id", "COLUMN", "--people", "FILE"]


class TestDescribe:
    def test_a_private_key_is_not_to_be_published(self):
        """In one file, and in the parts of a publication from disk."""
        source = write(records(), Path("r.parquet"))
        run("publish", source, *ROLES, "--defense", "mondrian", "--out", "o")
        run("publish", source, *ROLES, "--from-disk", "--defense", "mondrian", "--out", "d")
        for key in ("o/private/groups.parquet", "d/private/groups.parquet/release-0000/part-00000.parquet"):
            told = run("describe", key).stdout
            assert "WARNING: it is private." in told
            (words,) = proposed(told)
            assert words[0] == "attack"
            run(*words)
            assert as_json("describe", key)["looks like"] == "key"
        assert as_json("describe", "o/public/published.parquet")["looks like"] == "published table"

    def test_a_separator_that_was_given_and_a_free_folder(self):
        records().to_csv("r.csv", index=False, sep="!")
        Path("release").mkdir()
        words = last("describe", "r.csv", "--separator", "!")
        assert words[-4:] == ["--separator", "!", "--out", "release-2"]
        run(*words, "-t", 0.9)

    def test_a_tab_is_named(self):
        records().to_csv("r.csv", index=False, sep="\t")
        words = last("describe", "r.csv", "--separator", "tab")
        assert words[-4:-2] == ["--separator", "tab"]
