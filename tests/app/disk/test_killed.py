"""Runs that are killed, find no space, or meet another run: files are whole or absent, and a rerun makes the same bytes."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import killed_runs
import pytest
from commands import ROLES, records, run, write
from large_history import bytes_of, visits

from foreknow.app import atomic_output as output_module
from foreknow.app.atomic_output import atomic_output
from foreknow.app.disk import LargeTable, parts, publish_large
from foreknow.app.publication import differences, listing_of
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models.tables.atomic_file import locked

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals and forks are of POSIX")]

MANY = [pytest.param(2, id="short"), pytest.param(100, id="long")]


def killed(way, source, work, kills):
    """The findings of ``tests/killed_runs.py``."""
    command = [sys.executable, killed_runs.__file__, way, str(source), str(work), str(kills)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path()})
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout.splitlines()[-1])


def path():
    return os.pathsep.join(filter(None, sys.path))


@pytest.mark.parametrize("kills", MANY)
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path, kills):
    visits().to_parquet(tmp_path / "visits.parquet")
    assert killed("disk", tmp_path / "visits.parquet", tmp_path, kills)["killed"] == kills


def test_a_killed_command_resumes_to_the_same_bytes(tmp_path):
    visits().to_parquet(tmp_path / "visits.parquet")
    assert killed("command", tmp_path / "visits.parquet", tmp_path, 100)["killed"] == 100


def test_a_killed_attack_resumes_to_the_same_bytes(tmp_path):
    visits().to_parquet(tmp_path / "visits.parquet")
    found = killed("attack", tmp_path / "visits.parquet", tmp_path, 100)
    assert [one["killed"] for one in found.values()] == [100, 100]


@pytest.mark.parametrize("kills", MANY)
def test_a_killed_publication_in_memory_is_whole_or_absent(tmp_path, kills):
    found = killed("memory", write(records(), tmp_path / "r.csv"), tmp_path, kills)
    assert found["whole"] + found["absent"] == kills


def test_two_runs_into_one_folder(tmp_path):
    visits().to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age"], time="week")
    (tmp_path / "out").mkdir()
    with (
        locked(tmp_path / "out"),
        pytest.raises(ValueError, match="out: another run is writing into it; wait for its end"),
    ):
        publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    with (
        locked(tmp_path / "out"),
        pytest.raises(ValueError, match="another run is writing into it"),
        atomic_output(tmp_path / "out") as folder,
    ):
        (folder / "x").touch()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_another_run_made_meanwhile(tmp_path):
    def two_runs():
        with atomic_output(tmp_path / "out") as folder:
            (folder / "x").write_text("mine")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "x").write_text("of the other")

    with pytest.raises(ValueError, match=r"x is already there; name another folder"):
        two_runs()
    assert bytes_of(tmp_path) == {"out/x": b"of the other"}


@pytest.mark.parametrize("fails_at", [1, 4, 9])
def test_no_space_is_left(tmp_path, monkeypatch, fails_at):
    """A part that finds no space is absent; the run goes on where there is space again."""
    source = tmp_path / "visits.parquet"
    visits(people=120, releases=2).to_parquet(source)
    table = LargeTable.infer(source, ["age", "sex", "place"], time="week")
    arguments, write_table, calls = (table, Mondrian(KAnonymity(4))), parts.pq.write_table, []

    def without_space(table, path, **settings):
        calls.append(path)
        if len(calls) == fails_at:
            Path(path).write_bytes(b"torn")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_table(table, path, **settings)

    monkeypatch.setattr(parts.pq, "write_table", without_space)
    with pytest.raises(OSError, match="No space left on device"):
        publish_large(*arguments, tmp_path / "out", block=30, seed=7)
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.read_bytes() == b"torn"] == []
    monkeypatch.undo()
    publish_large(*arguments, tmp_path / "out", block=30, seed=7)
    publish_large(*arguments, tmp_path / "whole", block=30, seed=7)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_no_space_for_a_publication_in_memory(tmp_path, monkeypatch):
    source = write(records(), tmp_path / "r.csv")

    def without_space(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output_module.os, "rename", without_space)
    command = ("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "deep" / "out")
    assert "No space left" in str(run(*command, status=1).exception)
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 100 KB, where the user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    if os.name == "nt" or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_full(tmp_path, tiny_disk):
    frame = visits(people=4000)
    frame.to_parquet(tmp_path / "r.parquet")
    roles = ["--qi", "age", "--qi", "sex", "--qi", "place", "--sensitive", "result", "--defense", "mondrian"]
    command = ["publish", tmp_path / "r.parquet", *roles, "--out", tiny_disk / "out"]
    assert "No space left" in str(run(*command, status=1).exception)
    assert list(tiny_disk.iterdir()) == []
    assert "No space left" in str(run(*command, "--from-disk", "--block", 500, status=1).exception)
    assert not (tiny_disk / "out" / "private" / "manifest.json").exists()
    assert not any(path.name.startswith(".") for path in tiny_disk.rglob("*"))
    subprocess.run(["mount", "-o", "remount,size=20m", str(tiny_disk)], check=True)
    run(*command, "--from-disk", "--block", 500)
    assert differences(tiny_disk / "out", listing_of(tiny_disk / "out")) == []
