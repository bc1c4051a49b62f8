"""The files, the JSON and the next command that `foreknow demo` writes."""

import json

import pytest
from commands import read, run

pytestmark = pytest.mark.usefixtures("wide")


class TestDemo:
    def test_it_says_where_the_pictures_are_and_what_is_next(self, tmp_path):
        out = tmp_path / "[red]new"
        result = run("demo", "--out", out, "--json")
        names = {
            "pictures/belief.png",
            "pictures/gain.png",
            "pictures/groups.png",
            "summary.csv",
            "risk.csv",
            "cost.csv",
        }
        assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == names
        found = json.loads(result.stdout)
        assert set(found["files"]) == {str(out / name) for name in names}
        assert len(found["summary"]) == len(read(out / "summary.csv"))
        assert str(out) in result.stderr
        assert result.stderr.rstrip().splitlines()[-1] == "  foreknow describe FILE"
