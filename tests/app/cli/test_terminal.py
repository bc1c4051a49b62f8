"""Text from files on a terminal."""

import io
import string
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from foreknow.app.cli import terminal
from foreknow.app.cli.terminal import continued, literal, tracked, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("flu", "flu"),
        ("\x1b[2J\x1b]0;owned\x07", r"\x1b[2J\x1b]0;owned\x07"),
        ("one\ntwo\r\tthree", r"one\x0atwo\x0d\x09three"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("caf\udce9", r"caf\udce9"),
        ("Évry, 東京", "Évry, 東京"),
    ],
)
def test_control_characters_are_codes(text, shown):
    assert visible(text) == shown


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_nothing_that_a_terminal_obeys_is_left(text):
    assert all(character.isprintable() or character not in string.printable for character in visible(text))
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in visible(text))


@given(st.text(alphabet="[]/\\redbold \x1b\n", max_size=20))
def test_rich_prints_it_unchanged(text):
    console = Console(file=io.StringIO(), width=500, highlight=False)
    console.print(literal(text), soft_wrap=True)
    assert console.file.getvalue() == f"{visible(text)}\n"


def test_a_progress_bar_starts_no_thread(monkeypatch):
    """A bar with a thread deadlocks if an error abandons it and it is collected while another bar is drawn."""
    console = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(terminal, "error_console", console)
    before, bar = threading.active_count(), tracked(range(3), "counting")
    assert next(bar) == 0
    assert threading.active_count() == before
    assert list(bar) == [1, 2]
    assert "counting" in console.file.getvalue()


def test_a_command_with_a_long_first_part_begins_on_the_first_line():
    assert continued(f"foreknow attack {'x' * 90} --qi age")[0] == f"  foreknow attack {'x' * 90} \\"
