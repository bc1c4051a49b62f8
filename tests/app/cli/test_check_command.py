"""The verdict of `foreknow check` on a published table, and its exit status."""

import sys

import pandas as pd
import pytest
from commands import read, run, write
from printed_tables import printed
from rich.console import Console
from typer.testing import CliRunner

from foreknow.app.cli import command_line, terminal
from foreknow.app.cli.commands.check_folder import threshold_text

pytestmark = pytest.mark.usefixtures("wide")


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


def test_values_that_look_like_markup(tmp_path, capsys, monkeypatch):
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


def test_thresholds_have_one_line_at_80_columns(tmp_path, monkeypatch):
    """Beside the longest name of a requirement that has options."""
    monkeypatch.setattr(terminal, "console", Console(width=80))
    table = pd.DataFrame({"week": [1] * 24, "group": [0] * 24, "result": list("abcdefghijkl") * 2})
    path = write(table, tmp_path / "p.csv")
    told = run("check", path, "--sensitive", "result", "-k", 12, "-l", 12, "-t", 0.5).stdout
    assert ">= 12 " in told
    assert "<= 0.5 " in told
    assert threshold_text("below", 0.25) == "< 0.25"
