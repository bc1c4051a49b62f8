"""Code of tutorials and guides: the blocks of a page run in order, and print the text that stands below them.

A TOML block is a file; its first line has the name. A block below a line that names it, as `module.py`:, is a file too, which
blocks after it import; its tests are called.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from commands import run
from places import ROOT

PAGES = sorted(path for folder in ("tutorials", "how-to") for path in (ROOT / "docs" / folder).glob("*.md"))
PAGES += [ROOT / "docs" / "methods" / name for name in ("knowledge.md", "how-joint-computes.md")]
BLOCK = re.compile(
    r"(?:`(\w+\.(?:py|toml))`[^`\n]*:\n\n)?^```(python|console|toml|text)\n(.*?)^```", re.DOTALL | re.MULTILINE
)
FENCE = re.compile(r"^```+([^\n`]*)\n.*?^```+$", re.DOTALL | re.MULTILINE)
CODE = {page: [match.groups() for match in BLOCK.finditer(page.read_text(encoding="utf-8"))] for page in PAGES}
WITH_CODE = [page for page in PAGES if CODE[page]]


def python(page: Path) -> str:
    return "\n\n".join(text for _, kind, text in CODE[page] if kind == "python")


def lines(text: str) -> list[str]:
    """Words of each line: tables of the command line differ in spaces."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_pages_have_code() -> None:
    assert {page.stem for page in WITH_CODE} >= {"steward", "researcher", "developer", "your-data", "your-adversary"}


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])
def test_every_block_is_of_a_kind_that_runs(page: Path) -> None:
    """A block of another kind, as ``sh``, would be shown and never tried; a directive of the site is no code."""
    kinds = set(FENCE.findall(page.read_text(encoding="utf-8")))
    assert {kind for kind in kinds if not kind.startswith("{")} <= {"python", "console", "toml", "text"}


def test_every_name_is_defined() -> None:
    """Ruff finds names that a page uses and does not define; a block may use names of the blocks above."""
    for page in WITH_CODE:
        command = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select",
            "F",
            "--ignore",
            "F811",
            "--quiet",
            "-",
        ]
        found = subprocess.run(command, input=python(page), capture_output=True, text=True, check=False)
        assert found.returncode == 0, f"{page.name}: {found.stdout}{found.stderr}"


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in WITH_CODE])
def test_blocks_print_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for name, kind, text in CODE[page]:
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        if kind == "text":
            missing = [line for line in lines(text) if line not in lines(printed)]
            assert not missing, f"{page.name} shows {missing}; printed:\n{printed}"
        elif kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, page.name, "exec"), names)
                for test in [names[each] for each in names if name and each.startswith("test_")]:
                    test()
            printed = output.getvalue()
        elif kind == "toml":
            (tmp_path / (name or text.splitlines()[0].removeprefix("# "))).write_text(text, encoding="utf-8")
        else:
            for command in text.replace("\\\n", " ").splitlines():
                program, *arguments = shlex.split(command.removeprefix("$ "))
                assert program == "foreknow"
                printed = run(*arguments).output
    plt.close("all")
    for name in [name for name, _, _ in CODE[page] if name]:
        sys.modules.pop(name.removesuffix(".py"), None)
