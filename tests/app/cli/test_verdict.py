"""The verdict of an attack, --fail-over, at-risk.csv, settings.json, --json and --config."""

import hashlib
import json
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, proposed, read, records, run, write
from printed_tables import tables

from foreknow.app.cli.command_shape import TABLE
from foreknow.app.cli.defense_choices import BUILT_IN
from foreknow.app.cli.options import TableOptions

pytestmark = pytest.mark.usefixtures("wide")

SNAPSHOT = ["--attack", "snapshot", "--knowledge", "records"]


@pytest.fixture
def grouped(tmp_path):
    """Two weeks: in the second, one group of a single value and one of two; no value is known before."""
    rows = [(f"p{i}", week, 20 + i, "Rome", "ab"[i % 2], 0) for week in (1, 2) for i in range(8)]
    table = pd.DataFrame(rows, columns=["id", "week", "age", "town", "result", "group"])
    table.loc[table["week"] == 2, "group"] = [0, 1, 0, 1, 2, 2, 2, 2]
    return write(table, tmp_path / "r.csv")


class TestVerdict:
    def test_the_members_of_groups_of_one_value_are_exposed(self, grouped, tmp_path):
        """p0 to p3 are in groups of one value in week 2; a snapshot attack is unsure of all others."""
        result = run("attack", grouped, *ROLES, *SNAPSHOT, "--classes", 1, "--out", tmp_path / "o")
        assert "To an adversary who knows the statistics of the records: 4 of 8" in result.stdout
        assert "a belief of at least 0.9 in the true value, first at the release 2." in result.stdout
        risky = read(tmp_path / "o" / "at-risk.csv")
        assert sorted(risky["respondent"]) == ["p0", "p1", "p2", "p3"]
        assert (risky["belief"] == 1).all()
        assert (risky["time"] == 2).all()
        assert set(zip(risky["group"], risky["believed"], risky["group_values"], strict=True)) == {
            (0, "a", "2 a"),
            (1, "b", "2 b"),
        }

    @pytest.mark.parametrize(("bound", "status"), [(0.5, 0), (0.49, 1), (0, 1), (1, 0), (None, 0)])
    def test_fail_over_is_a_share_of_the_respondents(self, grouped, bound, status):
        result = run(
            "attack",
            grouped,
            *ROLES,
            *SNAPSHOT,
            "--classes",
            1,
            *(["--fail-over", bound] if bound is not None else []),
            status=status,
        )
        assert result.stdout.startswith("Over your bound of") == (status == 1)
        assert ("Your own bound" in result.stdout) == (bound is None)

    @pytest.mark.parametrize(("sure", "exposed", "posteriors"), [(0.6, "4 of 6", 6), (0.7, "none of 6", 0)])
    @pytest.mark.parametrize("attack", ["snapshot", "joint"])
    def test_sure_is_the_threshold_of_the_verdict_and_of_the_tables(self, tmp_path, attack, sure, exposed, posteriors):
        """Beliefs are the shares 2/3 and 1/3 of each of two groups: two of three members are right, as expected."""
        rows = [(f"p{i}", 30, "Rome", "aababb"[i], i // 3) for i in range(6)]
        path = write(pd.DataFrame(rows, columns=["id", "age", "town", "result", "group"]), tmp_path / "r.csv")
        options = ["--attack", attack, "--knowledge", "records", "--classes", 1, "--sure", sure]
        told = run("attack", path, *ROLES, *options).stdout
        assert exposed in told
        printed = tables(told)
        wanted = (str(posteriors), "4" if posteriors else "0", "4" if posteriors else "0")
        shown = printed["Sure beliefs, expected and right"] + printed.get("Risk over all releases", [])
        assert len(shown) == (3 if attack == "joint" else 1)
        for row in shown:
            assert (row["sure"], f"{float(row['expected']):g}", row["right"]) == wanted
        assert f"number of posteriors of at least {sure:g}" in " ".join(told.split())

    def test_the_joint_attack_names_the_releases(self, published):
        source, out, _ = published
        key = out / "private" / f"groups{source.suffix}"
        run("attack", source, *ROLES, "--groups", key, "--out", out / "risk", "--sure", 0.7, "--knowledge", "learned")
        beliefs, risky = read(out / "risk" / f"beliefs{source.suffix}"), read(out / "risk" / f"at-risk{source.suffix}")
        joined = beliefs.merge(read(source), on=["week", "id"]).query("group >= 0")
        true = pd.Series([row[row["result"]] for _, row in joined.iterrows()], joined.index)
        highest = true.groupby(joined["id"]).max()
        assert set(risky["respondent"]) <= set(highest.index[highest >= 0.7])
        np.testing.assert_allclose(risky["belief"], highest[risky["respondent"]])
        assert all(str(row.time) in row.releases.split(", ") for row in risky.itertuples())
        assert risky["reason"].str.contains("The group").all()


def told_twice(text):
    """The first line of a text, if it is there again before the next command."""
    first = text.splitlines()[0]
    assert text[: text.index("\nNext")].splitlines().count(first) == 2
    return first


def test_the_verdict_stands_above_and_below_the_tables(grouped, tmp_path):
    """The top of the first screen, and the end of the terminal."""
    attacked = run("attack", grouped, *ROLES, *SNAPSHOT, "--classes", 1, "--fail-over", 0.6).stdout
    assert "for your bound of 60%: 4 of 8 people are exposed" in told_twice(attacked)
    assert told_twice(run("check", grouped, "--sensitive", "result", "-k", 2).stdout).startswith(
        "Checked, each release alone"
    )
    labels = ["--published", "--qi", "age", "--sensitive", "result"]
    assert "records are in groups" in told_twice(run("attack", grouped, *labels).stdout)
    source = write(records(), tmp_path / "x.csv")
    compared = run("compare", source, *ROLES, "--defense", "anatomy", "--seed", 1, "--fail-over", 1).stdout
    assert "your bound of 100%: anatomy. The least error of queries" in told_twice(compared)


def test_most_records_suppressed_is_a_warning(grouped, tmp_path):
    table = pd.read_csv(grouped)
    table.loc[table["week"] == 1, "group"] = -1
    table.loc[table["id"] == "p0", "group"] = -1
    told = run("attack", write(table, tmp_path / "s.csv"), *ROLES, *SNAPSHOT)
    assert "WARNING: 9 of 16 records (56%) are suppressed" in told.stderr


class TestSettings:
    def test_a_run_is_repeated_from_its_settings(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        run("publish", source, *ROLES, "--defense", "anatomy", "--out", tmp_path / "a")
        kept = tmp_path / "a" / "private" / "settings.json"
        settings = json.loads(kept.read_text())
        assert kept.stat().st_mode & 0o777 == 0o600
        assert settings["sha256"] == {source: hashlib.sha256(Path(source).read_bytes()).hexdigest()}
        assert settings["versions"]["numpy"] == np.__version__
        assert settings["versions"]["pandas"] == pd.__version__
        assert settings["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
        run("publish", "--config", kept, "--out", tmp_path / "b")
        for name in ("public/published.csv", "private/groups.csv"):
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()

    def test_the_next_command_has_the_settings_of_a_file(self, tmp_path):
        source = write(records().rename(columns={"id": "who"}), tmp_path / "r.csv")
        out = tmp_path / "a"
        run("publish", source, *ROLES, "--id", "who", "--defense", "anatomy", "--out", out)
        told = run("publish", "--config", out / "private" / "settings.json", "--out", tmp_path / "b").stdout
        assert "--id who" in told[told.index("Next:") :]

    def test_an_attack_takes_the_table_of_the_settings_of_a_publication(self, tmp_path):
        source = write(records().rename(columns={"id": "who"}), tmp_path / "r.csv")
        out = tmp_path / "a"
        run("publish", source, *ROLES, "--id", "who", "--defense", "anatomy", "--out", out)
        kept = ("--config", out / "private" / "settings.json", "--groups", out / "private" / "groups.csv")
        assert "--id who" in run("attack", *kept, *SNAPSHOT).stdout
        assert {each.name for each in fields(TableOptions)} == set(TABLE)

    def test_the_public_folder_has_neither_seed_nor_checksum_of_the_records(self, tmp_path):
        source = write(records(), tmp_path / "r.csv")
        run("publish", source, *ROLES, "--defense", "anatomy", "--out", tmp_path / "a")
        settings = json.loads((tmp_path / "a" / "private" / "settings.json").read_text())
        public = b"".join(path.read_bytes() for path in (tmp_path / "a" / "public").iterdir())
        assert str(settings["options"]["seed"]).encode() not in public
        assert settings["sha256"][source].encode() not in public
        assert settings["options"]["seed"] >= 2**64  # 128 bits, not a seed that is found by trial

    def test_check_writes_its_table_and_settings(self, grouped, tmp_path):
        run("check", grouped, "--sensitive", "result", "-k", 2, "--out", tmp_path / "c")
        assert read(tmp_path / "c" / "levels.csv")["failing"].tolist() == [0, 0]
        assert json.loads((tmp_path / "c" / "settings.json").read_text())["options"]["k"] == 2


class TestJson:
    def test_one_object_on_standard_output(self, grouped):
        """Of each command; the numbers are those of the verdict."""
        found = json.loads(run("attack", grouped, *ROLES, *SNAPSHOT, "--classes", 1, "--json").stdout)
        assert (found["exposed"], found["respondents"], found["first_release"], found["failed"]) == (4, 8, 2, False)
        checked = json.loads(run("check", grouped, "--sensitive", "result", "-k", 3, "--json", status=1).stdout)
        assert checked["failed"]
        assert [row["failing"] for row in checked["requirements"]] == [0, 2]
        assert json.loads(run("describe", grouped, "--json").stdout)["records"] == 16

    def test_of_publish(self, grouped, tmp_path):
        told = run("publish", grouped.replace("r.csv", "x.csv"), *ROLES, "--out", tmp_path / "o", "--json", status=1)
        assert told.stdout == ""
        write(records(), tmp_path / "x.csv")
        found = json.loads(
            run(
                "publish", tmp_path / "x.csv", *ROLES, "--out", tmp_path / "o", "--defense", "mondrian", "--json"
            ).stdout
        )
        assert (found["suppressed"], len(found["releases"])) == (0, 3)
        assert not {"seed"} & set(found)


class TestConfig:
    def config(self, folder, text):
        (folder / "foreknow.toml").write_text(text)
        return folder / "foreknow.toml"

    def test_tables_of_commands_and_shared_keys(self, grouped, tmp_path):
        text = (
            "sensitive = 'result'\nqi = ['age', 'town']\nfail-over = 0.1\n[attack]\nattack = 'snapshot'\nclasses = 1\n"
        )
        config = self.config(tmp_path, text)
        assert "4 of 8" in run("attack", grouped, "--config", config, "--knowledge", "records", status=1).stdout
        told = run("attack", grouped, "--config", config, "--knowledge", "records", "--fail-over", 0.9)
        assert "your bound of 90%: 4 of 8" in told.stdout

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("sensitiv = 'result'", "'sensitiv' is no option"),
            ("[attack]\ndefense = 'mondrian'", "'defense' in [attack] is no option"),
            ("[attac]\nk = 1", "[attac] is no command"),
            ("sensitive = ['a', 'b']", "sensitive is ['a', 'b']; it takes one value"),
            ("a = ", "is no file of settings"),
        ],
    )
    def test_a_key_that_is_no_option_is_named(self, grouped, tmp_path, text, named):
        result = run("attack", grouped, "--config", self.config(tmp_path, text), status=1)
        assert named in str(result.exception)


def test_the_next_command_can_be_typed(tmp_path):
    """The command that publish names at the end is an attack on its output."""
    source = write(records(), tmp_path / "r.csv")
    told = run("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "o").stdout
    words = shlex.split(told.split("Next:")[1].replace("\\\n", " "))
    assert words[:2] == ["foreknow", "attack"]
    run(*words[1:-1], tmp_path / "risk")


@pytest.mark.parametrize("defense", BUILT_IN)
def test_the_check_that_publish_names_passes(tmp_path, defense):
    """Of all requirements, with a folder and a column of the time whose names need quotes."""
    source = write(records().rename(columns={"week": "month of visit"}), tmp_path / "r.csv")
    out = tmp_path / "the release"
    named = ["--defense", defense, *(["-a", 2, "--size", 4] if defense == "cohorts" else [])]
    told = run("publish", source, *ROLES, "--time", "month of visit", *named, "--out", out).stdout
    check, attack = proposed(told)
    assert check == ["check", str(out)]
    assert attack[0] == "attack"
    stated = json.loads((out / "public" / "certificate.json").read_text())["enforced"]["requirements"]
    checked = run(*check, "--json")
    found = {row["requirement"] for row in json.loads(checked.stdout)["requirements"]}
    assert found == {one["text"] for one in stated if not one["text"].startswith(("JSimilarity", "PosteriorBound"))}
    assert "Checked, each release alone" in checked.stderr


def test_commands_about_published_tables_carry_their_columns_on(tmp_path):
    rows = [("flu", "20-29", "a", 2), ("ulcer", "20-29", "a", 2), ("flu", "*", "b", 1), ("ulcer", "*", "b", 1)]
    path = write(pd.DataFrame(rows, columns=["disease", "age", "class of", "visit no"]), tmp_path / "p.csv")
    columns = ["--group", "class of", "--time", "visit no"]
    told = run("check", path, "--qi", "age", "--sensitive", "disease", "-k", 2, *columns).stdout
    words = shlex.split(told.split("KEY):")[1].replace("\\\n", " "))
    assert words[-4:] == columns
    assert "--group 'class of' --time 'visit no'" in run(*words[1:]).stdout.replace("\\\n   ", "")
