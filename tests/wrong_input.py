"""Tables and files with an error, and the checks of how the command line refuses them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from commands import records, write

from foreknow.app.cli import command_line

NOISE = np.random.default_rng(0).bytes(4000)


def main(capsys, monkeypatch, *arguments):
    """The exit status and standard error of `main`, the console script's function."""
    monkeypatch.setattr(sys, "argv", ["foreknow", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    return end.value.code, capsys.readouterr().err


def changed(folder, how):
    """Path of records with an error."""
    return write(how(records()), folder / "wrong.csv")


def bytes_of(folder, name, content):
    (folder / name).write_bytes(content)
    return str(folder / name)


def without(column):
    return lambda table: table.drop(columns=column)


def emptied(column, row=5):
    def how(table):
        table = table.astype({column: object})
        table.loc[row, column] = None
        return table

    return how


def forty(table):
    return table.assign(age=table["age"].astype(object).where(np.arange(len(table)) != 5, "forty"))


def good(folder):
    return write(records(), folder / "good.csv")


def check_refusal(status, error, words):
    """Check the status, and that standard error ends in one sentence that contains the words."""
    assert status == 2
    lines = [line for line in error.splitlines() if line.strip()]
    assert "Traceback" not in error
    assert [line.startswith("error: ") for line in lines].count(True) == 1
    assert lines[-1].startswith("error: ")
    assert words in lines[-1]
    assert "np." not in lines[-1]


def contents(folder):
    """Path and bytes of each file of a folder, by relative path."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def check_refused_without_output(arguments, words, folder, capsys, monkeypatch):
    """Check that the command refuses its arguments, and writes nothing to an old or a new folder."""
    (folder / "in").mkdir()
    old = folder / "old"
    old.mkdir()
    (old / "public").mkdir()
    (old / "private").mkdir()
    given = arguments(folder / "in")
    ending = Path(given[1]).suffix or ".csv"
    for name in (f"public/published{ending}", f"private/groups{ending}", "beliefs.csv"):
        (old / name).write_text("from before")
    before = contents(folder)
    check_refusal(*main(capsys, monkeypatch, *given, "--out", old, "--overwrite"), words)
    assert contents(folder) == before
    check_refusal(*main(capsys, monkeypatch, *given, "--out", folder / "new" / "newer"), words)
    assert contents(folder) == before
