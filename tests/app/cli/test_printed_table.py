"""Printed tables at 80 columns: no cell is folded inside a word or a number."""

import io

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, records, run, write
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from foreknow.app.cli import terminal
from foreknow.app.cli.commands import attack_findings, check_command, publish_command
from foreknow.app.cli.commands import demo_command as demo
from foreknow.app.cli.defense_choices import BUILT_IN
from foreknow.app.cli.terminal import PrintedTable, definitions
from foreknow.attacks import ATTACKS

WIDTH = 80


def printed(part, width=WIDTH):
    console = Console(width=width, file=io.StringIO())
    console.print(part)
    return console.file.getvalue()


def words_of(frame):
    """Each word of the headings and cells, as a reader expects it."""
    cells = [
        f"{cell:.3f}" if isinstance(cell, float) else str(cell)
        for cell in frame.to_numpy(dtype=object).ravel()
        if not (isinstance(cell, float) and abs(cell) < 0.01)
    ]
    return [word for text in [*map(str, frame.columns), *cells] for word in terminal.visible(text).split()]


def holds_whole_words(frame, title, width=WIDTH, keys=1):
    """The text of a table in which every word stands whole, and no line is too long."""
    text = printed(PrintedTable(frame, title, keys), width)
    assert max(map(len, text.splitlines())) <= width
    missing = set(words_of(frame)) - set(text.replace(":", " ").split()) - set(text.split())
    assert not missing
    return text


class TestWords:
    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(1, 9),
        st.integers(1, 3),
        st.integers(1, 3),
        st.randoms(use_true_random=False),
        st.integers(30, 120),
    )
    def test_no_word_is_split(self, columns, rows, keys, random, width):
        """For words of at most 12 characters, two of which fit any of these widths."""
        word = lambda: "".join(random.choices("abcdefgh0123456789.-", k=random.randint(1, 12)))  # noqa: E731
        names = [f"{word()} {number}" for number in range(columns)]
        cells = [[" ".join(word() for _ in range(random.randint(1, 5))) for _ in names] for _ in range(rows)]
        holds_whole_words(pd.DataFrame(cells, columns=names), "title", width, keys)

    def test_large_numbers_and_dates(self):
        frame = pd.DataFrame({"time": ["2024-01", "2024-02"], "records": [5_619_767, 12]})
        frame = frame.assign(**{f"measure {i}": [1 / 3, 1e6 + i / 7] for i in range(9)})
        text = holds_whole_words(frame, "Risk")
        assert text.count("2024-01") == 2  # two tables, each with the key column

    def test_midnight_is_a_day(self):
        assert "00:00" not in printed(PrintedTable(pd.DataFrame({"time": [pd.Timestamp("2024-01-31")]}), "t"))

    @given(st.floats(-1e6, 1e6))
    def test_two_significant_digits_or_more(self, number):
        """Half a unit of the second digit is at most a twentieth of the number; a rounding error is zero."""
        shown = float(printed(PrintedTable(pd.DataFrame({"share": [number]}), "t")).split()[-1])
        assert abs(shown - number) <= (abs(number) / 19 if abs(number) >= 1e-9 else 1e-9)

    def test_a_word_longer_than_the_terminal(self):
        """Each row is printed as lines, and nothing is lost."""
        frame = pd.DataFrame({"time": [1], "value": ["x" * 200]})
        assert "".join(printed(PrintedTable(frame, "t")).split()).count("x") == 200

    def test_the_terms_of_a_table(self):
        text = printed(definitions({"gain": "mean " * 40, "log score": "mean log2"}))
        assert text.split()[0] == "gain"
        assert set(text.split()) == {"gain", "mean", "log", "score", "log2"}


@pytest.fixture
def shown(monkeypatch):
    """Everything that a command prints, and the consoles at 80 columns."""
    parts = []
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setattr(terminal, "console", Console(width=WIDTH))
    for module in (publish_command, attack_findings, check_command, demo):
        monkeypatch.setattr(module, "show", parts.append)
    return parts


def judge(parts):
    """Every printed table is whole at 80 columns, and the usual ones are one table."""
    tables = [part for part in parts if isinstance(part, PrintedTable)]
    assert tables
    for part in tables:
        text = holds_whole_words(part.frame, part.title, keys=part.keys)
        assert sum("─" * 5 in line for line in text.splitlines()) == 1, text
    for part in parts:
        assert max(map(len, printed(part).splitlines()), default=0) <= WIDTH


def monthly(**settings):
    """Records whose times are months, in a column called month."""
    table = records(**settings).rename(columns={"week": "month"})
    return table.assign(month="2024-0" + table["month"].astype(str))


MONTH = [*ROLES, "--time", "month"]


class TestCommands:
    @pytest.mark.parametrize("defense", list(BUILT_IN))
    def test_publish(self, tmp_path, shown, defense):
        source = write(monthly(people=40, present=36), tmp_path / "r.csv")
        small = ("-a", 2, "--size", 4) if defense == "cohorts" else ()
        run("publish", source, *MONTH, "--out", tmp_path / "out", "--defense", defense, *small)
        judge(shown)

    @pytest.mark.parametrize("attack", list(ATTACKS))
    def test_attack(self, tmp_path, shown, attack):
        source = write(monthly(people=40, present=36), tmp_path / "r.csv")
        run("publish", source, *MONTH, "--out", tmp_path / "out", "--defense", "m-invariance")
        shown.clear()
        more = ["--sensitive-set", "a", "--support", 5] if attack == "foreground" else []
        if attack == "maxent":
            (tmp_path / "statements.csv").write_text("value,low\na,0.3\n")
            more = ["--statements", tmp_path / "statements.csv"]
        groups = tmp_path / "out" / "private" / "groups.csv"
        run("attack", source, *MONTH, "--groups", groups, "--attack", attack, *more)
        judge(shown)

    def test_check(self, tmp_path, shown):
        table = monthly().assign(group=lambda rows: np.arange(len(rows)) // 4 + 56_197_000)
        source = write(table[["month", "group", "result"]], tmp_path / "p.csv")
        more = ["-k", 3, "-l", 2, "-t", 0.123456, "--beta", 2.5]
        run("check", source, "--sensitive", "result", "--time", "month", *more, status=1)
        judge(shown)

    @pytest.mark.slow
    def test_demo(self, shown):
        parts = list(demo.demo_tables(demo.run()))
        judge(parts)
        assert not shown


class TestWholeOutput:
    """Text on a terminal of 80 columns: the parts above and the rest of standard output."""

    def test_it_is_at_most_as_wide(self, tmp_path, monkeypatch):
        monkeypatch.setattr(terminal, "console", Console(width=WIDTH, force_terminal=True, color_system=None))
        monkeypatch.chdir(tmp_path)
        write(monthly().assign(group=0), tmp_path / "r.csv")
        for more in ([], ["--attack", "foreground", "--sensitive-set", "a", "--support", 5]):
            result = run("attack", "r.csv", *MONTH, *more)
            assert max(map(len, result.stdout.splitlines())) <= WIDTH
