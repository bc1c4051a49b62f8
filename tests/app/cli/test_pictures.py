"""Pictures of publish, attack and check, within the folder of --out."""

import stat

import pytest
from commands import ROLES, records, run, write
from typer.testing import CliRunner

from foreknow.app.cli import command_line

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]


def pictures(folder):
    """Names of the pictures in a folder of --out; each is a PNG file."""
    found = sorted((folder / "pictures").iterdir())
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in found)
    return [path.name for path in found]


def test_each_command_draws(tmp_path):
    source = write(records(people=12, present=12), tmp_path / "r.csv")
    out = tmp_path / "out"
    table = out / "public" / "published.csv"
    run("publish", source, *ROLES, "--defense", "mondrian", "--out", out, "--pictures")
    assert pictures(out / "private") == ["groups.png"]
    run("check", table, "--sensitive", "result", "--out", tmp_path / "check", "--pictures")
    assert pictures(tmp_path / "check") == ["levels.png"]
    run("attack", table, "--published", *ROLES, "--out", tmp_path / "alone", "--pictures")
    assert pictures(tmp_path / "alone") == ["beliefs.png"]
    key = ["--groups", out / "private" / "groups.csv", "--knowledge", "records", "--attack", "snapshot"]
    told = run("attack", source, *ROLES, *key, "--out", tmp_path / "risk", "--pictures").stdout
    assert pictures(tmp_path / "risk") == ["belief.png", "gain.png"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (tmp_path / "risk" / "pictures").iterdir())
    assert f"Pictures, for you alone: {tmp_path / 'risk' / 'pictures'}." in told


def test_without_a_folder_they_are_refused(tmp_path):
    arguments = ["check", str(tmp_path / "t.csv"), "--sensitive", "s", "--pictures"]
    assert "name one by --out" in str(CliRunner().invoke(command_line.app, arguments).exception)
