"""Commands, and functions of the library, into folders that their user may not write to.

A program, whose last line is JSON: status and message of each.

``read_only_runs.py INPUTS FOLDER``: the folder of the inputs, and one without permission to write. Root may write everywhere,
unless it gave up the capability: see `without_override`.
"""

import contextlib
import ctypes
import io
import json
import os
import sys
from pathlib import Path

from commands import ROLES
from strategies import history_of

from foreknow.app.cli import command_line
from foreknow.app.disk import LargeTable, attack_large, publish_large
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models import Adversary, Omega, UniformPrior

DROP_FROM_BOUNDING_SET, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2
"""Numbers of Linux: the operation of prctl, and the capabilities by which permissions of files do not count for root."""


def without_override():
    """Give up the capabilities before a program is started, so that permissions count for root too."""
    libc = ctypes.CDLL(None)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


def commands(inputs, out):
    """Every command that writes, with a folder for its output."""
    records = [inputs / "r.csv", *ROLES]
    memory, disk = inputs / "memory", inputs / "disk"
    return {
        "publish": ["publish", *records, "--defense", "mondrian", "--out", out],
        "publish --from-disk": ["publish", *records, "--from-disk", "--defense", "mondrian", "--out", out],
        "attack": ["attack", *records, "--groups", memory / "private" / "groups.csv", "--out", out],
        "attack --from-disk": ["attack", *records, "--from-disk", "--groups", disk, "--out", out],
        "check": ["check", memory / "public" / "published.csv", "--sensitive", "result", "-k", 2, "--out", out],
        "compare": ["compare", *records, "--defense", "mondrian", "--out", out],
        "report": ["report", *records, "--out", out / "report.html"],
        "simulate": ["simulate", "exams", "--out", out / "exams.csv"],
        "demo": ["demo", "--out", out],
    }


def told(arguments):
    """Exit status of a command and what it wrote to standard error."""
    sys.argv = ["foreknow", *map(str, arguments)]
    shown = io.StringIO()
    try:
        with contextlib.redirect_stderr(shown), contextlib.redirect_stdout(io.StringIO()):
            command_line.main()
    except SystemExit as end:
        return end.code, shown.getvalue()
    return 0, shown.getvalue()


def writing_calls(inputs, folder):
    """Every function of the library that writes, with a place in a folder."""
    published, table = LargeReleases(inputs / "disk"), LargeTable.infer(inputs / "r.csv", ["age"], time="week")
    attack, defense = SequentialAttack(Adversary(UniformPrior(), estimator=Omega())), Mondrian(KAnonymity(2))
    return {
        "History.save": lambda: history_of(("AB", "ab")).save(folder / "history.parquet"),
        "publish_large": lambda: publish_large(table, defense, folder / "out"),
        "attack_large": lambda: attack_large(published, attack, folder / "beliefs"),
    }


def error_of(call):
    """The text of the ValueError of a call, or nothing."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    given, read_only = map(Path, sys.argv[1:])
    os.environ["COLUMNS"] = "1000"
    if os.access(read_only, os.W_OK):
        sys.exit("permissions do not count for this user")
    found = {
        f"{name}, {place}": told(arguments)
        for place, out in {"in it": read_only, "below it": read_only / "sub" / "out"}.items()
        for name, arguments in commands(given, out).items()
    }
    messages = {name: error_of(call) for name, call in writing_calls(given, read_only).items()}
    sys.stdout.write(f"\n{json.dumps([found, messages])}\n")
