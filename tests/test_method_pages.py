"""Code of the pages of methods: each block has all names that it uses, and runs as written."""

import re
import subprocess
import sys

import pytest
from places import ROOT

PAGE = ROOT / "docs" / "methods" / "posteriors.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_there_are_blocks() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_each_name_is_defined_in_its_block(code: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", "--quiet", "-"]
    found = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_each_block_runs(code: str) -> None:
    """A tenth of the simulations: each samples a program."""
    exec(compile(code.replace("simulations=100", "simulations=10"), PAGE.name, "exec"), {})
