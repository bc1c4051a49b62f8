"""The installed command `foreknow`, run by a shell."""

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from commands import ROLES, records, write

pytestmark = pytest.mark.slow


class TestConsoleScript:
    """The installed command, run by a shell."""

    SCRIPT = shutil.which("foreknow", path=str(Path(sys.executable).parent))

    def shell(self, folder, *arguments):
        call = [sys.executable, "-c", "from foreknow.app.cli.command_line import main; main()"]
        command = [self.SCRIPT] if self.SCRIPT else call
        return subprocess.run([*command, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)

    def test_exit_status_and_streams(self, tmp_path):
        write(pd.DataFrame({"group": [0, 0, 1], "result": list("aba")}), tmp_path / "t.csv")
        failed = self.shell(tmp_path, "check", "t.csv", "--sensitive", "result", "-k", 2)
        assert (failed.returncode, failed.stderr) == (1, "")
        assert "KAnonymity" in failed.stdout
        version = self.shell(tmp_path, "--version")
        assert (version.returncode, version.stderr) == (0, "")
        bad = self.shell(tmp_path, "check", "none.csv", "--sensitive", "result")
        assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "error: there is no file none.csv; name a table.\n")

    def test_the_round_trip(self, tmp_path):
        write(records(), tmp_path / "r.csv")
        assert self.shell(tmp_path, "publish", "r.csv", *ROLES, "--out", "out", "-j", 2).returncode == 0
        attack = self.shell(
            tmp_path, "attack", "r.csv", *ROLES, "--groups", "out/private/groups.csv", "--out", "attack"
        )
        assert (attack.returncode, "Traceback" in attack.stderr) == (0, False)
        assert (
            self.shell(tmp_path, "check", "out/public/published.csv", "--sensitive", "result", "-k", 3).returncode == 0
        )
        assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.csv")} == {
            "r.csv", "out/public/published.csv", "out/private/groups.csv", "attack/beliefs.csv", "attack/at-risk.csv",
        }  # fmt: skip
