"""The command `foreknow report`: the file that it writes, what it says, and what it refuses."""

import json
import re
import shlex
import stat

import pandas as pd
import pytest
from commands import ROLES, records, run, write

from foreknow.app.cli.commands.report_command import recorded_defense
from foreknow.app.cli.typed_commands import error_lines
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian

pytestmark = pytest.mark.usefixtures("wide")


def data_of(path):
    """The data that a page has for its script."""
    return json.loads(re.search(r'id="data">([^<]*)<', path.read_text(encoding="utf-8"))[1])


@pytest.fixture
def mondrian(tmp_path):
    """Records, and the key of a publication by Mondrian."""
    source = write(records(), tmp_path / "records.csv")
    run("publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "mondrian")
    return source, tmp_path / "out" / "private" / "groups.csv"


def test_a_report_on_a_publication(mondrian, tmp_path):
    source, groups = mondrian
    out = tmp_path / "page" / "report.html"
    told = run("report", source, *ROLES, "--groups", groups, "--out", out, "--stricter", 1, "--seed", 5)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert re.search(r"^(Over|Within|Not decided for) the default bound of 0%: ", told.stdout)
    assert "Seed: 5, kept in" in told.stdout
    assert re.search(r"Next:\n  foreknow (publish .* --defense mondrian -k 6 -l 2|compare )", told.stdout)
    data = data_of(out)
    assert data["explorer"]["times"] == ["1", "2", "3"]
    assert {name.split()[0] for name, _ in data["explorer"]["people"]} == {"Person"}
    points = [row for rows in data["charts"]["stricter"]["datasets"].values() for row in rows]
    settings = {row["setting"] for row in points if "setting" in row}
    assert {name for name in settings if not name.startswith("cohorts -a ")} == {"as published", "k = 6"}
    page = out.read_text(encoding="utf-8")
    assert "Groups made by <code>mondrian -k 3 -l 2</code>" in page
    assert "p01" not in page


def test_cohorts_are_the_next_command_where_they_expose_fewer(tmp_path):
    """Values that never change, in groups that change with each release; the command that is named publishes."""
    table = records(weeks=(1, 2, 3), people=60, present=60)
    number = table["id"].str[1:].astype(int)
    table["result"] = number.mod(3).map(dict(enumerate("abc")))
    table["group"] = (number * table["week"].map({1: 1, 2: 7, 3: 13})) % 60 // 4
    source = write(table, tmp_path / "records.csv")
    out = ["--out", tmp_path / "report.html", "--seed", 1, "--stricter", 1, "--classes", 1]
    told = " ".join(run("report", source, *ROLES, *out).stdout.replace("\\\n", " ").split())
    assert re.search(r"In a trial with cohorts -a \d+ --size \d+, the informed adversary exposed", told)
    command = shlex.split(re.search(r"foreknow (publish .*--out \S+)", told)[1])
    assert command[command.index("--defense") + 1] == "cohorts"
    assert {"-a", "--size", "--infeasible"} <= set(command)
    run(*command[:-1], tmp_path / "safer")
    assert (tmp_path / "safer" / "public" / "published.csv").exists()


def test_identifiers_and_another_attack(mondrian, tmp_path):
    source, groups = mondrian
    options = ["--names", "--stricter", 0, "--attack", "definetti", "--knowledge", "learned", "--sure", 0.6]
    page = ["--groups", groups, "--out", tmp_path / "report.html"]
    told = run("report", source, *ROLES, *page, *options, "--fail-over", 0, status=1).stdout
    assert told.startswith("Over your bound of 0%: ")
    assert "Next:\n  foreknow compare" in told
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "--attack definetti" in page
    assert "Beliefs of the adversary without prior knowledge" in page
    assert "p01" in {name for name, _ in data_of(tmp_path / "report.html")["explorer"]["people"]}


def test_without_groups_it_publishes_first_and_says_so(tmp_path):
    """The page has what cleaning left out, too."""
    source = write(pd.concat([records(), records().head(1)]), tmp_path / "records.csv")
    options = ["--stricter", 0, "--seed", 1, "--duplicates", "drop"]
    told = run("report", source, *ROLES, "--out", tmp_path / "report.html", *options)
    run("report", source, *ROLES, "--out", tmp_path / "again.html", *options)
    assert "No groups are given" in told.stderr
    assert "trial publication by js-reduce -k 3 -l 2 -t 0.5 -j 0.6" in told.stderr
    page, again = ((tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "again.html"))
    assert "trial publication by js-reduce -k 3" in page
    assert "1 copy of records dropped." in page
    assert page == again
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again.html", "again.settings.json", "records.csv", "report.html", "report.settings.json",
    ]  # fmt: skip


def test_groups_of_unknown_origin(tmp_path):
    table = records().assign(group=lambda rows: rows.groupby("week").cumcount() // 4)
    source = write(table, tmp_path / "records.csv")
    run("report", source, *ROLES, "--out", tmp_path / "report.html", "--stricter", 1)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "is not recorded beside them" in page
    assert "The defense is not recorded.</p>" in page
    assert "Groups made by" not in page
    assert "The defense is not recorded; mondrian -k 4 -l 2 is assumed, and made stricter." in page


def test_the_recorded_defense(mondrian):
    assert recorded_defense(mondrian[1]) == Mondrian(KAnonymity(3) & DistinctDiversity(2))
    assert recorded_defense(mondrian[1].parent.parent / "groups.csv") is None


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--sure", 0.5], "--sure 0.5"),
            (["-k", 3], "does not read -k"),
            (["--attack", "maxent"], "takes --statements"),
            (["--out", "report.txt"], "does not end with .html"),
        ],
    )
    def test_before_a_file_is_read(self, tmp_path, options, message):
        asked = ["report", tmp_path / "none.csv", *ROLES, "--out", tmp_path / "report.html", *options]
        result = run(*asked, status=1)
        assert message in str(result.exception)

    def test_a_file_is_replaced_on_request_alone(self, mondrian, tmp_path):
        (tmp_path / "report.html").write_text("mine")
        asked = [
            "report",
            mondrian[0],
            *ROLES,
            "--groups",
            mondrian[1],
            "--out",
            tmp_path / "report.html",
            "--stricter",
            0,
        ]
        assert "replace it with --overwrite" in error_lines(run(*asked, status=1).exception)[0]
        assert (tmp_path / "report.html").read_text() == "mine"
        run(*asked, "--overwrite")
        assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
