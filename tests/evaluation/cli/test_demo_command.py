"""The files that `foreknow demo` writes."""

import pytest
from commands import run

pytestmark = pytest.mark.usefixtures("wide")


class TestDemo:
    def test_it_says_where_the_pictures_are(self, tmp_path):
        result = run("demo", "--out", tmp_path / "[red]new")
        assert {path.name for path in (tmp_path / "[red]new").iterdir()} == {
            "belief.png", "gain.png", "groups.png", "summary.csv", "risk.csv", "cost.csv",
        }  # fmt: skip
        assert str(tmp_path / "[red]new") in result.stdout
