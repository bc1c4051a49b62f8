"""Help texts at 80 columns, and the version."""

import importlib.metadata
import re
from itertools import pairwise

import pytest
from commands import ROLES, records, run, write
from rich.console import Console

from foreknow.evaluation.cli.command_line import COMMANDS
from foreknow.evaluation.cli.command_shape import paragraphs
from foreknow.evaluation.cli.defense_choices import BUILT_IN
from foreknow.evaluation.cli.printing import terminal


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_no_word_is_cut_off(command):
    text = run(*([command] if command else []), "--help").stdout
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_help_begins_with_the_first_command_to_type():
    first = run("--help").stdout.split("Usage:")[1].splitlines()[2]
    assert first.strip().startswith("Start here: foreknow describe FILE")


def test_every_defense_has_a_purpose():
    table = run("publish", "--help").stdout.split("Which defense for what:")[1]
    assert all(re.search(rf"  .*\b{name}\b", table) for name in BUILT_IN)


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


def tables(text):
    """Lines of printed tables: from the line above a rule to the next empty line."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if "───" in line:
            last = next((end for end in range(place, len(lines)) if not lines[end].strip()), len(lines))
            yield from lines[place - 1 : last]


def test_the_tables_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(terminal, "console", Console(width=80))
    source = write(records(people=20, present=16), tmp_path / "r.csv")
    out = tmp_path / "out"
    table = out / "public" / "published.csv"
    commands = [
        ("describe", source),
        ("publish", source, *ROLES, "--defense", "mondrian", "--out", out),
        ("attack", source, *ROLES, "--groups", out / "private" / "groups.csv", "--knowledge", "records"),
        ("attack", table, "--published", *ROLES),
        ("check", table, "--sensitive", "result", "-k", 2, "-l", 2, "-t", 1),
    ]
    for command in commands:
        found = list(tables(run(*command).stdout))
        assert found
        assert max(map(len, found)) <= 80, command[0]
