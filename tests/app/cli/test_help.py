"""Help texts at 80 columns, and the version."""

import importlib.metadata
import re
from itertools import pairwise

import pytest
from commands import ROLES, proposed, records, run, write
from printed_tables import table_lines
from rich.console import Console

from foreknow.app.cli import terminal
from foreknow.app.cli.command_line import COMMANDS
from foreknow.app.cli.command_shape import paragraphs
from foreknow.app.cli.defense_choices import BUILT_IN


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


EXPERIMENT = """
seeds = [1, 2]
scenarios = ["releases-only"]
history = {data = "exams", releases = 3, records = 60}
defense = {name = "mondrian", k = [3, 6]}
"""


@pytest.mark.slow
def test_the_tables_fit(tmp_path, monkeypatch):
    """Those of demo: test_demo_command.py."""
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
        ("compare", source, *ROLES, "--defense", "mondrian", "--defense", "anatomy", "--fail-over", 1),
        ("report", source, *ROLES, "--stricter", 0, "--out", tmp_path / "r.html"),
    ]
    for command in commands:
        found = list(table_lines(run(*command).stdout))
        assert bool(found) == (command[0] != "report")  # The tables of the report are on its page.
        assert max(map(len, found), default=0) <= 80, command[0]


def test_the_examples_can_be_typed(tmp_path, monkeypatch):
    """In an order in which each finds the files of those before it; the help text has each as it is typed."""
    monkeypatch.chdir(tmp_path)
    names = {"town": "city", "result": "diagnosis"}
    write(records(people=60, present=50).rename(columns=names), tmp_path / "records.csv")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    order = ["describe", "simulate", "publish", "attack", "check", "compare", "run", "report"]
    assert {*order, "demo", "reproduce"} == set(COMMANDS)
    for command in order:
        commands = proposed(run(command, "--help").stdout.split("For example:")[1])
        assert commands
        for words in commands:
            assert words[0] == command
            run(*words)
    assert proposed(run("demo", "--help").stdout) == [["demo", "--out", "demo-output"]]
