"""The files, the JSON and the next command that `foreknow demo` writes."""

import json

from commands import proposed, read, run
from printed_tables import table_lines
from rich.console import Console

from foreknow.app.cli import terminal


class TestDemo:
    def test_it_says_where_the_pictures_are_and_what_is_next(self, tmp_path, monkeypatch):
        monkeypatch.setattr(terminal, "console", Console(width=80))
        out = tmp_path / "[red]new"
        result = run("demo", "--out", out, "--json")
        names = {
            "pictures/belief.png",
            "pictures/gain.png",
            "pictures/groups.png",
            "summary.csv",
            "risk.csv",
            "cost.csv",
            "settings.json",
        }
        assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == names
        found = json.loads(result.stdout)
        assert set(found["files"]) == {str(out / name) for name in names}
        assert len(found["summary"]) == len(read(out / "summary.csv"))
        assert str(out) in result.stderr
        assert max(map(len, table_lines(result.stderr))) <= 80
        assert "is already there" in str(run("demo", "--config", out / "settings.json", status=1).exception)
        monkeypatch.chdir(tmp_path)
        simulate, describe = proposed(result.stderr)
        assert simulate == ["simulate", "exams", "--out", "visits.csv"]
        run(*simulate, "--releases", 2, "--records", 40)
        assert "foreknow publish visits.csv" in run(*describe).stdout
