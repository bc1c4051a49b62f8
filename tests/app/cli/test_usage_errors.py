"""Wrong usage of any command: status 2, the usage text, and nothing written."""

import pytest
from commands import ROLES
from wrong_input import main

pytestmark = pytest.mark.usefixtures("wide")


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish"],
        ["publish", "r.csv", "--qi", "age"],
        ["publish", "r.csv", *ROLES, "--out", "x", "-k", "0"],
        ["publish", "r.csv", *ROLES, "--out", "x", "-t", "nan"],
        ["publish", "r.csv", *ROLES, "--out", "x", "--defense", "hope"],
        ["attack", "r.csv", *ROLES, "--estimator", "guess"],
        ["attack", "r.csv", *ROLES, "--solver", "guess"],
        ["attack", "r.csv", *ROLES, "--attack", "foreground", "--support", "0"],
        ["attack", "r.csv", *ROLES, "--attack", "foreground", "--sensitive-set", "a", "-r", "0.5"],
        ["check", "r.csv"],
        ["forget"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").touch()
    status, error = main(capsys, monkeypatch, *arguments)
    assert status == 2
    assert "Usage" in error
    assert "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
