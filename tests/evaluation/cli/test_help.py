"""Help texts at 80 columns, and the version."""

import importlib.metadata
import re
from itertools import pairwise

import pytest
from commands import run

from foreknow.evaluation.cli.command_line import COMMANDS
from foreknow.evaluation.cli.options import paragraphs


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_no_word_is_cut_off(command):
    text = run(*([command] if command else []), "--help").stdout
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_paragraphs_are_wrapped_by_the_terminal(command):
    """A line of a paragraph ends early only if the next word does not fit."""
    text = run(command, "--help").stdout.split("╭─")[0]
    lines = [line[1:79].rstrip() for line in text.splitlines()]
    for line, following in pairwise(lines):
        if line and following and not line.startswith("Usage"):
            assert len(line) + 1 + len(following.split()[0]) > 78


def test_paragraphs_of_a_docstring():
    assert paragraphs("One line\n    and another.\n\n    A paragraph.\n    ") == "One line and another.\n\nA paragraph."
    assert paragraphs(None) == ""


def test_the_version():
    shown = run("--version").stdout
    assert re.fullmatch(r"foreknow \d+\.\d+\S*\n", shown)
    assert importlib.metadata.version("foreknow") in shown
