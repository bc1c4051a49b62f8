"""An output folder without permission to write: one sentence before anything is read, exit status 2, nothing left behind."""

import json
import os
import subprocess
import sys

import pytest
import read_only_runs
from commands import ROLES, records, run, write

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")]


@pytest.fixture
def read_only(tmp_path):
    """Folder with one file, in which nothing can be made."""
    folder = tmp_path / "read only"
    folder.mkdir()
    (folder / "kept.txt").write_text("kept")
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def run_each(inputs, read_only):
    """Status and message of each command, and messages of the library, from a process for which permissions count."""
    program = [sys.executable, read_only_runs.__file__, str(inputs), str(read_only)]
    is_root = os.geteuid() == 0
    made = subprocess.run(
        program,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=read_only_runs.without_override if is_root else None,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    if made.returncode == 1 and "permissions do not count" in made.stderr:
        pytest.skip("permissions do not count for this user")
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout.splitlines()[-1])


def test_every_command_refuses_it_in_one_sentence(tmp_path, read_only):
    source = write(records(), tmp_path / "r.csv")
    run("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "memory")
    run("publish", source, *ROLES, "--defense", "mondrian", "--from-disk", "--out", tmp_path / "disk")
    found, messages = run_each(tmp_path, read_only)
    assert len(messages) == 3
    for name, message in messages.items():
        assert message.startswith(f"{name}: "), message
        assert "cannot be written to by this user" in message, message
        assert "; name a" in message, message
        assert "\n" not in message, message
    assert len(found) == 18
    for name, (status, message) in found.items():
        assert status == 2, (name, message)
        assert message.count("\n") == 1, (name, message)
        assert f"{read_only} cannot be written to by this user" in message, (name, message)
        assert "name another folder, or change the permissions" in message
    assert [path.name for path in read_only.iterdir()] == ["kept.txt"]
