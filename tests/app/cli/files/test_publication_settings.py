"""Settings of cleaning that differ between a publication and a command that reads its key."""

import pytest
from commands import ROLES, records, run, write
from wrong_input import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

ATTACK = ["--attack", "snapshot", "--knowledge", "records"]
SETTLED = ["--missing", "drop", "--equal-values", "merge"]


def messy(path):
    """Records with three missing results and three in capitals."""
    table = records()
    table.loc[[3, 20, 40], "result"] = None
    table.loc[[5, 21, 41], "result"] = table.loc[[5, 21, 41], "result"].str.upper()
    return write(table, path)


@pytest.fixture
def published(tmp_path):
    source = messy(tmp_path / "r.csv")
    run("publish", source, *ROLES, *SETTLED, "--defense", "mondrian", "--out", tmp_path / "o")
    return source, tmp_path / "o" / "private"


def attack(published, *more):
    source, private = published
    return ("attack", source, *ROLES, *ATTACK, "--groups", private / "groups.csv", *more)


@pytest.mark.parametrize(
    ("cleaning", "there", "here"),
    [
        ([], "--missing drop --equal-values merge", "--missing refuse --equal-values refuse"),
        (["--missing", "category", "--equal-values", "merge"], "--missing drop", "--missing category"),
    ],
)
def test_an_error_names_the_settings_and_the_way_out(published, capsys, monkeypatch, cleaning, there, here):
    status, told = main(capsys, monkeypatch, *attack(published, *cleaning))
    assert status == 2
    assert f"was published with {there}, and this command has {here}" in " ".join(told.split())
    told = told.replace("\n   ", " ")
    assert f"--config {published[1] / 'settings.json'}" in told


def test_the_way_out_works(published):
    _, private = published
    groups = ("--groups", private / "groups.csv")
    assert "was published with" not in run("attack", "--config", private / "settings.json", *groups, *ATTACK).stderr
    assert "was published with" not in run(*attack(published, *SETTLED)).stderr


def test_other_values_without_an_error_are_a_notice(published):
    told = run(*attack(published, "--missing", "drop", "--equal-values", "keep"))
    assert "was published with --equal-values merge, and this command has --equal-values keep" in told.stderr


def test_a_member_without_a_record_is_refused(tmp_path):
    """Its group would be attacked as if it had not been published."""
    source = messy(tmp_path / "r.csv")
    more = [*ROLES, "--equal-values", "merge", "--missing"]
    run("publish", source, *more, "category", "--defense", "mondrian", "--out", tmp_path / "o")
    key = tmp_path / "o" / "private" / "groups.csv"
    result = run("attack", source, *more, "drop", *ATTACK, "--groups", key, status=1)
    assert "who has no record then (3 such rows)" in str(result.exception)


def test_settings_of_something_else_say_nothing(published):
    _, private = published
    (private / "manifest.json").unlink()  # It lists the settings.
    for content in ("{}", "no JSON", '{"command": "attack", "options": {}}'):
        (private / "settings.json").write_text(content)
        assert "was published with" not in run(*attack(published, *SETTLED)).stderr
